//! Duplication of packets.

use packet::params::{Field, Value};
use packet::{About, Rng};

use super::random::Correlated;
use super::{Built, CORRELATION, Effect, Entry, Fate, Passing, SHARE};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "duplicate",
        summary: "Sends a copy behind a packet.",
        year: 2005,
        source: "tc-netem(8), duplicate",
        deviations: "netem puts the copy into its root queue once more; here it goes on behind the original, \
                     and later effects and links act on it as on any packet. A receiver of datagrams \
                     discards it by its number; TCP gets it.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: true,
    build: |given| {
        let number = Correlated::new(given.params.real("correlation"));
        Ok(Built::Exit(Box::new(Duplicate { share: given.params.real("share"), number })))
    },
};

const FIELDS: &[Field] = &[
    Field::new("share", SHARE, Value::Real(0.01))
        .meaning("Probability of a packet to be copied.")
        .source("constructed"),
    CORRELATION,
];

struct Duplicate {
    share: f64,
    number: Correlated,
}

impl Effect for Duplicate {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        if self.number.happens(self.share, rng) {
            packet.fate = Fate::Copied;
        }
    }
}
