//! Packets on their way: sent, carried from port to port along their routes, delayed, lost; and
//! the datagram streams they belong to.

use packet::{Ack, Duration, Header, Instant, Packet};
use record::{Kind, Nature};
use tcp::{Flags, Segment};

use crate::agenda::{Turn, order};
use crate::capture::CapturedAt;
use crate::connection::{ACCEPTOR, GONE, OPENER};
use crate::ledger::Ledger;
use crate::port::{Offered, Port};
use crate::world::{What, World};

/// Bytes of IPv4 and UDP headers.
const UDP_IP_HEADERS: u32 = 28;

/// A packet on its way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flight {
    pub(crate) segment: Segment,
    pub(crate) connection: u32,
    pub(crate) serial: u32,
    pub(crate) to: u8,
    pub(crate) hop: u8,
    pub(crate) route: u16,
    /// What queues may read beside size and flow. It travels along: asking the connection at
    /// every port would cost a visit to its memory.
    header: Header,
    /// What it is to those who count. A datagram is no segment of a connection but one of the
    /// stream in place `connection`; its number, time of sending and payload are in `seq`, `ack`
    /// and `len` of the segment.
    pub(crate) nature: Nature,
}

/// What a segment is to those who count.
#[inline]
fn nature(segment: &Segment) -> Nature {
    let again = segment.flags.has(Flags::AGAIN);
    if segment.len > 0 {
        Nature::new(Kind::Data, again)
    } else if !segment.flags.any(Flags::SYN.with(Flags::FIN)) {
        Nature::new(Kind::Ack, false)
    } else if segment.flags.has(Flags::SYN) {
        Nature::new(Kind::Syn, again)
    } else {
        Nature::new(Kind::Fin, again)
    }
}

/// One sender's datagrams: what they have in common.
pub(crate) struct Stream {
    pub(crate) serial: u32,
    pub(crate) group: u16,
    pub(crate) route: u16,
    pub(crate) hosts: [u16; 2],
    pub(crate) dscp: u8,
    /// Delay after the last port.
    pub(crate) tail: Duration,
    /// Which side it goes to, as of a connection.
    pub(crate) to: u8,
    /// The member that hears of every datagram that arrives; `NOWHERE` for none.
    pub(crate) hears: u32,
    /// Datagrams sent.
    pub(crate) sent: u64,
}

impl Flight {
    /// The direction number an AQM sees: unlike for the two directions of a connection.
    pub(crate) fn flow(&self) -> u64 {
        u64::from(self.serial) << 1 | u64::from(1 - self.to)
    }

    /// What queues may read beside size and flow.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Whether it is one of a stream of datagrams.
    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        self.nature.is(Kind::Datagram)
    }

    /// IP length in bytes.
    #[inline]
    pub(crate) fn ip_bytes(&self) -> u32 {
        if self.is_datagram() { self.segment.len + UDP_IP_HEADERS } else { self.segment.ip_bytes() }
    }
}

/// The end of a delay that a clock of this period counts out: dummynet stores whole ticks and
/// counts from the tick before the packet came, so it waits between n - 1 and n ticks.
fn on_tick(at: Instant, delay: Duration, tick: Duration) -> Instant {
    match delay.nanos() / tick.nanos() {
        0 => at,
        ticks => Instant::from_nanos((at.nanos() / tick.nanos() + ticks) * tick.nanos()),
    }
}

impl World {
    pub(crate) fn arrive(&mut self, id: u32) {
        let flight = &self.flights[id];
        if usize::from(flight.hop) < self.routes[usize::from(flight.route)].len() {
            self.forward(id);
        } else {
            self.deliver(id);
        }
    }

