//! Fractional sum-difference processes: Gaussian sequences with long-range dependence.
//!
//! J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D. Smith and M. C. Weigle, *Stochastic models for
//! generating synthetic HTTP source traffic*, INFOCOM 2004, as in ns-2's `packmime_ranvar.cc`:
//! `x_j = sqrt(1 - theta) c (e_j + e_{j-1}) + sqrt(theta) n_j` with white noise `n` and fractional
//! ARIMA(0, d, 0) noise `e`.
//!
//! The fractional noise is drawn by the Durbin-Levinson recursion, whose coefficients are frozen
//! after a number of terms. They have a closed form (J. R. M. Hosking, *Fractional differencing*,
//! Biometrika 68, 1981), `phi_tj = C_t A_j B_{t-j}`, so that both the growing and the frozen
//! recursion are convolutions with one fixed kernel.

mod fft;
mod online;

use std::sync::Arc;

use packet::{Rng, math};

use crate::distribution::normal;
use online::{Kernel, Online};

/// A standard normal value, made from one random number.
pub fn gaussian(rng: &mut Rng) -> f64 {
    of_share(rng.uniform())
}

/// The largest number below 1.
const BELOW_ONE: f64 = 1.0_f64.next_down();

/// The standard normal value below which this share of `[0, 1)` lies. Half a step is added to the
/// share, since the value would be infinite at 0 and at 1.
fn of_share(share: f64) -> f64 {
    normal::quantile((share + f64::EPSILON / 4.0).min(BELOW_ONE))
}

/// The share of normal values below `value`; always below 1.
fn share_below(value: f64) -> f64 {
    normal::cdf(value).min(BELOW_ONE)
}

/// The coefficients of fractional noise of one order, shared by all that draw it.
#[derive(Debug)]
pub struct Coefficients {
    d: f64,
    /// Number of terms after which the recursion is frozen.
    terms: usize,
    growing: Arc<Kernel>,
    frozen: Arc<Kernel>,
    /// Standard deviation of a frozen step.
    frozen_sd: f64,
}

impl Coefficients {
    /// The coefficients of order `d`, in (0, 0.5), constant after `terms` terms.
    pub fn new(d: f64, terms: usize) -> Self {
        let mut a = vec![d]; // A_1, A_2, …
        let mut b = vec![1.0]; // B_0, B_1, …
        let (mut c, mut variance) = (1.0, first_variance(d));
        for t in 1..=terms {
            let n = t as f64;
            a.push(a[t - 1] * (n - d) / (n + 1.0));
            b.push(b[t - 1] * (n - d) / n);
            c *= n / (n - d);
            variance *= 1.0 - (d / (n - d)) * (d / (n - d));
        }
        a.truncate(terms);
        let frozen = (1..=terms).map(|j| c * a[j - 1] * b[terms - j]).collect();
        Coefficients {
            d,
            terms,
            growing: Arc::new(Kernel::new(a)),
            frozen: Arc::new(Kernel::new(frozen)),
            frozen_sd: math::sqrt(variance),
        }
    }

    /// The factor `c` for which `c (e_j + e_{j-1})` has variance 1.
    pub fn sum_scale(&self) -> f64 {
        let d = self.d;
        1.0 / math::sqrt(first_variance(d) * (2.0 + 2.0 * d / (1.0 - d)))
    }
}

/// The variance of fractional noise with unit innovations.
fn first_variance(d: f64) -> f64 {
    let gamma = math::gamma(1.0 - d);
    math::gamma(1.0 - 2.0 * d) / (gamma * gamma)
}

/// Fractional ARIMA(0, d, 0) noise with unit innovations.
#[derive(Debug)]
pub struct Fractional {
    of: Arc<Coefficients>,
    rng: Rng,
    online: Online,
    /// The values so far, while the recursion grows.
    grown: Vec<f64>,
    /// `B_t` and `C_t` of the recursion and the variance of the innovation for the next value; not
    /// used once the recursion is frozen, which `c` = 0 shows.
    growth: Growth,
}

#[derive(Debug)]
struct Growth {
    b: f64,
    c: f64,
    variance: f64,
}

impl Fractional {
    /// Noise with innovations from `rng`.
    pub fn new(of: Arc<Coefficients>, rng: Rng) -> Self {
        let growth = Growth { b: 1.0, c: 1.0, variance: first_variance(of.d) };
        let online = Online::new(Arc::clone(&of.growing), &[]);
        Fractional { grown: Vec::with_capacity(of.terms), of, rng, online, growth }
    }

