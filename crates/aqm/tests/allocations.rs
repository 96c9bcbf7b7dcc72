//! No discipline allocates memory for a packet: over a long steady overload, once its memory has
//! grown to what the load needs, it allocates nothing at all.
//!
//! The counters cover the whole process, so this is a program of its own without the test harness,
//! whose main thread may allocate at any time.

use std::alloc::System;

use aqmlab_aqm::{ALGORITHMS, Entry, Overload};
use packet::params::{Kind, Params, Raw};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const PACKETS: u32 = 100_000;

/// Sets of parameters: the defaults, each name of each choice and both positions of each switch,
/// one at a time.
fn sets(entry: &Entry) -> Vec<Vec<(String, Raw)>> {
    let mut sets = vec![vec![]];
    for field in entry.about.fields {
        let raws = match field.kind {
            Kind::Choice(names) => names.iter().map(|name| Raw::Text(name.to_string())).collect(),
            Kind::Switch => vec![Raw::Bool(false), Raw::Bool(true)],
            _ => Vec::new(),
        };
        sets.extend(raws.into_iter().map(|raw| vec![(field.name.to_string(), raw)]));
    }
    sets
}

fn load(entry: &Entry, set: &[(String, Raw)]) -> Option<Overload> {
    let params = Params::check(entry.about.fields, set).expect("the table's own values");
    let built = (entry.build)(&params, &Overload::LINE).ok()?;
    Some(Overload::new(built.into_discipline()))
}

/// Number of allocations while `PACKETS` packets come and go, after a warm-up.
fn allocations(mut load: Overload) -> usize {
    load.run(Overload::WARM_UP);
    let before = load.happened();
    let region = Region::new(GLOBAL);
    load.run(PACKETS);
    let change = region.change();
    let [dropped, _, sent] = load.happened();
    let left = (dropped - before[0]) + (sent - before[2]);
    assert!(left + 500 > u64::from(PACKETS), "{left}: the queue still grows, so nothing is steady");
    change.allocations + change.reallocations
}

/// A steady overload allocates nothing.
fn main() {
    let counted = Region::new(GLOBAL);
    let probe = std::hint::black_box(Box::new(1u64));
    assert!(counted.change().allocations > 0, "the counter counts, {probe}");
    let mut runs = 0;
    for entry in ALGORITHMS {
        for set in sets(entry) {
            let Some(same) = load(entry, &set) else { continue };
            assert_eq!(allocations(same), 0, "{} {set:?}", entry.about.name);
            let Some(others) = load(entry, &set) else { continue };
            let others = others.of_short_flows(5_000);
            assert_eq!(
                allocations(others),
                0,
                "{} {set:?}, flows that come and go",
                entry.about.name
            );
            runs += 2;
        }
    }
    assert!(runs >= 2 * ALGORITHMS.len());
}
