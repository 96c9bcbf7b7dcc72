//! Tests of data that arrives beyond a hole, and of its reports.

use super::*;

/// An end past its first quick acknowledgements, with SACK.
fn with_hole() -> End {
    let mut end = End::warm();
    end.receiver.agree(true);
    end
}

impl End {
    /// A full segment arrives at `at` ms, `by` segments after the expected one. Returns whether it
    /// is acknowledged at once.
    fn beyond(&mut self, at: u64, by: u64) -> bool {
        let seq = self.receiver.next + by * u64::from(SEGMENT);
        let segment = Segment { seq, len: SEGMENT, flags: Flags::ACK, ..Segment::default() };
        self.take(at, &segment)
    }

    fn due_us(&self) -> u64 {
        self.receiver.ack_at.nanos() / 1_000
    }
}

#[test]
fn three_reports_go_at_once_and_the_next_waits_for_more() {
    let mut end = with_hole();
    // A round trip of 40 ms, of which a twentieth is more than the longest wait.
    end.receiver.tempo().expect("linux").buffer.update(40_000, false);
    assert_eq!([1, 2, 3].map(|by| end.beyond(20, by)), [true; 3]);
    assert!(!end.beyond(21, 4));
    assert_eq!(end.due_us(), 22_100);
    assert!(!end.beyond(22, 5), "joins it");
    assert_eq!(end.due_us(), 22_100);
    let before = end.wait();
    assert_eq!(end.waits_until(), 22);
    assert_eq!(end.wait(), before, "this was not a delayed acknowledgement that waited in vain");
    assert!(!end.beyond(23, 6), "the next one waits again");
    assert_eq!(end.due_us(), 24_100);
}

#[test]
fn a_report_waits_a_twentieth_of_a_short_round_trip() {
    let mut end = with_hole();
    end.receiver.tempo().expect("linux").buffer.update(4_000, false);
    (1..=3).for_each(|by| assert!(end.beyond(20, by)));
    assert!(!end.beyond(21, 4));
    assert_eq!(end.due_us(), 21_300);
    // The smaller of the receiver's and the sender's estimate counts, if both are known.
    let mut both = with_hole();
    both.receiver.tempo().expect("linux").buffer.update(4_000, false);
    both.rules.sample_span(&mut both.rtt, Duration::from_millis(2));
    (1..=3).for_each(|by| assert!(both.beyond(20, by)));
    assert!(!both.beyond(21, 4));
    assert_eq!(both.due_us(), 21_200);
    let rules =
        Compress { most: 44, delay: Duration::from_millis(1), percent: 5, slack: Duration::ZERO };
    let us = |received: u64, sent: u64| rules.wait(8 * received, 8 * sent).nanos() / 1_000;
    assert_eq!(
        [us(4_000, 2_000), us(2_000, 4_000), us(4_000, 0), us(0, 4_000)],
        [100, 100, 200, 0]
    );
}

#[test]
fn a_number_expected_that_moves_counts_anew_and_a_filled_hole_is_reported_at_once() {
    let mut end = with_hole();
    (1..=3).for_each(|by| assert!(end.beyond(20, by)));
    assert!(!end.beyond(21, 4));
    assert!(end.beyond(22, 0), "all of it is filled");
    assert_eq!(end.receiver.ack_at, Instant::NEVER);
    let mut end = with_hole();
    (2..=4).for_each(|by| assert!(end.beyond(20, by)));
    assert!(!end.beyond(21, 6));
    assert!(end.beyond(22, 0), "the number expected moves by a segment");
    assert!(end.beyond(22, 8));
    assert!(end.beyond(22, 9));
    assert!(!end.beyond(22, 10), "moving has reported one already");
    assert!(end.beyond(23, 0), "and by four segments, more than may wait");
    assert!(end.receiver.has_hole());
    // Where every fourth segment is acknowledged, an advance by two counts as one of the three
    // reports at once.
    let mut end = with_hole();
    let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
    rules.beyond = 3;
    [1, 3, 4].iter().for_each(|&by| assert!(end.beyond(20, by)));
    assert!(end.beyond(22, 0), "two are taken");
    assert!(end.beyond(22, 3));
    assert!(end.beyond(22, 4));
    assert!(!end.beyond(22, 5));
}

#[test]
fn as_many_reports_as_set_wait_together() {
    let mut end = with_hole();
    (1..=3).for_each(|by| assert!(end.beyond(20, by)));
    (4..48).for_each(|by| assert!(!end.beyond(21, by), "{by}"));
    assert!(end.beyond(21, 48), "44 wait");
    assert!(!end.beyond(21, 49));
}

#[test]
fn no_report_waits_without_selective_acknowledgements_or_while_acknowledgements_are_quick() {
    let mut plain = End::warm();
    assert!((1..=9).all(|by| plain.beyond(20, by)));
    let mut young = End::new(NEVER_GROWS);
    young.receiver.agree(true);
    assert!((1..=9).all(|by| young.full(by)));
    assert!((1..=7).all(|by| young.beyond(20, by)), "of 16 quick ones");
    // A duplicate makes them quick again.
    let mut end = with_hole();
    (1..=3).for_each(|by| assert!(end.beyond(20, by)));
    assert!(!end.beyond(21, 4));
    let old = Segment { seq: 1, len: SEGMENT, flags: Flags::ACK, ..Segment::default() };
    assert!(end.take(22, &old));
    assert!(end.beyond(22, 5));
}

#[test]
fn a_fin_beyond_a_hole_and_one_that_comes_twice_are_reported_like_a_byte() {
    // tcp_data_queue_ofo: end_seq counts the FIN, which a tail loss probe may be alone.
    let mut end = with_hole();
    let hole = end.receiver.next;
    let seq = hole + u64::from(SEGMENT);
    let fin = Segment { seq, flags: Flags::ACK.with(Flags::FIN), ..Segment::default() };
    assert!(end.take(20, &fin));
    assert_eq!(end.receiver.report().as_slice(), [(SEGMENT, SEGMENT + 1)]);
    assert!(end.beyond(21, 0));
    assert!(end.receiver.closed());
    assert_eq!(end.receiver.next, seq + 1);
    assert!(end.take(22, &fin));
    assert_eq!(end.receiver.report().duplicate(seq + 1), Some((seq, seq + 1)));
}
