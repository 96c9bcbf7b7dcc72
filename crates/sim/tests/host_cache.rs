//! What machines remember of each other, in whole runs.

use crate::outcome::simulate;
use aqmlab_sim::Outcome;
use record::Summary;
use serde_json::{Value, json};

/// Web users of former times, most of whose replies are short, behind a line that is nearly full.
fn web(duration: &str, tcp: Value) -> Value {
    json!({
        "duration": duration, "warmup": "10 s", "seed": 7,
        "network": {"clients": 2, "servers": 2,
                    "rtt": {"min": "14 ms", "max": "144 ms", "draw": "pair"}},
        "link": [{"rate": "2 Mbit/s", "forward": {"aqm": "droptail", "limit": 12},
                  "reverse": {"aqm": "droptail", "limit": 50}}],
        "traffic": [{"app": "web", "users": 620, "start": "stationary", "tcp": tcp}],
    })
}

fn comparable(outcome: &Outcome) -> Value {
    let mut json = aqmlab_sim::summary_json(&outcome.summary);
    json.as_object_mut().unwrap().remove("events");
    json
}

fn freebsd(on: bool) -> Value {
    json!({"profile": "freebsd-2.2.8", "host_cache": on})
}

#[test]
fn until_the_first_time_wait_ends_nobody_knows_anything() {
    let [on, off] = [true, false].map(|on| simulate(&web("59 s", freebsd(on))));
    assert_eq!(comparable(&on), comparable(&off));
}

#[test]
fn a_lost_syn_ack_costs_less_than_three_seconds_once_a_server_knows() {
    let [on, off] = [true, false].map(|on| {
        let mut scenario = web("400 s", freebsd(on));
        scenario["warmup"] = json!("150 s");
        scenario["traffic"][0]["users"] = json!(300);
        // A twentieth are long enough to teach.
        let reply = json!({"dist": "discrete", "values": [4_000, 200_000], "probs": [0.95, 0.05]});
        scenario["traffic"][0]["reply"] = reply;
        simulate(&scenario).summary
    });
    assert!(off.number("responses") > 2_000.0, "{}", off.number("responses"));
    // Some of those past three seconds come within the second and the third one (one seed: 14.2
    // and 9.2 % of the responses are there).
    let middle = |of: &Summary| of.number("share_1_2s") + of.number("share_2_3s");
    assert!(middle(&on) > 1.3 * middle(&off), "{} {}", middle(&on), middle(&off));
    assert!(on.number("share_gt_3s") < 0.9 * off.number("share_gt_3s"));
}

#[test]
fn both_engines_remember_alike() {
    for tcp in [
        json!({"profile": "freebsd-2.2.8", "sendpipe": 17_520}),
        json!({"profile": "freebsd-4.5"}),
        json!({"profile": "linux", "cache_ssthresh": true}),
    ] {
        let [folded, explicit] = ["folded", "explicit"].map(|engine| {
            let mut scenario = web("150 s", tcp.clone());
            scenario["engine"] = json!(engine);
            comparable(&simulate(&scenario))
        });
        assert_eq!(folded, explicit, "{tcp}");
        let mut forgetful = tcp.clone();
        forgetful["host_cache"] = json!(false);
        for only in ["sendpipe", "cache_ssthresh"] {
            forgetful.as_object_mut().unwrap().remove(only);
        }
        let forgetful = simulate(&web("150 s", forgetful));
        assert_ne!(folded, comparable(&forgetful), "{tcp}: nothing was remembered");
    }
}

#[test]
fn machines_that_meet_once_have_nothing_to_remember() {
    // Users who fetch one long file each in the run, from one server, at any time in it.
    let once = |on: bool, clients: u32| {
        let mut scenario = web("300 s", json!({"profile": "freebsd-4.5", "host_cache": on}));
        scenario["network"]["clients"] = json!(clients);
        scenario["network"]["servers"] = json!(1);
        scenario["link"][0]["forward"]["limit"] = json!(4);
        let users = json!({"users": 60, "start": "spread", "files": 1, "pages": 1, "think": "1000 s",
                           "reply": "400 kB", "reply_scale": 1});
        scenario["traffic"][0].as_object_mut().unwrap().extend(users.as_object().unwrap().clone());
        comparable(&simulate(&scenario))
    };
    assert_eq!(once(true, 60), once(false, 60), "every user has a machine");
    assert_ne!(once(true, 1), once(false, 1), "all share one");
}
