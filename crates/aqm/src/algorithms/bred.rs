//! BRED, Balanced RED (F. Anjum, L. Tassiulas, *Fair Bandwidth Sharing among Adaptive and
//! Non-Adaptive Flows in the Internet*, INFOCOM 1999).
//!
//! The idea in five lines. Every flow with packets in the queue has an equal part W_m of the
//! buffer. Above l1 packets an arrival is dropped with a small probability, above l2 with a ten
//! times larger one, at W_m always. But a flow that has just lost a packet is spared until it has
//! had more than l1 (l2) packets accepted since: a flow that yields gets the time to do so.
//! There is no average.
//!
//! Reconstructed from memory of the paper: every constant is a parameter, and none is a result to
//! compare with.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::buffer::LIMIT;
use crate::shells::active::Active;
use crate::shells::watched::{Watched, Watcher};
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, LimitOrder, Line, PerFlowState, Verdict};

/// The entry of `bred` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "bred",
        summary: "Drops by how much of its part of the buffer a flow holds, but spares one that \
                  has just lost a packet.",
        year: 1999,
        source: "Anjum and Tassiulas, INFOCOM 1999 (recalled; constants weakly)",
        deviations: "A reconstruction, no program was read. Thresholds are real numbers, computed \
                     anew at each arrival; a flow's state, its gap included, is forgotten when its \
                     last packet departs; the band above l2 does not fall through to the test of \
                     the band below.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "never marks",
    units: "packets",
    build: &build,
};

const RATIO: Kind = Kind::from(Unit::None, 1.0, 1e6);

const FIELDS: &[Field] = &[
    Field::new("share", Kind::Choice(&["1/(N+1)", "1/(2N)"]), Value::Choice("1/(N+1)"))
        .meaning(
            "The part of the buffer of each of N active flows, W_m: a whole one of N + 1 \
             (\"1/(N+1)\") or half of one of N (\"1/(2N)\").",
        )
        .source("recalled, weakly"),
    Field::new("W_m_over_l2", RATIO, Value::Real(1.3))
        .meaning("W_m divided by l2, the packets from which on p2 applies.")
        .source("recalled, weakly"),
    Field::new("l2_over_l1", RATIO, Value::Real(2.0))
        .meaning("l2 divided by l1, the packets from which on p1 applies.")
        .source("recalled, weakly"),
    Field::new("p1_divisor", RATIO, Value::Real(10.0))
        .meaning("p1 is l1/W_m divided by this.")
        .source("recalled, weakly"),
    Field::new("p2_over_p1", RATIO, Value::Real(10.0))
        .meaning("p2 divided by p1; p2 is at most 1.")
        .source("recalled, weakly"),
    Field::new("limit", LIMIT, Value::Whole(60))
        .meaning("Packets that may wait, not counting the one being transmitted: B.")
        .source("constructed"),
];

#[derive(Default)]
struct Flow {
    queue: u32,
    /// Packets accepted since the last drop.
    gap: u32,
}

struct Bred {
    limit: u32,
    /// W_m is the limit divided by (N `per_flow` + `besides`), for N active flows.
    per_flow: f64,
    besides: f64,
    part_over_l2: f64,
    l2_over_l1: f64,
    p1_divisor: f64,
    p2_over_p1: f64,
    flows: Active<Flow>,
}

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    // The algorithm tests the limit itself, because an overflow resets the flow's gap.
    let shell = Judged::new(Bred::new(params), BufferLimit::UNLIMITED, false);
    Ok(Built::Discipline(Box::new(Watched::new(shell, false))))
}

impl Bred {
    fn new(params: &Params) -> Self {
        let halved = params.choice("share") == "1/(2N)";
        Bred {
            limit: params.whole("limit") as u32,
            per_flow: if halved { 2.0 } else { 1.0 },
            besides: if halved { 0.0 } else { 1.0 },
            part_over_l2: params.real("W_m_over_l2"),
            l2_over_l1: params.real("l2_over_l1"),
            p1_divisor: params.real("p1_divisor"),
            p2_over_p1: params.real("p2_over_p1"),
            flows: Active::new(),
        }
    }

