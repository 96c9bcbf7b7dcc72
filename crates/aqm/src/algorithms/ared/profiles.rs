//! The implementations of adaptive RED: the RED underneath each, and what it adds.

use crate::algorithms::family::{self, ALTQ as ALTQ_RED, FJ93, Given};
use crate::by_profile::{Stated, stated};

/// An implementation of adaptive RED.
#[derive(Clone, Copy)]
pub(super) struct Profile {
    /// Name of the profile, as users write it.
    pub name: &'static str,
    /// The RED profile underneath, which gives the algorithm, the mean packet size and the limits.
    pub underneath: &'static family::Profile,
    /// Unit of queue, thresholds and limit, where there is a choice: packet or byte.
    pub units: Stated<&'static str>,
    pub max_p: Stated<f64>,
    /// Value of `max_p` from which on it does not step down; at most 0.01.
    pub bottom: Stated<fn(&Given) -> f64>,
    /// Rule for the weight of the average where `w_q` is not given.
    pub automatic_w_q: Stated<&'static str>,
    /// Default limit in packets, as a function of `max_th`.
    pub limit: Stated<fn(f64) -> f64>,
    /// What a signal does to an ECN-capable packet while the average is at or above `max_th`: with
    /// the gentle curve, and without.
    pub above_max: [&'static str; 2],
}

pub(super) const FLOYD: Profile = Profile {
    name: "floyd",
    underneath: &FJ93,
    units: Stated::new("packet", "packet"),
    max_p: stated!(0.1),
    bottom: Stated::new(|_| 0.01, "0.01"),
    automatic_w_q: Stated::new("second", "second"),
    limit: Stated::new(|max_th| (4.0 * max_th).clamp(60.0, 1e8), "4 max_th, at least 60"),
    above_max: ["drop"; 2],
};

pub(super) const NS2: Profile = Profile {
    name: family::NS2.name,
    underneath: &family::NS2,
    units: Stated::new("byte", "byte"),
    bottom: Stated::new(
        |given| 80_000.0 / given.rate.bits_per_s() as f64,
        "min(0.01, 80000 bit/s over the line's rate)",
    ),
    automatic_w_q: Stated::new("ten-rtt", "ten-rtt"),
    limit: Stated::new(|_| 50.0, family::NS2.limit.text()),
    above_max: ["mark_in_gentle", "drop"],
    ..FLOYD
};

pub(super) const NS3: Profile = Profile {
    name: family::NS3.name,
    underneath: &family::NS3,
    max_p: family::NS3.max_p,
    bottom: Stated::new(
        |given| 8.0 * f64::from(given.mean) * 0.1 / given.rate.bits_per_s() as f64,
        "min(0.01, 100 ms times the transmission time of a mean packet, in seconds squared), its \
         error",
    ),
    limit: Stated::new(|_| 25.0, family::NS3.limit.text()),
    above_max: ["mark_in_gentle", "drop"],
    ..FLOYD
};

pub(super) const LINUX: Profile = Profile {
    name: family::LINUX.name,
    underneath: &family::LINUX,
    units: Stated::new("byte", "bytes without scaling, no choice"),
    max_p: family::LINUX.max_p,
    bottom: Stated::new(|_| 0.01, "0.01, fixed"),
    automatic_w_q: Stated::new("", "none"),
    limit: Stated::new(|_| 60.0, family::LINUX.limit.text()),
    above_max: ["mark_always"; 2],
};

/// ALTQ, in which the testbed of Le et al. had its adaptive RED.
pub(super) const ALTQ: Profile = Profile { name: ALTQ_RED.name, underneath: &ALTQ_RED, ..FLOYD };

/// Every profile, in the order of the documentation.
pub(super) const PROFILES: [&Profile; 5] = [&FLOYD, &NS2, &NS3, &ALTQ, &LINUX];

impl Profile {
    /// The profile called `name`.
    pub fn named(name: &str) -> &'static Self {
        let found = PROFILES.into_iter().find(|profile| profile.name == name);
        found.unwrap_or_else(|| panic!("{name} passed the check of profiles"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_paper_gives_no_buffer_it_holds_four_times_the_upper_threshold() {
        let limit = FLOYD.limit.value;
        assert_eq!([10.0, 15.0, 45.0].map(limit), [60.0, 60.0, 180.0]);
    }
}
