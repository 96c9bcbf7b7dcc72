//! Every listed application, and groups of them.

use crate::common::network::{Network, Opened};
use aqmlab_traffic::{APPS, Entry, Group, Population, find};
use aqmlab_traffic::{Action, App, AppCx, Closes, Input};
use packet::params::{Params, Raw, Value};
use packet::{Duration, Instant};

fn group(sources: u32) -> Group {
    Group { seed: 2, name: "g".to_owned(), peers: 3, sources, machines: 2 }
}

fn params(app: &str, raw: &[(&str, Raw)]) -> Params {
    let raw: Vec<_> = raw.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
    Params::check(find(app).unwrap().about.fields, &raw).unwrap()
}

fn build(app: &str, raw: &[(&str, Raw)]) -> Population {
    (find(app).unwrap().build)(&params(app, raw), &group(4)).unwrap()
}

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

/// All that a source answers to its start and to being woken, and when it wanted to be woken.
fn opening(app: &mut dyn App) -> (Instant, Vec<Action>) {
    let mut wishes = Vec::new();
    let mut act = |wish| wishes.push(wish);
    app.on(Input::Start, &mut AppCx { now: Instant::ZERO, act: &mut act });
    let [Action::WakeAt(start)] = wishes[..] else { panic!("{wishes:?}") };
    let mut wishes = Vec::new();
    app.on(Input::Woke, &mut AppCx { now: start, act: &mut |wish| wishes.push(wish) });
    (start, wishes)
}

/// Defaults; where something recorded is required, a small one.
fn defaults(entry: &Entry) -> Params {
    if !entry.is_recorded() {
        return Params::defaults(entry.about.fields);
    }
    if entry.about.name == "requests" {
        let row = |user: u32| format!("{user},0.{user},{},2000\n", 100 + user);
        let rows: String = (0..50).map(row).collect();
        let text_of = format!("user,think_s,request_bytes,reply_bytes\n{rows}");
        let file = vec![("file".into(), text("few")), ("text".into(), Raw::Text(text_of))];
        return Params::check(entry.about.fields, &[("requests".into(), Raw::Table(file))])
            .unwrap();
    }
    let recording = "recording 9000 2\n\
        0 40 0 1 2 fin epochs 1,2,3,4\n\
        9 - 1 2 1 fin epochs 1,2,3,4";
    let model = vec![("file".into(), text("small")), ("text".into(), text(recording))];
    let raw = [("model".into(), Raw::Table(model)), ("mode".into(), text("resample"))];
    Params::check(entry.about.fields, &raw).unwrap()
}

#[test]
fn every_entry_is_described_and_works_with_its_defaults() {
    for (i, entry) in APPS.iter().enumerate() {
        assert!(APPS[..i].iter().all(|other| other.about.name != entry.about.name));
        assert!(
            find(entry.about.name).is_some_and(|found| found.about.summary == entry.about.summary)
        );
        assert!(entry.about.summary.ends_with('.') && !entry.about.source.is_empty());
        assert!(entry.about.deviations.ends_with('.'));
        assert!((1980..2100).contains(&entry.about.year));
        for field in entry.about.fields {
            assert!(field.meaning.ends_with('.') && !field.source.is_empty(), "{}", field.name);
        }
        let population = (entry.build)(&defaults(entry), &group(4)).unwrap();
        assert_eq!(population.sources(), 4);
        let (_, wishes) = opening(&mut *population.source(3));
        let reaches_out = |wish: &Action| {
            matches!(
                wish,
                Action::Open { peer: 0..3, .. }
                    | Action::Datagram { peer: 0..3, .. }
                    | Action::SendDatagram { peer: 0..3, .. }
            )
        };
        assert!(wishes.iter().any(reaches_out), "{}: {wishes:?}", entry.about.name);
    }
    assert!(find("wbe").is_none());
}

#[test]
fn sources_do_not_depend_on_how_many_there_are() {
    for entry in APPS {
        let params = defaults(entry);
        let few = (entry.build)(&params, &group(2)).unwrap();
        let many = (entry.build)(&params, &group(50)).unwrap();
        for i in [1, 0] {
            assert_eq!(opening(&mut *few.source(i)), opening(&mut *many.source(i)));
        }
        assert_ne!(opening(&mut *many.source(0)), opening(&mut *many.source(6)));
    }
}

