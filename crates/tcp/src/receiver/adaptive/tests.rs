mod beyond;
mod window;

use packet::Ecn;

use super::*;
use crate::clock::{HostClock, Moment, Phase};
use crate::receiver::AtOnce;
use crate::rtt::{Exact, Rtt, RttRules};
use crate::segment::Flags;

const SEGMENT: u32 = 1_448;

/// Payload share of the buffer, in 1/256, with which the window is largest from the start.
const NEVER_GROWS: u32 = 100;

/// A receiver of profile `linux` with a buffer of 6 MB, and the sender's round-trip estimate.
struct End {
    receiver: Receiver,
    policy: AckPolicy,
    rules: RttRules,
    rtt: Rtt,
    offered: Option<Offer>,
}

impl End {
    fn new(ratio: u32) -> End {
        let rules = Adaptive {
            beyond: 1,
            segment: SEGMENT,
            header: 32,
            mss: 1_460,
            start: 6_000_000,
            buffer: 6_000_000,
            ratio,
            growth: Growth::SpaceAdjust,
            scale: 0,
            least: 40,
            longest: 199,
            compress: Compress {
                most: 44,
                delay: Duration::from_millis(1),
                percent: 5,
                slack: Duration::from_micros(100),
            },
            wheel: TimerWheel::EXACT,
        };
        let policy = AckPolicy {
            at_once: AtOnce::Adaptive(rules),
            delay: Duration::from_millis(40),
            clock: AckClock::Connection,
            first: false,
            duplicates: true,
        };
        let (initial, none) = (Duration::from_secs(1), Duration::ZERO);
        let margin = Duration::from_millis(200);
        let exact = Exact {
            initial,
            min: none,
            margin,
            max: initial,
            tick: none,
            any_ack_ends_backoff: false,
            wheel: TimerWheel::EXACT,
        };
        let rtt = exact.fresh();
        let mut receiver = Receiver::new();
        receiver.reset(&policy);
        receiver.open();
        let offered = receiver.on_ack_sent(&policy, true);
        End { receiver, policy, rules: RttRules::Exact(exact), rtt, offered }
    }

    /// An end after its first 16 quick acknowledgements, of segments at 1, 2, ... 16 ms.
    fn warm() -> End {
        let mut end = End::new(NEVER_GROWS);
        (1..=16).for_each(|at| assert!(end.full(at), "{at}"));
        end
    }

    fn arrives(&mut self, at: u64, len: u32, ecn: Ecn) -> bool {
        let seq = self.receiver.next;
        let segment = Segment { seq, len, ecn, flags: Flags::ACK, ..Segment::default() };
        self.take(at, &segment)
    }

    /// A full segment with PSH arrives.
    fn pushed(&mut self, at: u64) -> bool {
        let seq = self.receiver.next;
        let mut segment = Segment { seq, len: SEGMENT, flags: Flags::ACK, ..Segment::default() };
        segment.push();
        self.take(at, &segment)
    }

    fn take(&mut self, at: u64, segment: &Segment) -> bool {
        let moment = Moment { at: ms(at), phase: Phase::Events };
        let (rules, rtt) = (&self.rules, &self.rtt);
        let clock = HostClock::default();
        self.receiver.on_data(segment, &self.policy, Trip { rules, rtt }, clock, moment);
        self.acknowledges()
    }

    fn acknowledges(&mut self) -> bool {
        let now = self.receiver.ack_now;
        if now {
            self.offered = self.receiver.on_ack_sent(&self.policy, false);
        }
        now
    }

    /// The window field of the last acknowledgement's header.
    fn field(&self) -> u64 {
        let Offer { bytes, scale } = self.offered.expect("linux");
        assert_eq!(bytes % (1 << scale), 0);
        bytes >> scale
    }

    /// A full segment arrives; returns whether it is acknowledged at once.
    fn full(&mut self, at: u64) -> bool {
        self.arrives(at, SEGMENT, Ecn::NotEct)
    }

