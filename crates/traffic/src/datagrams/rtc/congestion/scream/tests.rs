//! Tests of the rules of RFC 8298; the expected numbers are worked by hand.

use super::media::Measured;
use super::window::Congestion;
use super::*;
use crate::datagrams::rtc::congestion::Observed;

fn video() -> Video {
    let feedback = Duration::from_millis(20);
    Video { least: 150e3, most: 1.5e6, start: 400e3, frame_rate: 30.0, feedback, packet: 1_000 }
}

fn scream() -> Scream {
    Scream::new(&Params::defaults(FIELDS), video())
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A packet of 1,000 B sent at `sent` ms with a one-way delay of `forward` ms; lost if that is
/// none.
fn observed(sent: u64, forward: Option<u64>) -> Observed {
    let arrived = forward.map(|forward| at(sent + forward));
    Observed { bytes: 1_000, sent: at(sent), arrived, marked: false }
}

/// Delivers a report at `now` ms, with a round-trip time of 100 ms.
fn feed_back(sender: &mut Scream, now: u64, packets: &[Observed]) {
    let round_trip = Duration::from_millis(100);
    sender.on_feedback(&Feedback { now: at(now), made: at(now), round_trip, packets });
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-6), "{found}, not {expected}");
}

#[test]
fn the_fast_increase_adds_what_is_acknowledged_if_the_window_is_used() {
    let mut sender = scream();
    (0..3).for_each(|_| sender.on_sent(1_000, at(0)));
    feed_back(&mut sender, 100, &[observed(0, Some(50))]);
    close(sender.window.cwnd, 4_000.0); // the window is used: 1.5 * 3,000 + 1,000 > 3,000
    close(sender.window.in_flight, 2_000.0);
    sender.window.cwnd = 5_000.0;
    feed_back(&mut sender, 120, &[observed(10, Some(50))]);
    close(sender.window.cwnd, 5_000.0); // the window is not used: 1.5 * 2,000 + 1,000 < 5,000
}

#[test]
fn the_window_follows_the_delay_as_in_ledbat() {
    let mut sender = scream();
    (0..20).for_each(|_| sender.on_sent(1_000, at(0)));
    sender.window.cwnd = 20_000.0;
    // A trend of 0.2 ends the fast increase. At half of the target: gain 1, off target 0.5.
    assert_eq!(sender.window.detect_congestion(0.05, 0.2, 2_000.0), Some(Congestion::Delay));
    close(sender.window.cwnd, 20_000.0 + 0.5 * 2_000.0 * 1_000.0 / 20_000.0);
    // At twice the target the window shrinks.
    sender.window.cwnd = 20_000.0;
    assert_eq!(sender.window.detect_congestion(0.2, 0.0, 2_000.0), None);
    close(sender.window.cwnd, 20_000.0 - 2_000.0 * 1_000.0 / 20_000.0);
    // The window is at most 1.1 of the most bytes in flight, and does not grow if it is not used.
    sender.window.cwnd = 40_000.0;
    sender.window.detect_congestion(0.0, 0.0, 2_000.0);
    close(sender.window.cwnd, 22_000.0);
    sender.window.in_flight = 1_000.0;
    sender.window.detect_congestion(0.0, 0.0, 2_000.0);
    close(sender.window.cwnd, 22_000.0);
}

#[test]
fn a_loss_leaves_80_percent_of_the_window_and_a_mark_90_once_a_round_trip() {
    let mut sender = scream();
    feed_back(&mut sender, 100, &[observed(0, Some(50))]);
    sender.window.cwnd = 20_000.0;
    feed_back(&mut sender, 120, &[observed(10, None), observed(20, Some(50))]);
    close(sender.window.cwnd, 16_000.0);
    close(sender.media.target, 360e3);
    close(sender.media.last_max, 400e3);
    assert!(!sender.window.fast_increase);
    (0..20).for_each(|_| sender.on_sent(1_000, at(130)));
    sender.window.detect_congestion(0.1, 0.0, 0.0);
    feed_back(&mut sender, 220, &[observed(30, None), observed(40, Some(150))]); // at the target
    // Within 100 ms the second loss belongs to the first congestion event.
    assert!(sender.window.cwnd > 15_999.0, "{}", sender.window.cwnd);
    sender.window.cwnd = 16_000.0;
    let marked = Observed { marked: true, ..observed(50, Some(50)) };
    feed_back(&mut sender, 240, &[marked]);
    close(sender.window.cwnd, 14_400.0);
    close(sender.media.target, 324e3);
    sender.window.cwnd = 3_100.0;
    feed_back(&mut sender, 400, &[observed(60, None), observed(70, Some(50))]);
    close(sender.window.cwnd, 3_000.0);
}

