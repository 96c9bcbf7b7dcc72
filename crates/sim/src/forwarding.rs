//! Packets on their way: sent, carried from port to port along their routes, delayed, lost; and
//! the datagram streams they belong to.

use packet::{Ack, Duration, Header, Instant, Packet};
use record::{Kind, Nature};
use tcp::{Flags, Segment};

use crate::agenda::{Turn, order};
use crate::capture::CapturedAt;
use crate::connection::{ACCEPTOR, GONE, OPENER};
use crate::conservation::Conservation;
use crate::port::{Offered, Port};
use crate::topology::Side;
use crate::world::{What, World};

/// Bytes of IPv4 and UDP headers.
const UDP_IP_HEADERS: u32 = 28;

/// A packet on its way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flight {
    pub(crate) segment: Segment,
    pub(crate) connection: u32,
    pub(crate) serial: u32,
    pub(crate) route: u32,
    /// Ports passed.
    pub(crate) hop: u16,
    pub(crate) to: u8,
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
    pub(crate) route: u32,
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

impl World {
    pub(crate) fn arrive(&mut self, id: u32) {
        let flight = &self.flights[id];
        if usize::from(flight.hop) < self.routes[flight.route as usize].len() {
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
        self.conservation.sent(flight.flow(), flight.segment.ip_bytes());
        self.launch(id);
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
        self.conservation.sent(flight.flow(), flight.ip_bytes());
        self.launch(id);
    }

    /// A packet leaves its host.
    #[inline]
    fn launch(&mut self, id: u32) {
        if self.scripts.is_none() || !self.follow_script(id) {
            self.forward(id);
        }
    }

    /// Moves a packet that is now at the entrance of a port, or past its last one, as far as
    /// can be known.
    #[inline]
    fn forward(&mut self, id: u32) {
        let mut at = self.now;
        let flight = &mut self.flights[id];
        let route = &self.routes[flight.route as usize];
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
            match &mut self.ports[port as usize] {
                Port::Folded(folded) => match folded.offer(&mut packet, flight.nature) {
                    Offered::Leaves { at: leaves, marked } => {
                        if marked {
                            flight.segment.ecn = packet.ecn;
                        }
                        at = leaves + self.after[port as usize];
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
    #[inline(always)]
    fn delayed(&self, id: u32, at: Instant) -> Instant {
        let flight = &self.flights[id];
        let tail = if flight.is_datagram() {
            self.streams[flight.connection as usize].tail
        } else {
            self.connections[flight.connection].tail[usize::from(1 - flight.to)]
        };
        if self.delays.are_exact() { at + tail } else { self.delayed_by_ticks(id, at, tail) }
    }

    /// The same where clients' clocks count delays out.
    #[inline(never)]
    fn delayed_by_ticks(&self, id: u32, at: Instant, tail: Duration) -> Instant {
        self.delays.end(self.client_of(&self.flights[id]), at, tail)
    }

    /// The client's machine that a packet comes from or goes to: the one that delays it.
    fn client_of(&self, flight: &Flight) -> u32 {
        if !flight.is_datagram() {
            return self.connections[flight.connection].client();
        }
        let stream = &self.streams[flight.connection as usize];
        let to_opener = usize::from(stream.to) == OPENER;
        let openers = self.groups[usize::from(stream.group)].side;
        // Hosts are named as the stream goes: from, to.
        u32::from(stream.hosts[usize::from(to_opener == (openers == Side::Clients))])
    }

    /// Frees what an explicit port lost and plans the end of the transmission it began.
    fn after_explicit(&mut self, port: u32, finish: Option<Instant>) {
        while let Some(id) = self.lost.pop() {
            self.lose(id, port);
        }
        if let Some(at) = finish {
            self.agenda.plan(at, order(Turn::Departure, u64::from(port)), What::Finish(port));
        }
        self.plan_tick(port);
    }

    pub(crate) fn finish_transmission(&mut self, port: u32) {
        let Port::Explicit(explicit) = &mut self.ports[port as usize] else {
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
        let mut at = self.now + self.after[port as usize];
        if usize::from(flight.hop) == self.routes[flight.route as usize].len() {
            at = self.delayed(packet.id, at);
        }
        let flight = &self.flights[packet.id];
        let about = u64::from(flight.serial) << 1 | u64::from(flight.to);
        self.agenda.plan(at, order(Turn::Arrival, about), What::Arrive(packet.id));
    }

    pub(crate) fn plan_tick(&mut self, port: u32) {
        if let Port::Explicit(explicit) = &self.ports[port as usize]
            && let Some(at) = explicit.next_tick()
            && at < self.armed_ticks[port as usize]
        {
            self.armed_ticks[port as usize] = at;
            let order = order(Turn::Tick, u64::from(port));
            self.agenda.plan(at.max(self.now), order, What::Tick(port));
        }
    }

    pub(crate) fn tick(&mut self, port: u32) {
        let armed = &mut self.armed_ticks[port as usize];
        if *armed > self.now {
            return; // superseded
        }
        *armed = Instant::NEVER;
        let Port::Explicit(explicit) = &mut self.ports[port as usize] else { return };
        let (now, lost) = (self.now, &mut self.lost);
        // It may have been put off since the event was planned.
        let due = explicit.next_tick().is_some_and(|at| at <= now);
        let finish = if due { explicit.tick(now, &mut |p| lost.push(p.id)) } else { None };
        self.after_explicit(port, finish);
    }

    /// The queue of `port` has dropped a packet.
    fn lose(&mut self, id: u32, port: u32) {
        let flight = &self.flights[id];
        self.ports[port as usize].meter_mut().lost(self.now, flight.nature);
        self.conservation.dropped(flight.flow(), flight.ip_bytes());
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
        if Conservation::ON {
            self.flights[id].serial = GONE;
        }
        self.flights.free(id);
    }
}
