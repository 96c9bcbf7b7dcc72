//! Tests of the draft's rules; the expected numbers are worked by hand.

use super::arrival::Kalman;
use super::overuse::Usage;
use super::*;
use crate::datagrams::rtc::congestion::Observed;
use packet::Duration;

fn params() -> Params {
    Params::defaults(FIELDS)
}

fn video(start: f64) -> Video {
    let feedback = Duration::from_millis(100);
    Video { least: 150e3, most: 5e6, start, frame_rate: 30.0, feedback, packet: 1_200 }
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

fn observed(sent_us: u64, arrived_us: u64) -> Observed {
    Observed { bytes: 1_200, sent: at(sent_us), arrived: Some(at(arrived_us)), marked: false }
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-6), "{found}, not {expected}");
}

#[test]
fn the_filter_is_that_of_section_5_3() {
    let mut filter = Kalman { estimate: 0.5, error: 0.1, noise: 4.0 };
    filter.measure(2.5, 1e-3, 0.99);
    // With z = 2 the noise is 0.99 * 4 + 0.01 * 4 = 4, and the gain k is 0.101 / 4.101.
    let gain = 0.101 / 4.101;
    close(filter.noise, 4.0);
    close(filter.estimate, 0.5 + 2.0 * gain);
    close(filter.error, (1.0 - gain) * 0.101);
    // An outlier counts as three deviations of the noise, which is never below 1 ms^2.
    let mut filter = Kalman { estimate: 0.0, error: 0.1, noise: 1.0 };
    filter.measure(100.0, 1e-3, 0.9);
    close(filter.noise, 0.9 + 0.1 * 9.0);
    filter.measure(filter.estimate, 1e-3, 0.1);
    close(filter.noise, 1.0);
}

#[test]
fn packets_sent_or_arrived_together_are_a_group() {
    let mut arrivals = Arrivals::new(Filtering::read(&params()));
    // Two packets 4 ms apart; one sent 30 ms later; one that arrives 1 ms behind it though it was
    // sent 6 ms behind; the next begins the third group, and the second one is complete.
    for (sent, arrived) in [(0, 20_000), (4_000, 24_000), (34_000, 60_000), (40_000, 61_000)] {
        assert!(arrivals.packet(&observed(sent, arrived)).is_none());
    }
    let estimate = arrivals.packet(&observed(70_000, 95_000)).unwrap();
    // Sent 40 - 4 = 36 ms apart, arrived 61 - 24 = 37 ms apart.
    close(estimate.apart_ms, 36.0);
    assert_eq!(estimate.at, at(61_000));
    let alpha = 0.99_f64.powf(36.0 * 30.0 / 1e3);
    let noise = alpha * 50.0 + (1.0 - alpha);
    close(estimate.gradient_ms, 0.101 / (noise + 0.101));
    let lost = Observed { arrived: None, ..observed(80_000, 0) };
    assert!(arrivals.packet(&lost).is_none());
}

fn estimate(gradient_ms: f64, ms: u64) -> arrival::Estimate {
    arrival::Estimate { gradient_ms, apart_ms: 8.0, at: at(1_000 * ms) }
}

fn detector(deltas: f64) -> Detector {
    let set = ("deltas".to_owned(), packet::params::Raw::Number(deltas));
    Detector::new(Detecting::read(&Params::check(FIELDS, &[set]).unwrap()))
}

#[test]
fn over_use_lasts_and_does_not_fall() {
    // To the letter of the draft the estimate is not multiplied. Each group counts for 8 ms, the
    // first for half of them.
    let mut letter = detector(1.0);
    letter.estimated(&estimate(13.0, 0));
    assert_eq!(letter.usage(), Usage::Normal);
    letter.estimated(&estimate(12.9, 8)); // 12 ms above, but the estimate falls
    assert_eq!(letter.usage(), Usage::Normal);
    letter.estimated(&estimate(13.1, 16));
    assert_eq!(letter.usage(), Usage::Over);
    letter.estimated(&estimate(0.0, 24));
    assert_eq!(letter.usage(), Usage::Normal);
    letter.estimated(&estimate(-14.0, 32));
    assert_eq!(letter.usage(), Usage::Under);
    // 6 ms for each group: 3 and 6 ms are not longer than 10 ms, with another 6 ms they are.
    let mut shorter = detector(1.0);
    let apart = |n: u64| arrival::Estimate { apart_ms: 6.0, ..estimate(13.0, 6 * n) };
    (0..2).for_each(|n| shorter.estimated(&apart(n)));
    assert_eq!(shorter.usage(), Usage::Normal);
    shorter.estimated(&apart(2));
    assert_eq!(shorter.usage(), Usage::Over);
    // The estimate is multiplied by the number of groups, from the second one on.
    let mut usual = detector(60.0);
    (0..6).for_each(|n| usual.estimated(&estimate(1.0, 8 * n)));
    assert_eq!(usual.usage(), Usage::Normal); // multiplied: 2, 3 ... 7 ms
    (6..60).for_each(|n| usual.estimated(&estimate(1.0, 8 * n)));
    assert_eq!(usual.usage(), Usage::Over);
}

