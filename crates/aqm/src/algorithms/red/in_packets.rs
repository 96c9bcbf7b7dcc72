//! Parameters and settings of the RED variants that count packets and build on the RED of the
//! paper, ns-2 or ns-3.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::family::plain;
use super::profile::{Profile, band};
use super::profiles::{FJ93, NS2, NS3};
use super::settings::Settings;
use crate::buffer::{self, PACKET_BYTES, PACKETS};
use crate::by_profile::by_profile;
use crate::idle::PacketClock;
use crate::{BufferLimit, Line};

/// Kind of a parameter that is a probability above zero.
pub(crate) const PROBABILITY: Kind = Kind::above(Unit::None, 0.0, 1.0);

/// The profiles on which these variants build; here all count packets.
pub(crate) const PROFILES: [&Profile; 3] = [&FJ93, &NS2, &NS3];

pub(crate) const MIN_TH: Field = Field::new("min_th", PACKETS, Value::Real(5.0))
    .meaning("Average queue below which every packet passes.")
    .source("Floyd and Jacobson 1993 (recalled)");
pub(crate) const MAX_TH: Field = Field::new("max_th", PACKETS, Value::Real(15.0))
    .meaning("Average queue at which the probability reaches max_p.")
    .source("Floyd and Jacobson 1993 (recalled)");
pub(crate) const W_Q: Field = Field::new("w_q", PROBABILITY, Value::Real(0.002))
    .meaning("Weight of the newest sample in the average.")
    .source("Floyd and Jacobson 1993 (recalled); read: ns-3");
/// The switch `gentle`, by default on in ns-2 and ns-3.
pub(crate) const GENTLE: Field = Field::new("gentle", Kind::Switch, Value::Unset)
    .meaning(by_profile!(
        "Whether the probability grows from max_p to 1 between max_th and twice max_th.",
        PROFILES,
        gentle
    ))
    .source("read: ns-2.35 gentle_, ns-3 Gentle");
pub(crate) const MEAN_PACKET_BYTES: Field =
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(by_profile!("The packet of the idle clock.", PROFILES, mean_packet_bytes))
        .source("read: ns-2.35 mean_pktsize_, ns-3 MeanPktSize; fj93 constructed");
pub(crate) const LIMIT: Field = Field::new("limit", buffer::LIMIT, Value::Whole(60))
    .meaning("Packets that may wait.")
    .source("constructed: four times max_th");
pub(crate) const ECN: Field = Field { source: "ns-2.35 setbit_, ns-3 UseEcn: off", ..buffer::ECN };

/// RED's settings after `profile` and the parameters above, except `gentle`, which not every
/// variant has.
///
/// # Errors
/// If `min_th` is not below `max_th`.
pub(crate) fn settings(
    params: &Params,
    line: &Line,
    profile: &'static Profile,
    max_p: f64,
    gentle: bool,
) -> Result<Settings, BadParams> {
    let band = band(params.real("min_th"), params.real("max_th"))?;
    let mean =
        params.whole_or("mean_packet_bytes", u64::from(profile.mean_packet_bytes.value)) as u32;
    Ok(Settings {
        gentle,
        clock: PacketClock::of_line(line.rate, mean),
        ecn: params.switch("ecn"),
        limit: BufferLimit::of_packets(params.whole("limit") as u32, profile.fit),
        ..plain(profile, band, params.real("w_q"), max_p)
    })
}
