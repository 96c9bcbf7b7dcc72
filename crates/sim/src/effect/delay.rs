//! Delay with a distribution, as netem has it, with or without its reordering.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Rng, math};

use super::random::Correlated;
use super::{Built, CORRELATION, Effect, Entry, Given, KEEP_ORDER, Order, Passing, SHARE, TIME};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "delay",
        summary: "Delays packets by a time and a random part, as netem does.",
        year: 2005,
        source: "tc-netem(8), delay and reorder; tables of iproute2 netem/{normal,pareto,paretonormal}.c",
        deviations: "Quantiles are computed, where netem looks them up in 4,096 values; both end at four \
                     jitters. keep_order is on unless it is turned off, as in netem with rate or a \
                     child queue.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| Ok(Built::Exit(Box::new(Delay::new(given)))),
};

const SHAPES: &[&str] = &["uniform", "normal", "pareto", "paretonormal"];

const FIELDS: &[Field] = &[
    Field::new("delay", TIME, Value::Real(0.0))
        .meaning("The middle of the delay.")
        .source("constructed"),
    Field::new("jitter", TIME, Value::Real(0.0))
        .meaning("The unit of the random part: half the width of a uniform one, a standard deviation of a normal one.")
        .source("constructed"),
    Field::new("distribution", Kind::Choice(SHAPES), Value::Choice("uniform"))
        .meaning(
            "Of the random part, in units of the jitter: uniform in -1 … 1; normal; pareto, \
             (u^(-1/3) - 1.5) · 4/3; paretonormal, a quarter of the normal and three quarters of the \
             pareto one at the same u. None is above 4; a delay is never negative.",
        )
        .source("tc-netem(8): uniform"),
    CORRELATION,
    KEEP_ORDER,
    Field::new("reorder", SHARE, Value::Unset)
        .meaning("Share of packets that go on without any delay, so that they overtake others; needs keep_order = false.")
        .source("tc-netem(8), reorder"),
    Field::new("gap", Kind::whole(Unit::Packets, 1, 1 << 32), Value::Whole(1))
        .meaning("Of how many packets at most one goes on without delay.")
        .source("tc-netem(8), reorder … gap"),
];

/// Largest value of netem's tables: 32,767 in units of 1/8,192.
const MOST: f64 = 32_767.0 / 8_192.0;

#[derive(Clone, Copy)]
enum Shape {
    Uniform,
    Normal,
    Pareto,
    ParetoNormal,
}

struct Delay {
    delay: f64,
    jitter: f64,
    shape: Shape,
    number: Correlated,
    order: Order,
    /// Share and gap of packets that are not delayed, and the number of delayed ones since the last
    /// of them.
    reorder: Option<(f64, u64)>,
    counter: u64,
}

impl Delay {
    fn new(given: &Given) -> Self {
        let params = given.params;
        let shape = match params.choice("distribution") {
            "normal" => Shape::Normal,
            "pareto" => Shape::Pareto,
            "paretonormal" => Shape::ParetoNormal,
            _ => Shape::Uniform,
        };
        Delay {
            delay: params.real("delay"),
            jitter: params.real("jitter"),
            shape,
            number: Correlated::new(params.real("correlation")),
            order: Order::new(params),
            reorder: params.given("reorder").then(|| (params.real("reorder"), params.whole("gap"))),
            counter: 0,
        }
    }
}

fn normal(u: f64) -> f64 {
    traffic::distribution::normal::quantile(u).clamp(-MOST, MOST)
}

fn pareto(u: f64) -> f64 {
    ((1.0 / math::pow(1.0 - u, 1.0 / 3.0) - 1.5) * 4.0 / 3.0).min(MOST)
}

impl Shape {
    /// The random part in units of the jitter.
    fn quantile(self, u: f64) -> f64 {
        match self {
            Shape::Uniform => 2.0 * u - 1.0,
            Shape::Normal => normal(u),
            Shape::Pareto => pareto(u),
            Shape::ParetoNormal => 0.25 * normal(u) + 0.75 * pareto(u),
        }
    }
}

impl Effect for Delay {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        if let Some((share, gap)) = self.reorder {
            // As sch_netem.c: within a gap nothing overtakes, and no number is drawn.
            if self.counter + 1 >= gap && rng.uniform() < share {
                self.counter = 0;
                return;
            }
            self.counter += 1;
        }
        let random = match self.jitter > 0.0 {
            true => self.jitter * self.shape.quantile(self.number.next(rng)),
            false => 0.0,
        };
        self.order.delay(packet, self.delay + random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_netems_tables() {
        // Entries of pareto.c and paretonormal.c: paretovalue(i) and (normal + 3 pareto) / 4, in 1/8192.
        let value = |shape: Shape, u: f64| (shape.quantile(u) * 8_192.0).round();
        assert_eq!(value(Shape::Pareto, 0.0), -5_461.0);
        assert_eq!(
            value(Shape::Pareto, 0.5),
            (8_192.0_f64 * 4.0 / 3.0 * (2_f64.cbrt() - 1.5)).round()
        );
        assert_eq!(value(Shape::Pareto, 0.999), 32_767.0);
        assert_eq!(value(Shape::Normal, 0.5), 0.0);
        let half = 0.75 * value(Shape::Pareto, 0.5);
        assert!((value(Shape::ParetoNormal, 0.5) - half).abs() <= 1.0);
    }
}
