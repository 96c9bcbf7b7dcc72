//! The AccECN option (RFC 9768 section 3.2.3): counters of the payload bytes that arrived with each
//! ECN codepoint, of 24 bits each, in addition to the header's three bits, which count packets.
//!
//! It is sent by the recommended simple scheme (section 3.2.3.3): with every acknowledgement after
//! a counter has grown, with a field for every counter that has ever grown. To show that options
//! get through (section 3.2.3.2.1), the SYN-ACK and the opener's first ACK and first data have all
//! three fields. A retransmitted SYN-ACK or data segment has no option (section 3.2.3.2.2).

use packet::Ecn;

use crate::segment::AccEcn;

/// Room for options in a TCP header, bytes.
pub(super) const ROOM: u32 = 40;
/// Size of a counter, bits.
const BITS: u32 = 24;

/// The byte counters of an end, and the state by which it sends and reads the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// Bytes received with ECT(0), CE, ECT(1): r.e0b, r.ceb, r.e1b.
    received: [u32; 3],
    /// Bit set of the counters that have ever grown.
    ever: u8,
    /// Bit set of the counters that have grown since the last option.
    since: u8,
    /// A counter has grown since the last segment was sent.
    grown: bool,
    /// The option of the handshake is due on the next segment.
    next: bool,
    /// The option of the handshake is due on the first segment with data.
    data: bool,
    /// Counters as the peer has reported them: s.e0b, s.ceb, s.e1b.
    reported: [u32; 3],
    /// Only for profiles with the option [everywhere](super::EcnRules::everywhere): the peer has
    /// sent an option, and segments have been shortened to make room for it.
    seen: bool,
    shortened: bool,
    /// Also only for these profiles. `beside` is the start of the duplicate that the last segment
    /// sent reports, if that segment also has an option. If the duplicate arrives again,
    /// acknowledgements with an option do not get through, and no further one has it: `stopped`
    /// (`tcp_rcv_spurious_retrans`).
    beside: Option<u64>,
    stopped: bool,
}

impl Default for Bytes {
    fn default() -> Self {
        // Initial values of RFC 9768 section 3.2.1.
        let received = [1, 0, 1];
        Bytes {
            received,
            ever: 0,
            since: 0,
            grown: false,
            next: false,
            data: false,
            reported: received,
            seen: false,
            shortened: false,
            beside: None,
            stopped: false,
        }
    }
}

const E0: usize = 0;
const CE: usize = 1;
const E1: usize = 2;
/// Order of the counters in the option that begins with ECT(0), and in the one with ECT(1).
const ORDERS: [[usize; 3]; 2] = [[E0, CE, E1], [E1, CE, E0]];

fn modulo(count: u32) -> u32 {
    count & ((1 << BITS) - 1)
}

impl Bytes {
    /// Bytes that arrived with ECT(0), CE and ECT(1), and those that the peer has reported, from 0.
    pub fn seen(&self) -> [[u32; 3]; 2] {
        let first = Bytes::default().received;
        [self.received, self.reported].map(|counters| {
            [E0, CE, E1].map(|which| modulo(counters[which].wrapping_sub(first[which])))
        })
    }

    /// The handshake agreed on accurate ECN: the opener's first ACK and data, or the acceptor's
    /// SYN-ACK, are to show that options get through.
    pub fn test_path(&mut self, opener: bool) {
        (self.next, self.data) = (true, opener);
    }

    /// A payload arrived.
    pub fn count(&mut self, bytes: u32, ecn: Ecn) {
        let which = match ecn {
            Ecn::NotEct => return,
            Ecn::Ect0 => E0,
            Ecn::Ce => CE,
            Ecn::Ect1 => E1,
        };
        if bytes > 0 {
            self.received[which] = modulo(self.received[which] + bytes);
            self.ever |= 1 << which;
            self.since |= 1 << which;
            self.grown = true;
        }
    }

    /// The option for a segment with `room` bytes left in its header: as many fields as fit; none
    /// if a counter that has grown since the last option would be left out.
    pub fn option(&mut self, room: u32, carries_data: bool) -> Option<AccEcn> {
        let tests = std::mem::take(&mut self.next) || self.data && carries_data;
        self.data &= !carries_data;
        let grown = std::mem::take(&mut self.grown);
        if !tests && !grown {
            return None;
        }
        let has = |which: usize, set: u8| set & 1 << which != 0;
        let scalable = !has(E0, self.ever) && has(E1, self.ever);
        let order = ORDERS[usize::from(scalable)];
        let last = |set: u8| order.iter().rposition(|&which| has(which, set)).map_or(0, |i| i + 1);
        let wanted = if tests { order.len() } else { last(self.ever) };
        let fields = (1..=wanted).rev().find(|&n| AccEcn::padded(n) <= room)?;
        if fields < last(self.since) {
            return None;
        }
        self.since = 0;
        let counters = order.map(|which| self.received[which]);
        Some(AccEcn { ect1_first: scalable, fields: fields as u8, counters })
    }

    /// The peer has sent an option.
    pub fn note_option(&mut self) {
        self.seen = true;
    }

