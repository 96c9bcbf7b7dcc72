use super::super::marking::Path;
use super::super::testing::{MSS, ack_sample};
use super::*;

impl Default for Prague {
    fn default() -> Self {
        Prague::new(Settings::read(&Params::defaults(FIELDS)))
    }
}

fn path(rtt_ms: u64) -> Path {
    Path::new(Box::new(Prague::default()), rtt_ms, 3)
}

#[test]
fn at_random_marks_the_window_is_a_multiple_of_one_over_p() {
    // Derived: every W + 1/p acknowledgements (a round trip, then until the next mark) the window
    // loses W p/2, and every unmarked one adds 1/W. With x = W p, x^2 = 2 (1 - p) (x + 1): x is
    // 2.73 for small p, and 2 if a mark is certain.
    for p in [0.02, 0.05, 0.1] {
        let seen = path(40).run(1_000_000, |_| p);
        let q = 1.0f64 - p;
        let law = (q + (q * q + 2.0 * q).sqrt()) / p;
        assert!((seen.window / law - 1.0).abs() < 0.10, "p {p}: {seen:?}, law {law}");
    }
}

#[test]
fn below_the_reference_the_rate_does_not_depend_on_the_round_trip() {
    // The window is in proportion to the round trip.
    let rate = |rtt| path(rtt).run(1_000_000, |_| 0.02).window / rtt as f64;
    let reference = rate(25);
    for rtt in [5, 10, 15] {
        let ratio = rate(rtt) / reference;
        assert!((0.85..1.15).contains(&ratio), "{rtt} ms: {ratio}");
    }
    assert!(rate(50) < 0.6 * reference, "above, as every control's: {}", rate(50));
}

#[test]
fn the_first_mark_halves_the_window_and_ends_slow_start() {
    let (mut prague, mut win) = (Prague::default(), Window::default());
    (win.mss, win.cwnd, win.ssthresh) = (1_000, 10_000, u64::MAX);
    (0..30).for_each(|_| prague.on_ack(&mut win, &ack_sample(2_000)));
    assert_eq!(win.cwnd, 70_000);
    let flight = Flight { una: 70_001, max: 140_001, ..Flight::default() };
    let ack = |marked, acked| AckSample { flight, marked, ..ack_sample(acked) };
    prague.on_ack(&mut win, &ack(MSS, MSS));
    assert_eq!((win.cwnd, win.ssthresh), (69_000, 69_000), "a segment per ACK");
    // Down to half, plus what unmarked bytes add meanwhile: a segment in 18 ACKs.
    (0..33).for_each(|_| prague.on_ack(&mut win, &ack(0, 2_000)));
    assert_eq!((win.cwnd, win.ssthresh), (37_000, 37_000));
}

#[test]
fn marks_of_what_carried_no_data_lift_alpha_to_one_at_most() {
    // Linux's prague_update_alpha, PRAGUE_MAX_ALPHA: each round trip delivers a segment and reports forty marks.
    let (mut prague, mut win) = (Prague::default(), Window::default());
    (win.mss, win.cwnd, win.ssthresh) = (1_000, 20_000, 20_000);
    for round in 1..200u64 {
        let flight = Flight { una: 1_000 * round, max: 1_000 * round, ..Flight::default() };
        let now = Instant::from_nanos(100_000_000 * round);
        let ack = AckSample { flight, now, marked: 40 * MSS, ..ack_sample(MSS) };
        prague.on_ack(&mut win, &ack);
        assert!(prague.alpha <= 1.0, "round {round}: {}", prague.alpha);
    }
    assert!(prague.alpha > 0.9, "{}", prague.alpha);
}

#[test]
fn a_loss_halves_the_window_and_stops_its_growth_until_it_is_repaired() {
    let (mut prague, mut win) = (Prague::default(), Window::default());
    (win.mss, win.cwnd, win.ssthresh) = (1_000, 20_000, 20_000);
    let flight = Flight { una: 1, max: 20_001, ..Flight::default() };
    prague.on_congestion(&mut win, &flight, Cause::Loss, Instant::ZERO);
    let ca_state = AckSample { flight, ca_state: CaState::Recovery, ..ack_sample(2_000) };
    (0..15).for_each(|_| prague.on_ack(&mut win, &ca_state));
    assert_eq!((win.cwnd, win.ssthresh), (10_000, 10_000));
    let open = AckSample { flight, ..ack_sample(2_000) };
    (0..5).for_each(|_| prague.on_ack(&mut win, &open));
    assert_eq!(win.cwnd, 11_000, "a segment per window again");
    prague.undo(&mut win, false);
    (0..20).for_each(|_| prague.on_ack(&mut win, &AckSample { window_limited: false, ..ca_state }));
    assert_eq!(win.cwnd, 20_000);
}

