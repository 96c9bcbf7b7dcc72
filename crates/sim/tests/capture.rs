//! What crosses a port as a capture file, read back and held against what the run says of itself.

use std::collections::{HashMap, HashSet};

use crate::outcome::{column, group, simulate, table};
use crate::pcap::{ACK, CWR, ECE, FIN, Frame, SYN, captured};
use aqmlab_sim::CapturedAt::{Arrival, Departure};
use serde_json::{Value, json};

const BOTH: [&str; 2] = ["bottleneck.forward", "bottleneck.reverse"];

/// A congested link with web users, bulk senders and datagrams.
fn congested(tcp: Value) -> Value {
    json!({
        "duration": "20 s",
        "network": {"rtt": "60 ms"},
        "link": [{"rate": "4 Mbit/s", "reverse_rate": "1 Mbit/s",
                  "forward": {"aqm": "red", "min_th": 5, "max_th": 15, "limit": 30, "ecn": true},
                  "reverse": {"aqm": "droptail", "limit": 15}}],
        "traffic": [
            {"app": "web", "users": 600, "start": "stationary", "tcp": tcp},
            {"app": "bulk", "flows": 2, "tcp": tcp, "dscp": "af11"},
            {"app": "cbr", "users": 1},
        ],
        "record": {"trace": true, "queues": BOTH},
    })
}

fn count(frames: &[Frame], of: impl Fn(&Frame) -> bool) -> f64 {
    frames.iter().filter(|frame| of(frame)).count() as f64
}

fn has(frame: &Frame, flags: u16) -> bool {
    frame.tcp.as_ref().is_some_and(|tcp| tcp.flags & flags == flags)
}

#[test]
fn every_packet_that_reaches_the_ports_is_in_the_file_with_what_it_is() {
    for profile in ["plain", "freebsd-2.2.8", "ns2"] {
        let scenario = congested(json!({"profile": profile, "ecn": true, "recovery": "reno"}));
        let (run, frames) = captured(&scenario, &BOTH, Arrival);
        let trace = table(&run, "trace");
        let arrives: Vec<usize> = column(trace, "event")
            .iter()
            .enumerate()
            .filter_map(|(row, &event)| (event == 0.0).then_some(row))
            .collect();
        assert_eq!(arrives.len(), frames.len(), "{profile}");
        let [times, ports, kinds, groups, bytes] =
            ["time_ns", "port", "kind", "group", "bytes"].map(|name| column(trace, name));
        // Rows of one instant stand port by port there: as sets of rows.
        let mut rows: Vec<[u64; 5]> = Vec::new();
        for &row in &arrives {
            // Options of SYNs are longer in the file; SACK blocks would be as well.
            let bytes = if kinds[row] == 1.0 { 0.0 } else { bytes[row] };
            let row = [times[row], ports[row], kinds[row], groups[row], bytes];
            rows.push(row.map(|value| value as u64));
        }
        let mut seen: Vec<[u64; 5]> = frames
            .iter()
            .map(|frame| {
                let kind = match &frame.tcp {
                    None => 0,
                    Some(_) if frame.payload > 0 => 3,
                    Some(_) if has(frame, SYN) => 1,
                    Some(_) if has(frame, FIN) => 2,
                    Some(_) => 4,
                };
                // Bulk packets have a code point.
                let group = if frame.tcp.is_none() { 2 } else { u64::from(frame.dscp > 0) };
                let bytes = if kind == 1 { 0 } else { u64::from(frame.length) };
                [frame.at_ns, u64::from(frame.source.0[1] < 128), kind, group, bytes]
            })
            .collect();
        rows.sort_unstable();
        seen.sort_unstable();
        let unlike = rows.iter().zip(&seen).find(|(row, seen)| row != seen);
        assert_eq!(unlike, None, "{profile}");
        let sorted = frames.is_sorted_by_key(|frame| frame.at_ns);
        assert!(sorted, "in order of time");
    }
}

