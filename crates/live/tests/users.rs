//! Applications over real sockets, all of them on the loopback interface: without privileges, without
//! a network between them.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use aqmlab_live::users::end_system::{settings, socket_options};
use aqmlab_live::users::{Channels, Collected, Places, Program, Task, collect, monotonic_ns};
use record::{Column, Meter, MeterSettings, Table};
use serde_json::{Value as Json, json};
use sim::scenario::Scenario;
use sim::topology::Side;
use sim::{Ended, Outcome};

/// A scenario with one group, whose links nobody could congest.
fn scenario(milliseconds: u32, traffic: Json, record: Json) -> Scenario {
    let document = json!({
        "name": "loopback", "duration": format!("{milliseconds} ms"), "warmup": "100 ms", "seed": 7,
        "network": { "clients": 3, "servers": 2, "rtt": "1 ms" },
        "link": [{ "rate": "1 Gbit/s", "forward": { "aqm": "droptail", "limit": 10_000 } }],
        "traffic": [traffic], "record": record,
    });
    Scenario::from_json(&document.to_string()).unwrap()
}

/// Runs it in 127.`net`.0.0/16.
fn live(scenario: &Scenario, net: u8) -> Outcome {
    let folder = std::env::temp_dir().join(format!("aqmlab-users-{}-{net}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (one, other) = UnixStream::pair().unwrap();
    let sides = [(Side::Clients, one), (Side::Servers, other)];
    let programs = sides.map(|(side, partner)| {
        let task = Task {
            scenario: scenario.clone(),
            side,
            pair: (0, 1),
            places: Places::Loopback(net),
            log: folder.join(side.name()),
        };
        let channels = Channels { router: None, partner: partner.into() };
        (Program::new(&task, channels).unwrap(), task.log)
    });
    // Both listen by now.
    let begin = monotonic_ns() + 20_000_000;
    let logs: Vec<PathBuf> = programs.iter().map(|(_, log)| log.clone()).collect();
    let running = programs.map(|(program, _)| std::thread::spawn(move || program.run(begin)));
    running.into_iter().for_each(|program| program.join().unwrap().unwrap());
    let Collected { recorder, reports, open_requests, users, .. } =
        collect(scenario, &logs).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    // A queue that nothing crossed.
    let meter =
        Meter::new(MeterSettings { delays: true, ..MeterSettings::counts(scenario.window()) });
    let ports = scenario.queues.iter().map(|name| (name.as_str(), &meter)).collect();
    recorder.outcome(&Ended {
        scenario,
        ports,
        effects: Vec::new(),
        channels: Vec::new(),
        reports,
        users,
        events: 0,
        open_requests,
    })
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap()
}

fn column(table: &Table, name: &str) -> Vec<u64> {
    let (_, column) = table.columns.iter().find(|(each, _)| each == name).unwrap();
    match column {
        Column::U64(values) => values.clone(),
        Column::U32(values) => values.iter().map(|&v| u64::from(v)).collect(),
        Column::U16(values) => values.iter().map(|&v| u64::from(v)).collect(),
        Column::U8(values) => values.iter().map(|&v| u64::from(v)).collect(),
        Column::F64(_) => panic!("{name} is no whole number"),
    }
}

/// Of request and reply, bytes.
type Sizes = (u64, u64);

/// Sizes of request and reply of each user, in the order in which he asked.
fn requests(outcome: &Outcome) -> BTreeMap<u64, Vec<Sizes>> {
    let rows = table(outcome, "responses");
    let of = |name| column(rows, name);
    let (end, duration) = (of("end_ns"), of("duration_ns"));
    let (users, sizes) = (of("user"), of("request_bytes").into_iter().zip(of("reply_bytes")));
    let mut requested: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    for (((end, duration), user), sizes) in end.into_iter().zip(duration).zip(users).zip(sizes) {
        requested.entry(user).or_default().push((end - duration, sizes));
    }
    let in_order = |mut rows: Vec<(u64, Sizes)>| {
        rows.sort();
        rows.into_iter().map(|(_, sizes)| sizes).collect()
    };
    requested.into_iter().map(|(user, rows)| (user, in_order(rows))).collect()
}

/// Holds the first requests of every user live against the simulator's, at least so many in all.
fn assert_same_requests(net: u8, traffic: Json, least: usize) {
    let scenario = scenario(1_500, traffic, json!({ "responses": true, "pages": true }));
    let simulated = requests(&sim::run(scenario.clone()).unwrap());
    let outcome = live(&scenario, net);
    assert_eq!(outcome.summary.number("responses_failed"), 0.0);
    let lived = requests(&outcome);
    let mut compared = 0;
    for (user, rows) in &lived {
        let Some(expected) = simulated.get(user) else { continue };
        let most = rows.len().min(expected.len());
        // Of those that ended near the run's end one of the two may lack some.
        let most = most.saturating_sub(4);
        assert_eq!(rows[..most], expected[..most], "user {user}");
        compared += most;
    }
    assert!(compared >= least, "only {compared} requests were compared");
}

#[test]
fn users_request_what_simulated_users_request() {
    let traffic = json!({
        "name": "web", "app": "http", "users": 12, "parallel": 1, "files": 3,
        "think": { "dist": "exponential", "mean": "50 ms" }, "service": "2 ms",
        "request": { "dist": "uniform", "min": "1 B", "max": "900 B" },
        "reply": { "dist": "exponential", "mean": "20 kB" },
    });
    assert_same_requests(61, traffic, 60);
}

#[test]
fn users_of_persistent_connections_do_too() {
    let traffic = json!({
        "name": "web", "app": "http", "users": 8, "parallel": 1, "files": 3,
        "think": { "dist": "exponential", "mean": "50 ms" }, "http": "http11",
        "request": { "dist": "uniform", "min": "1 B", "max": "900 B" },
        "reply": { "dist": "exponential", "mean": "20 kB" },
    });
    assert_same_requests(62, traffic, 40);
}

#[test]
fn transfers_end_when_all_is_acknowledged() {
    let traffic = json!({
        "name": "file", "app": "bulk", "flows": 5, "bytes": "300 kB", "start": "150 ms", "start_within": "300 ms",
        "tcp": { "profile": "plain", "congestion": "reno" },
    });
    let scenario = scenario(1_000, traffic, json!({ "goodput": true }));
    let outcome = live(&scenario, 63);
    let rows = table(&outcome, "transfers");
    assert_eq!(column(rows, "bytes"), [300_000; 5]);
    assert_eq!(column(rows, "failed"), [0; 5]);
    assert_eq!(outcome.summary.number("connections"), 5.0);
    let arrived = column(table(&outcome, "seconds"), "file.goodput_bytes");
    assert_eq!(arrived.iter().sum::<u64>(), 1_500_000);
}

#[test]
fn endless_flows_are_long_flows() {
    let traffic = json!({
        "name": "bulk", "app": "bulk", "flows": 2, "start_within": "50 ms", "side": "clients",
        "tcp": { "profile": "linux", "congestion": "cubic" },
    });
    let outcome = live(&scenario(500, traffic, json!({})), 64);
    assert_eq!(outcome.summary.number("long_flows"), 2.0);
    let rows = table(&outcome, "flows");
    assert!(column(rows, "to_acceptor_bytes").iter().all(|&bytes| bytes > 1_000_000));
    assert_eq!(column(rows, "to_opener_bytes"), [0, 0]);
}

#[test]
fn both_ends_of_a_call_are_recorded() {
    let traffic = json!({
        "name": "call", "app": "voip", "users": 3, "start_within": "100 ms", "lasts": "600 ms",
    });
    let outcome = live(&scenario(1_000, traffic, json!({ "datagrams": true })), 65);
    let streams = table(&outcome, "streams");
    assert_eq!(column(streams, "back").iter().sum::<u64>(), 3);
    let (sent, received) = (column(streams, "sent"), column(streams, "received"));
    assert!(sent.iter().all(|&sent| sent > 5), "{sent:?}");
    assert_eq!(sent, received, "nothing is lost on the way to oneself");
    assert_eq!(column(streams, "lost"), [0; 6]);
    let calls = table(&outcome, "calls");
    assert_eq!(column(calls, "lost"), [0; 6]);
}

#[test]
fn pictures_move() {
    let traffic = json!({
        "name": "film", "app": "video", "users": 2, "start_within": "100 ms",
    });
    let outcome = live(&scenario(1_500, traffic, json!({})), 66);
    assert_eq!(outcome.summary.number("video_players"), 2.0);
    let startup = outcome.summary.number("video_startup_p50_s");
    assert!(startup.is_finite(), "it moved after {startup} s");
}

#[test]
fn the_kernel_is_queried_for_the_end_systems_of_a_scenario() {
    let of = |tcp: Json| {
        let traffic = json!({ "name": "web", "app": "http", "users": 1, "tcp": tcp });
        settings(&scenario(1_000, traffic, json!({}))).unwrap()
    };
    let old = of(json!({ "profile": "freebsd-2.2.8" }));
    let said = |name: &str| old.sysctls[name].as_str();
    assert_eq!((said("tcp_sack"), said("tcp_timestamps"), said("tcp_recovery")), ("0", "0", "0"));
    assert_eq!((said("tcp_window_scaling"), said("tcp_syn_linear_timeouts")), ("0", "0"));
    // 17,520 B, as 16,060 B were seen under a buffer of 28,672 B.
    assert_eq!((said("tcp_rmem"), said("tcp_moderate_rcvbuf")), ("4096 31279 31279", "0"));
    assert!(old.missing.iter().any(|what| what.contains("rto_initial is 3 s")), "{old:?}");
    for profile in ["linux", "linux-6.12"] {
        let today = of(json!({ "profile": profile, "congestion": "cubic", "ecn": true }));
        assert_eq!((&*today.sysctls["tcp_sack"], &*today.sysctls["tcp_ecn"]), ("1", "1"));
        assert_eq!(today.initial_window, Some(10));
        assert_eq!(today.missing, Vec::<String>::new());
        assert!(!today.sysctls.contains_key("tcp_rmem"), "its window grows");
        // A live run is handed its scenario with every default filled in.
        let traffic = json!({ "name": "web", "app": "http", "users": 1, "tcp": profile });
        let filled = scenario(1_000, traffic, json!({})).to_json().to_string();
        let filled = Scenario::from_json(&filled).unwrap();
        let group = &filled.traffic[0];
        assert_eq!(socket_options(group, &group.end_system().unwrap()).congestion, "cubic");
        let filled = settings(&filled).unwrap();
        assert!(!filled.sysctls.contains_key("tcp_rmem"), "its window grows all the same");
    }
    let fixed = of(json!({ "profile": "linux", "autotuning": false }));
    assert_eq!(fixed.sysctls["tcp_moderate_rcvbuf"], "0");
    let bounded = of(json!({ "profile": "linux", "window_bytes": 4_000_000 }));
    assert_eq!(bounded.sysctls["tcp_rmem"], "4096 131072 7141221");
    assert_eq!(bounded.sysctls["tcp_moderate_rcvbuf"], "1");
}

#[test]
fn groups_share_a_kernel() {
    let group =
        |name: &str, tcp: &str| json!({ "name": name, "app": "http", "users": 1, "tcp": tcp });
    let mut two = scenario(1_000, group("old", "freebsd-2.2.8"), json!({}));
    two.traffic.extend(scenario(1_000, group("new", "linux"), json!({})).traffic);
    let why = settings(&two).unwrap_err();
    assert!(why.starts_with("traffic new: its end systems need tcp_"), "{why}");
    two.traffic.extend(scenario(1_000, group("pages", "quic"), json!({})).traffic);
    let why = settings(&two).unwrap_err();
    assert!(why.starts_with("traffic pages: ") && why.contains("write tcp = \"linux\""), "{why}");
}
