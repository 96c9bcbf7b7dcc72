//! netem's slots: packets gather behind the line, and go on together.

use packet::params::{BadParams, Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, Rng};

use super::{Built, Effect, Entry, Given, Passing, TIME};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "netem-slot",
        summary: "Gathers packets behind the line and lets them go on in slots, as netem does.",
        year: 2017,
        source: "tc-netem(8), slot MIN_DELAY [MAX_DELAY] [packets N] [bytes N]; sch_netem.c, netem_dequeue and \
                 get_slot_next",
        deviations: "The queue before the line does not feel it: packets gather behind the line, as in a netem \
                     at the far end. A line that serves in bursts is effect slots. Slots by a table of a \
                     distribution are absent.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| Ok(Built::Exit(Box::new(NetemSlot::new(given)?))),
};

const FIELDS: &[Field] = &[
    Field::new("min_delay", TIME, Value::Real(0.0008))
        .meaning("Shortest time until the next slot.")
        .source("tc-netem(8), the example: slot 800us 10ms"),
    Field::new("max_delay", TIME, Value::Unset)
        .meaning("Longest time until the next slot, drawn uniformly between both; by default the shortest.")
        .source("tc-netem(8)"),
    Field::new("packets", Kind::whole(Unit::Packets, 1, 1 << 31), Value::Unset)
        .meaning("How many packets go on in a slot; by default any number.")
        .source("tc-netem(8)"),
    Field::new("bytes", Kind::whole(Unit::Bytes, 1, 1 << 31), Value::Unset)
        .meaning("How many bytes go on in a slot; the packet that reaches the number still does. By default any number.")
        .source("tc-netem(8)"),
];

struct NetemSlot {
    min: u64,
    width: u64,
    most: [u64; 2],
    next: Instant,
    left: [u64; 2],
    last: Instant,
}

impl NetemSlot {
    fn new(given: &Given) -> Result<Self, BadParams> {
        let params = given.params;
        let min = params.real("min_delay");
        let max = if params.given("max_delay") { params.real("max_delay") } else { min };
        if max < min {
            let why = format!("{max} s is shorter than min_delay, {min} s");
            return Err(BadParams::new("max_delay", why));
        }
        let most = ["packets", "bytes"]
            .map(|name| if params.given(name) { params.whole(name) } else { u64::MAX });
        let nanos = |seconds: f64| (seconds * 1e9 + 0.5) as u64;
        let (min, width) = (nanos(min), nanos(max) - nanos(min));
        Ok(NetemSlot { min, width, most, next: Instant::ZERO, left: most, last: Instant::ZERO })
    }

    fn next_slot(&mut self, now: Instant, rng: &mut Rng) {
        let random = if self.width > 0 { rng.below(self.width) } else { 0 };
        self.next = now + Duration::from_nanos(self.min + random);
        self.left = self.most;
    }
}

impl Effect for NetemSlot {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        // The packet is considered when it arrives, or when the packet before it has gone on.
        let seen = packet.at.max(self.last);
        if self.next < packet.at {
            self.next_slot(seen, rng);
        }
        packet.at = seen.max(self.next);
        self.last = packet.at;
        let [packets, bytes] = &mut self.left;
        (*packets, *bytes) = (packets.saturating_sub(1), bytes.saturating_sub(packet.bytes.into()));
        if *packets == 0 || *bytes == 0 {
            self.next_slot(self.last, rng);
        }
    }
}
