//! Profile `ns2`: RED of ns-2.35, with the two defects that `ns2-fixed` mends.

use packet::math;

use super::fj93;
use crate::Fit;
use crate::algorithms::red::gate;
use crate::algorithms::red::ns::Ns;
use crate::algorithms::red::profile::{Given, Limits, Profile, Program, Switch};
use crate::by_profile::{Stated, stated};

pub(crate) const PROFILE: Profile = Profile {
    name: "ns2",
    program: Program::Ns,
    judge: |settings| Ok(gate(Ns::new(settings), settings)),
    min_th: Stated::new(min_th, "half of what the line sends in 5 ms, at least 5"),
    max_th: Stated::new(|given| 3.0 * given.min_th.unwrap_or_else(|| min_th(given)), "3 min_th"),
    w_q: Stated::new(w_q, "1 - exp(-1/K), K ten round trips of 100 ms in packet times"),
    max_p: stated!(0.1),
    mean_packet_bytes: stated!(500),
    limit: stated!(50),
    limits: Limits::AsQueue,
    fit: Fit::Overhanging,
    gentle: Switch::Free(true),
    wait: Switch::Free(true),
    queue_in_bytes: Switch::Free(true),
    byte_probability: Switch::Free(true),
    harddrop: Switch::Fixed(true, "this program always drops where the signal is certain"),
    use_mark_p: Switch::Free(true),
    ns1_compat: Switch::Free(false),
    guarded: true,
    ..fj93::PROFILE
};

fn min_th(given: &Given) -> f64 {
    (0.005 * given.rate.bytes_per_s() / f64::from(given.mean) / 2.0).max(5.0)
}

fn w_q(given: &Given) -> f64 {
    let packets_per_s = given.packets_per_s();
    let rtt = (3.0 / packets_per_s).max(0.1);
    1.0 - math::exp(-1.0 / (10.0 * rtt * packets_per_s))
}
