//! Two engines, one truth: the folded and the explicit engine give identical departures, losses
//! and response times on random scenarios; so do runs on several threads.

use std::ops::Range;

use aqmlab_sim::{Outcome, Scenario, run};
use packet::Rng;
use record::{Figure, Summary, Table};
use serde_json::{Value, json};

fn pick<'a, T: ?Sized>(rng: &mut Rng, from: &[&'a T]) -> &'a T {
    from[rng.below(from.len() as u64) as usize]
}

fn queue(rng: &mut Rng) -> Value {
    let limit = 5 + rng.below(60);
    let ecn = rng.below(2) == 0;
    let red = |profile: &str, extra: Value| {
        let mut queue = json!({
            "aqm": "red", "profile": profile, "min_th": 3, "max_th": 12, "w_q": "1/64",
            "max_p": 0.2, "limit": limit, "ecn": ecn,
        });
        queue.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        queue
    };
    match rng.below(10) {
        // Whatever is listed, as it comes, but for its marks.
        6..=9 => {
            let entry = &aqm::ALGORITHMS[rng.below(aqm::ALGORITHMS.len() as u64) as usize];
            let mut queue = json!({"aqm": entry.about.name});
            if entry.about.fields.iter().any(|f| f.name == "ecn") {
                queue["ecn"] = json!(ecn);
            }
            queue
        }
        0 => json!({"aqm": "droptail", "limit": limit}),
        1 => red("fj93", json!({})),
        2 => red("altq", json!({})),
        3 => red("linux", json!({})),
        4 => red("ns2-fixed", json!({})),
        _ => red("ns3", json!({})),
    }
}

/// Any end system, with some of its parts exchanged.
fn tcp(rng: &mut Rng) -> Value {
    let listed = tcp::PROFILES.len() as u64;
    let name = match rng.below(2) {
        0 => pick(rng, &["freebsd-2.2.8", "plain"]),
        _ => tcp::PROFILES[rng.below(listed) as usize].about.name,
    };
    let mut tcp = json!({"profile": name, "ecn": rng.below(2) == 0});
    // QUIC has none of these parts.
    if rng.below(3) == 0 && name != "quic" {
        tcp["recovery"] = json!(pick(rng, &["tahoe", "reno", "newreno", "sack"]));
        tcp["f_rto"] = json!(rng.below(2) == 0);
        tcp["limited_transmit"] = json!(rng.below(2) == 0);
        tcp["timestamps"] = json!(rng.below(2) == 0);
        tcp["rto_min"] = json!("0.2 s");
    }
    tcp
}

fn traffic(rng: &mut Rng) -> Value {
    let tcp = tcp(rng);
    let side = pick(rng, &["clients", "servers"]);
    let multiplexed = if tcp["profile"] == "quic" { "http3" } else { "http2" };
    match rng.below(12) {
        10..=11 => datagrams(rng, side),
        0..=2 => json!({"app": "web", "users": 20 + rng.below(200), "side": side, "tcp": tcp,
                        "parallel": 1 + rng.below(6)}),
        3 => json!({"app": "unc", "users": 100 + rng.below(900), "side": side, "tcp": tcp,
                    "start": "stationary", "page_servers": "unc_servers_per_page",
                    "service": {"dist": "exponential", "mean": "30 ms"},
                    "http": pick(rng, &["http10", "http11", "http11-pipelined", multiplexed])}),
        4 => json!({"app": "packmime", "connections_per_s": 5 + rng.below(95), "side": side,
                    "rtt": {"min": "1 ms", "max": "200 ms",
                            "draw": pick(rng, &["pair", "connection"])},
                    "tcp": tcp, "http": pick(rng, &["http10", "http11", "http11-pipelined"])}),
        5 => match pick(rng, &["http", "threegpp-http", "webtraf"]) {
            "webtraf" => json!({"app": "webtraf", "model": "small", "users": 5 + rng.below(60),
                                "side": side, "tcp": tcp, "files": 3,
                                "page_gap_from": pick(rng, &["end", "start"])}),
            app => json!({"app": app, "users": 5 + rng.below(60), "side": side, "tcp": tcp,
                          "start": "stationary"}),
        },
        6 => json!({"app": "loop", "model": pick(rng, &["ftp", "text", "picture"]), "side": side,
                    "flows": 1 + rng.below(12), "tcp": tcp, "start_within": "1 s"}),
        7 => json!({"app": "burst", "flows": 1 + rng.below(20), "side": side, "tcp": tcp,
                    "start_at": "2 s", "start_spread": "2 s"}),
        _ => json!({"app": "bulk", "flows": 1 + rng.below(12), "side": side, "tcp": tcp}),
    }
}

fn datagrams(rng: &mut Rng, side: &str) -> Value {
    let flows = 1 + rng.below(5);
    let rate = format!("{} kbit/s", 20 + rng.below(1_000));
    match rng.below(2) {
        0 => json!({"app": "cbr", "flows": flows, "side": side, "rate": rate, "packet": 300,
                    "dscp": pick(rng, &["default", "ef", "cs1"]), "start_within": "2 s"}),
        _ => json!({"app": "on-off", "flows": flows, "side": side, "rate": rate,
                    "periods": pick(rng, &["exponential", "pareto"]), "lasts": "8 s"}),
    }
}

