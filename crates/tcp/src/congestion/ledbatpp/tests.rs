use super::super::testing::{self, MSS, Path, ack_sample};
use super::*;

impl Default for LedbatPp {
    fn default() -> Self {
        LedbatPp::new(Settings::read(&Params::defaults(FIELDS)))
    }
}

fn ms(x: u64) -> Duration {
    Duration::from_millis(x)
}

/// A flow in congestion avoidance with this base round-trip time, ms, and this window.
fn avoiding(base: u64, segments: u64) -> (LedbatPp, Window) {
    let cwnd = segments * MSS;
    let win = Window { cwnd, ssthresh: cwnd, mss: MSS as u16, ..Window::default() };
    let due = Some(Instant::NEVER);
    let mut ledbat = LedbatPp { phase: Phase::Avoid, due, ..LedbatPp::default() };
    ledbat.delays.update(ms(base), Instant::ZERO);
    (ledbat, win)
}

/// Acknowledges a whole window at once, with this round-trip time, ms. Returns the window,
/// segments.
fn trip(ledbat: &mut LedbatPp, win: &mut Window, rtt: u64) -> f64 {
    ledbat.delays.current = [ms(rtt); CURRENT];
    let ack = testing::AckSample { rtt: Some(ms(rtt)), ..ack_sample(win.cwnd) };
    ledbat.on_ack(win, &ack);
    (win.cwnd as f64 + ledbat.rest) / MSS as f64
}

#[test]
fn the_gain_is_a_sixteenth_to_one() {
    for (base, parts) in
        [(1, 16.0), (7, 16.0), (8, 15.0), (20, 6.0), (60, 2.0), (120, 1.0), (200, 1.0)]
    {
        let (ledbat, _) = avoiding(base, 10);
        assert_eq!(ledbat.settings.gain(ledbat.delays.base()), 1.0 / parts, "{base} ms");
    }
}

#[test]
fn a_round_trip_adds_the_gain_below_the_target_and_takes_the_excess_above() {
    // Base of 20 ms: a sixth of a segment per round trip up to 60 ms of queueing delay; 6 ms more
    // take a tenth of the window.
    for (rtt, window) in [(20, 100.0 + 1.0 / 6.0), (80, 100.0 + 1.0 / 6.0), (86, 90.0 + 1.0 / 6.0)]
    {
        let (mut ledbat, mut win) = avoiding(20, 100);
        let seen = trip(&mut ledbat, &mut win, rtt);
        assert!((seen - window).abs() < 1e-9, "{rtt} ms: {seen}");
    }
    // A round trip takes at most half of the window and leaves at least two segments.
    let (mut ledbat, mut win) = avoiding(20, 100);
    assert_eq!(trip(&mut ledbat, &mut win, 1_000), 50.0);
    let (mut ledbat, mut win) = avoiding(20, 3);
    assert_eq!(trip(&mut ledbat, &mut win, 1_000), 2.0);
}

#[test]
fn an_unused_window_shrinks_by_an_excess_and_does_not_grow() {
    for (rtt, window) in [(20, 100.0), (86, 90.0 + 1.0 / 6.0)] {
        let (mut ledbat, mut win) = avoiding(20, 100);
        ledbat.delays.current = [ms(rtt); CURRENT];
        let unused = testing::AckSample { window_limited: false, ..ack_sample(win.cwnd) };
        ledbat.on_ack(&mut win, &unused);
        let seen = (win.cwnd as f64 + ledbat.rest) / MSS as f64;
        assert!((seen - window).abs() < 1e-9, "{rtt} ms: {seen}");
    }
}

#[test]
fn the_first_slow_start_ends_beyond_three_quarters_of_the_target() {
    // Section 4.1: "exceeds 3/4 of the target", 45 ms above the base of 20 ms.
    for (rtt, phase) in [(65, Phase::Start), (66, Phase::Avoid)] {
        let (mut ledbat, mut win) = avoiding(20, 10);
        (ledbat.phase, win.ssthresh) = (Phase::Start, u64::MAX);
        trip(&mut ledbat, &mut win, rtt);
        assert_eq!(ledbat.phase, phase, "{rtt} ms");
    }
}

#[test]
fn slow_start_keeps_the_parts_of_a_byte() {
    // Base of 20 ms: a sixth of each acknowledged segment, three times 166.67 B.
    let (mut ledbat, mut win) = avoiding(20, 10);
    (ledbat.phase, win.ssthresh) = (Phase::Again, u64::MAX);
    (0..3).for_each(|_| ledbat.on_ack(&mut win, &ack_sample(MSS)));
    assert!((win.cwnd as f64 + ledbat.rest - 10_500.0).abs() < 1e-6, "{}", win.cwnd);
}

