//! Parameters and ranges of values that most disciplines share, such as buffer limits and the ECN
//! switch. The public ones are also for a user's own disciplines.

use packet::Backlog;
use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use crate::{BufferLimit, Fit};

/// Range of a buffer limit, in packets.
pub const LIMIT: Kind = Kind::whole(Unit::Packets, 1, 100_000_000);
/// Range of a packet's size, in bytes.
pub(crate) const PACKET_BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1_000_000);
/// Range of a number of IP bytes that may wait.
pub(crate) const BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1_000_000_000_000);
/// Range of a threshold or an average, in packets.
pub(crate) const PACKETS: Kind = Kind::above(Unit::Packets, 0.0, 1e8);
/// Range of a probability above zero.
pub(crate) const PROBABILITY: Kind = Kind::above(Unit::None, 0.0, 1.0);
/// Range of a controller's gain.
pub(crate) const GAIN: Kind = Kind::from(Unit::None, 0.0, 1e3);
/// Range of a time above zero, in seconds.
pub(crate) const TIME: Kind = Kind::above(Unit::Time, 0.0, 1e3);

/// Parameter `mean_packet_bytes` of a discipline whose average counts packets.
pub(crate) const MEAN_PACKET: Field =
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000)).meaning(
        "Mean packet size: at the line's rate it is the clock by which the average ages while the \
         line idles.",
    );

/// Parameter `limit_bytes`, in addition to or in place of `limit`.
pub const LIMIT_BYTES: Field = Field::new("limit_bytes", BYTES, Value::Unset)
    .meaning("IP bytes that may wait; no such limit unless given.")
    .source("constructed");

/// Parameter `limit` with a default of 200 packets, which the discipline passes to [`limit`].
pub(crate) const LIMIT_200: Field = Field::new("limit", LIMIT, Value::Unset).meaning(
    "Packets that may wait, not counting the one being transmitted. 200 unless limit_bytes is \
     given.",
);

/// Parameter `limit` with a default of 100 packets.
pub(crate) const LIMIT_100: Field = LIMIT_200.meaning(
    "Packets that may wait, not counting the one being transmitted. 100 unless limit_bytes is \
     given.",
);

/// Parameter `ecn`, off by default.
pub const ECN: Field = Field::new("ecn", Kind::Switch, Value::Switch(false))
    .meaning("Whether ECN-capable packets are marked where others are dropped by a signal.")
    .source("constructed: off, as in ns-2.35 and Linux");

/// Parameter `spare_short_queue` of algorithms that control the instantaneous queue.
pub(crate) const SPARE_SHORT_QUEUE: Field = Field::new(
    "spare_short_queue",
    Kind::Switch,
    Value::Switch(false),
)
.meaning(
    "Whether nothing is signalled while at most one packet waits, as in the published \
             modules of ALTQ.",
)
.source(
    "read: altq_red.c, altq_blue.c (qlen > 1); whether the testbed of Le et al. had it is not \
             established",
);

/// Whether `backlog` is too short for a signal where [`SPARE_SHORT_QUEUE`] is on.
#[inline]
pub(crate) const fn is_spared(spares: bool, backlog: Backlog) -> bool {
    spares && backlog.packets <= 1
}

/// The buffer limit from the parameters `limit` and `limit_bytes`; `packets` packets if neither is
/// given.
pub fn limit(params: &Params, packets: u64) -> BufferLimit {
    let in_packets =
        || BufferLimit::of_packets(params.whole_or("limit", packets) as u32, Fit::Whole);
    match (params.given("limit"), params.given("limit_bytes")) {
        (_, false) => in_packets(),
        (false, true) => BufferLimit::of_bytes(params.whole("limit_bytes"), Fit::Whole),
        (true, true) => in_packets().and_bytes(params.whole("limit_bytes")),
    }
}
