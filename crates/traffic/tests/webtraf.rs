//! ns-2's webtraf: its moments against closed forms, and what a session does.

use std::sync::Arc;

use crate::common::network::{Network, Opened, Requested};
use crate::common::sample::{Sample, assert_near};
use aqmlab_traffic::distribution::{Constant, Distribution, Exponential};
use aqmlab_traffic::web::webtraf::{Session, Sessions, mean_rounded_up, object_packets};
use aqmlab_traffic::{Action, AppCx, Closes, Group, Input, Population, find};
use packet::params::{Params, Raw};
use packet::{Duration, Instant};

/// Replies come 80 ms plus 1 ms per 100 bytes after the request, at most 30 s.
fn by_size(_: &Opened, reply: u64) -> (Duration, bool) {
    (Duration::from_micros((80_000 + 10 * reply).min(30_000_000)), false)
}

fn group(sources: u32) -> Group {
    Group { seed: 5, name: "web".into(), peers: 7, sources, machines: 7 }
}

fn build(raw: &[(&str, Raw)], sources: u32) -> Population {
    let entry = find("webtraf").unwrap();
    let raw: Vec<_> = raw.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
    (entry.build)(&Params::check(entry.about.fields, &raw).unwrap(), &group(sources)).unwrap()
}

fn text(text: &str) -> Raw {
    Raw::Text(text.into())
}

fn constant(value: f64) -> Arc<dyn Distribution> {
    Arc::new(Constant(value))
}

#[test]
fn means_of_rounded_up_sizes_are_those_of_the_zeta_function() {
    // E ceil(X) = sum over n of (1 + n/s)^-a = s^a zeta(a, s), Hurwitz's, with a = 1.2.
    for (mean, expected) in [(12.0, 12.540_883), (10.0, 10.548_686)] {
        let found = mean_rounded_up(&object_packets(mean));
        assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
    }
    // E ceil(X) = 1 / (1 - exp(-1/mean)) of an exponential value.
    let found = mean_rounded_up(&Exponential { mean: 3.0 });
    assert!((found - 1.0 / (1.0 - (-1.0_f64 / 3.0).exp())).abs() < 1e-9, "{found}");
    // A whole number stays what it is; nothing is smaller than one.
    assert_eq!(
        [0.0, 0.2, 1.0, 1.1, 7.0].map(|x| mean_rounded_up(&Constant(x))),
        [1.0, 1.0, 1.0, 2.0, 7.0]
    );
    assert_eq!(
        Sessions::of("large-scale", 1).mean_object_bytes(),
        1_000.0 * mean_rounded_up(&object_packets(12.0))
    );
}

/// What sessions with these settings ask for, until so many pages of each are over.
fn lives(sessions: &Sessions, how_many: u64, pages: usize) -> Vec<Network> {
    let sessions = Arc::new(sessions.clone());
    let life = |index| {
        let mut app =
            Session::new(Arc::clone(&sessions), Duration::from_millis(300), 5, "web", index);
        Network::run(&mut app, &mut by_size, |n| n.pages.len() >= pages)
    };
    (0..how_many).map(life).collect()
}

#[test]
fn object_sizes_are_whole_packets_with_their_moments() {
    // 10^5 objects. Mean of sizes cut at 1,000 packets, by the sum over n < 1,000 of
    // (1 + n/2.4)^-1.2: 8.951 with a standard deviation of 40.9, so that five standard errors are
    // 7.2 %. Quantiles of Pareto's second distribution, rounded up; a step of one is allowed.
    let lives =
        lives(&Sessions { pages: constant(500.0), ..Sessions::of("large-scale", 7) }, 200, 500);
    let all = lives.iter().flat_map(|n| n.requested.iter().map(|a| a.reply as f64 / 1_000.0));
    let sizes = Sample::sorted(all.collect());
    assert_eq!(sizes.0.len(), 100_000);
    assert!(sizes.0.iter().all(|packets| packets.fract() == 0.0 && *packets >= 1.0));
    let capped = sizes.0.iter().map(|packets| packets.min(1_000.0)).sum::<f64>() / 1e5;
    assert_near("packets, cut", capped, (8.951, 7.3));
    assert_eq!(sizes.quantile(0.5), 2.0);
    assert!((sizes.quantile(0.9) - 14.0).abs() <= 1.0, "{}", sizes.quantile(0.9));
    assert!((sizes.quantile(0.99) - 109.0).abs() <= 6.0, "{}", sizes.quantile(0.99));
    // Requests of one packet, servers equally likely for every page: 14,286, five standard errors
    // 553.
    assert!(lives.iter().all(|n| n.requested.iter().all(|a| a.request == 1_000)));
    let of = |peer| lives.iter().flat_map(|n| &n.opened).filter(|o| o.peer == peer).count();
    assert!((0..7).all(|peer| of(peer).abs_diff(14_286) < 553));
}

