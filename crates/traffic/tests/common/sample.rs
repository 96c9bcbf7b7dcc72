//! Samples and what is expected of them.
#![allow(dead_code)]

use packet::Rng;

/// How many values a sample has.
pub const DRAWS: usize = 1_000_000;

/// An expected value and by how many percent a sample may differ from it.
pub type Near = (f64, f64);

pub fn assert_near(what: &str, found: f64, (expected, percent): Near) {
    let off = 100.0 * (found / expected - 1.0);
    assert!(off.abs() <= percent, "{what}: {found} is {off:+.2}% from {expected}");
}

/// Values in increasing order.
pub struct Sample(pub Vec<f64>);

impl Sample {
    /// 10^6 values that `draw` makes from the stream of random numbers called `name`.
    pub fn of(name: &str, mut draw: impl FnMut(&mut Rng) -> f64) -> Self {
        let mut rng = Rng::named(1995, name);
        Sample::sorted((0..DRAWS).map(|_| draw(&mut rng)).collect())
    }
    pub fn sorted(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Sample(values)
    }
    /// Mean of the values cut at 1 MB.
    pub fn capped(&self) -> f64 {
        self.0.iter().map(|b| b.min(1e6)).sum::<f64>() / self.0.len() as f64
    }
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
    pub fn quantile(&self, q: f64) -> f64 {
        self.0[(q * self.0.len() as f64) as usize]
    }
    pub fn check(&self, mean: Near, median: Near, q90: Near, q99: Near) {
        assert_near("mean", self.mean(), mean);
        assert_near("median", self.quantile(0.5), median);
        assert_near("q90", self.quantile(0.9), q90);
        assert_near("q99", self.quantile(0.99), q99);
    }
}
