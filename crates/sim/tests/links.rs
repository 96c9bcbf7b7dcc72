//! Links whose rate changes: departures by hand, what is offered and used, what is refused, and the
//! kinds of access.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::topology::Direction;
use aqmlab_sim::{Scenario, capacities, run};
use serde_json::{Value, json};

/// Datagrams of 1,000 B, one every `every_ms`, over a link with these fields.
fn stream(mut link: Value, every_ms: f64, duration: &str, engine: &str) -> Value {
    link["forward"] = json!({"aqm": "droptail", "limit": 100_000});
    json!({
        "duration": duration, "engine": engine, "network": {"rtt": "0 s"}, "link": [link],
        "traffic": [{"app": "cbr", "flows": 1, "rate": format!("{} bit/s", 7_776e3 / every_ms),
                     "packet": 972, "start_within": "0 s"}],
    })
}

/// When the datagrams of a stream left the link, ms.
fn departures(link: Value, every_ms: f64, duration: &str) -> Vec<f64> {
    let [folded, explicit] = ["folded", "explicit"].map(|engine| {
        let outcome = simulate(&stream(link.clone(), every_ms, duration, engine));
        let rows = table(&outcome, "datagrams");
        let (sent, delay) = (column(rows, "sent_ns"), column(rows, "delay_ns"));
        let arrived = sent.iter().zip(&delay).filter(|(_, d)| **d < 1e18);
        arrived.map(|(sent, delay)| (sent + delay) / 1e6).collect::<Vec<f64>>()
    });
    assert_eq!(folded, explicit);
    folded
}

#[test]
fn steps_by_hand() {
    // 1,000 B take 1 ms at 8 Mbit/s and 4 ms at 2 Mbit/s. The outage holds the third half sent.
    let link = json!({"rate_steps": [["0 s", "8 Mbit/s"], ["2.5 ms", "0 bit/s"],
                                     ["10 ms", "2 Mbit/s"], ["16 ms", "8 Mbit/s"]]});
    let left = departures(link, 0.5, "20 ms");
    assert_eq!(left[..6], [1.0, 2.0, 12.0, 16.0, 17.0, 18.0]);
}

#[test]
fn repeated_steps_by_hand() {
    let link = json!({"rate_steps": [["0 s", "8 Mbit/s"], ["2 ms", "0 bit/s"]],
                      "rate_repeat": "5 ms"});
    assert_eq!(departures(link, 0.5, "14 ms")[..6], [1.0, 2.0, 6.0, 7.0, 11.0, 12.0]);
}

#[test]
fn a_trace_by_hand() {
    // 1,000 B packets every 2 ms from 0 on, 1,500 B at 3, 4, 4, 9 and 10 ms, then again from 13 on.
    let link = json!({"rate_trace": {"text": "3\n4\n4\n9\n10\n"}});
    let left = departures(link, 2.0, "20 ms");
    // 3 ms: packet 0 and half of 1 (sent at 2); 4 ms: the rest of 1, and 2 comes too late for it.
    // 9 ms: 2, half of 3; 10 ms: 3 and 4 (sent at 8). 5 is sent at 10, and goes at 13 with 6.
    assert_eq!(left[..7], [3.0, 4.0, 9.0, 10.0, 10.0, 13.0, 14.0]);
}

#[test]
fn a_constant_table_is_a_constant_rate() {
    let mut fingerprints = Vec::new();
    for link in [
        json!({"rate": "7777777 bit/s", "framing": "ethernet"}),
        json!({"rate_steps": [["0 s", "7777777 bit/s"], ["3.3 s", "7777777 bit/s"]],
               "framing": "ethernet"}),
    ] {
        let scenario = json!({
            "duration": "20 s", "warmup": "2 s", "network": {"rtt": "30 ms"}, "link": [link],
            "traffic": [{"app": "bulk", "flows": 5, "tcp": "plain"}],
        });
        let mut summary = aqmlab_sim::summary_json(&simulate(&scenario).summary);
        // The share of the capacity is that of the time, but for the last bit of a double.
        let used = summary["utilisation"].as_f64().unwrap();
        summary["utilisation"] = json!((used * 1e12).round());
        let capacity = summary["capacity_mean_bits_per_s"].as_f64().unwrap();
        assert!((capacity - 7_777_777.0).abs() < 1e-6, "{capacity}");
        fingerprints.push([summary["fingerprint"].clone(), summary["utilisation"].clone()]);
    }
    assert_eq!(fingerprints[0], fingerprints[1]);
}

