//! Tests of the equations of RFC 8698; the expected numbers are worked by hand.

use super::super::Observed;
use super::*;
use packet::Duration;

fn settings() -> Settings {
    Settings::read(&Params::defaults(FIELDS))
}

/// A video with RMIN, RMAX, FPS and DELTA of RFC 8698 figure 3.
fn video(start: f64) -> Video {
    let feedback = Duration::from_millis(100);
    Video { least: 150e3, most: 1.5e6, start, frame_rate: 30.0, feedback, packet: 1_200 }
}

fn nada(start: f64) -> Nada {
    Nada::new(settings(), video(start))
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-6), "{found}, not {expected}");
}

#[test]
fn equation_1_warps_above_the_threshold() {
    let warp = |ms: f64| 1e3 * settings().observing.warp(ms / 1e3);
    close(warp(49.0), 49.0);
    close(warp(50.0), 50.0);
    // At 150 ms the warped delay is 50 exp(-0.5 (150 - 50) / 50) = 50 / e ms.
    close(warp(150.0), 50.0 / std::f64::consts::E);
    close(warp(100.0), 50.0 * (-0.5_f64).exp());
}

#[test]
fn equation_2_squares_shares_of_losses_and_marks() {
    // The signal is 20 + 2 (0.03 / 0.01)^2 + 10 (0.02 / 0.01)^2 ms.
    close(settings().signal(0.020, 0.03, 0.02), 0.020 + 0.018 + 0.040);
    // Losses of 10 % would add 1 s, more than the bound of 0.5 s.
    close(settings().signal(0.020, 0.0, 0.1), 0.5);
}

#[test]
fn equations_3_and_4_ramp_up() {
    // gamma is 50 / (100 + 100 + 120) = 0.15625; with a round trip of 10 s it is 50 / 10,220.
    let mut sender = nada(150e3);
    sender.ramp_up(0.1, 400e3);
    close(sender.rate, 400e3 * 1.15625);
    sender.ramp_up(10.0, 460e3);
    close(sender.rate, 400e3 * 1.15625); // 462,250 is less: the rate never falls here
    // GAMMA_MAX of 0.1 bounds the step.
    let mut sender = nada(150e3);
    sender.settings.gamma_max = 0.1;
    sender.ramp_up(0.0, 400e3);
    close(sender.rate, 440e3);
}

#[test]
fn equations_5_to_7_follow_the_signal() {
    // x_offset = 40 - 10 * 1500 / 500 = 10 ms, x_diff = 40 - 35 = 5 ms:
    // 1 - 0.5 (100/500)(10/500) - 0.5 * 2 (5/500) = 1 - 0.002 - 0.01.
    let mut sender = nada(500e3);
    sender.x_prev = 0.035;
    sender.follow(0.040, 0.1);
    close(sender.rate, 500e3 * 0.988);
    // In equilibrium nothing moves: x = 10 * 1500 / 500.
    let mut sender = nada(500e3);
    sender.x_prev = 0.030;
    sender.follow(0.030, 0.1);
    close(sender.rate, 500e3);
}

#[test]
fn equations_11_to_14_share_the_senders_buffer() {
    let rates = nada(500e3).rates(500);
    // 0.1 * 8 * 500 * 30 = 12 kbit/s, less than 5 % of the rate, 25 kbit/s.
    assert_eq!(rates, Rates { encoder: 488e3, pacer: 512e3 });
    assert_eq!(nada(500e3).rates(50_000), Rates { encoder: 475e3, pacer: 525e3 });
    assert_eq!(nada(1.5e6).rates(50_000).pacer, 1.5e6);
    assert_eq!(nada(150e3).rates(50_000).encoder, 150e3);
}

