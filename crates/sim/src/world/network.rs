//! The network: all ports, the updates that they have requested, and the propagation delays.

use packet::{Duration, Instant, Packet, TcpHeader};
use record::PacketClass;

use crate::port::Port;
use crate::recorder::Conservation;
use crate::topology::DelayClocks;

/// All ports, addressed by index, and the delays behind them.
pub struct Network {
    ports: Vec<Port>,
    /// Propagation delay after each port.
    after: Vec<Duration>,
    /// Clocks of the machines that delay packets.
    delays: DelayClocks,
    /// Time of the scheduled tick event of each port; [`Instant::NEVER`] if none is scheduled.
    armed_ticks: Vec<Instant>,
    /// Packets that ports have dropped and that have not been freed yet: handle and arrival time.
    lost: Vec<(u32, Instant)>,
    /// Index of the element that ends the route of packets that their hosts discard, if there can
    /// be such packets.
    discard: Option<u32>,
    /// In debug builds, indices of the ports that may have changed since they were checked.
    touched: Vec<u32>,
}

impl Network {
    /// The network of these ports, each with the propagation delay behind it. `discard` is the port
    /// that drops packets which their hosts discard.
    pub fn new(ports: Vec<(Port, Duration)>, delays: DelayClocks, discard: Option<u32>) -> Network {
        let (ports, after): (Vec<Port>, Vec<Duration>) = ports.into_iter().unzip();
        let armed_ticks = vec![Instant::NEVER; ports.len()];
        Network {
            ports,
            after,
            delays,
            armed_ticks,
            lost: Vec::new(),
            discard,
            touched: Vec::new(),
        }
    }

    /// Whether packets that one side sends, and that are delayed equally behind their port, arrive
    /// in the order in which they were sent: every route has one port at most, which computes
    /// departures at arrival, and all delays are exact.
    pub fn keeps_order(&self, routes: &[Vec<u32>]) -> bool {
        let folds = self.ports.iter().all(|port| matches!(port, Port::Folded(_)));
        folds && self.delays.are_exact() && routes.iter().all(|route| route.len() <= 1)
    }

    /// All ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// All ports, mutable.
    pub fn ports_mut(&mut self) -> &mut [Port] {
        &mut self.ports
    }

    /// A port.
    #[inline]
    pub fn port(&mut self, port: u32) -> &mut Port {
        self.touch(port);
        &mut self.ports[port as usize]
    }

    /// Notes that a port may change, for [`Network::check_touched`].
    #[inline]
    fn touch(&mut self, port: u32) {
        if Conservation::ON && self.touched.last() != Some(&port) {
            self.touched.push(port);
        }
    }

    /// Asserts what [`Port::check`] does of all ports that may have changed since the last call, in
    /// debug builds; in others it does nothing.
    pub fn check_touched(&mut self) {
        self.touched.drain(..).for_each(|port| self.ports[port as usize].check());
    }

    /// A port and the propagation delay after it.
    #[inline]
    pub fn port_and_delay(&mut self, port: u32) -> (&mut Port, Duration) {
        self.touch(port);
        (&mut self.ports[port as usize], self.after[port as usize])
    }

    /// Propagation delay after a port.
    #[inline]
    pub fn after(&self, port: u32) -> Duration {
        self.after[port as usize]
    }

    /// When a packet that leaves its last port at `at` reaches its host after a delay of `tail`,
    /// whose end the clock of machine `client` may round.
    pub fn delayed(&self, at: Instant, tail: Duration, client: impl FnOnce() -> u32) -> Instant {
        if self.delays.are_exact() { at + tail } else { self.delays.end(client(), at, tail) }
    }

    /// Index of the port that drops packets which their hosts discard.
    pub fn discard(&self) -> Option<u32> {
        self.discard
    }

    /// Whether delays after the last port are exact and not rounded to the ticks of a machine's
    /// clock.
    #[inline]
    pub fn delays_exactly(&self) -> bool {
        self.delays.are_exact()
    }

