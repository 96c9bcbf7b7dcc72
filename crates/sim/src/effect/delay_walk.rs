//! A delay that wanders: a random walk between two ends, at which it turns back.

use packet::params::{BadParams, Field, Value};
use packet::{About, Instant, Rng, math};

use super::random::normal;
use super::{Built, Effect, Entry, Given, KEEP_ORDER, Order, Passing, SPAN, TIME};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "delay-walk",
        summary: "Delays packets by a time that wanders between two ends.",
        year: 2026,
        source: "constructed: Brownian motion reflected at both ends, moved every tick",
        deviations: "",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| Ok(Built::Exit(Box::new(DelayWalk::new(given)?))),
};

const FIELDS: &[Field] = &[
    Field::new("min", TIME, Value::Real(0.0)).meaning("The shortest delay.").source("constructed"),
    Field::new("max", SPAN, Value::Real(0.05)).meaning("The longest delay.").source("constructed"),
    Field::new("volatility", SPAN, Value::Real(0.01))
        .meaning("Standard deviation of the delay one second later, far from both ends.")
        .source("constructed"),
    Field::new("tick", SPAN, Value::Real(0.01))
        .meaning("How often the delay moves.")
        .source("constructed"),
    KEEP_ORDER,
];

struct DelayWalk {
    min: f64,
    max: f64,
    step: f64,
    tick: u64,
    order: Order,
    /// The delay, s, and the time of its next step, ns; `None` before the first packet.
    at: Option<(f64, u64)>,
}

/// Number of ticks without a packet after which the delay is drawn anew between its ends.
const FORGOTTEN: u64 = 100_000;

impl DelayWalk {
    fn new(given: &Given) -> Result<Self, BadParams> {
        let params = given.params;
        let [min, max, volatility, tick] =
            ["min", "max", "volatility", "tick"].map(|name| params.real(name));
        if min >= max {
            let why =
                format!("{max} s is not longer than min, {min} s; the delay walks between them");
            return Err(BadParams::new("max", why));
        }
        if tick < 1e-6 {
            return Err(BadParams::new("tick", format!("{tick} s is shorter than 1 us")));
        }
        let (step, tick) = (volatility * math::sqrt(tick), (tick * 1e9 + 0.5) as u64);
        Ok(DelayWalk { min, max, step, tick, order: Order::new(params), at: None })
    }

    fn anywhere(&self, rng: &mut Rng) -> f64 {
        self.min + rng.uniform() * (self.max - self.min)
    }

    /// Reflects a delay beyond an end back into the range, as often as needed.
    fn turned(&self, delay: f64) -> f64 {
        let width = self.max - self.min;
        let folded = math::fabs(delay - self.min) % (2.0 * width);
        self.min + if folded > width { 2.0 * width - folded } else { folded }
    }

    fn now(&mut self, now: Instant, rng: &mut Rng) -> f64 {
        let now = now.nanos();
        let (mut delay, mut next) = match self.at {
            Some((delay, next)) if now.saturating_sub(next) / self.tick < FORGOTTEN => {
                (delay, next)
            }
            _ => (self.anywhere(rng), now - now % self.tick + self.tick),
        };
        while next <= now {
            delay = self.turned(delay + self.step * normal(rng));
            next += self.tick;
        }
        self.at = Some((delay, next));
        delay
    }
}

impl Effect for DelayWalk {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        let delay = self.now(packet.now, rng);
        self.order.delay(packet, delay);
    }
}
