//! Recorded connections played again: what they carry, when, and how far.

use std::collections::BTreeMap;

use crate::outcome::{column, simulate, table};
use crate::pcap::{FIN, Frame, SYN, captured};
use aqmlab_sim::CapturedAt::Departure;
use serde_json::{Value, json};

/// A link that adds nothing to speak of, and this recording.
fn scenario(text: &str, changes: Value) -> Value {
    let mut replay = json!({
        "app": "replay", "model": {"file": "small", "text": text},
        "tcp": {"profile": "plain", "initial_window": 40, "window": 1_000_000},
    });
    replay.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    json!({
        "duration": "30 s",
        "network": {"rtt": "10 ms"},
        "link": [{"rate": "100 Gbit/s", "forward": {"aqm": "droptail", "limit": 10_000}}],
        "traffic": [replay],
    })
}

/// What one side of a connection wrote at once: its time in ms, to the next µs, and its bytes.
type Wrote = (f64, u32);

/// By connection, in order of its start: its SYN's time, and what opener and acceptor wrote, as
/// it passes the link; writes of one instant are one.
fn played(scenario: &Value) -> Vec<(f64, [Vec<Wrote>; 2])> {
    let (_, frames) = captured(scenario, &[], Departure);
    let mut connections: BTreeMap<u16, (f64, [Vec<Wrote>; 2])> = BTreeMap::new();
    let ms = |frame: &Frame| (frame.at_ns as f64 / 1e3).round() / 1e3;
    for frame in &frames {
        let from = usize::from(frame.source.1 == 80);
        let own = if from == 0 { frame.source.1 } else { frame.destination.1 };
        let (_, wrote) = connections.entry(own).or_insert((ms(frame), Default::default()));
        match wrote[from].last_mut() {
            _ if frame.payload == 0 => {}
            Some((at, bytes)) if ms(frame) - *at < 0.1 => *bytes += frame.payload,
            _ => wrote[from].push((ms(frame), frame.payload)),
        }
    }
    connections.into_values().collect()
}

fn near(found: &[Wrote], expected: &[Wrote]) {
    assert_eq!(found.len(), expected.len(), "{found:?}, not {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        let close = (found.0 - expected.0).abs() < 0.02 && found.1 == expected.1;
        assert!(close, "{found:?}, not {expected:?}");
    }
}

#[test]
fn epochs_keep_their_sizes_and_times() {
    // Round trip 40 ms, all of it before the opener: what it hears is 40 ms old, what it
    // writes is there at once.
    let text = "recording 5000000 1\n\
        100000 40000 0 1 2 fin epochs 7000,300,3000,5000 200000,400,0,600 0,0,50000,700 600000,80,0,0";
    let [(start, [opener, acceptor])] = &played(&scenario(text, json!({})))[..] else { panic!() };
    assert_eq!(*start, 100.0);
    // Established at 140.
    near(opener, &[(147.0, 300), (390.0, 400), (1_080.0, 80)]);
    // The third reply counts from the second.
    near(acceptor, &[(150.0, 5_000), (390.0, 600), (440.0, 700)]);
    let run = simulate(&scenario(text, json!({})));
    assert!(run.tables.iter().all(|table| table.name != "transfers"), "it had replies");
    assert_eq!(run.summary.number("connections"), 1.0);
}

#[test]
fn an_acceptor_may_speak_first() {
    let text = "recording 5000000 1\n0 40000 0 1 2 fin epochs 0,0,9000,77 1000,10,2000,20";
    let [(_, [opener, acceptor])] = &played(&scenario(text, json!({})))[..] else { panic!() };
    near(acceptor, &[(49.0, 77), (92.0, 20)]);
    near(opener, &[(90.0, 10)]);
    let run = simulate(&scenario(text, json!({})));
    assert_eq!(run.summary.number("requests"), 1.0, "only what was asked for");
    assert_eq!(column(table(&run, "responses"), "reply_bytes"), [20.0]);
}

#[test]
fn an_acceptor_speaks_up_when_nothing_comes() {
    // What the opener wrote asked for nothing; 50 ms later the acceptor works for 1 ms, and writes.
    let text = "recording 5000000 1\n0 40000 0 1 2 fin epochs 0,300,0,0 50000,0,1000,700 0,10,0,20";
    let tcp = json!({"tcp": {"profile": "plain", "delayed_ack": "0 s"}});
    let [(_, [opener, acceptor])] = &played(&scenario(text, tcp))[..] else { panic!() };
    let [(requested, _), _] = opener[..] else { panic!("{opener:?}") };
    let [(spoke, 700), (answered, 20)] = acceptor[..] else { panic!("{acceptor:?}") };
    // Its round trip lies before the opener, and it is told of what is acknowledged.
    assert!((spoke - requested - 91.0).abs() < 0.1, "{requested} {spoke}");
    assert!((answered - spoke - 40.0).abs() < 0.1, "{spoke} {answered}");
}

