//! Tests of the steps of RFC 6675, worked out by hand.

use super::*;
use crate::recovery::tests::rfc;
use crate::recovery::{Recovery, RecoveryKind, with_reno};
use crate::send_state::Window;

const RULES: Rules = rfc(RecoveryKind::Sack);

/// A sender of segments of 100 B with `out` of them outstanding from sequence number 1 on, and much
/// more to send.
fn snd(out: u64, cwnd: u64) -> SendState {
    SendState {
        una: 1,
        nxt: 1,
        max: 1 + 100 * out,
        end: 1_000_000,
        window: 1 << 30,
        win: Window { cwnd, ssthresh: u64::MAX, mss: 100, ..Window::default() },
        ..SendState::default()
    }
}
/// An ACK of `ack` that reports the segments `from..to`, counted from 0.
fn report(ack: u64, ranges: &[(u32, u32)]) -> Segment {
    let mut segment = Segment { ack, ..Segment::default() };
    for &(from, to) in ranges {
        segment.sack.push(100 * from + 1 - ack as u32, 100 * to + 1 - ack as u32);
    }
    segment
}
fn next_number(sack: &Sack, snd: &SendState) -> Option<u64> {
    sack.next(&RULES, snd).map(|chunk| (chunk.seq - 1) / 100)
}

#[test]
fn a_hole_is_lost_below_three_ranges_or_more_than_two_segments() {
    for (ranges, lost) in [
        (&[(1, 3)][..], false),
        (&[(1, 4)], true),
        (&[(3, 4), (1, 2)], false),
        (&[(5, 6), (3, 4), (1, 2)], true),
    ] {
        let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
        let reaction = with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, ranges)));
        assert_eq!(reaction.entered, lost, "{ranges:?}");
        assert_eq!(snd.resend, lost);
    }
}

#[test]
fn the_pipe_decides_what_goes_out_in_recovery() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    // Segments 0 and 2 are missing, 1 and 3 to 6 arrived: 7, 8, 9 are on the way.
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(3, 7), (1, 2)])));
    assert_eq!((snd.win.cwnd, snd.win.ssthresh), (500, 500));
    assert_eq!(sack.pipe(&snd), 300);
    let first = sack.first(&snd);
    sack.on_sent(&snd, first);
    assert_eq!(sack.pipe(&snd), 400);
    // Room for one: the second hole; then none.
    assert_eq!(next_number(&sack, &snd), Some(2));
    sack.on_sent(&snd, snd.chunk(201, 301));
    assert_eq!(sack.pipe(&snd), 500);
    assert_eq!(next_number(&sack, &snd), None);
    // The second retransmission is reported: its bytes leave the pipe, new data follows.
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 7)])));
    assert_eq!(sack.pipe(&snd), 400);
    assert_eq!(next_number(&sack, &snd), Some(10));
    // Without new data, an unreported segment below the highest reported one goes, though not lost.
    snd.end = snd.max;
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(8, 9)])));
    assert_eq!(sack.pipe(&snd), 300);
    assert_eq!(next_number(&sack, &snd), Some(7));
}

#[test]
fn the_window_rests_until_the_recovery_point_is_passed() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    assert!(with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 4)]))).entered);
    snd.max += 500;
    // Three ACKs: a partial one, the one that ends the recovery, the first one after it.
    for (una, cwnd) in [(401, 500), (1_001, 500), (1_101, 520)] {
        let acked = una - snd.una;
        snd.una = una;
        with_reno(&RULES, &mut snd, |w| sack.on_advance(w, acked, &report(una, &[])));
        assert_eq!(snd.win.cwnd, cwnd, "at {una}");
    }
}

#[test]
fn after_a_timeout_everything_goes_again_but_what_is_reported() {
    let (mut sack, mut snd) = (Sack::default(), snd(6, 600));
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(4, 5)])));
    with_reno(&RULES, &mut snd, |w| w.on_timeout(packet::Instant::ZERO));
    sack.on_timeout(&snd);
    assert_eq!((snd.win.cwnd, snd.win.ssthresh), (100, 300));
    assert_eq!(next_number(&sack, &snd), Some(0));
    sack.on_sent(&snd, snd.chunk(1, u64::MAX));
    assert_eq!(next_number(&sack, &snd), None);
    // Three ACKs with news do not start a recovery now.
    snd.una = 101;
    with_reno(&RULES, &mut snd, |w| sack.on_advance(w, 100, &report(101, &[(2, 3)])));
    for last in [4, 5] {
        let reaction =
            with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(101, &[(2, last)])));
        assert!(!reaction.entered);
    }
    assert_eq!(snd.win.cwnd, 200);
    assert_eq!(next_number(&sack, &snd), Some(1));
    sack.on_sent(&snd, snd.chunk(101, 201));
    assert_eq!(next_number(&sack, &snd), Some(5), "2, 3 and 4 are skipped");
}

