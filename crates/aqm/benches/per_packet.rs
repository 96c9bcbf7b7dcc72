//! Nanoseconds per arrival of every discipline, and of every profile: a queue that breathes
//! between empty and overfull, with an idle time now and then. And nanoseconds per enqueue and
//! dequeue, updates included, of 50 flows in a steady overload.
//!
//! Run with `cargo bench -p aqmlab-aqm`. Prints the best of several rounds; asserts nothing.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::hint::black_box;

use aqm::{ALGORITHMS, Admission, Built, Cx, Discipline, Entry, Gate, Line};
use packet::params::{Kind, Params, Raw};
use packet::{Backlog, Ecn, Instant, Packet, Rate, Rng};

const ARRIVALS: u32 = 2_000_000;

/// Arrivals at a gate whose queue grows by accepted packets and shrinks by a departure each
/// second arrival, with an idle time every `idle_every` arrivals.
fn round(gate: &mut dyn Gate, idle_every: u32) -> (f64, u32) {
    let mut rng = Rng::named(1, "bench");
    let mut packet = Packet {
        id: 0,
        flow: 0,
        bytes: 1000,
        ecn: Ecn::Ect0,
        arrived: Instant::ZERO,
        header: Default::default(),
    };
    let (mut waiting, mut now, mut accepted) = (0u32, 0, 0);
    let began = std::time::Instant::now();
    for n in 0..ARRIVALS {
        now += 800_000;
        let at = Instant::from_nanos(now);
        if n % idle_every == 0 {
            waiting = 0;
            gate.on_idle(Instant::from_nanos(now - 400_000));
        }
        packet.ecn = Ecn::Ect0;
        let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 1000 };
        match gate.admit(black_box(&mut packet), black_box(backlog), at, &mut rng) {
            Admission::Dropped(_) => {}
            _ => {
                accepted += 1;
                waiting += 1;
            }
        }
        waiting = waiting.saturating_sub(n & 1);
    }
    (began.elapsed().as_secs_f64() * 1e9 / f64::from(ARRIVALS), accepted)
}

/// An arrival of one of 50 flows every 700 us before a line that sends one every 800 us; a packet's
/// handle is its number.
fn overload(queue: &mut dyn Discipline) -> f64 {
    let mut rng = Rng::named(1, "bench");
    let (mut now, mut free) = (0u64, 0u64);
    let mut out = |event| {
        black_box(event);
    };
    let began = std::time::Instant::now();
    for id in 0..ARRIVALS {
        now += 700_000;
        while let Some(due) = queue.next_tick().filter(|due| due.nanos() <= now) {
            queue.on_tick(&mut Cx { now: due, rng: &mut rng, out: &mut out });
        }
        let arrived = Instant::from_nanos(now);
        let flow = u64::from(id.wrapping_mul(2_654_435_761) % 50);
        let packet =
            Packet { id, flow, bytes: 1000, ecn: Ecn::Ect0, arrived, header: Default::default() };
        let mut cx = Cx { now: arrived, rng: &mut rng, out: &mut out };
        queue.enqueue(black_box(packet), &mut cx);
        if free <= now {
            black_box(queue.dequeue(&mut cx));
            free += 800_000;
        }
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(ARRIVALS)
}

fn measure_overload(entry: &Entry, params: &Params, line: &Line, name: &str) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let Ok(built) = (entry.build)(params, line) else { return };
        best = best.min(overload(&mut *built.into_discipline()));
    }
    println!("{name:<24} 50 flows, overload: {best:6.2} ns");
}

fn measure(entry: &Entry, choice: &[(String, Raw)]) {
    let params = Params::check(entry.fields, choice).expect("the table's own values");
    let line = Line { rate: Rate::from_bits_per_s(10_000_000) };
    let mut name = entry.name.to_string();
    for (_, value) in choice {
        name += &format!(" {value}");
    }
    measure_overload(entry, &params, &line, &name);
    for idle_every in [100, 2] {
        let mut best = (f64::INFINITY, 0);
        for _ in 0..7 {
            let Ok(Built::Gate(mut gate)) = (entry.build)(&params, &line) else { return };
            let (ns, accepted) = round(&mut *gate, idle_every);
            best = (best.0.min(ns), accepted);
        }
        let (ns, share) = (best.0, 100.0 * f64::from(best.1) / f64::from(ARRIVALS));
        println!("{name:<24} idle every {idle_every:>3}: {ns:6.2} ns, {share:5.1} % accepted");
    }
}

fn main() {
    for entry in ALGORITHMS {
        measure(entry, &[]);
        for field in entry.fields {
            if let Kind::Choice(names) = field.kind {
                for name in names {
                    measure(entry, &[(field.name.to_string(), Raw::Text(name.to_string()))]);
                }
            }
        }
    }
}
