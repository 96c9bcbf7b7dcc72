//! Taking the next event out of the set: from the earliest slot, whose events move to lower levels
//! or, where they are of one instant, are put in order.

use packet::Instant;

use super::blocks::{List, Node};
use super::digits::{Digit, WORD};
use super::lanes::{Turn, Waiting, time, turn};
use super::shared::MARK;
use super::{EventQueue, FEW, NONE};

/// The outcome of an attempt to take the first event of a slot.
enum Taken {
    /// It was in this place, and is in no list any more.
    At(u32),
    /// An event in a lane comes first, or the limit.
    TooLate,
    /// They are many, or the first of them is a mark.
    Many,
}

impl<E: Copy> EventQueue<E> {
    /// Takes the next event at or before `limit`.
    #[cfg(test)]
    pub fn next(&mut self, limit: Instant) -> Option<(Instant, E)> {
        self.next_wanted(limit, |_| true)
    }

    /// Takes the next event at or before `limit`. Of events that share an instant those that are not
    /// `wanted` may be left out; they count as served. (Most timers of a host's tick are of connections
    /// that are over: to put them in order would be their greatest cost.)
    #[inline]
    pub fn next_wanted(
        &mut self,
        limit: Instant,
        wanted: impl Fn(&E) -> bool,
    ) -> Option<(Instant, E)> {
        let limit = limit.nanos();
        let in_lane = self.lanes.next_at;
        if in_lane < self.earliest && in_lane <= limit {
            return self.serve_lane();
        }
        loop {
            if !self.simultaneous.is_empty() {
                return self.next_simultaneous(limit, &wanted);
            }
            if self.words == 0 {
                self.earliest = u64::MAX;
                return self.serve_lane_until(limit);
            }
            let word = self.words.trailing_zeros() as usize;
            let slot = word * WORD + self.occupied[word].trailing_zeros() as usize;
            let List { head, tail } = self.lists[slot];
            if head != tail && word != 0 {
                match self.take_of_few(slot, limit) {
                    Taken::At(index) => return Some(self.serve(index)),
                    Taken::TooLate => return self.serve_lane_until(limit),
                    Taken::Many => {}
                }
                if !self.descend(slot, limit) {
                    return self.serve_lane_until(limit);
                }
                continue;
            }
            // The only event of the earliest slot is the next one, whatever its level; a
            // slot of the lowest level holds events of one instant.
            let first = &self.blocks[head];
            if in_lane < first.at || first.at > limit {
                self.earliest = first.at;
                return self.serve_lane_until(limit);
            }
            if head != tail {
                match self.take_first(slot) {
                    Taken::At(index) => return Some(self.serve(index)),
                    Taken::TooLate => return self.serve_lane(),
                    Taken::Many => {}
                }
            } else if in_lane == first.at && self.lanes.next_turn() <= turn(first.at, first.order) {
                return self.serve_lane();
            } else if first.order != MARK {
                self.clear(slot);
                self.blocks.free(head);
                return Some(self.serve(head));
            }
            self.gather(slot, &wanted);
        }
    }

    /// Hands out the event in this place, which is in no list any more.
    #[inline]
    fn serve(&mut self, index: u32) -> (Instant, E) {
        let Node { at, event, .. } = self.blocks[index];
        (self.base, self.earliest) = (at, at);
        self.len -= 1;
        self.served += 1;
        (Instant::from_nanos(at), event)
    }

    /// Hands out the first event of the lanes: it comes before all others.
    #[inline(always)]
    fn serve_lane(&mut self) -> Option<(Instant, E)> {
        let Waiting { at, event, .. } = self.lanes.take()?;
        self.len -= 1;
        self.served += 1;
        Some((Instant::from_nanos(at), event))
    }

    /// As [`EventQueue::serve_lane`], if it comes at or before `limit`.
    #[inline]
    fn serve_lane_until(&mut self, limit: u64) -> Option<(Instant, E)> {
        if self.lanes.next_at <= limit { self.serve_lane() } else { None }
    }

