//! Every listed application, and groups of them.

mod kinds;

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
fn every_model_has_the_connections_of_its_own_unless_set_otherwise() {
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
