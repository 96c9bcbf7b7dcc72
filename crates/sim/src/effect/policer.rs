//! A policer before the queue: a token bucket without any queue of its own.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Ecn, Instant, Rng};

use super::{Built, Effect, Entry, Fate, Given, Passing};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "policer",
        summary: "Drops or marks what exceeds a token bucket of a rate and a burst, before the queue.",
        year: 2001,
        source: "tc-police(8), rate and burst; RFC 2697 has the bucket",
        deviations: "Counts IP bytes, where tc counts the link's header too. Marking CE in place of dropping is \
                     constructed: packets that are not ECN-capable are dropped.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "before the queue",
    discarded: false,
    build: |given| Ok(Built::Arrival(Box::new(Policer::new(given)))),
};

const FIELDS: &[Field] = &[
    Field::new("rate", Kind::from(Unit::Rate, 1.0, 1e12), Value::Real(1e7))
        .meaning("How fast tokens come.")
        .source("constructed"),
    Field::new("burst", Kind::whole(Unit::Bytes, 1, 1 << 32), Value::Whole(125_000))
        .meaning("How many bytes of tokens the bucket holds; it begins full.")
        .source("constructed: 100 ms at 10 Mbit/s"),
    Field::new("action", Kind::Choice(&["drop", "mark"]), Value::Choice("drop"))
        .meaning("What becomes of a packet without tokens: it is dropped, or gets CE.")
        .source("tc-police(8): drop"),
];

/// Tokens of a byte, in bit/s times ns.
const PER_BYTE: u128 = 8_000_000_000;

struct Policer {
    rate: u128,
    burst: u128,
    marks: bool,
    tokens: u128,
    last: Instant,
}

impl Policer {
    fn new(given: &Given) -> Self {
        let burst = u128::from(given.params.whole("burst")) * PER_BYTE;
        let rate = u128::from(given.params.rate("rate").bits_per_s());
        let marks = given.params.choice("action") == "mark";
        Policer { rate, burst, marks, tokens: burst, last: Instant::ZERO }
    }
}

impl Effect for Policer {
    fn pass(&mut self, packet: &mut Passing, _: &mut Rng) {
        let passed = u128::from(packet.now.since(self.last).nanos());
        self.last = packet.now;
        self.tokens = self.burst.min(self.tokens + passed * self.rate);
        let need = u128::from(packet.bytes) * PER_BYTE;
        if need <= self.tokens {
            self.tokens -= need;
        } else if self.marks && packet.ecn != Ecn::NotEct {
            packet.ecn = Ecn::Ce;
        } else {
            packet.fate = Fate::Lost;
        }
    }
}
