//! A delay that changes in time: by steps, as a satellite's path does, or as a recorded trace says.

use packet::params::Field;
use packet::units::Unit;
use packet::{About, Rng};

use super::timed::Timed;
use super::{Built, Effect, Entry, KEEP_ORDER, Order, Passing, REPEAT, Table};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "delay-steps",
        summary: "Delays packets by a time that changes by steps or as a trace says.",
        year: 2026,
        source: "constructed; mahimahi's users ask for it as variable delay (pull request 135)",
        deviations: "",
        fields: FIELDS,
    },
    tables: &[Table {
        name: "steps",
        meaning: "From when on which delay: [[\"0 s\", \"20 ms\"], [\"15 s\", \"35 ms\"]], or { file = \"line.csv\" }, whose column delay holds it.",
        unit: Unit::Time,
        most: 1e6,
        column: "delay",
    }],
    acts: "behind the line",
    discarded: false,
    build: |given| {
        let example = "steps = [[\"0 s\", \"20 ms\"], [\"15 s\", \"35 ms\"]]";
        let steps = given.table("steps", example)?;
        Ok(Built::Exit(Box::new(DelaySteps { steps, order: Order::new(given.params) })))
    },
};

const FIELDS: &[Field] = &[REPEAT, KEEP_ORDER];

struct DelaySteps {
    steps: Timed,
    order: Order,
}

impl Effect for DelaySteps {
    fn pass(&mut self, packet: &mut Passing, _: &mut Rng) {
        let delay = self.steps.at(packet.now);
        self.order.delay(packet, delay);
    }
}
