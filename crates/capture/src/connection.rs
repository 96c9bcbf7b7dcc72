//! One connection while it is open: handshake, round trips, units of data, how it ends.

use crate::direction::{Direction, Kind};
use crate::headers::{ACK, RST, SYN, Segment};
use crate::marks::Negotiated;
use crate::units::{Open, Units};

/// Silence of a side, with all of its data acknowledged, that ends a unit of application data: the
/// value of the a-b-t model's authors (from memory).
const QUIET_US: u64 = 500_000;

/// Most bytes that TCP options take in a segment.
const OPTIONS: u32 = 40;
/// Maximum segment size assumed for a side whose MSS option was not captured: that of Ethernet.
const USUAL_MSS: u32 = 1_460;

/// Stage of a connection, which decides after how much silence it is taken to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Embryonic,
    Established,
    Closed,
}

pub struct Connection {
    /// Number of the connection, from 0, in the order in which connections begin in the capture.
    pub serial: u64,
    pub start_ns: i64,
    pub last_ns: i64,
    /// The opener's side of the link, 0 or 1; none if it is unknown.
    pub link_side: Option<u8>,
    /// The opener's packets, then the acceptor's.
    pub directions: [Direction; 2],
    pub units: Units,
    pub concurrent: bool,
    pub reset: bool,
    /// Whether the connection was ended because its vector was too long, and continued as another
    /// connection.
    pub cut: bool,
    pub sack: bool,
    pub timestamps: bool,
    /// Least round-trip time between the point of capture and each end (opener, acceptor), ns.
    pub rtt_ns: [Option<i64>; 2],
    /// Times at which the opener and the acceptor could first have sent data, as seen at the point
    /// of capture, microseconds from the start.
    pub ready_us: [Option<u64>; 2],
    syn_at: Option<i64>,
    /// Time of the last SYN-ACK, ns; it gives a round-trip time only if there was just one.
    syn_ack_at: Option<i64>,
    syns: u32,
    syn_acks: u32,
    /// Time from the last SYN to the first acknowledgement without SYN, ns.
    handshake_ns: Option<i64>,
}

impl Connection {
    pub fn new(serial: u64, start_ns: i64, link_side: Option<u8>) -> Self {
        Connection {
            serial,
            start_ns,
            last_ns: start_ns,
            link_side,
            directions: Default::default(),
            units: Units::default(),
            concurrent: false,
            reset: false,
            cut: false,
            sack: false,
            timestamps: false,
            rtt_ns: [None; 2],
            ready_us: [None; 2],
            syn_at: None,
            syn_ack_at: None,
            syns: 0,
            syn_acks: 0,
            handshake_ns: None,
        }
    }

    /// Whether a segment is the SYN of another connection between the same ports.
    pub fn is_replaced_by(&self, side: usize, segment: &Segment) -> bool {
        segment.has(SYN) && !segment.has(ACK) && self.directions[side].first != Some(segment.seq)
    }

    /// Takes a segment of the opener (0) or the acceptor (1). Returns the kind of the segment.
    pub fn take(&mut self, side: usize, segment: &Segment, at_ns: i64) -> Kind {
        // If the clock of the capture goes back, the connection's time stands still.
        self.last_ns = self.last_ns.max(at_ns);
        let at = self.last_ns;
        let [opener, acceptor] = &mut self.directions;
        let (own, other) = if side == 0 { (opener, acceptor) } else { (acceptor, opener) };
        if own.is_copy(segment, at) {
            return Kind::Resent;
        }
        let kind = own.take(segment, at, other, self.handshake_ns);
        if segment.has(RST) {
            self.reset |= !(own.fin && other.fin);
            return kind;
        }
        if segment.has(SYN) {
            own.opened(segment);
            self.sack |= segment.options.sack;
            self.timestamps |= segment.options.timestamps;
        }
        let shift = match (own.shift, other.shift) {
            (Some(shift), Some(_)) if !segment.has(SYN) => shift,
            _ => 0,
        };
        own.window = own.window.max(u64::from(segment.window) << shift);
        self.handshake(side, segment, at);
        if segment.has(ACK) {
            self.acknowledge(side, segment.ack, at);
        }
        match kind {
            Kind::KeepAlive | Kind::Probe => {}
            _ if segment.payload > 0 => self.data(side, segment, at, kind),
            _ => {}
        }
        kind
    }

    fn handshake(&mut self, side: usize, segment: &Segment, at: i64) {
        if self.handshake_ns.is_none() && segment.has(ACK) && !segment.has(SYN) {
            self.handshake_ns = self.syn_at.map(|syn| at - syn);
        }
        match (side, segment.has(SYN), segment.has(ACK)) {
            (0, true, false) => {
                self.syns += 1;
                self.syn_at = Some(at);
            }
            (1, true, true) => {
                self.syn_acks += 1;
                self.syn_ack_at = Some(at);
                self.ready_us[0] = Some(self.micros(at));
                if let (Some(syn), 1, 1) = (self.syn_at, self.syns, self.syn_acks) {
                    shorten(&mut self.rtt_ns[1], at - syn);
                }
            }
            (0, false, true) if self.ready_us[1].is_none() => {
                self.ready_us[1] = Some(self.micros(at));
                if let (Some(syn_ack), 1) = (self.syn_ack_at, self.syn_acks) {
                    shorten(&mut self.rtt_ns[0], at - syn_ack);
                }
            }
            _ => {}
        }
    }

