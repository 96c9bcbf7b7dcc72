//! Distributions as a scenario writes them: what they become, and what is refused and how.

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

#[test]
fn mistakes_name_the_field_and_the_remedy() {
    let cases: Vec<(Raw, &str)> = vec![
        (
            dist("discrete", &[("values", numbers(&[1.0, 2.0])), ("probs", numbers(&[0.4, 0.5]))]),
            "reply.probs: the probabilities sum to 0.9, not to 1 (value 2); mend them",
        ),
        (
            dist("discrete", &[("values", numbers(&[2.0, 1.0])), ("probs", numbers(&[0.5, 0.5]))]),
            "reply.probs: the value must grow, but 1 follows 2 (value 2); mend them",
        ),
        (
            dist("discrete", &[("values", numbers(&[2.0])), ("probs", numbers(&[0.5, 0.5]))]),
            "reply.probs: 2 are given for 1 values; give as many",
        ),
        (
            dist(
                "mixture",
                &[("parts", Raw::List(vec![n(1.0), n(2.0)])), ("weights", numbers(&[0.5, 0.6]))],
            ),
            "reply.weights: sum to 1.1, not to 1; mend them",
        ),
        (
            dist(
                "mixture",
                &[("parts", Raw::List(vec![n(1.0), n(2.0)])), ("weights", numbers(&[1.0]))],
            ),
            "reply.weights: 1 are given for 2 parts; give as many",
        ),
        (
            dist("mixture", &[("parts", Raw::List(vec![])), ("weights", numbers(&[]))]),
            "reply.weights: 0 are given for 0 parts; give as many",
        ),
        (
            dist(
                "mixture",
                &[("parts", Raw::List(vec![n(1.0), n(2.0)])), ("weights", numbers(&[-0.5, 1.5]))],
            ),
            "reply.weights: -0.5 is negative; a share is at least 0",
        ),
        (
            dist(
                "mixture",
                &[
                    (
                        "parts",
                        Raw::List(vec![
                            n(1.0),
                            dist("pareto", &[("shape", n(0.8)), ("mean", n(3.0))]),
                        ]),
                    ),
                    ("weights", numbers(&[0.5, 0.5])),
                ],
            ),
            "reply.parts.1.shape: 0.8 has no mean; give a shape above 1, or min instead of mean",
        ),
        (
            dist(
                "table",
                &[
                    ("text", text("p,x,k\n0,10,1\n0.6,30,1\n0.5,40,1\n1,50,1\n")),
                    ("file", text("my.csv")),
                ],
            ),
            "reply.file: my.csv, line 4: p must grow from row to row, but 0.5 follows 0.6",
        ),
        (
            dist(
                "table",
                &[("text", text("p,x,k\n0,10,1\n0.6,30,1\n1,20,1\n")), ("file", text("my.csv"))],
            ),
            "reply.file: my.csv, line 4: the value must not decrease, but 20 follows 30",
        ),
        (
            dist(
                "table",
                &[("rows", Raw::List(vec![numbers(&[0.0, 5.0, 1.0]), numbers(&[0.9, 6.0, 1.0])]))],
            ),
            "reply.rows: row 2: p ends at 0.9, it must end at 1",
        ),
        (
            dist("table", &[("rows", Raw::List(vec![numbers(&[0.0, 5.0])]))]),
            "reply.rows: row 1: needs 3 numbers, written [p, x, k]",
        ),
        (
            dist("table", &[("file", text("my.csv"))]),
            "reply.file: was not read; start the run with",
        ),
        (
            dist("pareto", &[("shape", n(1.0)), ("mean", text("12 kB"))]),
            "reply.shape: 1 has no mean; give a shape above 1, or min instead of mean",
        ),
        (
            dist("pareto", &[("shape", n(0.9)), ("min", n(10.0))]),
            "reply.shape: 0.9 has no mean; give a shape above 1, or bound the values with at_most",
        ),
        (
            dist("lomax", &[("shape", n(0.9)), ("mean", n(10.0))]),
            "reply.shape: 0.9 has no mean; give a shape above 1, or scale instead of mean",
        ),
        (dist("pareto", &[("shape", n(1.2))]), "reply.mean: is missing; give it or min"),
        (
            dist("pareto", &[("shape", n(1.2)), ("min", n(1.0)), ("mean", n(3.0))]),
            "reply.mean: is given beside min; give one of them",
        ),
        (dist("exponential", &[]), "reply.mean: is missing; write for example 60000 or \"60 kB\""),
        (
            dist("exponential", &[("mean", n(0.0))]),
            "reply.mean: 0 is out of range: it must be above 0",
        ),
        (
            dist("exponential", &[("mean", text("15 s"))]),
            "reply.mean: \"15 s\" is not a number of bytes",
        ),
        (
            dist("exponential", &[("maen", n(4.0)), ("mean", n(3.0))]),
            "reply.maen: unknown field \"maen\"; did you mean \"mean\"?",
        ),
        (
            dist("uniform", &[("min", n(9.0)), ("max", n(3.0))]),
            "reply.min: 9 is larger than max (3); swap them",
        ),
        (
            dist("uniform", &[("min", n(1.0)), ("max", n(3.0)), ("at_least", n(4.0))]),
            "reply.at_least: leaves no value; widen the range",
        ),
        (
            dist("uniform", &[("min", n(-1.0)), ("max", n(3.0))]),
            "reply: goes down to -1, but must not be negative; add at_least = 0",
        ),
        (
            dist("uniform", &[("min", n(1.0)), ("max", n(3.0)), ("times", n(0.0))]),
            "reply.times: 0 is out of range: it must be above 0",
        ),
        (
            dist("exponental", &[]),
            "reply.dist: unknown distribution \"exponental\"; did you mean \"exponential\"?",
        ),
        (table(&[("mean", n(3.0))]), "reply.dist: is missing; choose one of constant"),
        (
            text("mah_reply_byte"),
            "reply: unknown table \"mah_reply_byte\"; did you mean \"mah_reply_bytes\"?",
        ),
        (text("le1800"), "reply: unknown table \"le1800\""),
        (text("12 parsec"), "\"parsec\" is not a unit"),
    ];
    for (raw, expected) in cases {
        let why = read("reply", &raw, Unit::Bytes).unwrap_err().to_string();
        assert!(why.starts_with(expected) || why.contains(expected), "{expected:?}\n{why:?}");
        assert!(!why.contains('\n'), "one line: {why}");
    }
}