/// The last byte of the first reply leaves a round trip after the others, and from then the
/// second counts; what is asked for is written behind the reply before it, sent or not.
#[test]
fn what_an_acceptor_writes_without_a_request_waits_until_all_before_it_is_sent() {
    let tcp = json!({"tcp": {"profile": "plain", "initial_window": 1, "delayed_ack": "0 s"}});
    for (first, waits) in [(1_460, 40.0), (1_461, 42.0), (3_000, 42.0)] {
        let text = format!(
            "recording 5000000 1\n0 40000 0 1 2 fin epochs 0,300,1000,{first} 0,0,2000,700"
        );
        let [(_, [_, acceptor])] = &played(&scenario(&text, tcp.clone()))[..] else { panic!() };
        let (begun, (spoke, _)) = (acceptor[0].0, acceptor[acceptor.len() - 1]);
        assert!((spoke - begun - waits).abs() < 0.1, "{first}: {acceptor:?}");
    }
}

#[test]
fn concurrent_sides_keep_gaps_and_what_each_had_received() {
    // The acceptor begins 5 ms after the connection stands, and goes on when 517 B are there; the
    // opener's second unit has heard the first of the acceptor's, its third none of the second.
    // The acceptor's third waits 70 ms behind its second.
    let text = "recording 5000000 1\n\
        0 40000 0 1 2 fin units 10000,517,0 0,93,100 300000,50,2999 / 5000,100,0 1000,2900,517 \
         70000,40,517";
    let [(_, [opener, acceptor])] = &played(&scenario(text, json!({})))[..] else { panic!() };
    near(acceptor, &[(45.0, 100), (50.0, 2_900), (120.0, 40)]);
    near(opener, &[(50.0, 517), (85.0, 93), (385.0, 50)]);
}

#[test]
fn starts_are_stretched_and_nothing_else() {
    let line = "epochs 0,100,1000,200";
    let text = format!(
        "recording 4000000 3\n0 20000 0 1 2 fin {line}\n1000000 - 1 2 3 fin {line}\n\
         2500000 20000 0 1 2 open {line}"
    );
    let starts = |changes: Value| -> Vec<f64> {
        played(&scenario(&text, changes)).iter().map(|(start, _)| *start).collect()
    };
    assert_eq!(starts(json!({})), [0.0, 1_000.0, 2_500.0]);
    assert_eq!(starts(json!({"scale": 2})), [0.0, 2_000.0, 5_000.0]);
    // 0.75 a second were recorded.
    assert_eq!(starts(json!({"connections_per_s": 1.5})), [0.0, 500.0, 1_250.0]);
    assert_eq!(starts(json!({"openers": "1"})), [1_000.0]);
    let [(_, wrote), ..] = &played(&scenario(&text, json!({"scale": 2})))[..] else { panic!() };
    near(&wrote[1], &[(21.0, 200)]);
    // A distance that was not recorded is another connection's; or all are the scenario's.
    let second = |changes: Value| played(&scenario(&text, changes))[1].1[0][0].0;
    assert!((second(json!({})) - 1_020.0).abs() < 0.02);
    assert!((second(json!({"distances": "scenario"})) - 1_010.0).abs() < 0.02);
}

#[test]
fn ends_are_those_recorded() {
    let line = "epochs 0,100,1000,200";
    let text = format!("recording 9 2\n0 20000 0 1 2 rst {line}\n0 20000 0 3 2 open {line}");
    let (run, frames) = captured(&scenario(&text, json!({})), &[], Departure);
    let of = |host: u8, flag: u16| {
        let own = frames.iter().filter(|f| f.source.0[3] == host || f.destination.0[3] == host);
        own.filter(|f| f.tcp.as_ref().is_some_and(|tcp| tcp.flags & flag > 0)).count()
    };
    // Machine 1 has address 2; seven machines each side.
    assert_eq!([of(4, SYN), of(4, FIN)], [2, 0], "no end was seen");
    assert_eq!(run.summary.number("connections"), 1.0);
    assert_eq!(run.summary.number("responses"), 2.0);
    assert_eq!(run.summary.number("requests_open_at_end"), 0.0);
}