#[test]
fn a_side_without_machines_is_refused() {
    for entry in APPS {
        let empty = Group { peers: 0, ..group(4) };
        let error = (entry.build)(&defaults(entry), &empty).unwrap_err();
        assert_eq!(error.field, "peers");
    }
    let nowhere = Group { machines: 0, ..group(4) };
    let bulk = find("bulk").unwrap();
    let error = (bulk.build)(&Params::defaults(bulk.about.fields), &nowhere).unwrap_err();
    assert_eq!(error.field, "machines");
}

#[test]
fn web_presets_and_what_overrides_them() {
    let estimate = |raw: &[(&str, Raw)]| build("web", raw).ip_bytes_per_source_s().unwrap();
    let is = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 0.6, "{found} against {expected}");
    };
    let raw = || ("model", text("mah-raw"));
    is(estimate(&[]), 411.0);
    is(estimate(&[("model", text("mah-fit"))]), 411.0);
    is(estimate(&[raw()]), 402.0);
    is(estimate(&[raw(), ("reply_scale", Raw::Number(1.4)), ("think", text("le1800"))]), 411.0);
    is(estimate(&[raw(), ("think", text("full"))]), 11.9);
    assert!(params("web", &[]).value("think") == Value::Unset);
    let web = find("web").unwrap();
    for bad in [("parallel", Raw::Number(0.0)), ("parallel", Raw::Number(65.0))] {
        assert!(Params::check(web.about.fields, &[(bad.0.to_owned(), bad.1)]).is_err());
    }
}

#[test]
fn web_users_open_as_many_connections_as_they_may() {
    let most = |parallel: f64| {
        let population = build("web", &[("parallel", Raw::Number(parallel))]);
        let mut most = 0;
        for i in 0..4 {
            let mut user = population.source(i);
            for _ in 0..200 {
                let mut open = opening_of_page(&mut *user);
                while let Some(conn) = open.pop() {
                    let mut act = |wish| {
                        if let Action::Open { conn, .. } = wish {
                            open.push(conn);
                        }
                    };
                    user.on(
                        Input::Replied { conn },
                        &mut AppCx { now: Instant::ZERO, act: &mut act },
                    );
                    most = most.max(open.len());
                }
            }
        }
        most
    };
    assert_eq!((most(1.0), most(4.0), most(7.0)), (1, 4, 7));
}

#[test]
fn every_model_has_the_connections_of_its_own_unless_told_otherwise() {
    let most = |app: &str, raw: &[(&str, Raw)]| {
        let mut by_size = |_: &Opened, reply: u64| {
            (Duration::from_micros((80_000 + 10 * reply).min(30_000_000)), false)
        };
        let mut user = build(app, raw).source(0);
        let network = Network::run(&mut *user, &mut by_size, |n| n.requested.len() >= 4_000);
        network.requested.iter().map(|requested| requested.waiting).max().unwrap()
    };
    let http11 = ("http", text("http11"));
    assert_eq!(most("unc", &[]), 4);
    assert_eq!(most("web-2024", std::slice::from_ref(&http11)), 6);
    assert_eq!(most("web-2024", &[http11, ("parallel", Raw::Number(3.0))]), 3);
}

fn opening_of_page(user: &mut dyn App) -> Vec<u32> {
    let mut open = Vec::new();
    let mut act = |wish| {
        if let Action::Open { conn, .. } = wish {
            open.push(conn);
        }
    };
    // Long after every pause.
    let now = Instant::from_secs_f64(1e6);
    user.on(Input::Woke, &mut AppCx { now, act: &mut act });
    open
}

#[test]
fn bulk_senders_start_in_their_window_and_send() {
    let endless = build("bulk", &[("start_within", text("5 s"))]);
    assert_eq!(endless.ip_bytes_per_source_s(), None);
    let (start, wishes) = opening(&mut *endless.source(1));
    let open = |peer| Action::Open { conn: 0, peer, closes: Closes::Opener };
    assert_eq!(
        wishes,
        [
            open(1),
            Action::Send { conn: 0, bytes: u64::MAX, reply_bytes: 0, service: Duration::ZERO }
        ]
    );
    let finite = build("bulk", &[("bytes", text("60 kB"))]);
    let (_, wishes) = opening(&mut *finite.source(2));
    let send = Action::Send { conn: 0, bytes: 60_000, reply_bytes: 0, service: Duration::ZERO };
    assert_eq!(wishes, [open(2), send, Action::Close { conn: 0 }]);
    // The window stretches the same draw.
    let (earlier, _) = opening(&mut *finite.source(1));
    assert!(earlier.nanos().abs_diff(start.nanos() / 5) <= 1);
    let (at_once, _) = opening(&mut *build("bulk", &[("start_within", text("0 s"))]).source(1));
    assert_eq!(at_once, Instant::ZERO);
}

