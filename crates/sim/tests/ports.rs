//! What is measured at a port: kinds of packets, runs of drops, gauges, the packet trace.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::Outcome;
use serde_json::{Value, json};

/// One row of a trace.
#[derive(Clone, Copy)]
struct Row {
    at: f64,
    port: f64,
    event: f64,
    why: f64,
    kind: f64,
    again: f64,
    group: f64,
    user: f64,
    bytes: f64,
    queue: f64,
}

fn trace(outcome: &Outcome) -> Vec<Row> {
    let table = table(outcome, "trace");
    let names = [
        "time_ns",
        "port",
        "event",
        "why",
        "kind",
        "again",
        "group",
        "user",
        "bytes",
        "queue_packets",
    ];
    let columns = names.map(|name| column(table, name));
    let row = |i: usize| {
        let [at, port, event, why, kind, again, group, user, bytes, queue] =
            std::array::from_fn(|c| columns[c][i]);
        Row { at, port, event, why, kind, again, group, user, bytes, queue }
    };
    (0..columns[0].len()).map(row).collect()
}

const ARRIVED: f64 = 0.0;
const STARTED: f64 = 1.0;
const DROPPED: f64 = 2.0;
const MARKED: f64 = 3.0;

/// Two links, the first with RED and marks; web users, an ECN-capable bulk sender and others,
/// datagrams.
fn mixture(record: Value) -> Value {
    json!({
        "duration": "30 s", "warmup": "5 s", "network": {"rtt": "60 ms"},
        "link": [
            {"name": "a", "rate": "2 Mbit/s",
             "forward": {"aqm": "red", "profile": "altq", "min_th": 4, "max_th": 12, "w_q": "1/32",
                         "max_p": 0.2, "limit": 14, "ecn": true}},
            {"name": "b", "rate": "1.5 Mbit/s", "delay": "3 ms", "forward": "fq_codel"},
        ],
        "traffic": [
            {"app": "web", "users": 400, "start": "stationary", "tcp": "freebsd-2.2.8"},
            {"app": "bulk", "flows": 2, "tcp": {"profile": "plain", "ecn": true}},
            {"app": "bulk", "flows": 3, "tcp": "plain", "via": ["a"]},
            {"app": "cbr", "flows": 1, "rate": "100 kbit/s", "packet": 200, "start_within": "0 s"},
        ],
        "record": record,
    })
}

#[test]
fn watching_changes_nothing() {
    let queues = json!(["a.forward", "b.forward", "a.reverse"]);
    let plain = simulate(&mixture(json!({"queues": queues})));
    let record = json!({"queues": queues, "gauges": true, "trace": true});
    let watched = simulate(&mixture(record));
    let bare = |outcome: &Outcome| {
        let mut json = aqmlab_sim::summary_json(&outcome.summary);
        let json_object = json.as_object_mut().unwrap();
        for name in ["events", "gauge_max", "gauge_mean"] {
            json_object.remove(name);
        }
        for (_, port) in json_object["ports"].as_object_mut().unwrap() {
            port.as_object_mut().unwrap().retain(|name, _| !name.starts_with("gauge"));
        }
        json
    };
    assert_eq!(bare(&plain), bare(&watched));
    let columns = |outcome| column(table(outcome, "queue"), "a.forward");
    assert_eq!(columns(&plain), columns(&watched));
    assert!(plain.tables.iter().all(|t| t.name != "trace"));
    assert_eq!(table(&plain, "queue").columns.len(), 3);
}

