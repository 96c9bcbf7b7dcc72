//! Tests of effects against theory, with a million draws each from one fixed seed. A bound is 4.9
//! standard errors, so that one comparison in a million fails by chance; there are some 40.

mod service;

use std::collections::BTreeMap;

use packet::params::{Params, Raw};
use packet::{Ecn, Instant, Rate, Rng, math};

use super::timed::Timed;
use super::timetable::Timetable;
use super::*;

const DRAWS: usize = 1_000_000;
const ERRORS: f64 = 4.9;
const MS: u64 = 1_000_000;

fn built(kind: &str, settings: &[(&str, Raw)], tables: &[(&'static str, Timed)]) -> Built {
    let entry = find(kind).unwrap();
    let raw: Vec<(String, Raw)> =
        settings.iter().map(|(name, raw)| ((*name).to_owned(), raw.clone())).collect();
    let params = Params::check(entry.about.fields, &raw).unwrap();
    let tables: BTreeMap<&'static str, Timed> = tables.iter().cloned().collect();
    let rate = Rate::from_bits_per_s(8_000_000);
    let given = Given { params: &params, tables: &tables, rate, rng: Rng::named(46, kind) };
    (entry.build)(&given).unwrap()
}

fn of_packets(
    kind: &str,
    settings: &[(&str, Raw)],
    tables: &[(&'static str, Timed)],
) -> Box<dyn Effect> {
    match built(kind, settings, tables) {
        Built::Arrival(effect) | Built::Exit(effect) => effect,
        Built::Line(..) => panic!("{kind} acts on the line"),
    }
}

fn line(
    kind: &str,
    settings: &[(&str, Raw)],
    tables: &[(&'static str, Timed)],
) -> Box<dyn Timetable> {
    match built(kind, settings, tables) {
        Built::Line(timetable, _) => timetable,
        _ => panic!("{kind} acts on packets"),
    }
}

fn n(value: f64) -> Raw {
    Raw::Number(value)
}

fn t(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

/// Passes packets of 1,500 B, `every` ns apart, through an effect.
fn passed(effect: &mut dyn Effect, count: usize, every: u64) -> Vec<Passing> {
    let mut rng = Rng::named(46, "packets");
    let one = |i: usize| {
        let now = Instant::from_nanos(1_000_000_000 + i as u64 * every);
        let mut packet = Passing::new(now, 1_500, Ecn::NotEct);
        effect.pass(&mut packet, &mut rng);
        packet
    };
    (0..count).map(one).collect()
}

fn is(fate: Fate) -> impl Fn(&&Passing) -> bool {
    move |packet| packet.fate == fate
}

/// Asserts that a share of independent trials is as expected.
fn assert_share(met: usize, of: usize, expected: f64, what: &str) {
    let error = math::sqrt(expected * (1.0 - expected) / of as f64);
    let share = met as f64 / of as f64;
    assert!((share - expected).abs() <= ERRORS * error + 1e-12, "{what}: {share}, not {expected}");
}

fn delays_s(packets: &[Passing]) -> Vec<f64> {
    packets.iter().map(|p| p.at.since(p.now).secs_f64()).collect()
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    [mean, math::sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count)]
}

/// Asserts that shares of the values lie below these quantiles.
fn assert_quantiles(values: &[f64], quantiles: &[(f64, f64)], what: &str) {
    for (share, quantile) in quantiles {
        let below = values.iter().filter(|value| *value < quantile).count();
        assert_share(below, values.len(), *share, &format!("{what} below {quantile}"));
    }
}

#[test]
fn independent_loss_has_its_share_and_no_memory() {
    let packets = passed(&mut *of_packets("loss", &[("share", n(0.03))], &[]), DRAWS, MS);
    assert_share(packets.iter().filter(is(Fate::Lost)).count(), DRAWS, 0.03, "loss");
    let after: Vec<&Passing> =
        packets.windows(2).filter(|pair| pair[0].fate == Fate::Lost).map(|pair| &pair[1]).collect();
    let again = after.iter().filter(|p| p.fate == Fate::Lost).count();
    assert_share(again, after.len(), 0.03, "loss after a loss");
    for share in [0.0, 1.0] {
        let packets = passed(&mut *of_packets("loss", &[("share", n(share))], &[]), 1_000, MS);
        assert_eq!(packets.iter().filter(is(Fate::Lost)).count(), (1_000.0 * share) as usize);
    }
}

#[test]
fn gilbert_and_elliotts_bursts_are_geometric() {
    // In the bad state, whose stationary share is p / (p + r), half is lost, in the good one 0.1 %.
    let settings = [("p", n(0.02)), ("r", n(0.25)), ("loss_bad", n(0.5)), ("loss_good", n(0.001))];
    let packets = passed(&mut *of_packets("gilbert-elliott", &settings, &[]), DRAWS, MS);
    let bad = 0.02 / 0.27;
    let expected = bad * 0.5 + (1.0 - bad) * 0.001;
    // The state's correlation 1 - p - r widens the error of a mean.
    let rho: f64 = 1.0 - 0.27;
    let variance =
        expected * (1.0 - expected) + 2.0 * bad * (1.0 - bad) * 0.499 * 0.499 * rho / (1.0 - rho);
    let lost = packets.iter().filter(is(Fate::Lost)).count() as f64 / DRAWS as f64;
    assert!(
        (lost - expected).abs() < ERRORS * math::sqrt(variance / DRAWS as f64),
        "{lost}, not {expected}"
    );
    // The simple Gilbert model: runs of losses are geometric with mean 1 / r.
    let settings = [("p", n(0.02)), ("r", n(0.25))];
    let packets = passed(&mut *of_packets("gilbert-elliott", &settings, &[]), DRAWS, MS);
    let lost: Vec<bool> = packets.iter().map(|p| p.fate == Fate::Lost).collect();
    let ends = lost.windows(2).filter(|pair| pair[0] && !pair[1]).count();
    let all = lost[..DRAWS - 1].iter().filter(|lost| **lost).count();
    assert_share(ends, all, 0.25, "a burst ends");
    let begins = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    assert_share(begins, DRAWS - 1 - all, 0.02, "a burst begins");
}

#[test]
fn loss_by_steps_follows_its_table() {
    let steps = Timed::new(&[(0, 0.0), (MS, 0.2), (3 * MS, 1.0)], Some(4 * MS)).unwrap();
    let mut effect = of_packets("loss-steps", &[], &[("steps", steps)]);
    let packets = passed(&mut *effect, DRAWS, MS);
    // One packet a millisecond, from 1 s on: four phases in turn.
    let lost = |phase: usize| packets.iter().skip(phase).step_by(4).filter(is(Fate::Lost)).count();
    assert_eq!((lost(0), lost(3)), (0, DRAWS / 4));
    assert_share(lost(1) + lost(2), DRAWS / 2, 0.2, "loss by steps");
}

fn jittered(distribution: &str, correlation: f64) -> Vec<f64> {
    let settings = [
        ("delay", t("100 ms")),
        ("jitter", t("10 ms")),
        ("distribution", t(distribution)),
        ("correlation", n(correlation)),
        ("keep_order", Raw::Bool(false)),
    ];
    delays_s(&passed(&mut *of_packets("delay", &settings, &[]), DRAWS, MS))
}

#[test]
fn delays_have_their_distributions() {
    let uniform = jittered("uniform", 0.0);
    assert_quantiles(
        &uniform,
        &[(0.0, 0.09), (0.25, 0.095), (0.5, 0.1), (0.9, 0.108), (1.0, 0.1101)],
        "uniform",
    );
    let normal = jittered("normal", 0.0);
    let below = |z: f64| traffic::distribution::normal::cdf(z);
    for z in [-2.0, -1.0, 0.0, 1.5, 3.0] {
        assert_quantiles(&normal, &[(below(z), 0.1 + 0.01 * z)], "normal");
    }
    // Pareto with shape 3 and scale 1, moved by 1.5, times 4/3: P(X < x) = 1 - (3 x / 4 + 1.5)^-3.
    let pareto = jittered("pareto", 0.0);
    for x in [-0.5, 0.0, 1.0, 3.0] {
        let share = 1.0 - math::pow(0.75 * x + 1.5, -3.0);
        assert_quantiles(&pareto, &[(share, 0.1 + 0.01 * x)], "pareto");
    }
    assert!(pareto.iter().all(|delay| *delay < 0.1 + 0.01 * 4.0), "the table ends");
    let both = jittered("paretonormal", 0.0);
    for u in [0.1, 0.5, 0.9, 0.95] {
        let z = traffic::distribution::normal::quantile(u);
        let x = 0.25 * z + (math::pow(1.0 - u, -1.0 / 3.0) - 1.5);
        assert_quantiles(&both, &[(u, 0.1 + 0.01 * x)], "paretonormal");
    }
}

#[test]
fn netems_correlation_narrows_a_uniform_delay() {
    // Variance (1 - rho) / (1 + rho) of the uncorrelated one, lag-1 correlation rho.
    let rho = 0.5;
    let delays = jittered("uniform", rho);
    let [mean, sd] = moments(&delays);
    let expected = 0.01 / math::sqrt(3.0) * math::sqrt((1.0 - rho) / (1.0 + rho));
    assert!((sd / expected - 1.0).abs() < 0.01, "{sd}, not {expected}");
    let products: Vec<f64> =
        delays.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).collect();
    let lag = moments(&products)[0] / (sd * sd);
    // The variance of this estimate is (1 - rho^2) / n (Bartlett).
    assert!((lag - rho).abs() < ERRORS * math::sqrt((1.0 - rho * rho) / DRAWS as f64), "{lag}");
}

#[test]
fn delayed_packets_keep_their_order_or_overtake() {
    let overtaken = |keep: bool| {
        let settings = [
            ("delay", t("10 ms")),
            ("jitter", t("5 ms")),
            ("distribution", t("normal")),
            ("keep_order", Raw::Bool(keep)),
        ];
        let packets = passed(&mut *of_packets("delay", &settings, &[]), 10_000, MS / 10);
        packets.windows(2).filter(|pair| pair[1].at < pair[0].at).count()
    };
    assert_eq!(overtaken(true), 0);
    assert!((4_000..6_000).contains(&overtaken(false)), "about half: {}", overtaken(false));
}

#[test]
fn netems_reordering_sends_one_of_a_gap_ahead() {
    let settings = [
        ("delay", t("10 ms")),
        ("reorder", n(0.25)),
        ("gap", n(5.0)),
        ("keep_order", Raw::Bool(false)),
    ];
    let packets = passed(&mut *of_packets("delay", &settings, &[]), DRAWS, MS);
    let ahead: Vec<usize> =
        packets.iter().enumerate().filter(|(_, p)| p.at == p.now).map(|(i, _)| i).collect();
    // Four packets are delayed for sure, then each goes ahead with a probability of a quarter.
    assert!(ahead.windows(2).all(|pair| pair[1] - pair[0] >= 5));
    let trials: usize = ahead.windows(2).map(|pair| pair[1] - pair[0] - 4).sum();
    assert_share(ahead.len() - 1, trials, 0.25, "ahead");
}

#[test]
fn a_delay_by_steps_follows_its_table_and_keeps_the_order() {
    let steps = || Timed::new(&[(0, 0.02), (5 * MS, 0.01)], Some(10 * MS)).unwrap();
    let free = [("keep_order", Raw::Bool(false))];
    let mut effect = of_packets("delay-steps", &free, &[("steps", steps())]);
    let delays: Vec<u64> =
        passed(&mut *effect, 20, MS).iter().map(|p| p.at.since(p.now).nanos() / MS).collect();
    assert_eq!(delays[..10], [20, 20, 20, 20, 20, 10, 10, 10, 10, 10]);
    assert_eq!(delays[..10], delays[10..]);
    let mut effect = of_packets("delay-steps", &[], &[("steps", steps())]);
    let packets = passed(&mut *effect, 1_000, MS);
    assert!(packets.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn a_walk_has_its_steps_and_stays_between_its_ends() {
    let settings = [
        ("min", t("10 ms")),
        ("max", t("60 ms")),
        ("volatility", t("20 ms")),
        ("tick", t("10 ms")),
        ("keep_order", Raw::Bool(false)),
    ];
    let mut effect = of_packets("delay-walk", &settings, &[]);
    let delays = delays_s(&passed(&mut *effect, DRAWS, 10 * MS));
    assert!(delays.iter().all(|delay| (0.01..=0.06 + 1e-9).contains(delay)));
    let middle = |pair: &&[f64]| (0.025..0.045).contains(&pair[0]);
    let moves: Vec<f64> = delays.windows(2).filter(middle).map(|pair| pair[1] - pair[0]).collect();
    let [mean, sd] = moments(&moves);
    let expected = 0.02 * 0.1;
    let error = expected / math::sqrt(moves.len() as f64);
    assert!(mean.abs() < ERRORS * error && (sd - expected).abs() < ERRORS * error, "{mean}, {sd}");
    // Reflected Brownian motion is uniform in the long run; 10,000 s are some 10^3 relaxations of
    // width^2 / volatility^2 / pi^2 s: the mean's error is about 0.5 ms.
    assert!((moments(&delays)[0] - 0.035).abs() < 0.0025, "{}", moments(&delays)[0]);
}