#[test]
fn a_bulk_sender_stops_when_its_time_is_over() {
    let lasting = build("bulk", &[("start", text("20 s")), ("lasts", text("5 s"))]);
    let mut sender = lasting.source(0);
    let (start, wishes) = opening(&mut *sender);
    assert!((20.0..=21.0).contains(&start.secs_f64()));
    let until = start + Duration::from_secs(5);
    assert_eq!(wishes.last(), Some(&Action::WakeAt(until)));
    let react = |sender: &mut Box<dyn App>, input| {
        let mut wishes = Vec::new();
        sender.on(input, &mut AppCx { now: until, act: &mut |wish| wishes.push(wish) });
        wishes
    };
    assert_eq!(react(&mut sender, Input::Woke), [Action::Stop { conn: 0 }]);
    assert_eq!(react(&mut sender, Input::Sent { conn: 0 }), []);
    // A connection that has failed is not stopped.
    let mut sender = lasting.source(0);
    opening(&mut *sender);
    assert_eq!(react(&mut sender, Input::Failed { conn: 0 }), []);
    assert_eq!(react(&mut sender, Input::Woke), []);
}

#[test]
fn bulk_starts_are_uniform() {
    // 10^4 flows; five standard errors of the mean: 0.0145 s.
    let population = build("bulk", &[]);
    let starts = (0..10_000).map(|i| opening(&mut *population.source(i)).0.secs_f64());
    let (mut sum, mut last) = (0.0, 0.0_f64);
    for start in starts {
        sum += start;
        last = last.max(start);
    }
    assert!((sum / 1e4 - 0.5).abs() < 0.0145, "{}", sum / 1e4);
    assert!(last <= 1.0 && last > 0.99);
}

#[test]
fn a_bulk_sender_says_nothing_after_its_opening() {
    let mut sender = build("bulk", &[]).source(0);
    opening(&mut *sender);
    assert_eq!(sender.shown(Instant::ZERO), None);
    for input in [Input::Sent { conn: 0 }, Input::Failed { conn: 0 }, Input::Replied { conn: 0 }] {
        let mut act = |wish| panic!("{wish:?}");
        sender.on(input, &mut AppCx { now: Instant::ZERO, act: &mut act });
    }
}

#[test]
fn peers_are_met_in_turn_and_shifted_when_both_rounds_close() {
    // Three machines on each side: sources 3 to 5 are those of 0 to 2 again.
    let group = Group { machines: 3, ..group(9) };
    let bulk = find("bulk").unwrap();
    let senders = (bulk.build)(&Params::defaults(bulk.about.fields), &group).unwrap();
    let peers = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|i| match opening(&mut *senders.source(i)).1[0] {
        Action::Open { peer, .. } => peer,
        other => panic!("{other:?}"),
    });
    assert_eq!(peers, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
}

#[test]
fn a_burst_starts_as_one_at_a_drawn_instant() {
    let start = |spread: &str| {
        let population =
            build("burst", &[("start_at", text("10 s")), ("start_spread", text(spread))]);
        let starts: Vec<f64> =
            (0..4).map(|i| opening(&mut *population.source(i)).0.secs_f64()).collect();
        assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
        starts[0]
    };
    assert_eq!(start("0 s"), 10.0);
    let (two, four) = (start("2 s"), start("4 s"));
    assert!(two > 10.0 && two < 12.0, "{two}");
    assert!((four - 10.0 - 2.0 * (two - 10.0)).abs() < 1e-8, "{four}");
}

#[test]
fn a_request_goes_to_the_server_that_its_row_says_modulo_how_many_there_are() {
    let rows = "user,think_s,request_bytes,reply_bytes,server\n0,1,2,3,5\n1,1,2,3,0\n2,1,2,3,7\n3,1,2,3,2\n";
    let file = vec![("file".into(), text("few")), ("text".into(), text(rows))];
    let population = build("requests", &[("requests", Raw::Table(file))]);
    let peers = [0, 1, 2, 3].map(|user| match opening(&mut *population.source(user)).1[0] {
        Action::Open { peer, .. } => peer,
        other => panic!("{other:?}"),
    });
    assert_eq!(peers, [2, 0, 1, 2]);
}

