//! SRED, Stabilized RED (T. Ott, T. Lakshman, L. Wong, *SRED: Stabilized RED*, INFOCOM 1999).
//!
//! The idea in five lines. A list of "zombies" remembers flows of recent arrivals. Each arrival
//! is compared with one drawn at random; a match is a hit, a miss may overwrite the zombie. With
//! N equal flows one in N is a hit, so the average P of hits estimates 1/N without counting
//! flows. The drop probability grows with the square of N, which keeps the queue stable whatever
//! the load. In the full form it is larger for a hit, so that heavy flows lose more packets.

use alloc::{boxed::Box, vec::Vec};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{ECN, LIMIT, PROBABILITY};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, Line, PerFlowState, Table, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "sred",
        summary: "Estimates the number of flows by comparing arrivals with remembered ones, and \
                  drops by its square.",
        year: 1999,
        source: "Ott, Lakshman and Wong, INFOCOM 1999 (recalled); J-Sim's port of an ns-2 program",
        deviations: "Where P is 0 the simple form gives p_sred, and so does the full one (J-Sim \
                     divides 0 by 0 and never drops). P stands still while the list is filled \
                     (J-Sim updates it with the previous hit). J-Sim's numbers are r = 0.8, M = \
                     200, and a third of the buffer in place of 256 flows. Zombies carry no \
                     timestamp, which nothing reads.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[Table { rows: &[("M", 1_000)], row: 8 }],
    ecn: "marks ECN-capable packets at every load if ecn is on; drops them only at a full buffer",
    units: "packets",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("form", Kind::Choice(&["full", "simple"]), Value::Choice("full"))
        .meaning("Whether a hit's probability is raised by 1 + 1/P (\"full\") or not (\"simple\").")
        .source("both in Ott et al. 1999 (recalled); read: J-Sim has the full one"),
    Field::new("M", Kind::whole(Unit::Count, 1, 10_000_000), Value::Whole(1000))
        .meaning("Zombies.")
        .source("Ott et al. 1999 (recalled)"),
    Field::new("r", PROBABILITY, Value::Real(0.25))
        .meaning("Probability that a miss overwrites the zombie.")
        .source("Ott et al. 1999 (recalled)"),
    Field::new("alpha", PROBABILITY, Value::Unset)
        .meaning("Weight of the newest comparison in P. r/M unless given.")
        .source("Ott et al. 1999 (recalled)"),
    Field::new("p_max", PROBABILITY, Value::Real(0.15))
        .meaning(
            "Largest p_sred: its value from a third of the buffer on; a quarter of it from a sixth \
             on.",
        )
        .source("Ott et al. 1999 (recalled); read: J-Sim"),
    Field::new("many_flows", Kind::above(Unit::Count, 0.0, 1e9), Value::Real(256.0))
        .meaning("Number of flows from which on the probability is all of p_sred.")
        .source("Ott et al. 1999 (recalled)"),
    Field::new("limit", LIMIT, Value::Whole(60))
        .meaning("Packets that may wait, not counting the one being transmitted: B.")
        .source("constructed"),
    ECN,
];

struct Sred {
    full: bool,
    r: f64,
    alpha: f64,
    p_max: f64,
    many: f64,
    limit: u64,
    /// Largest number of zombies (M).
    size: usize,
    /// The zombies: flows of recent arrivals.
    zombies: Vec<u64>,
    hit_rate: f64,
}

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let limit = BufferLimit::of_packets(params.whole("limit") as u32, Fit::Whole);
    let shell = Judged::new(Sred::new(params), limit, params.switch("ecn"));
    Ok(Built::Gate(Box::new(shell)))
}

impl Sred {
    fn new(params: &Params) -> Self {
        let (m, r) = (params.whole("M"), params.real("r"));
        Sred {
            full: params.choice("form") == "full",
            r,
            alpha: params.real_or("alpha", r / m as f64),
            p_max: params.real("p_max"),
            many: params.real("many_flows"),
            limit: params.whole("limit"),
            size: m as usize,
            zombies: Vec::with_capacity(m as usize),
            hit_rate: 0.0,
        }
    }

