//! The list of end systems: one line each.

use packet::About;
use packet::params::{BadParams, Params};

use crate::profile::Profile;
use crate::profiles::{freebsd_2_2_8, freebsd_4_5, linux, ns2, ns2_full, plain, windows_nt4};

/// An end system of the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is, where its rules come from, its parameters.
    pub about: About,
    /// Makes the profile from checked parameters.
    ///
    /// # Errors
    /// Parameters that are each in range but do not fit together.
    pub build: fn(&Params) -> Result<Profile, BadParams>,
}

/// All end systems.
pub static PROFILES: &[Entry] = &[
    freebsd_2_2_8::ENTRY,
    freebsd_4_5::ENTRY,
    windows_nt4::ENTRY,
    ns2::ENTRY,
    ns2_full::ENTRY,
    plain::ENTRY,
    linux::ENTRY,
];

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    PROFILES.iter().find(|entry| entry.about.name == name)
}