#[test]
fn objects_of_a_page_do_not_wait_for_each_other_and_its_end_begins_the_pause() {
    let sessions = Sessions {
        pages: constant(400.0),
        files: constant(7.5), // rounded up
        ..Sessions::of("large-scale", 7)
    };
    let network = lives(&sessions, 1, 400).remove(0);
    assert_eq!(
        (network.requested.len(), network.opened.len(), network.pages_begun),
        (3_200, 3_200, 400)
    );
    assert!(network.opened.iter().all(|o| o.closes == Closes::Acceptor && o.frame.is_none()));
    assert_eq!(network.requested[0].at, Instant::ZERO + Duration::from_millis(300));
    let (mut gaps, mut pauses, mut earlier_end) = (Vec::new(), Vec::new(), None);
    for (page, told) in network.requested.chunks(8).zip(&network.pages) {
        assert!(
            page.iter()
                .all(|a| network.opened[a.connection].peer
                    == network.opened[page[0].connection].peer)
        );
        gaps.extend(page.windows(2).map(|pair| pair[1].at.since(pair[0].at).secs_f64()));
        let end = page.iter().map(|a| a.answered).max().unwrap();
        let bytes = page.iter().map(|a| a.reply).sum();
        assert_eq!(
            *told,
            Action::PageEnds { began: page[0].at, ended: end, objects: 8, bytes, failed: false }
        );
        pauses.extend(earlier_end.map(|before| page[0].at.since(before).secs_f64()));
        earlier_end = Some(end);
    }
    // Exponential: five standard errors of 2,800 gaps are 9.5 %, of 399 pauses 25 %.
    assert_near("object gap", Sample::sorted(gaps).mean(), (0.01, 9.5));
    assert_near("pause", Sample::sorted(pauses).mean(), (15.0, 25.0));
}

#[test]
fn pages_counted_from_their_starts_overlap() {
    let raw = [
        ("page_gap_from", text("start")),
        ("think", text("50 ms")),
        ("files", Raw::Number(3.0)),
        ("object_gap", text("20 ms")),
        ("pages", Raw::Number(30.0)),
        ("packets", Raw::Number(2.0)),
    ];
    let mut session = build(&raw, 1).source(0);
    let network = Network::run(&mut *session, &mut by_size, |n| n.pages.len() >= 30);
    let ms = |at: Instant| at.nanos() / 1_000_000;
    let mut requested: Vec<u64> = network.requested.iter().map(|a| ms(a.at)).collect();
    let mut expected: Vec<u64> = (0..30).flat_map(|p| [0, 20, 40].map(|o| 50 * p + o)).collect();
    expected.sort_unstable();
    requested.sort_unstable();
    assert_eq!(requested, expected, "the network does not matter");
    // Each is over 100 ms after its third request, whatever the others do.
    for (number, page) in (0..30).zip(&network.pages) {
        let Action::PageEnds { began, ended, objects, bytes, failed } = *page else { panic!() };
        assert_eq!((ms(began), ms(ended)), (50 * number, 50 * number + 140));
        assert_eq!((objects, bytes, failed), (3, 6_000, false));
    }
    // Numbers serve again.
    assert!(network.opened.iter().all(|o| o.conn < 8));
}

#[test]
fn a_page_waits_for_objects_that_are_not_requested_yet() {
    let raw = [
        ("object_gap", text("300 ms")),
        ("files", Raw::Number(3.0)),
        ("packets", Raw::Number(2.0)),
    ];
    let mut session = build(&raw, 1).source(0);
    let network = Network::run(&mut *session, &mut by_size, |n| n.pages.len() >= 5);
    for page in &network.pages {
        let Action::PageEnds { began, ended, objects, .. } = *page else { panic!() };
        assert_eq!((ended.since(began), objects), (Duration::from_millis(700), 3));
    }
}