    /// Compares `flow` with a random zombie once the list is full, and until then appends it.
    /// Returns whether it was a hit.
    fn compare(&mut self, flow: u64, rng: &mut Rng) -> bool {
        if self.zombies.len() < self.size {
            self.zombies.push(flow);
            return false;
        }
        let drawn = rng.below(self.size as u64) as usize;
        let zombie = &mut self.zombies[drawn];
        let hit = *zombie == flow;
        if !hit && rng.uniform() < self.r {
            *zombie = flow;
        }
        self.hit_rate = (1.0 - self.alpha) * self.hit_rate + self.alpha * f64::from(u8::from(hit));
        hit
    }

    /// p_sred: the probability that follows from the queue's length alone.
    fn p_sred(&self, queue: u32) -> f64 {
        let queue = u64::from(queue);
        if 3 * queue >= self.limit {
            self.p_max
        } else if 6 * queue >= self.limit {
            self.p_max / 4.0
        } else {
            0.0
        }
    }

    fn probability(&self, queue: u32, hit: bool) -> f64 {
        let p = self.p_sred(queue);
        if self.hit_rate == 0.0 {
            return p;
        }
        let flows = (1.0 / (self.many * self.hit_rate)).min(1.0);
        let simple = p * flows * flows;
        if self.full && hit { (simple * (1.0 + 1.0 / self.hit_rate)).min(1.0) } else { simple }
    }
}

impl Aqm for Sred {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let hit = self.compare(packet.flow, rng);
        let p = self.probability(backlog.packets, hit);
        if p > 0.0 && rng.uniform() < p {
            Verdict::Signal(DropReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("P", self.hit_rate);
        show("flows", if self.hit_rate > 0.0 { (1.0 / self.hit_rate).min(f64::MAX) } else { 0.0 });
        show("zombies", self.zombies.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sred(form: &str, hit_rate: f64) -> Sred {
        let raw = [("form".to_string(), packet::params::Raw::Text(form.to_string()))];
        Sred { hit_rate, ..Sred::new(&Params::check(FIELDS, &raw).unwrap()) }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6 * b, "{a} is not {b}");
    }

    #[test]
    fn published_probabilities() {
        close(sred("simple", 0.01).probability(20, true), 0.0228882);
        close(sred("full", 0.01).probability(20, false), 0.0228882);
        assert_eq!(sred("full", 0.01).probability(20, true), 1.0);
        close(sred("full", 0.001).probability(20, false), 0.15);
        close(sred("full", 0.1).probability(20, false), 2.28882e-4);
        close(sred("full", 0.1).probability(20, true), 2.28882e-4 * 11.0);
        assert_eq!(sred("full", 0.0).probability(20, false), 0.15);
    }

    #[test]
    fn published_steps_of_the_queue() {
        let sred = sred("full", 0.0);
        let at = [9, 10, 19, 20, 60].map(|queue| sred.p_sred(queue));
        assert_eq!(at, [0.0, 0.15 / 4.0, 0.15 / 4.0, 0.15, 0.15]);
    }

    #[test]
    fn the_number_of_flows_is_finite_however_rare_hits_are() {
        sred("full", f64::MIN_POSITIVE / 16.0).gauges(&mut |name, value| {
            assert!(value.is_finite(), "{name} = {value}");
        });
    }

    #[test]
    fn a_hit_moves_the_estimate() {
        let mut sred = sred("full", 0.02);
        let mut rng = Rng::named(1, "sred");
        for _ in 0..1000 {
            assert!(!sred.compare(7, &mut rng));
        }
        assert_eq!((sred.hit_rate, rng.clone()), (0.02, Rng::named(1, "sred")), "filling");
        assert!(sred.compare(7, &mut rng));
        close(sred.hit_rate, 0.020245);
    }
}
