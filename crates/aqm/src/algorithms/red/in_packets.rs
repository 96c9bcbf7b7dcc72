//! Parameters and settings of the members of the family that count packets and know only the RED
//! of the paper and of the two simulators underneath.

use alloc::format;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::average::PacketClock;
use super::family::plain;
use super::settings::{Profile, Settings};
use crate::buffer;
use crate::{BufferLimit, Fit, Line};

const PACKETS: Kind = Kind::Real { unit: Unit::Packets, min: 0.0, max: 1e8, open: true };
/// A probability above zero.
pub(crate) const PROBABILITY: Kind =
    Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true };

/// `min_th`.
pub(crate) const MIN_TH: Field = Field {
    name: "min_th",
    meaning: "Average queue below which every packet passes.",
    kind: PACKETS,
    default: Value::Real(5.0),
    source: "Floyd and Jacobson 1993 (recalled)",
};
/// `max_th`.
pub(crate) const MAX_TH: Field = Field {
    name: "max_th",
    meaning: "Average queue at which the probability reaches max_p.",
    kind: PACKETS,
    default: Value::Real(15.0),
    source: "Floyd and Jacobson 1993 (recalled)",
};
/// `w_q`.
pub(crate) const W_Q: Field = Field {
    name: "w_q",
    meaning: "Weight of the newest sample in the average.",
    kind: PROBABILITY,
    default: Value::Real(0.002),
    source: "Floyd and Jacobson 1993 (recalled); read: ns-3",
};
/// `gentle`, on in the simulators.
pub(crate) const GENTLE: Field = Field {
    name: "gentle",
    meaning: "Whether the probability grows from max_p to 1 between max_th and twice max_th. \
              fj93: false; ns2, ns3: true.",
    kind: Kind::Switch,
    default: Value::Unset,
    source: "read: ns-2.35 gentle_, ns-3 Gentle",
};
/// `mean_packet_bytes`.
pub(crate) const MEAN_PACKET_BYTES: Field = Field {
    name: "mean_packet_bytes",
    meaning: "The packet of the idle clock. fj93: 1000; ns2, ns3: 500.",
    kind: Kind::Whole { unit: Unit::Bytes, min: 1, max: 1_000_000 },
    default: Value::Unset,
    source: "read: ns-2.35 mean_pktsize_, ns-3 MeanPktSize; fj93 constructed",
};
/// `limit`.
pub(crate) const LIMIT: Field = Field {
    name: "limit",
    meaning: "Packets that may wait.",
    kind: buffer::LIMIT,
    default: Value::Whole(60),
    source: "constructed: four times max_th",
};
/// `ecn`.
pub(crate) const ECN: Field = Field { source: "ns-2.35 setbit_, ns-3 UseEcn: off", ..buffer::ECN };

/// The settings of `profile`'s judge from the fields above but `gentle`, which not all have.
///
/// # Errors
/// If `min_th` is not below `max_th`.
pub(crate) fn settings(
    params: &Params,
    line: &Line,
    profile: Profile,
    max_p: f64,
    gentle: bool,
) -> Result<Settings, BadParams> {
    let simulator = profile != Profile::Fj93;
    let (min_th, max_th) = (params.real("min_th"), params.real("max_th"));
    if min_th >= max_th {
        let why = format!(
            "{min_th} is not below max_th = {max_th}: RED needs a band between its thresholds; \
             give both, min_th the smaller"
        );
        return Err(BadParams::new("min_th", why));
    }
    let mean = params.whole_or("mean_packet_bytes", if simulator { 500 } else { 1000 }) as u32;
    let fit = if profile == Profile::Ns2 { Fit::Overhanging } else { Fit::Whole };
    Ok(Settings {
        gentle,
        mean_packet_bytes: mean,
        clock: PacketClock::of_line(line.rate, mean),
        ecn: params.switch("ecn"),
        limit: BufferLimit::of_packets(params.whole("limit") as u32, fit),
        ..plain(profile, (min_th, max_th), params.real("w_q"), max_p)
    })
}
