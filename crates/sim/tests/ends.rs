//! What is measured at the ends: groups, losses, open connections, what each source got.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::Outcome;
use record::Summary;
use serde_json::{Value, json};

fn figures<const N: usize>(summary: &Summary, names: [&str; N]) -> [f64; N] {
    names.map(|name| summary.number(name))
}

const LOSSES: [&str; 6] = [
    "segments_lost",
    "segments_retransmitted",
    "retransmissions_lost",
    "loss_episodes",
    "loss_episodes_multiple",
    "loss_episodes_timeout",
];

/// One flow sends an acknowledgement, four segments and a FIN back to back: the acknowledgement is
/// on the line, `room` of them wait, the rest is lost.
fn four_segments(room: u32, extra: Value) -> Outcome {
    let mut scenario = json!({
        "duration": "60 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": room}}],
        "traffic": [{"app": "burst", "flows": 1, "bytes": 4 * 1_460,
                     "tcp": {"profile": "plain", "initial_window": 4}}],
    });
    scenario.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    simulate(&scenario)
}

#[test]
fn two_losses_of_one_window_are_one_episode() {
    let lossy = four_segments(2, json!({}));
    assert_eq!(lossy.summary.number("drops"), 3.0, "the last two segments and the FIN");
    assert_eq!(figures(&lossy.summary, LOSSES), [2.0, 2.0, 0.0, 1.0, 1.0, 1.0]);
    let once = four_segments(3, json!({}));
    assert_eq!(figures(&once.summary, LOSSES), [1.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    let only_fin = four_segments(4, json!({}));
    assert_eq!(only_fin.summary.number("drops"), 1.0);
    assert_eq!(figures(&only_fin.summary, LOSSES), [0.0; 6]);
    let warm_up = four_segments(2, json!({"warmup": "30 s"}));
    assert_eq!(figures(&warm_up.summary, LOSSES), [0.0; 6]);
}

#[test]
fn retransmissions_get_lost_too() {
    // Datagrams at ten times the rate of the line take nine tenths of its queue.
    let flood = simulate(&json!({
        "duration": "600 s",
        "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": 5}}],
        "traffic": [
            {"app": "cbr", "flows": 1, "rate": "10 Mbit/s", "packet": 1000},
            {"app": "burst", "flows": 20, "bytes": 20_000, "start_at": "1 s"},
        ],
        "record": {"datagrams": false},
    }));
    let [lost, again, lost_again, episodes, multiple, timeout] = figures(&flood.summary, LOSSES);
    assert!(lost_again > 20.0 && lost_again < again && lost_again < lost, "{:?}", flood.summary);
    // Retransmissions lost make no episode a multiple one, and first losses are what is left.
    assert!(multiple < episodes && timeout > 0.0 && timeout < episodes);
    assert!(episodes + multiple + lost_again <= lost, "{:?}", flood.summary);
}

#[test]
fn a_connection_s_later_replies_are_free_of_what_befell_the_first() {
    let lossy = simulate(&json!({
        "duration": "300 s",
        // So little room for requests that SYNs get lost, and so much for replies that these do not.
        "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "droptail", "limit": 10_000},
                  "reverse_rate": "100 kbit/s", "reverse": {"aqm": "droptail", "limit": 5}}],
        "traffic": [{"app": "unc", "users": 400, "rtt": "100 ms", "start": "stationary",
                     "http": "http11", "persistent": 1, "idle_timeout": "60 s"}],
    }));
    let again: f64 = column(table(&lossy, "response_sizes"), "retransmitted").iter().sum();
    let classes = column(table(&lossy, "responses"), "class");
    let of_disturbed = classes.iter().filter(|&&class| class != 0.0).count() as f64;
    assert!(again > 20.0 && again < 0.5 * of_disturbed, "{again} of {of_disturbed}");
}

fn web(users: u32, name: &str, rtt: &str) -> Value {
    json!({"app": "web", "name": name, "users": users, "rtt": rtt, "start": "stationary"})
}

#[test]
fn every_group_has_its_own_response_times() {
    let both = simulate(&json!({
        "duration": "120 s", "warmup": "20 s",
        "link": [{"rate": "10 Mbit/s"}],
        "traffic": [web(300, "near", "10 ms"), {"app": "bulk", "flows": 1},
                    web(300, "far", "200 ms")],
        "record": {"by_group": true},
    }));
    let groups = group(&both.summary, "by_group");
    assert_eq!(groups.0.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["near", "far"]);
    let responses = table(&both, "responses");
    let rows = column(responses, "group").into_iter().zip(column(responses, "end_ns"));
    let rows: Vec<_> = rows.zip(column(responses, "duration_ns")).collect();
    let histogram = table(&both, "response_histogram");
    let blocks: Vec<(f64, f64)> =
        column(histogram, "group").into_iter().zip(column(histogram, "count")).collect();
    for (number, name) in [(0.0, "near"), (2.0, "far")] {
        let own = group(groups, name);
        let mut times: Vec<f64> = rows
            .iter()
            .filter(|((of, end), _)| *of == number && *end >= 20e9)
            .map(|(_, took)| took / 1e9)
            .collect();
        times.sort_by(f64::total_cmp);
        assert!(times.len() > 100, "{} of {name}", times.len());
        assert_eq!(own.number("responses"), times.len() as f64);
        assert_eq!(own.number("response_p50_s"), record::quantile(&times, 0.5));
        let block: f64 = blocks.iter().filter(|(of, _)| *of == number).map(|(_, n)| n).sum();
        assert_eq!(block, times.len() as f64);
    }
    for name in ["requests", "responses", "response_bytes"] {
        let sum: f64 = ["near", "far"].map(|g| group(groups, g).number(name)).iter().sum();
        assert_eq!(sum, both.summary.number(name), "{name}");
    }
}

