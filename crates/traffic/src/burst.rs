//! Bursts: flows that start together, each with a given number of bytes.
//!
//! The workload of I. Järvinen, Y. Ding, A. Nyrhinen and M. Kojo, *Harsh RED: improving RED for
//! limited aggregate traffic*, AINA 2012: n flows whose SYNs leave at the same instant; what counts
//! is the time from the first SYN to the last acknowledgement.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Rng};

use crate::bulk::Bulk;
use crate::entry::{Entry, Group, Population};

/// The entry for bursts in the registry.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "burst",
        summary: "Flows that start at the same instant, each with a given number of bytes.",
        year: 2012,
        source: "I. Jarvinen, Y. Ding, A. Nyrhinen and M. Kojo, Harsh RED: improving RED for limited \
                 aggregate traffic, AINA 2012",
        deviations: "The paper's random start of the later burst is a uniform draw common to the group.",
        fields: FIELDS,
    },
    noun: ["flow in a burst", "flows in a burst"],
    fetches: false,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("bytes", Kind::whole(Unit::Bytes, 1, 1 << 53), Value::Whole(20_000))
        .meaning("What each flow sends.")
        .source("read: 360 kB over all flows of a burst, so 20 kB in a burst of 18"),
    Field::new("start_at", Kind::from(Unit::Time, 0.0, 1e6), Value::Real(0.0))
        .meaning("When the burst starts.")
        .source("constructed"),
    Field::new("start_spread", Kind::from(Unit::Time, 0.0, 1e6), Value::Real(0.0))
        .meaning("The burst starts up to so much later: one uniform draw for all its flows.")
        .source("read: the start of the later burst is random; constructed: how"),
];

/// Builds the flows of a burst.
///
/// # Errors
/// If either side has no machine.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("flows in a burst")?;
    let bytes = params.whole("bytes");
    let draw = Rng::named(group.seed, &format!("{}.start", group.name)).uniform();
    let start =
        Duration::from_secs_f64(params.real("start_at") + params.real("start_spread") * draw);
    let group = group.clone();
    Ok(Population::new(group.sources, move |i| Bulk::new(group.peer_of(i), start, bytes, None)))
}
