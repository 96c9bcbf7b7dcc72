//! The description that every registry keeps of each of its entries.

use crate::params::Field;

/// Description of one entry of a registry: a queue discipline, an end system, a congestion control,
/// an application or a kind of access. The registry's entry adds the constructor.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Name by which users choose the entry.
    pub name: &'static str,
    /// What the entry is or does, in one sentence.
    pub summary: &'static str,
    /// Year of the publication or program that the entry follows, or of its newest rule.
    pub year: u16,
    /// Paper, RFC or program that the entry follows; parts without a source, which are our
    /// own choice, are called "constructed".
    pub source: &'static str,
    /// Differences from existing implementations, with the reasons.
    pub deviations: &'static str,
    /// Parameters of the entry.
    pub fields: &'static [Field],
}
