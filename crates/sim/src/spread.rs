//! A quick hash of numbers that no stranger chooses, such as instants and flows.

use std::hash::{BuildHasherDefault, Hasher};

/// Makes the hashes of a map.
pub type BySpread = BuildHasherDefault<Spread>;

/// Hash of a number: a multiplication spreads it over all bits (Fibonacci hashing;
/// Knuth, *The Art of Computer Programming* 3, section 6.4).
#[derive(Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