    /// Takes out the first of several events of one instant.
    #[inline(never)]
    fn take_first(&mut self, slot: usize) -> Taken {
        let List { head, tail } = self.lists[slot];
        let (mut best, mut index, mut before) = (head, head, head);
        let mut looks = 0;
        while index != tail {
            (before, index) = (index, self.blocks.behind(index));
            looks += 1;
            #[cfg(test)]
            super::tests::LOOKS.set(super::tests::LOOKS.get() + 1);
            if looks > FEW {
                return Taken::Many;
            }
            if self.blocks[index].order < self.blocks[best].order {
                best = index;
            }
        }
        let Node { at, order, event, .. } = self.blocks[best];
        if order == MARK {
            return Taken::Many;
        }
        if self.lanes.next_at <= at && self.lanes.next_turn() <= turn(at, order) {
            return Taken::TooLate;
        }
        // The events behind it move up.
        while best != tail {
            let behind = self.blocks.behind(best);
            let Node { at, order, event, .. } = self.blocks[behind];
            self.blocks.put(best, at, order, event);
            best = behind;
        }
        self.blocks.put(tail, at, order, event);
        self.lists[slot].tail = before;
        self.blocks.free_if_first(tail);
        Taken::At(tail)
    }

    /// Moves the events of a slot, which are of one instant, to those that are sorted, and those that wait in
    /// lanes for that instant. The slot may be empty if it is that of `base`.
    #[cold]
    #[inline(never)]
    fn gather(&mut self, slot: usize, wanted: &impl Fn(&E) -> bool) {
        let mut list = self.clear(slot);
        let at = if list.head == NONE { self.base } else { self.blocks[list.head].at };
        (self.base, self.earliest) = (at, 0);
        let mut row = self.shared.room();
        while self.lanes.next_at == at
            && let Some(Waiting { order, event, .. }) = self.lanes.take()
        {
            row.push((order, event));
        }
        while let Some(node) = self.blocks.take(&mut list) {
            if node.order == MARK {
                self.shared.remove(at, &mut row);
            } else {
                row.push((node.order, node.event));
            }
        }
        let all = row.len();
        row.retain(|(_, event)| wanted(event));
        let left_out = all - row.len();
        self.len -= left_out;
        self.served += left_out as u64;
        let used = self.simultaneous.take(row);
        self.shared.recycle(used);
    }

    /// As [`EventQueue::next`], while there are many simultaneous events: all are of the instant `base`, and nothing
    /// else can be earlier.
    #[cold]
    fn next_simultaneous(
        &mut self,
        limit: u64,
        wanted: &impl Fn(&E) -> bool,
    ) -> Option<(Instant, E)> {
        if self.base > limit {
            return None;
        }
        let slot = Digit::ALL[0].slot(self.base);
        if self.lanes.next_at == self.base || self.occupied[0] & (1 << slot) != 0 {
            self.gather(slot, wanted);
        }
        let event = self.simultaneous.pop().expect("called only where there is one");
        self.len -= 1;
        self.served += 1;
        Some((Instant::from_nanos(self.base), event))
    }

    /// Takes the next event out of the earliest slot if that holds no more than a block; the others move to
    /// lower levels. Otherwise, or if the event is a mark or comes after `limit` or one in a lane, nothing happens.
    #[inline(never)]
    fn take_of_few(&mut self, slot: usize, limit: u64) -> Taken {
        let list = self.lists[slot];
        if !list.is_short() {
            return Taken::Many;
        }
        let (mut first, mut earliest): (u32, Turn) = (NONE, Turn::MAX);
        for (index, node) in (list.head..).zip(self.blocks.short(list)) {
            let turn = turn(node.at, node.order);
            if turn < earliest {
                (first, earliest) = (index, turn);
            }
        }
        let at = time(earliest);
        if at > limit || self.lanes.next_at <= at && self.lanes.next_turn() <= earliest {
            self.earliest = at;
            return Taken::TooLate;
        }
        if earliest as u64 == MARK {
            return Taken::Many;
        }
        self.clear(slot);
        self.base = at;
        for index in list.head..=list.tail {
            if index != first {
                self.move_down(self.blocks[index]);
            }
        }
        self.blocks.free(list.head);
        Taken::At(first)
    }

    /// Moves the events of the earliest slot to lower levels, unless it begins after `limit` or after the first
    /// event in a lane.
    #[inline(never)]
    fn descend(&mut self, slot: usize, limit: u64) -> bool {
        let Digit { shift, end, first, .. } = Digit::of_slot(slot);
        let above = if end >= 64 { 0 } else { self.base >> end << end };
        let start = above | ((slot as u64 - u64::from(first)) << shift);
        if start > limit.min(self.lanes.next_at) {
            self.earliest = start;
            return false;
        }
        self.base = start;
        let mut list = self.clear(slot);
        let mut events = 0;
        while let Some(node) = self.blocks.take(&mut list) {
            events += 1;
            self.move_down(node);
        }
        if shift == Digit::WIDE.shift {
            self.ahead.begin(events);
        }
        true
    }
}
