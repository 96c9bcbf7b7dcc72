use super::*;
use crate::clock::Phase;
use crate::rtt::Exact;

const EVERY_OTHER: AckPolicy = AckPolicy {
    at_once: AtOnce::Segments(2),
    delay: Duration::from_millis(200),
    clock: AckClock::Connection,
    first: false,
    duplicates: false,
};

/// An estimator, for the policies that use one.
fn exact() -> RttRules {
    let none = Duration::ZERO;
    let initial = Duration::from_secs(1);
    RttRules::Exact(Exact {
        initial,
        min: none,
        margin: none,
        max: initial,
        tick: none,
        any_ack_ends_backoff: false,
        wheel: crate::timer_wheel::TimerWheel::EXACT,
    })
}

fn receive(receiver: &mut Receiver, seq: u64, len: u32, fin: bool) -> bool {
    receive_as(receiver, &EVERY_OTHER, seq, len, fin)
}
fn receive_as(receiver: &mut Receiver, policy: &AckPolicy, seq: u64, len: u32, fin: bool) -> bool {
    let flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
    let segment = Segment { seq, len, flags, ..Segment::default() };
    let moment = Moment { at: Instant::ZERO, phase: Phase::Events };
    let (rules, clock) = (exact(), HostClock::default());
    let trip = Trip { rules: &rules, rtt: &rules.fresh() };
    receiver.on_data(&segment, policy, trip, clock, moment);
    let now = receiver.ack_now;
    if now {
        receiver.on_ack_sent(&EVERY_OTHER, false);
    }
    now
}
fn opened() -> Receiver {
    let mut receiver = Receiver::new();
    receiver.open();
    receiver.on_ack_sent(&EVERY_OTHER, false);
    receiver
}

#[test]
fn ranges_merge_and_the_latest_is_reported_first() {
    let mut r = opened();
    for start in [101, 301, 501, 701] {
        assert!(receive(&mut r, start, 100, false));
    }
    assert_eq!(r.sack_blocks().as_slice(), [(700, 800), (500, 600), (300, 400)]);
    assert!(receive(&mut r, 201, 100, false));
    assert_eq!(r.sack_blocks().as_slice(), [(100, 400), (700, 800), (500, 600)]);
    assert!(receive(&mut r, 1, 100, false), "filling a hole is acknowledged at once");
    assert_eq!(r.next, 401);
    assert_eq!(r.sack_blocks().as_slice(), [(300, 400), (100, 200)]);
    assert!(receive(&mut r, 351, 200, false), "overlaps on both sides");
    assert_eq!(r.next, 601);
    assert!(receive(&mut r, 601, 100, false));
    assert!(!r.has_hole());
    assert_eq!(r.delivered(), 800);
}

#[test]
fn a_fin_counts_only_in_order() {
    let mut r = opened();
    assert!(receive(&mut r, 101, 100, true));
    assert!(!r.closed());
    assert!(receive(&mut r, 1, 100, false));
    assert!(r.closed());
    assert_eq!((r.next, r.delivered()), (202, 200));
    assert!(receive(&mut r, 101, 100, true), "a repeat is acknowledged at once");
    assert_eq!(r.next, 202);
}

#[test]
fn every_second_segment_is_acknowledged() {
    let mut r = opened();
    assert!(!receive(&mut r, 1, 100, false));
    assert_eq!(r.ack_at, Instant::from_nanos(200_000_000));
    assert!(receive(&mut r, 101, 1, false));
    assert_eq!(r.ack_at, Instant::NEVER);
    assert!(receive(&mut r, 1, 100, false), "duplicate");
}

#[test]
fn a_fin_beyond_a_hole_is_not_reported() {
    // SACK reports bytes received (RFC 2018 section 3), and a bare FIN has none.
    let mut r = opened();
    assert!(receive(&mut r, 201, 0, true));
    assert!(!r.has_hole() && r.sack_blocks().is_empty());
    assert!(receive(&mut r, 101, 100, false));
    assert_eq!(r.sack_blocks().as_slice(), [(100, 200)]);
}

#[test]
fn a_stamp_is_newer_if_it_is_less_than_half_the_circle_ahead() {
    // RFC 7323 section 5.2: s < t if 0 < (t - s) < 2^31.
    let recent = |stamp: u32| {
        let mut r = opened();
        r.recent = 7;
        r.on_stamp(&Segment { seq: 1, stamp, ..Segment::default() });
        r.recent
    };
    let half = 1 << 31;
    assert_eq!([8, half + 6, half + 7, 6].map(recent), [8, half + 6, 7, 7]);
}

#[test]
fn a_fin_alone_beyond_a_hole_is_no_range_where_it_is_not_reported() {
    let mut receiver = opened();
    assert!(receive(&mut receiver, 1_461, 0, true));
    assert!(!receiver.has_hole() && !receiver.has_report());
    assert!(receive(&mut receiver, 1, 1_460, false));
    assert!(receiver.closed());
}

#[test]
fn the_first_segment_is_acknowledged_at_once_where_the_policy_says_so() {
    // ns-3's ProcessSynRcvd: the first segment is acknowledged, then every second one.
    for (first, at_once) in [(false, [false, true, false]), (true, [true, false, true])] {
        let policy = AckPolicy { first, ..EVERY_OTHER };
        let mut r = opened();
        let each = [1, 101, 201].map(|seq| receive_as(&mut r, &policy, seq, 100, false));
        assert_eq!(each, at_once);
    }
}