/// A saturated line sends what it offers, whatever it offers: the bytes of the packets that begin
/// and end in the measured interval, but for one at each edge.
#[test]
fn a_saturated_line_sends_all_it_offers() {
    for (link, exact) in [
        // Two levels, 3 of 4 s at 4 Mbit/s and one at 1 Mbit/s: 3.25 Mbit/s.
        (
            json!({"rate_steps": [["0 s", "4 Mbit/s"], ["3 s", "1 Mbit/s"]], "rate_repeat": "4 s"}),
            3.25e6,
        ),
        // A fall to a fifth in the middle of the measured 80 s.
        (json!({"rate_steps": [["0 s", "5 Mbit/s"], ["60 s", "1 Mbit/s"]]}), 3e6),
        // Up by 1 Mbit/s a second for four, and down at once.
        (
            json!({"rate_steps": [["0 s", "1 Mbit/s"], ["1 s", "2 Mbit/s"], ["2 s", "3 Mbit/s"],
                                  ["3 s", "4 Mbit/s"]], "rate_repeat": "4 s"}),
            2.5e6,
        ),
        // Three opportunities in 10 ms.
        (json!({"rate_trace": {"text": "2\n3\n10"}}), 3.6e6),
    ] {
        for engine in ["folded", "explicit"] {
            let mut scenario = stream(link.clone(), 1.0, "100 s", engine);
            scenario["warmup"] = json!("20 s");
            let s = simulate(&scenario).summary;
            // Steps that repeat every 4 s fit 20 times into 80 s; an edge may cost an opportunity.
            let capacity = s.number("capacity_mean_bits_per_s");
            assert!((capacity - exact).abs() <= 12_000.0 / 80.0, "{link}: {capacity}");
            let bits = s.number("throughput_bytes_per_s") * 8.0;
            assert!((bits - exact).abs() <= 3.0 * 12_000.0 / 80.0, "{link}: {bits}");
            assert_eq!(s.number("utilisation"), 1.0, "{link}");
        }
    }
}

#[test]
fn utilisation_is_the_share_of_what_was_offered() {
    // A tenth of the time ten times as fast; half a megabit all the time. Of 1.9 Mbit/s on average
    // 0.5 are used, although the line is busy for longer than that share of the time.
    let link = json!({"rate_steps": [["0 s", "1 Mbit/s"], ["0.9 s", "10 Mbit/s"]],
                      "rate_repeat": "1 s"});
    let mut scenario = stream(link, 16.0, "110 s", "folded");
    scenario["warmup"] = json!("10 s");
    let s = simulate(&scenario).summary;
    assert!((s.number("capacity_mean_bits_per_s") - 1.9e6).abs() < 1.0);
    let used = s.number("utilisation");
    assert!((used - 0.5 / 1.9).abs() < 1e-4, "{used}");
    let ports = group(&s, "ports");
    assert_eq!(group(ports, "bottleneck.reverse").number("capacity_mean_bits_per_s"), 1.9e6);
    assert_eq!(group(ports, "bottleneck.reverse").number("utilisation"), 0.0);
}

fn link(fields: Value) -> Value {
    json!({"duration": "10 s", "warmup": "5 s", "link": [fields],
           "traffic": [{"app": "bulk", "flows": 2}]})
}

fn read(fields: Value) -> Scenario {
    Scenario::from_json(&link(fields).to_string()).unwrap()
}

