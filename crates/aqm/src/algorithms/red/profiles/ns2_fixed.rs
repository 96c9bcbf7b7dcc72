//! Profile `ns2-fixed`: RED of ns-2.35, mended as in Järvinen et al., *Harsh RED* (2012).

use super::ns2;
use crate::Fit;
use crate::algorithms::red::profile::{Limits, Profile, Switch};

pub(crate) const PROFILE: Profile = Profile {
    name: "ns2-fixed",
    limits: Limits::Bytes,
    fit: Fit::Whole,
    gentle: Switch::Free(false),
    queue_in_bytes: Switch::Free(false),
    use_mark_p: Switch::Fixed(
        false,
        "Harsh RED is defined by its certain drops, which use_mark_p removes",
    ),
    guarded: false,
    ..ns2::PROFILE
};
