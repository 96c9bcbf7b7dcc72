//! Accurate ECN: both ends count marked packets, and every ACK carries the three low bits of the
//! receiver's count in the flags AE, CWR and ECE (RFC 9768).
//!
//! The option with counters of bytes is in [`option`](super::option). Left out: the tests for paths
//! that mangle the IP header or the option (sections 3.2.2.3, 3.2.3.2.3 and 3.2.3.2.4), since no path here
//! does. Only the Linux profiles test for cleared flags (3.2.2.4) and for the loss of
//! acknowledgements with the option.

use packet::Ecn;

use super::rules::EcnRules;
use crate::segment::{Flags, Segment};

/// Number of values of the ACE field.
const VALUES: u64 = 8;

/// Number of marked packets at which a receiver acknowledges at once (section 3.2.2.5.1): without
/// data that waits for its acknowledgement, and with it.
const AT_ONCE: [u8; 2] = [3, 2];

/// The counters of both roles. Only their three low bits are ever compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Marked packets received, r.cep.
    received: u8,
    /// Marked packets that the peer has reported, s.cep.
    reported: u8,
    /// Number of marked packets received since the last segment was sent.
    pending: u8,
    /// Number of segments that had been sent when the latest packet arrived.
    sent: u64,
    /// The latest packet was marked.
    marked: bool,
    /// The profile's [`EcnRules::answers_unmarked`](super::EcnRules::answers_unmarked).
    answers_unmarked: bool,
    /// Mean number of packets that an acknowledgement reports, in 1/64 (Linux's `pkts_acked_ewma`);
    /// 0 before the first. Kept only with [`believes_thinned`](super::EcnRules::believes_thinned).
    mean_reported: u16,
    believes_thinned: bool,
}

/// Linux's PKTS_ACKED_WEIGHT and PKTS_ACKED_PREC, as shifts, and ACK_COMP_THRESH, packets.
const WEIGHT: u32 = 6;
const FRACTION: u32 = 6;
const THINNED: u16 = 4;

impl Default for Counters {
    fn default() -> Self {
        // Initial values of RFC 9768 section 3.2.1.
        Counters {
            received: 5,
            reported: 5,
            pending: 0,
            sent: 0,
            marked: false,
            answers_unmarked: false,
            mean_reported: 0,
            believes_thinned: false,
        }
    }
}

