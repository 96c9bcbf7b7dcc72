//! Every parameter of every congestion control at the ends of its range: no end makes a sender loop for
//! ever, panic or flood.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::lab::{S, World, ms, profile, secs};
use aqmlab_tcp::HostClock;
use packet::Ecn;
use packet::params::{Field, Kind, Raw};
use packet::units::Unit;

/// The ends of a parameter's range, the first and the last of its choices; above an end that is excluded the least that anybody would write.
fn ends(field: &Field) -> [Raw; 2] {
    match field.kind {
        Kind::Switch => [Raw::Bool(false), Raw::Bool(true)],
        Kind::Whole { min, max, .. } => [min, max].map(|end| Raw::Number(end as f64)),
        Kind::Real { unit, min, max, open } => {
            let least = if open { min + 1e-6 * (max - min) } else { min };
            [least, max].map(|end| match unit {
                Unit::Time => Raw::Text(format!("{end} s")),
                _ => Raw::Number(end),
            })
        }
        Kind::Choice(names) => {
            [names.first(), names.last()].map(|end| Raw::Text((*end.expect("a choice")).into()))
        }
        other => panic!("{}: the ends of {other:?}?", field.name),
    }
}

/// Packets that a transfer of 1 MB may send in 20 s.
const MOST: u64 = 200_000;

/// A transfer over a path that marks every 25th and loses every 40th segment of a sender.
fn transfer(name: &str, settings: Vec<(String, Raw)>) {
    let congestion = [("congestion", Raw::Table(settings))];
    let mut world = World::new(&profile(name, &congestion), [HostClock::default(); 2], 1_000_000);
    world.keep_log = false;
    world.delay = ms(20);
    world.fate = Box::new(|sent| {
        let capable = sent.segment.ecn != Ecn::NotEct;
        (capable && sent.data_number % 25 == 0, packet::Duration::ZERO)
    });
    let mut packets = 0;
    world.run(secs(20.0), &mut |sent| {
        packets += 1;
        assert!(packets < MOST, "it floods");
        sent.side == S && sent.data_number % 40 == 39
    });
}

/// Each parameter alone at its ends, then all at the first and all at the second.
fn cases() -> Vec<(&'static str, Vec<(String, Raw)>)> {
    let mut cases = Vec::new();
    for about in aqmlab_tcp::controls() {
        let name = ("name".to_owned(), Raw::Text(about.name.into()));
        let at = |field: &Field, end: usize| (field.name.to_owned(), ends(field)[end].clone());
        for end in [0, 1] {
            for field in about.fields {
                cases.push((about.name, vec![name.clone(), at(field, end)]));
            }
            let all = about.fields.iter().map(|field| at(field, end));
            cases.push((about.name, std::iter::once(name.clone()).chain(all).collect()));
        }
    }
    cases
}

#[test]
fn no_end_of_a_range_hangs_a_sender() {
    // A call that does not return sends no event that could be counted: a hang is named instead, after a
    // time that no machine needs.
    let (report, reports) = mpsc::channel();
    let worker = thread::spawn(move || {
        for (control, settings) in cases() {
            for name in ["plain", "linux"] {
                report.send(format!("{name} {control} {settings:?}")).expect("somebody listens");
                transfer(name, settings.clone());
            }
        }
    });
    let mut last = String::new();
    loop {
        match reports.recv_timeout(Duration::from_secs(120)) {
            Ok(case) => last = case,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{last}: does not return"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(worker.join().is_ok(), "{last}");
}
