//! Events that come soon, looked at before their turn.
//!
//! Nodes of a list lie anywhere, and the next one is known only when the one before it has come from
//! memory. Two lists are therefore looked through in turn, so that a node has the time of two events
//! to come.

use super::digits::{Digit, WORD};
use super::{EventQueue, NONE};

/// How far the look ahead has come in the list of a slot.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    slot: usize,
    /// Looked at next; [`NONE`] after the last.
    node: u32,
}

/// How far the look ahead has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// In the next slot and the one after it.
    cursors: [Cursor; 2],
    /// Whose turn it is.
    turn: usize,
}

impl Ahead {
    pub const NOWHERE: Ahead =
        Ahead { cursors: [Cursor { slot: usize::MAX, node: NONE }; 2], turn: 0 };
}

/// So many events before their turn those of one instant are shown.
const BEFORE: usize = 6;

/// Words of the wide digit, of which a slot holds the events of a quarter of a millisecond.
const WIDE: u64 = {
    let digit = Digit::ALL[3];
    let words = (1 << (digit.end - digit.shift)) / WORD;
    ((1 << words) - 1) << (digit.first as usize / WORD)
};

impl<E: Copy> EventQueue<E> {
    /// One of the events of the two next slots of the wide digit: their time comes when those of the
    /// slot under way are served. Each is shown about once; none, where the slot whose turn it is has
    /// been looked through.
    ///
    /// It says nothing for certain. An event is left out that is scheduled after its slot was looked
    /// through, and one may be shown that has been served since.
    #[inline]
    pub fn look_ahead(&mut self) -> Option<E> {
        if !self.simultaneous.is_empty() {
            return self.simultaneous.after(BEFORE);
        }
        let next = self.first_slot(self.words & WIDE)?;
        if next != self.ahead.cursors[0].slot {
            self.move_on(next);
        }
        self.ahead.turn ^= 1;
        let cursor = &mut self.ahead.cursors[self.ahead.turn];
        let node = self.nodes.get(cursor.node as usize)?;
        cursor.node = node.next;
        if let Some(next) = self.nodes.get(node.next as usize) {
            prefetch::prefetch(next);
        }
        Some(node.event)
    }

    /// The first slot that holds something in one of these words.
    #[inline]
    fn first_slot(&self, words: u64) -> Option<usize> {
        let word = words.trailing_zeros() as usize;
        let slots = self.occupied.get(word)?;
        Some(word * WORD + slots.trailing_zeros() as usize)
    }

    /// The slot that was next is under way: the one after it is looked through to the end, and the next
    /// after that begun.
    fn move_on(&mut self, next: usize) {
        let begin = |slot: usize| Cursor { slot, node: self.lists[slot].head };
        let [_, second] = self.ahead.cursors;
        let first = if second.slot == next { second } else { begin(next) };
        let rest = self.occupied[next / WORD] & (u64::MAX << (next % WORD)) & !(1 << (next % WORD));
        let after = if rest != 0 {
            Some(next / WORD * WORD + rest.trailing_zeros() as usize)
        } else {
            self.first_slot(self.words & WIDE & !(1 << (next / WORD)))
        };
        let second = after.map_or(Ahead::NOWHERE.cursors[1], begin);
        self.ahead.cursors = [first, second];
    }
}