#[test]
fn what_crossed_the_link_is_what_the_ports_count() {
    let scenario = congested(json!({"profile": "plain", "ecn": true, "recovery": "sack"}));
    let (run, frames) = captured(&scenario, &[], Departure);
    let ports = group(&run.summary, "ports");
    for (i, name) in BOTH.iter().enumerate() {
        let port = group(ports, name);
        let own: Vec<Frame> =
            frames.iter().filter(|f| (f.source.0[1] < 128) == (i == 1)).cloned().collect();
        assert_eq!(own.len() as f64, port.number("departures"), "{name}");
        // Every marked packet that left, and those marked that wait or are on the line.
        let marked = count(&own, |f| f.ecn == 3);
        let marks = port.number("marks");
        assert!(marked <= marks && marks <= marked + 31.0, "{name}: {marked} of {marks}");
        let gaps = own.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns);
        assert!(gaps.min().unwrap() >= 40 * 8 * 250, "{name}: one after the other");
    }
    assert!(count(&frames, |f| f.ecn == 3) > 50.0);
    assert!(count(&frames, |f| has(f, ECE) && !has(f, SYN)) > 50.0);
    assert!(count(&frames, |f| has(f, CWR) && f.payload > 0) > 20.0);
    // Only what is new may be marked (RFC 3168 section 6.1.5).
    assert!(frames.iter().all(|f| f.ecn == 0 || f.payload > 0));
    assert!(frames.iter().any(|f| f.tcp.as_ref().is_some_and(|tcp| tcp.option(5).is_some())));
}

/// Address and port.
type Name = ([u8; 4], u16);

/// The numbers that cross without a loss, by connection and direction, from that of its SYN.
fn streams(frames: &[Frame]) -> HashMap<[Name; 2], Vec<(u32, u32)>> {
    let mut streams: HashMap<_, Vec<(u32, u32)>> = HashMap::new();
    for frame in frames {
        let tcp = frame.tcp.as_ref().unwrap();
        let length = frame.payload + u32::from(has(frame, SYN)) + u32::from(has(frame, FIN));
        if length > 0 {
            let stream = streams.entry([frame.source, frame.destination]).or_default();
            stream.push((tcp.seq, length));
        }
    }
    streams
}

#[test]
fn sequence_numbers_carry_every_byte_once_where_nothing_is_lost() {
    let scenario = json!({
        "duration": "40 s",
        "link": [{"rate": "1 Gbit/s"}],
        "traffic": [{"app": "loop", "users": 40, "reply": 40_000, "request": 700, "think": "1 s"}],
    });
    let (run, frames) = captured(&scenario, &[], Departure);
    let mut whole = [0.0; 2];
    let all = streams(&frames);
    for ([source, _], stream) in &all {
        let mut next = stream[0].0;
        for &(seq, length) in stream {
            assert_eq!(seq, next, "one after the other");
            next = next.wrapping_add(length);
        }
        // SYN and FIN count.
        whole[0] += f64::from(u8::from(next.wrapping_sub(stream[0].0) == 40_002 && source.1 == 80));
        whole[1] += f64::from(u8::from(next.wrapping_sub(stream[0].0) == 702 && source.1 != 80));
    }
    let responses = run.summary.number("responses");
    assert!(responses > 800.0);
    assert!((whole[0] - responses).abs() <= 40.0 && (whole[1] - responses).abs() <= 40.0);
    // An acknowledgement never says more than was sent.
    let last: HashMap<_, u32> =
        all.iter().map(|(names, s)| (*names, s.iter().map(|p| p.1).sum())).collect();
    for frame in frames.iter().filter(|frame| has(frame, ACK)) {
        let names = [frame.destination, frame.source];
        let said = frame.tcp.as_ref().unwrap().ack.wrapping_sub(all[&names][0].0);
        assert!(said <= last[&names]);
    }
}

