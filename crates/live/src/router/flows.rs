//! The table of connections and streams that cross the router: their numbers, owners and round-trip
//! times, and the sequence numbers that show whether a segment is a retransmission and whether an
//! ACK filter may drop an acknowledgement.

use std::collections::HashMap;
use std::net::SocketAddr;

use capture::flags;
use packet::{Ack, Duration, Instant};
use record::{Kind, PacketClass};
use sim::topology::Side;

use crate::addresses;
use crate::control::{Announcement, Protocol};
use crate::header::{Facts, Segment};

/// Time after a flow's last packet when it is deleted: for an open flow longer than users read
/// between requests on a persistent connection, for an ended one as long as FINs are retransmitted.
const FORGET: Duration = Duration::from_secs(900);
const FORGET_ENDED: Duration = Duration::from_secs(120);
/// Number of flows that are checked for their age each time a flow is added.
const SWEPT: usize = 4;

/// Key of a flow: protocol number, socket address on the clients' side, that on the servers' side.
type Key = (u8, SocketAddr, SocketAddr);

/// The source that a flow belongs to, and the flow's round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Index of the group in the scenario.
    pub group: u16,
    /// Number of the source, counted over all groups.
    pub source: u32,
    /// Round-trip propagation time.
    pub round_trip: Duration,
}

/// A TCP connection, or a pair of datagram streams.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Serial number, in the order in which flows appear.
    pub serial: u32,
    /// The source that the flow belongs to.
    pub owner: Owner,
    /// Numbers of the flow's machines on the clients' and on the servers' side.
    pub machines: [u16; 2],
    /// Side that sent the first packet.
    pub opener: Side,
    ended: bool,
    seen: Instant,
    /// Highest sequence number sent by each side, and highest acknowledgement number.
    sent: [Option<u32>; 2],
    acked: [Option<u32>; 2],
}

/// The table of flows: a slab with an index by key.
#[derive(Default)]
pub struct Flows {
    numbers: HashMap<Key, u32>,
    flows: Vec<Option<(Key, Flow)>>,
    free: Vec<u32>,
    next_serial: u32,
    sweep: usize,
}

fn is_later(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

fn key(protocol: u8, from: Side, own: SocketAddr, other: SocketAddr) -> Key {
    match from {
        Side::Clients => (protocol, own, other),
        Side::Servers => (protocol, other, own),
    }
}

fn machine(of: SocketAddr) -> u16 {
    addresses::machine(of.ip()).map_or(0, |(_, number)| number)
}

impl Flow {
    /// Classifies a packet that side `from` sends, for measurements and for a queue that filters
    /// acknowledgements. Updates the flow's sequence numbers.
    pub fn judge(&mut self, from: Side, facts: &Facts) -> (PacketClass, Ack) {
        let Some(segment) = &facts.segment else {
            return (PacketClass::new(Kind::Datagram, false), Ack::No);
        };
        let from = usize::from(addresses::index(from));
        self.ended |= segment.has(flags::FIN | flags::RST);
        let bare = segment.payload == 0 && !segment.has(flags::SYN | flags::FIN);
        let retransmission =
            !bare && self.sent[from].is_some_and(|sent| !is_later(segment.end(), sent));
        if !bare && !retransmission {
            self.sent[from] = Some(segment.end());
        }
        (class(segment, retransmission), self.ack_filterable(from, bare, segment))
    }

    /// Whether an ACK filter may drop the segment for a newer one; the rule of the simulator's
    /// `Connection::ack_filterable`.
    fn ack_filterable(&mut self, from: usize, bare: bool, segment: &Segment) -> Ack {
        let newer = self.acked[from].is_none_or(|acked| is_later(segment.ack, acked));
        if newer && segment.has(flags::ACK) {
            self.acked[from] = Some(segment.ack);
        }
        if !bare {
            return Ack::No;
        }
        let says_more =
            segment.flags & !flags::PSH != flags::ACK || !segment.queue_header.sack.is_empty();
        if newer && !says_more { Ack::Newer } else { Ack::Needed }
    }
}

fn class(segment: &Segment, retransmission: bool) -> PacketClass {
    let kind = if segment.payload > 0 {
        Kind::Data
    } else if segment.has(flags::SYN) {
        Kind::Syn
    } else if segment.has(flags::FIN) {
        Kind::Fin
    } else {
        Kind::Ack
    };
    PacketClass::new(kind, retransmission)
}

impl Flows {
    /// Adds a flow that is about to be opened. It replaces an earlier flow of its addresses and
    /// ports.
    pub fn announce(&mut self, now: Instant, of: &Announcement) {
        let opener = addresses::machine(of.opener.ip()).map_or(Side::Clients, |(side, _)| side);
        let key = key(of.protocol as u8, opener, of.opener, of.acceptor);
        let Announcement { group, source, round_trip, .. } = *of;
        self.add(now, key, opener, Owner { group, source, round_trip });
    }

    /// The flow of a packet that side `from` sends. A flow that was not announced is added with the
    /// owner that `unknown` returns; it is called with the flow's serial number, its opener's side,
    /// and the machines of opener and acceptor.
    pub fn of(
        &mut self,
        now: Instant,
        from: Side,
        facts: &Facts,
        unknown: impl FnOnce(u32, Side, [u16; 2]) -> Owner,
    ) -> &mut Flow {
        let key = key(facts.protocol, from, facts.from, facts.to);
        let place = self.numbers.get(&key).copied().unwrap_or_else(|| {
            let ends = [machine(facts.from), machine(facts.to)];
            let owner = unknown(self.next_serial, from, ends);
            self.add(now, key, from, owner)
        });
        let flow = self.flows[place as usize].as_mut().map(|(_, flow)| flow);
        let flow = flow.expect("a name leads to its flow");
        flow.seen = now;
        flow
    }

    /// Whether the table has a packet's flow.
    pub fn knows(&self, from: Side, facts: &Facts) -> bool {
        self.numbers.contains_key(&key(facts.protocol, from, facts.from, facts.to))
    }

    /// Number of flows in the table.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    fn add(&mut self, now: Instant, key: Key, opener: Side, owner: Owner) -> u32 {
        self.forget(now);
        let flow = Flow {
            serial: self.next_serial,
            owner,
            machines: [machine(key.1), machine(key.2)],
            opener,
            ended: false,
            seen: now,
            sent: [None; 2],
            acked: [None; 2],
        };
        self.next_serial = self.next_serial.wrapping_add(1);
        let place = self.numbers.get(&key).copied().or_else(|| self.free.pop());
        let place = place.unwrap_or_else(|| {
            self.flows.push(None);
            (self.flows.len() - 1) as u32
        });
        self.flows[place as usize] = Some((key, flow));
        self.numbers.insert(key, place);
        place
    }

    /// Checks the next few flows in turn, and deletes those that are too old.
    fn forget(&mut self, now: Instant) {
        for _ in 0..SWEPT.min(self.flows.len()) {
            self.sweep = (self.sweep + 1) % self.flows.len();
            let Some((key, flow)) = &self.flows[self.sweep] else { continue };
            let keep = if flow.ended { FORGET_ENDED } else { FORGET };
            if now.since(flow.seen) > keep {
                self.numbers.remove(key);
                self.flows[self.sweep] = None;
                self.free.push(self.sweep as u32);
            }
        }
    }
}

/// Whether each direction has half of the round-trip time, as for datagrams in the simulator.
/// Otherwise (TCP) all of it is on the way to the clients.
pub fn is_split(protocol: u8) -> bool {
    protocol != Protocol::Tcp as u8
}