#[test]
fn a_session_ends_with_its_last_page() {
    let mut app = build(&[("model", text("small"))], 1).source(0);
    let mut notify = |input, at| {
        let mut wishes = Vec::new();
        app.on(input, &mut AppCx { now: at, act: &mut |wish| wishes.push(wish) });
        wishes
    };
    let mut at = Instant::ZERO;
    notify(Input::Start, at);
    for page in 1..=10 {
        assert!(notify(Input::Woke, at).contains(&Action::PageBegins));
        // The last object is given up.
        let input = if page == 10 { Input::Failed { conn: 0 } } else { Input::Replied { conn: 0 } };
        let wishes = notify(input, at);
        let Action::PageEnds { failed, objects: 1, .. } = wishes[0] else { panic!("{wishes:?}") };
        assert_eq!(failed, page == 10);
        match wishes[1..] {
            [Action::WakeAt(next)] if page < 10 => at = next,
            [] if page == 10 => {}
            _ => panic!("page {page}: {wishes:?}"),
        }
    }
    let later = Instant::from_secs_f64(1e6);
    assert_eq!(notify(Input::Woke, later), []);
    assert_eq!(notify(Input::Replied { conn: 0 }, later), []);
    assert_eq!(notify(Input::Failed { conn: 3 }, later), []);
}

#[test]
fn sessions_begin_one_after_the_other() {
    let begin = |population: &Population, i| {
        let mut at = Instant::ZERO;
        let mut act = |wish| {
            if let Action::WakeAt(when) = wish {
                at = when
            }
        };
        population.source(i).on(Input::Start, &mut AppCx { now: Instant::ZERO, act: &mut act });
        at.secs_f64()
    };
    // 10^4 exponential gaps of 1 s: five standard errors are 5 %.
    let many = build(&[], 10_001);
    assert_eq!(begin(&many, 0), 0.0);
    assert_near("last begin", begin(&many, 10_000), (10_000.0, 5.0));
    let small = build(&[("model", text("small"))], 3);
    assert!((begin(&small, 2) - 0.2).abs() < 1e-9);
}

#[test]
fn a_load_is_predicted_from_whole_packets() {
    // Two objects of 2 packets of 1,460 B in segments of that size, 10 ms apart, every 2.46 s.
    let raw = [
        ("packets", Raw::Number(1.5)),
        ("packet", Raw::Number(1_460.0)),
        ("files", Raw::Number(2.0)),
        ("object_gap", text("10 ms")),
        ("think", text("2 s")),
    ];
    let predicted = build(&raw, 1).ip_bytes_per_source_s().unwrap();
    let object = f64::from(2 * (1_460 + 40) + 44 + 40 + 40);
    assert!((predicted - 2.0 * object / 2.46).abs() < 1e-6, "{predicted}");
    // 4.3 packets of 1,000 B are five, in four segments.
    for packets in [4.3, 5.0] {
        let raw = [("packets", Raw::Number(packets)), ("think", text("1 s"))];
        let predicted = build(&raw, 1).ip_bytes_per_source_s().unwrap();
        assert!(
            (predicted - f64::from(5_000 + 4 * 40 + 44 + 40) / 1.45).abs() < 1e-6,
            "{predicted}"
        );
    }
    // ns-2's example: 12.54 packets of 1,000 B every 15.45 s, and 4 % of headers.
    let predicted = build(&[], 1).ip_bytes_per_source_s().unwrap();
    assert_near("large-scale", predicted, (12_541.0 * 1.04 / 15.45, 1.5));
}

/// A page that a slow network stretches over others has its own objects.
#[test]
fn requested_objects_belong_to_their_pages() {
    let raw = [
        ("page_gap_from", text("start")),
        ("think", text("1 s")),
        ("pages", Raw::Number(60.0)),
        ("files", Raw::Number(4.0)),
        ("packets", Raw::Number(50.0)),
    ];
    let mut slow = |opened: &Opened, _: u64| {
        (Duration::from_millis(500 + 700 * u64::from(opened.conn % 5)), opened.conn % 9 == 4)
    };
    let mut session = build(&raw, 1).source(0);
    let network = Network::run(&mut *session, &mut slow, |n| n.pages.len() >= 60);
    let of_page = |began: Instant| -> Vec<&Requested> {
        network
            .requested
            .iter()
            .filter(|a| a.at >= began && a.at < began + Duration::from_secs(1))
            .collect()
    };
    let mut failed_pages = 0;
    for page in &network.pages {
        let Action::PageEnds { began, ended, failed, .. } = *page else { panic!() };
        let requested = of_page(began);
        assert_eq!(requested.len(), 4);
        assert_eq!(requested.iter().map(|a| a.answered).max(), Some(ended));
        assert_eq!(requested.iter().any(|a| a.failed), failed);
        failed_pages += u32::from(failed);
    }
    assert!(failed_pages > 0 && failed_pages < 60, "{failed_pages}");
}
