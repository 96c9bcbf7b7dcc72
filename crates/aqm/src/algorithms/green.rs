//! GREEN (B. Wydrowski, M. Zukerman, *GREEN: An Active Queue Management Algorithm for a Self Managed
//! Internet*, ICC 2002).
//!
//! The idea in five lines. GREEN controls the rate, not the queue: where packets arrive faster
//! than a target a little below the line's rate, the probability P of a signal grows by `delta_P`
//! at each update, and where they arrive slower it falls by `delta_P`. The rate of arrivals is an
//! exponential average over time. The line stays just short of full and the queue nearly empty; P
//! finds its value without a parameter that depends on the load. Dropped arrivals count in the
//! rate too: if senders do not slow down, P goes to 1 and the line idles.
//!
//! Not to be confused with the GREEN of W. Feng, A. Kapadia and S. Thulasidasan (2002), which uses
//! the flows' round-trip times.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Instant, Packet, Rng};

use crate::buffer::{self, ECN, LIMIT_100, LIMIT_BYTES, PROBABILITY, TIME};
use crate::periodic::Ticker;
use crate::rate_average::RateAverage;
use crate::{Aqm, Built, Entry, Judged, Line, PerFlowState, Verdict};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "green",
        summary: "Signals with a probability that steps up while packets arrive faster than a \
                  target rate, and down while they arrive slower.",
        year: 2002,
        source: "Wydrowski and Zukerman, ICC 2002 (recalled; constants weakly)",
        deviations: "No program was read. Between arrivals the estimate ages as if a packet of no \
                     bytes came at each update, so that P does not grow while nothing arrives. \
                     What a full buffer refuses has arrived and counts. Of packets at one instant \
                     each counts as the limit of the formula: bytes/K.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[],
    ecn: "marks ECN-capable packets at every load, if ecn is on",
    units: "rate",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("target", Kind::above(Unit::None, 0.0, 2.0), Value::Real(0.97))
        .meaning("Target rate c_t as a share of the line's.")
        .source("Wydrowski and Zukerman 2002 (recalled)"),
    Field::new("delta_P", PROBABILITY, Value::Real(0.001))
        .meaning("Step of P at each update.")
        .source("Wydrowski and Zukerman 2002 (weakly recalled)"),
    Field::new("delta_T", crate::periodic::PERIOD, Value::Real(0.01))
        .meaning("Time between updates of P.")
        .source("constructed: the paper gives none that is remembered"),
    Field::new("K", TIME, Value::Real(0.1))
        .meaning("Time constant of the average of the rate of arrivals.")
        .source("constructed: a round trip, as CSFQ's"),
    LIMIT_100.source("constructed"),
    LIMIT_BYTES,
    ECN,
];

struct Green {
    /// Average rate of arrivals (x_est), in bytes/s.
    arrivals: RateAverage,
    /// Target rate (c_t), in bytes/s.
    target: f64,
    step: f64,
    p: f64,
    ticker: Ticker,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let judge = Green {
        arrivals: RateAverage::over(params.real("K")),
        target: params.real("target") * line.rate.bytes_per_s(),
        step: params.real("delta_P"),
        p: 0.0,
        ticker: Ticker::every(params.time("delta_T")),
    };
    Ok(Built::Gate(Box::new(Judged::new(judge, buffer::limit(params, 100), params.switch("ecn")))))
}

impl Aqm for Green {
    fn on_arrival(&mut self, packet: &Packet, _: Backlog, now: Instant, rng: &mut Rng) -> Verdict {
        self.arrivals.add(packet.bytes, now);
        let hit = self.p > 0.0 && rng.uniform() < self.p;
        if hit { Verdict::Signal(DropReason::Early) } else { Verdict::Pass }
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, _: Backlog, now: Instant, _: &mut Rng) {
        self.ticker.done();
        let faster = self.arrivals.at(now) >= self.target;
        self.p = (self.p + if faster { self.step } else { -self.step }).clamp(0.0, 1.0);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("P", self.p);
        show("x_est", self.arrivals.bytes_per_s() * 8.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Ecn, Rate};

    /// P after `seconds` of 1,000-byte packets, one every `micros` us, on a line of 10 Mbit/s. P
    /// begins at `first`.
    fn p_after(seconds: u64, micros: u64, first: f64) -> f64 {
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let params = Params::defaults(FIELDS);
        let mut judge = Green {
            arrivals: RateAverage::over(params.real("K")),
            target: params.real("target") * line.rate.bytes_per_s(),
            step: params.real("delta_P"),
            p: first,
            ticker: Ticker::every(params.time("delta_T")),
        };
        let mut rng = Rng::named(1, "green");
        for n in 0..seconds * 1_000_000 / micros {
            let now = Instant::from_nanos(n * micros * 1000);
            while judge.next_tick().is_some_and(|due| due <= now) {
                judge.on_tick(Backlog::default(), judge.ticker.next(), &mut rng);
            }
            let packet = Packet {
                id: 0,
                flow: 0,
                bytes: 1000,
                ecn: Ecn::NotEct,
                arrived: now,
                header: Default::default(),
            };
            judge.on_arrival(&packet, Backlog::default(), now, &mut rng);
        }
        judge.p
    }

    #[test]
    fn p_steps_up_above_the_target_rate_and_down_below_it() {
        // A packet every 800 us fills the line, one every 825 us sends at 97 % of its rate. P is
        // updated 100 times a second.
        assert!((p_after(2, 810, 0.0) - 0.2).abs() < 0.05);
        assert!((p_after(2, 840, 0.5) - 0.3).abs() < 0.05);
        assert_eq!(p_after(2, 840, 0.1), 0.0);
        assert_eq!(p_after(12, 400, 0.0), 1.0);
    }
}
