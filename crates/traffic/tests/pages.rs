//! Pages: over HTTP/2, and what is said of them in every mode.

use std::sync::Arc;

use crate::common::network::{Network, Opened, Requested};
use aqmlab_traffic::distribution::Constant;
use aqmlab_traffic::web::{Persistence, Sharing, User, UserModel, unc};
use aqmlab_traffic::{Action, App, AppCx, Closes, Group, Input, find};
use packet::params::{Params, Raw};
use packet::{Duration, Instant, Rng};

/// Replies come 80 ms plus 1 ms per 100 bytes after the request, at most 30 s.
fn by_size(_: &Opened, reply: u64) -> (Duration, bool) {
    (Duration::from_micros((80_000 + 10 * reply).min(30_000_000)), false)
}

/// Users of HTTP/2 with pages of so many files, from stays of three pages.
fn multiplexing(files: f64, streams: u32) -> UserModel {
    let mut model = unc::model(7);
    model.files = Arc::new(Constant(files));
    model.pages = Arc::new(Constant(3.0));
    model.think = Arc::new(Constant(10.0));
    let sharing = Sharing::Multiplexed { streams, independent: false };
    model.persistence = Some(Persistence { share: 1.0, parallel: 1, sharing, ..unc::PERSISTENCE });
    model
}

fn user(model: &UserModel) -> User {
    User::new(Arc::new(model.clone()), 11, "browsers", 3)
}

fn life(model: &UserModel, requests: usize) -> Network {
    Network::run(&mut user(model), &mut by_size, |n| n.requested.len() >= requests)
}

#[test]
fn all_files_but_the_first_are_requested_at_once_on_the_connection_of_the_stay() {
    let network = life(&multiplexing(9.0, 100), 9 * 3 * 10);
    assert_eq!(network.opened.len(), 10, "one for three pages");
    assert!(network.opened.iter().all(|o| o.closes == Closes::Opener && o.frame == Some(16_384)));
    for page in network.requested.chunks(9) {
        assert_eq!(page[0].waiting, 1);
        assert!(page[1..].iter().all(|a| a.at == page[0].answered));
        assert!(page.iter().all(|a| a.connection == page[0].connection));
        let waiting: Vec<usize> = page[1..].iter().map(|a| a.waiting_here).collect();
        assert_eq!(waiting, (1..=8).collect::<Vec<_>>());
    }
    // The client closes it at the end of the stay.
    for (stay, opened) in network.requested.chunks(27).zip(&network.opened).take(9) {
        assert_eq!(opened.closed, stay.iter().map(|a| a.answered).max());
    }
}

#[test]
fn a_number_of_connections_wait_and_every_reply_is_followed_by_a_request() {
    let network = life(&multiplexing(50.0, 6), 50 * 12);
    assert_eq!(network.requested.iter().map(|a| a.waiting_here).max(), Some(6));
    for page in network.requested.chunks(50) {
        assert_eq!(page[1..].iter().filter(|a| a.at == page[0].answered).count(), 6);
        let follows = |a: &Requested| page.iter().any(|other| other.answered == a.at);
        assert!(page[1..].iter().all(follows));
    }
}

#[test]
fn every_other_server_has_one_connection_for_the_page() {
    let mut model = multiplexing(10.0, 100);
    model.page_servers = Some(Arc::new(Constant(4.0)));
    let mut user = user(&model);
    let network = Network::run(&mut user, &mut by_size, |n| n.pages.len() >= 30);
    assert_eq!(network.requested.len(), 10 * 30);
    for page in network.requested.chunks(10) {
        let of = |a: &Requested| &network.opened[a.connection];
        let (own, others): (Vec<&Requested>, Vec<_>) =
            page.iter().partition(|a| of(a).peer == of(&page[0]).peer);
        // Every fourth file from the stay's server, the other seven from three.
        assert_eq!((own.len(), others.len()), (3, 7));
        let mut connections: Vec<usize> = others.iter().map(|a| a.connection).collect();
        connections.sort_unstable();
        connections.dedup();
        let counts: Vec<usize> = connections.iter().map(|&c| network.opened[c].requests).collect();
        assert_eq!(counts, [3, 2, 2]);
        for connection in connections {
            let Opened { at, closed, frame, .. } = network.opened[connection];
            let of_it = others.iter().filter(|a| a.connection == connection);
            assert_eq!(closed, of_it.map(|a| a.answered).max(), "closed with its last reply");
            assert_eq!((at, frame), (page[0].answered, Some(16_384)));
        }
    }
}

