use packet::Duration;

impl Default for Cubic {
    fn default() -> Self {
        Cubic::new(Settings::read(&Params::defaults(FIELDS)), HyStart::default().into())
    }
}

use super::*;
use crate::congestion::testing::{self, MSS, Path};

fn ms(t: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(t)
}

/// A control after congestion at this window, in segments, with a smallest round-trip time of 100
/// ms; and its window, equal to the threshold.
fn after_loss(window: u64) -> (Cubic, Window) {
    let mut cubic = Cubic { delay_min: 100_000, ..Cubic::default() };
    let mut win =
        Window { cwnd: window * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() };
    cubic.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
    win.cwnd = win.ssthresh;
    (cubic, win)
}

/// Acknowledges a whole window at this time, ms. Returns the window after it, segments.
fn window_acknowledged(cubic: &mut Cubic, win: &mut Window, at: u64) -> u64 {
    let ack = testing::AckSample { now: ms(at), ..testing::ack_sample(win.cwnd) };
    cubic.on_ack(win, &ack);
    win.cwnd / MSS
}

#[test]
fn a_small_window_regains_the_old_one_at_once() {
    // 10 x 717/1024 = 7. K = cube_root(2^40/410 x 3) = 2003 of 1/1024 s, two seconds: but
    // - at 0 ms, t = 102 (a round trip later): 410 x 1901^3 >> 40 = 2, the target 8, cnt = 7/1;
    // - at 100 ms, t = 204: 410 x 1799^3 >> 40 = 2, the target 8 = cwnd, cnt = 800;
    // - at 200 ms, t = 307: 410 x 1696^3 >> 40 = 1, the target 9, cnt = 8/1: the 8 counted before grow
    //   the window by one and the 8 acknowledged by another.
    let (mut cubic, mut win) = after_loss(10);
    assert_eq!(win.ssthresh, 7 * MSS);
    assert_eq!(window_acknowledged(&mut cubic, &mut win, 1_000), 8);
    let epoch = cubic.curve.epoch.expect("congestion avoidance");
    assert_eq!((epoch.origin, epoch.k, epoch.reno, cubic.curve.count), (10, 2_003, 7, 7));
    assert_eq!(window_acknowledged(&mut cubic, &mut win, 1_100), 8);
    assert_eq!(cubic.curve.count, 800);
    assert_eq!(window_acknowledged(&mut cubic, &mut win, 1_200), 10);
}

#[test]
fn reno_s_equal_never_grows_faster_than_nine_seventeenths() {
    // At a window of 20, 20 x 15 >> 3 = 37 acknowledged segments grow the equivalent Reno by one,
    // above the old window of 10 as below it. 75 grow it by two; to reach 22, the window grows by
    // one for every 20/2 segments.
    let mut curve = Curve { count: 2_000, last_max: 10, acked: 75, ..Curve::default() };
    let mut epoch = Epoch { start: 0, origin: 20, k: 0, reno: 20 };
    curve.keep_up_with_reno(&mut epoch, 20, 15);
    assert_eq!((epoch.reno, curve.acked, curve.count), (22, 1, 10));
    // 37 acknowledged segments are not enough: Linux needs more than 37.
    curve.acked = 37;
    curve.keep_up_with_reno(&mut epoch, 20, 15);
    assert_eq!((epoch.reno, curve.acked), (22, 37));
}

#[test]
fn the_count_is_computed_anew_with_a_new_window_or_after_31_jiffies() {
    let (mut cubic, mut win) = after_loss(100);
    win.cwnd = 99 * MSS;
    let mut counts = Vec::new();
    for at in [1_000, 1_000, 1_031, 1_032] {
        let ack = testing::AckSample { now: ms(at), ..testing::ack_sample(0) };
        cubic.on_ack(&mut win, &testing::AckSample { segments: 1, ..ack });
        counts.push((cubic.curve.last_time, cubic.curve.acked));
    }
    assert_eq!(counts, [(1_000, 1), (1_000, 2), (1_000, 3), (1_032, 4)]);
}

#[test]
fn the_first_growth_is_a_twentieth_per_round_trip() {
    let mut cubic = Cubic { delay_min: 100_000, ..Cubic::default() };
    let mut win =
        Window { cwnd: 100 * MSS, ssthresh: 100 * MSS, mss: MSS as u16, ..Window::default() };
    assert_eq!(window_acknowledged(&mut cubic, &mut win, 1_000), 105);
    assert_eq!(cubic.curve.count, 20);
}

#[test]
fn congestion_leaves_whole_segments() {
    // 100 x 717/1024 = 70.02; 80 < 100: 80 x 1741/2048 = 68.01, 80 x 717/1024 = 56.02.
    let (mut cubic, mut win) = after_loss(100);
    assert_eq!((win.ssthresh, cubic.curve.last_max), (70 * MSS, 100));
    win.cwnd = 80 * MSS;
    cubic.on_congestion(&mut win, &Flight::default(), Cause::Mark, Instant::ZERO);
    assert_eq!((win.ssthresh, cubic.curve.last_max), (56 * MSS, 68));
    // 4 x 717/1024 = 2.8, rounded down to 2; the minimum is 2.
    for (window, left) in [(4, 2), (3, 2), (1, 2)] {
        win.cwnd = window * MSS;
        cubic.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, left * MSS);
    }
}

