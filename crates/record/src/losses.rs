//! Data lost on the way, and the episodes in which it was lost.

use crate::Summary;

/// Segments with payload that queues dropped, in the measured interval.
///
/// A loss episode of a sender begins when one of its segments is dropped while no episode is open,
/// and lasts until all that it had sent by then is acknowledged. It counts if it began in the
/// measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Segments dropped, retransmissions included.
    pub segments: u64,
    /// Of these, retransmissions.
    pub retransmissions: u64,
    /// Loss episodes.
    pub episodes: u64,
    /// Of these, with two or more different segments dropped.
    pub multiple: u64,
    /// Of these, in which a retransmission timer expired.
    pub timeout: u64,
}

impl Losses {
    /// The figures.
    pub fn summarise(&self, out: &mut Summary) {
        out.whole("segments_lost", self.segments);
        out.whole("retransmissions_lost", self.retransmissions);
        out.whole("loss_episodes", self.episodes);
        out.whole("loss_episodes_multiple", self.multiple);
        out.whole("loss_episodes_timeout", self.timeout);
    }
}