/// A recording of a hundred connections, each of which is identified by its sizes.
fn hundred() -> String {
    let line = |i: u64| {
        // Bursts of ten.
        let at = i / 10 * 1_000_000 + i % 10 * 1_000;
        format!("\n{at} {} 0 {} 1 fin epochs 0,{},0,{}", 5_000 + i, i % 7, 1_000 + i, 9_000 + i)
    };
    format!("recording 10000000 100{}", (0..100).map(line).collect::<String>())
}

#[test]
fn resampled_connections_come_at_their_rate_and_each_as_often() {
    // 200 s at 50 a second: 10,000 connections, each of the hundred 100 times.
    let mut scenario = scenario(&hundred(), json!({"mode": "resample", "connections_per_s": 50}));
    scenario["duration"] = json!("200 s");
    let run = simulate(&scenario);
    let responses = table(&run, "responses");
    let sizes = column(responses, "reply_bytes");
    // Five standard deviations of a Poisson count.
    assert!((sizes.len() as f64 - 10_000.0).abs() < 500.0, "{}", sizes.len());
    let of = |size: f64| sizes.iter().filter(|&&s| s == size).count() as f64;
    let chi: f64 = (0..100).map(|i| (of(9_000.0 + f64::from(i)) - 100.0).powi(2) / 100.0).sum();
    // Chi-square with 99 degrees of freedom: mean 99, standard deviation 14.
    assert!((chi - 99.0).abs() < 5.0 * 14.0, "{chi}");
    // Whole: request and reply belong together.
    let requests = column(responses, "request_bytes");
    assert!(requests.iter().zip(&sizes).all(|(a, b)| a + 8_000.0 == *b));
}

#[test]
fn blocks_keep_neighbours_together_with_their_gaps() {
    let blocks = json!({"mode": "resample", "arrivals": "recorded", "block": 10, "scale": 0.5});
    let played = played(&scenario(&hundred(), blocks));
    // Thirty seconds at 20 a second, in bursts: roughly.
    assert!((300..900).contains(&played.len()), "{}", played.len());
    let place = |wrote: &[Vec<Wrote>; 2]| wrote[0].first().map(|(_, bytes)| bytes - 1_000);
    let mut neighbours = 0;
    for pair in played.windows(2) {
        let (Some(a), Some(b)) = (place(&pair[0].1), place(&pair[1].1)) else { continue };
        if (a + 1) % 100 == b {
            neighbours += 1;
            let gap = pair[1].0 - pair[0].0;
            let expected = if b % 10 == 0 { 495.5 } else { 0.5 };
            assert!((gap - expected).abs() < 0.002, "{a} {b}: {gap} ms");
        }
    }
    let share = f64::from(neighbours) / played.len() as f64;
    assert!((share - 0.9).abs() < 0.05, "nine of ten follow their neighbour: {share}");
}

#[test]
fn mistakes_are_one_sentence() {
    let why = |text: &str, changes: Value| {
        let read = aqmlab_sim::Scenario::from_json(&scenario(text, changes).to_string());
        read.and_then(|scenario| scenario.check_parameters()).unwrap_err().0
    };
    let good = "recording 5 1\n0 1 0 1 2 fin epochs 0,1,2,3";
    assert_eq!(
        why("recording 5 2\n0 1 0 1 2 fin epochs 0,1,2,3", json!({})),
        "traffic replay0: model: small, 1 of 2 connections are there; write it again with `aqmlab \
         learn`"
    );
    assert!(why(good, json!({"model": "x.jsonl"})).contains("\"x.jsonl\" was not read; start"));
    assert!(why(good, json!({"openers": "1"})).contains("no connection begun on that side"));
    assert!(why(good, json!({"scale": 2, "connections_per_s": 2})).contains("beside connections"));
    assert!(why(good, json!({"load": "50%", "connections_per_s": 2})).contains("give one of them"));
    let none = "recording 0 1\n0 1 0 1 2 fin epochs 0,1,2,3";
    assert!(why(none, json!({"connections_per_s": 2})).contains("lasts no time"));
}

#[test]
fn a_load_must_be_calibrated_first() {
    let text = "recording 5000000 1\n0 40000 0 1 2 fin epochs 0,300,1000,700";
    let scenario = scenario(text, json!({"load": "50%"}));
    let scenario = aqmlab_sim::Scenario::from_json(&scenario.to_string()).unwrap();
    let why = aqmlab_sim::run(scenario).map(drop).unwrap_err().to_string();
    assert!(
        why.starts_with("traffic replay0: load has not been calibrated into its size; "),
        "{why}"
    );
}