/// How the ECN field of a SYN or SYN-ACK is reported back: by the SYN-ACK (table 2) and by the ACK that
/// completes the handshake (table 3).
pub(super) fn handshake(ecn: Ecn) -> Flags {
    Flags::ace(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

impl Counters {
    /// A SYN-ACK agreed; a marked one counts (section 3.2.2.2).
    pub fn read_syn_ack(&mut self, ecn: Ecn) {
        self.received += u8::from(ecn == Ecn::Ce);
    }

    /// Counts a packet that arrived when `sent` segments had been sent. Returns whether it is
    /// acknowledged at once (section 3.2.2.5.1): so is marked data after an unmarked packet, and
    /// every second mark (every third if `waits` is false: no data waits for its acknowledgement).
    /// In Linux the first unmarked packet after marks is as well, if data waits or comes with it.
    pub fn count(&mut self, ecn: Ecn, occupies: bool, waits: bool, sent: u64) -> bool {
        let marked = ecn == Ecn::Ce;
        let changed = std::mem::replace(&mut self.marked, marked) != marked;
        if !marked {
            return changed && waits && self.answers_unmarked;
        }
        self.received = self.received.wrapping_add(1);
        if std::mem::replace(&mut self.sent, sent) != sent {
            self.pending = 0;
        }
        self.pending += 1;
        self.pending >= AT_ONCE[usize::from(waits)] || changed && occupies
    }

    /// The handshake is over: takes the profile's rules.
    pub fn begin(&mut self, rules: &EcnRules) {
        self.believes_thinned = rules.believes_thinned;
        self.answers_unmarked = rules.answers_unmarked;
    }

    /// Enters an acknowledgement of `packets` packets into the mean. Returns whether the path thins
    /// acknowledgements out, to more than four packets each (`__tcp_accecn_process`).
    fn is_thinned(&mut self, packets: u64) -> bool {
        if !self.believes_thinned || packets == 0 {
            return false;
        }
        let reported = packets.min(1 << 16) << FRACTION;
        let mean = match u64::from(self.mean_reported) {
            0 => reported,
            old => ((old << WEIGHT) - old + reported) >> WEIGHT,
        };
        self.mean_reported = mean.min(u64::from(u16::MAX)) as u16;
        self.mean_reported > THINNED << FRACTION
    }

    /// Marked packets that arrived, and that the peer has reported, from 0.
    pub fn seen(&self) -> (u8, u8) {
        let first = Counters::default();
        (self.received.wrapping_sub(first.received), self.reported.wrapping_sub(first.reported))
    }

    /// The ACE field of segments, which counts the marked packets received.
    pub fn ace(&self) -> Flags {
        Flags::ace(self.received)
    }

    /// An acknowledgement reports `delivered` bytes. Returns how many marked packets it newly
    /// reports (sections 3.2.2.2 and 3.2.2.5.2). Whole segments are assumed. If enough packets
    /// arrived for the counter to wrap, the result is the largest number of marks that fits
    /// (appendix A.2.1), or the smallest if acknowledgements are thinned out or the option reports
    /// far fewer `marked_bytes`.
    pub fn marks(
        &mut self,
        segment: &Segment,
        delivered: u64,
        mss: u64,
        marked_bytes: Option<u64>,
    ) -> u64 {
        let packets = delivered.div_ceil(mss);
        let least = u64::from(segment.flags.ace_value().wrapping_sub(self.reported)) % VALUES;
        let thinned = self.is_thinned(packets);
        let mut marks = least;
        if packets >= VALUES {
            let most = packets - (packets - least) % VALUES;
            marks = match marked_bytes {
                // The rules of appendix A.2.2 for a report by the option.
                Some(0) => least,
                Some(bytes) if bytes <= least * mss && bytes < most * mss / 2 => least,
                None if thinned => least,
                _ => most,
            };
        }
        self.reported = self.reported.wrapping_add(marks as u8);
        marks
    }

    /// The acknowledgement that completes the handshake, without data. Returns 1 if it reports that the SYN-ACK was
    /// marked (table 4), else 0.
    pub fn marks_of_third_ack(&mut self, segment: &Segment) -> u64 {
        let marks = u8::from(segment.flags.and(Flags::ACE) == Flags::ace(0b110));
        self.reported = self.reported.wrapping_add(marks);
        u64::from(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(counters: &mut Counters, ace: u8, packets: u64) -> u64 {
        let segment = Segment { flags: Flags::ACK.with(Flags::ace(ace)), ..Segment::default() };
        counters.marks(&segment, packets * 1_000, 1_000, None)
    }

    #[test]
    fn the_counter_goes_round() {
        let mut sender = Counters::default();
        assert_eq!(marks(&mut sender, 5, 2), 0);
        assert_eq!(marks(&mut sender, 7, 2), 2);
        assert_eq!(marks(&mut sender, 1, 2), 2);
        assert_eq!(marks(&mut sender, 0, 7), 7);
        // Marks beyond the number of packets are those of packets without data (section 3.2.2.5.2).
        assert_eq!(marks(&mut sender, 3, 1), 3);
        assert_eq!(marks(&mut sender, 3, 1), 0);
    }

    #[test]
    fn where_it_may_have_gone_round_the_safest_likely_case_is_taken() {
        // These are the examples of RFC 9768, appendix A.2.1.
        let mut sender = Counters::default();
        assert_eq!(marks(&mut sender, 7, 9), 2);
        let mut sender = Counters::default();
        assert_eq!(marks(&mut sender, 7, 10), 10);
        assert_eq!(marks(&mut sender, 7, 1), 0, "and the sender counts on from there");
        assert_eq!(marks(&mut sender, 7, 8), 8);
    }

    #[test]
    fn where_acknowledgements_are_thinned_out_the_fewest_marks_are_believed() {
        // Linux's __tcp_accecn_process, ACK_COMP_THRESH: a mean of 3 packets per acknowledgement,
        // and 5/64 more after one of 8, is not above 4; 4 and a 16th is.
        for (believes, before, marks_of_eight) in [(true, 3, 8), (true, 4, 0), (false, 4, 8)] {
            let mut sender = Counters { believes_thinned: believes, ..Counters::default() };
            (0..200).for_each(|_| assert_eq!(marks(&mut sender, 5, before), 0));
            assert_eq!(marks(&mut sender, 5, 8), marks_of_eight, "{believes} {before}");
        }
    }

    #[test]
    fn an_option_says_whether_the_counter_has_gone_round() {
        // Appendix A.2.2, with a safety factor of 2: 10 packets of 1,000 B, 2 or 10 of them marked.
        for (marked_bytes, expected) in
            [(None, 10), (Some(0), 2), (Some(2_000), 2), (Some(2_001), 10), (Some(9_000), 10)]
        {
            let mut sender = Counters::default();
            let flags = Flags::ACK.with(Flags::ace(7));
            let segment = Segment { flags, ..Segment::default() };
            let marks = sender.marks(&segment, 10_000, 1_000, marked_bytes);
            assert_eq!(marks, expected, "{marked_bytes:?}");
        }
    }

    #[test]
    fn linux_acknowledges_the_end_of_marks_as_well() {
        // Linux's tcp_ecn_received_counters, if prev_ecnfield differs: acknowledges at once if data
        // waits or comes with the packet.
        for (answers, expected) in
            [(true, [true, true, false, true]), (false, [true, false, false, true])]
        {
            let mut receiver = Counters { answers_unmarked: answers, ..Counters::default() };
            let arrivals = [Ecn::Ce, Ecn::Ect1, Ecn::Ect1, Ecn::Ce];
            let mut sent = 0;
            let at_once = arrivals.map(|ecn| {
                sent += 1;
                receiver.count(ecn, true, true, sent)
            });
            assert_eq!(at_once, expected);
            // The second packet is a pure acknowledgement, and no data waits.
            receiver.count(Ecn::Ce, true, true, 9);
            assert!(!receiver.count(Ecn::NotEct, false, false, 10));
        }
    }
}
