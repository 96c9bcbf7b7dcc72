//! Duplicate detection for datagrams: a path may copy packets, and receivers discard copies by
//! their numbers, as in the simulator.

/// Size of the window of numbers, in words of 64 bits.
const WORDS: usize = 16;
const WINDOW: u64 = 64 * WORDS as u64;

/// The last numbers that have arrived, in a sliding window (RFC 4303, section 3.4.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// One more than the highest number that has arrived.
    next: u64,
    /// A bit for each number of the window, at the number modulo the window.
    bits: [u64; WORDS],
}

impl Seen {
    /// Records the arrival of a number. Returns whether it is the first arrival of this number;
    /// numbers older than the window count as first.
    pub fn is_first(&mut self, number: u64) -> bool {
        if number + WINDOW < self.next {
            return true;
        }
        for passed in self.next.max(number.saturating_sub(WINDOW - 1))..number {
            self.clear(passed);
        }
        let fresh = number >= self.next;
        self.next = self.next.max(number + 1);
        let (word, bit) = place(number);
        let seen = !fresh && self.bits[word] & bit != 0;
        self.bits[word] |= bit;
        !seen
    }

    fn clear(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.bits[word] &= !bit;
    }
}

/// Index of a number's word, and the mask of its bit.
fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize % WORDS, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_a_number_is_found_in_any_order_and_after_gaps() {
        let mut seen = Seen::default();
        let numbers = [0, 1, 1, 3, 2, 3, 2, 900, 4, 4, 900, 1_926, 1_925, 1_926, 903, 902];
        let first = numbers.map(|number| seen.is_first(number));
        let expected = [1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1].map(|first| first == 1);
        assert_eq!(first, expected);
        // Older than the window: counts as first.
        assert!(seen.is_first(900));
    }
}