#[test]
fn the_reverse_direction_follows_unless_it_is_spoken_of() {
    let steps = json!([["0 s", "4 Mbit/s"], ["1 s", "2 Mbit/s"]]);
    let of = |fields: Value| {
        let scenario = read(fields);
        let link = &scenario.links[0];
        Direction::BOTH.map(|d| (link.changes_of(d).is_some(), link.rate_of(d).bits_per_s()))
    };
    assert_eq!(of(json!({"rate_steps": steps})), [(true, 4_000_000); 2]);
    let own = of(json!({"rate_steps": steps, "reverse_rate": "1 Mbit/s"}));
    assert_eq!(own, [(true, 4_000_000), (false, 1_000_000)]);
    let own =
        of(json!({"rate": "8 Mbit/s", "reverse_rate_steps": steps, "reverse_rate_repeat": "2 s"}));
    assert_eq!(own, [(false, 8_000_000), (true, 3_000_000)]);
    let given = of(json!({"rate": "3 Mbit/s", "rate_trace": {"text": "1"}}));
    assert_eq!(given, [(true, 3_000_000); 2], "the nominal rate is the user's");
}

#[test]
fn a_load_is_a_share_of_the_mean_of_the_measured_interval() {
    let steps = json!([["0 s", "100 Mbit/s"], ["6 s", "4 Mbit/s"], ["7 s", "9 Mbit/s"]]);
    // 5 to 6 s, 6 to 7 s, 7 to 10 s.
    assert_eq!(
        capacities(&read(json!({"rate_steps": steps})))[0].1,
        (100.0 + 4.0 + 27.0) / 5.0 * 1e6
    );
    let drawn = read(json!({"rate": "6 Mbit/s", "rate_trace": {"model": "sprout"}}));
    let expected = ["bottleneck.forward", "bottleneck.reverse"].map(|name| (name.to_owned(), 6e6));
    assert_eq!(capacities(&drawn), expected);
}

#[test]
fn what_is_written_reads_back() {
    for fields in [
        json!({"rate_steps": [["0 s", "4 Mbit/s"], ["0.1 s", "0 bit/s"]], "rate_repeat": "0.3 s"}),
        json!({"rate": "1 Mbit/s", "reverse_rate_trace": {"file": "a.trace", "text": "# b\n1\n\n 2 "}}),
        json!({"rate": "1 Mbit/s", "rate_trace": {"model": "sprout"}}),
        json!({"access": "lte", "rate_trace": "none", "delay": "1 ms"}),
        json!({"access": "leo", "forward": "codel"}),
    ] {
        let written = read(fields.clone()).to_json();
        let again = Scenario::from_json(&written.to_string()).unwrap();
        assert_eq!(again.to_json(), written, "{fields}");
        let print = |json: &Value| {
            let s = run(Scenario::from_json(&json.to_string()).unwrap()).unwrap().summary;
            aqmlab_sim::summary_json(&s)["fingerprint"].clone()
        };
        assert_eq!(print(&link(fields.clone())), print(&written), "{fields}");
    }
    let written =
        read(json!({"rate_trace": {"file": "a.trace", "text": "1\n\n# c\n 2 "}})).to_json();
    assert_eq!(written["link"][0]["rate_trace"], json!({"file": "a.trace", "text": "1\n2"}));
    assert_eq!(written["link"][0]["rate"], "12000000 bit/s");
}

