//! A hash that stands for a whole sequence.

/// A hash of a sequence of words, by the step of rustc's FxHasher: equal for equal sequences, on
/// any machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Adds the next word of the sequence.
    #[inline]
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The fingerprint of what has been added so far.
    pub fn value(self) -> u64 {
        self.0
    }
}
