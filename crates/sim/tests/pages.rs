//! Pages as users wait for them: timed on an empty network, with a packet lost, and adding up.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::{Outcome, Scenario};
use serde_json::{Value, json};

/// One user fetches pages on a network of 100 ms whose line is so fast that transmission times
/// vanish: 1,500 bytes take 120 ns.
fn timed(http: &str, more: Value) -> Outcome {
    let mut web = json!({
        "app": "http", "users": 1, "http": http, "files": 13, "pages": 3, "reply": 1000,
        "embedded": 1000, "think": "10 s", "tcp": {"profile": "plain", "initial_window": 10},
    });
    web.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    simulate(&json!({
        "duration": "100 s", "network": {"rtt": "100 ms"},
        "link": [{"rate": "100 Gbit/s", "forward": {"aqm": "droptail", "limit": 10000},
                  "reverse": {"aqm": "droptail", "limit": 10000}}],
        "traffic": [web], "record": {"pages": true},
    }))
}

/// Whole milliseconds of every page, in order; at most 20 µs of transmission times on top.
fn page_ms(outcome: &Outcome) -> Vec<u64> {
    let ns = column(table(outcome, "pages"), "duration_ns");
    assert!(ns.len() >= 6 && ns.iter().all(|ns| ns % 1e6 < 20e3), "{ns:?}");
    ns.iter().map(|ns| (ns / 1e6) as u64).collect()
}

#[test]
fn a_page_over_http2_takes_fewer_round_trips_than_over_four_connections() {
    // The first file: connect, ask. Then twelve over four connections: three times connect, ask.
    assert!(page_ms(&timed("http10", json!({}))).iter().all(|&ms| ms == 800));
    // Two connections kept: of the twelve seven go over the first, one a round trip, five over the
    // new one, whose first takes two. On the next page six each.
    let kept = page_ms(&timed("http11", json!({})));
    assert_eq!(kept[..4], [900, 700, 700, 900], "a new stay every three pages");
    // One connection: ask for the first, ask for all others; the page after it needs no connect.
    let multiplexed = page_ms(&timed("http2", json!({})));
    assert_eq!(multiplexed[..4], [300, 200, 200, 300]);
    // Four at a time: three round trips for the twelve.
    assert_eq!(page_ms(&timed("http2", json!({"streams": 4})))[..4], [500, 400, 400, 500]);
}

#[test]
fn a_multiplexed_page_grows_with_the_window_of_its_one_connection() {
    // 12 files of 5,000 B and a header of 9 B each are 42 segments: after the first file a flight
    // of 10, then 20, then the rest.
    let page = page_ms(&timed("http2", json!({"embedded": 5000, "pages": 1})));
    assert!(page.iter().all(|&ms| ms == 500), "{page:?}");
    // The window is 14,600 B and the 1,009 B of the first file: that many hold 12 files of 1,291 B
    // with their headers, not a byte more of each.
    for (bytes, ms) in [(1_291, 300), (1_292, 400)] {
        let page = page_ms(&timed("http2", json!({"embedded": bytes, "pages": 1})));
        assert!(page.iter().all(|&took| took == ms), "{bytes} B: {page:?}");
    }
}

#[test]
fn a_small_reply_does_not_wait_for_a_large_one() {
    let sizes = json!({"files": 9, "embedded": {"dist": "discrete", "values": [2_000, 400_000],
                       "probs": [0.5, 0.5]}, "persistent_parallel": 1, "parallel": 1});
    let slowest_small = |http: &str, more: Value| {
        let log = timed(http, more);
        let responses = table(&log, "responses");
        let times = column(responses, "duration_ns");
        let small = column(responses, "reply_bytes").into_iter().zip(times);
        small.filter(|(bytes, _)| *bytes == 2_000.0).map(|(_, ns)| ns / 1e6).fold(0.0, f64::max)
    };
    let in_order = slowest_small("http11-pipelined", sizes.clone());
    let mut sizes = sizes;
    sizes.as_object_mut().unwrap().retain(|field, _| !field.ends_with("parallel"));
    let shared = slowest_small("http2", sizes);
    // At most eight frames of 16 KiB are before it: 90 segments, four flights of 11, 22, 44, 88.
    assert!(shared <= 401.0 && in_order > 700.0, "{shared} ms against {in_order} ms");
}

/// Twelve files of a segment each meet a queue that drops one or a few in the middle: the line
/// behind the server's own is half as fast and has room for three.
fn with_a_loss(http: &str, more: Value) -> Outcome {
    let mut web = json!({
        "app": "http", "users": 1, "http": http, "files": 12, "pages": 1, "reply": 1451,
        "embedded": 1451, "think": "10 s", "tcp": {"profile": "plain", "initial_window": 20},
    });
    web.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    simulate(&json!({
        "duration": "12 s",
        "network": {"rtt": "100 ms", "servers": 1, "clients": 1, "access_rate": "20 Mbit/s"},
        "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "droptail", "limit": 4}}],
        "traffic": [web], "record": {"pages": true},
    }))
}

