//! Taking the next event out of the set: from the earliest slot, whose events move to lower levels
//! or, where they are of one instant, are put in order.

use packet::Instant;

use super::blocks::{List, Node};
use super::digits::{Digit, WORD};
use super::shared::MARK;
use super::{EventQueue, FEW, NONE};

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
        loop {
            if !self.simultaneous.is_empty() {
                return self.next_simultaneous(limit, &wanted);
            }
            if self.words == 0 {
                return None;
            }
            let word = self.words.trailing_zeros() as usize;
            let slot = word * WORD + self.occupied[word].trailing_zeros() as usize;
            let List { head, tail } = self.lists[slot];
            if head != tail && word != 0 {
                if let Some(index) = self.take_of_few(slot, limit) {
                    return Some(self.serve(index));
                }
                if !self.descend(slot, limit) {
                    return None;
                }
                continue;
            }
            // The only event of the earliest slot is the next one, whatever its level; a
            // slot of the lowest level holds events of one instant.
            let first = &self.blocks[head];
            if first.at > limit {
                return None;
            }
            if head != tail {
                if let Some(index) = self.take_first(slot) {
                    return Some(self.serve(index));
                }
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
        self.base = at;
        self.len -= 1;
        self.served += 1;
        (Instant::from_nanos(at), event)
    }

    /// Of several events of one instant, takes out the one whose turn it is. None if they are many.
    #[inline(never)]
    fn take_first(&mut self, slot: usize) -> Option<u32> {
        let List { head, tail } = self.lists[slot];
        let (mut best, mut index, mut before) = (head, head, head);
        let mut looks = 0;
        while index != tail {
            (before, index) = (index, self.blocks.behind(index));
            looks += 1;
            #[cfg(test)]
            super::tests::LOOKS.set(super::tests::LOOKS.get() + 1);
            if looks > FEW {
                return None;
            }
            if self.blocks[index].order < self.blocks[best].order {
                best = index;
            }
        }
        let Node { at, order, event, .. } = self.blocks[best];
        if order == MARK {
            return None;
        }
        // Those behind it move up.
        while best != tail {
            let behind = self.blocks.behind(best);
            let Node { at, order, event, .. } = self.blocks[behind];
            self.blocks.put(best, at, order, event);
            best = behind;
        }
        self.blocks.put(tail, at, order, event);
        self.lists[slot].tail = before;
        self.blocks.free_if_first(tail);
        Some(tail)
    }

    /// Moves the events of a slot, which are of one instant, to those that are sorted.
    #[cold]
    #[inline(never)]
    fn gather(&mut self, slot: usize, wanted: &impl Fn(&E) -> bool) {
        let mut list = self.clear(slot);
        let at = self.blocks[list.head].at;
        self.base = at;
        let mut row = self.shared.room();
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
        if self.occupied[0] & (1 << slot) != 0 {
            self.gather(slot, wanted);
        }
        let event = self.simultaneous.pop().expect("called only where there is one");
        self.len -= 1;
        self.served += 1;
        Some((Instant::from_nanos(self.base), event))
    }

    /// Takes the next event out of the earliest slot if that holds no more than a block; the others move to
    /// lower levels. Otherwise, or if the event is a mark or comes after `limit`, nothing happens.
    #[inline(never)]
    fn take_of_few(&mut self, slot: usize, limit: u64) -> Option<u32> {
        let list = self.lists[slot];
        if !list.is_short() {
            return None;
        }
        let turn = |node: &Node<E>| u128::from(node.at) << 64 | u128::from(node.order);
        let (mut first, mut earliest) = (NONE, u128::MAX);
        for (index, node) in (list.head..).zip(self.blocks.short(list)) {
            if turn(node) < earliest {
                (first, earliest) = (index, turn(node));
            }
        }
        let at = (earliest >> 64) as u64;
        if at > limit || earliest as u64 == MARK {
            return None;
        }
        self.clear(slot);
        self.base = at;
        for index in list.head..=list.tail {
            if index != first {
                self.move_down(self.blocks[index]);
            }
        }
        self.blocks.free(list.head);
        Some(first)
    }

    /// Moves the events of the earliest slot to lower levels, unless it begins after `limit`.
    #[inline(never)]
    fn descend(&mut self, slot: usize, limit: u64) -> bool {
        let Digit { shift, end, first, .. } = Digit::of_slot(slot);
        let above = if end >= 64 { 0 } else { self.base >> end << end };
        let start = above | ((slot as u64 - u64::from(first)) << shift);
        if start > limit {
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
