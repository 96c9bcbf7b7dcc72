//! Profile `fj93`: the pseudocode of the 1993 paper. The other profiles take from it what they do
//! not change.

use crate::Fit;
use crate::algorithms::red::gate;
use crate::algorithms::red::paper::Paper;
use crate::algorithms::red::profile::{IdleClock, Limits, Profile, Program, Switch};
use crate::by_profile::{Stated, stated};

pub(crate) const PROFILE: Profile = Profile {
    name: "fj93",
    program: Program::Paper,
    judge: |settings| Ok(gate(Paper::new(settings), settings)),
    min_th: Stated::new(|_| 5.0, "5"),
    max_th: Stated::new(|_| 15.0, "15"),
    w_q: Stated::new(|_| 0.002, "0.002"),
    max_p: stated!(0.02),
    mean_packet_bytes: stated!(1000),
    idle_packet_time: Stated::new(IdleClock::OfLine, "mean_packet_bytes at the line's rate"),
    limit: stated!(60),
    limits: Limits::Both,
    fit: Fit::Whole,
    gentle: Switch::Free(false),
    wait: Switch::Fixed(false, "the wait rule exists in ns-2 and ns-3 only"),
    queue_in_bytes: Switch::Free(false),
    byte_probability: Switch::Free(false),
    harddrop: Switch::Free(true),
    nodrop: Switch::Fixed(false, "only Linux RED lets pass what it cannot mark"),
    use_mark_p: Switch::Fixed(false, "use_mark_p exists in ns-2 only"),
    ns1_compat: Switch::Fixed(false, "ns1_compat exists in ns-2 and ns-3 only"),
    ns1_inverted: false,
    guarded: false,
};
