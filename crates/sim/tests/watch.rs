//! Whoever watches a run changes nothing of it.

use std::collections::HashMap;

use aqmlab_sim::{Outcome, PACKET_NUMBERS, Run, Scenario, summary_json};
use packet::{Duration, Instant, Rng};
use serde_json::Value as Json;

const SCENARIOS: [&str; 5] = [
    r#"{"duration": "20 s", "warmup": "2 s", "link": [{"rate": "2 Mbit/s", "forward": {"aqm": "red"}}],
        "record": {"goodput": true}, "traffic": [{"app": "web", "users": 60}, {"app": "bulk", "flows": 2}]}"#,
    r#"{"duration": "9 s", "link": [{"rate": "5 Mbit/s", "forward": {"aqm": "fq_codel"}}],
        "traffic": [{"app": "bulk", "flows": 4, "tcp": {"profile": "linux"}}, {"app": "voip", "flows": 2}]}"#,
    r#"{"duration": "8 s", "link": [{"name": "a", "rate": "3 Mbit/s", "forward": {"aqm": "pie"}},
        {"name": "b", "rate": "2 Mbit/s", "forward": {"aqm": "droptail", "limit": 20}}],
        "record": {"queues": ["a.forward", "b.forward"]}, "traffic": [{"app": "bulk", "flows": 6}]}"#,
    r#"{"duration": "6 s", "link": [{"rate": "4 Mbit/s", "reverse": {"aqm": "codel"}}],
        "record": {"queues": ["bottleneck.reverse"], "trace": true, "gauges": true},
        "traffic": [{"app": "bulk", "flows": 2, "side": "clients"}]}"#,
    r#"{"duration": "30 s", "warmup": "4.5 s", "link": [{"rate": "2 Mbit/s", "forward": "codel"}],
        "traffic": [{"name": "film", "app": "video", "users": 2}, {"name": "call", "app": "rtc-video", "users": 1},
        {"name": "tone", "app": "cbr", "flows": 1, "rate": "400 kbit/s", "packet": "100 B"}, {"app": "bulk", "flows": 8}]}"#,
];

fn scenario(text: &str) -> Scenario {
    Scenario::from_json(text).unwrap_or_else(|why| panic!("{why}"))
}

/// All of a summary but how many events it took: watched ports have every event.
fn figures(summary: &record::Summary) -> Json {
    let mut figures = summary_json(summary);
    figures.as_object_mut().expect("an object").remove("events");
    figures
}

/// Adds the numbers of a series up, whatever it is called on the way.
fn total(series: &Json) -> f64 {
    series.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).sum()
}

#[test]
fn a_run_sliced_and_watched_in_any_way_gives_the_same_figures() {
    for (i, text) in SCENARIOS.iter().enumerate() {
        let plain = Run::new(scenario(text)).unwrap().complete(&mut |_| true).unwrap();
        for way in 0..4 {
            let mut rng = Rng::indexed(way, "watch", i as u64);
            let bin = Duration::from_millis(1 + rng.below(400));
            let mut run = Run::watched(scenario(text), bin).unwrap();
            let mut rows = Vec::new();
            while run.now() < run.end() {
                run.advance(run.now() + Duration::from_micros(1 + rng.below(700_000)));
                match rng.below(4) {
                    0 => drop(run.snapshot()),
                    1 => run.packet_snapshot(&mut rows),
                    2 => run.watch_packets(rng.below(2) == 0),
                    _ => {}
                }
            }
            assert!(rows.len().is_multiple_of(PACKET_NUMBERS));
            let outcome = run.outcome();
            assert_eq!(figures(&outcome.summary), figures(&plain.summary), "{text}, way {way}");
            for (of, expected) in outcome.tables.iter().zip(&plain.tables) {
                // As text: what is not a number equals itself.
                let same = format!("{of:?}") == format!("{expected:?}");
                assert!(same, "{text}, way {way}: table {}", of.name);
            }
            assert_eq!(outcome.tables.len(), plain.tables.len(), "{text}, way {way}");
        }
    }
}