#[test]
fn more_servers_than_connection_numbers_are_too_many() {
    let mut model = multiplexing(300.0, 100);
    model.servers = 200;
    model.page_servers = Some(Arc::new(Constant(150.0)));
    let network = life(&model, 600);
    assert!(network.opened.iter().all(|o| o.conn < 64));
    assert_eq!(network.pages.len(), 1);
}

#[test]
fn failures_are_survived_and_a_page_of_which_a_file_is_missing_has_failed() {
    let mut model = multiplexing(12.0, 3);
    model.page_servers = Some(Arc::new(Constant(2.0)));
    let mut rng = Rng::named(1, "failures");
    let mut script = |_: &Opened, reply: u64| {
        (Duration::from_micros(60_000 + 10 * reply.min(1_000_000)), rng.below(25) == 0)
    };
    let network = Network::run(&mut user(&model), &mut script, |n| n.pages.len() >= 300);
    let failed = network.pages.iter().filter(|page| page_of(page).2).count();
    assert!(failed > 60 && failed < 250, "{failed}");
    assert!(network.requested.iter().all(|a| a.waiting_here <= 3));
    assert_eq!(
        network.requested.len(),
        12 * 300,
        "what a failed connection had queued is asked again"
    );
    for (page, requested) in network.pages.iter().zip(network.requested.chunks(12)) {
        assert_eq!(page_of(page).2, requested.iter().any(|a| a.failed));
    }
}

/// What was said of a page: objects, bytes, whether it failed.
fn page_of(action: &Action) -> (u32, u64, bool) {
    match *action {
        Action::PageEnds { objects, bytes, failed, .. } => (objects, bytes, failed),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_page_lasts_from_its_first_request_to_its_last_reply_in_every_mode() {
    let group = Group { seed: 3, name: "g".into(), peers: 7, sources: 1, machines: 7 };
    let of = |app: &str, http: &str| -> Box<dyn App> {
        let entry = find(app).unwrap();
        let mut raw = vec![("start".to_owned(), Raw::Text("stationary".into()))];
        if !http.is_empty() {
            raw.push(("http".to_owned(), Raw::Text(http.into())));
        }
        let params = Params::check(entry.about.fields, &raw).unwrap();
        (entry.build)(&params, &group).unwrap().source(0)
    };
    for (app, http) in [
        ("web", "http10"),
        ("web", "http2"),
        ("unc", "http11"),
        ("unc", "http11-pipelined"),
        ("unc", "http2"),
        ("threegpp-http", ""),
        ("threegpp-http", "http2"),
        ("http", "http11"),
        ("web-2024", ""),
        ("web-2024", "http11"),
    ] {
        let mut user = of(app, http);
        let network = Network::run(&mut *user, &mut by_size, |n| n.pages.len() >= 200);
        let mut requested = network.requested.iter();
        for page in &network.pages {
            let (objects, bytes, failed) = page_of(page);
            let Action::PageEnds { began, ended, .. } = *page else { unreachable!() };
            let of_it: Vec<&Requested> = requested.by_ref().take(objects as usize).collect();
            assert_eq!(began, of_it[0].at, "{app} {http}");
            assert_eq!(Some(ended), of_it.iter().map(|a| a.answered).max(), "{app} {http}");
            assert_eq!(bytes, of_it.iter().map(|a| a.reply).sum::<u64>());
            assert!(!failed);
        }
        assert_eq!(requested.len(), 0, "{app} {http}: nothing was asked for between pages");
        assert_eq!(network.pages_begun, 200);
    }
}

#[test]
fn what_a_loop_fetches_is_no_page() {
    let entry = find("loop").unwrap();
    let group = Group { seed: 3, name: "g".into(), peers: 7, sources: 1, machines: 7 };
    let mut file = (entry.build)(&Params::defaults(entry.about.fields), &group).unwrap().source(0);
    let network = Network::run(&mut *file, &mut by_size, |n| n.requested.len() >= 20);
    assert_eq!((network.pages_begun, network.pages.len()), (0, 0));
}

#[test]
fn a_page_of_one_file_opens_nothing_more_when_it_fails() {
    let mut user = user(&multiplexing(1.0, 100));
    let mut react = |now, input| {
        let mut wishes = Vec::new();
        user.on(input, &mut AppCx { now, act: &mut |wish| wishes.push(wish) });
        wishes
    };
    let opens = |wishes: &[Action]| wishes.iter().any(|wish| matches!(wish, Action::Open { .. }));
    react(Instant::ZERO, Input::Start);
    let now = Instant::from_secs_f64(100.0);
    assert!(opens(&react(now, Input::Woke)));
    assert!(!opens(&react(now, Input::Failed { conn: 0 })));
}
