//! The network: ports, what they hold back for later, and the delay behind the last one.

use packet::{Duration, Instant, Packet, TcpHeader};
use record::PacketClass;

use crate::port::{ExplicitPort, Port};
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
    lost: Vec<u32>,
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

    fn explicit(&mut self, port: u32) -> (&mut ExplicitPort, &mut Vec<u32>) {
        match &mut self.ports[port as usize] {
            Port::Explicit(explicit) => (explicit, &mut self.lost),
            Port::Folded(_) | Port::Effect(_) => {
                unreachable!("only explicit ports have events of their own")
            }
        }
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
        let (explicit, lost) = self.explicit(port);
        explicit.offer(packet, header, class, &mut |p| lost.push(p.id))
    }

    /// A transmission of an explicit port ends: its packet, and the end of the next.
    pub fn finish_transmission(&mut self, port: u32, now: Instant) -> (Packet, Option<Instant>) {
        let (explicit, lost) = self.explicit(port);
        explicit.finish_transmission(now, &mut |p| lost.push(p.id))
    }

    /// A packet that an explicit port has dropped, the last one first.
    pub fn take_lost(&mut self) -> Option<u32> {
        self.lost.pop()
    }

    /// When a port wants a tick for which there is no event yet; from then on there is one.
    pub fn arm_tick(&mut self, port: u32) -> Option<Instant> {
        let Port::Explicit(explicit) = &self.ports[port as usize] else { return None };
        let armed = &mut self.armed_ticks[port as usize];
        let at = explicit.next_tick().filter(|at| at < armed)?;
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
        let (explicit, lost) = self.explicit(port);
        // It may have been put off since the event was scheduled.
        let due = explicit.next_tick().is_some_and(|at| at <= now);
        Some(if due { explicit.tick(now, &mut |p| lost.push(p.id)) } else { None })
    }
}
