//! The laws (`src/laws`) over the whole registry: a newcomer is under test the minute it
//! is listed.

use aqm::ALGORITHMS;
use aqmlab_testvec::laws::{LAWS, Tally, sets};

/// A law over every discipline, under every one of its sets that it accepts.
fn holds(name: &str) -> Tally {
    let law = LAWS.iter().find(|law| law.name == name).expect("a law");
    let mut all = [0; 2];
    for entry in ALGORITHMS {
        let accepted = sets(entry);
        assert!(!accepted.is_empty(), "{} accepts nothing", entry.about.name);
        for set in accepted {
            let told = law.check(entry, &set);
            let tally = told
                .unwrap_or_else(|why| panic!("{} {set:?}: {}: {why}", entry.about.name, law.says));
            all = [all[0] + tally[0], all[1] + tally[1]];
        }
    }
    all
}

#[test]
fn nothing_is_lost_reordered_or_wrongly_marked() {
    let [marked, dropped] = holds("conservation");
    assert!(marked > 1000 && dropped > 1000, "{marked} marks, {dropped} drops: a vacuous law");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    holds("seed");
}

#[test]
fn only_differences_of_time_matter() {
    holds("clock");
}

#[test]
fn a_long_idle_time_makes_a_discipline_as_good_as_new() {
    holds("rest");
}

#[test]
fn a_full_queue_drains_to_nothing() {
    holds("drain");
}

#[test]
fn a_gate_decides_alike_in_a_fifo_and_alone() {
    holds("alone");
}

#[test]
fn gauges_are_finite_and_keep_their_names() {
    holds("gauges");
}

#[test]
fn every_law_is_asked() {
    assert_eq!(LAWS.len(), 7);
}
