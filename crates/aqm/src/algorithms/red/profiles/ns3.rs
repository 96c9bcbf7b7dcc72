//! Profile `ns3`: RED of ns-3, which counts packets or bytes by the unit of its `MaxSize`.

use packet::Rate;
use packet::params::{Params, Value};

use super::{fj93, ns2};
use crate::Fit;
use crate::algorithms::red::profile::{IdleClock, Profile, Switch};
use crate::by_profile::{Stated, stated};

pub(crate) const PROFILE: Profile = Profile {
    name: "ns3",
    min_th: fj93::PROFILE.min_th,
    max_th: fj93::PROFILE.max_th,
    w_q: fj93::PROFILE.w_q,
    max_p: stated!(0.02),
    idle_packet_time: Stated::new(
        IdleClock::At(Rate::from_bits_per_s(1_500_000)),
        "mean_packet_bytes at 1.5 Mbit/s whatever the line (LinkBandwidth's default: set this to \
         bind it to the line)",
    ),
    limit: stated!(25),
    fit: Fit::Whole,
    queue_in_bytes: Switch::Follows("true if limit_bytes is given", |params| {
        params.given("limit_bytes")
    }),
    byte_probability: Switch::Follows("as queue_in_bytes", in_bytes),
    harddrop: Switch::Free(true),
    use_mark_p: fj93::PROFILE.use_mark_p,
    ns1_inverted: true,
    ..ns2::PROFILE
};

fn in_bytes(params: &Params) -> bool {
    match params.value("queue_in_bytes") {
        Value::Switch(on) => on,
        _ => params.given("limit_bytes"),
    }
}
