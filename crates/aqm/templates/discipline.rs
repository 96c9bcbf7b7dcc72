//! Template (author, *title*, year). Replace this text: the idea in five lines, where this file differs from the
//! paper, and from which implementation.
//!
//! What `make new-discipline` wrote works: with probability p it signals a packet that finds at least `threshold`
//! packets waiting.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Params, Value};
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{self, ECN, LIMIT, LIMIT_100, LIMIT_BYTES, PROBABILITY};
use crate::{Aqm, Built, Entry, Judged, Line, PerFlowState, Verdict};

/// The entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "template",
        summary: "Signals with probability p while at least threshold packets wait.",
        year: 2026,
        source: "constructed",
        deviations: "None: there is no other program of it.",
        fields: FIELDS,
    },
    // State or Queues where something is kept of each flow: its bar in `make bench` follows.
    per_flow: PerFlowState::Nothing,
    // Tables whose size parameters give.
    tables: &[],
    ecn: "marks ECN-capable packets at every load, if ecn is on",
    units: "packets",
    build: &build,
};

// The paper's symbols, each with unit and range, default, meaning and source.
const FIELDS: &[Field] = &[
    Field::new("threshold", LIMIT, Value::Whole(10))
        .meaning("Waiting packets from which arrivals are signalled.")
        .source("constructed"),
    Field::new("p", PROBABILITY, Value::Real(0.1))
        .meaning("Probability of a signal.")
        .source("constructed"),
    LIMIT_100.source("constructed"),
    LIMIT_BYTES,
    ECN,
];

struct Template {
    threshold: u64,
    p: f64,
}

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let judge = Template { threshold: params.whole("threshold"), p: params.real("p") };
    let (limit, ecn) = (buffer::limit(params, 100), params.switch("ecn"));
    Ok(Built::Gate(Box::new(Judged::new(judge, limit, ecn))))
}

impl Aqm for Template {
    fn on_arrival(&mut self, _: &Packet, backlog: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        let hit = u64::from(backlog.packets) >= self.threshold && rng.uniform() < self.p;
        if hit { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    // As needed: limit_order, on_overflow, on_dropped, on_signalled, on_idle, next_tick, on_tick, gauges.
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Ecn;

    /// The answer to an arrival that finds this many packets waiting, with p = 1.
    fn answer(packets: u32) -> Verdict {
        let mut judge = Template { threshold: 10, p: 1.0 };
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1_000,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1_000 };
        judge.on_arrival(&packet, backlog, Instant::ZERO, &mut Rng::named(1, "template"))
    }

    #[test]
    fn signals_begin_at_the_threshold() {
        assert_eq!(answer(9), Verdict::Pass);
        assert_eq!(answer(10), Verdict::Signal(DropReason::Early));
    }
}