#[test]
fn a_large_window_is_scaled_and_a_small_one_is_not() {
    for (window, scale, field) in [(65_535, None, 65_535), (200_000, Some(2), 50_000)] {
        let tcp = json!({"profile": "plain", "window": window, "timestamps": true});
        let (_, frames) = captured(&congested(tcp), &[], Departure);
        let tcp = frames.iter().filter(|f| f.tcp.is_some());
        for frame in tcp {
            let tcp = frame.tcp.as_ref().unwrap();
            let syn = has(frame, SYN);
            assert_eq!(tcp.option(3), scale.filter(|_| syn).as_ref().map(std::slice::from_ref));
            assert_eq!(tcp.window, if syn { 65_535 } else { field });
            assert_eq!(tcp.option(2).is_some(), syn, "segment size");
            assert!(tcp.option(8).is_some(), "timestamps");
            assert_eq!(!has(frame, ACK), syn && frame.destination.1 == 80);
        }
    }
}

#[test]
fn a_capture_changes_nothing_of_a_run_but_its_events() {
    let mut scenario = congested(json!("plain"));
    scenario["record"] = json!({});
    let without = simulate(&scenario);
    for at in [Arrival, Departure] {
        let (with, frames) = captured(&scenario, &[], at);
        assert!(frames.len() > 5_000);
        assert_eq!(with.tables, without.tables);
        let others = |outcome: &aqmlab_sim::Outcome| {
            let mut figures = aqmlab_sim::summary_json(&outcome.summary);
            figures["events"].take();
            figures
        };
        assert_eq!(others(&with), others(&without));
        assert!(with.summary.number("events") > without.summary.number("events"));
    }
}

#[test]
fn ports_are_chosen_by_name() {
    let mut scenario = congested(json!("plain"));
    scenario["network"]["access_rate"] = json!("100 Mbit/s");
    let (_, forward) = captured(&scenario, &BOTH[..1], Departure);
    assert!(forward.iter().all(|frame| frame.source.0[1] >= 128));
    let (_, own) = captured(&scenario, &["access.server3"], Departure);
    assert_eq!(own.iter().map(|f| f.source.0).collect::<HashSet<_>>(), [[10, 128, 0, 4]].into());
    let sink = Box::new(|_: &[u8]| {});
    let capture =
        aqmlab_sim::Capture { ports: vec!["bottleneck.forwards".into()], at: Arrival, sink };
    let scenario = aqmlab_sim::Scenario::from_json(&scenario.to_string()).unwrap();
    let why = aqmlab_sim::Run::capturing(scenario, capture).err().unwrap().0;
    assert_eq!(
        why,
        "capture: unknown port \"bottleneck.forwards\"; did you mean \"bottleneck.forward\"? (known: \
         bottleneck.forward, bottleneck.reverse)"
    );
}

#[test]
fn the_accecn_option_reports_the_bytes_that_the_file_shows_to_arrive() {
    // Kind 174 (RFC 9768 section 3.2.3), for a sender whose data says ECT(1): EE1B and ECEB count what
    // has left the queue, 200 ms of flight at most behind.
    let scenario = json!({
        "duration": "10 s",
        "network": {"rtt": "20 ms"},
        "link": [{"rate": "10 Mbit/s", "reverse_rate": "10 Mbit/s", "forward": {"aqm": "dualpi2"}}],
        "traffic": [{"app": "bulk", "flows": 1,
                     "tcp": {"profile": "linux", "congestion": "prague", "accecn_option": true}}],
    });
    let (_, frames) = captured(&scenario, &BOTH, Departure);
    let (mut sent, mut reported) = ([0u64; 4], [0; 2]);
    let mut acks = 0;
    for frame in &frames {
        let tcp = frame.tcp.as_ref().expect("TCP only");
        let options: u32 = 20 + tcp.options.iter().map(|(_, c)| 2 + c.len() as u32).sum::<u32>();
        assert!(frame.length >= 20 + options + frame.payload, "the option is on the wire");
        if frame.payload > 0 {
            sent[usize::from(frame.ecn)] += u64::from(frame.payload);
        } else if let Some(option) = tcp.option(174) {
            // Linux sends all three counters.
            assert_eq!(option.len(), 9);
            let field = |i: usize| {
                let bytes = &option[3 * i..3 * i + 3];
                bytes.iter().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
            };
            reported = [field(0) - 1, field(1)];
            assert!(reported[0] <= sent[1] && reported[1] <= sent[3], "{reported:?} {sent:?}");
            acks += 1;
        }
    }
    // A line of 10 Mbit/s has at most a round trip's bytes and its queue under way.
    assert!(acks > 3_000 && reported[1] > 100_000, "{acks} {reported:?}");
    assert!(sent[1] + sent[3] - reported[0] - reported[1] < 60_000, "{reported:?} {sent:?}");
}

