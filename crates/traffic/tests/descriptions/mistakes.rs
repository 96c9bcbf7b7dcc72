//! Mistakes: each names the field and the remedy.

use super::*;

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
            "persistent_parallel: means nothing in HTTP/2 and HTTP/3, where one connection to each server carries all requests; leave it out",
        ),
        (
            "unc",
            vec![("streams", n(4.0))],
            "streams: is of HTTP/2 and HTTP/3; write http = \"http2\" beside it",
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
