//! Look-ahead: shows events shortly before they are served, so that their data can be prefetched.
//!
//! If an event is shown too late, its data is still on the way from memory; if too early, the data
//! has been evicted from the caches again. Where few events wait, those of the next slot of the
//! wide digit (0.26 ms) are shown. With millions of users such a slot holds hundreds of events,
//! whose data would fill a second-level cache; then the next slots of the digit below (4 us) are
//! shown.

use super::digits::{Digit, WORD};
use super::{EventQueue, NONE};

/// Position of the look-ahead scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Bits of the occupancy words of the digit that is scanned.
    words: u64,
    /// The slot that is being scanned.
    slot: usize,
    /// Index of the node to show next; [`NONE`] after the last node of the slot.
    node: u32,
}

impl Ahead {
    pub const NOWHERE: Ahead = Ahead { words: WIDE, slot: 0, node: NONE };

    /// A slot of the wide digit with `events` events begins; its number of events decides which
    /// digit is scanned.
    pub fn begin(&mut self, events: usize) {
        self.words = if events < DENSE { WIDE } else { NARROW };
    }
}

/// Among events of one instant, an event is shown this number of events before its service.
const BEFORE: usize = 6;

/// Number of events from which on a slot of the wide digit counts as dense.
const DENSE: usize = 128;

/// Largest lead of the scan, in slots. A slot further ahead is left from an earlier round of the
/// wheel.
const FAR: usize = 32;

const WIDE: u64 = words(Digit::WIDE);
const NARROW: u64 = words(Digit::NARROW);

/// Bits of the occupancy words of a digit.
const fn words(digit: Digit) -> u64 {
    let words = (1 << (digit.end - digit.shift)) / WORD;
    ((1 << words) - 1) << (digit.first as usize / WORD)
}

impl<E: Copy> EventQueue<E> {
    /// Returns an event of the next slots; `None` once the last slot has been scanned. Each event
    /// is shown about once. With one call for every event served, the scan keeps its lead.
    ///
    /// The result is a hint only: events that are scheduled into a slot behind the scan are left
    /// out, and an event may be shown that has been served since.
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

    /// The first occupied slot in one of these words.
    #[inline]
    fn first_slot(&self, words: u64) -> Option<usize> {
        let word = words.trailing_zeros() as usize;
        let slots = self.occupied.get(word)?;
        Some(word * WORD + slots.trailing_zeros() as usize)
    }

    /// The next occupied slot behind this one, within the digit that is scanned.
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
