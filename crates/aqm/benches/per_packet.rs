//! Nanoseconds and instructions per packet of every discipline in the list and of each of its
//! choices: enqueue, dequeue and updates, of 50 flows in a steady overload ([`Overload`]). For
//! gates also nanoseconds per arrival where the queue breathes between empty and overfull, with
//! an idle time every 100 and every 2 arrivals.
//!
//! `cargo bench -p aqmlab-aqm` measures time; `cargo bench -p aqmlab-aqm -- --instructions`
//! counts instructions instead, which no other load on the machine disturbs, and needs valgrind.
//! Names after that restrict either to these disciplines. Asserts nothing.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

mod common;

use std::hint::black_box;

use aqmlab_aqm::{ALGORITHMS, Admission, Built, Entry, Gate, Overload};
use packet::params::{Kind, Params, Raw};
use packet::{Backlog, Ecn, Instant, Packet, Rng};

use common::counted;

/// Packets of a repeat: a millisecond or so, shorter than what a scheduler gives at a time.
const REPEAT: u32 = 20_000;
const REPEATS: usize = 25;

type Choice = Option<(&'static str, &'static str)>;

/// An entry with its defaults, and with each name of each choice.
fn rows() -> Vec<(&'static Entry, Choice)> {
    let mut rows = Vec::new();
    for entry in ALGORITHMS {
        rows.push((entry, None));
        for field in entry.about.fields {
            if let Kind::Choice(names) = field.kind {
                rows.extend(names.iter().map(|name| (entry, Some((field.name, *name)))));
            }
        }
    }
    rows
}

fn build(entry: &Entry, choice: Choice) -> Option<Built> {
    let raw: Vec<_> =
        choice.iter().map(|(f, v)| (f.to_string(), Raw::Text(v.to_string()))).collect();
    let params = Params::check(entry.about.fields, &raw).expect("the table's own values");
    (entry.build)(&params, &Overload::LINE).ok()
}

fn warm(entry: &Entry, choice: Choice) -> Option<Overload> {
    let mut load = Overload::new(build(entry, choice)?.into_discipline());
    load.run(Overload::WARM_UP);
    Some(load)
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn nanos(packets: u32, run: impl FnOnce()) -> f64 {
    let began = std::time::Instant::now();
    run();
    began.elapsed().as_secs_f64() * 1e9 / f64::from(packets)
}

/// Nanoseconds per packet, and their ratio to those of the first entry just before.
fn time(entry: &Entry, choice: Choice) -> Option<(f64, f64)> {
    let (mut load, mut yardstick) = (warm(entry, choice)?, warm(&ALGORITHMS[0], None)?);
    let (mut times, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        let first = nanos(REPEAT, || yardstick.run(REPEAT));
        let ns = nanos(REPEAT, || load.run(REPEAT));
        times.push(ns);
        ratios.push(ns / first);
    }
    Some((median(times), median(ratios)))
}

/// Nanoseconds per arrival at a gate whose queue grows by accepted packets and shrinks by a
/// departure each second arrival, with an idle time every `idle_every` arrivals.
fn breathe(entry: &Entry, choice: Choice, idle_every: u32) -> Option<f64> {
    let Some(Built::Gate(mut gate)) = build(entry, choice) else { return None };
    let (mut waiting, mut n, mut times) = (0, 0, Vec::new());
    let mut rng = Rng::named(1, "bench");
    for _ in 0..REPEATS {
        times.push(nanos(REPEAT, || {
            for _ in 0..REPEAT {
                n += 1;
                waiting = arrival(&mut *gate, n, waiting, n % idle_every == 0, &mut rng);
            }
        }));
    }
    Some(median(times))
}

fn arrival(gate: &mut dyn Gate, n: u32, mut waiting: u32, idle: bool, rng: &mut Rng) -> u32 {
    let at = Instant::from_nanos(u64::from(n) * 800_000);
    if idle {
        waiting = 0;
        gate.on_idle(Instant::from_nanos(at.nanos() - 400_000));
    }
    let mut packet = Packet {
        id: 0,
        flow: 0,
        bytes: 1000,
        ecn: Ecn::Ect0,
        arrived: at,
        header: Default::default(),
    };
    let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 1000 };
    match gate.admit(black_box(&mut packet), black_box(backlog), at, rng) {
        Admission::Dropped(_) => {}
        _ => waiting += 1,
    }
    waiting.saturating_sub(n & 1)
}

/// Instructions per packet: of this program under callgrind, with and without a repeat.
fn instructions(row: usize) -> Option<f64> {
    let count = |packets: u32| counted(&["--only-run", &row.to_string(), &packets.to_string()]);
    let (without, with) = (count(Overload::WARM_UP)?, count(Overload::WARM_UP + REPEAT)?);
    Some((with - without) as f64 / f64::from(REPEAT))
}

fn only_run(row: &str, packets: &str) {
    let (entry, choice) = rows()[row.parse::<usize>().expect("a row")];
    if let Some(built) = build(entry, choice) {
        Overload::new(built.into_discipline()).run(packets.parse().expect("a number of packets"));
    }
}

fn label(entry: &Entry, choice: Choice) -> String {
    match choice {
        None => entry.about.name.to_string(),
        Some((field, value)) => format!("{} {field}={value}", entry.about.name),
    }
}

fn print_times(entry: &Entry, choice: Choice) {
    let Some((ns, ratio)) = time(entry, choice) else { return };
    let most = f64::from(entry.per_flow.most_nanos());
    let verdict = if ns > most { "over" } else { "ok" };
    let label = label(entry, choice);
    print!("{label:<40} {ns:7.1} {ratio:7.1} {most:6.0} {verdict:>5}");
    for idle_every in [100, 2] {
        match breathe(entry, choice, idle_every) {
            Some(ns) => print!(" {ns:10.1}"),
            None => print!(" {:>10}", "-"),
        }
    }
    println!();
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [first, row, packets] = &words[..]
        && first == "--only-run"
    {
        return only_run(row, packets);
    }
    let counts = words.first().is_some_and(|word| word == "--instructions");
    let wanted = &words[usize::from(counts)..];
    if counts {
        println!("{:<40} {:>12}", "", "instructions");
    } else {
        let titles = format!("{:>7} {:>7} {:>6}", "ns", "times", "bar");
        println!("{:<40} {titles} {:>5} {:>10} {:>10}", "", "", "breathing", "idling");
    }
    for (row, (entry, choice)) in rows().into_iter().enumerate() {
        if !wanted.is_empty() && wanted.iter().all(|name| name != entry.about.name) {
            continue;
        }
        if !counts {
            print_times(entry, choice);
        } else if build(entry, choice).is_some() {
            let count = instructions(row).map_or("no valgrind".into(), |n| format!("{n:.0}"));
            println!("{:<40} {count:>12}", label(entry, choice));
        }
    }
}
