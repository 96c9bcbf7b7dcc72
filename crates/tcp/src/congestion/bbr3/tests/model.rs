//! Tests of the model: bounds, samples, aggregated acknowledgements.

use super::*;

/// A control in this state in the middle of a connection over 1 MB/s and 100 ms.
fn modelled(state: State) -> (Bbr3, Window) {
    let win = Window { cwnd: 200 * MSS, mss: MSS as u16, ..Window::default() };
    let mut bbr = Bbr3 { state, ..Bbr3::default() };
    bbr.begin(&win, Instant::ZERO, Duration::from_millis(100));
    bbr.pipe.reached = true;
    bbr.trips.least = Some(Duration::from_millis(100));
    bbr.model.bw = 1e6;
    (bbr, win)
}

#[test]
fn bunched_acknowledgements_widen_the_window() {
    // Section 5.5.9: of 60,000 B acknowledged within 10 ms the rate delivers 10,000.
    let (mut bbr, mut win) = modelled(State::Cruise);
    bbr.sample.newly_acked = 1_000;
    bbr.now = Instant::from_secs_f64(1.0);
    bbr.update_aggregation(&win);
    assert_eq!(bbr.aggregation.extra(), 1_000);
    bbr.now = Instant::from_secs_f64(1.01);
    bbr.sample.newly_acked = 40_000;
    bbr.update_aggregation(&win);
    // The interval began again: 1,000 B of the 10,000 B expected had been acknowledged.
    assert_eq!(bbr.aggregation.extra(), 40_000);
    bbr.now = Instant::from_secs_f64(1.02);
    bbr.sample.newly_acked = 20_000;
    bbr.update_aggregation(&win);
    assert_eq!(bbr.aggregation.extra(), 50_000);
    bbr.set_cwnd(&mut win);
    assert_eq!(win.cwnd, 220_000);
    bbr.sample.newly_acked = 90_000;
    bbr.set_cwnd(&mut win);
    assert_eq!(win.cwnd, 250_000);
}

#[test]
fn bounds_cap_the_window_by_the_table() {
    // Section 5.6.1: the window is bounded by the long-term bound, or 0.85 of it, and by the
    // short-term one.
    for (state, shortterm, cwnd) in [
        (State::Startup, UNBOUNDED, 200_000),
        (State::Drain, UNBOUNDED, 200_000),
        (State::Down, UNBOUNDED, 120_000),
        (State::Refill, UNBOUNDED, 120_000),
        (State::Up, UNBOUNDED, 120_000),
        (State::Cruise, UNBOUNDED, 102_000),
        (State::Cruise, 90_000, 90_000),
        (State::Down, 1_000, 4_000),
        (State::ProbeRtt, UNBOUNDED, 50_000),
    ] {
        let (mut bbr, mut win) = modelled(state);
        bbr.model.inflight_longterm = 120_000;
        bbr.model.inflight_shortterm = shortterm;
        bbr.set_cwnd(&mut win);
        assert_eq!(win.cwnd, cwnd, "{state:?} {shortterm}");
        assert_eq!(win.ssthresh, cwnd, "slow start is over");
    }
}

#[test]
fn the_long_term_bound_grows_twice_as_fast_every_round() {
    // Section 5.3.3.5: the bound grows by 1, 2, 4 segments per window.
    let (mut bbr, win) = modelled(State::Up);
    bbr.model.inflight_longterm = 200_000;
    bbr.sample = Sample { window_limited: true, newly_acked: 50_000, ..Sample::default() };
    bbr.rounds.started = true;
    bbr.cycle.up_rounds = 0;
    bbr.steepen(&win);
    let mut grown = Vec::new();
    for _ in 0..3 {
        let before = bbr.model.inflight_longterm;
        for i in 0..4 {
            bbr.rounds.started = i == 3;
            let win = Window { cwnd: bbr.model.inflight_longterm, ..win };
            bbr.raise_long_term(&win);
        }
        grown.push((bbr.model.inflight_longterm - before) / MSS);
    }
    assert_eq!(grown[0], 1);
    assert!(grown[1] >= 1 && grown[2] >= 3, "{grown:?}");
    bbr.sample.window_limited = false;
    let before = bbr.model.inflight_longterm;
    bbr.raise_long_term(&win);
    assert_eq!(bbr.model.inflight_longterm, before);
}

