//! Distributions as a scenario writes them: what they become, and what is refused and how.

mod mistakes;

use std::sync::Arc;

use aqmlab_traffic::distribution::{Distribution, read, shipped};
use aqmlab_traffic::{Group, find};
use packet::params::{Params, Raw};
use packet::units::Unit;
use packet::{Rng, math};

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

fn numbers(values: &[f64]) -> Raw {
    Raw::List(values.iter().map(|&v| Raw::Number(v)).collect())
}

fn table(fields: &[(&str, Raw)]) -> Raw {
    Raw::Table(fields.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect())
}

/// `{ dist = name, … }`.
fn dist(name: &str, fields: &[(&str, Raw)]) -> Raw {
    let mut all = vec![("dist", text(name))];
    all.extend(fields.iter().cloned());
    table(&all)
}

fn bytes(raw: &Raw) -> Arc<dyn Distribution> {
    read("reply", raw, Unit::Bytes).unwrap_or_else(|why| panic!("{why}"))
}

fn n(value: f64) -> Raw {
    Raw::Number(value)
}

#[test]
fn every_form_is_read() {
    let pareto = dist("pareto", &[("shape", n(1.5)), ("mean", text("12 kB"))]);
    let lomax = dist("lomax", &[("shape", n(1.2)), ("mean", text("12 kB"))]);
    let cases: Vec<(Raw, f64, f64)> = vec![
        // What is written, its mean, its median.
        (n(4_000.0), 4e3, 4e3),
        (text("4 kB"), 4e3, 4e3),
        (dist("constant", &[("value", text("4 kB"))]), 4e3, 4e3),
        (dist("uniform", &[("min", n(50.0)), ("max", n(150.0))]), 100.0, 100.0),
        (dist("exponential", &[("mean", n(10.0))]), 10.0, 10.0 * std::f64::consts::LN_2),
        (pareto, 12e3, 4e3 * math::exp2(1.0 / 1.5)),
        (dist("pareto", &[("shape", n(2.0)), ("min", n(10.0))]), 20.0, 10.0 * math::sqrt(2.0)),
        (lomax, 12e3, 2_400.0 * (math::exp2(1.0 / 1.2) - 1.0)),
        (
            dist("lomax", &[("shape", n(3.0)), ("scale", n(10.0))]),
            5.0,
            10.0 * (math::exp2(1.0 / 3.0) - 1.0),
        ),
        (dist("lognormal", &[("median", n(7.0)), ("sigma", n(1.0))]), 7.0 * math::exp(0.5), 7.0),
        (dist("lognormal", &[("mean", n(7.0)), ("sd", n(7.0))]), 7.0, 7.0 / math::sqrt(2.0)),
        (
            dist("weibull", &[("shape", n(1.0)), ("scale", n(5.0))]),
            5.0,
            5.0 * std::f64::consts::LN_2,
        ),
        (
            dist("weibull", &[("shape", n(0.5)), ("mean", n(4.0))]),
            4.0,
            2.0 * math::pow(std::f64::consts::LN_2, 2.0),
        ),
        (text("mah_reply_bytes"), shipped::MAH_REPLY.mean(), 2_110.0),
        (dist("table", &[("name", text("mah_reply_bytes"))]), shipped::MAH_REPLY.mean(), 2_110.0),
        (
            dist("table", &[("text", text("p,x,k\n0,10,1\n1,20,1\n")), ("file", text("a.csv"))]),
            15.0,
            15.0,
        ),
        (dist("table", &[("text", text("value,prob\n1,0.4\n2,0.6\n"))]), 1.6, 2.0),
        (
            dist(
                "table",
                &[(
                    "rows",
                    Raw::List(vec![numbers(&[0.0, 10.0, 1.0]), numbers(&[1.0, 20.0, 1.0])]),
                )],
            ),
            15.0,
            15.0,
        ),
        (
            dist("discrete", &[("values", numbers(&[1.0, 2.0])), ("probs", numbers(&[0.4, 0.6]))]),
            1.6,
            2.0,
        ),
        (
            dist(
                "mixture",
                &[
                    (
                        "parts",
                        Raw::List(vec![
                            n(10.0),
                            dist("uniform", &[("min", n(20.0)), ("max", n(40.0))]),
                        ]),
                    ),
                    ("weights", numbers(&[0.25, 0.75])),
                ],
            ),
            25.0,
            20.0 + 20.0 / 3.0,
        ),
        (
            dist("exponential", &[("mean", n(10.0)), ("times", n(2.0)), ("plus", n(5.0))]),
            25.0,
            5.0 + 20.0 * std::f64::consts::LN_2,
        ),
        (
            dist(
                "uniform",
                &[("min", n(0.0)), ("max", n(100.0)), ("at_least", n(20.0)), ("at_most", n(40.0))],
            ),
            30.0,
            30.0,
        ),
        (
            dist("pareto", &[("shape", n(1.0)), ("min", n(1.0)), ("at_most", n(10.0))]),
            math::ln(10.0) / 0.9,
            1.0 / 0.55,
        ),
    ];
    for (raw, mean, median) in cases {
        let of = bytes(&raw);
        assert!((of.mean() / mean - 1.0).abs() < 1e-9, "{of:?}: mean {}", of.mean());
        assert!((of.quantile(0.5) / median - 1.0).abs() < 1e-9, "{of:?}: {}", of.quantile(0.5));
        // The cut mean, and the whole one as its limit.
        let drawn = |cap: f64| {
            let steps = 200_000;
            let x = (0..steps).map(|i| of.quantile((f64::from(i) + 0.5) / f64::from(steps)));
            x.map(|x| x.min(cap)).sum::<f64>() / f64::from(steps)
        };
        let cap = 1.5 * median;
        assert!((of.capped_mean(cap) / drawn(cap) - 1.0).abs() < 1e-4, "{of:?} cut at {cap}");
        assert!((of.capped_mean(1e300) / mean - 1.0).abs() < 1e-6, "{of:?}");
        // The distribution function inverts the quantile.
        for u in [0.05, 0.3, 0.77, 0.999] {
            let x = of.quantile(u);
            assert!(
                of.below(x) <= u + 1e-9 && of.below(x * (1.0 + 1e-9)) >= u - 1e-9,
                "{of:?} {u}"
            );
        }
        assert_eq!(of.sample(&mut Rng::named(1, "a")), of.sample(&mut Rng::named(1, "a")));
    }
}