    /// Sends the segment in place `id` on its way.
    pub(crate) fn send(&mut self, id: u32, index: u32, from: usize) {
        let connection = &mut self.connections[index];
        let flight = &mut self.flights[id];
        flight.header = Header {
            dscp: connection.dscp,
            ack: connection.thinnable(from, &flight.segment),
            source: connection.hosts[from],
            destination: connection.hosts[1 - from],
        };
        flight.connection = index;
        flight.serial = connection.serial;
        flight.to = (1 - from) as u8;
        flight.hop = 0;
        flight.route = connection.route[from];
        flight.nature = nature(&flight.segment);
        self.data_sent += u64::from(flight.segment.len > 0);
        self.ledger.sent(flight.flow(), flight.segment.ip_bytes());
        self.forward(id);
    }

    /// Sends a datagram of `bytes` payload on its way.
    pub(crate) fn send_datagram(&mut self, index: u32, bytes: u32) {
        let stream = &mut self.streams[index as usize];
        let segment =
            Segment { seq: stream.sent, ack: self.now.nanos(), len: bytes, ..Segment::default() };
        let id = self.flights.place(Flight::default);
        let flight = &mut self.flights[id];
        *flight = Flight {
            segment,
            connection: index,
            serial: stream.serial,
            to: stream.to,
            hop: 0,
            route: stream.route,
            header: Header {
                dscp: stream.dscp,
                ack: Ack::No,
                source: stream.hosts[OPENER],
                destination: stream.hosts[ACCEPTOR],
            },
            nature: Nature::new(Kind::Datagram, false),
        };
        self.datagrams.sent(index, stream.sent, self.now);
        stream.sent += 1;
        self.ledger.sent(flight.flow(), flight.ip_bytes());
        self.forward(id);
    }

    /// Moves a packet that is now at the entrance of a port, or past its last one, as far as
    /// can be known.
    #[inline]
    fn forward(&mut self, id: u32) {
        let mut at = self.now;
        let flight = &mut self.flights[id];
        let route = &self.routes[usize::from(flight.route)];
        let about = u64::from(flight.serial) << 1 | u64::from(flight.to);
        loop {
            let Some(&port) = route.get(usize::from(flight.hop)) else {
                at = self.delayed(id, at);
                break;
            };
            if at > self.now {
                break;
            }
            let mut packet = Packet {
                id,
                flow: flight.flow(),
                bytes: flight.ip_bytes(),
                ecn: flight.segment.ecn,
                arrived: at,
                header: flight.header,
            };
            flight.hop += 1;
            match &mut self.ports[usize::from(port)] {
                Port::Folded(folded) => match folded.offer(&mut packet, flight.nature) {
                    Offered::Leaves { at: leaves, marked } => {
                        if marked {
                            flight.segment.ecn = packet.ecn;
                        }
                        at = leaves + self.after[usize::from(port)];
                    }
                    _ => return self.lose(id, port),
                },
                Port::Explicit(explicit) => {
                    if let Some(tap) = &mut self.tap {
                        let place = (port, CapturedAt::Arrival);
                        tap.saw(place, at, flight, &self.owners, &self.groups);
                    }
                    if let Some(trace) = explicit.packet_trace() {
                        trace.arrived(at, id, self.owners.who(&packet, flight.nature));
                    }
                    let lost = &mut self.lost;
                    let finish = explicit.offer(packet, flight.nature, &mut |p| lost.push(p.id));
                    return self.after_explicit(port, finish);
                }
            }
        }
        self.agenda.plan(at, order(Turn::Arrival, about), What::Arrive(id));
    }

    /// When a packet that leaves the last port of its route at `at` reaches its host.
    #[inline]
    fn delayed(&self, id: u32, at: Instant) -> Instant {
        let flight = &self.flights[id];
        let tail = if flight.is_datagram() {
            self.streams[flight.connection as usize].tail
        } else {
            self.connections[flight.connection].tail[usize::from(1 - flight.to)]
        };
        if self.delay_tick == Duration::ZERO {
            at + tail
        } else {
            on_tick(at, tail, self.delay_tick)
        }
    }