/// Another way to say a link's rate: steps, with outages, or a trace, or a model of one.
fn changing(rng: &mut Rng) -> Value {
    let rate = |rng: &mut Rng| match rng.below(4) {
        0 => "0 bit/s".to_owned(),
        _ => format!("{} kbit/s", 300 + rng.below(8_000)),
    };
    match rng.below(3) {
        0 => {
            let mut steps = vec![json!(["0 s", "2 Mbit/s"])];
            let mut at = 0;
            for _ in 0..rng.below(8) {
                at += 1 + rng.below(900);
                steps.push(json!([format!("{at} ms"), rate(rng)]));
            }
            json!({"rate_steps": steps, "rate_repeat": format!("{} ms", at + 1 + rng.below(500))})
        }
        1 => {
            // In bursts, so that several stand at one instant.
            let (mut at, mut text) = (0, String::new());
            for _ in 0..5 + rng.below(300) {
                at += rng.below(2) * rng.below(20);
                text += &format!("{at}\n");
            }
            json!({"rate_trace": {"text": format!("{text}{}", at + 1)}})
        }
        _ => json!({"rate": "3 Mbit/s", "rate_trace": {"model": "sprout", "outage": "0.2 s"}}),
    }
}

/// A scenario with one to three links, any queues, traffic both ways, over all or some links.
pub fn scenario(seed: u64) -> Value {
    let mut rng = Rng::indexed(seed, "scenario", 0);
    let mut links: Vec<Value> = (0..1 + rng.below(3))
        .map(|i| {
            json!({
                "name": format!("hop{i}"),
                "rate": format!("{} kbit/s", 300 + rng.below(8_000)),
                "delay": format!("{} us", rng.below(20_000)),
                "reverse_rate": format!("{} kbit/s", 300 + rng.below(8_000)),
                "framing": pick(&mut rng, &["none", "ethernet"]),
                "forward": queue(&mut rng),
                "reverse": queue(&mut rng),
            })
        })
        .collect();
    let mut groups: Vec<Value> = (0..1 + rng.below(3)).map(|_| traffic(&mut rng)).collect();
    if links.len() > 1 {
        // Cross traffic over one hop only.
        let mut cross = traffic(&mut rng);
        cross["via"] = json!([format!("hop{}", rng.below(links.len() as u64))]);
        groups.push(cross);
    }
    let mut network = json!({
        "clients": 1 + rng.below(9), "servers": 1 + rng.below(9),
        "rtt": {"min": "1 ms", "max": "200 ms",
                "draw": pick(&mut rng, &["pair", "source", "connection"])},
    });
    if rng.below(4) == 0 {
        network["delay_tick"] = json!("10 ms");
    }
    if rng.below(4) == 0 {
        groups[0]["rtt"] = json!(["4 ms", "150 ms", "28 ms"]);
    }
    if rng.below(3) == 0 {
        network["access_rate"] = json!("20 Mbit/s");
    }
    let names: Vec<String> = (0..links.len()).map(|i| format!("hop{i}.forward")).collect();
    let duration = format!("{} s", 5 + rng.below(20));
    // Drawn last: what else a seed means stays.
    let (gauges, trace) = (rng.below(6) == 0, rng.below(6) == 0);
    for link in &mut links {
        for prefix in ["", "reverse_"] {
            if rng.below(3) == 0 {
                for (name, value) in changing(&mut rng).as_object().unwrap() {
                    link[format!("{prefix}{name}")] = value.clone();
                }
            }
        }
        if rng.below(3) == 0 {
            link["ring"] = json!(1 + rng.below(12));
        }
        if rng.below(3) == 0 {
            link["header_bytes"] = json!(rng.below(40));
        }
        if rng.below(3) == 0 {
            link["framing"] = json!(aqmlab_sim::scenario::framing::NAMES[rng.below(10) as usize]);
        }
    }
    if groups.len() > 1 && rng.below(3) == 0 {
        groups[0]["name"] = json!("leader");
        groups[1]["start_after"] = json!({"group": "leader", "delay": "700 ms"});
    }
    json!({
        "duration": duration, "warmup": "2 s", "seed": seed, "network": network, "link": links,
        "traffic": groups,
        "record": {
            "queues": names, "gauges": gauges, "trace": trace,
            "by_group": seed.is_multiple_of(2), "sources": seed.is_multiple_of(3),
        },
    })
}

fn simulate(mut scenario: Value, engine: &str) -> Outcome {
    scenario["engine"] = json!(engine);
    let text = scenario.to_string();
    run(Scenario::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))).unwrap()
}

/// The summary without what tells the engines apart. As JSON, where what is not a number equals
/// itself.
fn comparable(summary: &Summary) -> Value {
    let mut json = aqmlab_sim::summary_json(summary);
    json.as_object_mut().unwrap().remove("events");
    json
}