#[test]
fn variances_have_their_closed_forms() {
    let truncated =
        dist("lognormal", &[("median", n(7.0)), ("sigma", n(2.0)), ("at_most", n(1e6))]);
    let cases = [
        (dist("uniform", &[("min", n(0.0)), ("max", n(12.0))]), 12.0),
        (dist("uniform", &[("min", n(4.0)), ("max", n(16.0))]), 12.0),
        (dist("exponential", &[("mean", n(3.0))]), 9.0),
        (dist("exponential", &[("mean", n(3.0)), ("times", n(5.0)), ("plus", n(7.0))]), 225.0),
        // Without a formula, by quantiles.
        (dist("exponential", &[("mean", n(3.0)), ("at_most", n(1e6))]), 9.0),
        (dist("pareto", &[("shape", n(3.0)), ("min", n(2.0))]), 3.0),
        (dist("pareto", &[("shape", n(4.0)), ("min", n(3.0))]), 2.0),
        (dist("lomax", &[("shape", n(3.0)), ("scale", n(2.0))]), 3.0),
        (dist("lognormal", &[("mean", n(7.0)), ("sd", n(3.0))]), 9.0),
        (dist("weibull", &[("shape", n(2.0)), ("scale", n(2.0))]), 4.0 - std::f64::consts::PI),
        (dist("weibull", &[("shape", n(1.0)), ("scale", n(3.0))]), 9.0),
        (
            dist(
                "discrete",
                &[("values", numbers(&[1.0, 5.0])), ("probs", numbers(&[0.25, 0.75]))],
            ),
            3.0,
        ),
        // Of the parts 0 and 4/3, and of their means 1 and 4 about 3.25.
        (
            dist(
                "mixture",
                &[
                    (
                        "parts",
                        Raw::List(vec![
                            n(1.0),
                            dist("uniform", &[("min", n(2.0)), ("max", n(6.0))]),
                        ]),
                    ),
                    ("weights", numbers(&[0.25, 0.75])),
                ],
            ),
            1.0 + 27.0 / 16.0,
        ),
        (
            dist("discrete", &[("values", numbers(&[1.0, 3.0])), ("probs", numbers(&[0.5, 0.5]))]),
            1.0,
        ),
        (
            dist(
                "mixture",
                &[("parts", Raw::List(vec![n(1.0), n(3.0)])), ("weights", numbers(&[0.5, 0.5]))],
            ),
            1.0,
        ),
        (dist("uniform", &[("min", n(0.0)), ("max", n(12.0)), ("at_most", n(6.0))]), 3.0),
        (text("mah_reply_bytes"), 43_719.0 * 43_719.0),
    ];
    for (raw, variance) in cases {
        let found = bytes(&raw).variance();
        assert!((found / variance - 1.0).abs() < 1e-4, "{raw:?}: {found}");
    }
    let infinite = bytes(&dist("pareto", &[("shape", n(1.5)), ("min", n(1.0))]));
    assert_eq!(infinite.variance(), f64::INFINITY);
    assert!(bytes(&truncated).variance().is_finite());
}

