//! Tests of the steps of ns-2's `Sack1TcpAgent`, worked out by hand.

use super::*;
use crate::congestion::{Arithmetic, ClassicReno};
use crate::recovery::tests::rfc;
use crate::recovery::{Implementation, RecoveryKind, with_reno};
use crate::send_state::Window;

const RULES: Rules = Rules {
    implementation: Implementation::Ns2,
    reno: ClassicReno(Arithmetic::Ns2),
    ..rfc(RecoveryKind::Sack1)
};

/// A sender of packets of 100 B with `out` of them outstanding from sequence number 1 on, and much
/// more to send.
fn snd(out: u64) -> SendState {
    SendState {
        una: 1,
        nxt: 1 + 100 * out,
        max: 1 + 100 * out,
        end: 1_000_000,
        window: 1 << 30,
        win: Window { cwnd: 100 * out, ssthresh: 0, mss: 100, ..Window::default() },
        ..SendState::default()
    }
}

/// An ACK that expects packet `next` and reports the packets `from..to`, counted from 0.
fn ack(next: u32, ranges: &[(u32, u32)]) -> Segment {
    let mut segment = Segment { ack: 1 + 100 * u64::from(next), ..Segment::default() };
    for &(from, to) in ranges {
        segment.sack.push(100 * (from - next), 100 * (to - next));
    }
    segment
}

struct End {
    sack: Sack1,
    snd: SendState,
}

impl End {
    fn new(out: u64) -> Self {
        End { sack: Sack1::default(), snd: snd(out) }
    }

    /// A duplicate arrives that reports packets. Returns whether a recovery begins.
    fn duplicate(&mut self, next: u32, ranges: &[(u32, u32)]) -> bool {
        let sack = &mut self.sack;
        with_reno(&RULES, &mut self.snd, |w| sack.on_duplicate(w, &ack(next, ranges))).entered
    }

    fn advance(&mut self, next: u32, ranges: &[(u32, u32)]) {
        let segment = ack(next, ranges);
        let acked = segment.ack - self.snd.una;
        self.snd.una = segment.ack;
        self.snd.nxt = self.snd.nxt.max(segment.ack);
        let sack = &mut self.sack;
        with_reno(&RULES, &mut self.snd, |w| sack.on_advance(w, acked, &segment));
    }

    fn send(&mut self, chunk: Chunk) -> u64 {
        self.sack.on_sent(&self.snd, chunk);
        self.snd.nxt = self.snd.nxt.max(chunk.end());
        self.snd.max = self.snd.max.max(chunk.end());
        (chunk.seq - 1) / 100
    }

    /// Sends what the window allows now. Returns the packets' numbers.
    fn sends(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some(chunk) = self.sack.next(&RULES, &self.snd) {
            numbers.push(self.send(chunk));
        }
        numbers
    }

    /// Three duplicates for packet 0, the packets after it reported one by one; what begins the
    /// recovery is sent.
    fn into_recovery(out: u64) -> Self {
        let mut end = End::new(out);
        assert!(!end.duplicate(0, &[(1, 2)]));
        assert!(!end.duplicate(0, &[(1, 3)]));
        assert!(end.duplicate(0, &[(1, 4)]));
        assert_eq!(end.send(end.sack.first(&end.snd)), 0);
        end
    }
}

#[test]
fn the_third_duplicate_with_news_begins_and_each_further_one_lets_a_packet_out() {
    // pipe = 10 - 3, a window of 5: nothing for two duplicates, then one packet for each.
    let mut end = End::into_recovery(10);
    assert_eq!((end.snd.win.cwnd, end.sack.pipe), (500, 7));
    assert_eq!(end.sends(), []);
    let reported = [(1, 5), (1, 6), (1, 7), (1, 8)].map(|range| {
        end.duplicate(0, &[range]);
        end.sends()
    });
    assert_eq!(reported, [vec![], vec![], vec![10], vec![11]]);
    // A duplicate that reports nothing new allows a packet too: acknowledgements are counted.
    end.duplicate(0, &[(1, 8)]);
    assert_eq!(end.sends(), [12]);
}