#[test]
fn however_long_all_was_marked_one_unmarked_segment_lets_no_flood_go() {
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let floor = LEAST as f64 * MSS as f64;
    for cause in [Cause::Mark, Cause::Loss] {
        let mut prague = Prague { alpha: 1.0, marked_once: true, ..Prague::default() };
        let mut win = Window { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..Window::default() };
        for trip in 1..200 {
            prague.on_congestion(&mut win, &Flight::default(), cause, at(100 * trip));
            let all = AckSample { now: at(100 * trip), marked: MSS, ..ack_sample(MSS) };
            prague.on_ack(&mut win, &all);
        }
        assert_eq!((prague.window, win.cwnd), (floor, LEAST * MSS), "{cause:?}");
        prague.on_ack(&mut win, &AckSample { now: at(20_000), ..ack_sample(MSS) });
        assert!(prague.window <= floor + MSS as f64 / 2.0, "{}", prague.window);
        assert!(win.cwnd <= (LEAST + 1) * MSS, "{}", win.cwnd);
    }
}

#[test]
fn a_short_round_trip_with_marks_waits_for_the_virtual_one_to_end() {
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let old = Prague { alpha: 0.5, window: 20_000.0, rounds: 4, ..Prague::default() };
    let mut prague = Prague { marked_once: true, reduced: at(100), round_end: u64::MAX, ..old };
    let mut win = Window { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..Window::default() };
    let hear = |prague: &mut Prague, win: &mut Window, ms, marked| {
        prague.on_ack(win, &AckSample { now: at(ms), marked, ..ack_sample(1_000) });
        prague.window
    };
    prague.on_congestion(&mut win, &Flight::default(), Cause::Mark, at(121));
    assert_eq!(prague.window, 20_000.0);
    assert_eq!(hear(&mut prague, &mut win, 124, 1_000), 20_000.0);
    assert!(hear(&mut prague, &mut win, 126, 0) > 20_000.0, "unmarked bytes grow it");
    let cut = hear(&mut prague, &mut win, 127, 1_000);
    assert!((cut / 15_000.0 - 1.0).abs() < 0.01, "{cut}");
    assert_eq!(hear(&mut prague, &mut win, 160, 1_000), cut, "until the next mark");
    prague.on_congestion(&mut win, &Flight::default(), Cause::Mark, at(161));
    assert!(prague.window < 0.76 * cut);
}

#[test]
fn a_window_goes_out_per_round_trip() {
    let prague = Prague { window: 25_500.0, in_flight: 20_000, ..Prague::default() };
    let mut win = Window { mss: 1_000, cwnd: 26_000, ssthresh: 26_000, ..Window::default() };
    let rate = |prague: &Prague, win: &Window, ms| {
        prague.pacing_rate(win, &Flight::default(), Duration::from_millis(ms))
    };
    assert_eq!(rate(&prague, &win, 50), Some(510_000));
    win.ssthresh = u64::MAX;
    assert_eq!(rate(&prague, &win, 50), Some(1_020_000));
    assert_eq!(rate(&prague, &win, 0), None);
}

#[test]
fn a_short_round_trip_grows_the_window_by_its_share_four_round_trips_after_slow_start() {
    // tcp_prague.c: prague_ecn_shift 4, PRAGUE_RTT_TRANSITION 4. Half the virtual round trip of 25
    // ms gives a quarter of the growth; before a round-trip time is known it is applied in full.
    let prague = |rounds| Prague { rounds, ..Prague::default() };
    assert_eq!(prague(0).settings.g, 0.0625);
    for (rounds, us, share) in [
        (3, 12_500, 1.0),
        (4, 12_500, 0.25),
        (5, 12_500, 0.25),
        (4, 25_000, 1.0),
        (4, 50_000, 1.0),
        (4, 0, 1.0),
    ] {
        let seen = prague(rounds).share_of_increase(Duration::from_micros(us));
        assert_eq!(seen, share, "{rounds} rounds, {us} us");
    }
}

#[test]
fn after_a_pause_it_grows_from_the_window_it_is_left() {
    let mut prague = Prague { window: 20_000.0, ..Prague::default() };
    let mut win = Window { cwnd: 10_000, ssthresh: 5_000, mss: 1_000, ..Window::default() };
    prague.on_restart(&mut win, Duration::from_secs(1), Instant::ZERO);
    prague.on_ack(&mut win, &ack_sample(5_000));
    assert_eq!((prague.window, win.cwnd), (10_500.0, 11_000));
}
