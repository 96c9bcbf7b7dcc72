mod model;

use super::super::testing::{MSS, Path};
use super::*;

impl Default for Bbr3 {
    fn default() -> Self {
        Bbr3::new(Settings::read(&Params::defaults(FIELDS)))
    }
}

/// A path of 20 Mbit/s and 40 ms with a queue of `bdps` bandwidth-delay products.
fn path(bdps: u64) -> Path<Bbr3> {
    Path::new(Bbr3::default(), 20.0, 40, bdps * 100_000)
}

/// A path that has run until the control is in this state.
fn path_in(bdps: u64, state: State) -> Path<Bbr3> {
    let mut path = path(bdps);
    assert!(path.run_until(30.0, |path| path.control.state == state), "{state:?}");
    path
}

fn states(path: &mut Path<Bbr3>, seconds: f64) -> Vec<State> {
    let mut seen = vec![path.control.state];
    let end = path.now + Duration::from_secs_f64(seconds);
    while path.now < end {
        let last = path.control.state;
        path.run_until(seconds, |path| path.control.state != last || path.now >= end);
        seen.push(path.control.state);
    }
    seen.dedup();
    seen
}

#[test]
fn startup_ends_when_the_rate_no_longer_grows() {
    // Appendix A.1: the modelled rate is within 2 % of the link's.
    let mut path = path(4);
    assert!(path.run_until(5.0, |path| path.control.pipe.reached));
    let ratio = path.control.model.max_bw() / path.rate;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    assert_eq!(path.control.state, State::Drain);
    assert_eq!(path.lost, 0);
    // The rate doubles three times from 2.5 Mbit/s, then stays for three rounds of up to two round
    // trips each.
    assert!(path.now.secs_f64() < 0.04 * 13.0, "{}", path.now.secs_f64());
}

#[test]
fn drain_empties_the_queue() {
    // This is the check of appendix A.3.
    let mut path = path_in(4, State::Drain);
    let (from, rounds) = (path.now, path.control.rounds.count);
    // Down ends with this acknowledgement: the queue is empty.
    assert!(path.run_until(1.0, |path| path.control.state == State::Cruise));
    let control = &path.control;
    assert!(control.sample.in_flight <= control.inflight(control.model.bw, 1.0));
    assert!(control.rounds.count <= rounds + 3);
    // At half the rate a queue of one round trip takes two to empty.
    let took = path.now.since(from).secs_f64();
    assert!((0.04..0.1).contains(&took), "{took}");
}

#[test]
fn the_four_phases_follow_each_other() {
    let mut path = path_in(4, State::Cruise);
    let seen = states(&mut path, 4.0);
    use State::{Cruise, Down, Refill, Up};
    assert_eq!(seen, [Cruise, Refill, Up, Down, Cruise]);
}

#[test]
fn the_wait_between_probes_is_two_to_three_seconds_or_63_rounds() {
    // A window of 100 segments at 40.4 ms: 63 rounds are 2.5 s, so either may come first.
    let mut path = path_in(4, State::Cruise);
    let (mut by_time, mut by_rounds, mut waits) = (0, 0, Vec::new());
    for _ in 0..12 {
        assert!(path.run_until(9.0, |path| path.control.state == State::Refill));
        let cycle = &path.control.cycle;
        let waited = path.now.since(cycle.started);
        let rounds = cycle.rounds_since_probe;
        assert!(waited > cycle.wait || rounds >= 63, "{waited:?} {cycle:?}");
        assert!(waited <= cycle.wait + Duration::from_millis(2) && rounds <= 63);
        (by_time, by_rounds) = (by_time + u32::from(rounds < 63), by_rounds + rounds / 63);
        waits.push(cycle.wait.secs_f64());
        assert!(path.run_until(9.0, |path| path.control.state == State::Down));
    }
    assert!(by_time > 0 && by_rounds > 0, "{by_time} {by_rounds}");
    // Uniform over 2 to 3 s: the mean of twelve lies within four standard errors.
    let mean = waits.iter().sum::<f64>() / 12.0;
    assert!((mean - 2.5).abs() < 4.0 * 0.289 / 3.46, "{waits:?}");
    assert!(waits.iter().all(|wait| (2.0..=3.0).contains(wait)), "{waits:?}");
}

