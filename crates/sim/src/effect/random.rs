//! Random numbers that depend on the last one, as netem draws them.

use packet::Rng;

/// Random numbers in [0, 1): each is `rho` times the last number plus 1 - `rho` times a fresh one
/// (`get_crandom` in Linux's sch_netem.c). Their mean is 1/2, their variance (1 - rho) / (1 + rho)
/// / 12, so that they are uniform only at 0.
#[derive(Clone, Debug)]
pub struct Correlated {
    rho: f64,
    last: Option<f64>,
}

impl Correlated {
    /// A source of random numbers with correlation `rho`.
    pub fn new(rho: f64) -> Self {
        Correlated { rho, last: None }
    }

    /// The next random number.
    pub fn next(&mut self, rng: &mut Rng) -> f64 {
        if self.rho == 0.0 {
            return rng.uniform();
        }
        let last = self.last.unwrap_or_else(|| rng.uniform());
        let next = rng.uniform() * (1.0 - self.rho) + last * self.rho;
        self.last = Some(next);
        next
    }

    /// Whether something of probability `share` happens.
    pub fn happens(&mut self, share: f64, rng: &mut Rng) -> bool {
        self.next(rng) < share
    }
}

/// A standard normal number.
pub fn normal(rng: &mut Rng) -> f64 {
    // The uniform number lies in (0, 1), because the quantile is infinite at 0.
    let u = (rng.uniform() + 0.5 / 9_007_199_254_740_992.0).min(1.0 - f64::EPSILON / 2.0);
    traffic::distribution::normal::quantile(u)
}