    /// The delayed acknowledgement goes out when it is due; returns when, in ms.
    fn waits_until(&mut self) -> u64 {
        let at = self.receiver.ack_at;
        let (rules, rtt) = (&self.rules, &self.rtt);
        self.receiver.on_ack_due(Trip { rules, rtt });
        assert!(self.acknowledges());
        at.nanos() / 1_000_000
    }

    fn wait(&self) -> u64 {
        self.receiver.beyond.as_ref().and_then(|b| b.tempo).expect("linux").wait
    }
}

fn ms(at: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(at)
}

#[test]
fn a_fixed_buffer_of_six_megabytes_makes_308_quick_acknowledgements() {
    // The window begins at 3,000,000 - 1,460 and is bounded by 6,000,000 x 164/256 less the segment
    // that lies there, 3,842,302. It grows by 2 x 1,448: 843,762/2,896 = 291.3, so 292 segments make
    // it grow, each renewing one quick acknowledgement; 16 are left then.
    let mut end = End::new(164);
    let quick = (1..=400).take_while(|&at| end.full(at)).count();
    assert_eq!(quick, 308);
    assert_eq!(end.receiver.tempo().expect("linux").window, 3_842_302);
    // The 309th acknowledgement waits; with the 310th segment more than one full segment waits.
    assert!(end.full(400));
    assert!(!end.full(400));
}

#[test]
fn the_delay_follows_the_pace_of_arrivals() {
    let mut end = End::warm();
    // Gaps of 20 ms or less make a delay of 40/2 + 20 ms; 35 ms make 40/2 + 35, 50 ms 55/2 + 50.
    for (at, wait, due) in [(36, 40, 76), (111, 40, 151)] {
        assert!(!end.full(at));
        assert_eq!(end.wait(), wait, "at {at}");
        assert_eq!(end.waits_until(), due);
        // The delay passed without more data: the next one is twice as long.
        assert_eq!(end.wait(), 2 * wait);
        end.receiver.tempo().expect("linux").wait = 40;
    }
    assert!(!end.full(146));
    assert_eq!((end.wait(), end.waits_until()), (55, 201));
}

#[test]
fn a_delay_ends_at_a_tick_of_the_kernel_s_wheel() {
    let mut end = End::warm();
    let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!() };
    rules.wheel = TimerWheel::of(1_000);
    // The delay ends at the tick after 36 + 40 ms, never before its time.
    assert!(!end.full(36));
    assert_eq!(end.waits_until(), 77);
    // A delay of 80 ms ends at a multiple of 8 ticks.
    end.receiver.tempo().expect("linux").wait = 80;
    assert!(!end.full(200));
    assert_eq!(end.waits_until(), 288);
}

#[test]
fn a_gap_as_long_as_the_delay_leaves_it() {
    // tcp_event_data_recv: m < ato makes it ato/2 + m, and nothing else does.
    for (gap, wait) in [(39, 59), (40, 40), (41, 40)] {
        let mut end = End::warm();
        assert!(!end.full(16 + gap));
        assert_eq!(end.wait(), wait, "{gap} ms");
    }
}

#[test]
fn the_last_quick_acknowledgement_resets_the_delay() {
    // tcp_dec_quickack_mode: "Leaving quickack mode we deflate ATO."
    let mut end = End::new(NEVER_GROWS);
    // The delay becomes 40/2 + 30 = 50 ms, then 55, 57, ...
    (1..=15).for_each(|i| assert!(end.full(30 * i)));
    assert!(end.wait() > 50);
    assert!(end.full(480));
    assert_eq!(end.wait(), 40);
}

