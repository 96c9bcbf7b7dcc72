//! ECN of the packets of one direction, and which packets were captured twice.

use crate::headers::flags::{AE, CWR, ECE};
use crate::headers::{ACK, SYN, Segment};

/// The flags by which ECN is negotiated and reported.
const ECN: u16 = AE | CWR | ECE;
/// Initial value of the counter of accurate ECN (RFC 9768 section 3.2.1).
const FIRST_COUNT: u8 = 5;
/// A duplicate of a captured packet follows within this time, microseconds: sooner than any
/// retransmission.
const COPIED_US: u32 = 1_000;

/// The kind of ECN that two hosts negotiated in their handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiated {
    /// No ECN: the handshake was not seen, or the opener did not request it.
    Nothing,
    /// ECN was requested and not granted.
    Refused,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

impl Negotiated {
    /// The kind of ECN that the flags of the SYN and of the SYN-ACK negotiated (RFC 3168 section
    /// 6.1.1, RFC 9768 table 2).
    pub fn of(syn: Option<u16>, syn_ack: Option<u16>) -> Negotiated {
        let (Some(syn), Some(syn_ack)) = (syn.map(|f| f & ECN), syn_ack.map(|f| f & ECN)) else {
            return Negotiated::Nothing;
        };
        let requested = syn & (CWR | ECE) == CWR | ECE;
        match syn_ack {
            _ if !requested => Negotiated::Nothing,
            ECE => Negotiated::Classic,
            granted
                if syn & AE != 0 && (granted == AE || (granted & CWR != 0 && granted != ECN)) =>
            {
                Negotiated::Accurate
            }
            _ => Negotiated::Refused,
        }
    }

    /// The name in the model; `None` without ECN.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Negotiated::Classic => Some("classic"),
            Negotiated::Accurate => Some("accurate"),
            Negotiated::Nothing | Negotiated::Refused => None,
        }
    }
}

/// ECN counts over the packets of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// Flags of the direction's SYN or SYN-ACK.
    pub syn: Option<u16>,
    /// Packets by the ECN field of their IP header: not ECT, ECT(1), ECT(0), CE.
    pub code_points: [u32; 4],
    /// Number of packets with the flag ECE, other than the SYN or SYN-ACK; with accurate ECN, these
    /// are the packets with an odd ACE counter.
    pub echoes: u32,
    /// Marks counted by the accurate ECN counter, if the flags carry one.
    pub counted: u32,
    count: Option<u8>,
    /// Whether a segment with ACK and without SYN was seen.
    acks: bool,
}

impl Marks {
    pub fn take(&mut self, segment: &Segment) {
        self.code_points[usize::from(segment.ecn & 3)] += 1;
        if segment.has(SYN) {
            self.syn = Some(segment.flags);
            return;
        }
        self.echoes += u32::from(segment.has(ECE));
        if !segment.has(ACK) {
            return;
        }
        let first = !core::mem::replace(&mut self.acks, true);
        // The opener's first segment reports the code point of the SYN-ACK (RFC 9768 section
        // 3.2.2.1).
        if first && self.syn.is_some_and(|flags| flags & ACK == 0) {
            return;
        }
        let flag = |flag: u16, value: u8| if segment.has(flag) { value } else { 0 };
        let count = flag(AE, 4) | flag(CWR, 2) | flag(ECE, 1);
        let before = self.count.replace(count).unwrap_or(FIRST_COUNT);
        let more = count.wrapping_sub(before) & 7;
        // A step of 7 is one backwards: a segment out of order, with an older counter.
        if more < 7 {
            self.counted += u32::from(more);
        } else {
            self.count = Some(before);
        }
    }
}

/// The last packets of a direction, to recognise duplicates: a hash of header fields and the time
/// of capture, microseconds. (A connection takes little memory, since millions may be open.)
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    kept: [(u32, u32); 2],
    last: bool,
}

