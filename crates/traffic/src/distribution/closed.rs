//! Distributions with a formula.

use packet::math;

use super::Distribution;

/// A distribution with one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant(pub f64);

impl Distribution for Constant {
    fn quantile(&self, _u: f64) -> f64 {
        self.0
    }
    fn below(&self, x: f64) -> f64 {
        if self.0 < x { 1.0 } else { 0.0 }
    }
    fn mean(&self) -> f64 {
        self.0
    }
    fn mean_below(&self, x: f64) -> f64 {
        if self.0 < x { self.0 } else { 0.0 }
    }
    fn variance(&self) -> f64 {
        0.0
    }
}

/// Every value from `low` up to, not including, `high` equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    /// The smallest value.
    pub low: f64,
    /// The upper bound, above every value.
    pub high: f64,
}

impl Distribution for Uniform {
    fn quantile(&self, u: f64) -> f64 {
        self.low + (self.high - self.low) * u
    }
    fn below(&self, x: f64) -> f64 {
        if x <= self.low {
            0.0
        } else if x >= self.high {
            1.0
        } else {
            (x - self.low) / (self.high - self.low)
        }
    }
    fn mean(&self) -> f64 {
        0.5 * (self.low + self.high)
    }
    fn mean_below(&self, x: f64) -> f64 {
        let upto = x.clamp(self.low, self.high);
        0.5 * (upto + self.low) * self.below(upto)
    }
    fn variance(&self) -> f64 {
        let width = self.high - self.low;
        width * width / 12.0
    }
}

/// The exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// Mean of the distribution.
    pub mean: f64,
}

impl Distribution for Exponential {
    fn quantile(&self, u: f64) -> f64 {
        -self.mean * math::ln(1.0 - u)
    }
    fn below(&self, x: f64) -> f64 {
        if x > 0.0 { 1.0 - math::exp(-x / self.mean) } else { 0.0 }
    }
    fn mean(&self) -> f64 {
        self.mean
    }
    fn mean_below(&self, x: f64) -> f64 {
        if x > 0.0 { self.mean - (x + self.mean) * math::exp(-x / self.mean) } else { 0.0 }
    }
    fn variance(&self) -> f64 {
        self.mean * self.mean
    }
}

#[cfg(test)]
mod tests {
    use packet::Rng;

    use super::*;

    #[test]
    fn below_inverts_the_quantile() {
        let all: [&dyn Distribution; 2] =
            [&Uniform { low: 2.0, high: 6.0 }, &Exponential { mean: 3.0 }];
        for d in all {
            for u in [0.1, 0.5, 0.9, 0.999] {
                assert!((d.below(d.quantile(u)) - u).abs() < 1e-12, "{d:?} {u}");
            }
            assert_eq!(d.below(-1.0), 0.0);
        }
        assert_eq!(Constant(4.0).below(4.0), 0.0);
        assert_eq!(Constant(4.0).below(4.001), 1.0);
        assert_eq!(Uniform { low: 2.0, high: 6.0 }.below(7.0), 1.0);
        // A value does not count as below itself, as in all distributions.
        assert_eq!((Constant(4.0).mean_below(4.0), Constant(4.0).mean_below(4.001)), (0.0, 4.0));
    }

    #[test]
    fn means_agree_with_the_draws() {
        // 10^6 draws; five standard errors: 0.0058 and 0.015.
        let mean = |d: &dyn Distribution, rng: &mut Rng| {
            (0..1_000_000).map(|_| d.sample(rng)).sum::<f64>() / 1e6
        };
        let rng = &mut Rng::named(1, "closed");
        let uniform = Uniform { low: 2.0, high: 6.0 };
        assert_eq!(uniform.mean(), 4.0);
        assert!((mean(&uniform, rng) - 4.0).abs() < 0.0058);
        assert!((mean(&Exponential { mean: 3.0 }, rng) - 3.0).abs() < 0.015);
        assert_eq!(Constant(4.0).sample(rng), 4.0);
    }
}