#[test]
fn the_threshold_follows_the_estimate() {
    let mut letter = detector(1.0);
    letter.estimated(&estimate(20.0, 0)); // no time has passed
    close(letter.threshold_ms(), 12.5);
    letter.estimated(&estimate(20.0, 10)); // the threshold rises by K_u
    close(letter.threshold_ms(), 12.5 + 0.01 * 7.5 * 10.0);
    letter.estimated(&estimate(-3.25, 20)); // the threshold falls by K_d
    close(letter.threshold_ms(), 13.25 - 0.00018 * 10.0 * 10.0);
    let before = letter.threshold_ms();
    letter.estimated(&estimate(before + 15.1, 30)); // too far beyond the threshold
    close(letter.threshold_ms(), before);
    letter.estimated(&estimate(0.0, 100_000)); // 100 ms of the time count
    close(letter.threshold_ms(), before - 0.00018 * before * 100.0);
    for n in 0..100_000 {
        letter.estimated(&estimate(0.0, 100_100 + 100 * n));
    }
    close(letter.threshold_ms(), 6.0);
}

fn aimd(start: f64) -> Aimd {
    Aimd::new(Increasing::read(&params()), video(start))
}

#[test]
fn the_rate_grows_by_8_percent_a_second_until_the_delay_grew() {
    let mut rate = aimd(1e6);
    close(rate.update(0.1, 0.1, 1e6, false), 1e6 * 1.08_f64.powf(0.1));
    let mut rate = aimd(1e6);
    close(rate.update(5.0, 0.1, 1e6, false), 1.08e6); // one second of the five counts
    // The rate grows to 1.5 of what arrives at most; this bound does not lower it.
    let mut rate = aimd(1e6);
    close(rate.update(1.0, 0.1, 0.7e6, false), 1.05e6);
    close(rate.update(1.0, 0.1, 0.2e6, false), 1.05e6);
}

#[test]
fn after_over_use_it_is_85_percent_of_what_arrived_and_grows_by_half_a_packet() {
    let mut rate = aimd(1.2e6);
    close(rate.update(0.1, 0.1, 1e6, true), 0.85e6);
    // A frame has 28,333 bits in three packets of 9,444; the response time is 200 ms.
    let packet = 0.85e6 / 30.0 / 3.0;
    close(rate.update(0.1, 0.1, 0.85e6, false), 0.85e6 + 0.25 * packet);
    // More than three deviations above the mean, 3 sqrt(400 * 1e6) = 60 kbit/s, the capacity is
    // taken to have changed, and the rate grows by factors again.
    let before = rate.rate();
    close(rate.update(0.1, 0.1, 1.061e6, false), before * 1.08_f64.powf(0.1));
    // Over-use never raises the rate.
    close(aimd(0.5e6).update(0.1, 0.1, 1e6, true), 0.5e6);
}

#[test]
fn losses_move_the_rate_only_below_2_and_above_10_percent() {
    let lose = |lost: usize| {
        let mut bound = LossBound::new(&params(), 1e6);
        let packets: Vec<Observed> = (0..50)
            .map(|n| Observed {
                arrived: (n >= lost).then(|| at(1_000 * n as u64)),
                ..observed(n as u64, 0)
            })
            .collect();
        for now_ms in [100, 299, 300] {
            let (now, packets) = (at(1_000 * now_ms), &packets[..]);
            let round_trip = Duration::from_millis(100);
            let feedback = Feedback { now, made: now, round_trip, packets };
            bound.on_feedback(&feedback, &video(1e6));
        }
        bound.rate
    };
    close(lose(0), 1.05e6);
    close(lose(1), 1e6); // a loss of 2 %
    close(lose(5), 1e6);
    close(lose(10), 1e6 * 0.9); // a loss of 20 %
}

