//! The digits of a time in nanoseconds, and the wheel's slots for each digit.

/// Number of bits of each digit of a time in nanoseconds, the lowest digit first. The wide digit
/// covers round trips and timers of hosts: 2,048 slots of 0.26 ms.
const WIDTHS: [u32; 10] = [6, 6, 6, 11, 6, 6, 6, 6, 6, 6];
/// Number of slots whose occupancy one word records.
pub(super) const WORD: usize = 64;
/// Number of occupancy words of all digits: fewer than 64, so that one more word records which of
/// them are zero.
pub(super) const WORDS: usize = {
    let (mut words, mut level) = (0, 0);
    while level < WIDTHS.len() {
        words += (1 << WIDTHS[level]) / WORD;
        level += 1;
    }
    words
};
/// Number of slots of all digits.
pub(super) const SLOTS: usize = WORDS * WORD;

/// A digit of a time.
#[derive(Clone, Copy)]
pub(super) struct Digit {
    /// Number of bits of a time below this digit.
    pub shift: u32,
    /// Number of bits of a time from its lowest bit to the highest bit of this digit.
    pub end: u32,
    /// Mask of the digit's values.
    mask: u64,
    /// Index of the digit's first slot.
    pub first: u32,
}

impl Digit {
    /// All digits, the lowest first.
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

    /// The wide digit, whose slots are a quarter of a millisecond long.
    pub const WIDE: Digit = Digit::ALL[3];

    /// The digit below `WIDE`, whose slots are four microseconds long.
    pub const NARROW: Digit = Digit::ALL[2];

    /// For each bit of a time, the digit of the time that contains it.
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

    /// Index of the slot for time `at` (ns) at the level of this digit.
    #[inline]
    pub fn slot(self, at: u64) -> usize {
        self.first as usize + ((at >> self.shift) & self.mask) as usize
    }

    /// The digit of a time, and so the level of the wheel, to which a slot belongs.
    #[inline]
    pub fn of_slot(slot: usize) -> Digit {
        Digit::OF_WORD[slot / WORD]
    }

    /// The digit of a time to which each occupancy word belongs; no word has slots of two digits.
    const OF_WORD: [Digit; WORDS] = {
        let mut of = [Digit::ALL[0]; WORDS];
        let (mut word, mut level) = (0, 0);
        while word < WORDS {
            // `level + 1` is always a digit: the highest digit has one word only, the last.
            if word * WORD >= Digit::ALL[level + 1].first as usize {
                level += 1;
            }
            of[word] = Digit::ALL[level];
            word += 1;
        }
        of
    };
}
