//! Instructions per packet of every discipline with 100 to 1,000,000 packets waiting: does the cost
//! of a packet grow with the queue?
//!
//! `cargo bench -p aqmlab-aqm --bench waiting [-- NAME...]` needs valgrind. Where a discipline has a
//! limit in packets it is wide enough. Packets come a nanosecond apart, so that nothing waits for long
//! enough to be judged by its delay; what thresholds keep out is told: the last column says how many
//! wait when the most were offered. Asserts nothing.

mod common;

use std::hint::black_box;

use aqmlab_aqm::{ALGORITHMS, Cx, Discipline, Entry, Line};
use packet::params::{Kind, Params, Raw};
use packet::{Ecn, Event, Header, Instant, Packet, Rate, Rng};

use common::counted;

const WAITING: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
/// Packets that come and go while so many wait.
const MEASURED: u32 = 20_000;
const FLOWS: u64 = 50;
const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000_000));

/// The discipline with room for so many packets, where it says so in packets.
fn build(entry: &Entry, waiting: u32) -> Option<Box<dyn Discipline>> {
    let limit = entry.about.fields.iter().find(|field| field.name == "limit");
    let room = Raw::Number(f64::from(2 * waiting + MEASURED));
    let raw: Vec<_> = limit
        .filter(|field| matches!(field.kind, Kind::Whole { .. }))
        .map(|field| (field.name.to_string(), room))
        .into_iter()
        .collect();
    let wide = Params::check(entry.about.fields, &raw).ok();
    let wide = wide.and_then(|params| (entry.build)(&params, &LINE).ok());
    let usual = || (entry.build)(&Params::defaults(entry.about.fields), &LINE).ok();
    Some(wide.or_else(usual)?.into_discipline())
}

/// Offers so many packets, then lets `measured` come and go. How many waited before.
fn run(entry: &Entry, waiting: u32, measured: u32) -> u32 {
    let Some(mut queue) = build(entry, waiting) else { return 0 };
    let (mut rng, mut now) = (Rng::named(1, "waiting"), 0);
    let mut out = |event: Event| {
        black_box(event);
    };
    for id in 0..waiting {
        now += 1;
        queue.enqueue(
            packet(id, now),
            &mut Cx { now: Instant::from_nanos(now), rng: &mut rng, out: &mut out },
        );
    }
    let waited = queue.backlog().packets;
    for id in 0..measured {
        now += 1;
        let cx = &mut Cx { now: Instant::from_nanos(now), rng: &mut rng, out: &mut out };
        queue.enqueue(packet(waiting + id, now), cx);
        black_box(queue.dequeue(cx));
    }
    waited
}

fn packet(id: u32, now: u64) -> Packet {
    let flow = u64::from(id.wrapping_mul(2_654_435_761)) % FLOWS;
    let header = Header { source: flow as u16, ..Header::default() };
    let arrived = Instant::from_nanos(now);
    black_box(Packet { id, flow, bytes: 1_000, ecn: Ecn::Ect0, arrived, header })
}

/// Instructions for a packet that comes and one that goes.
fn instructions(entry: &Entry, waiting: u32) -> Option<f64> {
    let count = |measured: u32| {
        let [waiting, measured] = [waiting, measured].map(|number| number.to_string());
        counted(&["--only-run", entry.about.name, &waiting, &measured])
    };
    Some((count(MEASURED)? - count(0)?) as f64 / f64::from(MEASURED))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |word: &String| word.parse().expect("a number of packets");
    if let [first, name, waiting, measured] = &words[..]
        && first == "--only-run"
    {
        let entry = ALGORITHMS.iter().find(|entry| entry.about.name == *name);
        run(entry.expect("a discipline"), number(waiting), number(measured));
        return;
    }
    println!("{:<12} {}   waiting", "", WAITING.map(|n| format!("{n:>9}")).join(" "));
    for entry in ALGORITHMS {
        if !words.is_empty() && words.iter().all(|name| name != entry.about.name) {
            continue;
        }
        let counts = WAITING.map(|waiting| match instructions(entry, waiting) {
            Some(count) => format!("{count:9.0}"),
            None => format!("{:>9}", "-"),
        });
        let waited = run(entry, WAITING[WAITING.len() - 1], 0);
        println!("{:<12} {} {waited:9}", entry.about.name, counts.join(" "));
    }
}