impl Recent {
    /// Whether an identical packet was captured within the last millisecond; otherwise this one is
    /// kept. A pure acknowledgement may be sent twice: it is a duplicate only if its IP
    /// identification is equal.
    pub fn has(&mut self, segment: &Segment, at_ns: i64) -> bool {
        let s = segment;
        let numbers = u64::from(s.seq) << 32 | u64::from(s.ack);
        let rest = u64::from(s.payload) << 32 | u64::from(s.window) << 16 | u64::from(s.id);
        let mixed = (numbers ^ u64::from(s.flags)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 32 ^ rest).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Zero marks an empty slot.
        let (name, at) = ((mixed >> 32) as u32 | 1, (at_ns / 1_000) as u32);
        let named = s.id != 0 || s.payload > 0;
        let known = named
            && self
                .kept
                .iter()
                .any(|&(kept, then)| kept == name && at.wrapping_sub(then) < COPIED_US);
        if !known {
            self.last = !self.last;
            self.kept[usize::from(self.last)] = (name, at);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(flags: u16, ecn: u8) -> Segment {
        let end = ([0; 16], 1);
        let (seq, ack, window, payload, id) = (1, 1, 1, 0, 7);
        let options = Default::default();
        Segment { from: end, to: end, seq, ack, flags, window, payload, options, ecn, id }
    }

    #[test]
    fn hosts_agree_as_the_tables_of_the_rfcs_say() {
        use Negotiated::{Accurate, Classic, Nothing, Refused};
        let classic = Some(ECE | CWR);
        let accurate = Some(AE | ECE | CWR);
        for (syn, syn_ack, agreed) in [
            (classic, Some(ECE), Classic),
            (classic, Some(0), Refused),
            (classic, Some(ECE | CWR), Refused),
            (Some(0), Some(ECE), Nothing),
            (classic, None, Nothing),
            (accurate, Some(CWR), Accurate),
            (accurate, Some(CWR | ECE), Accurate),
            (accurate, Some(AE), Accurate),
            (accurate, Some(AE | CWR), Accurate),
            (accurate, Some(ECE), Classic),
            (accurate, Some(AE | ECE), Refused),
            (accurate, Some(AE | ECE | CWR), Refused),
            (accurate, Some(0), Refused),
        ] {
            assert_eq!(Negotiated::of(syn, syn_ack), agreed, "{syn:?} {syn_ack:?}");
        }
    }

    #[test]
    fn the_counter_is_read_over_its_wrap_and_code_points_are_counted() {
        let mut marks = Marks { syn: Some(SYN), ..Marks::default() };
        // The handshake's ACK reports the SYN-ACK's code point; then the counter is 5, 6, 7, 0 and
        // 2: five marks.
        for (count, ecn) in [(4, 0), (5, 2), (6, 2), (7, 3), (0, 1), (2, 1), (1, 1)] {
            let flag = |bit: u16, flag: u16| if count & bit != 0 { flag } else { 0 };
            let flags = ACK | flag(4, AE) | flag(2, CWR) | flag(1, ECE);
            marks.take(&segment(flags, ecn));
        }
        assert_eq!((marks.counted, marks.code_points), (5, [1, 3, 2, 1]));
    }

    #[test]
    fn a_packet_that_comes_again_at_once_is_a_copy() {
        let mut recent = Recent::default();
        let (ack, data) = (segment(ACK, 0), Segment { payload: 9, id: 0, ..segment(ACK, 0) });
        assert!(!recent.has(&ack, 0) && recent.has(&ack, 900_000));
        assert!(!recent.has(&ack, 1_100_000), "a millisecond later it may be another");
        assert!(!recent.has(&Segment { id: 8, ..ack }, 1_100_001), "another packet");
        assert!(!recent.has(&data, 0) && recent.has(&data, 1));
        let bare = Segment { id: 0, ..ack };
        assert!(!recent.has(&bare, 0) && !recent.has(&bare, 1), "a duplicate acknowledgement");
    }
}