#[test]
fn the_trace_adds_up_to_the_summary() {
    let queues = json!(["a.forward", "b.forward"]);
    let outcome = simulate(&mixture(json!({"queues": queues, "trace": true})));
    let rows = trace(&outcome);
    assert!(rows.is_sorted_by_key(|r| r.at));
    for (port, name) in (0..).zip(["a.forward", "b.forward"]) {
        let s = group(group(&outcome.summary, "ports"), name);
        let here: Vec<Row> =
            rows.iter().filter(|r| r.port == f64::from(port) && r.at >= 5e9).copied().collect();
        let count = |which: &dyn Fn(&Row) -> bool| here.iter().filter(|r| which(r)).count() as f64;
        for (event, figure) in [(ARRIVED, "arrivals"), (DROPPED, "drops"), (MARKED, "marks")] {
            assert_eq!(count(&|r| r.event == event), s.number(figure), "{name}: {figure}");
            for (why, cause) in (0..).zip(["early", "forced", "overflow"]) {
                if event != ARRIVED {
                    let mine = count(&|r| r.event == event && r.why == f64::from(why));
                    assert_eq!(mine, s.number(&format!("{figure}_{cause}")), "{name}: {cause}");
                }
            }
            for (sort, kinds) in [("syn", [1.0, 1.0]), ("ack", [2.0, 4.0]), ("data", [3.0, 3.0])] {
                if event != MARKED {
                    let mine = count(&|r| r.event == event && kinds.contains(&r.kind));
                    assert_eq!(mine, s.number(&format!("{figure}_{sort}")), "{name}: {sort}");
                }
            }
        }
        let again = count(&|r| r.event == DROPPED && r.again == 1.0);
        assert_eq!(again, s.number("retransmissions_dropped"), "{name}");
        // Begun in the measured interval, ended in it: but for the ends the same.
        let started = count(&|r| r.event == STARTED);
        assert!((started - s.number("departures")).abs() <= 1.0, "{name}");
        let bytes: f64 = here.iter().filter(|r| r.event == ARRIVED).map(|r| r.bytes).sum();
        assert_eq!(bytes, s.number("arrival_bytes"), "{name}");
        assert!(here.iter().any(|r| r.kind == 0.0) && here.iter().any(|r| r.kind == 2.0), "{name}");
    }
    // RED drops on arrival: the row after that of the arrival.
    let s = group(group(&outcome.summary, "ports"), "a.forward");
    let here: Vec<&Row> = rows.iter().filter(|r| r.port == 0.0 && r.at >= 5e9).collect();
    let (mut packets, mut since, mut most, mut longest) = (0.0, 0.0, 0.0, 0.0);
    for (i, row) in here.iter().enumerate().filter(|(_, r)| r.event == ARRIVED) {
        if here.get(i + 1).is_some_and(|next| next.event == DROPPED) {
            since = if packets == 0.0 { row.at } else { since };
            packets += 1.0;
            most = f64::max(most, packets);
        } else if packets > 0.0 {
            longest = f64::max(longest, row.at - since);
            packets = 0.0;
        }
    }
    assert_eq!(s.number("longest_drop_run_packets"), most);
    assert_eq!(s.number("longest_drop_run_s"), longest / 1e9);
    // Every cause and kind of drop is there, or the sums above would say little.
    for figure in
        ["drops_syn", "drops_data", "retransmissions_dropped", "drops_early", "marks_early"]
    {
        assert!(s.number(figure) > 0.0, "no {figure}");
    }
    assert!(most >= 3.0, "{most}");
}

#[test]
fn the_trace_knows_whose_packets_they_are() {
    let outcome = simulate(&mixture(json!({"queues": ["a.forward"], "trace": true})));
    let rows = trace(&outcome);
    // Users are numbered over all groups: 400 of the web, then 2, 3 and 1.
    let users = [0.0..400.0, 400.0..402.0, 402.0..405.0, 405.0..406.0];
    for row in &rows {
        assert!(users[row.group as usize].contains(&row.user), "{} of {}", row.user, row.group);
        assert_eq!(row.kind == 0.0, row.group == 3.0, "only the last sends datagrams");
        let found = (row.bytes == 228.0) == (row.kind == 0.0);
        assert!(found || row.kind == 3.0, "{} B of kind {}", row.bytes, row.kind);
    }
    for (user, group) in [(400.0, 1.0), (401.0, 1.0), (404.0, 2.0), (405.0, 3.0)] {
        assert!(rows.iter().any(|r| r.user == user && r.group == group), "none of {user}");
    }
    // What waits follows from the rows.
    let mut waiting = 0.0;
    for (i, row) in rows.iter().enumerate() {
        match row.event {
            ARRIVED => {
                assert_eq!(row.queue, waiting, "row {i}");
                waiting += 1.0;
            }
            MARKED => assert_eq!(row.queue, waiting - 1.0, "row {i}"),
            _ => {
                waiting -= 1.0;
                assert_eq!(row.queue, waiting, "row {i}");
            }
        }
    }
}

