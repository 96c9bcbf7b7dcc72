//! The scoreboard's list by time of sending: RACK scans it for losses (RFC 8985 section 5.1).

use super::{NONE, Record, Scoreboard};

impl Scoreboard {
    /// Puts a record at the end of the list by time.
    pub(super) fn link(&mut self, number: u64) {
        let newest = std::mem::replace(&mut self.newest, number);
        if newest == NONE {
            self.oldest = number;
        } else {
            self.get_mut(newest).after = number;
        }
        let record = self.get_mut(number);
        (record.before, record.after) = (newest, NONE);
    }

    pub(super) fn unlink(&mut self, number: u64) {
        let Record { before, after, .. } = *self.get(number);
        if before == NONE {
            self.oldest = after;
        } else {
            self.get_mut(before).after = after;
        }
        if after == NONE {
            self.newest = before;
        } else {
            self.get_mut(after).before = before;
        }
    }

    /// Inserts a record into the list by time of sending, by its transmission. The search starts at
    /// the record `near` if that was sent before, else at the oldest one.
    pub(super) fn insert(&mut self, number: u64, near: u64) {
        let turn = self.get(number).turn;
        let from = Some(near).filter(|&near| near != NONE && self.get(near).turn < turn);
        let (mut before, mut after) =
            from.map_or((NONE, self.oldest), |near| (near, self.get(near).after));
        while after != NONE && self.get(after).turn < turn {
            (before, after) = (after, self.get(after).after);
        }
        match before {
            NONE => self.oldest = number,
            before => self.get_mut(before).after = number,
        }
        match after {
            NONE => self.newest = number,
            after => self.get_mut(after).before = number,
        }
        let record = self.get_mut(number);
        (record.before, record.after) = (before, after);
    }

    /// The first record of the list: of the segments in flight, the one sent longest ago.
    pub fn oldest(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }
    pub fn after(&self, number: u64) -> Option<u64> {
        let after = self.get(number).after;
        (after != NONE).then_some(after)
    }
}
