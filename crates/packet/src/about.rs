//! What every registry says of each of its variants.

use crate::params::Field;

/// A variant of something: a queue discipline, an end system, a congestion control, an
/// application, a kind of access. Its entry in the registry adds how it is made.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name users write.
    pub name: &'static str,
    /// What it is or does, in one sentence.
    pub summary: &'static str,
    /// Year of the publication, the program, or its youngest rule.
    pub year: u16,
    /// Paper, RFC or program it follows; what is constructed is named as such.
    pub source: &'static str,
    /// Where it differs from which implementation, and why.
    pub deviations: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
}
