//! Persistent connections: who opens, who sends when, who closes, in every mode of HTTP.

mod open_loop;

use crate::common::network;
use std::sync::Arc;

use crate::common::network::{Network, Opened};
use aqmlab_traffic::distribution::{Constant, Discrete};
use aqmlab_traffic::web::packmime::{Laws, Link, Mode};
use aqmlab_traffic::web::{Persistence, Sharing, User, UserModel, threegpp, unc};
use aqmlab_traffic::{Action, App, AppCx, Closes, Group, Input};
use packet::{Duration, Instant, Rng};

/// Replies come 80 ms plus 1 ms per 100 bytes after the request, at most 30 s.
fn by_size(_: &Opened, reply: u64) -> (Duration, bool) {
    (Duration::from_micros((80_000 + 10 * reply).min(30_000_000)), false)
}

fn model(change: impl FnOnce(&mut UserModel, &mut Persistence)) -> UserModel {
    let mut model = unc::model(7);
    let mut persistence = unc::PERSISTENCE;
    change(&mut model, &mut persistence);
    model.persistence = Some(persistence);
    model
}

fn user(model: &UserModel, index: u64) -> User {
    User::new(Arc::new(model.clone()), 11, "browsers", index)
}

fn life(model: &UserModel, requests: usize) -> Network {
    Network::run(&mut user(model, 3), &mut by_size, |n| n.requested.len() >= requests)
}

/// The numbers of the requests of each connection, in order.
fn by_connection(network: &Network) -> Vec<Vec<usize>> {
    let mut of = vec![Vec::new(); network.opened.len()];
    for (i, requested) in network.requested.iter().enumerate() {
        of[requested.connection].push(i);
    }
    of
}

#[test]
fn half_of_the_objects_and_a_sixth_of_the_connections_are_persistent() {
    // Published: 50 % of the objects, about 15 % of the connections. 600 users with some 100 stays
    // each; five standard errors of the share of objects are 1.6 points.
    let model = model(|_, _| {});
    let (mut objects, mut kept_objects, mut connections, mut kept) = (0, 0, 0, 0);
    for index in 0..600 {
        let mut user = user(&model, index);
        let network = Network::run(&mut user, &mut by_size, |n| n.requested.len() >= 1_200);
        for opened in &network.opened {
            let persistent = opened.closes == Closes::Opener;
            objects += opened.requests;
            connections += 1;
            kept_objects += if persistent { opened.requests } else { 0 };
            kept += usize::from(persistent);
        }
    }
    let share = |part: usize, of: usize| part as f64 / of as f64;
    assert!((share(kept_objects, objects) - 0.5).abs() < 0.016, "{}", share(kept_objects, objects));
    assert!((share(kept, connections) - 0.155).abs() < 0.01, "{}", share(kept, connections));
    assert!((share(kept_objects, kept) - 5.5).abs() < 0.3, "{}", share(kept_objects, kept));
}

#[test]
fn no_more_connections_than_allowed_and_as_many_as_useful() {
    for (parallel, kept) in [(1, 1), (2, 2), (4, 2), (6, 4), (64, 64)] {
        let model = model(|h, p| {
            h.parallel = parallel;
            p.parallel = kept;
        });
        let network = life(&model, 4_000);
        let most = network.requested.iter().map(|a| a.waiting).max().unwrap();
        assert!(most <= parallel as usize);
        let most_kept = network.opened.iter().map(|o| o.kept).max().unwrap();
        assert!(most_kept <= kept as usize);
        if parallel < 10 {
            assert_eq!((most, most_kept), (parallel as usize, kept as usize));
        }
        // Without pipelining one request at a time.
        assert!(network.requested.iter().all(|a| a.waiting_here == 1));
    }
}