#[test]
fn the_round_trip_bounds_the_delay() {
    // After an ACK that waited in vain the delay is 80 ms, but a round trip of 60 ms bounds it, and
    // one of 10 ms the least, 40 ms.
    for (trip, due) in [(0, 178), (60, 160), (10, 140)] {
        let mut end = End::warm();
        if trip > 0 {
            end.rules.sample_span(&mut end.rtt, Duration::from_millis(trip));
        }
        end.receiver.tempo().expect("linux").wait = 80;
        // After a gap of 38 ms the delay is 80/2 + 38 = 78 ms.
        end.receiver.tempo().expect("linux").last = 62;

        assert!(!end.full(100));
        assert_eq!(end.waits_until(), due, "trip {trip} ms");
    }
}

#[test]
fn a_gap_longer_than_a_timeout_makes_sixteen_acknowledgements_quick() {
    let mut end = End::warm();
    assert!(!end.full(1_016), "a timeout of 1 s and no more");
    assert!(end.full(1_017));
    assert!(end.full(2_018));
    (0..15).for_each(|_| assert!(end.full(2_018)));
    assert!(!end.full(2_018));
}

#[test]
fn a_connection_that_answers_lets_its_answers_acknowledge() {
    let mut end = End::new(NEVER_GROWS);
    assert!(end.arrives(1_000, 300, Ecn::NotEct), "the first request");
    end.receiver.on_data_sent(ms(1_039));
    assert!(!end.arrives(1_500, 300, Ecn::NotEct), "the second");
    assert_eq!(end.waits_until(), 1_540);
    // The delay passed without an answer: ping-pong mode ends.
    assert!(end.arrives(2_000, 300, Ecn::NotEct));
    end.receiver.on_data_sent(ms(2_040));
    assert!(end.arrives(3_000, 300, Ecn::NotEct), "40 ms later it is no answer");
}

#[test]
fn a_small_segment_is_acknowledged_when_the_program_has_read_it() {
    let mut end = End::warm();
    assert!(!end.full(20));
    assert!(end.arrives(21, 100, Ecn::NotEct), "beyond a full one");
    assert!(end.arrives(22, 100, Ecn::NotEct), "small");
    // Two segments of one size of at least 524 B are taken for full ones.
    assert!(end.arrives(22, 523, Ecn::NotEct));
    assert!(end.arrives(22, 523, Ecn::NotEct));
    assert!(end.arrives(23, 524, Ecn::NotEct));
    assert!(!end.arrives(24, 524, Ecn::NotEct));
    assert!(end.arrives(25, 524, Ecn::NotEct), "beyond one");
}

#[test]
fn a_full_segment_with_psh_is_acknowledged_when_the_program_has_read_it() {
    let mut end = End::warm();
    assert!(!end.full(20));
    assert!(end.pushed(20), "beyond a full one");
    assert!(end.pushed(21), "alone");
    assert!(!end.full(22));
    end.receiver.on_data_sent(ms(22));
    end.receiver.on_ack_sent(&end.policy, false);
    assert!(!end.pushed(23), "the program answers");
}

#[test]
fn a_first_mark_and_a_repeat_are_acknowledged_at_once_with_the_next() {
    let mut end = End::warm();
    let mut hear = |at, ecn, first, cwr| {
        end.receiver.on_ecn(ecn, first, cwr);
        end.arrives(at, SEGMENT, ecn)
    };
    assert!(!hear(20, Ecn::Ect0, false, false));
    assert!(hear(20, Ecn::Ect0, false, false));
    // Two quick acknowledgements follow, the second of an unmarked segment.
    assert!(hear(21, Ecn::Ce, true, false));
    assert!(hear(21, Ecn::Ect0, false, false));
    assert!(!hear(21, Ecn::Ce, false, false), "a later mark");
    assert!(hear(21, Ecn::Ect0, false, true), "CWR");
    assert!(hear(22, Ecn::Ect0, false, true), "CWR again");
    // A Not-ECT segment after ECN-capable ones is probably a retransmission.
    assert!(hear(23, Ecn::NotEct, false, false));
    assert!(hear(23, Ecn::Ect0, false, false));
    assert!(!hear(23, Ecn::Ect0, false, false));
}