#[test]
fn a_flow_fills_the_line_with_less_than_two_round_trips() {
    for (megabits, trip, bdps) in
        [(10.0, 20, 1.0), (10.0, 100, 5.0), (50.0, 50, 2.0), (100.0, 20, 1.0), (100.0, 100, 5.0)]
    {
        let room = (bdps * megabits * 125.0 * trip as f64) as u64;
        let mut path = Path::new(Bbr3::default(), megabits, trip, room);
        path.run(5.0);
        let (used, trips) = path.measure(20.0);
        assert!(used > 0.95, "{megabits} Mbit/s {trip} ms {bdps} BDP: {used}");
        assert!(trips < 1.5, "{megabits} Mbit/s {trip} ms {bdps} BDP: {trips} round trips");
    }
}

#[test]
fn after_five_seconds_without_a_smaller_round_trip_the_flow_makes_way() {
    // Appendix A.10. On an idle link Down empties the queue and renews the smallest round-trip time
    // only if it measures a smaller one, so the path gets longer here.
    let mut path = path_in(4, State::Cruise);
    path.trip = Duration::from_millis(50);
    let from = path.now;
    assert!(path.run_until(11.0, |path| path.control.state == State::ProbeRtt));
    assert!(path.now.since(from) > Duration::from_secs(4));
    let before = path.control.prior_cwnd;
    let entered = path.now;
    assert!(path.run_until(2.0, |path| path.control.state != State::ProbeRtt));
    let stay = path.now.since(entered).secs_f64();
    assert!((0.2..0.4).contains(&stay), "{stay}");
    assert_eq!(path.control.state, State::Cruise);
    assert!(path.win.cwnd <= before);
    assert!(path.control.model.max_bw() > 0.95 * path.rate, "low rates in ProbeRTT count");
    // The longer round-trip time is taken over when the old minimum is 10 s old.
    path.run(10.0);
    assert!(path.control.trips.least >= Some(Duration::from_millis(50)));
    let (used, trips) = path.measure(10.0);
    assert!(used > 0.95 && trips < 1.5, "{used} {trips}");
}

#[test]
fn half_a_bandwidth_delay_product_is_in_flight_in_probe_rtt() {
    let mut path = path_in(4, State::ProbeRtt);
    assert!(path.run_until(2.0, |path| path.control.trips.done_at.is_some()));
    assert!(path.win.cwnd <= 52_000, "{}", path.win.cwnd);
    assert!(path.win.cwnd >= 46_000, "{}", path.win.cwnd);
}

#[test]
fn losses_of_a_shallow_buffer_bound_the_flight() {
    // The buffer is a fifth of a bandwidth-delay product, so that probing overflows it.
    let mut path = Path::new(Bbr3::default(), 20.0, 40, 20_000);
    path.run(20.0);
    let bound = path.control.model.inflight_longterm;
    assert!(bound < 130_000, "{bound}");
    let before = (path.lost, path.delivered);
    let (used, trips) = path.measure(30.0);
    let lost = (path.lost - before.0) as f64 / (path.delivered - before.1) as f64;
    assert!(used > 0.8, "{used}");
    assert!(lost < 0.02, "{lost}");
    assert!(trips < 1.25, "{trips}");
}

#[test]
fn startup_ends_by_loss_even_if_the_program_limits_the_rate() {
    // Appendix A.2: 90 segments in flight, one in ten lost.
    let mut path = path(4);
    path.supply = 90_000;
    path.run(1.0);
    assert_eq!(path.control.state, State::Startup);
    path.lose_every = 10;
    path.run(0.3);
    let control = &path.control;
    assert!(control.pipe.reached && control.state != State::Startup);
    assert!(control.model.inflight_longterm < 100_000, "{}", control.model.inflight_longterm);
    // Three losses in a hundred segments are too few in a round, however long it lasts.
    let mut path = Path::new(Bbr3::default(), 20.0, 40, 400_000);
    path.supply = 90_000;
    path.lose_every = 33;
    path.run(2.0);
    assert_eq!(path.control.state, State::Startup);
}