#[test]
fn an_open_connection_is_used_before_another_is_opened() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(4.0));
        h.pages = Arc::new(Constant(3.0));
        h.think = Arc::new(Constant(10.0));
        (p.share, p.parallel) = (1.0, 2);
    });
    let network = life(&model, 12 * 20);
    // Three pages of four files: one connection for the first file, a second beside it for the
    // others; both last the stay and are closed at its end by the client.
    let stays = by_connection(&network);
    assert_eq!(network.opened.len(), 2 * 20);
    for (stay, pair) in network.opened.chunks(2).enumerate() {
        assert!(pair.iter().all(|o| o.closes == Closes::Opener && o.peer == pair[0].peer));
        assert_eq!(pair[0].requests + pair[1].requests, 12);
        let first = &stays[2 * stay];
        assert_eq!(network.requested[first[0]].at, pair[0].at);
        assert_eq!(
            pair[1].at, network.requested[first[0]].answered,
            "the second beside the second file"
        );
        if stay < 19 {
            let ends = stays[2 * stay..2 * stay + 2]
                .iter()
                .map(|c| network.requested[c[c.len() - 1]].answered);
            let end = ends.max().unwrap();
            assert!(pair.iter().all(|o| o.closed == Some(end)), "closed when the last reply is in");
        }
    }
}

#[test]
fn idle_connections_are_closed_in_time_and_not_earlier() {
    let limit = Duration::from_secs(120);
    let network = life(&model(|_, p| p.share = 1.0), 6_000);
    let (mut stale, mut at_end) = (0, 0);
    for (opened, requests) in network.opened.iter().zip(by_connection(&network)) {
        let Some(closed) = opened.closed else { continue };
        let last = network.requested[requests[requests.len() - 1]].answered;
        for pair in requests.windows(2) {
            let idle = network.requested[pair[1]].at.since(network.requested[pair[0]].answered);
            assert!(idle <= limit + Duration::from_secs(30), "used after {idle:?}");
        }
        // At the limit, or with the page that was under way then, or at the end of the stay.
        let idle = closed.since(last);
        if idle == limit {
            stale += 1
        } else {
            at_end += 1
        }
        assert!(idle <= limit + Duration::from_secs(300));
    }
    assert!(stale > 20 && at_end > 100, "{stale} stale, {at_end} at the end of a stay");
    let patient = life(&model(|_, p| (p.share, p.idle) = (1.0, Duration::ZERO)), 6_000);
    assert!(patient.opened.len() < network.opened.len(), "never closed for idling");
    // An idle user wakes for pages and for closing only.
    assert!(network.wakes < patient.wakes + stale + 10, "{} {}", network.wakes, patient.wakes);
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(30.0));
        h.pages = Arc::new(Constant(1.0));
        p.share = 1.0;
        p.requests = Some(Arc::new(Constant(4.0)));
    });
    let network = life(&model, 300);
    for page in network.requested.chunks(30).take(9) {
        let mut connections: Vec<usize> = page.iter().map(|a| a.connection).collect();
        connections.sort_unstable();
        connections.dedup();
        let counts: Vec<usize> = connections.iter().map(|&c| network.opened[c].requests).collect();
        assert_eq!(counts.iter().sum::<usize>(), 30, "{counts:?}");
        // Of two at a time at most one is not used up beside the last.
        assert!(counts.iter().all(|&n| n <= 4) && counts.len() <= 9, "{counts:?}");
        let used_up = connections.iter().filter(|&&c| network.opened[c].requests == 4);
        for &connection in used_up {
            let last = page.iter().rfind(|a| a.connection == connection).unwrap();
            assert_eq!(network.opened[connection].closed, Some(last.answered), "closed at once");
        }
    }
}

#[test]
fn pipelining_writes_the_rest_of_the_page_after_the_first_reply() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(8.0));
        h.pages = Arc::new(Constant(2.0));
        h.think = Arc::new(Constant(5.0));
        (p.share, p.sharing) = (1.0, Sharing::Pipelined);
    });
    let network = life(&model, 16 * 10);
    for (stay, pair) in by_connection(&network).chunks(2).enumerate() {
        let requested = |conn: usize, i: usize| network.requested[pair[conn][i]];
        let first = requested(0, 0);
        // Seven are left: four on the connection that has seen a reply, at once.
        for i in 1..5 {
            assert_eq!(
                (requested(0, i).at, requested(0, i).waiting_here),
                (first.answered, i),
                "stay {stay}"
            );
        }
        // Three on a new one: one, and two when it has been answered.
        assert_eq!(requested(1, 0).at, first.answered);
        assert!((1..3).all(|i| requested(1, i).at == requested(1, 0).answered));
        // The second page: one alone, then four and three at once on the two, both seasoned.
        let second = requested(0, 5);
        assert_eq!(second.waiting, 1);
        assert!((6..10).all(|i| requested(0, i).at == second.answered));
        assert!((3..6).all(|i| requested(1, i).at == second.answered));
        assert_eq!((pair[0].len(), pair[1].len()), (10, 6));
    }
}

