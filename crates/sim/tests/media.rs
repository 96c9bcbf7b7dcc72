//! Calls, video players and pulsing senders over the network, where physics says what they get.

use crate::outcome::{column, group, simulate, table};
use record::e_model::{Conversation, Impairment};
use serde_json::{Value, json};

fn scenario(rate: &str, limit: u64, traffic: Value) -> Value {
    json!({
        "duration": "400 s", "warmup": "100 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": rate, "delay": "5 ms", "forward": {"aqm": "droptail", "limit": limit}}],
        "traffic": traffic,
    })
}

fn calls(count: u32, more: &[(&str, Value)]) -> Value {
    let mut group = json!({"name": "calls", "app": "voip", "flows": count});
    for (field, value) in more {
        group[field] = value.clone();
    }
    group
}

#[test]
fn a_call_over_an_empty_network_is_rated_by_its_delay_alone() {
    // A packet of 200 B takes 16 ms at 100 kbit/s; with 5 + 50 ms it comes after 71 ms, is played
    // after 131 and was 20 ms in the making.
    let outcome = simulate(&scenario("100 kbit/s", 100, json!([calls(1, &[])])));
    let heard = table(&outcome, "calls");
    assert_eq!(column(heard, "back"), [0.0, 1.0]);
    for packets in column(heard, "packets") {
        assert!((packets - 300.0 / 0.02).abs() <= 8.0, "{packets}"); // the last are on their way
    }
    assert_eq!(column(heard, "late"), [0.0; 2]);
    let codec = Impairment { equipment: 0.0, robustness: 25.1 };
    let alone = Conversation { delay_s: 0.151, loss_share: 0.0, burst_ratio: 1.0, codec }.rating();
    for (name, expected) in
        [("network_delay_mean_s", 0.071), ("mouth_to_ear_mean_s", 0.151), ("r", alone)]
    {
        for value in column(heard, name) {
            assert!((value - expected).abs() < 1e-6, "{name}: {value}");
        }
    }
    let summary = &outcome.summary;
    assert_eq!(summary.number("voip_share_r_ge_70"), 1.0);
    assert!((summary.number("voip_r_mean") - alone).abs() < 1e-6);
}

#[test]
fn who_suppresses_pauses_sends_his_share_of_speech() {
    // P.59: 1.004 s of every 2.591 s, both means half a packet longer. 40 calls, two talkers each,
    // 300 s: 9,200 cycles whose share of speech has a deviation of about 0.25; five standard
    // errors are 0.013.
    let more = [("pauses", json!("suppressed")), ("codec", json!("g729a"))];
    let outcome = simulate(&scenario("100 Mbit/s", 1_000, json!([calls(40, &more)])));
    let packets: f64 = column(table(&outcome, "calls"), "packets").iter().sum();
    let share = packets * 0.02 / (80.0 * 300.0);
    assert!((share - 1.014 / 2.611).abs() < 0.013, "{share}");
    // 20 B of speech and 40 of headers.
    let bytes = outcome.summary.number("arrival_bytes") / outcome.summary.number("arrivals");
    assert_eq!(bytes, 60.0);
}

#[test]
fn a_full_link_ruins_one_direction_only() {
    // 24 calls of 80 kbit/s, silent in their pauses, offer 640 kbit/s 746 on the mean. The way
    // back has room.
    let mut full =
        scenario("640 kbit/s", 20, json!([calls(24, &[("pauses", json!("suppressed"))])]));
    full["link"][0]["reverse_rate"] = json!("3 Mbit/s");
    let outcome = simulate(&full);
    let heard = table(&outcome, "calls");
    let (back, lost) = (column(heard, "back"), column(heard, "lost"));
    let mean = |name: &str, of: f64| {
        let values = column(heard, name);
        let chosen = values.iter().zip(&back).filter(|(_, back)| **back == of);
        chosen.map(|(value, _)| value).sum::<f64>() / 24.0
    };
    assert_eq!((mean("lost", 1.0), mean("burst_ratio", 1.0)), (0.0, 1.0));
    assert!(lost.iter().sum::<f64>() > 0.0 && mean("burst_ratio", 0.0) > 2.0);
    assert!(mean("r", 0.0) < mean("r", 1.0) - 20.0);
    // The network's own count of the same datagrams, both ways together.
    let counted = group(group(&outcome.summary, "datagrams"), "calls").number("loss_share");
    assert!((counted - outcome.summary.number("voip_lost_share")).abs() < 1e-3, "{counted}");
}

