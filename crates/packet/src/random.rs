//! Seeded random numbers: one stream for each name, such as a user's or a port's.

use crate::math;

/// A stream of random numbers (SplitMix64: Steele, Lea, Flood, *Fast splittable pseudorandom
/// number generators*, OOPSLA 2014). Eight bytes of state, so every user and variable can have
/// its own: adding a user does not change another's draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: every bit of the input reaches every bit of the output.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream called `name` of run `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        Rng { state: mix(seed.wrapping_add(GOLDEN)) }.called(name)
    }

    /// The stream whose name is this stream's name followed by `name`; nothing may have been drawn
    /// from this stream yet. Many streams with a common prefix are so named without joining
    /// strings.
    #[must_use]
    pub fn called(&self, name: &str) -> Self {
        let mut state = self.state;
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte)).wrapping_add(GOLDEN);
        }
        Rng { state }
    }

    /// Stream `index` of the family with this stream's name; nothing may have been drawn from this
    /// stream yet.
    #[must_use]
    pub fn member(&self, index: u64) -> Self {
        Rng { state: mix(self.state ^ mix(index.wrapping_add(GOLDEN))) }
    }

    /// The `index`-th stream of a family of streams with one name, e.g. one per user.
    pub fn indexed(seed: u64, name: &str, index: u64) -> Self {
        Rng::named(seed, name).member(index)
    }

    /// A generator that continues from this stored state.
    pub const fn from_state(state: u64) -> Self {
        Rng { state }
    }

    /// The whole state of the generator: a generator built from it continues the sequence.
    pub const fn state(&self) -> u64 {
        self.state
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A random number, uniform in [0, 1) with 53 random bits; never 1, may be 0. Compare with `u <
    /// p`: then nothing happens at p = 0.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A whole number in 0..n, each equally likely (bias below 2^-32 for n < 2^32).
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no answer");
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A random number, exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_distinct() {
        let draws = |mut r: Rng| [r.next_u64(), r.next_u64()];
        assert_eq!(draws(Rng::named(1, "a")), draws(Rng::named(1, "a")));
        assert_ne!(draws(Rng::named(1, "a")), draws(Rng::named(1, "b")));
        assert_ne!(draws(Rng::named(1, "a")), draws(Rng::named(2, "a")));
        assert_ne!(draws(Rng::indexed(1, "a", 0)), draws(Rng::indexed(1, "a", 1)));
        let family = Rng::named(1, "a").called(".").called("bc");
        assert_eq!(draws(Rng::named(1, "a.bc")), draws(family.clone()));
        assert_eq!(draws(Rng::indexed(1, "a.bc", 7)), draws(family.member(7)));
    }

    #[test]
    fn uniform_has_the_right_moments() {
        // 10^6 draws: five standard errors of the mean are 0.0015, of the variance 0.0004.
        let mut rng = Rng::named(7, "moments");
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..1_000_000 {
            let u = rng.uniform();
            assert!((0.0..1.0).contains(&u));
            sum += u;
            squares += u * u;
        }
        let mean = sum / 1e6;
        assert!((mean - 0.5).abs() < 0.0015, "mean {mean}");
        assert!((squares / 1e6 - mean * mean - 1.0 / 12.0).abs() < 0.0004);
    }

    #[test]
    fn below_reaches_every_value() {
        let mut rng = Rng::named(3, "below");
        let mut seen = [0u32; 7];
        for _ in 0..7_000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn exponential_mean() {
        let mut rng = Rng::named(4, "exp");
        let mean = (0..1_000_000).map(|_| rng.exponential(2.0)).sum::<f64>() / 1e6;
        assert!((mean - 2.0).abs() < 0.01, "{mean}");
    }
}
