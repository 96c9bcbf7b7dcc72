//! Transmission rates.

use crate::Duration;

/// A transmission rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bits` per second.
    ///
    /// # Panics
    /// If `bits` is zero: a line that sends nothing has no transmission times.
    pub const fn from_bits_per_s(bits: u64) -> Self {
        assert!(bits > 0, "a rate must be positive");
        Rate(bits)
    }
    /// The rate in bits per second.
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }
    /// The rate in bytes per second.
    pub fn bytes_per_s(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// Transmission time of `bytes`, rounded up to whole nanoseconds, so that no line is ever
    /// faster than its rate. More than 2.3 GB take as long as 2.3 GB (no packet is so large).
    pub const fn time_for(self, bytes: u64) -> Duration {
        Duration::from_nanos(bytes.saturating_mul(8_000_000_000).div_ceil(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times_are_exact_or_rounded_up() {
        assert_eq!(Rate::from_bits_per_s(10_000_000).time_for(1_000).nanos(), 800_000);
        assert_eq!(Rate::from_bits_per_s(3_000_000_000).time_for(1).nanos(), 3);
    }
}