#[test]
fn a_group_ends_where_packets_arrive_as_far_apart_as_they_were_sent_or_after_100_ms() {
    // A packet sent 5 ms behind that arrives 5 ms behind is not closer: it is a group of its own.
    let mut arrivals = Arrivals::new(Filtering::read(&params()));
    for (sent, arrived) in [(0, 20_000), (4_000, 24_000), (9_000, 29_000)] {
        assert!(arrivals.packet(&observed(sent, arrived)).is_none());
    }
    close(arrivals.packet(&observed(40_000, 60_000)).unwrap().apart_ms, 5.0);
    // A burst of arrivals, 5 ms apart though sent 6 ms apart: the one 100 ms behind the first
    // begins another group.
    let mut arrivals = Arrivals::new(Filtering::read(&params()));
    for n in 0..21 {
        assert!(arrivals.packet(&observed(6_000 * n, 200_000 + 5_000 * n)).is_none());
    }
    let estimate = arrivals.packet(&observed(500_000, 600_000)).unwrap();
    close(estimate.apart_ms, 6.0);
    assert_eq!(estimate.at, at(300_000));
}

#[test]
fn the_noise_forgets_as_often_as_the_closest_of_five_groups_come() {
    // Groups are 10 ms apart, then 30 ms each. No delay varies, so that only alpha moves the noise;
    // the first distance counts for five groups.
    let mut arrivals = Arrivals::new(Filtering::read(&params()));
    let mut sent = 0;
    for apart in [0, 10, 30, 30, 30, 30, 30, 30] {
        sent += 1_000 * apart;
        arrivals.packet(&observed(sent, sent + 20_000));
    }
    close(arrivals.filter.noise, 50.0 * 0.99_f64.powf((5.0 * 10.0 + 30.0) * 30.0 / 1e3));
}

#[test]
fn over_use_is_beyond_the_threshold_for_longer_than_10_ms_and_in_two_groups() {
    let usage = |gradient_ms: f64, apart_ms: f64, groups: u64| {
        let mut letter = detector(1.0);
        for n in 0..groups {
            letter.estimated(&arrival::Estimate { apart_ms, ..estimate(gradient_ms, n) });
        }
        letter.usage()
    };
    // An estimate at the threshold is not beyond it.
    assert_eq!([usage(12.5, 8.0, 9), usage(-12.5, 8.0, 9)], [Usage::Normal; 2]);
    // Half of the first group's time counts: 2 + 4 + 4 ms are no more than 10 ms, 2.25 + 4.5 + 4.5
    // are.
    assert_eq!([usage(13.0, 4.0, 3), usage(13.0, 4.0, 4)], [Usage::Normal, Usage::Over]);
    assert_eq!([usage(13.0, 4.5, 2), usage(13.0, 4.5, 3)], [Usage::Normal, Usage::Over]);
    assert_eq!([usage(13.0, 30.0, 1), usage(13.0, 30.0, 2)], [Usage::Normal, Usage::Over]);
}

#[test]
fn an_estimate_15_ms_beyond_the_threshold_still_moves_it() {
    let mut letter = detector(1.0);
    letter.estimated(&estimate(27.5, 0));
    letter.estimated(&estimate(27.5, 10));
    close(letter.threshold_ms(), 12.5 + 0.01 * 15.0 * 10.0);
}

#[test]
fn the_loss_bound_moves_after_20_packets() {
    let after = |packets: usize| {
        let mut bound = LossBound::new(&params(), 1e6);
        let reported: Vec<Observed> = (0..10).map(|n| observed(n, n)).collect();
        for (now_ms, packets) in [(100, 10), (300, packets - 10)] {
            let (now, packets) = (at(1_000 * now_ms), &reported[..packets]);
            let round_trip = Duration::from_millis(100);
            let feedback = Feedback { now, made: now, round_trip, packets };
            bound.on_feedback(&feedback, &video(1e6));
        }
        bound.rate
    };
    close(after(19), 1e6);
    close(after(20), 1.05e6);
}
