//! What the list of end systems says of each.

use packet::About;
use packet::params::{BadParams, Params};

use crate::congestion::Controls;
use crate::profile::Profile;

/// An end system of the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is, where its rules come from, its parameters.
    pub about: About,
    /// Makes the profile from checked parameters, which may choose one of these congestion controls.
    ///
    /// # Errors
    /// Parameters that are each in range but do not fit together.
    pub build: fn(&Params, &Controls) -> Result<Profile, BadParams>,
}
