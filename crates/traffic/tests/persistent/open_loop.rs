//! Connections that start on schedule: PackMime's persistent ones.

use super::*;

fn link(rate: f64, mode: Mode, connections: usize) -> Network {
    let mut link = Link::new(Arc::new(Laws::new(rate, mode)), &group(), 0);
    Network::run(&mut link, &mut by_size, |n| n.opened.len() >= connections)
}

#[test]
fn connections_start_on_schedule_whatever_the_network_does() {
    let starts =
        |n: &Network| n.opened.iter().map(|o| (o.at, o.peer, o.machine)).collect::<Vec<_>>();
    let requests = |n: &Network| {
        let first = by_connection(n)
            .into_iter()
            .map(|c| (n.requested[c[0]].request, n.requested[c[0]].reply));
        first.collect::<Vec<_>>()
    };
    let fast = link(50.0, Mode::Http11, 5_000);
    let mut slow = |o: &Opened, _: u64| (Duration::from_secs(40), o.conn.is_multiple_of(3));
    let mut other = Link::new(Arc::new(Laws::new(50.0, Mode::Http11)), &group(), 0);
    let slow = Network::run(&mut other, &mut slow, |n| n.opened.len() >= 5_000);
    assert_eq!(starts(&fast), starts(&slow));
    assert_eq!(requests(&fast), requests(&slow));
    assert_eq!(fast.opened[0].at, Instant::ZERO, "the first starts at once");
    // HTTP/1.0 changes neither schedule nor first requests.
    let http10 = link(50.0, Mode::Http10, 5_000);
    assert_eq!((starts(&fast), requests(&fast)), (starts(&http10), requests(&http10)));
    assert!(http10.opened.iter().all(|o| o.closes == Closes::Acceptor));
    // Clients and servers are equally likely: 714 each, five standard errors 124.
    for of in [|o: &Opened| o.peer, |o: &Opened| o.machine] {
        let count = |m| fast.opened.iter().filter(|o| of(o) == m).count();
        assert!((0..7).all(|m| count(m).abs_diff(714) < 124));
    }
}

#[test]
fn packmime_requests_follow_one_another_and_the_server_closes_with_the_last() {
    let network = link(50.0, Mode::Http11, 20_000);
    let horizon = network.opened[19_999].at;
    let mut gaps = Vec::new();
    for (opened, requests) in network.opened.iter().zip(by_connection(&network)) {
        let requested: Vec<_> = requests.iter().map(|&i| network.requested[i]).collect();
        assert!(requested.iter().all(|a| a.waiting_here == 1 && a.request == requested[0].request));
        if opened.closes == Closes::Acceptor {
            assert_eq!(opened.requests, 1);
            continue;
        }
        assert_eq!(opened.closes, Closes::AcceptorLast);
        gaps.extend(requested.windows(2).map(|w| w[1].at.since(w[0].answered).secs_f64()));
        // The last request says so; without it the connection is still on its way.
        match opened.closed {
            Some(at) => assert_eq!(at, requested[requested.len() - 1].at),
            None => assert!(horizon.since(opened.at) < Duration::from_secs(3_600)),
        }
    }
    let persistent = network.opened.iter().filter(|o| o.closes == Closes::AcceptorLast).count();
    assert!((persistent as f64 / 20_000.0 - 0.09).abs() < 0.0102, "five standard errors");
    gaps.sort_by(f64::total_cmp);
    // Mostly gaps within a page, median 56 ms, and some between pages.
    assert!((0.04..0.08).contains(&gaps[gaps.len() / 2]), "{}", gaps[gaps.len() / 2]);
    assert!(gaps[gaps.len() - 1] > 5.0);
}

#[test]
fn packmime_pipelines_a_page_after_the_first_reply() {
    let network = link(50.0, Mode::Pipelined, 20_000);
    let mut at_once = 0;
    for (opened, requests) in network.opened.iter().zip(by_connection(&network)) {
        if opened.closes == Closes::Acceptor || requests.len() < 2 {
            continue;
        }
        let requested: Vec<_> = requests.iter().map(|&i| network.requested[i]).collect();
        assert_eq!(requested[0].waiting_here, 1);
        // The second is written with the first reply, if it is of the same page.
        at_once += usize::from(requested[1].at == requested[0].answered);
        for pair in requested.windows(2) {
            assert!(pair[1].at == pair[0].at || pair[1].at >= pair[0].answered);
        }
    }
    assert!(at_once > 1_000, "{at_once}");
    assert!(network.requested.iter().any(|a| a.waiting_here > 3));
}

#[test]
fn what_a_failed_connection_had_queued_is_fetched_over_others() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(8.0));
        (p.share, p.sharing, p.idle) = (1.0, Sharing::Pipelined, Duration::ZERO);
    });
    let mut rng = Rng::named(2, "failures");
    let mut script = |_: &Opened, _: u64| {
        (Duration::from_micros(50_000 + rng.below(100_000)), rng.below(4) == 0)
    };
    // A user who keeps idle connections wakes once for every page.
    let network = Network::run(&mut user(&model, 1), &mut script, |n| n.wakes == 201);
    assert_eq!(network.requested.len(), 8 * 200 + 1);
    assert!(network.requested.iter().filter(|a| a.failed).count() > 300);
}

