//! On-off sources, which send at a constant rate for a random time and are then silent for a random
//! time.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, Rng, math};

use super::{Lifetimes, PAYLOAD, Pattern, RATE, gap, senders};
use crate::entry::{Entry, Group, Population};

/// The distribution of the length of a period.
#[derive(Clone, Copy, Debug)]
enum Period {
    Exponential {
        mean: f64,
    },
    /// Pareto with mean `mean`: smallest value `mean * (shape - 1) / shape`.
    Pareto {
        mean: f64,
        shape: f64,
    },
}

impl Period {
    fn draw(self, rng: &mut Rng) -> Duration {
        let seconds = match self {
            Period::Exponential { mean } => rng.exponential(mean),
            Period::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                least * math::pow(1.0 - rng.uniform(), -1.0 / shape)
            }
        };
        // The tail of the distribution ends at about a century.
        Duration::from_secs_f64(seconds.min(3e9))
    }
}

/// Sends a datagram every `gap` while it is on; in a period shorter than a gap, only the first one.
struct OnOff {
    gap: Duration,
    on: Period,
    off: Period,
    /// End of the current on period.
    until: Instant,
    rng: Rng,
}

impl Pattern for OnOff {
    fn begin(&mut self, now: Instant) {
        self.until = now + self.on.draw(&mut self.rng);
    }
    fn next(&mut self, now: Instant) -> Instant {
        let next = now + self.gap;
        if next < self.until {
            return next;
        }
        let start = self.until + self.off.draw(&mut self.rng);
        self.until = start + self.on.draw(&mut self.rng);
        start
    }
}

/// The entry for on-off senders in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "on-off",
        summary: "Datagram senders that are on and off for random times: exponential or Pareto.",
        year: 1997,
        source: "Willinger, Taqqu, Sherman and Wilson, Self-similarity through high-variability, 1997 \
                 (recalled); the parameters as in ns-2's Exponential and Pareto traffic sources",
        deviations: "ns-2's first packet of an on period leaves at its beginning, as here; its Pareto \
                     source draws a number of packets, ours a time. Each sender begins with an on period.",
        fields: &FIELDS,
    },
    noun: ["on-off stream", "on-off streams"],
    fetches: false,
    datagrams: true,
    build,
};

static FIELDS: [Field; 9] = [
    Field::new("rate", RATE, Value::Real(64e3))
        .meaning("Rate of the payload while on.")
        .source("ns-2"),
    Field::new("packet", PAYLOAD, Value::Whole(210))
        .meaning("Payload of each datagram.")
        .source("ns-2"),
    Field::new("on", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(0.5))
        .meaning("Mean length of an on period.")
        .source("ns-2"),
    Field::new("off", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(0.5))
        .meaning("Mean length of an off period.")
        .source("ns-2"),
    Field::new("periods", Kind::Choice(&["exponential", "pareto"]), Value::Choice("exponential"))
        .meaning("Distribution of both periods.")
        .source("ns-2"),
    Field::new("shape", Kind::above(Unit::None, 1.0, 100.0), Value::Real(1.5))
        .meaning(
            "Index of the Pareto distribution; the mean exists above 1, and between 1 and 2 \
                  many sources together are self-similar.",
        )
        .source("ns-2"),
    Lifetimes::FIELDS[0],
    Lifetimes::FIELDS[1],
    Lifetimes::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let spell = |field: &str| match (params.choice("periods"), params.real(field)) {
        ("pareto", mean) => Period::Pareto { mean, shape: params.real("shape") },
        (_, mean) => Period::Exponential { mean },
    };
    let (on, off) = (spell("on"), spell("off"));
    let bytes = params.whole("packet") as u32;
    let gap = gap(params.real("rate"), bytes);
    senders(params, group, bytes, move |group, i| OnOff {
        gap,
        on,
        off,
        until: Instant::ZERO,
        rng: group.stream("periods", i),
    })
}