#[test]
fn responses_are_grouped_by_what_was_sent_again_for_them() {
    let scenario = |rate: &str, limit: u32| {
        json!({
            "duration": "300 s",
            "link": [{"rate": rate, "forward": {"aqm": "droptail", "limit": limit},
                      "reverse": {"aqm": "droptail", "limit": 1000}}],
            "traffic": [web(600, "web", "100 ms")],
        })
    };
    let sum = |outcome: &Outcome, name: &str| -> f64 {
        column(table(outcome, "response_sizes"), name).iter().sum()
    };
    let empty = simulate(&scenario("1 Gbit/s", 10_000));
    assert_eq!(sum(&empty, "retransmitted"), 0.0);
    let lossy = simulate(&scenario("2 Mbit/s", 8));
    let responses = table(&lossy, "responses");
    let answered = column(responses, "class")
        .into_iter()
        .zip(column(responses, "failed"))
        .filter(|(_, failed)| *failed == 0.0)
        .map(|(class, _)| class);
    let classes: Vec<f64> = answered.collect();
    let of = |wanted: &[f64]| classes.iter().filter(|c| wanted.contains(c)).count() as f64;
    let again = sum(&lossy, "retransmitted");
    // A SYN is repeated before the response, a FIN alone after it.
    assert!(of(&[1.0]) > 50.0 && of(&[3.0]) > 50.0);
    assert!(again >= of(&[1.0, 3.0]) && again <= of(&[1.0, 3.0, 4.0]), "{again}");
    assert_eq!(sum(&lossy, "responses"), classes.len() as f64);
    // Every size has its own times: the median of a row is not above its 90th percentile.
    let sizes = table(&lossy, "response_sizes");
    let pairs = column(sizes, "p50_s").into_iter().zip(column(sizes, "p90_s"));
    assert!(pairs.into_iter().all(|(half, most)| half <= most));
}

#[test]
fn open_connections_are_counted_from_connect_until_both_ends_are_through() {
    let burst = |start: &str, flows: u32, side: &str| json!({"app": "burst", "flows": flows, "bytes": 3_000, "start_at": start, "side": side});
    let scenario = json!({
        "duration": "60 s", "warmup": "50 s",
        "network": {"clients": 3, "servers": 2, "rtt": "100 ms"},
        "link": [{"rate": "1 Gbit/s"}],
        // The first seven are over when the later six start: three at most at one of the clients.
        "traffic": [burst("1 s", 7, "clients"), burst("10 s", 6, "servers")],
    });
    let peaks =
        figures(&simulate(&scenario).summary, ["connections_peak", "connections_peak_per_client"]);
    assert_eq!(peaks, [7.0, 3.0]);
}

#[test]
fn every_source_that_asks_for_replies_has_a_row() {
    let mut scenario = json!({
        "duration": "120 s", "warmup": "20 s",
        "link": [{"rate": "10 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 2},
                    {"app": "loop", "model": "ftp", "flows": 5, "rtt": ["10 ms", "200 ms"]}],
    });
    let silent = simulate(&scenario);
    assert!(silent.summary.get("sources_jain_index").is_none());
    assert!(silent.tables.iter().all(|t| t.name != "sources"));
    scenario["record"] = json!({"sources": true});
    let told = simulate(&scenario);
    let sources = table(&told, "sources");
    assert_eq!(column(sources, "group"), [1.0; 5]);
    assert_eq!(column(sources, "user"), [2.0, 3.0, 4.0, 5.0, 6.0]);
    let sum = |name: &str| -> f64 { column(sources, name).iter().sum() };
    let failed = told.summary.number("responses_failed");
    assert_eq!(failed, 0.0);
    assert_eq!(sum("responses"), told.summary.number("responses"));
    assert_eq!(sum("response_bytes"), told.summary.number("response_bytes"));
    let goodputs = column(sources, "goodput_bits_per_s");
    // What arrives of replies that end outside of the interval: at most a file for each source
    // more or less, and the requests.
    let answered = sum("response_bytes") * 8.0 / 100.0;
    let off = goodputs.iter().sum::<f64>() - answered;
    assert!(off.abs() < 5.0 * 150_000.0 * 8.0 / 100.0, "{off} bit/s of {answered}");
    assert_eq!(told.summary.number("sources_jain_index"), record::jain_index(&goodputs));
    let by_time = told.summary.number("sources_jain_index");
    assert!(by_time > 0.2 && by_time < 1.0, "{by_time}");
}

#[test]
fn a_source_s_goodput_is_of_the_measured_interval_whether_or_not_a_reply_ends_in_it() {
    let told = simulate(&json!({
        "duration": "120 s", "warmup": "100 s",
        "link": [{"rate": "10 Mbit/s"}],
        "traffic": [{"app": "loop", "flows": 2, "reply": 900_000_000}],
        "record": {"sources": true},
    }));
    let sources = table(&told, "sources");
    assert_eq!(column(sources, "responses"), [0.0; 2]);
    let all: f64 = column(sources, "goodput_bits_per_s").iter().sum();
    // The line is full, headers take 40 of 1,500 B.
    assert!(all > 9e6 && all < 10e6, "{all} bit/s");
}
