//! Weighted round robin of a classic and a scalable queue: of DualPI2 and of Low Latency DOCSIS.

use crate::shells::pool::Queue;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Classic,
    Scalable,
}

/// Weighted round robin between two queues, by bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    start: i64,
    /// Weights in percent.
    classic: i64,
    /// The scalable queue is served while this is not positive.
    pub(crate) value: i64,
}

impl Credit {
    /// `classic` is the classic queue's weight in percent.
    pub(crate) const fn new(mtu: i64, classic: i64) -> Self {
        let start = mtu * (classic - (100 - classic));
        Credit { start, classic, value: start }
    }

    /// Whose turn it is, and what the turn costs per byte; `None` if nothing waits.
    pub(crate) fn turn(&mut self, classic: &Queue, scalable: &Queue) -> Option<(Which, i64)> {
        if !scalable.is_empty() && (classic.is_empty() || self.value <= 0) {
            let cost = if classic.is_empty() { 0 } else { self.classic };
            return Some((Which::Scalable, cost));
        }
        if !classic.is_empty() {
            let cost = if scalable.is_empty() { 0 } else { self.classic - 100 };
            return Some((Which::Classic, cost));
        }
        self.value = self.start;
        None
    }

    /// A packet has left in a turn of this cost.
    pub(crate) fn pay(&mut self, cost: i64, bytes: u32) {
        self.value += cost * i64::from(bytes);
    }
}