#[test]
fn mistakes_are_one_sentence() {
    let steps = json!([["0 s", "4 Mbit/s"]]);
    for (fields, expected) in [
        (json!({"rate_steps": []}), "link.0.rate_steps: there is no step"),
        (json!({"rate_steps": "fast"}), "link.0.rate_steps: must be a list of pairs"),
        (json!({"rate_steps": [["0 s"]]}), "link.0.rate_steps: must be a list of pairs"),
        (json!({"rate_steps": [["0 s", 5]]}), "link.0.rate_steps.0: 5 has no unit"),
        (json!({"rate_steps": [["0 s", "5 s"]]}), "\"5 s\" is not a rate"),
        (json!({"rate_steps": [["0 s", "-5 bit/s"]]}), "is not between 0 bit/s and"),
        (json!({"rate_steps": [["1 s", "5 Mbit/s"]]}), "the first step is not at \"0 s\""),
        (json!({"rate_steps": [["0 s", "0 bit/s"]]}), "the last rate is 0"),
        (
            json!({"rate_repeat": "1 s", "rate": "1 Mbit/s"}),
            "link.0.rate_repeat: there are no steps",
        ),
        (json!({"rate_steps": steps, "rate_repeat": "0 s"}), "repeat after 0 s"),
        (json!({"rate_steps": steps, "rate_trace": {"text": "1"}}), "the link has a trace as well"),
        (
            json!({"rate_trace": {"text": "1\n2.5"}}),
            "link.0.rate_trace: line 2, \"2.5\", is not a whole",
        ),
        (
            json!({"rate_trace": {"file": "a.trace", "text": "1\n2.5"}}),
            "link.0.rate_trace (a.trace): line 2, \"2.5\", is not a whole",
        ),
        (json!({"rate_trace": {"text": "2\n1"}}), "sort them by time"),
        (json!({"rate_trace": {"text": ""}}), "there is no opportunity after 0 ms"),
        (json!({"rate_trace": {"file": "a.trace"}}), "link.0.rate_trace: has no text"),
        (json!({"rate_trace": "a.trace"}), "link.0.rate_trace: must be a table"),
        (json!({"rate_trace": {"fiel": "a.trace"}}), "did you mean \"file\"?"),
        (json!({"rate_trace": {"model": "sprut"}}), "link.0.rate_trace.model"),
        (json!({"rate_trace": {"model": "sprout"}}), "link.0.rate: missing; the model walks"),
        (
            json!({"access": "cabel"}),
            "link.0.access: unknown access \"cabel\"; did you mean \"cable\"?",
        ),
        (json!({"access": 5}), "link.0.access: 5 is no name"),
        (json!({"access": "cable", "rat": "1 Mbit/s"}), "did you mean \"rate\"?"),
    ] {
        let why = match Scenario::from_json(&link(fields.clone()).to_string()) {
            Ok(_) => panic!("{fields} was accepted"),
            Err(why) => why.to_string(),
        };
        assert!(why.contains(expected) && !why.contains('\n'), "{why}");
    }
}

#[test]
fn every_access_runs_in_both_engines() {
    for entry in aqmlab_sim::access::ACCESS.iter() {
        // Channels have one form for both engines, and soon show what they do.
        let channel = ["wifi", "5g", "lte-cell"].contains(&entry.about.name);
        let (duration, warmup) = if channel { ("4 s", "2 s") } else { ("14 s", "5 s") };
        let prints = ["folded", "explicit"].map(|engine| {
            let tcp = json!({"profile": "plain", "window": "4 MB"});
            let scenario = json!({
                "duration": duration, "warmup": warmup, "engine": engine,
                "network": {"rtt": "20 ms"}, "link": [{"access": entry.about.name}],
                "traffic": [{"app": "bulk", "flows": 3, "tcp": tcp},
                            {"app": "bulk", "flows": 2, "tcp": tcp, "side": "clients"}],
            });
            let s = simulate(&scenario).summary;
            // A gigabit over an ocean takes longer to fill than this run lasts.
            let used = s.number("utilisation");
            assert!((0.2..=1.0).contains(&used), "{}: {used}", entry.about.name);
            aqmlab_sim::summary_json(&s)["fingerprint"].clone()
        });
        assert_eq!(prints[0], prints[1], "{}", entry.about.name);
    }
}

#[test]
fn a_drawn_rate_is_another_one_under_every_seed_and_in_every_direction() {
    let capacity = |seed: u64| {
        let scenario = json!({
            "duration": "60 s", "seed": seed, "link": [{"access": "lte", "reverse_rate": "12 Mbit/s"}],
            "traffic": [{"app": "bulk", "flows": 1}],
        });
        let s = simulate(&scenario).summary;
        let of = |port| group(group(&s, "ports"), port).number("capacity_mean_bits_per_s");
        ["bottleneck.forward", "bottleneck.reverse"].map(of)
    };
    let (one, two) = (capacity(1), capacity(2));
    assert_eq!(one, capacity(1));
    assert!(one[0] != one[1] && one[0] != two[0], "{one:?}, {two:?}");
    assert!(one.iter().chain(&two).all(|bits| (1e6..24e6).contains(bits)), "{one:?}, {two:?}");
}

