//! What a trial shows of a discipline, to be held against what a much longer one shows.

use std::collections::BTreeSet;

use packet::Event;

use crate::case::Arrivals;
use crate::{Case, Trial, What};

/// How many times the packets a longer trial has.
const LONGER: u32 = 40;

/// Everything of a kind that happens in a trial: which call reported what and why, which call
/// drew numbers or kept a waiting packet back, which gauge moved.
pub fn shown(trial: &Trial) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for call in trial.calls() {
        let word = call.what.word();
        shown.insert(word.to_owned());
        for event in &call.events {
            match event {
                Event::Queued { .. } => {}
                Event::Marked { why, .. } => {
                    shown.insert(format!("{word}: marked, {}", why.name()));
                }
                Event::Dropped { why, .. } => {
                    shown.insert(format!("{word}: dropped, {}", why.name()));
                }
            }
        }
        if call.what == What::Dequeue(None) && call.waits {
            shown.insert("dequeue: held back".to_owned());
        }
        if !call.draws.is_empty() {
            shown.insert(format!("{word}: draws"));
        }
        shown.extend(call.state.iter().map(|(name, _)| format!("gauge {name} moves")));
    }
    shown
}

/// This case with forty times the packets, if its packets are random.
pub fn longer(case: &Case) -> Case {
    let mut case = case.clone();
    if let Arrivals::Random(traffic) = &mut case.arrivals {
        traffic.packets *= LONGER;
    }
    case
}
