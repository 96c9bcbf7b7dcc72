//! Independent loss, or netem's correlated one.

use packet::params::{Field, Value};
use packet::{About, Rng};

use super::random::Correlated;
use super::{Built, CORRELATION, Effect, Entry, Fate, Given, Passing, SHARE};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "loss",
        summary: "Loses each packet with one probability.",
        year: 2005,
        source: "tc-netem(8), loss random",
        deviations: "netem loses where its 32-bit number is at most the share, here where a number in \
                     [0, 1) is below it: nothing is lost at 0 in either.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| Ok(Built::Exit(Box::new(Loss::new(given)))),
};

const FIELDS: &[Field] = &[
    Field::new("share", SHARE, Value::Real(0.01))
        .meaning("Probability of a packet to be lost.")
        .source("constructed"),
    CORRELATION,
];

struct Loss {
    share: f64,
    number: Correlated,
}

impl Loss {
    fn new(given: &Given) -> Self {
        let number = Correlated::new(given.params.real("correlation"));
        Loss { share: given.params.real("share"), number }
    }
}

impl Effect for Loss {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        if self.number.happens(self.share, rng) {
            packet.fate = Fate::Lost;
        }
    }
}