#[test]
fn an_ack_within_a_reported_range_leaves_the_rest_of_it() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 3)])));
    snd.una = 201;
    with_reno(&RULES, &mut snd, |w| sack.on_advance(w, 200, &report(201, &[])));
    assert_eq!((sack.reports(), sack.pipe(&snd)), (&[(201, 301)][..], 700));
}

#[test]
fn reports_that_touch_are_one_and_old_ones_say_nothing() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    for range in [(1, 2), (2, 3)] {
        let report = report(1, &[range]);
        assert!(!with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report)).entered);
    }
    assert_eq!(sack.reports(), [(101, 301)]);
    // A late acknowledgement, of less than is acknowledged by now.
    snd.una = 51;
    let late = report(1, &[(4, 9)]);
    assert!(!with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &late)).entered);
    assert_eq!((sack.reports(), sack.recovering()), (&[(101, 301)][..], false));
}

#[test]
fn what_limited_transmit_sent_is_not_in_the_flight() {
    // RFC 5681 section 3.2, step 2: ten segments of 100 B are in flight in a window of 1,050 B, and
    // one more for each of the first two reports: the threshold becomes half of 1,000 B.
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_050));
    for to in 2..=3 {
        with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, to)])));
        let chunk = snd.chunk(snd.max, u64::MAX);
        sack.on_sent(&snd, chunk);
        snd.max = chunk.end();
    }
    assert!(with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 4)]))).entered);
    assert_eq!((snd.max, snd.win.ssthresh, sack.recovering()), (1_201, 500, true));
}

#[test]
fn three_ranges_show_a_loss_however_short_they_are() {
    // RFC 6675 section 4, IsLost (S): thirty bytes are less than two segments.
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    let mut reported = Segment { ack: 1, ..Segment::default() };
    [700, 400, 100].iter().for_each(|&from| reported.sack.push(from, from + 10));
    assert!(with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
}

#[test]
fn reports_of_what_was_never_sent_are_no_news() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    for range in [(10, 12), (11, 12), (10, 14)] {
        let reported = report(1, &[range]);
        assert!(!with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
    }
    assert_eq!(sack.reports(), []);
}

#[test]
fn nothing_is_lost_below_the_first_unacknowledged_byte() {
    // Three segments are reported, but none below them is missing.
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    let reported = report(1, &[(0, 3)]);
    assert!(!with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
    assert_eq!((sack.pipe(&snd), snd.win.cwnd), (700, 1_000));
}

#[test]
fn a_last_segment_within_the_window_is_not_limited_transmit() {
    // Ten segments of 100 B fill the window, the last with a FIN: its number needs no room, and at
    // the loss the threshold becomes half of 1,001.
    let (mut sack, mut snd) = (Sack::default(), snd(9, 1_000));
    (snd.end, snd.fin_queued) = (1_001, true);
    let last = sack.next(&RULES, &snd).expect("room for it");
    assert!(last.fin());
    sack.on_sent(&snd, last);
    snd.max = last.end();
    assert!(with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 4)]))).entered);
    assert_eq!((snd.max, snd.win.ssthresh), (1_002, 500));
}

#[test]
fn a_reset_forgets_all_but_its_memory() {
    let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
    with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &report(1, &[(1, 4)])));
    sack.on_sent(&snd, snd.chunk(1, 101));
    let mut recovery = Recovery::Sack(sack);
    recovery.reset(RecoveryKind::Sack);
    let fresh = format!("{:?}", Recovery::new(RecoveryKind::Sack));
    assert_eq!(format!("{recovery:?}"), fresh);
    let Recovery::Sack(sack) = recovery else { unreachable!() };
    assert!(sack.board.capacity() > 0);
}