#[test]
fn loops_begin_in_their_window_and_pause_as_they_are_told() {
    let window = build("loop", &[("start_within", text("5 s"))]);
    let wide = build("loop", &[("start_within", text("10 s"))]);
    for i in 0..4 {
        let [start, later] = [&window, &wide].map(|of| opening(&mut *of.source(i)).0.secs_f64());
        assert!(
            (0.0..5.0).contains(&start) && (later - 2.0 * start).abs() < 1e-8,
            "{start} {later}"
        );
    }
    for (raw, pause) in [(vec![], 0), (vec![("think", text("3 s"))], 3)] {
        let mut source = build("loop", &raw).source(1);
        let (start, _) = opening(&mut *source);
        let mut wishes = Vec::new();
        let mut act = |wish| wishes.push(wish);
        source.on(Input::Replied { conn: 0 }, &mut AppCx { now: start, act: &mut act });
        assert_eq!(wishes, [Action::WakeAt(start + Duration::from_secs(pause))]);
    }
}

#[test]
fn a_link_of_packmime_draws_what_is_named_in_place_of_its_laws() {
    let raw = [
        ("request", text("123 B")),
        ("download", text("9 kB")),
        ("not_modified", text("200 B")),
        ("service", text("50 ms")),
    ];
    let mut link = build("packmime", &raw).source(0);
    let (mut now, _) = opening(&mut *link);
    let mut replies = Vec::new();
    for _ in 0..100 {
        let mut next = Instant::NEVER;
        let mut act = |wish| match wish {
            Action::WakeAt(at) => next = next.min(at),
            Action::Send { bytes, reply_bytes, service, .. } => {
                assert_eq!((bytes, service), (123, Duration::from_millis(50)));
                replies.push(reply_bytes);
            }
            _ => {}
        };
        link.on(Input::Woke, &mut AppCx { now, act: &mut act });
        now = next;
    }
    replies.sort_unstable();
    replies.dedup();
    assert_eq!(replies, [200, 9_000]);
}

#[test]
fn pauses_before_requests_and_of_servers_need_no_kept_connections() {
    // Of HTTP/1.0: a model may have the one, the other or several servers of a page alone.
    let mut user = build("http", &[("service", text("50 ms"))]).source(0);
    let (_, wishes) = opening(&mut *user);
    let served = |wish: &Action| matches!(wish, Action::Send { service, .. } if *service == Duration::from_millis(50));
    assert!(wishes.iter().any(served), "{wishes:?}");
    let after_reply = |raw: &[(&str, Raw)]| {
        let mut user = build("http", raw).source(0);
        let (start, _) = opening(&mut *user);
        let mut wishes = Vec::new();
        let mut act = |wish| wishes.push(wish);
        user.on(Input::Replied { conn: 0 }, &mut AppCx { now: start, act: &mut act });
        (start, wishes)
    };
    let (start, wishes) = after_reply(&[("parse", text("100 ms"))]);
    assert_eq!(wishes, [Action::WakeAt(start + Duration::from_millis(100))]);
    let (_, wishes) = after_reply(&[("page_servers", Raw::Number(3.0))]);
    let mut peers: Vec<u32> = wishes
        .iter()
        .filter_map(|wish| match wish {
            Action::Open { peer, .. } => Some(*peer),
            _ => None,
        })
        .collect();
    peers.sort_unstable();
    peers.dedup();
    assert!(peers.len() > 1, "{wishes:?}");
}

#[test]
fn the_last_object_of_a_page_has_none_behind_it() {
    let mut session = build("webtraf", &[("files", Raw::Number(1.0))]).source(0);
    let (_, wishes) = opening(&mut *session);
    assert!(wishes.iter().all(|wish| !matches!(wish, Action::WakeAt(_))), "{wishes:?}");
}

#[test]
fn only_a_rate_of_connections_is_an_open_loop() {
    let open: Vec<&str> =
        APPS.iter().filter(|entry| entry.is_open_loop()).map(|entry| entry.about.name).collect();
    assert_eq!(open, ["packmime", "replay"]);
}

#[test]
fn requests_and_bursts_may_be_large() {
    let opened = |app, raw: &[(&str, Raw)]| opening(&mut *build(app, raw).source(0)).1;
    let asks = |wishes: &[Action], size| {
        wishes.iter().any(|wish| matches!(wish, Action::Send { bytes, .. } if *bytes == size))
    };
    let request = [("request", text("1 MB")), ("start_within", text("0 s"))];
    assert!(asks(&opened("video", &request), 1_000_000));
    assert!(asks(&opened("burst", &[("bytes", text("1000 MB"))]), 1_000_000_000));
}