    /// Updates the data of the other side by an acknowledgement of this side.
    fn acknowledge(&mut self, side: usize, ack: u32, at: i64) {
        let now_us = self.micros(at);
        let other = &mut self.directions[1 - side];
        if !other.seen {
            let new = other.advance_to(ack);
            other.acked = other.bytes;
            if new > 0 {
                self.speak(1 - side, new, 0, now_us);
            }
            return;
        }
        other.acked = other.acked.max(other.covered(ack));
        if let Some((end, sent)) = other.sample
            && other.acked >= end
        {
            other.sample = None;
            shorten(&mut self.rtt_ns[side], at - sent);
        }
    }

    fn data(&mut self, side: usize, segment: &Segment, at: i64, kind: Kind) {
        let now_us = self.micros(at);
        let new = self.directions[side].advance(segment);
        if new == 0 {
            let own = &mut self.directions[side];
            own.sample = None; // which transmission is acknowledged is unknown (Karn)
            // The retransmission may fill a hole: the unit reaches the other side only now.
            if let (Some(unit), false) = (&mut own.unit, own.interrupted) {
                unit.end_us = now_us;
            }
            return;
        }
        let other = &self.directions[1 - side];
        let had = other.covered(segment.ack);
        // Both sides had data in flight that the other one had not received.
        let known = segment.has(ACK) && other.seen && other.begun();
        self.concurrent |= known && had < other.bytes;
        self.speak(side, new, had, now_us);
        let announced = self.directions[1 - side].mss;
        let own = &mut self.directions[side];
        own.full = segment.payload + OPTIONS >= announced.map_or(USUAL_MSS, u32::from);
        if kind != Kind::New {
            own.sample = None;
        } else if own.sample.is_none() {
            own.sample = Some((own.bytes, at));
        }
    }

    /// Counts `new` bytes that a side sent: they continue its unit (a request or a reply), or begin
    /// the next one.
    fn speak(&mut self, side: usize, new: u64, after: u64, now_us: u64) {
        self.directions[1 - side].interrupted = true;
        let own = &mut self.directions[side];
        let before = own.bytes - new;
        let quiet = |unit: &Open| now_us.saturating_sub(unit.end_us) >= QUIET_US;
        // If one of the two sides was not captured, it is unknown whether data is in flight.
        let idle =
            own.acked >= before || self.directions[1 - side].seen != self.directions[side].seen;
        let own = &mut self.directions[side];
        // After a full segment the application had more to send. If the next segment is lost before
        // the point of capture, its retransmission after a timeout looks like a pause of the
        // application.
        let waited = |unit: &Open| quiet(unit) && !own.full;
        match &mut own.unit {
            Some(unit) if !(idle && (own.interrupted || waited(unit))) => {
                unit.bytes += new;
                unit.end_us = now_us;
            }
            ended => {
                if let Some(ended) = ended {
                    self.units.push(side, *ended);
                }
                *ended = Some(Open { start_us: now_us, end_us: now_us, bytes: new, after });
            }
        }
        own.interrupted = false;
    }

    /// Ends the units that are not complete yet.
    pub fn end_units(&mut self) {
        for side in 0..2 {
            if let Some(unit) = self.directions[side].unit.take() {
                self.units.push(side, unit);
            }
        }
    }

    /// Ends the connection because of its length. Returns the one that continues it, with what is
    /// known of the path and of both sides' sequence numbers.
    pub fn cut(&mut self, serial: u64, at_ns: i64) -> Connection {
        self.cut = true;
        let [opener, acceptor] = &self.directions;
        Connection {
            link_side: self.link_side,
            directions: [opener.continued(), acceptor.continued()],
            concurrent: self.concurrent,
            sack: self.sack,
            timestamps: self.timestamps,
            rtt_ns: self.rtt_ns,
            handshake_ns: self.handshake_ns,
            ..Connection::new(serial, at_ns, None)
        }
    }

    /// The kind of ECN that both ends negotiated.
    pub fn ecn(&self) -> Negotiated {
        let [opener, acceptor] = &self.directions;
        Negotiated::of(opener.ecn.syn, acceptor.ecn.syn)
    }

    pub fn stage(&self) -> Stage {
        let [opener, acceptor] = &self.directions;
        let one_sided = !opener.seen || !acceptor.seen;
        let over = (opener.fin && acceptor.fin) || (one_sided && (opener.fin || acceptor.fin));
        if self.reset || over {
            Stage::Closed
        } else if self.ready_us[1].is_some()
            || self.has_payload()
            || self.directions[0].first.is_none()
        {
            Stage::Established
        } else {
            Stage::Embryonic
        }
    }

    pub fn has_payload(&self) -> bool {
        self.directions.iter().any(|direction| direction.bytes > 0)
    }

    fn micros(&self, at: i64) -> u64 {
        ((at - self.start_ns).max(0) / 1_000) as u64
    }
}

fn shorten(least: &mut Option<i64>, sample: i64) {
    *least = Some(least.map_or(sample, |l| l.min(sample)).max(0));
}
