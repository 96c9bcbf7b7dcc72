//! A line served by a discipline and by a second transcription of it, side by side: what both
//! do at every arrival, departure and tick must be equal.

use std::collections::VecDeque;

use aqmlab_aqm::{Built, Cx, Discipline};
use packet::{DropReason, Ecn, Event, Instant, Packet, Rng};

use super::{Pairs, build};

/// The rate of the line in the examples, bit/s.
pub const RATE: u64 = 10_000_000;

/// A packet as the transcriptions know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct P {
    pub id: u32,
    pub flow: u64,
    pub size: u64,
    pub ecn: Ecn,
    pub t: u64,
}

/// What a discipline did with a packet, by the packet's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    Queue(u32),
    Mark(u32),
    Drop(u32, DropReason),
    Send(u32, Ecn),
}

impl From<Event> for Did {
    fn from(event: Event) -> Did {
        match event {
            Event::Queued { id } => Did::Queue(id),
            Event::Marked { id, .. } => Did::Mark(id),
            Event::Dropped { packet, why } => Did::Drop(packet.id, why),
        }
    }
}

/// A second transcription of a discipline, which the tests compare with the product's.
pub trait Model {
    fn enqueue(&mut self, p: P, rng: &mut Rng, did: &mut Vec<Did>);
    fn dequeue(&mut self, now: u64, rng: &mut Rng, did: &mut Vec<Did>) -> Option<P>;
    fn tick(&mut self, _now: u64) {}
    fn shows(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// The product's discipline; its calls return the events that it reports.
pub struct Product {
    pub discipline: Box<dyn Discipline>,
    rng: Rng,
}

impl Product {
    pub fn new(name: &str, pairs: Pairs, seed: u64) -> Self {
        Product::at_rate(name, pairs, seed, RATE)
    }

    /// The discipline `name` before a line of `rate` bit/s.
    pub fn at_rate(name: &str, pairs: Pairs, seed: u64, rate: u64) -> Self {
        let discipline = match build(name, pairs, rate) {
            Ok(Built::Discipline(discipline)) => discipline,
            Ok(Built::Gate(_)) => panic!("{name} is a gate"),
            Err(why) => panic!("{pairs:?}: {why}"),
        };
        Product { discipline, rng: Rng::named(seed, "draws") }
    }

    fn call<T>(
        &mut self,
        now: u64,
        did: &mut Vec<Did>,
        ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> T {
        let mut out = |event: Event| did.push(event.into());
        let mut cx = Cx { now: Instant::from_nanos(now), rng: &mut self.rng, out: &mut out };
        ask(&mut *self.discipline, &mut cx)
    }

    pub fn enqueue(&mut self, p: P) -> Vec<Did> {
        let arrived = Instant::from_nanos(p.t);
        let packet = Packet {
            id: p.id,
            flow: p.flow,
            bytes: p.size as u32,
            ecn: p.ecn,
            arrived,
            header: Default::default(),
        };
        let mut did = Vec::new();
        self.call(p.t, &mut did, |discipline, cx| discipline.enqueue(packet, cx));
        did
    }

    pub fn dequeue(&mut self, now: u64) -> (Option<Packet>, Vec<Did>) {
        let mut did = Vec::new();
        let packet = self.call(now, &mut did, |discipline, cx| discipline.dequeue(cx));
        if let Some(p) = &packet {
            did.push(Did::Send(p.id, p.ecn));
        }
        (packet, did)
    }

    pub fn tick(&mut self, now: u64) {
        self.call(now, &mut Vec::new(), |discipline, cx| discipline.on_tick(cx));
    }

    pub fn gauge(&self, name: &str) -> f64 {
        let mut found = None;
        self.discipline.gauges(&mut |gauge, value| {
            if gauge == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no gauge {name}"))
    }
}

/// Random arrivals of some flows in phases of overload, moderate load and sparse load, with idle
/// gaps. Some flows are heavy and some send small packets.
pub struct Traffic {
    rng: Rng,
    now: u64,
    mean_gap_ns: f64,
    flows: u64,
    id: u32,
    /// Mean number of packets in a phase.
    phase: u64,
}

impl Traffic {
    pub fn new(seed: u64, flows: u64, phase: u64) -> Self {
        Traffic { rng: Rng::named(seed, "trace"), now: 0, mean_gap_ns: 7e5, flows, id: 0, phase }
    }

    pub fn next(&mut self) -> P {
        let rng = &mut self.rng;
        if rng.below(self.phase) == 0 {
            self.mean_gap_ns = [2e5, 5e5, 5.5e5, 5.8e5, 7e5, 3e6][rng.below(6) as usize];
        }
        let mut gap = rng.exponential(self.mean_gap_ns) as u64;
        if rng.below(2 * self.phase) == 0 {
            gap += [3_000_000, 80_000_000, 2_000_000_000][rng.below(3) as usize];
        }
        self.now += gap;
        self.id += 1;
        let flow = rng.below(self.flows).min(rng.below(self.flows));
        let size =
            if flow % 3 == 2 { 200 } else { [40, 552, 1000, 1500, 1500][rng.below(5) as usize] };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
        P { id: self.id, flow, size, ecn, t: self.now }
    }
}

/// Numbers of packets sent, marked and dropped in a comparison, drops by reason.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub sent: u32,
    pub marked: u32,
    pub early: u32,
    pub forced: u32,
    pub overflow: u32,
    pub superseded: u32,
}

impl Seen {
    pub fn count(&mut self, did: &[Did]) {
        for what in did {
            match what {
                Did::Queue(_) => {}
                Did::Mark(_) => self.marked += 1,
                Did::Drop(_, DropReason::Early) => self.early += 1,
                Did::Drop(_, DropReason::Forced) => self.forced += 1,
                Did::Drop(_, DropReason::Overflow) => self.overflow += 1,
                Did::Drop(_, DropReason::AckFiltered) => self.superseded += 1,
                Did::Send(..) => self.sent += 1,
            }
        }
    }
}

/// Drives the product's discipline and `model` over one trace, and checks that they do the same.
pub fn compare(
    name: &str,
    pairs: Pairs,
    mut model: impl Model,
    mut traffic: Traffic,
    seed: u64,
    packets: u32,
) -> Seen {
    let mut product = Product::new(name, pairs, seed);
    let mut rng = Rng::named(seed, "draws");
    let mut busy_until: Option<u64> = None;
    let mut seen = Seen::default();
    let mut arrivals: VecDeque<P> = VecDeque::new();
    for n in 0..packets {
        arrivals.push_back(traffic.next());
        while let Some(p) = arrivals.front().copied() {
            let tick = product.discipline.next_tick().map(Instant::nanos);
            let (tick, free) = (tick.unwrap_or(u64::MAX), busy_until.unwrap_or(u64::MAX));
            let now = tick.min(free).min(p.t);
            let context = || format!("{name} {pairs:?}, seed {seed}, packet {n}, {now} ns");
            if tick == now {
                product.tick(now);
                model.tick(now);
            } else {
                if free != now {
                    arrivals.pop_front();
                    let mut expected = Vec::new();
                    model.enqueue(p, &mut rng, &mut expected);
                    let did = product.enqueue(p);
                    assert_eq!(did, expected, "{}", context());
                    seen.count(&did);
                }
                if free == now || busy_until.is_none() {
                    let mut expected = Vec::new();
                    let sent = model.dequeue(now, &mut rng, &mut expected);
                    if let Some(p) = &sent {
                        expected.push(Did::Send(p.id, p.ecn));
                    }
                    let (_, did) = product.dequeue(now);
                    assert_eq!(did, expected, "{}", context());
                    seen.count(&did);
                    busy_until = sent.map(|p| now + (p.size * 8_000_000_000).div_ceil(RATE));
                }
            }
            for (gauge, value) in model.shows() {
                assert_eq!(product.gauge(gauge), value, "{gauge}: {}", context());
            }
        }
    }
    assert_eq!(product.rng, rng, "{name} {pairs:?}: a different number of draws");
    seen
}