    /// A packet arrives at an explicit port, with its TCP header if the port reads it. Returns the
    /// end of the transmission that the arrival began, if it began one.
    pub fn offer(
        &mut self,
        port: u32,
        packet: Packet,
        header: Option<&TcpHeader>,
        class: PacketClass,
    ) -> Option<Instant> {
        self.touch(port);
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        match &mut self.ports[port as usize] {
            Port::Explicit(explicit) => explicit.offer(packet, header, class, &mut lost),
            Port::Folded(_) | Port::Effect(_) | Port::Channel(_) => unreachable!("{NOT_EXPLICIT}"),
        }
    }

    /// A packet arrives at a channel. Returns the time of the channel's tick if the caller must
    /// schedule an event for it; the tick then counts as scheduled.
    pub fn offer_to_channel(
        &mut self,
        port: u32,
        packet: Packet,
        class: PacketClass,
    ) -> Option<Instant> {
        self.touch(port);
        let channel = self.ports[port as usize].channel()?;
        if channel.is_full(&packet.header) {
            channel.refuse(packet.arrived, packet.bytes, class);
            self.lost.push((packet.id, packet.arrived));
            return None;
        }
        self.admit_to_channel(port, packet, class)
    }

    /// A packet that was not refused arrives at a channel. Returns as [`Network::offer_to_channel`] does.
    pub fn admit_to_channel(
        &mut self,
        port: u32,
        packet: Packet,
        class: PacketClass,
    ) -> Option<Instant> {
        self.touch(port);
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        let next = self.ports[port as usize].channel()?.admit(packet, class, &mut lost);
        self.arm(port, next)
    }

    /// The next packet that a channel has carried, and when it leaves.
    pub fn take_carried(&mut self, port: u32) -> Option<(Instant, Packet)> {
        self.port(port).channel()?.take_carried()
    }

    /// A transmission ends at an explicit port. Returns its packet, and the end of the next
    /// transmission if one begins.
    pub fn finish_transmission(&mut self, port: u32, now: Instant) -> (Packet, Option<Instant>) {
        self.touch(port);
        let lost = &mut self.lost;
        match &mut self.ports[port as usize] {
            Port::Explicit(explicit) => explicit
                .finish_transmission(now, &mut |packet| lost.push((packet.id, packet.arrived))),
            Port::Folded(_) | Port::Effect(_) | Port::Channel(_) => unreachable!("{NOT_EXPLICIT}"),
        }
    }

    /// Returns the handle of a dropped packet and its arrival time at the port; the packet that was
    /// dropped last comes first.
    pub fn take_lost(&mut self) -> Option<(u32, Instant)> {
        self.lost.pop()
    }

    /// Returns the time of a port's next tick if the caller must schedule an event for it; the tick
    /// then counts as scheduled.
    pub fn arm_tick(&mut self, port: u32) -> Option<Instant> {
        let next = match &self.ports[port as usize] {
            Port::Explicit(explicit) => explicit.next_tick(),
            Port::Channel(channel) => channel.next_tick(),
            Port::Folded(_) | Port::Effect(_) => None,
        };
        self.arm(port, next)
    }

    /// Time of the first scheduled tick event of a port.
    pub fn armed_tick(&self, port: u32) -> Instant {
        self.armed_ticks[port as usize]
    }

    fn arm(&mut self, port: u32, next: Option<Instant>) -> Option<Instant> {
        let armed = &mut self.armed_ticks[port as usize];
        let at = next.filter(|at| at < armed)?;
        *armed = at;
        Some(at)
    }

    /// Serves a tick event. Returns `None` if a later event has replaced it. Otherwise the port has
    /// run the updates that were due, and the result is the end of a transmission that they began,
    /// if they began one.
    pub fn tick(&mut self, port: u32, now: Instant) -> Option<Option<Instant>> {
        let armed = &mut self.armed_ticks[port as usize];
        if *armed > now {
            return None;
        }
        *armed = Instant::NEVER;
        self.touch(port);
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        // The port may have postponed its tick since the event was scheduled.
        Some(match &mut self.ports[port as usize] {
            Port::Explicit(port) if port.next_tick().is_some_and(|at| at <= now) => {
                port.tick(now, &mut lost)
            }
            Port::Channel(channel) if channel.next_tick().is_some_and(|at| at <= now) => {
                channel.tick(now, &mut lost)
            }
            _ => None,
        })
    }
}

const NOT_EXPLICIT: &str = "packets come to other ports otherwise";