    /// Frees what an explicit port lost and plans the end of the transmission it began.
    fn after_explicit(&mut self, port: u16, finish: Option<Instant>) {
        while let Some(id) = self.lost.pop() {
            self.lose(id, port);
        }
        if let Some(at) = finish {
            self.agenda.plan(at, order(Turn::Departure, u64::from(port)), What::Finish(port));
        }
        self.plan_tick(port);
    }

    pub(crate) fn finish_transmission(&mut self, port: u16) {
        let Port::Explicit(explicit) = &mut self.ports[usize::from(port)] else {
            unreachable!("only explicit ports plan the end of a transmission")
        };
        let lost = &mut self.lost;
        let (packet, finish) = explicit.finish_transmission(self.now, &mut |p| lost.push(p.id));
        self.after_explicit(port, finish);
        let flight = &mut self.flights[packet.id];
        flight.segment.ecn = packet.ecn;
        if let Some(tap) = &mut self.tap {
            let place = (port, CapturedAt::Departure);
            tap.saw(place, self.now, flight, &self.owners, &self.groups);
        }
        let mut at = self.now + self.after[usize::from(port)];
        if usize::from(flight.hop) == self.routes[usize::from(flight.route)].len() {
            at = self.delayed(packet.id, at);
        }
        let flight = &self.flights[packet.id];
        let about = u64::from(flight.serial) << 1 | u64::from(flight.to);
        self.agenda.plan(at, order(Turn::Arrival, about), What::Arrive(packet.id));
    }

    pub(crate) fn plan_tick(&mut self, port: u16) {
        if let Port::Explicit(explicit) = &self.ports[usize::from(port)]
            && let Some(at) = explicit.next_tick()
            && at < self.armed_ticks[usize::from(port)]
        {
            self.armed_ticks[usize::from(port)] = at;
            let order = order(Turn::Tick, u64::from(port));
            self.agenda.plan(at.max(self.now), order, What::Tick(port));
        }
    }

    pub(crate) fn tick(&mut self, port: u16) {
        let armed = &mut self.armed_ticks[usize::from(port)];
        if *armed > self.now {
            return; // superseded
        }
        *armed = Instant::NEVER;
        let Port::Explicit(explicit) = &mut self.ports[usize::from(port)] else { return };
        let (now, lost) = (self.now, &mut self.lost);
        // It may have been put off since the event was planned.
        let due = explicit.next_tick().is_some_and(|at| at <= now);
        let finish = if due { explicit.tick(now, &mut |p| lost.push(p.id)) } else { None };
        self.after_explicit(port, finish);
    }

    /// The queue of `port` has dropped a packet.
    fn lose(&mut self, id: u32, port: u16) {
        let flight = &self.flights[id];
        self.ports[usize::from(port)].meter_mut().lost(self.now, flight.nature);
        self.ledger.dropped(flight.flow(), flight.ip_bytes());
        if flight.is_datagram() {
            let sent = Instant::from_nanos(flight.segment.ack);
            self.datagrams.lost(flight.connection, flight.segment.seq, sent);
        } else {
            self.note_drop(id);
        }
        self.forget(id);
    }

    /// A packet has left the world: its place may be used again.
    pub(crate) fn forget(&mut self, id: u32) {
        if Ledger::ON {
            self.flights[id].serial = GONE;
        }
        self.flights.free(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_of_n_ticks_lasts_between_n_less_one_and_n() {
        let tick = Duration::from_millis(10);
        let wait = |at_us: u64, delay_ms: u64| {
            let at = Instant::from_nanos(at_us * 1_000);
            on_tick(at, Duration::from_millis(delay_ms), tick).since(at).nanos() / 1_000
        };
        assert_eq!(wait(20_000, 79), 70_000); // on a tick: seven whole ones
        assert_eq!(wait(29_999, 79), 60_001);
        assert_eq!(wait(25_000, 79), 65_000);
        let at = Instant::from_nanos(25_000_000);
        assert_eq!(on_tick(at, Duration::from_millis(9), tick), at); // less than a tick is none
    }
}
