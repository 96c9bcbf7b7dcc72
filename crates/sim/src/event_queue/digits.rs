//! A time in nanoseconds as digits, and the slots of each.

/// Bits of the digits of a time in nanoseconds, the lowest first. The wide one is that of round trips
/// and of the timers of hosts: 2,048 slots of 0.26 ms.
const WIDTHS: [u32; 10] = [6, 6, 6, 11, 6, 6, 6, 6, 6, 6];
/// Slots of a word of occupancy.
pub(super) const WORD: usize = 64;
/// Words of all digits: fewer than 64, so that one more word records which are empty.
pub(super) const WORDS: usize = {
    let (mut words, mut level) = (0, 0);
    while level < WIDTHS.len() {
        words += (1 << WIDTHS[level]) / WORD;
        level += 1;
    }
    words
};
/// Slots of all digits.
pub(super) const SLOTS: usize = WORDS * WORD;

/// A digit of a time.
#[derive(Clone, Copy)]
pub(super) struct Digit {
    /// Bits below it.
    pub shift: u32,
    /// Bits up to its end.
    pub end: u32,
    /// Mask of the digit's values.
    mask: u64,
    /// Its first slot.
    pub first: u32,
}

impl Digit {
    /// All, the lowest first.
    pub const ALL: [Digit; WIDTHS.len()] = {
        let mut all = [Digit { shift: 0, end: 0, mask: 0, first: 0 }; WIDTHS.len()];
        let (mut shift, mut first, mut level) = (0, 0, 0);
        while level < WIDTHS.len() {
            let mask = (1 << WIDTHS[level]) - 1;
            all[level] = Digit { shift, end: shift + WIDTHS[level], mask, first };
            shift += WIDTHS[level];
            first += 1 << WIDTHS[level];
            level += 1;
        }
        all
    };

    /// The digit of which one slot holds the events of a quarter of a millisecond.
    pub const WIDE: Digit = Digit::ALL[3];

    /// The digit below `WIDE`: one slot holds the events of four microseconds.
    pub const NARROW: Digit = Digit::ALL[2];

    /// The digit that a bit of a time belongs to.
    pub const OF_BIT: [Digit; 64] = {
        let mut of = [Digit::ALL[0]; 64];
        let (mut bit, mut level) = (0, 0);
        while bit < of.len() {
            if bit as u32 >= Digit::ALL[level].end {
                level += 1;
            }
            of[bit] = Digit::ALL[level];
            bit += 1;
        }
        of
    };

    /// The slot of a time.
    #[inline]
    pub fn slot(self, at: u64) -> usize {
        self.first as usize + ((at >> self.shift) & self.mask) as usize
    }

    /// The one that this slot is of.
    #[inline]
    pub fn of_slot(slot: usize) -> Digit {
        Digit::OF_WORD[slot / WORD]
    }

    /// The digit of each word: none shares one.
    const OF_WORD: [Digit; WORDS] = {
        let mut of = [Digit::ALL[0]; WORDS];
        let (mut word, mut level) = (0, 0);
        while word < WORDS {
            // The highest has one word, the last: there is always a word above to look at.
            if word * WORD >= Digit::ALL[level + 1].first as usize {
                level += 1;
            }
            of[word] = Digit::ALL[level];
            word += 1;
        }
        of
    };
}
