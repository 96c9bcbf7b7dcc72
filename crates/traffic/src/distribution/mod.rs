//! Distributions from which sizes, counts and times are drawn.
//!
//! Every distribution is sampled with one uniform number for one value (by inversion; a mixture
//! picks its part with the same number). So two runs that differ in one distribution still use
//! their random numbers in step. [`read`] builds one from a field of a scenario.

mod closed;
mod discrete;
mod mixture;
pub mod normal;
mod pareto;
mod parse;
mod read;
mod shaped;
pub mod shipped;
mod summary;
mod table;
mod weibull;

use std::fmt;

use packet::Rng;
use packet::units::Unit;

pub use closed::{Constant, Exponential, Uniform};
pub use discrete::Discrete;
pub use mixture::Mixture;
pub use normal::LogNormal;
pub use pareto::{Lomax, Pareto};
pub use parse::BadTable;
pub(crate) use read::read_or;
pub use read::{parse, read};
pub use shaped::{Affine, Capped, Truncated};
pub use summary::{CAP_BYTES, Summary};
pub use table::{Knot, Table};
pub use weibull::Weibull;

/// A distribution of one real number. Values are shared between users, never copied.
pub trait Distribution: fmt::Debug + Send + Sync {
    /// The value that a share `u` of the distribution lies below; `u` in `[0, 1)`. Larger `u`
    /// never gives a smaller value.
    fn quantile(&self, u: f64) -> f64;

    /// The probability of a value less than `x`.
    fn below(&self, x: f64) -> f64;

    /// The exact mean; infinite where there is none.
    fn mean(&self) -> f64;

    /// The part of the mean that values less than `x` contribute.
    fn mean_below(&self, x: f64) -> f64;

    /// The variance; infinite where there is none.
    fn variance(&self) -> f64;

    /// The mean of the smaller of a value and `cap`: its estimate from samples converges where that
    /// of the mean of a heavy tail does not.
    fn capped_mean(&self, cap: f64) -> f64 {
        self.mean_below(cap) + cap * (1.0 - self.below(cap))
    }

    /// The value for the uniform number `u`. Unlike the quantile it need not grow with `u`.
    fn value(&self, u: f64) -> f64 {
        self.quantile(u)
    }

    /// An upper bound of the quantile, cheaper to compute where there is one.
    fn at_most(&self, u: f64) -> f64 {
        self.value(u)
    }

    /// Draws one value, with one random number.
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.value(rng.uniform())
    }
}

/// The rest, at an instant chosen at random, of an interval with this distribution: the equilibrium
/// residual life of renewal theory (W. Feller, *An Introduction to Probability Theory and Its
/// Applications*, volume 2, section XI.4). Long intervals are more likely to be met, so an interval
/// is drawn in proportion to its length, by rejection; the expected number of draws is the largest
/// value over the mean. Where that is too many, the distribution function of the residual life, the
/// capped mean over the mean, is inverted instead.
pub fn residual(distribution: &dyn Distribution, rng: &mut Rng) -> f64 {
    const MOST_DRAWS: f64 = 1_000.0;
    let (largest, mean) = (distribution.quantile(1.0 - f64::EPSILON), distribution.mean());
    if mean <= 0.0 {
        return 0.0;
    }
    if largest > MOST_DRAWS * mean {
        let share = rng.uniform() * mean;
        return bisect(0.0, largest, |x| distribution.capped_mean(x) > share);
    }
    loop {
        let (u, least) = (rng.uniform(), rng.uniform() * largest);
        // Most draws are rejected by the bound, which is cheaper to compute than the value.
        if least < distribution.at_most(u) {
            let length = distribution.value(u);
            if least < length {
                return length * rng.uniform();
            }
        }
    }
}

/// The largest number between `low` and `high` for which `beyond` is false.
fn bisect(mut low: f64, mut high: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// The variance of a distribution without a formula: an integral over the quantile, in ever
/// smaller steps towards the upper end, where the tail lies.
pub(crate) fn numeric_variance(of: &dyn Distribution) -> f64 {
    const STEPS: u32 = 20_000;
    let mean = of.mean();
    let cell = |i: u32| {
        let above = 1.0 - (f64::from(i) + 0.5) / f64::from(STEPS);
        let cubed = above * above * above;
        let off = of.quantile(1.0 - cubed * above) - mean;
        4.0 * cubed * off * off / f64::from(STEPS)
    };
    (0..STEPS).map(cell).sum()
}

/// A drawn size times `scale`, as whole bytes: rounded half up, at least 1, at most the largest
/// size that a scenario may give.
pub fn whole_bytes(drawn: f64, scale: f64) -> u64 {
    const MOST: u64 = Unit::Bytes.most() as u64;
    // The cast truncates what is positive and gives 0 for the rest.
    ((drawn * scale + 0.5) as u64).clamp(1, MOST)
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
    fn a_glance_at_what_a_value_may_be_changes_no_residual_life() {
        let table = Table::parse("p,x,k\n0,1,1\n0.7,2,3\n0.9,2,1\n0.99,30,0.4\n1,100,2\n").unwrap();
        let inner = std::sync::Arc::new(table.clone());
        let affine = |times| Affine { inner: inner.clone(), times, plus: 3.0 };
        let (shrunk, stretched) = (affine(0.1), affine(3.0));
        let by_values = |d: &dyn Distribution, rng: &mut Rng| {
            let largest = d.quantile(1.0 - f64::EPSILON);
            loop {
                let length = d.sample(rng);
                if rng.uniform() * largest < length {
                    return length * rng.uniform();
                }
            }
        };
        for d in [&table as &dyn Distribution, &shrunk, &stretched] {
            let [mut here, mut there] = [Rng::named(3, "residual"), Rng::named(3, "residual")];
            for _ in 0..2_000 {
                assert_eq!(residual(d, &mut here), by_values(d, &mut there));
            }
        }
    }

    #[test]
    fn residual_lives_of_heavy_tails_end() {
        // A Pareto distribution of shape 1.5 has residual lives without a mean; their median is
        // where the capped mean is half the mean: 3 - 2 sqrt(1/x) = 1.5 at 16/9.
        let pareto = Pareto { min: 1.0, shape: 1.5 };
        let mut rng = Rng::named(1, "residual");
        let below = (0..20_000).filter(|_| residual(&pareto, &mut rng) < 16.0 / 9.0).count();
        // Five standard errors of the share: 0.018.
        assert!((below as f64 / 20_000.0 - 0.5).abs() < 0.018, "{below}");
        assert_eq!(residual(&Constant(0.0), &mut rng), 0.0);
    }

    #[test]
    fn residual_lives_are_measured_in_the_unit_of_the_intervals() {
        // In seconds or nanoseconds, equal random numbers give equal residual lives.
        let life = |d: &dyn Distribution| residual(d, &mut Rng::named(7, "residual"));
        for unit in [1e-9, 1e9] {
            let pareto = |min| Pareto { min, shape: 1.5 };
            assert!((life(&pareto(unit)) / unit / life(&pareto(1.0)) - 1.0).abs() < 1e-9);
            let exponential = |mean| Exponential { mean };
            assert!((life(&exponential(unit)) / unit / life(&exponential(1.0)) - 1.0).abs() < 1e-9);
        }
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
