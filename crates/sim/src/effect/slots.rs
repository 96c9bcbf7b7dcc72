//! A line that serves in bursts: open at the begin of every period, closed for the rest of it, as
//! grants of a cable modem, transmission opportunities of Wi-Fi and frames of a radio are.

use packet::params::{BadParams, Field, Kind, Value};
use packet::units::Unit;
use packet::{About, Rng};

use super::timetable::{Draw, Drawn};
use super::{Built, Entry, Given, SPAN};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "slots",
        summary: "Serves in bursts: the line is open at the begin of each period and closed for the rest.",
        year: 2026,
        source: "constructed",
        deviations: "A slot is time: what no packet uses of it is lost, and a packet that does not fit goes on \
                     in the next one (as in DOCSIS with fragmentation; Wi-Fi would send it whole in the next).",
        fields: FIELDS,
    },
    tables: &[],
    acts: "on the line",
    discarded: false,
    build,
};

const FIELDS: &[Field] = &[
    Field::new("period", SPAN, Value::Real(0.004))
        .meaning("From the begin of one slot to that of the next.")
        .source("constructed"),
    Field::new("longest_period", SPAN, Value::Unset)
        .meaning("Periods are drawn uniformly between the period and this one; by default all are alike.")
        .source("constructed"),
    Field::new("share", Kind::above(Unit::None, 0.0, 1.0), Value::Unset)
        .meaning(
            "Share of each period in which the line is open, by default 0.25. It then sends that much \
             faster than its rate, which stays the mean.",
        )
        .source("constructed"),
    Field::new("bytes", Kind::whole(Unit::Bytes, 1, 1 << 32), Value::Unset)
        .meaning("In place of a share: bytes on the wire that a slot has room for at the line's rate, which holds in the slot.")
        .source("constructed"),
    Field::new("packets", Kind::whole(Unit::Packets, 1, 1 << 20), Value::Unset)
        .meaning("In place of bytes: packets of 1,500 bytes.")
        .source("constructed"),
    Field::new("rate_is", Kind::Choice(&["mean", "line"]), Value::Unset)
        .meaning(
            "Whether the link's rate is the mean over whole periods, or that within a slot; by default \
             the mean with a share, the line's with bytes or packets.",
        )
        .source("constructed"),
];

fn build(given: &Given) -> Result<Built, BadParams> {
    let params = given.params;
    let nanos = |name: &str| (params.real(name) * 1e9 + 0.5) as u64;
    let period = nanos("period").max(1);
    let longest = if params.given("longest_period") { nanos("longest_period") } else { period };
    if longest < period {
        return Err(BadParams::new("longest_period", "is shorter than the period"));
    }
    let given_forms = ["share", "bytes", "packets"].map(|name| params.given(name));
    if given_forms.iter().filter(|given| **given).count() > 1 {
        return Err(BadParams::new(
            "share",
            "share, bytes and packets exclude each other; give one",
        ));
    }
    let bytes = match given_forms {
        [_, true, _] => Some(params.whole("bytes")),
        [_, _, true] => Some(params.whole("packets") * 1_500),
        _ => None,
    };
    let mean_period = (period as f64 + longest as f64) / 2.0;
    let by_share = bytes.is_none();
    let is_mean = match params.given("rate_is") {
        true => params.choice("rate_is") == "mean",
        false => by_share,
    };
    let slot = match bytes {
        None => Slot::Share(if params.given("share") { params.real("share") } else { 0.25 }),
        Some(_) if is_mean => {
            return Err(BadParams::new(
                "rate_is",
                "\"mean\" does not go with bytes or packets, which give the mean themselves; give a share",
            ));
        }
        Some(bytes) => Slot::Nanos(given.rate.time_for(bytes).nanos()),
    };
    if let Slot::Nanos(nanos) = slot
        && nanos > period
    {
        let field = if params.given("bytes") { "bytes" } else { "packets" };
        let why = format!(
            "the slot takes {} ms at the line's rate, longer than the period of {} ms; make the period longer",
            nanos as f64 / 1e6,
            period as f64 / 1e6
        );
        return Err(BadParams::new(field, why));
    }
    let faster = match slot {
        Slot::Share(share) if is_mean => 1.0 / share,
        _ => 1.0,
    };
    debug_assert!(mean_period > 0.0);
    let slots = Slots { period, width: longest - period, slot, begun: 0, rng: given.rng.clone() };
    Ok(Built::Line(Box::new(Drawn::new(slots)), faster))
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// A slot whose length is the given share of its period.
    Share(f64),
    /// A slot of the given length, ns.
    Nanos(u64),
}

#[derive(Clone, Debug)]
struct Slots {
    period: u64,
    width: u64,
    slot: Slot,
    /// Begin of the current period, ns.
    begun: u64,
    rng: Rng,
}

impl Draw for Slots {
    fn next(&mut self, after: u64) -> (u64, u64) {
        self.begun = after;
        let more = if self.width > 0 { self.rng.below(self.width + 1) } else { 0 };
        let period = self.period + more;
        let open = match self.slot {
            Slot::Share(share) => (period as f64 * share + 0.5) as u64,
            Slot::Nanos(nanos) => nanos,
        };
        (self.begun + open.max(1), self.begun + period)
    }
}