#[test]
fn the_handshake_reports_the_first_base() {
    for (srtt, base) in [(50, ms(50)), (0, NONE)] {
        let (mut ledbat, mut win) = (LedbatPp::default(), avoiding(20, 10).1);
        ledbat.on_open(&mut win, ms(srtt), Instant::ZERO);
        assert_eq!((ledbat.delays.base(), win.cwnd), (base, 2 * MSS));
    }
}

#[test]
fn the_queue_is_the_least_of_four_round_trips_over_the_least_of_ten_minutes() {
    let (mut ledbat, _) = avoiding(50, 10);
    let delays = &mut ledbat.delays;
    let at = |s| Instant::ZERO + Duration::from_secs(s);
    [90, 70, 80, 100].into_iter().for_each(|rtt| delays.update(ms(rtt), at(1)));
    assert_eq!(delays.queueing(), ms(20));
    delays.update(ms(60), at(2));
    assert_eq!(delays.queueing(), ms(10));
    (1..10).for_each(|minute| delays.update(ms(75), at(60 * minute)));
    assert_eq!(delays.base(), ms(50));
    delays.update(ms(75), at(600));
    assert_eq!((delays.base(), delays.queueing()), (ms(75), ms(0)));
}

#[test]
fn the_first_window_is_two_segments_and_slow_start_ends_at_three_quarters_of_the_target() {
    let mut path = Path::new(LedbatPp::default(), 20.0, 120, 10_000_000);
    assert_eq!(path.win.cwnd, 2 * MSS);
    assert!(path.run_until(30.0, |path| path.control.phase == Phase::Avoid));
    // The window is that of the path, 300 segments, and of a queue of 45 ms, 112, and at most twice
    // that, since the delay is seen a round trip later.
    assert!((412..=830).contains(&(path.win.cwnd / MSS)), "{}", path.win.cwnd);
    assert_eq!(path.lost, 0);
}

#[test]
fn a_slowdown_takes_two_round_trips_and_a_tenth_of_the_time() {
    let mut path = Path::new(LedbatPp::default(), 10.0, 60, 10_000_000);
    let slow = |path: &Path<LedbatPp>| matches!(path.control.phase, Phase::Slowdown(_));
    assert!(path.run_until(60.0, slow));
    let mut shares = Vec::new();
    for _ in 0..3 {
        let (began, goal) = (path.now, path.win.ssthresh);
        assert_eq!(path.win.cwnd, 2 * MSS);
        assert!(path.run_until(5.0, |path| path.control.phase == Phase::Ramp));
        let frozen = path.now.since(began).secs_f64();
        assert!((0.12..0.35).contains(&frozen), "{frozen}");
        assert!(path.run_until(20.0, |path| path.control.phase == Phase::Avoid));
        assert_eq!(path.win.cwnd, goal);
        let slowed = path.now.since(began).secs_f64();
        assert!(path.run_until(90.0, slow));
        shares.push(slowed / path.now.since(began).secs_f64());
    }
    assert!(shares.iter().all(|share| (share - 0.1).abs() < 0.005), "{shares:?}");
}

#[test]
fn a_loss_in_a_slowdown_halves_the_window_before_and_ends_it() {
    let (mut ledbat, mut win) = avoiding(60, 40);
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let acked_at = |ms| testing::AckSample { now: at(ms), ..ack_sample(MSS) };
    ledbat.due = Some(at(1_000));
    ledbat.on_ack(&mut win, &acked_at(1_000));
    assert_eq!((win.cwnd, win.ssthresh), (2 * MSS, 40 * MSS));
    ledbat.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(1_100));
    assert_eq!((win.ssthresh, ledbat.phase), (20 * MSS, Phase::Avoid));
    ledbat.on_ack(&mut win, &acked_at(1_200));
    assert_eq!(ledbat.due, Some(at(1_200 + 9 * 200)));
}

#[test]
fn alone_it_fills_the_line_but_for_its_slowdowns_with_60_ms_of_queue() {
    let mut path = Path::new(LedbatPp::default(), 10.0, 60, 10_000_000);
    path.run(60.0);
    let (used, trips) = path.measure(200.0);
    assert!((0.9..1.0).contains(&used), "{used}");
    assert!((1.6..2.2).contains(&trips), "{trips} round trips");
    assert_eq!(path.lost, 0);
}