#[test]
fn a_connection_that_fails_in_a_gap_is_forgotten() {
    fn notify(link: &mut Link, input: Input, now: Instant) -> Vec<Action> {
        let mut wishes = Vec::new();
        link.on(input, &mut AppCx { now, act: &mut |wish| wishes.push(wish) });
        wishes
    }
    fn wake(wishes: &[Action]) -> Option<Instant> {
        wishes.iter().find_map(|w| if let Action::WakeAt(at) = w { Some(*at) } else { None })
    }
    let laws = Arc::new(Laws::new(20.0, Mode::Http11));
    let mut followed_by_persistent = 0;
    for index in 0..300 {
        let link = &mut Link::new(Arc::clone(&laws), &group(), index);
        let mut next = wake(&notify(link, Input::Start, Instant::ZERO)).unwrap();
        let start = |link: &mut Link, next: &mut Instant| {
            let wishes = notify(link, Input::Woke, *next);
            // One connection and its first request, nothing of any other.
            assert_eq!(wishes.iter().filter(|w| matches!(w, Action::Send { .. })).count(), 1);
            let opens = wishes.iter().find_map(|w| match w {
                Action::Open { conn, closes, .. } => Some((*conn, *closes)),
                _ => None,
            });
            *next = wake(&wishes).unwrap();
            opens.unwrap()
        };
        // The first that carries more than one request fails in its first gap.
        let gap = loop {
            let (conn, closes) = start(link, &mut next);
            assert_eq!(conn, 0, "numbers serve again");
            let gap = wake(&notify(link, Input::Replied { conn }, next));
            assert_eq!(gap.is_some(), closes == Closes::AcceptorLast);
            if let Some(gap) = gap {
                assert_eq!(notify(link, Input::Failed { conn }, next), []);
                break gap;
            }
        };
        // The next one has its number, and is not disturbed when the gap would have been over.
        let (conn, closes) = start(link, &mut next);
        assert_eq!(conn, 0);
        followed_by_persistent += u32::from(closes == Closes::AcceptorLast);
        for _ in 0..1_000 {
            start(link, &mut next);
            if next > gap {
                break;
            }
        }
        start(link, &mut next);
    }
    assert!(followed_by_persistent > 10, "{followed_by_persistent}");
}

#[test]
fn a_kept_connection_that_fails_idle_ends_no_page() {
    let model = model(|model, persistence| {
        model.think = Arc::new(Constant(10.0));
        persistence.share = 1.0;
    });
    let mut user = user(&model, 0);
    let mut react = |now, input| {
        let mut wishes = Vec::new();
        user.on(input, &mut AppCx { now, act: &mut |wish| wishes.push(wish) });
        wishes
    };
    react(Instant::ZERO, Input::Start);
    let mut now = Instant::from_secs_f64(100.0);
    let mut wishes = react(now, Input::Woke);
    let mut open: Vec<u32> = Vec::new();
    while !wishes.iter().any(|wish| matches!(wish, Action::PageEnds { .. })) {
        open.extend(wishes.iter().filter_map(|wish| match wish {
            Action::Send { conn, .. } => Some(*conn),
            _ => None,
        }));
        now += Duration::from_millis(10);
        wishes = react(now, Input::Replied { conn: open.remove(0) });
    }
    assert_eq!(react(now, Input::Failed { conn: 0 }), []);
}

#[test]
fn a_user_has_64_numbers_for_connections() {
    let model = model(|model, persistence| {
        model.files = Arc::new(Constant(90.0));
        model.parallel = 64;
        persistence.share = 0.5;
    });
    let network = life(&model, 4_000);
    assert_eq!(network.opened.iter().map(|opened| opened.conn).max(), Some(63));
}

#[test]
fn an_idle_connection_that_fails_fails_no_page() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(3.0));
        h.pages = Arc::new(Constant(1.0));
        h.parallel = 2;
        (p.share, p.parallel) = (1.0, 2);
    });
    let mut user = user(&model, 3);
    let mut now = Instant::ZERO;
    let mut notify = |input: Input| {
        // Long after every pause.
        now += Duration::from_secs(100_000);
        let mut wishes = Vec::new();
        user.on(input, &mut AppCx { now, act: &mut |wish| wishes.push(wish) });
        wishes
    };
    let requested = |wishes: &[Action]| -> Vec<u32> {
        let conn = |wish: &Action| match wish {
            Action::Send { conn, .. } => Some(*conn),
            _ => None,
        };
        wishes.iter().filter_map(conn).collect()
    };
    notify(Input::Start);
    let first = requested(&notify(Input::Woke));
    let mut rest = requested(&notify(Input::Replied { conn: first[0] }));
    if rest.is_empty() {
        rest = requested(&notify(Input::Woke));
    }
    let [one, other] = rest[..] else { panic!("{rest:?}") };
    assert_eq!(notify(Input::Replied { conn: one }), []);
    assert_eq!(notify(Input::Failed { conn: one }), [], "the other file is still to come");
    let ends = notify(Input::Replied { conn: other });
    let whole = |wish: &Action| matches!(wish, Action::PageEnds { objects: 3, failed: false, .. });
    assert!(ends.iter().any(whole), "{ends:?}");
}
