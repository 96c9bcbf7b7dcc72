//! What the learner holds while it reads: a test by itself, since it counts all allocations.

mod made;

use std::alloc::System;
use std::sync::Mutex;

use made::*;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Held by each test: what another one allocates would be counted.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes still held after `feed` has seen `connections` connections of one request each, all lines
/// taken.
fn held(connections: u32, limits: aqmlab_capture::Limits) -> usize {
    let region = Region::new(ALLOCATOR);
    let mut learner = aqmlab_capture::Learner::new(limits, Vec::new());
    learner.feed(&pcap(101, &[])).unwrap();
    for n in 0..connections {
        let from = [10, (n >> 16) as u8, (n >> 8) as u8, n as u8];
        let mut bytes = Vec::new();
        for s in dialogue("0 > S 0\n40 < SA 0 1\n41 > . 1 1\n41 > . 1+100 1\n81 < . 1+50 101") {
            let ends = [from, [192, 0, 2, 7]];
            let ip = ipv4(ends[s.side], ends[1 - s.side], 6, &tcp(&s, FIRST, [40_000, 80]));
            bytes.extend_from_slice(&pcap(101, &[(u64::from(n) * 100 + s.at_us, ip)])[24..]);
        }
        learner.feed(&bytes).unwrap();
        learner.take();
    }
    let stats = region.change();
    stats.bytes_allocated - stats.bytes_deallocated
}

#[test]
fn memory_depends_on_what_is_open_not_on_what_was_seen() {
    let _alone = ALONE.lock();
    let limits = aqmlab_capture::Limits { open: 500, hosts: 100, ..Default::default() };
    let (few, many) = (held(2_000, limits), held(20_000, limits));
    assert!(
        many < few + few / 5 + 4096,
        "{few} bytes after 2,000 connections, {many} after 20,000"
    );
    assert!(many / 500 < 1024, "{} bytes an open connection", many / 500);
}

#[test]
fn a_vector_beyond_its_room_is_cut_and_reported() {
    let _alone = ALONE.lock();
    let mut text = "0 > S 0\n1 < SA 0 1\n2 > . 1 1\n".to_owned();
    for n in 0..200 {
        let (at, seq) = (10 + 10 * n, 1 + 10 * n);
        text += &format!("{at} > . {seq}+10 {seq}\n{} < . {seq}+10 {}\n", at + 5, seq + 10);
    }
    let bytes = file(&text);
    let whole = learn(&bytes);
    assert_eq!(whole.connections[0]["epochs"].as_array().unwrap().len(), 200);
    let limits = aqmlab_capture::Limits { vector: 256, ..Default::default() };
    let cut = learn_with(&bytes, 4096, limits, Vec::new());
    assert!(cut.connections.len() > 3);
    let epochs = |c: &serde_json::Value| c["epochs"].as_array().unwrap().len();
    let total: usize = cut.connections.iter().map(epochs).sum();
    assert!((200..210).contains(&total), "{total}");
    assert_eq!(cut.report["bytes"], whole.report["bytes"]);
    assert_eq!(cut.connections[1]["partial"], "start");
    assert_eq!(cut.report["seen"]["resent"], 0);
    assert!(cut.report["warnings"].to_string().contains("cut in two"));
}
