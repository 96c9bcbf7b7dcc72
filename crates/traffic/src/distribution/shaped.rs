//! Distributions made from others.

use std::sync::Arc;

use super::{Distribution, numeric_variance};

/// Another distribution's values within a range: what lies outside is drawn again.
#[derive(Clone, Debug)]
pub struct Truncated {
    inner: Arc<dyn Distribution>,
    low: f64,
    high: f64,
    /// Probability below `low` and below `high`.
    share: [f64; 2],
}

impl Truncated {
    /// Values of `inner` from `low` up to, not including, `high`; `None` if there are none.
    pub fn new(inner: Arc<dyn Distribution>, low: f64, high: f64) -> Option<Self> {
        let share = [inner.below(low), inner.below(high)];
        (share[0] < share[1]).then_some(Truncated { inner, low, high, share })
    }

    fn width(&self) -> f64 {
        self.share[1] - self.share[0]
    }
}

impl Distribution for Truncated {
    fn quantile(&self, u: f64) -> f64 {
        self.inner.quantile(self.share[0] + u * self.width()).clamp(self.low, self.high)
    }
    fn below(&self, x: f64) -> f64 {
        ((self.inner.below(x) - self.share[0]) / self.width()).clamp(0.0, 1.0)
    }
    fn mean(&self) -> f64 {
        self.mean_below(self.high)
    }
    fn mean_below(&self, x: f64) -> f64 {
        let upto = x.clamp(self.low, self.high);
        (self.inner.mean_below(upto) - self.inner.mean_below(self.low)) / self.width()
    }
    fn variance(&self) -> f64 {
        numeric_variance(self)
    }
}

/// Another distribution's values, of which those above a limit are replaced by it: the limit has a
/// probability of its own.
#[derive(Clone, Debug)]
pub struct Capped {
    /// The distribution whose values are capped.
    pub inner: Arc<dyn Distribution>,
    /// The limit, which is the largest value.
    pub most: f64,
}

impl Distribution for Capped {
    fn quantile(&self, u: f64) -> f64 {
        self.inner.quantile(u).min(self.most)
    }
    fn below(&self, x: f64) -> f64 {
        if x > self.most { 1.0 } else { self.inner.below(x) }
    }
    fn mean(&self) -> f64 {
        self.inner.capped_mean(self.most)
    }
    fn mean_below(&self, x: f64) -> f64 {
        if x > self.most { self.mean() } else { self.inner.mean_below(x) }
    }
    fn variance(&self) -> f64 {
        numeric_variance(self)
    }
}

/// Another distribution's values times a factor plus a constant.
#[derive(Clone, Debug)]
pub struct Affine {
    /// The distribution whose values are transformed.
    pub inner: Arc<dyn Distribution>,
    /// The factor, above 0.
    pub times: f64,
    /// The constant that is added.
    pub plus: f64,
}

impl Affine {
    fn undone(&self, x: f64) -> f64 {
        (x - self.plus) / self.times
    }
}

impl Distribution for Affine {
    fn quantile(&self, u: f64) -> f64 {
        self.inner.quantile(u) * self.times + self.plus
    }
    fn below(&self, x: f64) -> f64 {
        self.inner.below(self.undone(x))
    }
    fn mean(&self) -> f64 {
        self.inner.mean() * self.times + self.plus
    }
    fn mean_below(&self, x: f64) -> f64 {
        let undone = self.undone(x);
        self.inner.mean_below(undone) * self.times + self.plus * self.inner.below(undone)
    }
    fn variance(&self) -> f64 {
        self.inner.variance() * self.times * self.times
    }
    fn value(&self, u: f64) -> f64 {
        self.inner.value(u) * self.times + self.plus
    }
    fn at_most(&self, u: f64) -> f64 {
        self.inner.at_most(u) * self.times + self.plus
    }
}
