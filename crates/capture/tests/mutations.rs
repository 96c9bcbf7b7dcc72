//! Captures damaged at random: nothing panics, and what comes out is a model. Memory is bounded.

mod any;
mod made;

use std::alloc::System;

use made::*;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const DIALOGUE: &str = "
    0   > S  0
    40  < SA 0 1
    41  > .  1 1
    51  > .  1+100 1
    96  < .  1+1000 101
    96.5 > . 101+40 1
    97  > .  141 1001
    98  < .  1+1000 141
    800 > .  141+10 1001
    840 < .  1001+20 151
    900 > FA 151 1021
    940 < FA 1021 152
";

/// A generator of numbers: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
/// (SplitMix64), OOPSLA 2014.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }
}

fn captures() -> Vec<Vec<u8>> {
    let said = dialogue(DIALOGUE);
    let frames = |wrap: &dyn Fn(&Said) -> Vec<u8>| -> Vec<(u64, Vec<u8>)> {
        said.iter().map(|s| (s.at_us, wrap(s))).collect()
    };
    let tagged = |s: &Said| ethernet(s.side, &[0x81, 0, 0, 5], 0x0800, &packet(s));
    let six = |s: &Said| {
        let above = tcp(s, FIRST, [40_000, 443]);
        ipv6(1 + s.side as u8, 2 - s.side as u8, &[(0, vec![0, 1, 4, 0, 0, 0, 0])], &above)
    };
    let mut ng = [section(), interface(101, &[9, 0, 1, 0, 9, 0, 0, 0])].concat();
    for s in &said {
        ng.extend(enhanced(0, s.at_us * 1_000, &packet(s), &[2, 0, 4, 0, 1, 0, 0, 0]));
    }
    vec![
        file(DIALOGUE),
        pcap(1, &frames(&tagged)),
        pcap_as(0xa1b2_3c4d, true, 101, &frames(&six)),
        ng,
    ]
}

#[test]
fn damaged_captures_are_read_or_refused() {
    let captures = captures();
    let mut random = Random(7);
    for round in 0..20_000 {
        let mut data = vec![random.below(256) as u8];
        data.extend(&captures[round % captures.len()]);
        for _ in 0..random.below(6) {
            let at = 1 + random.below(data.len() - 1);
            match random.below(5) {
                0 => data[at] = random.below(256) as u8,
                1 => data[at] ^= 1 << random.below(8),
                2 => data.truncate(at + 1),
                3 => {
                    let end = (at + random.below(40)).min(data.len());
                    let part = data[at..end].to_vec();
                    let to = 1 + random.below(data.len() - 1);
                    data.splice(to..to, part);
                }
                _ => {
                    let end = (at + 4).min(data.len());
                    data[at..end].fill([0, 0xff][random.below(2)]);
                }
            }
        }
        any::read(&data);
    }
}

/// Bytes still held after `feed` has seen `connections` connections of one request each, all lines
/// taken.
fn held(connections: u32, limits: capture::Limits) -> usize {
    let region = Region::new(ALLOCATOR);
    let mut learner = capture::Learner::new(limits, Vec::new());
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
    let limits = capture::Limits { open: 500, hosts: 100, ..Default::default() };
    let (few, many) = (held(2_000, limits), held(20_000, limits));
    assert!(
        many < few + few / 5 + 4096,
        "{few} bytes after 2,000 connections, {many} after 20,000"
    );
    assert!(many / 500 < 1024, "{} bytes an open connection", many / 500);
}

#[test]
fn a_vector_beyond_its_room_is_cut_and_told() {
    let mut text = "0 > S 0\n1 < SA 0 1\n2 > . 1 1\n".to_owned();
    for n in 0..200 {
        let (at, seq) = (10 + 10 * n, 1 + 10 * n);
        text += &format!("{at} > . {seq}+10 {seq}\n{} < . {seq}+10 {}\n", at + 5, seq + 10);
    }
    let bytes = file(&text);
    let whole = learn(&bytes);
    assert_eq!(whole.connections[0]["epochs"].as_array().unwrap().len(), 200);
    let limits = capture::Limits { vector: 256, ..Default::default() };
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