#[test]
fn the_number_of_a_fin_keeps_back_no_segment() {
    // Segments 0, 2 and 4 of six are missing, the FIN on the last is not reported.
    let (mut sack, mut snd) = (Sack::default(), snd(6, 1_000));
    (snd.end, snd.max, snd.fin_queued, snd.fin_sent) = (601, 602, true, true);
    let reported = report(1, &[(5, 6), (3, 4), (1, 2)]);
    assert!(with_reno(&RULES, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
    let first = sack.first(&snd);
    sack.on_sent(&snd, first);
    // The window is half of six segments and the FIN, 300 B. In flight are two segments and the
    // FIN.
    snd.una = 201;
    with_reno(&RULES, &mut snd, |w| sack.on_advance(w, 200, &report(201, &[(5, 6), (3, 4)])));
    assert_eq!((snd.win.cwnd, sack.pipe(&snd)), (300, 201));
    assert_eq!(next_number(&sack, &snd), Some(2));
}

#[test]
fn a_partial_acknowledgement_sends_whatever_the_pipe_where_the_rules_say_so() {
    // After a partial acknowledgement six segments are in flight, and the window holds five.
    for (partial_ack_sends, after) in [(false, None), (true, Some(10))] {
        let rules = Rules { partial_ack_sends, ..RULES };
        let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
        let reported = report(1, &[(1, 4)]);
        assert!(with_reno(&rules, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
        let first = sack.first(&snd);
        sack.on_sent(&snd, first);
        snd.una = 401;
        with_reno(&rules, &mut snd, |w| sack.on_advance(w, 400, &report(401, &[])));
        let next = sack.next(&rules, &snd);
        assert_eq!((sack.pipe(&snd), next.map(|c| (c.seq - 1) / 100)), (600, after));
        let Some(chunk) = next else { continue };
        snd.max = chunk.end();
        sack.on_sent(&snd, chunk);
        assert_eq!(sack.next(&rules, &snd), None);
    }
}

#[test]
fn an_acknowledgement_that_reports_more_holds_the_window_by_ns3s_rule_until_a_timeout() {
    // Ten segments are in flight and one of them is acknowledged, with or without a report from
    // beyond a hole; in slow start it is worth a segment.
    for (reports_hold_growth, sack, after) in [
        (false, &[][..], 1_100),
        (false, &[(3, 4)][..], 1_100),
        (true, &[][..], 1_100),
        (true, &[(3, 4)][..], 1_000),
    ] {
        let rules = Rules { reports_hold_growth, ..RULES };
        for (lost, after) in [(false, after), (true, 200)] {
            let (mut sender, mut snd) = (Sack::default(), snd(10, 1_000));
            if lost {
                (snd.win.cwnd, snd.win.ssthresh) = (100, 500);
                sender.on_timeout(&snd);
            }
            snd.una = 101;
            with_reno(&rules, &mut snd, |w| sender.on_advance(w, 100, &report(101, sack)));
            assert_eq!(snd.win.cwnd, after, "{reports_hold_growth} {sack:?} {lost}");
            // Controls other than Reno see by this flag that the window must not grow.
            assert_eq!(snd.win.held, after == 1_000);
        }
    }
}

#[test]
fn the_impatient_restart_the_timer_at_the_first_partial_acknowledgement_alone() {
    for impatient_with_sack in [false, true] {
        let rules = Rules { impatient_with_sack, ..RULES };
        let (mut sack, mut snd) = (Sack::default(), snd(10, 1_000));
        let mut kept = Vec::new();
        for _ in 0..2 {
            // Ten segments are in flight, and the first, the fourth and the sixth of them are lost.
            // The last of three acknowledgements ends the recovery.
            let base = (snd.una - 1) as u32 / 100;
            let reported = report(
                snd.una,
                &[(base + 6, base + 10), (base + 4, base + 5), (base + 1, base + 3)],
            );
            assert!(with_reno(&rules, &mut snd, |w| sack.on_duplicate(w, &reported)).entered);
            for segments in [3, 2, 5] {
                snd.una += 100 * segments;
                kept.push(sack.keeps_timer(&rules, &snd));
                let ack = report(snd.una, &[]);
                with_reno(&rules, &mut snd, |w| sack.on_advance(w, 100 * segments, &ack));
            }
            snd.max += 1_000;
        }
        assert_eq!(kept, [false, impatient_with_sack, false].repeat(2));
    }
}
