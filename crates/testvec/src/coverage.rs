//! The behaviours that a trial shows of a discipline, for comparison with a much longer trial.

use std::collections::BTreeSet;

use packet::Event;

use crate::case::Arrivals;
use crate::{Case, Trial, What};

/// Factor on the number of packets of a longer trial.
const LONGER: u32 = 40;

/// The kinds of behaviour in a trial, in words: the calls, their marks and drops with the reasons,
/// calls that drew random numbers or held back a waiting packet, and gauges that changed.
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

/// The same case with forty times as many packets, if its packets are random.
pub fn longer(case: &Case) -> Case {
    let mut case = case.clone();
    if let Arrivals::Random(traffic) = &mut case.arrivals {
        traffic.packets *= LONGER;
    }
    case
}