#[test]
fn times_need_a_unit() {
    let why = read("think", &n(15.0), Unit::Time).unwrap_err().to_string();
    assert_eq!(why, "think: 15 has no unit; write for example \"20 ms\"");
    let mean = dist("exponential", &[("mean", n(15.0))]);
    assert!(
        read("think", &mean, Unit::Time)
            .unwrap_err()
            .to_string()
            .starts_with("think.mean: 15 has no unit")
    );
    assert_eq!(read("think", &text("15 s"), Unit::Time).unwrap().mean(), 15.0);
}

fn refused(app: &str, fields: &[(&str, Raw)]) -> String {
    let entry = find(app).unwrap();
    let raw: Vec<_> = fields.iter().map(|(name, raw)| ((*name).to_owned(), raw.clone())).collect();
    let group = Group { seed: 1, name: "g".into(), peers: 3, sources: 2, machines: 2 };
    let built =
        Params::check(entry.about.fields, &raw).and_then(|params| (entry.build)(&params, &group));
    built.err().unwrap_or_else(|| panic!("{app} {fields:?} was accepted")).to_string()
}

#[test]
fn applications_refuse_what_contradicts_itself() {
    let http11 = || ("http", text("http11"));
    type Fields = Vec<(&'static str, Raw)>;
    let cases: Vec<(&str, Fields, &str)> = vec![
        (
            "unc",
            vec![("parallel", n(65.0))],
            "parallel: 65 is out of range: it must lie between 1 and 64",
        ),
        (
            "unc",
            vec![("parallel", n(2.0)), ("persistent_parallel", n(3.0))],
            "persistent_parallel: 3 persistent connections are more than the 2 that parallel allows; raise parallel or lower it",
        ),
        (
            "web",
            vec![("persistent", n(0.5))],
            "persistent: means nothing in HTTP/1.0, where no connection carries a second request; write http = \"http11\" beside it",
        ),
        ("web", vec![http11(), ("persistent", n(1.5))], "persistent: 1.5 is out of range"),
        (
            "unc",
            vec![("http", text("http10")), ("idle_timeout", text("3 s"))],
            "idle_timeout: means nothing in HTTP/1.0",
        ),
        (
            "unc",
            vec![("response_ends", text("end of file"))],
            "response_ends: \"end of file\" is HTTP/1.0's: a reply on a connection that is kept must give its length; write http = \"http10\" beside it, or \"last byte\"",
        ),
        (
            "http",
            vec![("http", text("http2")), ("persistent_parallel", n(4.0))],
            "persistent_parallel: means nothing in HTTP/2, where one connection to each server carries all requests; leave it out",
        ),
        (
            "unc",
            vec![("streams", n(4.0))],
            "streams: is of HTTP/2 alone; write http = \"http2\" beside it",
        ),
        ("packmime", vec![("http", text("http2"))], "http: unknown value \"http2\""),
        (
            "http",
            vec![("think", dist("pareto", &[("shape", n(1.0)), ("mean", text("9 s"))]))],
            "think.shape: 1 has no mean",
        ),
        (
            "http",
            vec![("files", Raw::List(vec![]))],
            "files: a list is not a distribution; write one value (100), the name of a shipped table, or { dist = \"exponential\", mean = … }",
        ),
        ("http", vec![("files", Raw::Bool(true))], "files: true is not a distribution"),
        ("packmime", vec![("connections_per_s", n(0.0))], "connections_per_s: 0 is out of range"),
        ("packmime", vec![("download", text("mah_think_time_full_s"))], "download: unknown table"),
        ("loop", vec![("model", text("video"))], "model: unknown value \"video\""),
    ];
    for (app, fields, expected) in cases {
        let why = refused(app, &fields);
        assert!(why.starts_with(expected), "{why}");
    }
}

#[test]
fn one_variable_changes_and_the_others_stay() {
    // The estimate of a load follows from the distributions named.
    let estimate = |fields: &[(&str, Raw)]| {
        let entry = find("http").unwrap();
        let raw: Vec<_> = fields.iter().map(|(n, raw)| ((*n).to_owned(), raw.clone())).collect();
        let group = Group { seed: 1, name: "g".into(), peers: 3, sources: 2, machines: 2 };
        let params = Params::check(entry.about.fields, &raw).unwrap();
        (entry.build)(&params, &group).unwrap().ip_bytes_per_source_s().unwrap()
    };
    // 4,000 B and four times 8,000 B: 3 and 6 segments, SYN-ACK and last ACK, every 3.45 s.
    let page = (4_000 + 3 * 40 + 84) + 4 * (8_000 + 6 * 40 + 84);
    assert!((estimate(&[]) - f64::from(page) / 3.45).abs() < 1e-6);
    let slower = estimate(&[("think", text("10 s"))]);
    assert!((slower - f64::from(page) / 10.45).abs() < 1e-6);
    // A reply of one's own is that of all files.
    let even = estimate(&[("reply", n(1_000.0))]);
    assert!((even - 5.0 * f64::from(1_000 + 40 + 84 + 40) / 3.45).abs() < 1e-6);
    // Five files of a stay share two connections.
    let shared = estimate(&[("reply", n(1_000.0)), ("http", text("http11"))]);
    assert!((shared - (5.0 * 1_040.0 + 2.0 * 124.0) / 3.45).abs() < 1e-6, "{shared}");
    // Ten files of a stay of two pages, one connection a page.
    let raw = [("reply", n(1_000.0)), ("http", text("http11")), ("pages", n(2.0))];
    assert!((estimate(&raw) - (5.0 * 1_040.0 + 124.0) / 3.45).abs() < 1e-6);
    // A time to parse lengthens the cycle.
    let parsing = estimate(&[("parse", text("1 s"))]);
    assert!((parsing - f64::from(page) / 4.45).abs() < 1e-6, "{parsing}");
}