/// Asserts that the tables are the same bit for bit, where what is not a number equals itself.
fn assert_same_tables(left: Vec<Table>, right: Vec<Table>, what: &str) {
    let names = |tables: &[Table]| tables.iter().map(|t| t.name).collect::<Vec<_>>();
    assert_eq!(names(&left), names(&right), "{what}");
    for (a, b) in left.into_iter().zip(right) {
        assert_eq!(a.every_s, b.every_s, "{what}, {}", a.name);
        for ((name, mine), (other, theirs)) in a.columns.into_iter().zip(b.columns) {
            assert_eq!(name, other, "{what}, {}", a.name);
            assert!(mine.into_bytes() == theirs.into_bytes(), "{what}: {}.{name} differs", a.name);
        }
    }
}

#[test]
fn folded_and_explicit_runs_are_identical() {
    are_identical(0..100);
}

#[test]
#[ignore = "ten seconds: `make validate` runs it"]
fn many_more_folded_and_explicit_runs_are_identical() {
    are_identical(100..1_000);
}

fn are_identical(seeds: Range<u64>) {
    let scenarios = (seeds.end - seeds.start) as f64;
    let (mut drops, mut marks, mut responses, mut datagrams) = (0.0, 0.0, 0.0, 0.0);
    let mut fewer = 0.0;
    for seed in seeds {
        let [folded, explicit] = ["folded", "explicit"].map(|e| simulate(scenario(seed), e));
        assert_eq!(
            comparable(&folded.summary),
            comparable(&explicit.summary),
            "scenario {seed}: {}",
            scenario(seed)
        );
        // Where every discipline holds its packets there is nothing to fold.
        let [few, all] = [&folded, &explicit].map(|o| o.summary.number("events"));
        assert!(few <= all, "scenario {seed}: {few} events folded, {all} explicit");
        fewer += f64::from(few < all);
        assert_same_tables(folded.tables, explicit.tables, &format!("scenario {seed}"));
        drops += folded.summary.number("drops");
        marks += folded.summary.number("marks");
        responses += folded.summary.number("responses");
        if let Some(Figure::Group(groups)) = folded.summary.get("datagrams") {
            for (_, group) in &groups.0 {
                let Figure::Group(group) = group else { panic!() };
                datagrams += group.number("received");
            }
        }
    }
    // The scenarios are worth comparing only if something happens in them.
    assert!(fewer > 0.67 * scenarios, "only {fewer} scenarios had anything to fold");
    assert!(datagrams > 34.0 * scenarios, "{datagrams} datagrams");
    assert!(drops > 34.0 * scenarios, "{drops} drops");
    assert!(responses > 34.0 * scenarios, "{responses} responses");
    assert!(marks > 7.0 * scenarios, "{marks} marks");
}

/// The same scenario with today's end systems, of this congestion control.
fn of_today(seed: u64, control: &str) -> Value {
    let mut scenario = scenario(seed);
    for group in scenario["traffic"].as_array_mut().unwrap() {
        if group.get("tcp").is_some() {
            group["tcp"] = json!({"profile": "linux", "congestion": control});
            if group["http"] == "http3" {
                group["http"] = json!("http2");
            }
        }
    }
    scenario
}

#[test]
fn today_s_senders_are_identical_in_both_engines() {
    let (mut drops, mut again) = (0.0, 0.0);
    let controls: Vec<&str> = tcp::controls().map(|about| about.name).collect();
    for (seed, control) in (0..60).zip(controls.into_iter().cycle()) {
        let scenario = of_today(seed, control);
        let [folded, explicit] = ["folded", "explicit"].map(|e| simulate(scenario.clone(), e));
        let (mine, theirs) = (comparable(&folded.summary), comparable(&explicit.summary));
        assert_eq!(mine, theirs, "scenario {seed} with {control}");
        assert_same_tables(folded.tables, explicit.tables, &format!("{seed} {control}"));
        drops += folded.summary.number("drops");
        again += folded.summary.number("fast_retransmits");
    }
    assert!(drops > 1_000.0 && again > 300.0, "{drops} drops, {again} recoveries");
}

#[test]
fn threads_do_not_matter() {
    let alone: Vec<Outcome> = (100..106).map(|s| simulate(scenario(s), "folded")).collect();
    let together: Vec<Outcome> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (100..106).map(|s| scope.spawn(move || simulate(scenario(s), "folded"))).collect();
        runs.into_iter().map(|r| r.join().unwrap()).collect()
    });
    for (a, b) in alone.into_iter().zip(together) {
        assert_eq!(aqmlab_sim::summary_json(&a.summary), aqmlab_sim::summary_json(&b.summary));
        assert_same_tables(a.tables, b.tables, "threads");
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let fingerprint = |s: Value| match simulate(s, "folded").summary.get("fingerprint") {
        Some(Figure::Text(print)) => print.clone(),
        other => panic!("{other:?}"),
    };
    let mut other = scenario(7);
    other["seed"] = json!(8);
    assert_eq!(fingerprint(scenario(7)), fingerprint(scenario(7)));
    assert_ne!(fingerprint(scenario(7)), fingerprint(other));
}
