//! Events that come soon, looked at before their turn.
//!
//! Too late, and what they touch has not come from memory; too early, and it has been driven out of the
//! caches again. Where few wait, those of the next slot of the wide digit are looked at. A slot of
//! hundreds, with millions of users, would be too early: what its events touch fills a second-level
//! cache. There it is the next slots of the digit below.

use super::digits::{Digit, WORD};
use super::{EventQueue, NONE};

/// How far the look ahead has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Words of the digit in whose slots it looks.
    words: u64,
    /// The slot where it is.
    slot: usize,
    /// Looked at next; [`NONE`] after the last of the slot.
    node: u32,
}

impl Ahead {
    pub const NOWHERE: Ahead = Ahead { words: WIDE, slot: 0, node: NONE };

    /// A slot of the wide digit begins that holds `events` events.
    pub fn begin(&mut self, events: usize) {
        self.words = if events < DENSE { WIDE } else { NARROW };
    }
}

/// How many events before its turn an event of one instant is shown.
const BEFORE: usize = 6;

/// A slot of the wide digit with this many events or more is dense.
const DENSE: usize = 128;

/// It looks no more slots ahead: where it is further, its slot was one of a time long ago.
const FAR: usize = 32;

const WIDE: u64 = words(Digit::WIDE);
const NARROW: u64 = words(Digit::NARROW);

/// The words of a digit.
const fn words(digit: Digit) -> u64 {
    let words = (1 << (digit.end - digit.shift)) / WORD;
    ((1 << words) - 1) << (digit.first as usize / WORD)
}

impl<E: Copy> EventQueue<E> {
    /// One of the events of the next slots; `None` once the last slot has been scanned. Each event
    /// is shown about once. Called once for every event served, it keeps its distance.
    ///
    /// It says nothing for certain. An event is left out that is scheduled after its slot was looked
    /// through, and one may be shown that has been served since.
    #[inline]
    pub fn look_ahead(&mut self) -> Option<E> {
        if !self.simultaneous.is_empty() {
            return self.simultaneous.after(BEFORE);
        }
        let first = self.first_slot(self.words & self.ahead.words)?;
        let Ahead { slot, node, .. } = self.ahead;
        if slot < first || slot > first + FAR {
            self.look_into(first);
        } else if node == NONE {
            let next = self.slot_behind(slot).filter(|&next| next <= first + FAR)?;
            self.look_into(next);
        }
        let Ahead { slot, node, .. } = self.ahead;
        let event = self.blocks.event(node)?;
        let over = node == self.lists[slot].tail;
        let next = if over { NONE } else { self.blocks.behind(node) };
        self.ahead.node = next;
        self.blocks.fetch(next);
        Some(event)
    }

    #[inline]
    fn look_into(&mut self, slot: usize) {
        self.ahead.slot = slot;
        self.ahead.node = self.lists[slot].head;
    }

    /// The first slot that holds something in one of these words.
    #[inline]
    fn first_slot(&self, words: u64) -> Option<usize> {
        let word = words.trailing_zeros() as usize;
        let slots = self.occupied.get(word)?;
        Some(word * WORD + slots.trailing_zeros() as usize)
    }

    /// The slot behind this one that holds something, of the digit in which it is looked.
    #[inline]
    fn slot_behind(&self, slot: usize) -> Option<usize> {
        let word = slot / WORD;
        let rest = self.occupied[word] & ((u64::MAX - 1) << (slot % WORD));
        if rest != 0 {
            return Some(word * WORD + rest.trailing_zeros() as usize);
        }
        self.first_slot(self.words & self.ahead.words & ((u64::MAX - 1) << word))
    }
}