#[test]
fn blocks_of_sack_lie_within_what_was_sent_from_either_side() {
    for side in ["clients", "servers"] {
        let scenario = json!({
            "duration": "4 s",
            "network": {"rtt": "50 ms"},
            "link": [{"rate": "4 Mbit/s", "reverse_rate": "4 Mbit/s"}],
            "traffic": [{"app": "bulk", "flows": 2, "side": side, "tcp": "linux",
                         "script": [{"drop": [12, 14, 30]}]}],
        });
        let (_, frames) = captured(&scenario, &BOTH, Departure);
        let mut next: HashMap<[Name; 2], u32> = HashMap::new();
        let mut blocks = 0;
        for frame in &frames {
            let tcp = frame.tcp.as_ref().unwrap();
            if frame.payload > 0 {
                let end = tcp.seq.wrapping_add(frame.payload);
                let known = next.entry([frame.source, frame.destination]).or_insert(end);
                if (end.wrapping_sub(*known) as i32) > 0 {
                    *known = end;
                }
            } else if let Some(option) = tcp.option(5) {
                let edges =
                    option.chunks(4).map(|four| u32::from_be_bytes(four.try_into().unwrap()));
                let most = next[&[frame.destination, frame.source]].wrapping_sub(tcp.ack);
                for edge in edges {
                    assert!(edge.wrapping_sub(tcp.ack) <= most, "{side}");
                    blocks += 1;
                }
            }
        }
        assert!(blocks > 10, "{side}: {blocks}");
    }
}

#[test]
fn datagrams_carry_what_they_say() {
    let scenario = json!({
        "duration": "1 s",
        "link": [{"rate": "4 Mbit/s"}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": "80 kbit/s", "packet": 500, "start_within": "0 s"}],
    });
    let (_, frames) = captured(&scenario, &[], Departure);
    assert!(frames.len() > 5);
    for frame in &frames {
        assert_eq!(frame.payload + 28, frame.length, "headers of IP and UDP");
    }
}

#[test]
fn quic_is_udp_to_port_443_with_the_bytes_that_the_link_carried() {
    let scenario = json!({
        "duration": "8 s",
        "link": [{"rate": "2 Mbit/s", "forward": {"aqm": "red", "min_th": 5, "max_th": 15, "limit": 30, "ecn": true}}],
        "traffic": [{"app": "bulk", "flows": 2, "tcp": {"profile": "quic", "ecn": true}}],
    });
    let (run, frames) = captured(&scenario, &BOTH, Departure);
    assert!(frames.len() > 1_000, "{}", frames.len());
    for frame in &frames {
        // A bulk sender opens its connection.
        let down = frame.source.0[1] >= 128;
        let (sender, receiver) = if down {
            (frame.source.1, frame.destination.1)
        } else {
            (frame.destination.1, frame.source.1)
        };
        assert!(frame.tcp.is_none() && receiver == 443 && sender > 1_023, "{frame:?}");
    }
    let down: Vec<&Frame> = frames.iter().filter(|frame| frame.source.1 != 443).collect();
    assert_eq!(down.len() as f64, run.summary.number("departures"));
    let bytes: u32 = down.iter().map(|frame| frame.length).sum();
    assert_eq!(f64::from(bytes), run.summary.number("departure_bytes"));
    assert!(down.iter().any(|frame| frame.ecn == 3), "a mark is in the file");
}