    /// W_m where `active` flows share the buffer.
    fn part(&self, active: usize) -> f64 {
        f64::from(self.limit) / (active as f64 * self.per_flow + self.besides)
    }

    /// The levels l1 and l2, in packets, each with the drop probability from it on.
    fn levels(&self, part: f64) -> [(f64, f64); 2] {
        let l2 = part / self.part_over_l2;
        let l1 = l2 / self.l2_over_l1;
        let p1 = l1 / (self.p1_divisor * part);
        [(l1, p1), (l2, (self.p2_over_p1 * p1).min(1.0))]
    }

    /// The reason to drop a packet of a flow that holds `queue` packets; `None` if it is accepted.
    fn dooms(&self, queue: u32, gap: u32, part: f64, rng: &mut Rng) -> Option<DropReason> {
        let (queue, gap) = (f64::from(queue), f64::from(gap));
        if queue >= part {
            return Some(DropReason::Forced);
        }
        let levels = self.levels(part);
        let (level, p) = *levels.iter().rev().find(|(level, _)| queue >= *level)?;
        (gap > level && rng.uniform() < p).then_some(DropReason::Early)
    }
}

impl Aqm for Bred {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let known = self.flows.get(packet.flow).map(|flow| (flow.queue, flow.gap));
        let (queue, gap) = known.unwrap_or_default();
        // A flow without packets is not counted in N; it passes whatever W_m is.
        let part = self.part(self.flows.len().max(1));
        let doomed =
            if !BufferLimit::of_packets(self.limit, Fit::Whole).admits(backlog, packet.bytes) {
                Some(DropReason::Overflow)
            } else {
                self.dooms(queue, gap, part, rng)
            };
        if let Some(why) = doomed {
            if let Some(flow) = self.flows.get(packet.flow) {
                flow.gap = 0;
            }
            return Verdict::Drop(why);
        }
        let flow = self.flows.enter(packet.flow);
        flow.queue += 1;
        flow.gap = flow.gap.saturating_add(1);
        Verdict::Pass
    }

    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("active", self.flows.len() as f64);
        show("W_m", self.part(self.flows.len().max(1)));
    }
}

impl Watcher for Bred {
    fn on_departure(
        &mut self,
        packet: &Packet,
        _: Duration,
        _: Backlog,
        _: Instant,
        _: &mut Rng,
    ) -> bool {
        if let Some(flow) = self.flows.get(packet.flow) {
            flow.queue -= 1;
            if flow.queue == 0 {
                self.flows.leave(packet.flow);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bred() -> Bred {
        let raw = [("limit".to_string(), packet::params::Raw::Number(104.0))];
        Bred::new(&Params::check(FIELDS, &raw).unwrap())
    }

    /// Share of 20 000 trials in which a packet of a flow in this state is dropped, with W_m = 26.
    fn dropped(queue: u32, gap: u32) -> f64 {
        let (bred, mut rng) = (bred(), Rng::named(1, "bred"));
        let hits = (0..20_000).filter(|_| bred.dooms(queue, gap, 26.0, &mut rng).is_some());
        hits.count() as f64 / 20_000.0
    }

    #[test]
    fn published_points() {
        let bred = bred();
        assert_eq!((bred.part(3), bred.part(4)), (26.0, 20.8));
        let [(l1, p1), (l2, p2)] = bred.levels(26.0);
        assert_eq!((l1, l2), (10.0, 20.0));
        assert!((p1 - 0.0384615).abs() < 1e-6 && (p2 - 0.384615).abs() < 1e-6);
        assert_eq!(dropped(5, 100), 0.0);
        assert_eq!(dropped(12, 8), 0.0);
        // Five standard errors are 0.007 and 0.018.
        assert!((dropped(12, 15) - 0.0384615).abs() < 0.007);
        assert_eq!(
            (dropped(12, 10), dropped(22, 20)),
            (0.0, 0.0),
            "a gap of l1 or l2 still spares"
        );
        assert_eq!(dropped(26, 0), 1.0);
        assert!((dropped(22, 21) - 0.384615).abs() < 0.018);
        assert_eq!(dropped(22, 15), 0.0, "no fall through to p1");
    }
}
