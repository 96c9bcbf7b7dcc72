//! The network: ports, what they hold back for later, and the delay behind the last one.

use packet::{Duration, Instant, Packet, TcpHeader};
use record::PacketClass;

use crate::port::Port;
use crate::topology::DelayClocks;

/// Ports, named by index.
pub struct Network {
    ports: Vec<Port>,
    /// Propagation delay after each port.
    after: Vec<Duration>,
    /// Clocks of the machines that delay packets.
    delays: DelayClocks,
    /// When each explicit port's tick event is due; [`Instant::NEVER`] without one.
    armed_ticks: Vec<Instant>,
    /// Packets that an explicit port has dropped and that have not been freed yet.
    lost: Vec<(u32, Instant)>,
    /// The end of the route of packets that their hosts discard, if any may.
    discard: Option<u32>,
}

impl Network {
    /// Ports with the propagation delay behind each. `discard` is the port at which packets end that
    /// their hosts discard.
    pub fn new(ports: Vec<(Port, Duration)>, delays: DelayClocks, discard: Option<u32>) -> Network {
        let (ports, after): (Vec<Port>, Vec<Duration>) = ports.into_iter().unzip();
        let armed_ticks = vec![Instant::NEVER; ports.len()];
        Network { ports, after, delays, armed_ticks, lost: Vec::new(), discard }
    }

    /// Whether packets that are sent from one side and delayed equally long behind their port arrive in the
    /// order in which they were sent: all pass one port that computes when they leave, whatever their route.
    pub fn keeps_order(&self, routes: &[Vec<u32>]) -> bool {
        let folds = self.ports.iter().all(|port| matches!(port, Port::Folded(_)));
        folds && self.delays.are_exact() && routes.iter().all(|route| route.len() <= 1)
    }

    /// All ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// All ports, to finish them or to look into them.
    pub fn ports_mut(&mut self) -> &mut [Port] {
        &mut self.ports
    }

    /// A port.
    #[inline]
    pub fn port(&mut self, port: u32) -> &mut Port {
        &mut self.ports[port as usize]
    }

    /// A port and the propagation delay after it.
    #[inline]
    pub fn port_and_delay(&mut self, port: u32) -> (&mut Port, Duration) {
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

    /// The port at which packets end that their hosts discard.
    pub fn discard(&self) -> Option<u32> {
        self.discard
    }

    /// Whether delays after the last port are exact, whichever machine's clock counts them.
    #[inline]
    pub fn delays_exactly(&self) -> bool {
        self.delays.are_exact()
    }

    /// A packet arrives at an explicit port, with its TCP header if the port reads it. Returns the
    /// end of the transmission that this began.
    pub fn offer(
        &mut self,
        port: u32,
        packet: Packet,
        header: Option<&TcpHeader>,
        class: PacketClass,
    ) -> Option<Instant> {
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        match &mut self.ports[port as usize] {
            Port::Explicit(explicit) => explicit.offer(packet, header, class, &mut lost),
            Port::Folded(_) | Port::Effect(_) | Port::Channel(_) => unreachable!("{NOT_EXPLICIT}"),
        }
    }

    /// A packet arrives at a channel. Returns when the tick is due for which there is no event yet; from then on there is one.
    pub fn offer_to_channel(
        &mut self,
        port: u32,
        packet: Packet,
        class: PacketClass,
    ) -> Option<Instant> {
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
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        let next = self.ports[port as usize].channel()?.admit(packet, class, &mut lost);
        self.arm(port, next)
    }

    /// The next packet that a channel has carried, and when it leaves.
    pub fn take_carried(&mut self, port: u32) -> Option<(Instant, Packet)> {
        self.ports[port as usize].channel()?.take_carried()
    }

    /// A transmission ends: its packet, and the end of the next.
    pub fn finish_transmission(&mut self, port: u32, now: Instant) -> (Packet, Option<Instant>) {
        let lost = &mut self.lost;
        match &mut self.ports[port as usize] {
            Port::Explicit(explicit) => explicit
                .finish_transmission(now, &mut |packet| lost.push((packet.id, packet.arrived))),
            Port::Folded(_) | Port::Effect(_) | Port::Channel(_) => unreachable!("{NOT_EXPLICIT}"),
        }
    }

    /// A packet that an explicit port has dropped and when it had come there, the last one first.
    pub fn take_lost(&mut self) -> Option<(u32, Instant)> {
        self.lost.pop()
    }

    /// When a port wants a tick for which there is no event yet; from then on there is one.
    pub fn arm_tick(&mut self, port: u32) -> Option<Instant> {
        let next = match &self.ports[port as usize] {
            Port::Explicit(explicit) => explicit.next_tick(),
            Port::Channel(channel) => channel.next_tick(),
            Port::Folded(_) | Port::Effect(_) => None,
        };
        self.arm(port, next)
    }

    /// When the first tick of a port comes for which there is an event.
    pub fn armed_tick(&self, port: u32) -> Instant {
        self.armed_ticks[port as usize]
    }

    fn arm(&mut self, port: u32, next: Option<Instant>) -> Option<Instant> {
        let armed = &mut self.armed_ticks[port as usize];
        let at = next.filter(|at| at < armed)?;
        *armed = at;
        Some(at)
    }

    /// The tick event of an explicit port: `None` if another one took its place. Else the port has
    /// run what was due; the end of the transmission that this began, if it began one.
    pub fn tick(&mut self, port: u32, now: Instant) -> Option<Option<Instant>> {
        let armed = &mut self.armed_ticks[port as usize];
        if *armed > now {
            return None;
        }
        *armed = Instant::NEVER;
        let lost = &mut self.lost;
        let mut lost = |packet: Packet| lost.push((packet.id, packet.arrived));
        // It may have been put off since the event was scheduled.
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