/// Whether figures are equal but for quantiles, which may differ by 0.2 %. A delay variation is a
/// delay less the least one, and may differ by 0.2 % of the delay, which is at most the longest.
fn assert_near(of: &Json, expected: &Json, place: &str, longest: f64) {
    if let (Some(of), Some(expected)) = (of.as_object(), expected.as_object()) {
        assert!(of.keys().eq(expected.keys()), "{place}");
        let longest = expected.get("delay_max_s").and_then(Json::as_f64).unwrap_or(longest);
        for (name, v) in of {
            assert_near(v, &expected[name], &format!("{place}.{name}"), longest);
        }
        return;
    }
    let is_quantile =
        |name: &str| name.rsplit_once("_p").is_some_and(|(_, p)| p.starts_with(char::is_numeric));
    match (of.as_f64(), expected.as_f64()) {
        (Some(near), Some(exact)) if is_quantile(place) => {
            let delay = if place.contains(".delay_variation_") { longest } else { exact.abs() };
            assert!((near - exact).abs() <= 0.002 * delay, "{place}: {near}, not {exact}");
        }
        _ => assert_eq!(of, expected, "{place}"),
    }
}

#[test]
fn a_bounded_run_has_the_fingerprint_and_nearly_the_figures_of_one_that_keeps_all() {
    for text in SCENARIOS {
        let plain = Run::new(scenario(text)).unwrap().complete(&mut |_| true).unwrap();
        let mut run = Run::watched_bounded(scenario(text), Duration::from_millis(50)).unwrap();
        while run.now() < run.end() {
            run.advance(run.now() + Duration::from_millis(700));
            run.snapshot();
        }
        let outcome = run.outcome();
        assert!(outcome.tables.is_empty());
        assert_near(&figures(&outcome.summary), &figures(&plain.summary), "", 0.0);
    }
    let long = scenario(SCENARIOS[4]);
    let plain = Run::new(long.clone()).unwrap().complete(&mut |_| true).unwrap();
    let Some(record::Figure::Group(groups)) = plain.summary.get("datagrams") else { panic!() };
    let Some(record::Figure::Group(tone)) = groups.get("tone") else { panic!() };
    assert!(tone.number("received") > 8_192.0, "more than are kept one by one");
}

#[test]
fn delays_of_calls_and_stalls_are_seen_second_by_second() {
    let mut run = Run::watched(scenario(SCENARIOS[4]), Duration::from_millis(50)).unwrap();
    let mut columns: HashMap<String, Vec<f64>> = HashMap::new();
    while run.now() < run.end() {
        run.advance(run.now() + Duration::from_millis(1_300));
        let look = run.snapshot();
        for (name, column) in look["seconds"].as_object().unwrap() {
            let values = column.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(0.0));
            let known = columns.entry(name.clone()).or_default();
            // Nobody has shown or sent anything yet.
            known.resize(look["from_s"].as_u64().unwrap() as usize, 0.0);
            known.extend(values);
        }
    }
    let outcome = run.outcome();
    let of = |name: &str| &columns[name];
    assert!(
        ["tone.delay_mean_s", "call.delay_mean_s", "call.still_share", "film.still_share"]
            .iter()
            .all(|name| of(name).len() == 30),
        "{:?}",
        columns.keys()
    );
    assert!(
        !columns.contains_key("bulk.delay_mean_s") && !columns.contains_key("bulk.still_share")
    );
    let [least, most] = [0.01, 1.0];
    assert!(of("tone.delay_mean_s")[2..].iter().all(|s| (least..most).contains(s)));
    assert!(of("call.frame_delay_mean_s")[2..].iter().all(|s| (least..most).contains(s)));
    // From the first whole second of the measured interval on.
    let stalled: f64 = of("film.still_share")[5..].iter().map(|share| 2.0 * share).sum();
    let Some(record::Column::F64(rows)) = table(&outcome, "players", "stalled_s") else { panic!() };
    let all: f64 = rows.iter().sum();
    assert!(all > 1.0 && (stalled - all).abs() <= 1.0, "{stalled} s of {all} s");
}