#[test]
fn equal_periods_lock_the_same_calls_out() {
    // Twelve calls of 80 kbit/s on 640 kbit/s: the same eight find room in every 20 ms.
    let mut full = scenario("640 kbit/s", 20, json!([calls(12, &[("both_ways", json!(false))])]));
    full["link"][0]["reverse_rate"] = json!("2 Mbit/s");
    let outcome = simulate(&full);
    let summary = &outcome.summary;
    assert_eq!(summary.number("voip_listeners"), 12.0);
    assert!((summary.number("voip_lost_share") - 1.0 / 3.0).abs() < 0.01);
    assert_eq!(summary.number("voip_share_r_ge_70"), 8.0 / 12.0);
    assert_eq!(summary.number("voip_r_p5"), 0.0);
}

#[test]
fn a_queue_that_breathes_makes_packets_late_and_a_longer_buffer_plays_them() {
    let late = |buffer: &str| {
        let bulk = json!({"name": "bulk", "app": "bulk", "flows": 2});
        let traffic =
            json!([bulk, calls(1, &[("buffer", json!(buffer)), ("talk", json!("60 s"))])]);
        let outcome = simulate(&scenario("2 Mbit/s", 30, traffic));
        let heard = table(&outcome, "calls");
        // The bulk flows run from servers to clients, and so does what is said first.
        let back = column(heard, "back");
        let place = back.iter().position(|b| *b == 0.0).unwrap();
        (column(heard, "late")[place], column(heard, "mouth_to_ear_mean_s")[place])
    };
    // The queue of 30 packets of 1,500 B lasts up to 180 ms.
    let ((short, soon), (long, later)) = (late("20 ms"), late("200 ms"));
    assert!(short > 1_000.0 && long == 0.0, "{short} and {long} late");
    assert!(later > soon, "{soon} and {later} s");
}

#[test]
fn both_engines_give_the_same_calls_and_videos() {
    let mut scenario = scenario(
        "3 Mbit/s",
        60,
        json!([
            calls(3, &[("pauses", json!("suppressed")), ("playout", json!("adaptive"))]),
            {"app": "video", "users": 2, "abr": "rate"},
            {"app": "pulse", "flows": 1, "period": "3 s"},
        ]),
    );
    let mut run = |engine: &str| {
        scenario["engine"] = json!(engine);
        let outcome = simulate(&scenario);
        let shown = ["calls", "players", "player_rates"];
        let tables = shown.map(|name| table(&outcome, name).clone());
        (outcome.summary.get("fingerprint").cloned(), format!("{tables:?}"))
    };
    assert_eq!(run("folded"), run("explicit"));
}

fn video(more: &[(&str, Value)]) -> Value {
    let mut group = json!({"name": "video", "app": "video", "users": 1, "start_within": "0 s"});
    for (field, value) in more {
        group[field] = value.clone();
    }
    json!([group])
}

#[test]
fn video_below_the_lowest_rate_stalls_for_what_is_missing() {
    // 235 kbit/s of video over 150 kbit/s of line, of which 1,460 in 1,500 B carry video: 0.621 s a
    // second. The player is never still, so the share of time frozen follows; a little more of
    // it, because the line rests while a request travels.
    for abr in ["bba-0", "rate", "bola"] {
        let outcome = simulate(&scenario("150 kbit/s", 20, video(&[("abr", json!(abr))])));
        let summary = &outcome.summary;
        let carried = 150.0 * 1_460.0 / 1_500.0 / 235.0;
        let ratio = summary.number("video_rebuffer_ratio");
        assert!((1.0 - carried..1.05 - carried).contains(&ratio), "{abr}: {ratio}");
        assert_eq!(summary.number("video_bitrate_mean_bits_per_s"), 235e3);
        // Each segment of 4 s freezes once.
        let stalls = summary.number("video_stalls");
        assert!((stalls - 300.0 * (1.0 - ratio) / 4.0).abs() <= 1.0, "{abr}: {stalls}");
        assert_eq!(summary.number("video_switches_per_min"), 0.0);
    }
}

