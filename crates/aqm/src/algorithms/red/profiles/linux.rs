//! Profile `linux`: Linux `sch_red` with the tables of iproute2's `tc`.

use super::fj93;
use crate::algorithms::red::gate;
use crate::algorithms::red::linux::Linux;
use crate::algorithms::red::profile::{Given, Limits, Profile, Program, Switch};
use crate::algorithms::red::settings::weight_for_burst;
use crate::by_profile::Stated;

pub(crate) const PROFILE: Profile = Profile {
    name: "linux",
    program: Program::Linux,
    judge: |settings| Ok(gate(Linux::new(settings)?, settings)),
    min_th: Stated::new(min_th, "max_th/3"),
    max_th: Stated::new(max_th, "3 min_th if that is given, else a quarter of the limit"),
    w_q: Stated::new(
        |given| weight_for_burst(min_th(given), max_th(given)),
        "the largest that lets a burst of (2 min_th + max_th)/3 packets pass",
    ),
    limits: Limits::AsQueue,
    gentle: Switch::Fixed(false, "Linux RED has no gentle mode"),
    queue_in_bytes: Switch::Fixed(true, "Linux RED counts bytes throughout"),
    byte_probability: Switch::Fixed(
        false,
        "Linux RED does not scale its probability by packet size",
    ),
    harddrop: Switch::Free(false),
    nodrop: Switch::Free(false),
    ..fj93::PROFILE
};

fn min_th(given: &Given) -> f64 {
    given.min_th.unwrap_or_else(|| max_th(given) / 3.0)
}

fn max_th(given: &Given) -> f64 {
    let quarter = || given.limit_bytes as f64 / f64::from(given.mean) / 4.0;
    given.max_th.unwrap_or_else(|| given.min_th.map_or_else(quarter, |min| 3.0 * min))
}