/// Datagrams of 1,000 B every ms into a line that takes 8 ms for each.
#[test]
fn the_longest_run_of_drops_by_hand() {
    for (limit, packets, ms) in [(1, 7.0, 7.0), (5, 7.0, 7.0)] {
        let outcome = simulate(&json!({
            "duration": "1 s",
            "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": limit}}],
            "traffic": [{"app": "cbr", "flows": 1, "rate": "7.776 Mbit/s", "packet": 972,
                         "start_within": "0 s"}],
        }));
        // Of eight arrivals one finds room: that at the instant at which a transmission ends.
        let s = &outcome.summary;
        assert_eq!(s.number("longest_drop_run_packets"), packets, "limit {limit}");
        assert!((s.number("longest_drop_run_s") - ms / 1e3).abs() < 1e-12, "limit {limit}");
        let other = ["arrivals_syn", "arrivals_ack", "arrivals_data", "drops_data"];
        assert!(other.iter().all(|name| s.number(name) == 0.0), "datagrams are no segments");
        assert!(s.number("drops") > 800.0);
    }
}

/// Cisco's average with n = 5 and without its idle clock, so far apart: a plain moving average of
/// what arrivals find.
fn averages(outcome: &Outcome, every_ns: f64) -> Vec<f64> {
    let mut rows = trace(outcome).into_iter().filter(|r| r.event == ARRIVED).peekable();
    let mut average = 0.0;
    let samples = column(table(outcome, "queue"), "bottleneck.forward").len();
    let at_sample = |k| {
        while let Some(row) = rows.next_if(|r| r.at < k as f64 * every_ns) {
            average += (row.queue - average) / 32.0;
        }
        average
    };
    (0..samples).map(at_sample).collect()
}

#[test]
fn a_gauge_lies_where_the_rule_puts_it() {
    let outcome = simulate(&json!({
        "duration": "20 s", "warmup": "5 s", "network": {"rtt": "40 ms"},
        "link": [{"rate": "2 Mbit/s",
                  "forward": {"aqm": "wred", "n": 5, "idle_decay": false, "limit": 40}}],
        "traffic": [{"app": "bulk", "flows": 8, "tcp": "plain"}],
        "record": {"gauges": true, "trace": true, "queue_every": "7 ms"},
    }));
    let samples = column(table(&outcome, "queue"), "bottleneck.forward.avg");
    assert_eq!(samples, averages(&outcome, 7e6));
    let measured = &samples[715..]; // from 5.005 s on
    let (max, mean) = (
        measured.iter().copied().fold(f64::MIN, f64::max),
        measured.iter().sum::<f64>() / measured.len() as f64,
    );
    for summary in [&outcome.summary, group(group(&outcome.summary, "ports"), "bottleneck.forward")]
    {
        assert_eq!(group(summary, "gauge_max").number("avg"), max);
        assert!((group(summary, "gauge_mean").number("avg") - mean).abs() < 1e-9 * mean);
    }
    assert!(mean > 3.0, "{mean}");
    let reverse = group(group(&outcome.summary, "ports"), "bottleneck.reverse");
    assert!(reverse.get("gauge_max").is_none(), "only recorded queues show gauges");
}

/// One packet every millisecond, at the instants of the samples: a sample is of what was before.
#[test]
fn a_gauge_is_read_before_what_arrives_at_its_instant() {
    let outcome = simulate(&json!({
        "duration": "50 ms", "network": {"rtt": "0 s"},
        "link": [{"rate": "4 Mbit/s",
                  "forward": {"aqm": "wred", "n": 5, "idle_decay": false, "limit": 40}}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": "7.776 Mbit/s", "packet": 972, "start_within": "0 s"}],
        "record": {"gauges": true, "trace": true, "queue_every": "1 ms"},
    }));
    let arrivals: Vec<Row> = trace(&outcome).into_iter().filter(|r| r.event == ARRIVED).collect();
    assert!(arrivals.len() > 40 && arrivals.iter().all(|row| row.at % 1e6 == 0.0));
    assert_eq!(column(table(&outcome, "queue"), "bottleneck.forward.avg"), averages(&outcome, 1e6));
}

#[test]
fn without_samples_gauges_leave_their_statistics() {
    let mut scenario = mixture(json!({"queues": ["a.forward"], "gauges": true, "samples": false}));
    let without = simulate(&scenario);
    scenario["record"]["samples"] = json!(true);
    let with = simulate(&scenario);
    assert!(without.tables.iter().all(|t| t.name != "queue"));
    assert_eq!(group(&without.summary, "gauge_mean"), group(&with.summary, "gauge_mean"));
}
