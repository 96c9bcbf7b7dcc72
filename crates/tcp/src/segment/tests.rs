//! Tests of the flags, sequence numbers and options of a segment.

use super::*;

#[test]
fn flags_are_sets() {
    let both = Flags::SYN.with(Flags::ACK);
    assert_eq!(both.with(Flags::ACK), both, "what is there stays");
    assert_eq!(both.without(Flags::ACK), Flags::SYN);
    assert_eq!(both.without(Flags::FIN), both, "what is not there cannot go");
    assert_eq!(both.without(both), Flags::NONE);
    assert!(both.any(Flags::ACK.with(Flags::FIN)) && !both.has(Flags::ACK.with(Flags::FIN)));
    assert!(!both.any(Flags::FIN) && !both.any(Flags::NONE));
}

#[test]
fn syn_and_fin_occupy_a_number_each() {
    // RFC 9293 section 3.4: SEG.LEN counts payload, SYN and FIN.
    let end = |len, flags| Segment { seq: 7, len, flags, ..Segment::default() }.end();
    let (syn, fin) = (Flags::SYN, Flags::FIN);
    for (len, flags, occupies) in [
        (0, Flags::ACK, 0),
        (100, Flags::ACK, 100),
        (0, syn, 1),
        (0, fin, 1),
        (100, fin, 101),
        (100, syn.with(fin), 102),
    ] {
        assert_eq!(end(len, flags), 7 + occupies, "{len} B, {flags:?}");
    }
}

#[test]
fn blocks_report_what_was_received_and_what_came_twice() {
    let (mut block, mut twice) = (SackBlocks::NONE, SackBlocks::NONE);
    block.push(3, 6);
    twice.set_duplicate(3, 6, 9);
    let says = |blocks: SackBlocks| (blocks.reports(), blocks.has_duplicate());
    assert_eq!(
        [says(SackBlocks::NONE), says(block), says(twice)],
        [(false, false), (true, false), (true, true)]
    );
}

#[test]
fn sack_blocks_take_two_words_each_and_one_for_their_head() {
    // RFC 2018 section 3: 8 n + 2 bytes, which two NOPs (RFC 7323 appendix A) pad to words.
    let mut sack = SackBlocks::NONE;
    assert_eq!(sack.wire_bytes(3), 0);
    for (blocks, bytes) in [(1, 12), (2, 20), (3, 28)] {
        sack.push(1_000 * blocks, 1_000 * blocks + 500);
        assert_eq!(sack.wire_bytes(3), bytes, "{blocks} blocks");
    }
    assert_eq!(sack.wire_bytes(2), 20, "no more than there is room for");
}

#[test]
fn a_segment_offers_whole_units_of_a_window_or_none() {
    let mut segment = Segment::default();
    assert_eq!(segment.window(), None, "an end whose window never changes");
    for (bytes, scale, offered) in [
        (0, 7, 0),
        (65_160, 0, 65_160),
        (64_000, 7, 64_000),
        (64_127, 7, 64_000),
        (1 << 40, 10, 65_534 << 10),
    ] {
        segment.offer(bytes, scale);
        assert_eq!(segment.window(), Some(offered), "{bytes} B shifted by {scale}");
    }
    segment.push();
    segment.report_bytes(AccEcn { ect1_first: true, fields: 3, counters: [1, 0xff_ffff, 3] });
    assert_eq!(segment.window(), Some(65_534 << 10), "beside an option and PSH");
    assert!(segment.pushes());
}

#[test]
fn a_window_is_shifted_as_far_as_its_largest_needs() {
    // tcp_select_initial_window: ilog2(space) - 15. tcp_rmem's 6 and 32 MiB, and 64 KiB - 1.
    let bytes = [65_535, 65_536, 4 << 20, 6 << 20, 32 << 20, 1 << 40];
    assert_eq!(bytes.map(window_scale), [0, 1, 7, 7, 10, 14]);
}

#[test]
fn sack_blocks_are_equal_if_they_say_the_same() {
    let with_blocks = |blocks: &[(u32, u32)]| {
        let mut sack = SackBlocks::NONE;
        blocks.iter().for_each(|&(start, end)| sack.push(start, end));
        sack
    };
    let (mut cleared, mut twice) = (with_blocks(&[(9, 12)]), with_blocks(&[(3, 6)]));
    cleared.clear();
    assert_eq!(cleared, SackBlocks::NONE, "what is left in an empty place says nothing");
    assert_ne!(with_blocks(&[(3, 6)]), SackBlocks::NONE);
    assert_ne!(with_blocks(&[(3, 6)]), with_blocks(&[(3, 7)]));
    twice.set_duplicate(3, 6, 1);
    assert_ne!(twice, with_blocks(&[(3, 6)]), "it reports a duplicate as well");
    let mut later = with_blocks(&[(3, 6)]);
    later.set_duplicate(3, 7, 1);
    assert_ne!(twice, later);
}

#[test]
fn a_segment_written_over_another_offers_no_window_of_that_one() {
    // The memory of packets is reused; an end whose window never changes writes no window.
    let mut segment = Segment::default();
    segment.offer(64_128, 7);
    assert_eq!(segment.window(), Some(64_128));
    segment.sack.clear();
    assert_eq!(segment.window(), None);
}
