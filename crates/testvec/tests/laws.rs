//! The laws (`src/laws`) over the whole registry: a newcomer is under test the minute it
//! is listed.

use aqm::Entry;
use aqmlab_testvec::laws::{LAWS, Tally, sets};

/// A law over a discipline, under every one of its sets that it accepts.
fn holds(name: &str, entry: &Entry) -> Tally {
    let law = LAWS.iter().find(|law| law.name == name).expect("a law");
    let accepted = sets(entry);
    assert!(!accepted.is_empty(), "{} accepts nothing", entry.about.name);
    let mut all = [0; 2];
    for set in accepted {
        let told = law.check(entry, &set);
        let tally =
            told.unwrap_or_else(|why| panic!("{} {set:?}: {}: {why}", entry.about.name, law.says));
        all = [all[0] + tally[0], all[1] + tally[1]];
    }
    all
}

each_discipline!(nothing_is_lost_reordered_or_wrongly_marked);
fn nothing_is_lost_reordered_or_wrongly_marked(entry: &Entry) {
    let [marked, dropped] = holds("conservation", entry);
    assert!(dropped > 100, "{dropped} drops: a vacuous law");
    let marks = entry.ecn != "never marks";
    assert_eq!(marked > 0, marks, "{marked} marks: a vacuous law");
}

each_discipline!(the_same_seed_gives_the_same_run);
fn the_same_seed_gives_the_same_run(entry: &Entry) {
    holds("seed", entry);
}

each_discipline!(only_differences_of_time_matter);
fn only_differences_of_time_matter(entry: &Entry) {
    holds("clock", entry);
}

each_discipline!(a_long_idle_time_makes_it_as_good_as_new);
fn a_long_idle_time_makes_it_as_good_as_new(entry: &Entry) {
    holds("rest", entry);
}

each_discipline!(a_full_queue_drains_to_nothing);
fn a_full_queue_drains_to_nothing(entry: &Entry) {
    holds("drain", entry);
}

each_discipline!(a_gate_decides_alike_in_a_fifo_and_alone);
fn a_gate_decides_alike_in_a_fifo_and_alone(entry: &Entry) {
    holds("alone", entry);
}

each_discipline!(gauges_are_finite_and_keep_their_names);
fn gauges_are_finite_and_keep_their_names(entry: &Entry) {
    holds("gauges", entry);
}

#[test]
fn every_law_is_called() {
    assert_eq!(LAWS.len(), 7);
}
