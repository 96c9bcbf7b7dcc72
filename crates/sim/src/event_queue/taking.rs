//! Removes the next event from the queue: it is in the earliest slot, whose events move to lower
//! levels or, if they are of one instant, are sorted.

use packet::Instant;

use super::blocks::{List, Node};
use super::digits::{Digit, WORD};
use super::lanes::{Turn, Waiting, time, turn};
use super::shared::MARK;
use super::{EventQueue, FEW, NONE};

/// The outcome of an attempt to take the first event of a slot.
enum Taken {
    /// Index of the node of that event, which is in no list any more.
    At(u32),
    /// No event was taken, because one in a lane comes first or the next comes after the limit.
    TooLate,
    /// The slot holds too many events for this attempt, or its first is a marker event.
    Many,
}

impl<E: Copy> EventQueue<E> {
    /// Takes the next event at or before `limit`.
    #[cfg(test)]
    pub fn next(&mut self, limit: Instant) -> Option<(Instant, E)> {
        self.next_wanted(limit, |_| true)
    }

    /// Removes and returns the next event at or before `limit`. Among events of one instant, those
    /// that are not `wanted` may be left out; they count as served. (Most timers that wait for a
    /// tick of a host belong to closed connections, and sorting them would be their greatest cost.)
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

    /// Returns the event of a node that is in no list any more.
    #[inline]
    fn serve(&mut self, index: u32) -> (Instant, E) {
        let Node { at, event, .. } = self.blocks[index];
        (self.base, self.earliest) = (at, at);
        self.len -= 1;
        self.served += 1;
        (Instant::from_nanos(at), event)
    }

    /// Removes and returns the first event of the lanes, which comes before all others.
    #[inline(always)]
    fn serve_lane(&mut self) -> Option<(Instant, E)> {
        let Waiting { at, event, .. } = self.lanes.take()?;
        self.len -= 1;
        self.served += 1;
        Some((Instant::from_nanos(at), event))
    }

    /// As [`EventQueue::serve_lane`], if that event comes at or before `limit`.
    #[inline]
    fn serve_lane_until(&mut self, limit: u64) -> Option<(Instant, E)> {
        if self.lanes.next_at <= limit { self.serve_lane() } else { None }
    }

    /// Removes the first of several events of one instant from their slot.
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
        // The events behind the removed one move up.
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

    /// Moves the events of a slot, which are of one instant, to the sorted ones, together with
    /// those that wait in lanes for that instant. Only the slot of `base` may be empty.
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

    /// As [`EventQueue::next`], while there are many simultaneous events: all are of the instant
    /// `base`, and no other event can be earlier.
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

    /// Removes the next event from the earliest slot if the slot's events lie in one block; the
    /// others move to lower levels. If there are more, or if the event is a marker, comes after
    /// `limit` or after an event in a lane, nothing changes.
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

    /// Moves the events of the earliest slot to lower levels, unless the slot begins after `limit`
    /// or after the first event in a lane.
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