#[test]
fn the_fast_increase_resumes_after_5_s_without_a_trend() {
    let mut sender = scream();
    feed_back(&mut sender, 100, &[observed(0, None), observed(10, Some(50))]);
    feed_back(&mut sender, 5_099, &[observed(5_000, Some(50))]);
    assert!(!sender.window.fast_increase);
    feed_back(&mut sender, 5_100, &[observed(5_010, Some(50))]);
    assert!(sender.window.fast_increase);
}

#[test]
fn the_trend_is_the_average_times_the_autocorrelation() {
    let mut sender = scream();
    // A delay sample every 50 ms: first 0, then ten of half the target.
    feed_back(&mut sender, 100, &[observed(0, Some(50))]);
    (1..11).for_each(|n| feed_back(&mut sender, 100 + 50 * n, &[observed(50 * n, Some(100))]));
    let average = 0.5 * (1.0 - 0.9_f64.powi(10));
    // Ten zeros and ten halves: all are 0.25 from their mean; of 19 products 18 are positive.
    close(sender.window.trend, average * 17.0 / 20.0);
    // A sample is taken every 50 ms, not more often.
    let before = sender.window.trend;
    feed_back(&mut sender, 649, &[observed(600, Some(350))]);
    close(sender.window.trend, before);
    // An empty queue again: the trend ends, its memory fades by a hundredth each sample.
    let memory = sender.window.trend_mem();
    feed_back(&mut sender, 650, &[observed(600, Some(50))]);
    assert!(sender.window.trend < 0.99 * memory, "{}", sender.window.trend);
    close(sender.window.trend_mem(), 0.99 * memory);
}

#[test]
fn the_target_rises_beside_others_and_falls_again() {
    let mut sender = scream();
    // A steady delay of 200 ms has no variance, so that the target follows it.
    feed_back(&mut sender, 20, &[observed(0, Some(50))]);
    (1..300).for_each(|n| feed_back(&mut sender, 20 + 20 * n, &[observed(20 * n, Some(250))]));
    close(sender.window.target, 0.2);
    // With losses the target is 1.5 of the delay, and 0.4 s at most.
    sender.window.lossy(0.01);
    feed_back(&mut sender, 6_100, &[observed(6_050, Some(250))]);
    close(sender.window.target, 0.3);
    // Delays of 0 and 200 ms in turns have a variance of 1: the target falls by a tenth at a time.
    sender.window.lossy(0.0);
    let mut before = 0.0;
    for n in 0..200 {
        before = sender.window.target;
        let forward = if n % 2 == 0 { 50 } else { 250 };
        feed_back(&mut sender, 6_200 + 20 * n, &[observed(6_150 + 20 * n, Some(forward))]);
        if n == 100 {
            close(sender.window.target, (0.9 * before).max(0.1));
        }
    }
    close(before, 0.1);
}

#[test]
fn the_window_lets_a_packet_more_go_below_the_target_and_one_after_silence() {
    let mut sender = scream();
    (0..4).for_each(|ms| {
        assert_eq!(sender.opens(1_000), Instant::ZERO); // the window of 3,000 B and one packet more
        sender.on_sent(1_000, at(ms));
    });
    assert_eq!(sender.opens(1_000), at(203));
    sender.window.in_flight = 3_000.0;
    sender.window.qdelay = 0.11;
    assert_eq!(sender.opens(1_000), at(203));
    sender.window.in_flight = 2_000.0;
    assert_eq!(sender.opens(1_000), Instant::ZERO);
}

#[test]
fn packets_are_paced_by_the_window_a_round_trip() {
    let mut sender = scream();
    close(sender.rates(0).pacer, 50e3);
    feed_back(&mut sender, 100, &[observed(0, Some(50))]);
    sender.window.cwnd = 10_000.0;
    close(sender.rates(0).pacer, 800e3);
}