    /// The next value.
    pub fn draw(&mut self) -> f64 {
        if self.growth.c == 0.0 {
            let value = self.online.next() + self.of.frozen_sd * gaussian(&mut self.rng);
            self.online.push(value);
            return value;
        }
        let Growth { b, c, variance } = self.growth;
        let value = c * self.online.next() + math::sqrt(variance) * gaussian(&mut self.rng);
        self.grown.push(value);
        self.online.push(b * value);
        if self.grown.len() == self.of.terms {
            let grown = std::mem::take(&mut self.grown);
            self.online = Online::new(Arc::clone(&self.of.frozen), &grown);
            self.growth.c = 0.0; // the recursion is frozen now
        } else {
            let (n, d) = (self.grown.len() as f64, self.of.d);
            let partial = d / (n - d);
            self.growth = Growth {
                b: b * (n - d) / n,
                c: c * n / (n - d),
                variance: variance * (1.0 - partial * partial),
            };
        }
        value
    }
}

/// A fractional sum-difference process: standard normal values.
#[derive(Debug)]
pub struct SumDifference {
    noise: Fractional,
    white: Rng,
    before: f64,
    noise_weight: f64,
    white_weight: f64,
}

impl SumDifference {
    /// The process with this share `theta` of white noise.
    pub fn new(of: &Arc<Coefficients>, theta: f64, noise: Rng, white: Rng) -> Self {
        let mut noise = Fractional::new(Arc::clone(of), noise);
        let before = noise.draw();
        SumDifference {
            noise,
            white,
            before,
            noise_weight: math::sqrt(1.0 - theta) * of.sum_scale(),
            white_weight: math::sqrt(theta),
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> f64 {
        let noise = self.noise.draw();
        let sum = noise + std::mem::replace(&mut self.before, noise);
        self.noise_weight * sum + self.white_weight * gaussian(&mut self.white)
    }

    /// The next value as a share in (0, 1): uniform, with the process's dependence.
    pub fn share(&mut self) -> f64 {
        share_below(self.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursion as it is written in the paper's code.
    fn durbin_levinson(d: f64, terms: usize, steps: usize, rng: &mut Rng) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        let (mut phi, mut variance): (Vec<f64>, f64) = (Vec::new(), first_variance(d));
        for t in 0..steps {
            if (1..=terms).contains(&t) {
                let last = d / (t as f64 - d);
                let before = phi.clone();
                for (j, coefficient) in phi.iter_mut().enumerate() {
                    *coefficient -= last * before[t - 2 - j];
                }
                phi.push(last);
                variance *= 1.0 - last * last;
            }
            let back = values.iter().rev().zip(&phi);
            let mean: f64 = back.map(|(value, coefficient)| value * coefficient).sum();
            values.push(mean + math::sqrt(variance) * gaussian(rng));
        }
        values
    }

    #[test]
    fn the_closed_form_is_the_recursion() {
        for (d, terms) in [(0.33, 1_000), (0.31, 700), (0.45, 300)] {
            let mut rng = Rng::named(5, "innovations");
            let expected = durbin_levinson(d, terms, 3_000, &mut rng);
            let of = Arc::new(Coefficients::new(d, terms));
            let mut noise = Fractional::new(of, Rng::named(5, "innovations"));
            for (step, value) in expected.into_iter().enumerate() {
                assert!((noise.draw() - value).abs() < 1e-9, "d = {d}: step {step}");
            }
        }
    }

    #[test]
    fn every_number_of_a_stream_has_a_finite_normal_value() {
        // The smallest and the largest random number that `uniform` gives; half a step is 2^-54.
        let ends = [0.0, 1.0 - f64::EPSILON / 2.0].map(of_share);
        assert!((ends[0] + 8.2924).abs() < 1e-3 && (ends[1] - 8.2095).abs() < 1e-3, "{ends:?}");
        assert_eq!(of_share(0.5), normal::quantile(0.5));
        // No value has share 1: the largest double below 1 stands for it.
        assert_eq!([0.0, 9.0].map(share_below), [0.5, 1.0 - f64::EPSILON / 2.0]);
    }

    #[test]
    fn the_scale_is_that_of_the_source() {
        let scale = |d| Coefficients::new(d, 10).sum_scale();
        assert!((scale(0.33) - 0.4817).abs() < 5e-5, "{}", scale(0.33));
        assert!((scale(0.31) - 0.5048).abs() < 5e-5, "{}", scale(0.31));
    }
}
