//! What every profile with every congestion control does on bad paths stays as it is: a row of
//! `golden.txt` each, segments sent, retransmissions and timeouts, and a fingerprint of every segment
//! and window. It says nothing about what is right; that do dialogues, formulas and the comparisons
//! with other programs. It notices what they do not come by. Written anew with
//! `AQMLAB_BLESS=1 cargo test -p aqmlab-tcp --test all golden::`; say in the commit why it changed.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use aqmlab_tcp::{HostClock, PROFILES, Profile, controls};
use packet::params::{Params, Raw};
use packet::{Duration, Ecn, Rng};

use crate::lab::{S, World, describe, ms, secs};

/// Paths, each with other losses, delays and marks.
const PATHS: u64 = 8;

fn fold(print: u64, text: &str) -> u64 {
    text.bytes().fold(print, |p, b| (p ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Numbers of a run: segments, retransmissions, timeouts; and its fingerprint.
fn run(profile: &Arc<Profile>, path: u64) -> ([u64; 3], u64) {
    let mut rng = Rng::indexed(11, "golden path", path);
    let (loss, late) = ([0.0, 0.01, 0.05, 0.2][(path % 4) as usize], path / 4 % 2 == 1);
    let mut fates = Rng::indexed(12, "golden fate", path);
    let mut world = World::new(profile, [HostClock::default(); 2], 250_000);
    world.fate = Box::new(move |sent| {
        let marked = sent.segment.ecn != Ecn::NotEct && fates.uniform() < 0.1;
        let later = late && fates.uniform() < 0.1;
        (marked, if later { ms(fates.below(60)) } else { Duration::ZERO })
    });
    world.run(secs(300.0), &mut |_| rng.uniform() < loss);
    let mut print = 0xcbf2_9ce4_8422_2325;
    for sent in &world.sent {
        let told =
            format!("{} {} {:?}", sent.at.nanos(), describe(&sent.segment), sent.segment.sack);
        print = fold(print, &told);
    }
    for probe in &world.probes {
        print = fold(print, &format!("{} {} {}", probe.cwnd, probe.ssthresh, probe.rto.nanos()));
    }
    let counters = world.ends[S].counters();
    let counts = [world.sent.len() as u64, counters.resent_data.into(), counters.timeouts.into()];
    (counts, print)
}

/// The rows of a profile: one for each congestion control that goes with it and one for ns-2's Sack1,
/// which few others run, without and with ECN.
fn rows(name: &str) -> String {
    let entry = aqmlab_tcp::find(name).expect("a profile");
    let mut text = String::new();
    let given = controls().map(|about| ("congestion", about.name)).chain([("recovery", "sack1")]);
    for ((field, choice), ecn) in given.flat_map(|given| [(given, false), (given, true)]) {
        let raw = [(field, Raw::Text(choice.to_string())), ("ecn", Raw::Bool(ecn))];
        let raw = raw.map(|(field, value)| (field.to_string(), value));
        let built = Params::check(entry.about.fields, &raw)
            .and_then(|params| (entry.build)(&params, &aqmlab_tcp::Controls::ours()));
        let Ok(profile) = built else { continue };
        let profile = Arc::new(profile);
        let (mut all, mut prints) = ([0; 3], 0u64);
        for path in 0..PATHS {
            let (counts, print) = run(&profile, path);
            all = std::array::from_fn(|i| all[i] + counts[i]);
            prints = prints.rotate_left(1) ^ print;
        }
        let [sent, resent, timeouts] = all;
        let ecn = if ecn { "ecn" } else { "" };
        let row = format!("{name:<14} {choice:<12} {ecn:<3} {sent:>6} {resent:>5} {timeouts:>4}");
        writeln!(text, "{row} {prints:016x}").unwrap();
    }
    text
}

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt")
}

fn blessing() -> bool {
    std::env::var_os("AQMLAB_BLESS").is_some()
}

#[test]
fn every_profile_has_rows() {
    if blessing() {
        let now: String = PROFILES.iter().map(|entry| rows(entry.about.name)).collect();
        std::fs::write(file(), now).unwrap();
    }
    let table = std::fs::read_to_string(file()).unwrap();
    let mut named: Vec<_> = table.lines().filter_map(|row| row.split(' ').next()).collect();
    named.dedup();
    let known: Vec<_> = PROFILES.iter().map(|entry| entry.about.name).collect();
    assert_eq!(named, known, "each has a test below, too");
}

fn stays(name: &str) {
    if blessing() {
        return;
    }
    let now = rows(name);
    let table = std::fs::read_to_string(file()).unwrap();
    let before: Vec<_> = table.lines().filter(|row| row.split(' ').next() == Some(name)).collect();
    let changed: Vec<_> = now.lines().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty(), "golden.txt has other rows; now:\n{}", changed.join("\n"));
    assert_eq!(now.lines().count(), before.len());
}

#[test]
fn freebsd_2_2_8_stays_as_it_is() {
    stays("freebsd-2.2.8");
}

#[test]
fn freebsd_4_5_stays_as_it_is() {
    stays("freebsd-4.5");
}

#[test]
fn linux_6_1_stays_as_it_is() {
    stays("linux-6.1");
}

#[test]
fn linux_6_12_stays_as_it_is() {
    stays("linux-6.12");
}

#[test]
fn windows_nt4_stays_as_it_is() {
    stays("windows-nt4");
}

#[test]
fn ns2_stays_as_it_is() {
    stays("ns2");
}

#[test]
fn ns2_full_stays_as_it_is() {
    stays("ns2-full");
}

#[test]
fn plain_stays_as_it_is() {
    stays("plain");
}

#[test]
fn linux_stays_as_it_is() {
    stays("linux");
}

#[test]
fn ns3_stays_as_it_is() {
    stays("ns3");
}

#[test]
fn quic_stays_as_it_is() {
    stays("quic");
}
