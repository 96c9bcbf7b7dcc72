//! The undisturbed scoreboard: no segment in flight was reported, marked lost or retransmitted. The
//! list by time of sending then has the order of the record numbers, and acknowledgements remove
//! records from its front.

use super::{NONE, Record, Scoreboard};

impl Scoreboard {
    /// Notes that a segment was reported, marked lost or retransmitted.
    pub(super) fn touch(&mut self, number: u64) {
        self.untouched = self.untouched.max(number + 1);
    }

    /// Whether no segment in flight was reported, marked lost or retransmitted.
    #[inline(always)]
    pub fn is_untouched(&self) -> bool {
        self.first >= self.untouched
    }

    /// Clears the slots of the ring that hold no record.
    #[cfg(test)]
    pub fn forget_gone(&mut self) {
        let slots = self.ring.len() as u64;
        (self.next..self.first + slots)
            .for_each(|number| *self.get_mut(number) = Record::default());
    }

    /// The first and the last of the records that lie whole below `ack`, and how many there are.
    #[inline(always)]
    pub fn run_below(&self, ack: u64) -> Option<(&Record, &Record, u64)> {
        let first = self.first_below(ack)?;
        let (mut last, mut end) = (first, self.first + 1);
        while end < self.next {
            let record = self.get(end);
            if record.end > ack {
                break;
            }
            (last, end) = (record, end + 1);
        }
        Some((first, last, end - self.first))
    }

    /// Removes the first `count` records of an untouched board, of `bytes` bytes in all.
    #[inline(always)]
    pub fn pop_run(&mut self, count: u64, bytes: u64) {
        self.first += count;
        self.count(0, bytes);
        if self.is_empty() {
            (self.oldest, self.newest) = (NONE, NONE);
        } else {
            let first = self.first;
            self.oldest = first;
            self.get_mut(first).before = NONE;
        }
    }
}
