//! Corruption: a packet goes on, takes up room in every later queue, and is discarded by its host
//! because its checksum is wrong.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Rng, math};

use super::random::Correlated;
use super::{Built, CORRELATION, Effect, Entry, Fate, Passing, SHARE};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "corrupt",
        summary: "Corrupts packets, which their hosts discard.",
        year: 2005,
        source: "tc-netem(8), corrupt",
        deviations: "netem turns one bit of the packet over, which a checksum finds; here the host discards \
                     it. Where a link checks frames itself (Ethernet, Wi-Fi), a corrupted one is lost at \
                     the link: write loss.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: true,
    build: |given| {
        Ok(Built::Exit(Box::new(Corrupt {
            share: given.params.real("share"),
            bit_error_rate: given.params.real("bit_error_rate"),
            number: Correlated::new(given.params.real("correlation")),
        })))
    },
};

const FIELDS: &[Field] = &[
    Field::new("share", SHARE, Value::Real(0.0))
        .meaning("Probability of a packet to be corrupted, whatever its size.")
        .source("constructed"),
    Field::new("bit_error_rate", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.0))
        .meaning("Probability of each bit of a packet to be wrong, in addition to the share.")
        .source("constructed"),
    CORRELATION,
];

struct Corrupt {
    share: f64,
    bit_error_rate: f64,
    number: Correlated,
}

impl Effect for Corrupt {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        let bits = f64::from(packet.bytes) * 8.0;
        let intact = (1.0 - self.share) * math::pow(1.0 - self.bit_error_rate, bits);
        if self.number.happens(1.0 - intact, rng) {
            packet.fate = Fate::Corrupted;
        }
    }
}