#[test]
fn video_on_a_fast_line_is_seen_at_the_highest_rate_and_pauses() {
    for abr in ["bba-0", "rate", "bola"] {
        let mut fast = scenario("40 Mbit/s", 400, video(&[("abr", json!(abr))]));
        fast["network"]["rtt"] = json!("20 ms"); // a window of 64 kB in 30 ms: 17 Mbit/s
        let outcome = simulate(&fast);
        let summary = &outcome.summary;
        assert_eq!(summary.number("video_rebuffer_ratio"), 0.0, "{abr}");
        assert_eq!(summary.number("video_bitrate_mean_bits_per_s"), 5.8e6, "{abr}");
        // The line rests: video and headers only, in segments of 4 s.
        let busy = summary.number("utilisation");
        assert!((busy - 5.8 * 1_500.0 / 1_460.0 / 40.0).abs() < 0.01, "{abr}: {busy}");
        let players = table(&outcome, "players");
        assert_eq!(column(players, "played_s"), [300.0]);
        assert!((column(players, "segments")[0] - 75.0).abs() <= 1.0);
        let rates = table(&outcome, "player_rates");
        assert_eq!(column(rates, "share").iter().rposition(|s| *s > 0.0), Some(9));
        // A handshake of 30 ms, a request, and 117 kB at the lowest rate in slow start.
        let startup = summary.number("video_startup_p50_s");
        assert!((0.15..0.5).contains(&startup), "{abr}: {startup}");
    }
}

#[test]
fn what_a_player_chooses_on_a_line_between_two_rates() {
    // 2 Mbit/s carry 1.95 Mbit/s: above the step of 1.75 and below that of 2.35.
    let run = |abr: &str| simulate(&scenario("2 Mbit/s", 50, video(&[("abr", json!(abr))])));
    let rate = |abr: &str| run(abr).summary.number("video_bitrate_mean_bits_per_s");
    assert_eq!(rate("rate"), 1.75e6); // the highest below what it measures, always
    for abr in ["bba-0", "bola"] {
        // By the buffer: uses the line up by going back and forth, without a stall.
        let summary = run(abr).summary;
        let mean = summary.number("video_bitrate_mean_bits_per_s");
        assert!((1.6e6..2.1e6).contains(&mean), "{abr}: {mean}");
        assert_eq!(summary.number("video_rebuffer_ratio"), 0.0);
        assert!(summary.number("utilisation") > 0.95, "{abr}");
    }
}

/// Share of its throughput that one flow keeps under pulses of this period; a queue of 15 packets
/// at 1.5 Mbit/s, bursts of 150 ms at 3 Mbit/s, a minimum retransmission timeout of 1 s.
fn kept(period_s: Option<f64>) -> f64 {
    let bulk = json!({
        "name": "bulk", "app": "bulk", "flows": 1, "start_within": "0 s",
        "tcp": {"profile": "ns2", "min_rto": "1 s"},
    });
    let pulse = period_s.map(|period| {
        json!({
            "name": "shrew", "app": "pulse", "flows": 1, "start": "5 s",
            "rate": "3 Mbit/s", "burst": "150 ms", "period": format!("{period} s"),
        })
    });
    let traffic: Vec<Value> = [Some(bulk), pulse].into_iter().flatten().collect();
    let mut scenario = scenario("1.5 Mbit/s", 15, json!(traffic));
    scenario["network"]["rtt"] = json!("20 ms");
    let outcome = simulate(&scenario);
    outcome.summary.number("long_flow_goodput_mean_bits_per_s")
}

#[test]
fn the_shrew_bites_at_the_minimum_retransmission_timeout() {
    // The paper's model of a flow that every burst makes time out: it is silent for the minimum
    // timeout, and then sends at full rate until the next burst. A real one must first find its
    // window again, so it keeps less.
    let whole = kept(None);
    assert!(whole > 1.4e6, "{whole}");
    for period in [0.5, 0.7, 1.0, 1.3, 2.0, 3.0] {
        let cycle = f64::ceil(1.0 / period) * period;
        let model = (cycle - 1.0) / cycle;
        let share = kept(Some(period)) / whole;
        assert!(share <= model + 0.02 && share >= model - 0.2, "{period} s: {share}, {model}");
    }
    // The attacker's mean rate is small: 3 Mbit/s for 150 ms of every second, under a third of
    // the line.
    assert!(kept(Some(1.0)) < 0.02 * whole);
}
