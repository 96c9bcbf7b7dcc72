//! Tests of exactness: published numbers, worked examples, and what theory says of long runs. The
//! packet-by-packet comparison with a second transcription of each discipline is in
//! `tests/transcriptions` (Python). CAKE, of which that has only a part, is compared here.

mod adaptive;
mod afd;
mod avq;
mod blue;
mod bred;
mod bypass;
mod cake;
mod choke;
mod classes;
mod closed_loop;
mod cobalt;
mod codel;
mod dcn;
mod dctcp_step;
mod drop_tail;
mod drr;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod fred;
mod idle;
mod line;
mod ns3_suite;
mod pi;
mod pi2;
mod pie;
mod red;
mod red_pd;
mod rem;
mod sfb;
mod spacing;
mod sred;
mod unfair;
mod wred;

use line::RATE;

use aqmlab_aqm::{Admission, Built, Gate, Line, find};
use packet::params::{BadParams, Params, Raw};
use packet::{Backlog, Ecn, Instant, Packet, Rate, Rng};

/// Parameters as a user writes them.
type Pairs<'a> = &'a [(&'a str, &'a str)];

fn build(name: &str, pairs: Pairs, rate: u64) -> Result<Built, BadParams> {
    let entry = find(name).unwrap_or_else(|| panic!("{name} is not registered"));
    let raw = |text: &str| match text {
        "true" => Raw::Bool(true),
        "false" => Raw::Bool(false),
        _ => Raw::Text(text.into()),
    };
    let raw: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), raw(v))).collect();
    let params = Params::check(entry.about.fields, &raw)?;
    (entry.build)(&params, &Line::of(Rate::from_bits_per_s(rate)))
}

fn gate(name: &str, pairs: Pairs) -> Box<dyn Gate> {
    match build(name, pairs, 10_000_000) {
        Ok(Built::Gate(gate)) => gate,
        Ok(Built::Discipline(_)) => panic!("{name} is not a gate"),
        Err(why) => panic!("{pairs:?}: {why}"),
    }
}

fn packet(bytes: u32, ecn: Ecn) -> Packet {
    Packet { id: 0, flow: 0, bytes, ecn, arrived: Instant::ZERO, header: Default::default() }
}

/// A gate with a clock and a stream of random numbers, for tests that choose the backlog at each
/// arrival.
struct Bench {
    gate: Box<dyn Gate>,
    rng: Rng,
    now: u64,
}

impl Bench {
    fn new(name: &str, pairs: Pairs, seed: u64) -> Self {
        Bench { gate: gate(name, pairs), rng: Rng::named(seed, "bench"), now: 0 }
    }

    /// Lets a packet of 1000 bytes arrive that finds `packets` packets of `size` bytes waiting.
    fn arrive(&mut self, packets: u32, size: u64, ecn: Ecn) -> Admission {
        let backlog = Backlog { packets, bytes: u64::from(packets) * size };
        self.offer(1000, ecn, backlog)
    }

    fn offer(&mut self, bytes: u32, ecn: Ecn, backlog: Backlog) -> Admission {
        let now = Instant::from_nanos(self.now);
        self.gate.admit(&mut packet(bytes, ecn), backlog, now, &mut self.rng)
    }

    fn gauge(&self, name: &str) -> f64 {
        let mut found = None;
        self.gate.gauges(&mut |gauge, value| {
            if gauge == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}
