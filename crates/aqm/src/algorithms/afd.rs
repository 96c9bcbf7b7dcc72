//! AFD, Approximate Fair Dropping (R. Pan, L. Breslau, B. Prabhakar, S. Shenker, *Approximate
//! Fairness through Differential Dropping*, ACM CCR 33(2), 2003).
//!
//! The idea in five lines. Fair shares without a queue per flow: one of s arrivals is noted in a
//! shadow buffer of the last b such packets, and a flow's entries there, m_i, measure its rate.
//! A packet is signalled with 1 − m_fair/m_i, which cuts every flow down to the fair share and
//! leaves slower ones alone. A controller of the queue moves m_fair: up when the queue is short,
//! down when it is long.
//!
//! The shadow buffer is circular, as in the two implementations read; the paper evicts at random.

use alloc::{boxed::Box, format, vec::Vec};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{self, ECN, GAIN, LIMIT, LIMIT_BYTES, PACKETS};
use crate::flow_table::FlowTable;
use crate::periodic::Ticker;
use crate::{Aqm, Built, Entry, Judged, LimitOrder, Line, PerFlowState, Table, Verdict};

/// The entry of `afd` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "afd",
        summary: "Signals each flow by its share of a shadow buffer of sampled packets, so that \
                  all get the same rate.",
        year: 2003,
        source: "Pan, Breslau, Prabhakar and Shenker, ACM CCR 33(2), 2003; two implementations of \
                 it",
        deviations: "The oldest entry of the shadow buffer makes room (the paper: a random one). \
                     Entries count packets; the paper's weights by bytes are not offered. A packet \
                     is tested with the entries held before it, then sampled with probability 1/s, \
                     whether or not it was signalled; what a full buffer refuses is not sampled. \
                     One of the implementations spares flows up to 1.2 m_fair; this one does not.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[Table { rows: &[("b", 500)], row: 112 }],
    ecn: "marks ECN-capable packets at every load, if ecn is on",
    units: "packets",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("q_target", Kind::from(Unit::Packets, 0.0, 1e8), Value::Real(50.0))
        .meaning("Target queue.")
        .source("read: one implementation (another: limit/5)"),
    Field::new("b", Kind::whole(Unit::Packets, 1, 16_777_216), Value::Whole(500))
        .meaning("Entries of the shadow buffer.")
        .source("Pan et al. 2003 (weakly recalled); one implementation: 2000"),
    Field::new("s", Kind::from(Unit::None, 1.0, 1e6), Value::Real(5.0))
        .meaning("One arrival in this many is noted in the shadow buffer.")
        .source("Pan et al. 2003 (weakly recalled); one implementation: 500"),
    Field::new("alpha", GAIN, Value::Real(1.7))
        .meaning("Gain of the previous queue, in entries per packet and update.")
        .source("read: two implementations"),
    Field::new("beta", GAIN, Value::Real(1.8))
        .meaning("Gain of the present queue, in entries per packet and update; above alpha.")
        .source("read: two implementations"),
    Field::new("T", crate::periodic::PERIOD, Value::Real(1.0 / 160.0))
        .meaning("Time between updates of m_fair.")
        .source("read: one implementation, 160 Hz"),
    Field::new("m_fair_min", PACKETS, Value::Real(10.0))
        .meaning("Least fair share, and the first one, in entries; the greatest is b.")
        .source("read: one implementation"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted. 250 unless limit_bytes \
             is given.",
        )
        .source("constructed: five times the target, as one implementation"),
    LIMIT_BYTES,
    ECN,
];

/// The shadow buffer: the flows of the last sampled packets, and the number of entries of each.
struct Shadow {
    entries: Vec<u64>,
    capacity: usize,
    /// Index of the oldest entry, once the buffer is full.
    oldest: usize,
    counts: FlowTable<u32>,
}

impl Shadow {
    fn new(capacity: usize) -> Self {
        Shadow {
            entries: Vec::with_capacity(capacity),
            capacity,
            oldest: 0,
            // One more flow than entries: the new one is counted before the old one leaves.
            counts: FlowTable::new(capacity + 1, 1),
        }
    }

    fn count(&mut self, flow: u64) -> u32 {
        self.counts.get_mut(flow).map_or(0, |count| *count)
    }

    fn note(&mut self, flow: u64) {
        match self.counts.get_mut(flow) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(flow, 1);
            }
        }
        if self.entries.len() < self.capacity {
            self.entries.push(flow);
            return;
        }
        let left = core::mem::replace(&mut self.entries[self.oldest], flow);
        self.oldest = (self.oldest + 1) % self.capacity;
        if let Some(count) = self.counts.get_mut(left) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(left);
            }
        }
    }
}

struct Afd {
    shadow: Shadow,
    sampled: f64,
    q_target: f64,
    alpha: f64,
    beta: f64,
    m_min: f64,
    m_max: f64,
    m_fair: f64,
    q_old: f64,
    ticker: Ticker,
}