/// A column of one of the outcome's tables.
fn table<'a>(of: &'a Outcome, table: &str, column: &str) -> Option<&'a record::Column> {
    let table = of.tables.iter().find(|t| t.name == table)?;
    table.columns.iter().find(|(name, _)| name == column).map(|(_, column)| column)
}

#[test]
fn looks_add_up_to_the_whole_run() {
    let mut run = Run::watched(scenario(SCENARIOS[0]), Duration::from_millis(50)).unwrap();
    let (mut departures, mut drops, mut queue, mut seen) = (0.0, 0.0, 0, Json::Null);
    while run.now() < run.end() {
        run.advance(run.now() + Duration::from_millis(730));
        seen = run.snapshot();
        let port = &seen["ports"][0];
        assert_eq!(port["name"], "bottleneck.forward");
        departures += total(&port["departures"]);
        drops += ["early", "forced", "overflow"]
            .map(|why| total(&port["drops"][why]))
            .iter()
            .sum::<f64>();
        let bins = port["queue"]["least"].as_array().unwrap();
        assert!(port["gauges"]["average"].is_null() || bins.len() < 17);
        queue += bins.len();
    }
    let outcome = run.outcome();
    let column = |name: &str| {
        let seconds = outcome.tables.iter().find(|t| t.name == "seconds").unwrap();
        let (_, column) = seconds.columns.iter().find(|(n, _)| n == name).unwrap();
        let record::Column::U64(counts) = column else { panic!("{name} is a count") };
        counts.iter().sum::<u64>() as f64
    };
    assert_eq!(departures, column("bottleneck.forward.departures"));
    assert_eq!(drops, column("bottleneck.forward.drops"));
    assert_eq!(queue, 20_000 / 50);
    let (n, within) = (&seen["responses"]["total"], &seen["responses"]["within_1s"]);
    assert_eq!(n.as_f64(), Some(outcome.summary.number("responses")));
    let share = within.as_f64().unwrap() / n.as_f64().unwrap();
    assert!((share - outcome.summary.number("share_le_1s")).abs() < 1e-12);
    let counts = total(&seen["responses"]["counts"]);
    assert_eq!(Some(counts), n.as_f64());
}

#[test]
fn a_packet_is_seen_to_come_wait_and_leave() {
    let mut run = Run::watched(scenario(SCENARIOS[0]), Duration::from_millis(50)).unwrap();
    let mut rows = Vec::new();
    run.advance(Instant::ZERO + Duration::from_millis(1_500));
    run.packet_snapshot(&mut rows);
    let events: Vec<&[f64]> = rows.chunks(PACKET_NUMBERS).filter(|row| row[0] == 0.0).collect();
    let first = events[0];
    assert_eq!(first[2], 0.0, "the first event is an arrival");
    let leaves = events.iter().find(|row| row[2] == 1.0 && row[9] == first[9]).unwrap();
    assert!(leaves[1] >= first[1] && leaves[8] == first[8], "{leaves:?}");
    let back = rows.chunks(PACKET_NUMBERS).filter(|row| row[0] == 1.0).count();
    assert!(back > 0, "acknowledgements are seen on their way back");
}

#[test]
fn packets_are_seen_while_they_are_watched() {
    let text = r#"{"duration": "2 s", "link": [{"rate": "2 Mbit/s"}], "traffic": [{"app": "bulk", "flows": 1, "start_within": "0 s"}]}"#;
    let mut run = Run::watched(scenario(text), Duration::from_millis(50)).unwrap();
    let mut seen = |on: bool, until: u64| {
        let mut rows = Vec::new();
        run.watch_packets(on);
        run.advance(Instant::ZERO + Duration::from_millis(until));
        run.packet_snapshot(&mut rows);
        rows.len() / PACKET_NUMBERS
    };
    assert!(seen(true, 500) > 10);
    assert_eq!(seen(false, 1_000), 0);
    assert!(seen(true, 1_500) > 10);
}