/// Reports packets sent every 10 ms from `from` ms on, each with a one-way delay of `one_way` ms.
fn feed_back(sender: &mut Nada, from: u64, one_way: u64, fates: &[Fate]) {
    let observed = |(i, fate): (usize, &Fate)| {
        let sent = at(from + 10 * i as u64);
        let arrived = (*fate != Fate::Lost).then(|| sent + Duration::from_millis(one_way));
        Observed { bytes: 1_000, sent, arrived, marked: *fate == Fate::Marked }
    };
    let packets: Vec<Observed> = fates.iter().enumerate().map(observed).collect();
    let made = packets.last().and_then(|last| last.arrived).expect("the last one arrives");
    let now = made + Duration::from_millis(20);
    let round_trip = Duration::from_millis(one_way + 20);
    sender.on_feedback(&Feedback { now, made, round_trip, packets: &packets });
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Arrived,
    Marked,
    Lost,
}
use Fate::{Arrived, Lost, Marked};

#[test]
fn it_ramps_up_on_what_arrived_within_the_window() {
    // Ten packets of 8,000 bits within 500 ms: 160 kbit/s. With a round trip of 40 ms the rate
    // becomes 1 + 50 / (40 + 100 + 120) times that.
    let mut sender = nada(150e3);
    feed_back(&mut sender, 0, 20, &[Arrived; 10]);
    close(sender.rate, 160e3 * (1.0 + 50.0 / 260.0));
}

#[test]
fn a_queue_ends_the_ramp_up_until_the_window_has_passed() {
    let mut sender = nada(500e3);
    feed_back(&mut sender, 0, 20, &[Arrived; 10]);
    // The queue is 60 ms; the smallest of 15 delays is still 0 (five are of packets sent before).
    feed_back(&mut sender, 100, 80, &[Arrived; 10]);
    assert!(!sender.observer.may_ramp_up());
    close(sender.observer.warped_delay(), 0.0);
    feed_back(&mut sender, 200, 80, &[Arrived; 10]);
    close(sender.observer.warped_delay(), 0.060); // no loss: not warped
    // An empty queue for more than 500 ms.
    feed_back(&mut sender, 300, 20, &[Arrived; 60]);
    assert!(sender.observer.may_ramp_up());
}

#[test]
fn shares_of_losses_and_marks_are_smoothed_by_packet() {
    // Of 4 packets the second is lost and the third marked. After the third: 1 of 3 lost, 1 of 3
    // marked; after the fourth: 1 of 4 each.
    let mut sender = nada(500e3);
    feed_back(&mut sender, 0, 20, &[Arrived, Lost, Marked, Arrived]);
    let smoothed = 0.9 * (0.1 / 3.0) + 0.1 / 4.0;
    close(sender.observer.p_loss, smoothed);
    close(sender.observer.p_mark, smoothed);
    assert!(!sender.observer.may_ramp_up());
}

#[test]
fn losses_are_past_after_seven_mean_intervals() {
    // 20 packets, then a loss: one interval of 20, so that 140 packets later it is past.
    let mut fates = vec![Arrived; 20];
    fates.extend([Lost, Arrived]);
    let mut sender = nada(500e3);
    feed_back(&mut sender, 0, 20, &fates);
    let warped = 50.0 * (-0.5_f64 * 0.2).exp() / 1e3;
    feed_back(&mut sender, 220, 80, &[Arrived; 138]);
    close(sender.observer.warped_delay(), warped); // 60 ms; the 140th packet
    feed_back(&mut sender, 1_600, 80, &[Arrived]);
    close(sender.observer.warped_delay(), 0.060);
}

#[test]
fn losses_of_one_round_trip_are_one_event() {
    // Two losses 10 ms apart within a round trip of 40 ms, a third one 60 ms later.
    let mut sender = nada(500e3);
    feed_back(&mut sender, 0, 20, &[Arrived; 10]);
    feed_back(
        &mut sender,
        100,
        20,
        &[Lost, Lost, Arrived, Arrived, Arrived, Arrived, Lost, Arrived],
    );
    // The closed intervals have 6 packets, from the first loss to the third one, and 10 before:
    // their mean is 8.
    feed_back(&mut sender, 180, 80, &[Arrived; 54]); // the open interval has 56 = 7 * 8 packets
    close(sender.observer.warped_delay(), 50.0 * (-0.5_f64 * 0.2).exp() / 1e3);
    feed_back(&mut sender, 720, 80, &[Arrived]);
    close(sender.observer.warped_delay(), 0.060);
}