#[test]
fn duplicates_without_news_begin_nothing() {
    let mut end = End::new(10);
    assert!((0..9).all(|_| !end.duplicate(0, &[(1, 2)])));
    assert!((0..9).all(|_| !end.duplicate(0, &[])));
    assert!(!end.duplicate(0, &[(1, 3)]));
    assert!(end.duplicate(0, &[(1, 4)]));
    // An acknowledgement older than the last one is no duplicate.
    let mut end = End::new(10);
    end.advance(2, &[]);
    let old = ack(0, &[(3, 6)]);
    let sack = &mut end.sack;
    with_reno(&RULES, &mut end.snd, |w| sack.on_duplicate(w, &old));
    assert_eq!(sack.duplicates, 0);
}

#[test]
fn a_partial_acknowledgement_lets_two_out_and_holes_go_before_new_data() {
    let mut end = End::into_recovery(10);
    // Packets 0, 4 and 6 are missing; 5 and 7 to 9 come: below the highest report every hole is lost.
    for range in [(5, 6), (7, 8), (7, 9), (7, 10)] {
        end.duplicate(0, &[range, (1, 4)]);
    }
    assert_eq!(end.sack.pipe, 3);
    assert_eq!(end.sends(), [4, 6]);
    end.advance(4, &[(5, 6), (7, 10)]);
    assert!(end.sack.recovering());
    assert_eq!(end.sack.pipe, 3);
    assert_eq!(end.sends(), [10, 11]);
    // A hole that was retransmitted is not sent once more.
    end.advance(6, &[(7, 10)]);
    assert_eq!(end.sends(), [12, 13]);
}

#[test]
fn the_end_leaves_half_of_the_window_which_does_not_grow_and_forgets_what_was_reported() {
    let mut end = End::into_recovery(9);
    end.duplicate(0, &[(1, 6)]);
    end.advance(9, &[(10, 11)]);
    assert!(!end.sack.recovering());
    assert_eq!((end.snd.win.cwnd, end.snd.win.ssthresh), (450, 400));
    assert_eq!(end.sack.reports(), []);
    assert_eq!(end.sends(), [9, 10, 11, 12], "as many packets as fit whole");
    end.advance(10, &[]);
    assert!(end.snd.win.cwnd > 450);
}

#[test]
fn the_first_duplicates_let_a_packet_out_each_if_transmit_is_limited() {
    let mut end = End::new(10);
    end.duplicate(0, &[(1, 2)]);
    assert_eq!(end.sends(), [10]);
    end.duplicate(0, &[(1, 3)]);
    assert_eq!(end.sends(), [11]);
    // These packets count in the pipe when the recovery begins (`LimTransmitFix_` off): 12 - 3.
    end.duplicate(0, &[(1, 4)]);
    assert_eq!(end.sack.pipe, 9);
    let rules = Rules { limited_transmit: false, ..RULES };
    let mut end = End::new(10);
    end.duplicate(0, &[(1, 2)]);
    assert_eq!(end.sack.next(&rules, &end.snd), None);
}

#[test]
fn after_a_timeout_all_goes_again_and_duplicates_report_nothing_until_news() {
    let mut end = End::into_recovery(10);
    end.sack.resume(end.snd.max);
    (end.snd.nxt, end.snd.win.cwnd) = (end.snd.una, 100);
    assert_eq!(end.sends(), [0]);
    assert!((4..9).all(|to| !end.duplicate(0, &[(1, to)])));
    assert_eq!((end.sack.duplicates, end.sack.reports()), (0, &[][..]));
    // While data that the timeout took for lost is outstanding, three duplicates begin no recovery
    // (`bug_fix_`).
    end.advance(4, &[]);
    end.snd.nxt = end.snd.max;
    end.snd.win.cwnd = end.snd.outstanding();
    assert!((6..10).all(|to| !end.duplicate(4, &[(5, to)])));
    assert_eq!(end.sends(), [10, 11], "two for four duplicates");
    end.advance(10, &[]);
    end.snd.max += 500;
    assert!((12..15).all(|to| !end.duplicate(10, &[(11, to)])), "at the point itself neither");
    end.advance(11, &[]);
    assert!(!end.duplicate(11, &[(12, 13)]) && !end.duplicate(11, &[(12, 14)]));
    assert!(end.duplicate(11, &[(12, 15)]));
}

