//! Heavy-tailed distributions with a formula.

use packet::math;

use super::Distribution;

/// Pareto's distribution: `P(X > x) = (min / x)^shape` from `min` on. Its mean exists only for a
/// shape above 1, its variance only above 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The smallest value.
    pub min: f64,
    /// The tail index.
    pub shape: f64,
}

impl Distribution for Pareto {
    fn quantile(&self, u: f64) -> f64 {
        self.min * math::pow(1.0 - u, -1.0 / self.shape)
    }
    fn below(&self, x: f64) -> f64 {
        if x > self.min { 1.0 - math::pow(self.min / x, self.shape) } else { 0.0 }
    }
    fn mean(&self) -> f64 {
        if self.shape > 1.0 { self.min * self.shape / (self.shape - 1.0) } else { f64::INFINITY }
    }
    fn mean_below(&self, x: f64) -> f64 {
        if x <= self.min {
            return 0.0;
        }
        let ratio = self.min / x;
        if self.shape == 1.0 {
            return -self.min * math::ln(ratio);
        }
        let rest = 1.0 - math::pow(ratio, self.shape - 1.0);
        self.min * self.shape / (self.shape - 1.0) * rest
    }
    fn variance(&self) -> f64 {
        if self.shape > 2.0 {
            let mean = self.mean();
            mean * mean / (self.shape * (self.shape - 2.0))
        } else {
            f64::INFINITY
        }
    }
}

/// Pareto's second distribution (Lomax): `P(X > x) = (1 + x / scale)^-shape` from 0 on; ns-2's
/// `RandomVariable/ParetoII`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lomax {
    /// The scale, at which the power law begins.
    pub scale: f64,
    /// The tail index.
    pub shape: f64,
}

impl Lomax {
    /// Pareto's first distribution, whose values are larger by `scale`.
    fn pareto(&self) -> Pareto {
        Pareto { min: self.scale, shape: self.shape }
    }
}

impl Distribution for Lomax {
    fn quantile(&self, u: f64) -> f64 {
        self.pareto().quantile(u) - self.scale
    }
    fn below(&self, x: f64) -> f64 {
        self.pareto().below(x + self.scale)
    }
    fn mean(&self) -> f64 {
        self.pareto().mean() - self.scale
    }
    fn mean_below(&self, x: f64) -> f64 {
        let pareto = self.pareto();
        pareto.mean_below(x + self.scale) - self.scale * pareto.below(x + self.scale)
    }
    fn variance(&self) -> f64 {
        self.pareto().variance()
    }
}
