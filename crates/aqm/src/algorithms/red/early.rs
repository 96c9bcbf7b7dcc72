//! AQM algorithms in two steps: sample, then decide.

use packet::{Backlog, Instant, Packet, Rng};

use super::curve::Curve;
use crate::{Aqm, Verdict};

/// An AQM that first samples an arrival and then decides on it, so that its caller can act in
/// between.
pub(crate) trait Early: Aqm {
    /// Updates the average and the counts.
    fn sample(&mut self, packet: &Packet, backlog: Backlog, now: Instant);
    /// Decides on the packet just sampled.
    fn decide(&mut self, packet: &Packet, backlog: Backlog, rng: &mut Rng) -> Verdict;
    /// The average, in the unit in which the queue is measured.
    fn average(&self) -> f64;
    /// The curve of p_b over the average.
    fn curve(&mut self) -> &mut Curve;
}
