//! Pulsing senders: short bursts at a high rate, again and again.
//!
//! A. Kuzmanovic and E. W. Knightly, *Low-rate TCP-targeted denial of service attacks (the shrew
//! vs. the mice and elephants)*, SIGCOMM 2003: a burst that fills the queue makes every TCP flow
//! time out together; if the next comes when they try again, after the minimum retransmission
//! timeout, they time out again, and the attacker's mean rate stays low.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::{Lifetimes, PAYLOAD, Pattern, RATE, gap, senders};
use crate::entry::{Entry, Group, Population};

/// Sends a datagram every `gap` in the first `burst` of every `period`.
#[derive(Clone, Copy)]
struct Pulse {
    gap: Duration,
    burst: Duration,
    period: Duration,
    /// Begin of the current burst.
    pulse: Instant,
}

impl Pattern for Pulse {
    fn begin(&mut self, now: Instant) {
        self.pulse = now;
    }
    fn next(&mut self, now: Instant) -> Instant {
        let next = now + self.gap;
        if next < self.pulse + self.burst {
            return next;
        }
        self.pulse += self.period;
        self.pulse
    }
}

/// The entry for pulsing senders in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "pulse",
        summary: "Datagram senders that burst at a high rate once in every period: the shrew attack.",
        year: 2003,
        source: "A. Kuzmanovic and E. W. Knightly, Low-rate TCP-targeted denial of service attacks, \
                 SIGCOMM 2003",
        deviations: "The paper's double-rate stream, which only keeps a full queue full, is left out: \
                     a square wave, as in most of its experiments.",
        fields: &FIELDS,
    },
    noun: ["pulsing stream", "pulsing streams"],
    fetches: false,
    datagrams: true,
    build,
};

static FIELDS: [Field; 7] = [
    Field::new("rate", RATE, Value::Real(10e6))
        .meaning(
            "Rate of the payload during a burst; it must exceed the link's by enough to fill \
                  its queue within the burst.",
        )
        .source("constructed"),
    Field::new("packet", PAYLOAD, Value::Whole(1_000))
        .meaning("Payload of each datagram.")
        .source("constructed"),
    Field::new("burst", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(0.1))
        .meaning("How long a burst lasts: the round-trip times of the flows to be hit, or more.")
        .source("recalled: bursts of 100 ms and less in the paper"),
    Field::new("period", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(1.0))
        .meaning(
            "From the begin of a burst to that of the next; more than a burst. Worst near the \
                  flows' minimum retransmission timeout and its fractions.",
        )
        .source("the paper: the minimum retransmission timeout of 1 s"),
    Lifetimes::FIELDS[0].meaning("When the first burst begins: the phase of the pulses."),
    Field {
        default: Value::Real(0.0),
        source: "constructed: several senders pulse in step",
        ..Lifetimes::FIELDS[1]
    },
    Lifetimes::FIELDS[2],
];

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let (burst, period) = (params.time("burst"), params.time("period"));
    if burst >= period {
        let why = "a period must be longer than its burst; make it longer, or use cbr";
        return Err(BadParams::new("period", why));
    }
    let bytes = params.whole("packet") as u32;
    let gap = gap(params.real("rate"), bytes);
    let pulse = Pulse { gap, burst, period, pulse: Instant::ZERO };
    senders(params, group, bytes, move |_, _| pulse)
}
