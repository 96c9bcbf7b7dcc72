//! Senders without end, bursts, loops and requests: what each kind does with its fields.

use super::*;

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
fn loops_begin_in_their_window_and_pause_as_they_are_set() {
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
