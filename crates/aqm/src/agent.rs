//! The AQM algorithm of a learning agent: a drop probability that its caller sets during a run.
//!
//! It is not in the list of disciplines, since no ordinary run sets its probability. A caller
//! that steers a run registers it ([`Registry::with`](crate::Registry::with)). With a constant
//! probability it is Bernoulli dropping, whose equilibrium with TCP is known (Mathis et al., CCR
//! 27(3), 1997).

use alloc::boxed::Box;

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::LIMIT;
use crate::{Aqm, BufferLimit, Built, Entry, Fit, Judged, LimitOrder, PerFlowState, Verdict};

/// Registry entry of the discipline `agent`, for [`Registry::with`](crate::Registry::with).
pub static AGENT: Entry = Entry {
    about: About {
        name: "agent",
        summary: "Signals each packet with a probability that is set from outside.",
        year: 2026,
        source: "constructed: what a learning agent steers (docs/gym.md)",
        deviations: "None.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks in place of drops if ecn is on and the packet is ECN-capable",
    units: "packets",
    build: &|params, _| {
        let limit = BufferLimit::of_packets(params.whole("limit") as u32, Fit::Whole);
        let judge = Agent { p: params.real("p") };
        Ok(Built::Gate(Box::new(Judged::new(judge, limit, params.switch("ecn")))))
    },
};

const FIELDS: &[Field] = &[
    Field::new("p", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.0))
        .meaning("Probability of a signal until it is set.")
        .source("constructed"),
    Field::new("limit", LIMIT, Value::Whole(1_000)).meaning("Packets held.").source("constructed"),
    Field::new("ecn", Kind::Switch, Value::Switch(false))
        .meaning("Whether ECN-capable packets are marked where others are dropped.")
        .source("constructed"),
];

struct Agent {
    p: f64,
}

impl Aqm for Agent {
    fn on_arrival(&mut self, _: &Packet, _: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        // One number is drawn at every arrival, so that a change of p does not shift later draws.
        if rng.uniform() < self.p { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        let known = name == "p" && (0.0..=1.0).contains(&value);
        self.p = if known { value } else { self.p };
        known
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.p);
    }
}