#[test]
fn what_follows_a_lost_segment_on_the_same_connection_waits_for_it() {
    let late = |log: &Outcome| -> Vec<f64> {
        let responses = table(log, "responses");
        let ends = column(responses, "end_ns").into_iter().zip(column(responses, "duration_ns"));
        ends.filter(|(_, took)| *took > 300e6).map(|(end, _)| end).collect()
    };
    let one = with_a_loss("http2", json!({}));
    let lost = one.summary.number("segments_lost");
    let waiting = late(&one);
    assert!(lost >= 1.0 && waiting.len() as f64 > lost, "{lost} lost, {} late", waiting.len());
    // Each on its own: whose segment is lost is late, nobody else.
    let many = with_a_loss("http10", json!({"parallel": 12}));
    let lost = many.summary.number("drops_data");
    assert!(lost >= 1.0 && late(&many).len() as f64 <= lost, "{lost} lost, {:?}", late(&many));
}

#[test]
fn pages_add_up_from_their_responses() {
    for http in ["http10", "http11-pipelined", "http2"] {
        let log = simulate(&json!({
            "duration": "120 s", "warmup": "30 s",
            "link": [{"rate": "2 Mbit/s", "forward": {"aqm": "droptail", "limit": 20}}],
            "traffic": [
                {"app": "unc", "users": 150, "http": http, "start": "stationary",
                 "page_servers": "unc_servers_per_page"},
                {"app": "loop", "flows": 2},
                {"app": "threegpp-http", "users": 10, "start": "stationary"},
                {"app": "webtraf", "users": 20, "files": 3, "think": "2 s"},
            ],
            "record": {"pages": true},
        }));
        assert!(log.summary.number("drops") > 100.0);
        let responses = table(&log, "responses");
        let of = |name| column(responses, name);
        let (end, took, user) = (of("end_ns"), of("duration_ns"), of("user"));
        let bytes = of("reply_bytes");
        let pages = table(&log, "pages");
        let of = |name| column(pages, name);
        let (page_end, page_took, page_user) = (of("end_ns"), of("duration_ns"), of("user"));
        let (objects, page_bytes, group_of) = (of("objects"), of("bytes"), of("group"));
        assert!(page_end.len() > 100, "{}", page_end.len());
        for page in 0..page_end.len() {
            let began = page_end[page] - page_took[page];
            // A page's first request begins with the page, every one lies within it.
            let within = (0..end.len()).filter(|&i| {
                user[i] == page_user[page] && end[i] - took[i] >= began && end[i] <= page_end[page]
            });
            let within: Vec<usize> = within.collect();
            assert_eq!(within.len() as f64, objects[page], "{http}");
            assert_eq!(within.iter().map(|&i| bytes[i]).sum::<f64>(), page_bytes[page]);
            let first = within.iter().map(|&i| end[i] - took[i]).fold(f64::MAX, f64::min);
            assert_eq!(first, began);
            assert_eq!(within.iter().map(|&i| end[i]).fold(0.0, f64::max), page_end[page]);
        }
        assert!(!group_of.contains(&1.0), "a loop fetches no pages");
        // The summary is that of the measured interval's rows.
        let mut times: Vec<f64> =
            (0..page_end.len()).filter(|&i| page_end[i] >= 30e9).map(|i| page_took[i]).collect();
        times.sort_by(f64::total_cmp);
        let s = &log.summary;
        assert_eq!(s.number("pages"), times.len() as f64);
        assert_eq!(s.number("page_load_p90_s"), record::quantile(&times, 0.9) / 1e9);
        let mean = times.iter().sum::<f64>() / times.len() as f64 / 1e9;
        assert!((s.number("page_load_mean_s") / mean - 1.0).abs() < 1e-12);
        let groups = group(s, "by_group");
        let sum: f64 = ["unc0", "threegpp-http2", "webtraf3"]
            .map(|g| group(groups, g).number("pages"))
            .iter()
            .sum();
        assert_eq!(sum, s.number("pages"));
        assert!(group(groups, "loop1").get("pages").is_none());
    }
}

#[test]
fn rows_of_pages_change_no_number() {
    let run = |record: Value| {
        let log = simulate(&json!({
            "duration": "60 s", "link": [{"rate": "2 Mbit/s"}],
            "traffic": [{"app": "web", "users": 100}], "record": record,
        }));
        let rows = log.tables.iter().any(|t| t.name == "pages");
        (log.summary, rows)
    };
    let ((without, no_rows), (with, rows)) = (run(json!({})), run(json!({"pages": true})));
    assert_eq!((no_rows, rows), (false, true));
    // As text: what is not a number equals nothing.
    assert_eq!(format!("{without:?}"), format!("{with:?}"));
}

#[test]
fn a_scenario_over_http2_is_one_with_all_its_defaults_written_out() {
    for app in ["web", "unc", "threegpp-http", "http", "web-2024"] {
        let scenario = json!({
            "duration": "10 s", "link": [{"rate": "2 Mbit/s"}],
            "traffic": [{"app": app, "users": 2, "http": "http2"}],
        });
        let read = Scenario::from_json(&scenario.to_string()).unwrap();
        let again = Scenario::from_json(&read.to_json().to_string()).unwrap();
        again.check_parameters().unwrap();
        assert_eq!(again.to_json(), read.to_json());
    }
}

#[test]
fn no_pages_no_figures() {
    let log = simulate(&json!({
        "duration": "10 s", "link": [{"rate": "2 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 2}], "record": {"pages": true},
    }));
    assert!(log.summary.get("pages").is_none());
    assert!(log.tables.iter().all(|t| t.name != "pages"));
}