#[test]
fn one_percent_of_loss_costs_a_fifth() {
    // Section 5.3.3.8.3: in every round of Cruise the rate falls by the share that is lost. About
    // 55 rounds of 1 % leave 0.58, 0.77 in the mean, and the other phases use all of the link.
    let mut path = path(4);
    path.lose_every = 100;
    path.run(5.0);
    let (used, _) = path.measure(40.0);
    assert!((0.77..0.9).contains(&used), "{used}");
    // Reno would get sqrt(1.5/p) = 12 segments per round trip, where the path holds 100.
    assert_eq!(path.control.model.inflight_longterm, UNBOUNDED);
}

#[test]
fn a_program_that_writes_little_does_not_lower_the_model() {
    // These are the checks of appendices A.7 and A.22.
    let mut path = path_in(4, State::Cruise);
    let model = path.control.model.max_bw();
    path.supply = 30_000;
    path.run(1.0);
    assert!(path.control.model.max_bw() >= model);
    let mut young = Path::new(Bbr3::default(), 20.0, 40, 400_000);
    young.supply = 20_000;
    young.run(3.0);
    assert_eq!(young.control.state, State::Startup);
}

#[test]
fn ten_times_the_rate_is_found_and_a_tenth_too() {
    // These are the checks of appendices A.15 and A.16.
    let mut path = path_in(10, State::Cruise);
    path.rate *= 10.0;
    path.room *= 10;
    path.run(25.0);
    assert!(path.measure(10.0).0 > 0.9);
    path.rate /= 10.0;
    path.room /= 10;
    path.run(25.0);
    let ratio = path.control.model.max_bw() / path.rate;
    assert!((0.95..1.1).contains(&ratio), "{ratio}");
    let (used, trips) = path.measure(10.0);
    assert!(used > 0.95 && trips < 2.0, "{used} {trips}");
}

#[test]
fn a_spurious_recovery_is_undone() {
    // This is the check of appendix A.18, from state ProbeBW_UP.
    let mut path = path_in(4, State::Up);
    assert!(
        path.run_until(1.0, |path| path.control.cycle.ack_phase
            == super::probe_bw::AckPhase::Probing)
    );
    let (control, mut win) = (&mut path.control, path.win);
    let before = (win.cwnd, control.model.inflight_longterm);
    let lost = Lost {
        now: control.now,
        bytes: 9_000,
        sent_in_flight: 120_000,
        lost: 9_000,
        total_delivered: control.delivered,
        app_limited: false,
    };
    control.on_lost(&win, &lost);
    control.on_congestion(&mut win, &Flight::default(), Cause::Loss, control.now);
    assert_eq!(control.state, State::Down);
    assert!(control.model.inflight_longterm < UNBOUNDED);
    win.cwnd = MSS;
    control.undo(&mut win, false);
    assert_eq!((win.cwnd, control.model.inflight_longterm), before);
    assert_eq!(control.state, State::Refill);
}

#[test]
fn marks_count_as_congestion() {
    let mut path = path_in(4, State::Startup);
    path.run(0.1);
    path.control.on_congestion(&mut path.win, &Flight::default(), Cause::Mark, path.now);
    assert!(path.control.pipe.reached);
    let mut path = path_in(4, State::Up);
    path.run(0.05);
    path.control.on_congestion(&mut path.win, &Flight::default(), Cause::Mark, path.now);
    assert_eq!(path.control.state, State::Down);
    assert!(path.control.model.inflight_longterm < UNBOUNDED);
}

#[test]
fn after_a_pause_it_paces_at_the_modelled_rate_and_spares_probe_rtt() {
    // This is the check of appendix A.11.
    let mut path = path_in(4, State::Down);
    let later = path.now + Duration::from_secs(6);
    path.control.on_tx_start(&mut path.win, path.now, true, later);
    let rate =
        path.control.pacing_rate(&path.win, &Flight::default(), Duration::ZERO).unwrap() as f64;
    assert!((rate / (path.control.model.bw * 0.99) - 1.0).abs() < 1e-6);
    path.now = later;
    path.run_until(1.0, |path| path.delivered % (100 * MSS) == 0);
    assert_ne!(path.control.state, State::ProbeRtt);
}