#[test]
fn a_timeout_forgets_the_curve_and_searches_again() {
    let (mut cubic, mut win) = after_loss(100);
    window_acknowledged(&mut cubic, &mut win, 1_000);
    cubic.on_congestion(&mut win, &Flight::default(), Cause::Timeout, ms(2_000));
    cubic.on_timeout(&win, &Flight::default(), ms(2_000));
    assert_eq!((cubic.curve.last_max, cubic.delay_min), (0, 0));
    assert!(cubic.curve.epoch.is_none());
}

#[test]
fn a_pause_is_no_time_on_the_curve() {
    let (mut cubic, mut win) = after_loss(100);
    window_acknowledged(&mut cubic, &mut win, 1_000);
    cubic.on_tx_start(&mut win, ms(1_200), true, ms(9_000));
    let start = |cubic: &Cubic| cubic.curve.epoch.expect("congestion avoidance").start;
    assert_eq!(start(&cubic), 8_800);
    cubic.on_tx_start(&mut win, ms(0), true, ms(9_100));
    assert_eq!(start(&cubic), 9_100);
}

#[test]
fn round_trips_of_the_first_second_of_an_epoch_do_not_count() {
    let (mut cubic, mut win) = after_loss(100);
    window_acknowledged(&mut cubic, &mut win, 1_000);
    for (at, least) in [(1_999, 100_000), (2_000, 50_000)] {
        let rtt = Some(Duration::from_micros(50_000));
        cubic.on_ack(&mut win, &testing::AckSample { now: ms(at), rtt, ..testing::ack_sample(0) });
        assert_eq!(cubic.delay_min, least, "at {at} ms");
    }
}

#[test]
fn cube_roots_are_good_to_a_fifth_of_a_per_cent() {
    // 8045207031: the six leading bits are 59, 248 + 10 << 9 >> 6 = 2064, (2 x 2064 + 1889) x 341 >> 10.
    assert_eq!(cube_root(Cubic::default().settings.cube_factor * 3), 2_003);
    assert_eq!([0, 1, 8, 27, 63].map(cube_root), [0, 1, 2, 3, 4]);
    assert_eq!([64, 127, 1_000, 4_096, 1_000_000_000].map(cube_root), [4, 5, 10, 16, 1_000]);
    for bits in 30..60 {
        let exact = ((1u64 << bits) as f64).powf(1.0 / 3.0);
        let off = f64::from(cube_root(1 << bits)) / exact - 1.0;
        assert!(off.abs() < 0.005, "2^{bits}: {off}");
    }
}

#[test]
fn slow_start_ends_with_the_path_about_full() {
    // 20 Mbit/s, 100 ms, a queue of 16 BDP. Acknowledgements every 0.4 ms make a train. It has
    // lasted 50.5 ms, half of 100 ms and 1 ms, after 127 segments of the round, half a BDP; twice
    // as many segments are then in flight.
    let mut path = Path::new(Cubic::default(), 20.0, 100, 4_000_000);
    assert!(path.run_until(20.0, |path| path.win.ssthresh < u64::MAX));
    assert_eq!(path.lost, 0);
    let windows = path.win.cwnd as f64 / path.bdp();
    assert!((0.5..1.2).contains(&windows), "{windows}");
}

#[test]
fn nothing_grows_in_recovery_or_unused() {
    use crate::congestion::control::CaState;
    let (mut cubic, mut win) = after_loss(100);
    for (ca_state, window_limited) in
        [(CaState::Recovery, true), (CaState::Cwr, true), (CaState::Open, false)]
    {
        let ack = testing::AckSample { ca_state, window_limited, ..testing::ack_sample(100 * MSS) };
        cubic.on_ack(&mut win, &ack);
        assert_eq!(win.cwnd, 70 * MSS);
    }
}

#[test]
fn hystart_looks_at_slow_start_alone() {
    // cubictcp_acked: if (!ca->found && tcp_in_slow_start(tp) && hystart), with tcp_in_slow_start:
    // snd_cwnd < snd_ssthresh. Ten samples are of 200 ms where the smallest was 100 ms.
    let rises = |cubic: &mut Cubic, win: &mut Window| {
        for i in 1..=10 {
            let rtt = Some(Duration::from_millis(200));
            let ack = testing::ack_sample(MSS);
            let ack = testing::AckSample { now: ms(10 * i), rtt, window_limited: false, ..ack };
            cubic.on_ack(win, &ack);
        }
        win.ssthresh / MSS
    };
    let window_of = |cwnd, ssthresh| Window {
        cwnd: cwnd * MSS,
        ssthresh: ssthresh * MSS,
        mss: MSS as u16,
        ..Window::default()
    };
    for (on, ssthresh, then) in [(true, 1_000, 20), (false, 1_000, 1_000), (true, 10, 10)] {
        let mut cubic = Cubic { delay_min: 100_000, ..Cubic::default() };
        cubic.exit = if on { HyStart::default().into() } else { Exit::Never };
        assert_eq!(rises(&mut cubic, &mut window_of(20, ssthresh)), then, "{on} {ssthresh}");
    }
    // At the threshold HyStart does not run; it runs when a pause has taken the window below.
    let mut cubic = Cubic { delay_min: 100_000, ..Cubic::default() };
    assert_eq!(rises(&mut cubic, &mut window_of(20, 20)), 20);
    assert_eq!(rises(&mut cubic, &mut window_of(16, 20)), 16);
}