#[test]
fn the_rate_ramps_up_and_heeds_what_waits() {
    let measured = Measured { transmit: 900e3, acked: 1e6, media: 950e3 };
    let mut sender = scream();
    // Fast increase: 200 kbit/s a second, for 0.2 s.
    sender.media.change(measured, 0.0, &sender.window);
    close(sender.media.target, 440e3);
    // At the rate of the last congestion: a fifth of that growth.
    sender.media.last_max = sender.media.target;
    sender.media.change(measured, 0.0, &sender.window);
    close(sender.media.target, 448e3);
    // The growth in a second is at most half of the target.
    (sender.media.target, sender.media.last_max) = (200e3, 1.0);
    sender.media.change(measured, 0.0, &sender.window);
    close(sender.media.target, 220e3);
    // Without the fast increase the waiting data counts: 30 ms of it scale the rate by 0.95 as
    // well.
    sender.window.fast_increase = false;
    (sender.media.target, sender.media.last_max) = (800e3, 1.0);
    sender.media.change(measured, 30e3, &sender.window);
    close(sender.media.target, 840e3 * 0.95);
    close(sender.media.last_max, 840e3);
    sender.media.last_max = 1.0;
    // The rate falls to what is carried less what waits, and not below the least rate.
    sender.media.target = 800e3;
    sender.media.change(measured, 300e3, &sender.window);
    close(sender.media.target, 700e3 * 0.95);
    sender.media.change(measured, 2e6, &sender.window);
    close(sender.media.target, 150e3);
    // The rate is twice what is carried at most.
    let little = Measured { transmit: 100e3, acked: 90e3, media: 80e3 };
    let mut sender = scream();
    sender.media.change(little, 0.0, &sender.window);
    close(sender.media.target, 200e3);
}

#[test]
fn it_adjusts_every_200_ms_by_what_was_sent() {
    let mut sender = scream();
    sender.on_frame(0, at(0));
    (0..10).for_each(|_| sender.on_sent(1_000, at(10)));
    sender.on_frame(0, at(199));
    close(sender.media.target, 400e3);
    sender.on_frame(0, at(200)); // 80 kbit in 0.2 s: twice 400 kbit/s are not reached
    close(sender.media.target, 440e3);
}

#[test]
fn what_waited_for_a_second_is_given_up() {
    assert_eq!(scream().patience(), Duration::from_secs(1));
}

#[test]
fn growth_near_the_rate_of_the_last_congestion_is_slower() {
    // The scale is at least 0.2, where (4 (440 - 400) / 400)^2 is 0.16; (4 (480 - 400) / 400)^2 is
    // 0.64.
    let measured = Measured { transmit: 900e3, acked: 1e6, media: 950e3 };
    for (target, scale) in [(440e3, 0.2), (480e3, 0.64), (600e3, 1.0)] {
        let mut sender = scream();
        (sender.media.target, sender.media.last_max) = (target, 400e3);
        sender.media.change(measured, 0.0, &sender.window);
        close(sender.media.target, target + 40e3 * scale);
        // Without the fast increase, the step towards what is carried is scaled by that share.
        let mut sender = scream();
        sender.window.fast_increase = false;
        (sender.media.target, sender.media.last_max) = (target, 400e3);
        let little = Measured { transmit: target + 20e3, acked: 0.0, media: target };
        sender.media.change(little, 0.0, &sender.window);
        close(sender.media.target, target + 20e3 * scale);
    }
}

#[test]
fn a_trend_of_the_delay_slows_what_is_carried_and_bounds_the_rate() {
    // PRE_CONGESTION_GUARD of 0.1 and a trend of 0.5 leave 95 % of 800 kbit/s.
    let measured = Measured { transmit: 800e3, acked: 0.0, media: 800e3 };
    let mut sender = scream();
    (sender.window.fast_increase, sender.window.trend) = (false, 0.5);
    (sender.media.target, sender.media.last_max) = (900e3, 1.0);
    sender.media.change(measured, 0.0, &sender.window);
    close(sender.media.target, 760e3);
    // A queue of just 20 ms at the sender does not lower the target rate further; a longer one
    // does.
    for (queued, scale) in [(16e3, 1.0), (16.001e3, 0.95)] {
        let mut sender = scream();
        sender.window.fast_increase = false;
        (sender.media.target, sender.media.last_max) = (900e3, 1.0);
        sender.media.change(measured, queued, &sender.window);
        close(sender.media.target, (800e3 - queued) * scale);
    }
    // With a remembered trend of 0.5 the rate is at most one and a half of what is carried.
    let mut sender = scream();
    sender.window.remember_trend(0.5);
    sender.media.target = 1e6;
    let little = Measured { transmit: 300e3, acked: 0.0, media: 300e3 };
    sender.media.change(little, 0.0, &sender.window);
    close(sender.media.target, 450e3);
}

#[test]
fn the_rate_is_bounded_by_the_median_of_50_rates_of_the_encoder() {
    let measured = |media| Measured { transmit: 100e3, acked: 100e3, media };
    let mut sender = scream();
    // The median of 25 rates of 400 kbit/s and 25 of 200 is the larger of the two in the middle.
    for n in 0..50 {
        sender.media.target = 1.5e6;
        sender.media.change(measured(if n < 25 { 400e3 } else { 200e3 }), 0.0, &sender.window);
    }
    close(sender.media.target, 800e3);
    // The first of these rates has left the window.
    sender.media.target = 1.5e6;
    sender.media.change(measured(200e3), 0.0, &sender.window);
    close(sender.media.target, 400e3);
}