fn build(params: &Params, _: &Line) -> Result<Built, BadParams> {
    let (m_min, b) = (params.real("m_fair_min"), params.whole("b"));
    if m_min > b as f64 {
        let name = if params.given("m_fair_min") { "m_fair_min" } else { "b" };
        let why = format!(
            "the least fair share, m_fair_min = {m_min}, exceeds the whole shadow buffer, b = {b}, \
             so that no flow would ever be signalled; make b the larger"
        );
        return Err(BadParams::new(name, why));
    }
    let (alpha, beta) = (params.real("alpha"), params.real("beta"));
    if beta <= alpha {
        let name = if params.given("beta") { "beta" } else { "alpha" };
        let why = format!(
            "beta = {beta} is not above alpha = {alpha}: what is left of beta - alpha is the \
             integral term, without which the queue does not find its target; give both"
        );
        return Err(BadParams::new(name, why));
    }
    let limit = buffer::limit(params, 250);
    Ok(Built::Gate(Box::new(Judged::new(Afd::new(params), limit, params.switch("ecn")))))
}

impl Afd {
    fn new(params: &Params) -> Self {
        let b = params.whole("b");
        let m_min = params.real("m_fair_min");
        Afd {
            shadow: Shadow::new(b as usize),
            sampled: 1.0 / params.real("s"),
            q_target: params.real("q_target"),
            alpha: params.real("alpha"),
            beta: params.real("beta"),
            m_min,
            m_max: b as f64,
            m_fair: m_min,
            q_old: 0.0,
            ticker: Ticker::every(params.time("T")),
        }
    }

    /// The probability of a signal for a flow of `entries` entries.
    fn excess(&self, entries: u32) -> f64 {
        let entries = f64::from(entries);
        if entries > self.m_fair { 1.0 - self.m_fair / entries } else { 0.0 }
    }

    fn update(&mut self, q: f64) {
        let up = self.alpha * (self.q_old - self.q_target);
        let down = self.beta * (q - self.q_target);
        self.m_fair = (self.m_fair + up - down).clamp(self.m_min, self.m_max);
        self.q_old = q;
    }
}

impl Aqm for Afd {
    fn on_arrival(&mut self, packet: &Packet, _: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        let entries = self.shadow.count(packet.flow);
        let excess = self.excess(entries);
        let hit = excess > 0.0 && rng.uniform() < excess;
        if rng.uniform() < self.sampled {
            self.shadow.note(packet.flow);
        }
        if hit { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, backlog: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        self.update(f64::from(backlog.packets));
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("m_fair", self.m_fair);
        show("flows", self.shadow.counts.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn afd() -> Afd {
        Afd::new(&Params::defaults(FIELDS))
    }

    #[test]
    fn excess_over_the_fair_share() {
        let afd = afd();
        assert_eq!(afd.m_fair, 10.0);
        assert!((afd.excess(25) - 0.6).abs() < 1e-12);
        assert_eq!((afd.excess(8), afd.excess(0)), (0.0, 0.0));
    }

    #[test]
    fn the_fair_share_follows_the_queue() {
        for (m_fair, q_old, q, expected) in [
            (100.0, 60.0, 70.0, 81.0),
            (100.0, 70.0, 70.0, 98.0),
            (100.0, 50.0, 50.0, 100.0),
            (12.0, 50.0, 60.0, 10.0),
            (499.0, 0.0, 0.0, 500.0),
        ] {
            let mut afd = Afd { m_fair, q_old, ..afd() };
            afd.update(q);
            assert!((afd.m_fair - expected).abs() < 1e-9, "{}", afd.m_fair);
            assert_eq!(afd.q_old, q);
        }
    }

    /// 25 of 500 entries, on a line of 100 Mbit/s, stand for 5 Mbit/s.
    #[test]
    fn entries_measure_rates() {
        let mut shadow = Shadow::new(500);
        for n in 0..10_000 {
            shadow.note(if n % 20 == 0 { 7 } else { 1000 + n });
        }
        assert_eq!(f64::from(shadow.count(7)) / 500.0 * 100.0, 5.0);
    }

    #[test]
    fn the_oldest_entry_makes_room() {
        let (a, b, c) = (1, 2, 3);
        let mut shadow = Shadow::new(4);
        for flow in [a, a, b, c, b] {
            shadow.note(flow);
        }
        assert_eq!((shadow.count(a), shadow.count(b), shadow.count(c)), (1, 2, 1));
        shadow.note(b);
        assert_eq!((shadow.count(a), shadow.count(b)), (0, 3));
        // The entry that leaves may belong to the flow that is added.
        let mut one = Shadow::new(1);
        one.note(a);
        one.note(a);
        assert_eq!((one.count(a), one.counts.len()), (1, 1));
        one.note(b);
        assert_eq!((one.count(a), one.count(b)), (0, 1));
    }
}
