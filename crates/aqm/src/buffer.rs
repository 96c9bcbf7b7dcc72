//! Parameters that most disciplines share: the buffer's limits and the ECN switch.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use crate::{BufferLimit, Fit};

/// Packets a buffer may be said to hold.
pub(crate) const LIMIT: Kind = Kind::Whole { unit: Unit::Packets, min: 1, max: 100_000_000 };
/// A packet's size.
pub(crate) const PACKET_BYTES: Kind = Kind::Whole { unit: Unit::Bytes, min: 1, max: 1_000_000 };
/// A time above zero.
pub(crate) const TIME: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 1e3, open: true };

/// `limit_bytes`, in addition to or in place of `limit`.
pub(crate) const LIMIT_BYTES: Field = Field {
    name: "limit_bytes",
    meaning: "IP bytes that may wait; no such limit unless given.",
    kind: Kind::Whole { unit: Unit::Bytes, min: 1, max: 1_000_000_000_000 },
    default: Value::Unset,
    source: "constructed",
};

/// `ecn`, off unless asked for.
pub(crate) const ECN: Field = Field {
    name: "ecn",
    meaning: "Whether ECN-capable packets are marked where others are dropped by a signal.",
    kind: Kind::Switch,
    default: Value::Switch(false),
    source: "constructed: off, as in ns-2.35 and Linux",
};

/// The limit written as `limit` and `limit_bytes`; `packets` of them if neither is given.
pub(crate) fn limit(params: &Params, packets: u64) -> BufferLimit {
    let in_packets =
        || BufferLimit::of_packets(params.whole_or("limit", packets) as u32, Fit::Whole);
    match (params.given("limit"), params.given("limit_bytes")) {
        (_, false) => in_packets(),
        (false, true) => BufferLimit::of_bytes(params.whole("limit_bytes"), Fit::Whole),
        (true, true) => in_packets().and_bytes(params.whole("limit_bytes")),
    }
}