#[test]
fn data_that_comes_twice_makes_sixteen_quick() {
    // The first of the sixteen segments arrives again, and the last one.
    for seq in [1, 1 + 15 * u64::from(SEGMENT)] {
        let mut end = End::warm();
        let again = Segment { seq, len: SEGMENT, flags: Flags::ACK, ..Segment::default() };
        assert!(end.take(20, &again));
        (0..15).for_each(|_| assert!(end.full(21)));
        assert!(!end.full(21));
    }
}

#[test]
fn a_hole_and_what_fills_it_make_no_later_one_quick() {
    // tcp_data_queue: tcp_enter_quickack_mode is for data that has come before.
    let mut end = End::warm();
    let first = end.receiver.next;
    for seq in [first + u64::from(SEGMENT), first] {
        let flags = Flags::ACK;
        assert!(end.take(20, &Segment { seq, len: SEGMENT, flags, ..Segment::default() }));
        assert!(!end.receiver.report().has_duplicate(), "nothing came twice");
    }
    assert!(!end.full(21));
}

#[test]
fn a_fin_waits_for_the_program_to_close() {
    let mut end = End::warm();
    let flags = Flags::ACK.with(Flags::FIN);
    let seq = end.receiver.next;
    assert!(!end.take(20, &Segment { seq, len: 100, flags, ..Segment::default() }));
    assert!(end.receiver.closed());
    assert_eq!(end.waits_until(), 60);
    assert!(end.take(70, &Segment { seq, len: 100, flags, ..Segment::default() }), "again");
}

/// A buffer that begins with 128 KiB; its first segment, at 100 ms, shows a round trip of 40 ms.
fn growing(most: u64) -> End {
    let mut end = End::new(164);
    let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
    (rules.start, rules.buffer) = (131_072.min(most), most);
    end.receiver.reset(&end.policy);
    end.receiver.open();
    end.receiver.on_ack_sent(&end.policy, false);
    end.stamped(100);
    end
}

impl End {
    fn stamped(&mut self, at: u64) {
        let seq = self.receiver.next;
        let flags = Flags::ACK.with(Flags::STAMPED);
        let segment = Segment { seq, len: SEGMENT, flags, echo: 60, ..Segment::default() };
        self.take(at, &segment);
    }

    /// The buffer, and the bound of the window.
    fn buffer(&mut self) -> (u64, u64) {
        let tempo = self.receiver.tempo().expect("linux");
        (tempo.buffer.bytes, tempo.bound)
    }
}

#[test]
fn the_buffer_grows_with_what_is_read_in_a_round_trip() {
    let mut end = growing(6 << 20);
    assert_eq!(end.buffer(), (131_072, 83_968)); // 131,072 x 164/256
    (101..=120).for_each(|at| end.stamped(at));
    assert_eq!(end.buffer().0, 131_072, "the round trip is not over");
    end.stamped(140);
    // 21 segments, 30,408 B, where 14,600 were expected: 2 x 30,408 + 16 x 1,460 = 84,176 B, and twice
    // 84,176 x 15,808/14,600 = 91,140 more: 266,456 B, for which the buffer is 256/164 as large.
    assert_eq!(end.buffer(), (415_931, 266_455));
    (141..=181).step_by(8).for_each(|at| end.stamped(at));
    assert_eq!(end.buffer(), (415_931, 266_455), "it never shrinks");
}

#[test]
fn a_buffer_grows_to_its_bound_and_a_fixed_one_not_at_all() {
    for most in [200_000, 100_000] {
        let mut end = growing(most);
        (101..=140).for_each(|at| end.stamped(at));
        assert_eq!(end.buffer(), (most, (most * 164) >> 8));
    }
}

