//! The memory that a discipline's tables take is known before they are allocated.
//!
//! The counters cover the whole process, so this file has one test.

use std::alloc::System;

use aqmlab_aqm::{ALGORITHMS, Entry, Line};
use packet::Rate;
use packet::params::{Kind, Params, Raw};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that a discipline holds when it is new, and how many it says that its tables take.
fn bytes(entry: &Entry, set: &[(String, Raw)]) -> (u64, u64) {
    let params = Params::check(entry.about.fields, set).expect("values of the table");
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let before = Region::new(GLOBAL);
    let Ok(built) = (entry.build)(&params, &line) else { return (0, 0) };
    let held = before.change();
    drop(built);
    ((held.bytes_allocated - held.bytes_deallocated) as u64, entry.table_bytes(&params))
}

fn set(pairs: &[(&str, Raw)]) -> Vec<(String, Raw)> {
    pairs.iter().map(|(name, raw)| (name.to_string(), raw.clone())).collect()
}

#[test]
fn tables_take_what_is_said_of_them() {
    // Any whole number of any discipline may be large: the memory that it takes is known.
    for entry in ALGORITHMS {
        for field in entry.about.fields {
            let Kind::Whole { max, .. } = field.kind else { continue };
            let large = set(&[(field.name, Raw::Number(max.min(100_000) as f64))]);
            let (held, said) = bytes(entry, &large);
            assert!(held <= said + 600_000, "{}.{}: {held} > {said}", entry.about.name, field.name);
        }
    }
    let number = |n: u32| Raw::Number(f64::from(n));
    let text = |name: &str| Raw::Text(name.to_owned());
    let tables = [
        ("afd", set(&[("b", number(70_000))])),
        ("dcn", set(&[("scoreboard_size", number(70_000)), ("collision", text("chain"))])),
        ("dcn", set(&[("table_size", number(70_000))])),
        ("sred", set(&[("M", number(1_000_000))])),
        ("sfb", set(&[("L", number(20)), ("N", number(10_000))])),
        ("cake", set(&[("queues", number(65_528)), ("tins", text("diffserv8"))])),
        ("sfq", set(&[("queues", number(65_536))])),
        ("fq_codel", set(&[("flows", number(65_536))])),
        ("fq_pie", set(&[("flows", number(65_536))])),
    ];
    for (name, set) in tables {
        let entry = aqmlab_aqm::find(name).expect("a discipline");
        let (held, said) = bytes(entry, &set);
        assert!(held <= said + 4_096 && said <= 3 * held, "{name}: {held} of {said}");
    }
}
