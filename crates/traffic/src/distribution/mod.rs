//! What sizes, counts and times are drawn from.
//!
//! Every distribution is sampled by inversion: one uniform number, one value. So two runs that
//! differ in one distribution still use their random numbers in step.

mod closed;
mod discrete;
mod parse;
mod table;

use std::fmt;

use packet::Rng;

pub use closed::{Constant, Exponential, Uniform};
pub use discrete::Discrete;
pub use parse::BadTable;
pub use table::{Knot, Table};

/// A distribution of one real number. Values are shared between users, never copied.
pub trait Distribution: fmt::Debug + Send + Sync {
    /// The value that a share `u` of the distribution lies below; `u` in `[0, 1)`. Larger `u`
    /// never gives a smaller value.
    fn quantile(&self, u: f64) -> f64;

    /// The probability of a value less than `x`.
    fn below(&self, x: f64) -> f64;

    /// The exact mean.
    fn mean(&self) -> f64;

    /// One value, from one number of the stream.
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.quantile(rng.uniform())
    }
}

/// What is left, at an instant chosen at random, of an interval with this distribution: the
/// equilibrium residual life of renewal theory (W. Feller, *An Introduction to Probability
/// Theory and Its Applications*, volume 2, section XI.4). Long intervals are more likely to be
/// met, so an interval is drawn in proportion to its length, by rejection; the expected number
/// of draws is the largest value over the mean.
pub fn residual(distribution: &dyn Distribution, rng: &mut Rng) -> f64 {
    let largest = distribution.quantile(1.0 - f64::EPSILON);
    loop {
        let length = distribution.sample(rng);
        if rng.uniform() * largest < length {
            return length * rng.uniform();
        }
    }
}

/// A drawn size times `scale`, as whole bytes: rounded half up, at least 1.
pub fn whole_bytes(drawn: f64, scale: f64) -> u64 {
    // The cast truncates what is positive and gives 0 for the rest.
    ((drawn * scale + 0.5) as u64).max(1)
}

/// A drawn number of things: rounded half up, at least 1.
pub fn whole_count(drawn: f64) -> u32 {
    ((drawn + 0.5) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residual_lives_have_the_mean_of_renewal_theory() {
        // E[residual] = E[x^2] / (2 E[x]): for U(0, 6) 36/3 / 6 = 2, for an exponential its mean.
        // 200,000 draws: five standard errors are 0.017 and 0.034.
        let mean = |d: &dyn Distribution| {
            let mut rng = Rng::named(1, "residual");
            (0..200_000).map(|_| residual(d, &mut rng)).sum::<f64>() / 200_000.0
        };
        let uniform = Uniform { low: 0.0, high: 6.0 };
        assert!((mean(&uniform) - 2.0).abs() < 0.017, "{}", mean(&uniform));
        let exponential = Exponential { mean: 3.0 };
        assert!((mean(&exponential) - 3.0).abs() < 0.034, "{}", mean(&exponential));
    }

    #[test]
    fn sizes_round_half_up_and_are_never_zero() {
        assert_eq!(whole_bytes(2.5, 1.0), 3);
        assert_eq!(whole_bytes(2.49, 1.0), 2);
        assert_eq!(whole_bytes(0.2, 1.0), 1);
        assert_eq!(whole_bytes(-7.0, 1.0), 1);
        assert_eq!(whole_bytes(2_110.0, 1.4), 2_954);
        assert_eq!(whole_count(0.0), 1);
        assert_eq!(whole_count(1.5), 2);
    }
}