#[test]
fn without_timestamps_a_window_s_end_reports_the_round_trip() {
    let mut end = End::new(164);
    let trip = |end: &mut End| end.receiver.tempo().expect("linux").buffer.trip();
    end.full(100);
    let (edge, bytes) = (end.receiver.tempo().expect("linux").buffer.edge(), u64::from(SEGMENT));
    let segments = (edge - 1).div_ceil(bytes) - 1;
    // The edge is 1 + 1,448 and the window that was open, 3,000,000 - 1,460.
    assert_eq!(edge, 2_999_989);
    (1..segments).for_each(|_| {
        end.full(120);
    });
    assert_eq!(trip(&mut end), 0);
    end.full(160);
    assert_eq!(trip(&mut end), 8 * 60_000);
}

#[test]
fn a_small_window_makes_fewer_quick_acknowledgements() {
    // tcp_incr_quickack: the window, half of the buffer less 1,460 B, in units of two full segments:
    // 20,000/2,896 = 6; two at least.
    for (buffer, quick) in [(42_920, 6), (12_920, 2)] {
        let mut end = End::new(NEVER_GROWS);
        let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
        (rules.start, rules.buffer) = (buffer, buffer);
        end.receiver.reset(&end.policy);
        end.receiver.open();
        end.receiver.on_ack_sent(&end.policy, false);
        assert_eq!((1..=20).take_while(|&at| end.full(at)).count(), quick);
    }
}

#[test]
fn a_fin_alone_waits_and_is_no_data() {
    // A FIN 35 ms after the last data leaves the delay at 40 ms, where data would make it 55.
    let mut end = End::warm();
    let flags = Flags::ACK.with(Flags::FIN);
    let seq = end.receiver.next;
    assert!(!end.take(51, &Segment { seq, flags, ..Segment::default() }));
    assert_eq!((end.receiver.closed(), end.waits_until()), (true, 91));
}

#[test]
fn before_the_first_data_in_order_nothing_is_an_answer() {
    let mut end = End::new(NEVER_GROWS);
    end.receiver.on_ecn(Ecn::Ce, true, false);
    let beyond = Segment { seq: 1_449, len: SEGMENT, flags: Flags::ACK, ..Segment::default() };
    assert!(end.take(5, &beyond));
    assert_eq!(end.wait(), 40);
    end.receiver.on_data_sent(ms(10));
    assert!(!end.receiver.tempo().expect("linux").answers);
}

#[test]
fn full_segments_alone_show_a_round_trip_by_their_stamps() {
    // tcp_rcv_rtt_measure_ts: segments of rcv_mss at least, and only if the clock has moved on.
    let mut end = End::new(164);
    let flags = Flags::ACK.with(Flags::STAMPED);
    for (at, echo, len, trip_ms) in [
        (100, 60, SEGMENT, 40),
        (130, 120, 100, 40),
        (140, 140, SEGMENT, 40),
        (150, 130, SEGMENT, 20),
    ] {
        let seq = end.receiver.next;
        end.take(at, &Segment { seq, len, flags, echo, ..Segment::default() });
        assert_eq!(end.receiver.tempo().expect("linux").buffer.trip(), 8_000 * trip_ms, "{at} ms");
    }
}

#[test]
fn a_buffer_grows_when_more_is_read_than_ever_before() {
    // tcp_rcv_space_adjust: copied <= rcvq_space.space is no reason. With segments of 9,000 B 65,536 -
    // 9,000 B are expected: 39 of 1,448 B and 64.
    for (rest, grows) in [(64, false), (65, true)] {
        let mut end = growing(6 << 20);
        let AtOnce::Adaptive(rules) = &mut end.policy.at_once else { panic!("linux") };
        rules.mss = 9_000;
        end.receiver.reset(&end.policy);
        end.receiver.open();
        end.stamped(100);
        (101..=139).for_each(|at| end.stamped(at));
        end.arrives(140, rest, Ecn::NotEct);
        assert_eq!(end.buffer().0 > 131_072, grows, "{rest} B");
    }
}
