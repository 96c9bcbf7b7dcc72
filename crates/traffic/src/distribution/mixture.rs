//! Mixtures: one of several distributions, chosen anew for every value.

use std::sync::Arc;

use super::{Distribution, bisect};

/// A mixture of distributions.
///
/// A value is drawn with one uniform number: it picks the part, and what is left of it, stretched
/// to `[0, 1)`, is inverted by the part. So sampling costs as much as the part's, but unlike
/// [`Distribution::quantile`] of the mixture, which is found by bisection, it does not grow with
/// the number.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// Each part, and the probability of it or an earlier one.
    parts: Vec<(Arc<dyn Distribution>, f64)>,
}

impl Mixture {
    /// A mixture of `parts` with these weights, which must sum to 1 within 1e-6; they are
    /// normalised.
    ///
    /// # Errors
    /// The sum of the weights, if it is not 1. A negative weight counts as 0.
    pub fn new(parts: Vec<(Arc<dyn Distribution>, f64)>) -> Result<Self, f64> {
        let sum: f64 = parts.iter().map(|&(_, weight)| weight.max(0.0)).sum();
        if (sum - 1.0).abs() > 1e-6 {
            return Err(sum);
        }
        let mut upto = 0.0;
        let cumulated = parts.into_iter().map(|(part, weight)| {
            upto += weight.max(0.0) / sum;
            (part, upto)
        });
        let mut parts: Vec<_> = cumulated.collect();
        if let Some(last) = parts.last_mut() {
            last.1 = 1.0;
        }
        Ok(Mixture { parts })
    }

    fn weighted(&self) -> impl Iterator<Item = (&dyn Distribution, f64)> {
        let mut before = 0.0;
        self.parts
            .iter()
            .map(move |(part, upto)| (part.as_ref(), upto - std::mem::replace(&mut before, *upto)))
    }

    fn average(&self, of: impl Fn(&dyn Distribution) -> f64) -> f64 {
        self.weighted()
            .map(|(part, weight)| if weight > 0.0 { weight * of(part) } else { 0.0 })
            .sum()
    }
}

impl Distribution for Mixture {
    fn quantile(&self, u: f64) -> f64 {
        let ends = self.weighted().filter(|&(_, weight)| weight > 0.0);
        let ends = ends.map(|(part, _)| part.quantile(u));
        let (low, high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        bisect(low, high, |x| self.below(x) > u)
    }

    fn below(&self, x: f64) -> f64 {
        self.average(|part| part.below(x))
    }

    fn mean(&self) -> f64 {
        self.average(|part| part.mean())
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.average(|part| part.mean_below(x))
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        self.average(|part| {
            let off = part.mean() - mean;
            part.variance() + off * off
        })
    }

    fn value(&self, u: f64) -> f64 {
        let mut before = 0.0;
        for (part, upto) in &self.parts {
            if u < *upto {
                return part.quantile((u - before) / (upto - before));
            }
            before = *upto;
        }
        unreachable!("the last part reaches up to 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Constant, Pareto};

    fn mixture(parts: &[(f64, f64)]) -> Mixture {
        let part = |&(value, weight): &(f64, f64)| -> (Arc<dyn Distribution>, f64) {
            (Arc::new(Constant(value)), weight)
        };
        Mixture::new(parts.iter().map(part).collect()).unwrap()
    }

    #[test]
    fn a_part_without_weight_counts_nowhere() {
        // Neither the values nor the mean of such a part count, though the mean may be infinite.
        assert_eq!(mixture(&[(1.0, 0.0), (5.0, 1.0)]).quantile(0.5), 5.0);
        let endless = Arc::new(Pareto { min: 1.0, shape: 1.0 });
        let of = Mixture::new(vec![(endless, 0.0), (Arc::new(Constant(5.0)), 1.0)]).unwrap();
        assert_eq!(of.mean(), 5.0);
    }

    #[test]
    fn the_first_running_sum_above_u_decides() {
        // The rule is as for a list of values: the first running sum above u decides.
        let of = mixture(&[(1.0, 0.5), (3.0, 0.5)]);
        for (u, value) in [(0.0, 1.0), (0.499, 1.0), (0.5, 3.0), (0.999, 3.0)] {
            assert!((of.quantile(u) - value).abs() < 1e-9, "{u}: {}", of.quantile(u));
            assert_eq!(of.value(u), value, "{u}");
        }
    }
}