    /// Whether segments must leave room for the option from now on; true only once.
    pub fn takes_room(&mut self) -> bool {
        self.seen && !std::mem::replace(&mut self.shortened, true)
    }

    /// The option as in Linux, ECT(1)'s field first, with all fields that fit. It is on each
    /// segment once the peer has sent one, and on the SYN-ACK; it is left out if a field would be
    /// missing that has grown since the last option (`accecn_minlen`). `room` is for the option and
    /// `blocks` SACK blocks. Returns also how many of these blocks stay, and the bytes that the
    /// option adds.
    pub fn option_everywhere(&mut self, room: u32, blocks: u8, opens: bool) -> Option<Fitted> {
        if self.stopped || !(opens || self.seen) {
            return None;
        }
        let grown = |&which: &usize| self.since & 1 << which != 0;
        let required = ORDERS[1].iter().rposition(grown).map_or(0, |last| last + 1);
        let (fields, bytes, blocks) = fit(if opens { 0 } else { required }, blocks, room)?;
        self.since = if opens { self.since } else { 0 };
        let first = if opens { Bytes::default().received } else { self.received };
        let counters = ORDERS[1].map(|which| first[which]);
        let option = AccEcn { ect1_first: true, fields, counters };
        (fields > 0).then_some(Fitted { option, bytes, blocks })
    }

    /// A segment is sent. `beside` is the start of the duplicate that it reports if it has an
    /// option as well.
    pub fn note_sent(&mut self, beside: Option<u64>) {
        self.beside = beside;
    }

    /// A segment that begins at `start` arrived again, with known data only.
    pub fn note_repeated(&mut self, start: u64) {
        self.stopped |= self.beside == Some(start);
    }

    /// Marked bytes that an option newly reports (section 3.2.3.1), without those that the header's
    /// count had reported before.
    pub fn read(&mut self, option: &AccEcn) -> u64 {
        let order = ORDERS[usize::from(option.ect1_first)];
        let mut marked = 0;
        for (&which, &count) in order.iter().zip(&option.counters).take(option.fields.into()) {
            let grown = modulo(count.wrapping_sub(self.reported[which]));
            self.reported[which] = count;
            // A difference in the upper half is negative: the estimate from the header had been too
            // high.
            if which == CE && grown >> (BITS - 1) == 0 {
                marked = u64::from(grown);
            }
        }
        marked
    }

    /// The header's count alone reported this number of marked bytes.
    pub fn estimate(&mut self, bytes: u64) {
        self.reported[CE] = modulo(self.reported[CE].wrapping_add(bytes as u32));
    }
}

/// An option, and its effect on the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    pub option: AccEcn,
    /// Bytes that the option adds.
    pub bytes: u32,
    /// Number of SACK blocks that stay in the segment.
    pub blocks: u8,
}

