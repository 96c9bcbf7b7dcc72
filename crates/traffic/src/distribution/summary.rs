//! A distribution in a few numbers, and as a curve to be drawn.

use packet::math;

use super::Distribution;

/// Limit at which byte counts are capped for a mean that converges in samples: 1 MB.
pub const CAP_BYTES: f64 = 1e6;

/// Statistics of one distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The exact mean; infinite where there is none.
    pub mean: f64,
    /// The standard deviation; infinite where there is none.
    pub sd: f64,
    /// The mean of values capped at [`CAP_BYTES`].
    pub capped_mean: f64,
    /// Shares and their quantiles.
    pub quantiles: Vec<(f64, f64)>,
}

impl Summary {
    /// The shares whose quantiles are given.
    pub const SHARES: [f64; 9] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

    /// Computes the statistics of `of`.
    pub fn of(of: &dyn Distribution) -> Self {
        Summary {
            mean: of.mean(),
            sd: math::sqrt(of.variance()),
            capped_mean: of.capped_mean(CAP_BYTES),
            quantiles: Self::SHARES.iter().map(|&p| (p, of.quantile(p))).collect(),
        }
    }

    /// The distribution as points `(value, share below or at it)`, dense at both ends: enough for
    /// a curve of the function and of its complement down to one in a million.
    pub fn curve(of: &dyn Distribution) -> Vec<(f64, f64)> {
        let body = (0..=400).map(|i| f64::from(i) / 400.0 * 0.998);
        let tail = (0..=160).map(|i| 1.0 - math::pow(10.0, -2.7 - 3.3 * f64::from(i) / 160.0));
        body.chain(tail).map(|p| (of.quantile(p), p)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Uniform;

    #[test]
    fn a_curve_is_dense_up_to_one_in_a_million() {
        // For the uniform distribution from 0 to 1, each value is its share.
        let curve = Summary::curve(&Uniform { low: 0.0, high: 1.0 });
        assert_eq!(curve.len(), 562);
        assert!(curve.iter().all(|&(value, share)| value == share));
        let near = |place: usize, beyond: f64| {
            assert!(((1.0 - curve[place].1) / beyond - 1.0).abs() < 1e-6, "{:?}", curve[place]);
        };
        near(0, 1.0);
        near(100, 1.0 - 0.2495);
        near(400, 0.002);
        near(401, 10_f64.powf(-2.7));
        near(481, 10_f64.powf(-4.35));
        near(561, 1e-6);
    }
}