#[test]
fn after_a_probe_that_lost_too_much_the_next_is_cautious() {
    // Section 5.3.3.6: Up ends when the bytes in flight reach the bound. Without loss, Refill
    // follows a round later, and the next Up goes on.
    let (mut bbr, mut win) = modelled(State::Up);
    let lost = Lost {
        now: Instant::from_secs_f64(1.0),
        bytes: 1_000,
        sent_in_flight: 130_000,
        lost: 3_000,
        total_delivered: 5_000_000,
        app_limited: false,
    };
    bbr.cycle.probe_sample = true;
    bbr.on_lost(&win, &lost);
    // 129,000 B before the segment with 2,000 B lost: (2,580 - 2,000)/0.98 B more.
    assert_eq!((bbr.state, bbr.model.inflight_longterm), (State::Down, 129_591));
    // A probe lowers the bound only once.
    bbr.on_lost(&win, &Lost { sent_in_flight: 50_000, ..lost });
    assert_eq!(bbr.model.inflight_longterm, 129_591);
    bbr.start_refill();
    bbr.start_up(&win);
    win.cwnd = 129_591;
    bbr.sample.in_flight = 129_000;
    bbr.check_up_done(&win);
    assert_eq!(bbr.state, State::Up);
    bbr.sample.in_flight = 130_000;
    bbr.check_up_done(&win);
    assert_eq!(bbr.state, State::Down);
    bbr.rounds.started = true;
    bbr.update_probe_bw(&win);
    assert_eq!(bbr.state, State::Refill);
    bbr.update_probe_bw(&win);
    assert_eq!(bbr.state, State::Up);
    bbr.check_up_done(&win);
    assert_eq!(bbr.state, State::Up);
}

#[test]
fn low_rates_the_program_or_probe_rtt_cause_do_not_enter_the_model() {
    // Section 5.5.5: such rates do not enter even a new cycle, which has no rate yet.
    for (app_limited, rate) in [(true, 1e6), (false, 2e5)] {
        let (mut bbr, _) = modelled(State::Cruise);
        bbr.model.record(1e6);
        bbr.model.advance_filter();
        bbr.sample = Sample { rate: 2e5, has_data: true, app_limited, ..Sample::default() };
        bbr.update_max_bw();
        bbr.model.advance_filter();
        assert_eq!(bbr.model.max_bw(), if app_limited { 0.0 } else { rate });
    }
    let mut path = path_in(4, State::ProbeRtt);
    path.run(0.1);
    let trips = &path.control.trips;
    assert!(trips.slowed(path.delivered) && trips.slowed(path.delivered + 1_000));
    path.run(1.0);
    assert!(!path.control.trips.slowed(path.delivered));
}

#[test]
fn every_recovery_saves_anew() {
    let (mut bbr, mut win) = modelled(State::Cruise);
    let ack = |ca_state| crate::congestion::testing::AckSample {
        ca_state,
        ..crate::congestion::testing::ack_sample(MSS)
    };
    bbr.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
    bbr.on_ack(&mut win, &ack(CaState::Recovery));
    bbr.on_ack(&mut win, &ack(CaState::Open));
    bbr.rounds.loss = false;
    bbr.model.inflight_longterm = 150_000;
    bbr.on_congestion(&mut win, &Flight::default(), Cause::Timeout, Instant::ZERO);
    bbr.model.inflight_longterm = 70_000;
    bbr.undo(&mut win, false);
    assert_eq!(bbr.model.inflight_longterm, 150_000);
}

#[test]
fn the_next_probe_comes_after_the_wait() {
    // Section 5.3.3.8: Now() > BBR.cycle_stamp + BBR.bw_probe_wait.
    for (nanos, state) in [(2_000_000_000, State::Cruise), (2_000_000_001, State::Refill)] {
        let (mut bbr, win) = modelled(State::Cruise);
        bbr.cycle.wait = Duration::from_secs(2);
        bbr.now = Instant::from_nanos(nanos);
        bbr.update_probe_bw(&win);
        assert_eq!(bbr.state, state, "{nanos} ns");
    }
}

#[test]
fn a_sample_without_an_interval_has_no_rate() {
    let (mut bbr, _) = modelled(State::Cruise);
    let rate = crate::congestion::RateSample {
        delivered: MSS,
        interval: Duration::ZERO,
        prior_delivered: 0,
        total_delivered: MSS,
        sent_in_flight: MSS,
        lost: 0,
        app_limited: false,
    };
    let ack = crate::congestion::testing::ack_sample(MSS);
    bbr.take(&crate::congestion::testing::AckSample { rate: Some(rate), ..ack });
    assert_eq!(bbr.sample.rate, 0.0);
}
