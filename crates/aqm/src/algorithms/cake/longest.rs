//! Finds the longest queue by a heap with an index, kept up to date only while the buffer
//! overflows.

use alloc::{vec, vec::Vec};

const NONE: u32 = u32::MAX;

/// Number of packets that may leave after an overflow before the heap is given up.
const PATIENCE: u32 = 65_535;

/// A max-heap of queues by their bytes; among equals the lowest number is above.
pub(super) struct Longest {
    /// Bytes and index of each queue with packets.
    heap: Vec<(u64, u32)>,
    /// Index in the heap of each queue, or `NONE`.
    places: Vec<u32>,
    /// Departures until the heap is given up; 0 while it is not kept up to date.
    patience: u32,
}

/// Whether `a` belongs above `b` in the heap.
fn above(a: (u64, u32), b: (u64, u32)) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)
}

impl Longest {
    pub fn new(queues: usize) -> Self {
        Longest { heap: Vec::with_capacity(queues), places: vec![NONE; queues], patience: 0 }
    }

    /// Whether the heap is kept up to date. If so, [`Longest::change`] must be called after every
    /// change of a queue's length.
    #[inline]
    pub const fn is_kept(&self) -> bool {
        self.patience > 0
    }

    /// Index of the longest queue; `lengths` are the bytes of all queues in order.
    pub fn find(&mut self, lengths: impl Iterator<Item = u64>) -> Option<u32> {
        if !self.is_kept() {
            self.heap.clear();
            self.places.fill(NONE);
            for (queue, bytes) in lengths.enumerate() {
                self.change(queue as u32, bytes);
            }
        }
        self.patience = PATIENCE;
        self.heap.first().map(|(_, queue)| *queue)
    }

    /// Counts a departure: after enough of them without an overflow the heap is given up.
    #[inline]
    pub const fn departure(&mut self) {
        self.patience = self.patience.saturating_sub(1);
    }

    /// Records that `queue` now holds `bytes` bytes.
    pub fn change(&mut self, queue: u32, bytes: u64) {
        let place = self.places[queue as usize];
        if bytes == 0 {
            if place != NONE {
                self.remove(place as usize);
            }
            return;
        }
        let place = if place == NONE {
            self.heap.push((bytes, queue));
            self.heap.len() - 1
        } else {
            self.heap[place as usize].0 = bytes;
            place as usize
        };
        self.settle(place);
    }

    fn remove(&mut self, place: usize) {
        let (_, queue) = self.heap.swap_remove(place);
        self.places[queue as usize] = NONE;
        if place < self.heap.len() {
            self.settle(place);
        }
    }

    /// Moves the entry at index `place` of the heap to where it belongs.
    fn settle(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 && above(entry, self.heap[(place - 1) / 2]) {
            let parent = (place - 1) / 2;
            self.put(place, self.heap[parent]);
            place = parent;
        }
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && above(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !above(self.heap[child], entry) {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;

    #[test]
    fn the_longest_is_found_whatever_changes() {
        let mut rng = Rng::named(1, "longest");
        let mut lengths = [0u64; 50];
        let mut longest = Longest::new(lengths.len());
        for step in 0..50_000u32 {
            let queue = rng.below(50) as usize;
            lengths[queue] = if rng.below(3) == 0 { 0 } else { rng.below(40) };
            if longest.is_kept() {
                longest.change(queue as u32, lengths[queue]);
            }
            if step % 5 == 0 {
                let expected = (0..50).rev().max_by_key(|queue| lengths[*queue]);
                let expected = expected.filter(|queue| lengths[*queue] > 0);
                let found = longest.find(lengths.iter().copied());
                assert_eq!(found.map(|queue| queue as usize), expected, "{step}");
            }
            if step % 10_000 == 7 {
                (0..PATIENCE).for_each(|_| longest.departure());
                assert!(!longest.is_kept());
            }
        }
    }
}