#[test]
fn other_servers_get_connections_of_their_own() {
    let model = model(|h, p| {
        h.files = Arc::new(Constant(7.0));
        h.page_servers = Some(Arc::new(Constant(3.0)));
        p.share = 1.0;
    });
    let network = life(&model, 7 * 30);
    for page in network.requested.chunks(7).take(30) {
        let of = |a: &network::Requested| network.opened[a.connection];
        let main = of(&page[0]).peer;
        // Of three servers every third file, the first included, comes from the stay's.
        let (own, others): (Vec<_>, Vec<_>) = page.iter().partition(|a| of(a).peer == main);
        assert_eq!((own.len(), others.len()), (3, 4));
        assert!(own.iter().all(|a| of(a).closes == Closes::Opener));
        assert!(others.iter().all(|a| of(a).closes == Closes::Acceptor));
        let mut peers: Vec<u32> = others.iter().map(|a| of(a).peer).collect();
        peers.sort_unstable();
        assert!(peers[0] == peers[1] && peers[1] != peers[2] && peers[2] == peers[3], "{peers:?}");
    }
    // One file needs one server, and no more than there are can serve.
    let mut lone = model.clone();
    lone.files = Arc::new(Constant(1.0));
    assert!(life(&lone, 50).opened.iter().all(|o| o.closes == Closes::Opener));
    let mut few = model;
    few.servers = 1;
    assert!(life(&few, 50).opened.iter().all(|o| o.peer == 0));
}

#[test]
fn failures_are_survived_in_every_mode() {
    for sharing in [Sharing::InTurn, Sharing::Pipelined] {
        let model = model(|h, p| {
            h.page_servers = Some(Arc::new(Discrete::parse("value,prob\n1,0.5\n3,0.5\n").unwrap()));
            (p.share, p.sharing, p.parallel) = (0.7, sharing, 3);
            p.requests = Some(Arc::new(Constant(5.0)));
        });
        let mut rng = Rng::named(1, "failures");
        let mut script = |_: &Opened, reply: u64| {
            let (after, fails) = (60_000 + 10 * reply.min(1_000_000), rng.below(5) == 0);
            (Duration::from_micros(after), fails)
        };
        let network =
            Network::run(&mut user(&model, 5), &mut script, |n| n.requested.len() >= 8_000);
        let failed = network.requested.iter().filter(|a| a.failed).count();
        assert!(failed > 1_000, "{failed}");
        assert!(network.requested.iter().all(|a| a.waiting <= 4 * 12));
    }
}

#[test]
fn http10_and_http11_draw_the_same_pages() {
    let modes = [0.0, 1.0].map(|share| life(&model(|_, p| p.share = share), 2_000));
    let drawn = |n: &Network| n.requested.iter().map(|a| (a.request, a.reply)).collect::<Vec<_>>();
    assert_eq!(drawn(&modes[0]), drawn(&modes[1]));
    assert!(modes[0].opened.iter().all(|o| o.closes == Closes::Acceptor && o.requests == 1));
}

#[test]
fn parsing_and_serving_take_their_time() {
    let model = model(|h, p| {
        h.parse = Some(Arc::new(Constant(0.5)));
        h.service = Some(Arc::new(Constant(2.0)));
        h.files = Arc::new(Constant(3.0));
        p.share = 0.0;
    });
    let network = life(&model, 30);
    for page in network.requested.chunks(3).take(9) {
        assert!(page[0].answered.since(page[0].at) > Duration::from_secs(2));
        assert!(page[1..].iter().all(|a| a.at == page[0].answered + Duration::from_millis(500)));
    }
}

#[test]
fn a_3gpp_user_keeps_one_connection() {
    let entry = threegpp::ENTRY;
    let params = packet::params::Params::defaults(entry.about.fields);
    let users = (entry.build)(&params, &group()).unwrap();
    let network = Network::run(&mut *users.source(0), &mut by_size, |n| n.requested.len() >= 3_000);
    assert_eq!(network.opened.len(), 1);
}

// ---- PackMime -----------------------------------------------------------------------------------

fn group() -> Group {
    Group { seed: 5, name: "link".into(), peers: 7, sources: 1, machines: 7 }
}