#[test]
fn values_are_drawn_by_inversion_of_one_number() {
    let cases = [
        dist("exponential", &[("mean", n(10.0)), ("times", n(2.0)), ("plus", n(5.0))]),
        dist("lomax", &[("shape", n(1.2)), ("mean", text("12 kB"))]),
        // A shape or a shift alone, and a range of one value.
        dist("constant", &[("value", n(5.0)), ("plus", n(3.0))]),
        dist("constant", &[("value", n(5.0)), ("times", n(3.0))]),
        dist("uniform", &[("min", n(3.0)), ("max", n(3.0))]),
    ];
    let values: Vec<f64> = cases
        .iter()
        .map(|raw| {
            let (of, stream) = (bytes(raw), || Rng::named(3, "x"));
            assert_eq!(of.sample(&mut stream()), of.quantile(stream().uniform()), "{of:?}");
            of.quantile(0.5)
        })
        .collect();
    assert_eq!(values[2..], [8.0, 15.0, 3.0]);
}

#[test]
fn a_files_header_says_what_it_holds_after_comments_and_empty_lines() {
    for before in ["", "# ours\n", "\n", "# ours\n\n"] {
        let file = |content: &str| dist("table", &[("text", text(&format!("{before}{content}")))]);
        assert_eq!(bytes(&file("value,prob\n1,0.4\n2,0.6\n")).mean(), 1.6, "{before:?}");
        assert_eq!(bytes(&file("p,x,k\n0,10,1\n1,20,1\n")).mean(), 15.0, "{before:?}");
    }
}

#[test]
fn a_mixture_draws_its_parts_in_their_shares() {
    let mixture = dist(
        "mixture",
        &[
            ("parts", Raw::List(vec![n(1.0), n(5.0), n(9.0)])),
            ("weights", numbers(&[0.2, 0.5, 0.3])),
        ],
    );
    let never = dist(
        "mixture",
        &[("parts", Raw::List(vec![n(1.0), n(2.0)])), ("weights", numbers(&[0.0, 1.0]))],
    );
    assert_eq!(bytes(&never).mean(), 2.0);
    let of = bytes(&mixture);
    let mut rng = Rng::named(1, "mixture");
    let draws: Vec<f64> = (0..100_000).map(|_| of.sample(&mut rng)).collect();
    for (value, share) in [(1.0, 0.2), (5.0, 0.5), (9.0, 0.3)] {
        // Five standard errors: 0.008.
        let found = draws.iter().filter(|&&x| x == value).count() as f64 / 1e5;
        assert!((found - share).abs() < 0.008, "{value}: {found}");
    }
}
