//! Reordering by a distance in packets.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Rng};

use super::random::Correlated;
use super::{Built, CORRELATION, Effect, Entry, Fate, Passing, SHARE, SPAN};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "reorder",
        summary: "Holds packets back until some number of later ones has gone past them.",
        year: 2026,
        source: "constructed; the extent of reordering of RFC 4737, section 4.2.2, is the distance",
        deviations: "netem reorders by sending some packets before those that it delays: effect delay, \
                     with reorder and gap.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| {
        Ok(Built::Exit(Box::new(Reorder {
            share: given.params.real("share"),
            distance: given.params.whole("distance") as u32,
            at_most: given.params.time("at_most"),
            number: Correlated::new(given.params.real("correlation")),
        })))
    },
};

const FIELDS: &[Field] = &[
    Field::new("share", SHARE, Value::Real(0.01))
        .meaning("Probability of a packet to be held back.")
        .source("constructed"),
    Field::new("distance", Kind::whole(Unit::Packets, 1, 1 << 20), Value::Whole(3))
        .meaning("How many later packets go past it.")
        .source("constructed: TCP's classic threshold of duplicate acknowledgements (RFC 5681)"),
    Field::new("at_most", SPAN, Value::Real(0.1))
        .meaning("It goes on after this time at the latest, however few have come.")
        .source("constructed"),
    CORRELATION,
];

struct Reorder {
    share: f64,
    distance: u32,
    at_most: packet::Duration,
    number: Correlated,
}

impl Effect for Reorder {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        if self.number.happens(self.share, rng) {
            packet.fate = Fate::Held(self.distance, packet.now + self.at_most);
        }
    }
}
