//! The implementations of RED, one file each.

mod altq;
mod fj93;
mod linux;
mod ns2;
mod ns2_fixed;
mod ns3;

use super::profile::Profile;

/// Every profile, in the order of the documentation. A new one adds its line here.
#[rustfmt::skip]
pub(crate) const PROFILES: [&Profile; 6] = [
    &fj93::PROFILE,
    &ns2::PROFILE,
    &ns2_fixed::PROFILE,
    &ns3::PROFILE,
    &altq::PROFILE,
    &linux::PROFILE,
];

/// The profiles that other disciplines build on.
pub(crate) use altq::PROFILE as ALTQ;
pub(crate) use fj93::PROFILE as FJ93;
pub(crate) use linux::PROFILE as LINUX;
pub(crate) use ns2::PROFILE as NS2;
pub(crate) use ns3::PROFILE as NS3;

/// The profile called `name`.
pub(crate) fn named(name: &str) -> &'static Profile {
    let found = PROFILES.into_iter().find(|profile| profile.name == name);
    found.unwrap_or_else(|| panic!("{name} passed the check of profiles"))
}
