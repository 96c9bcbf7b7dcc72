//! Parameters that most disciplines share: the buffer's limits and the ECN switch. Those of every
//! judge are for a user's own disciplines as well.

use packet::Backlog;
use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use crate::{BufferLimit, Fit};

/// Packets a buffer may be said to hold.
pub const LIMIT: Kind = Kind::whole(Unit::Packets, 1, 100_000_000);
/// A packet's size.
pub(crate) const PACKET_BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1_000_000);
/// IP bytes that may wait.
pub(crate) const BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1_000_000_000_000);
/// A threshold or an average in packets.
pub(crate) const PACKETS: Kind = Kind::above(Unit::Packets, 0.0, 1e8);
/// A probability above zero.
pub(crate) const PROBABILITY: Kind = Kind::above(Unit::None, 0.0, 1.0);
/// A controller's gain.
pub(crate) const GAIN: Kind = Kind::from(Unit::None, 0.0, 1e3);
/// A time above zero.
pub(crate) const TIME: Kind = Kind::above(Unit::Time, 0.0, 1e3);

/// `mean_packet_bytes` of an average that counts packets.
pub(crate) const MEAN_PACKET: Field =
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000)).meaning(
        "Mean packet size: at the line's rate it is the clock by which the average ages while the \
         line idles.",
    );

/// `limit_bytes`, in addition to or in place of `limit`.
pub const LIMIT_BYTES: Field = Field::new("limit_bytes", BYTES, Value::Unset)
    .meaning("IP bytes that may wait; no such limit unless given.")
    .source("constructed");

/// `limit` where [`limit`] is called with 200.
pub(crate) const LIMIT_200: Field = Field::new("limit", LIMIT, Value::Unset).meaning(
    "Packets that may wait, not counting the one being transmitted. 200 unless limit_bytes is \
     given.",
);

/// [`LIMIT_200`] with 100 as default.
pub(crate) const LIMIT_100: Field = LIMIT_200.meaning(
    "Packets that may wait, not counting the one being transmitted. 100 unless limit_bytes is \
     given.",
);

/// `ecn`, off by default.
pub const ECN: Field = Field::new("ecn", Kind::Switch, Value::Switch(false))
    .meaning("Whether ECN-capable packets are marked where others are dropped by a signal.")
    .source("constructed: off, as in ns-2.35 and Linux");

/// `spare_short_queue`, of controllers of the instantaneous queue.
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

/// The limit written as `limit` and `limit_bytes`; `packets` of them if neither is given.
pub fn limit(params: &Params, packets: u64) -> BufferLimit {
    let in_packets =
        || BufferLimit::of_packets(params.whole_or("limit", packets) as u32, Fit::Whole);
    match (params.given("limit"), params.given("limit_bytes")) {
        (_, false) => in_packets(),
        (false, true) => BufferLimit::of_bytes(params.whole("limit_bytes"), Fit::Whole),
        (true, true) => in_packets().and_bytes(params.whole("limit_bytes")),
    }
}