/// Linux's `tcp_options_fit_accecn`: fits as many fields as possible next to SACK blocks into
/// `room` bytes, at least `required` ones, for which a third block may be dropped; the padding of
/// the blocks may be used. Returns the fields, the bytes that they add, and the blocks that stay.
fn fit(required: usize, blocks: u8, room: u32) -> Option<(u8, u32, u8)> {
    let padding = if blocks > 0 { 2 } else { 0 };
    let option = |fields: usize| {
        let bytes = 2 + 3 * fields as u32;
        if bytes % 4 > padding { bytes.next_multiple_of(4) } else { bytes / 4 * 4 }
    };
    let reports = |blocks: u8| if blocks > 0 { 4 + 8 * u32::from(blocks) } else { 0 };
    let fewest = if required > 0 { blocks.min(2) } else { blocks };
    (fewest..=blocks).rev().find_map(|stay| {
        let fields = (required..=3).rev().find(|&n| option(n) + reports(stay) <= room)?;
        Some((fields as u8, option(fields), stay))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(bytes: &mut Bytes, room: u32) -> Option<(bool, Vec<u32>)> {
        let option = bytes.option(room, false)?;
        Some((option.ect1_first, option.counters[..usize::from(option.fields)].to_vec()))
    }

    #[test]
    fn a_field_for_every_counter_that_ever_grew() {
        // The example of section 3.2.3.3: ECT(0) alone, then CE as well.
        let mut bytes = Bytes::default();
        assert_eq!(counters(&mut bytes, 40), None);
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 40), Some((false, vec![1_001])));
        assert_eq!(counters(&mut bytes, 40), None, "nothing has grown since");
        bytes.count(500, Ecn::Ce);
        assert_eq!(counters(&mut bytes, 40), Some((false, vec![1_001, 500])));
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 40), Some((false, vec![2_001, 500])));
        // An option that reports an L4S sender's data begins with EE1B.
        let mut bytes = Bytes::default();
        bytes.count(700, Ecn::Ect1);
        bytes.count(700, Ecn::Ce);
        assert_eq!(counters(&mut bytes, 40), Some((true, vec![701, 700])));
        bytes.count(9, Ecn::NotEct);
        assert_eq!(counters(&mut bytes, 40), None);
        bytes.count(0, Ecn::Ce);
        assert_eq!(counters(&mut bytes, 40), None, "a FIN alone has no bytes");
    }

    #[test]
    fn the_handshake_reports_all_three() {
        let mut bytes = Bytes::default();
        bytes.test_path(true);
        assert_eq!(counters(&mut bytes, 40), Some((false, vec![1, 0, 1])));
        assert_eq!(counters(&mut bytes, 40), None);
        assert_eq!(bytes.option(40, true).map(|option| option.fields), Some(3), "first data");
        assert_eq!(bytes.option(40, true), None);
    }

    #[test]
    fn where_room_is_short_fields_are_left_out_that_did_not_grow_or_all() {
        let mut bytes = Bytes::default();
        bytes.count(1_000, Ecn::Ect0);
        bytes.count(1_000, Ecn::Ce);
        assert_eq!(counters(&mut bytes, 8), Some((false, vec![1_001, 1_000])));
        bytes.count(5, Ecn::Ect1);
        assert_eq!(counters(&mut bytes, 8), None, "EE1B is the third field");
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 8), None, "and still not reported");
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 12), Some((false, vec![3_001, 1_000, 6])));
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 8), Some((false, vec![4_001, 1_000])));
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(counters(&mut bytes, 7), None);
    }

    #[test]
    fn linux_leaves_no_field_out_that_has_grown() {
        // Next to timestamps and two SACK blocks 8 B are left: EE1B and ECEB fit, EE0B does not.
        let mut bytes = Bytes::default();
        bytes.note_option();
        let fields = |bytes: &mut Bytes, blocks| {
            bytes.option_everywhere(28, blocks, false).map(|fitted| fitted.option.fields)
        };
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!((fields(&mut bytes, 2), fields(&mut bytes, 2)), (None, None));
        assert_eq!((fields(&mut bytes, 1), fields(&mut bytes, 2)), (Some(3), Some(2)));
        bytes.count(1_000, Ecn::Ce);
        assert_eq!(fields(&mut bytes, 2), Some(2));
        bytes.count(1_000, Ecn::Ect0);
        assert_eq!(fields(&mut bytes, 2), None);
    }

    #[test]
    fn linux_gives_a_third_block_up_for_what_has_grown() {
        // tcp_options_fit_accecn: required fields, blocks, and room in a header of 40 B with or
        // without 12 B of timestamps; fields, bytes and blocks that fit.
        for (required, blocks, room, fitted) in [
            (3, 3, 40, Some((3, 12, 3))),
            (0, 3, 28, Some((0, 0, 3))),
            (1, 3, 28, Some((2, 8, 2))),
            (2, 3, 28, Some((2, 8, 2))),
            (3, 3, 28, None),
            (1, 2, 24, Some((1, 4, 2))),
            (1, 0, 4, None),
            (1, 0, 8, Some((2, 8, 0))),
            (0, 0, 28, Some((3, 12, 0))),
        ] {
            assert_eq!(fit(required, blocks, room), fitted, "{required} {blocks} {room}");
        }
    }

    #[test]
    fn linux_stops_when_a_duplicate_reported_beside_an_option_comes_again() {
        // tcp_rcv_spurious_retrans: the acknowledgement with the option was lost.
        for (beside, repeated, goes_on) in
            [(Some(1_001), 1_001, false), (Some(1_001), 1, true), (None, 1_001, true)]
        {
            let mut bytes = Bytes::default();
            bytes.note_option();
            bytes.note_sent(beside);
            bytes.note_repeated(repeated);
            let option = bytes.option_everywhere(28, 0, false);
            assert_eq!(option.is_some(), goes_on, "{beside:?} {repeated}");
        }
    }

    #[test]
    fn an_option_reports_bytes_of_every_kind() {
        let mut sender = Bytes::default();
        let option = |ect1_first, counters| AccEcn { ect1_first, fields: 3, counters };
        assert_eq!(sender.read(&option(true, [701, 300, 1])), 300);
        assert_eq!(sender.seen()[1], [0, 300, 700]);
        assert_eq!(sender.read(&option(false, [51, 300, 801])), 0);
        assert_eq!(sender.seen()[1], [50, 300, 800]);
    }

    #[test]
    fn counters_go_round_after_24_bits() {
        let (mut receiver, mut sender) = (Bytes::default(), Bytes::default());
        let mut sum = 0;
        for _ in 0..4_000 {
            receiver.count(9_000, Ecn::Ce);
            sum += sender.read(&receiver.option(40, false).expect("one is due"));
        }
        assert_eq!(sum, 36_000_000);
    }

    #[test]
    fn what_the_header_reported_is_not_repeated() {
        let mut sender = Bytes::default();
        let option = |ceb| AccEcn { ect1_first: false, fields: 2, counters: [1, ceb, 1] };
        sender.estimate(2_000);
        assert_eq!(sender.read(&option(5_000)), 3_000);
        sender.estimate(4_000);
        assert_eq!(sender.read(&option(6_000)), 0, "it reported too much");
        assert_eq!(sender.read(&option(7_000)), 1_000);
        assert_eq!(sender.read(&AccEcn { fields: 1, ..option(0) }), 0);
    }
}
