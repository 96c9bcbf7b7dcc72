//! Weighted round robin between a classic and a scalable queue, for DualPI2 and Low Latency DOCSIS.

use crate::shells::pool::Queue;

/// The classic or the scalable queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Classic,
    Scalable,
}

/// Weighted round robin between two queues, by bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    start: i64,
    /// Weight of the classic queue, in percent.
    classic: i64,
    /// The classic queue's credit, in bytes times percent: bytes sent by the scalable queue raise
    /// it, bytes sent by the classic queue lower it. The scalable queue is served while it is not
    /// positive.
    pub(crate) value: i64,
}

impl Credit {
    /// The credit before the first packet; `classic` is the classic queue's weight in percent,
    /// `mtu` is in bytes.
    pub(crate) const fn new(mtu: i64, classic: i64) -> Self {
        let start = mtu * (classic - (100 - classic));
        Credit { start, classic, value: start }
    }

    /// The queue whose turn it is, and the change of the credit per byte that it sends; `None` if
    /// both queues are empty.
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

    /// Charges the credit for a packet of `bytes` bytes that has left, at `cost` per byte.
    pub(crate) fn pay(&mut self, cost: i64, bytes: u32) {
        self.value += cost * i64::from(bytes);
    }
}
