//! A probability of loss that changes in time: by steps, or as a recorded trace says.

use packet::params::Field;
use packet::units::Unit;
use packet::{About, Rng};

use super::timed::Timed;
use super::{Built, Effect, Entry, Fate, Passing, REPEAT, Table};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "loss-steps",
        summary: "Loses packets with a probability that changes by steps or as a trace says.",
        year: 2026,
        source: "constructed",
        deviations: "Losses within a step are independent.",
        fields: FIELDS,
    },
    tables: &[Table {
        name: "steps",
        meaning: "From when on which share of packets is lost: [[\"0 s\", 0], [\"15 s\", \"2 %\"]], or { file = \"line.csv\" }, whose column loss holds it.",
        unit: Unit::None,
        most: 1.0,
        column: "loss",
    }],
    acts: "behind the line",
    discarded: false,
    build: |given| {
        let share = given.table("steps", "steps = [[\"0 s\", 0], [\"15 s\", 0.02]]")?;
        Ok(Built::Exit(Box::new(LossSteps(share))))
    },
};

const FIELDS: &[Field] = &[REPEAT];

struct LossSteps(Timed);

impl Effect for LossSteps {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        if rng.uniform() < self.0.at(packet.now) {
            packet.fate = Fate::Lost;
        }
    }
}
