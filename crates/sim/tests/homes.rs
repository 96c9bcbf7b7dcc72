//! Links of which there are many: a home's line behind a segment behind a trunk.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::Scenario;
use record::Figure;
use serde_json::{Value, json};

fn text(outcome: &aqmlab_sim::Outcome, name: &str) -> String {
    match outcome.summary.get(name) {
        Some(Figure::Text(text)) => text.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

fn homes(clients: u32, links: Value) -> Value {
    json!({
        "duration": "6 s", "warmup": "2 s", "seed": 3, "link": links,
        "network": {"rtt": "20 ms", "clients": clients, "servers": 2},
        "traffic": [{"name": "down", "app": "bulk", "flows": clients, "start_within": "0 s"},
                    {"app": "web", "users": 30}, {"app": "voip", "flows": 1}],
    })
}

/// One copy for all is the link without copies.
#[test]
fn a_single_copy_is_the_link_itself() {
    let line =
        json!({"name": "line", "rate": "8 Mbit/s", "forward": {"aqm": "droptail", "limit": 60}});
    let mut copied = line.clone();
    copied["clients_per_link"] = json!(7);
    let trunk = json!({"name": "trunk", "rate": "9 Mbit/s", "forward": "codel"});
    let [one, many] = [line, copied].map(|line| simulate(&homes(7, json!([trunk, line]))));
    assert_eq!(text(&one, "fingerprint"), text(&many, "fingerprint"));
    let port = |of| group(group(of, "ports"), "line.forward").clone();
    let (one, many) = (port(&one.summary), port(&many.summary));
    assert!(one.number("drops") > 0.0);
    for (name, figure) in &one.0 {
        assert_eq!(format!("{figure:?}"), format!("{:?}", many.get(name).unwrap()), "{name}");
    }
}

#[test]
fn every_home_has_a_line_of_its_own() {
    let links = json!([
        {"name": "trunk", "rate": "30 Mbit/s"},
        {"name": "segment", "rate": "14 Mbit/s", "clients_per_link": 2},
        {"name": "home", "rate": "5 Mbit/s", "reverse_rate": "1 Mbit/s", "clients_per_link": 1}
    ]);
    let outcome = simulate(&homes(5, links));
    let ports = group(&outcome.summary, "ports");
    assert_eq!(ports.0.len(), 6, "copies are shown together");
    let [trunk, segment, home] =
        ["trunk", "segment", "home"].map(|name| group(ports, &format!("{name}.forward")));
    // Two homes of 5 Mbit/s behind a segment of 14 Mbit/s: each home's line is the bottleneck.
    assert!(home.number("utilisation") > 0.95, "{}", home.number("utilisation"));
    assert!((5.0..=5.1).contains(&(home.number("capacity_mean_bits_per_s") / 1e6 + 0.05)));
    assert!(segment.number("queue_delay_p99_s") < home.number("queue_delay_p99_s") / 3.0);
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
    assert!(close(segment.number("arrivals"), home.number("arrivals")));
    assert!(close(
        trunk.number("throughput_bytes_per_s"),
        5.0 * home.number("throughput_bytes_per_s")
    ));
    let spread = group(group(&outcome.summary, "copies"), "home.forward");
    assert_eq!(spread.number("copies"), 5.0);
    assert!(spread.number("throughput_p5_bytes_per_s") > 0.9 * 5e6 / 8.0);
    let rows = table(&outcome, "copies");
    assert_eq!(column(rows, "copy").len(), 2 * (3 + 5), "three segments and five homes");
    let total: f64 = column(rows, "arrivals").iter().sum();
    let sum = |name: &str| group(ports, name).number("arrivals");
    let all = ["segment.forward", "home.forward", "segment.reverse", "home.reverse"];
    assert_eq!(total, all.iter().map(|name| sum(name)).sum::<f64>());
}

/// Loss on one kind of line meets every home by itself; both engines agree.
#[test]
fn both_engines_agree_on_homes_with_effects() {
    let links = json!([
        {"name": "trunk", "rate": "12 Mbit/s", "forward": "red"},
        {"name": "home", "rate": "4 Mbit/s", "clients_per_link": 1, "forward": "pie",
         "effects": [{"kind": "loss", "share": 0.01}]}
    ]);
    let mut scenario = homes(4, links);
    let folded = simulate(&scenario);
    scenario["engine"] = json!("explicit");
    let explicit = simulate(&scenario);
    assert_eq!(text(&folded, "fingerprint"), text(&explicit, "fingerprint"));
    let effects = group(&folded.summary, "effects");
    let lost: Vec<f64> = (0..4)
        .map(|home| group(effects, &format!("home.{home}.forward.loss")).number("lost"))
        .collect();
    assert!(lost.iter().any(|n| *n != lost[0]), "each home draws for itself: {lost:?}");
}

#[test]
fn what_does_not_go_together_is_refused_in_a_sentence() {
    let mut scenario = homes(3, json!([{"rate": "9 Mbit/s", "clients_per_link": 1}]));
    scenario["network"]["access_rate"] = json!("1 Gbit/s");
    let why = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert!(why.starts_with("link.0.clients_per_link: machines with lines of their own"), "{why}");
    let mut scenario =
        homes(3, json!([{"name": "home", "rate": "9 Mbit/s", "clients_per_link": 1}]));
    scenario["record"] = json!({"queues": ["home.forward"]});
    let why = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert!(why.starts_with("record.queues: unknown port \"home.forward\""), "{why}");
    scenario["record"] = json!({"queues": ["home.2.reverse"]});
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    assert_eq!(scenario.queues, ["home.2.reverse"]);
}

/// Where only TCP sends, the losses of SYNs, ACKs and data are all there are, of several copies too.
#[test]
fn losses_by_class_add_up_over_the_copies() {
    let links = json!([
        {"name": "trunk", "rate": "40 Mbit/s", "forward": {"aqm": "droptail", "limit": 100}},
        {"name": "home", "rate": "3 Mbit/s", "clients_per_link": 1, "forward": {"aqm": "droptail", "limit": 10}}
    ]);
    let mut scenario = homes(4, links);
    scenario["traffic"].as_array_mut().unwrap().pop(); // the calls
    let outcome = simulate(&scenario);
    for name in ["trunk.forward", "home.forward"] {
        let port = group(group(&outcome.summary, "ports"), name);
        let lost = |class: &str| {
            port.number(&format!("drop_rate_{class}")) * port.number(&format!("arrivals_{class}"))
        };
        let all = port.number("drop_rate") * port.number("arrivals");
        assert!((lost("syn") + lost("ack") + lost("data") - all).abs() < 1e-6, "{name}");
        assert!(name.starts_with("trunk") || all > 10.0, "{all}");
    }
}