#[test]
fn what_the_encoder_made_was_sent_or_waits() {
    let mut sender = scream();
    sender.window.fast_increase = false;
    sender.media.last_max = 1.0;
    sender.on_frame(500, at(0));
    sender.on_frame(500, at(200));
    (0..10).for_each(|_| sender.on_sent(1_000, at(210)));
    // 80 kbit in 0.2 s were sent, and 2,000 B wait, 1,500 more than before: 400 kbit/s less 16
    // kbit are carried; 40 ms of a queue leave 95 % of them.
    sender.media.target = 400e3;
    sender.on_frame(2_000, at(400));
    close(sender.media.target, 384e3 * 0.95);
    // In the fast increase the rate is at most twice the encoder's, which is 340 kbit/s.
    let mut sender = scream();
    sender.on_frame(500, at(0));
    sender.on_frame(500, at(200));
    sender.on_sent(1_000, at(210));
    sender.media.target = 1e6;
    sender.on_frame(8_000, at(400)); // 1,000 B and 7,500 more: 340 kbit/s
    close(sender.media.target, 680e3);
}

#[test]
fn an_unused_window_does_not_grow_above_its_target_and_shrinks_below() {
    let grown = |in_flight: f64, qdelay: f64| {
        let mut sender = scream();
        (0..20).for_each(|_| sender.on_sent(1_000, at(0)));
        (sender.window.cwnd, sender.window.in_flight) = (20_000.0, in_flight);
        sender.window.fast_increase = false;
        sender.window.detect_congestion(qdelay, 0.0, 2_000.0);
        sender.window.cwnd - 20_000.0
    };
    // 1.25 * 14,400 B and what is acknowledged, 2,000 B, are just the window.
    close(grown(14_400.0, 0.05), 0.0);
    close(grown(14_408.0, 0.05), 50.0);
    close(grown(0.0, 0.2), -100.0);
}

#[test]
fn the_fast_increase_asks_for_a_used_window() {
    let grown = |in_flight: f64| {
        let mut sender = scream();
        (sender.window.cwnd, sender.window.in_flight) = (20_000.0, in_flight);
        sender.window.detect_congestion(0.0, 0.0, 2_000.0);
        sender.window.cwnd - 20_000.0
    };
    // 1.5 * 12,000 + 2,000 B are just the window.
    close(grown(12_000.0), 0.0);
    close(grown(12_002.0), 2_000.0);
}

#[test]
fn the_window_is_bounded_by_the_most_in_flight_of_5_s() {
    let bound = |ms| {
        let mut sender = scream();
        (0..10).for_each(|_| sender.on_sent(1_000, at(0)));
        sender.window.in_flight = 1_000.0;
        sender.on_sent(1_000, at(ms));
        (sender.window.cwnd, sender.window.fast_increase) = (40_000.0, false);
        sender.window.detect_congestion(0.0, 0.0, 0.0);
        sender.window.cwnd
    };
    close(bound(5_000), 11_000.0);
    close(bound(5_001), 3_000.0);
}

#[test]
fn a_round_trip_with_a_loss_counts_for_a_hundredth() {
    let mut sender = scream();
    // The first report begins a round; one within it is part of it.
    feed_back(&mut sender, 100, &[observed(0, Some(50))]);
    feed_back(&mut sender, 150, &[observed(10, None), observed(20, Some(50))]);
    close(sender.window.losses(), 0.0);
    feed_back(&mut sender, 200, &[observed(30, Some(50))]);
    close(sender.window.losses(), 0.01);
    feed_back(&mut sender, 300, &[observed(40, Some(50))]);
    close(sender.window.losses(), 0.0099);
}

#[test]
fn the_target_falls_to_half_where_the_delay_is_below_the_least_target() {
    // Half of 100 samples at 0 and half at 160 ms: a variance of 0.64 and, by the last 50 samples
    // of 0, a mean of 0: new is 80 ms, below the least target, and 0.5 of 400 ms is more.
    let mut sender = scream();
    sender.window.target = 0.4;
    for n in 0..100 {
        sender.window.target = 0.4;
        let forward = if n < 50 { 210 } else { 50 };
        if n == 0 {
            feed_back(&mut sender, 10, &[observed(0, Some(50))]);
        }
        feed_back(&mut sender, 20 + 20 * n, &[observed(20 * n, Some(forward))]);
    }
    close(sender.window.target, 0.2);
}
