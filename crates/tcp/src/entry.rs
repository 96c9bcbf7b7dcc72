//! The entry of an end system in the list of them.

use packet::About;
use packet::params::{BadParams, Params};

use crate::congestion::Controls;
use crate::profile::Profile;

/// An end system of the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, description, source of its rules, and parameters.
    pub about: About,
    /// Builds the profile from checked parameters, which may name one of the given congestion
    /// controls.
    ///
    /// # Errors
    /// Parameters that are each in range but do not fit together.
    pub build: fn(&Params, &Controls) -> Result<Profile, BadParams>,
}
