//! The ranges that the peer has reported by SACK as received out of order.

use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};

/// Reported ranges above `una`, ascending, never touching. Empty (no heap) without loss.
#[derive(Clone, Debug, Default)]
pub(super) struct Board(Vec<(u64, u64)>);

impl Board {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Adds the SACK blocks of an acknowledgement. Returns the number of newly reported bytes.
    pub fn process(&mut self, snd: &SendState, segment: &Segment) -> u64 {
        let clipped = segment.sack.as_slice().iter().map(|&(start, end)| {
            let start = (segment.ack + u64::from(start)).max(snd.una);
            (start, (segment.ack + u64::from(end)).min(snd.max))
        });
        clipped.filter(|&(start, end)| start < end).map(|(s, e)| self.report(s, e)).sum()
    }

    /// Adds a reported range. Returns how many of its bytes are newly reported.
    fn report(&mut self, mut start: u64, mut end: u64) -> u64 {
        let first = self.0.partition_point(|r| r.1 < start);
        let mut last = first;
        let mut known = 0;
        while let Some(&(s, e)) = self.0.get(last).filter(|r| r.0 <= end) {
            if s <= start && e >= end {
                return 0;
            }
            (start, end) = (start.min(s), end.max(e));
            known += e - s;
            last += 1;
        }
        if last == first + 1 {
            self.0[first] = (start, end);
        } else {
            self.0.splice(first..last, [(start, end)]);
        }
        end - start - known
    }

    /// Removes the ranges below `una`. Returns the number of bytes removed.
    pub fn drop_below(&mut self, una: u64) -> u64 {
        let gone = self.0.partition_point(|r| r.1 <= una);
        let mut bytes = self.0.drain(..gone).map(|(s, e)| e - s).sum();
        if let Some(first) = self.0.first_mut().filter(|r| r.0 < una) {
            bytes += una - first.0;
            first.0 = una;
        }
        bytes
    }

    /// The first segment from `seq` on and below `limit` that is not reported.
    pub fn hole(&self, snd: &SendState, mut seq: u64, limit: u64) -> Option<Chunk> {
        let mut stop = limit;
        for &(start, end) in &self.0 {
            if start > seq {
                stop = stop.min(start);
                break;
            }
            seq = seq.max(end);
        }
        (seq < stop).then(|| snd.chunk(seq, stop))
    }

    /// The first unacknowledged segment.
    pub fn first(&self, snd: &SendState) -> Chunk {
        snd.chunk(snd.una, self.0.first().map_or(u64::MAX, |r| r.0))
    }

    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}
