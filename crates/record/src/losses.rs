//! Segments lost in the network, and the loss episodes of their senders.

use crate::Summary;
use crate::measure::{Measure, SEGMENTS, Unit, whole};

const EPISODES: Unit = Unit::of("episodes");

/// Segments with payload that queues dropped, in the measured interval.
///
/// A loss episode of a sender begins when one of its segments is dropped while no episode is open,
/// and lasts until all that it had sent by then is acknowledged. It counts if it began in the
/// measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of segments dropped, retransmissions included.
    pub segments: u64,
    /// Number of lost segments that were retransmissions.
    pub retransmissions: u64,
    /// Number of loss episodes.
    pub episodes: u64,
    /// Number of loss episodes in which two or more different segments were dropped.
    pub multiple: u64,
    /// Number of loss episodes in which a retransmission timer expired.
    pub timeout: u64,
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Losses>] = &[
    whole("segments_lost", SEGMENTS, "segments lost", |l| l.segments,
        "with payload dropped at any queue or by a script, retransmissions included"),
    whole("retransmissions_lost", SEGMENTS, "lost retransmissions", |l| l.retransmissions,
        "of these, sent before (the first byte of them at least)"),
    whole("loss_episodes", EPISODES, "loss episodes", |l| l.episodes,
        "that began in the measured interval, over both ends of every connection. An episode of an end \
         begins when a segment with payload that is not yet acknowledged is dropped while none is open, \
         and lasts until all that this end had sent by then is acknowledged"),
    whole("loss_episodes_multiple", EPISODES, "episodes with several losses", |l| l.multiple,
        "of these, in which a second segment was dropped. A retransmission dropped is not a second one; \
         a segment sent after the episode began is"),
    whole("loss_episodes_timeout", EPISODES, "episodes with a timeout", |l| l.timeout,
        "of these, in which the end's retransmission timer expired"),
];

impl Losses {
    /// Writes the measures.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
    }
}