#[test]
fn a_loss_in_a_window_that_an_echo_has_halved_is_repaired_and_halves_nothing() {
    let mut end = End::new(10);
    end.sack.resume(2_000);
    end.advance(1, &[]);
    (end.snd.reduced, end.snd.win.by_echo, end.snd.win.cwnd) = (801, true, 500);
    end.snd.win.ssthresh = 500;
    assert!(!end.duplicate(1, &[(2, 3)]) && !end.duplicate(1, &[(2, 4)]));
    assert!(end.duplicate(1, &[(2, 5)]));
    assert_eq!(end.snd.win.cwnd, 500);
    // The recovery ends with the window of data of the echo.
    end.advance(8, &[]);
    assert!(!end.sack.recovering());
}

#[test]
fn an_echo_that_all_is_acknowledged_of_covers_nothing() {
    let mut end = End::new(10);
    end.advance(2, &[]);
    (end.snd.reduced, end.snd.win.by_echo, end.snd.win.cwnd) = (201, true, 800);
    let entered = [4, 5, 6].map(|to| end.duplicate(2, &[(3, to)]));
    assert_eq!(entered, [false, false, true]);
    assert_eq!(end.snd.win.cwnd, 400);
    end.advance(3, &[(7, 8)]);
    assert!(end.sack.recovering(), "to the end of what was out");
}

#[test]
fn only_what_begins_a_recovery_may_go_out_then_and_is_not_counted() {
    let mut end = End::new(10);
    let [first, second, third] = [2, 3, 4].map(|to| {
        let sack = &mut end.sack;
        with_reno(&RULES, &mut end.snd, |w| sack.on_duplicate(w, &ack(0, &[(1, to)])))
    });
    assert!(third.resend_only && third.stop_timer && !first.entered && !second.entered);
    assert_eq!(end.sack.reports(), [(101, 401)]);
    assert_eq!(end.send(end.sack.first(&end.snd)), 0);
    assert_eq!(end.sack.pipe, 7);
    // The packet after the one that fills the hole is missing as well: its retransmission counts.
    let mut end = End::new(10);
    assert!((3..6).any(|to| end.duplicate(0, &[(2, to)])));
    end.send(end.sack.first(&end.snd));
    for to in 6..9 {
        end.duplicate(0, &[(2, to)]);
    }
    assert_eq!((end.sack.pipe, end.snd.win.cwnd), (4, 500));
    end.advance(1, &[(2, 8)]);
    assert_eq!(end.sack.pipe, 2);
    assert_eq!(end.sends(), [1, 10, 11]);
    // New data that is sent in a recovery and lost is retransmitted in the same way.
    end.advance(10, &[(11, 12)]);
    let mut end = End::into_recovery(10);
    for to in 5..9 {
        end.duplicate(0, &[(1, to)]);
    }
    assert_eq!(end.sends(), [10, 11]);
    end.duplicate(0, &[(1, 10), (11, 12)]);
    assert_eq!(end.sends(), [10]);
}

#[test]
fn nothing_goes_beyond_the_peers_window() {
    let mut end = End::into_recovery(10);
    end.snd.window = 1_000;
    for to in 5..10 {
        end.duplicate(0, &[(1, to)]);
    }
    assert_eq!(end.sends(), []);
}

#[test]
fn used_again_it_is_as_new_and_keeps_its_heap() {
    let mut end = End::into_recovery(10);
    end.sack.reset();
    assert_eq!(format!("{:?}", end.sack), format!("{:?}", Sack1::default()));
    assert!(end.sack.board.capacity() > 0);
}

#[test]
fn a_timeout_found_spurious_lets_duplicates_count() {
    let mut end = End::into_recovery(10);
    end.sack.resume(end.snd.max);
    end.sack.suspend();
    assert!(!end.sack.recovering());
    assert!(!end.duplicate(0, &[(1, 2)]) && !end.duplicate(0, &[(1, 3)]));
    assert!(end.duplicate(0, &[(1, 4)]));
}