/// A limit in bytes as the written scenario says it, or in packets.
fn room_of(link: &Value, direction: &str) -> u64 {
    let queue = &link[direction];
    let of = |name: &str| queue[name].as_u64();
    let packets = || of("limit").map(|packets| packets * 1_500);
    of("limit_bytes").or_else(|| of("memory_limit")).or_else(packets).expect("a room")
}

#[test]
fn a_queue_without_a_limit_has_the_access_s_room() {
    for entry in aqmlab_sim::access::ACCESS.iter() {
        let own = read(json!({"access": entry.about.name})).to_json();
        for (direction, aqm) in ["forward", "reverse"]
            .into_iter()
            .flat_map(|d| aqm::ALGORITHMS.iter().map(move |aqm| (d, aqm.about.name)))
        {
            let what = format!("{aqm} as {direction} of {}", entry.about.name);
            let mut link = json!({"access": entry.about.name});
            let room = room_of(&own["link"][0], direction);
            for written in [json!(aqm), json!({ "aqm": aqm })] {
                link[direction] = written;
                let document = self::link(link.clone()).to_string();
                match Scenario::from_json(&document) {
                    Ok(scenario) => {
                        let got = room_of(&scenario.to_json()["link"][0], direction);
                        assert!(got <= room && room - got < 1_500, "{what}: {got} of {room}");
                    }
                    // A few packets are too few for the thresholds of some.
                    Err(why) => {
                        let why = why.to_string();
                        assert!(why.contains("give it a limit of its own"), "{what}: {why}");
                        assert!(room <= 50_000, "{what}: {why}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_limit_that_is_written_holds_against_the_access_s() {
    let room = |queue: Value| {
        let link = json!({"access": "dsl", "reverse": queue});
        room_of(&read(link).to_json()["link"][0], "reverse")
    };
    assert_eq!(room(json!("droptail")), 128_000, "the modem's buffer");
    assert_eq!(room(json!({"aqm": "droptail", "limit": 30})), 45_000);
    assert_eq!(room(json!({"aqm": "droptail", "limit_bytes": 5_000})), 5_000);
}

#[test]
fn bytes_of_framing_without_a_name() {
    // 1,000 B and 250 B more take 1.25 ms at 8 Mbit/s, beside Ethernet's 38 B 1.288 ms.
    let link =
        |framing: &str| json!({"rate": "8 Mbit/s", "framing_bytes": 250, "framing": framing});
    assert_eq!(departures(link("none"), 2.0, "6 ms"), [1.25, 3.25, 5.25]);
    assert_eq!(departures(link("ethernet"), 2.0, "6 ms"), [1.288, 3.288, 5.288]);
}

/// What a flood of 1,500 B packets leaves behind a queue of 4,542 bytes, by engine.
fn flooded(header_bytes: u64, queue: &Value) -> Vec<Value> {
    let run = |engine: &str| {
        let outcome = simulate(&json!({
            "duration": "1 s", "engine": engine, "network": {"rtt": "0 s"},
            "link": [{"rate": "8 Mbit/s", "forward": queue, "header_bytes": header_bytes}],
            "traffic": [{"app": "cbr", "flows": 1, "rate": "16 Mbit/s", "packet": 1472,
                         "start_within": "0 s"}],
            "record": {"queue_every": "0.1 ms"},
        }));
        let mut summary = aqmlab_sim::summary_json(&outcome.summary);
        summary.as_object_mut().unwrap().remove("events");
        summary
    };
    ["folded", "explicit"].map(run).to_vec()
}

#[test]
fn the_size_of_a_packet_may_include_its_header() {
    for queue in [
        json!({"aqm": "droptail", "limit": 100, "limit_bytes": 4_542}),
        json!({"aqm": "fq_codel", "limit": 100, "limit_bytes": 4_542, "interval": "100 s"}),
    ] {
        // Three packets of 1,514 fit, of 1,515 only two; all that is recorded is in IP bytes.
        let [plain, ethernet, longer] = [0, 14, 15].map(|header| flooded(header, &queue));
        for (engines, packets) in [(&plain, 3), (&ethernet, 3), (&longer, 2)] {
            assert_eq!(engines[0], engines[1]);
            assert_eq!(engines[0]["queue_max_packets"], packets, "{queue}");
        }
        assert_eq!(plain, ethernet);
    }
}
