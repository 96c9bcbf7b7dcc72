//! Weibull's distribution, and the incomplete gamma function its capped mean needs.

use packet::math;

use super::Distribution;

/// Weibull's distribution: `P(X > x) = exp(-(x / scale)^shape)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    /// The shape; 1 is the exponential distribution, below 1 the tail is heavier.
    pub shape: f64,
    /// The scale: 63 % of the values are below.
    pub scale: f64,
}

impl Weibull {
    /// Weibull's distribution with this shape and mean.
    pub fn with_mean(shape: f64, mean: f64) -> Self {
        Weibull { shape, scale: mean / math::gamma(1.0 + 1.0 / shape) }
    }

    fn power(&self, x: f64) -> f64 {
        math::pow(x / self.scale, self.shape)
    }
}

impl Distribution for Weibull {
    fn quantile(&self, u: f64) -> f64 {
        self.scale * math::pow(-math::ln(1.0 - u), 1.0 / self.shape)
    }
    fn below(&self, x: f64) -> f64 {
        if x > 0.0 { 1.0 - math::exp(-self.power(x)) } else { 0.0 }
    }
    fn mean(&self) -> f64 {
        self.scale * math::gamma(1.0 + 1.0 / self.shape)
    }
    fn mean_below(&self, x: f64) -> f64 {
        if x > 0.0 { self.mean() * gamma_share(1.0 + 1.0 / self.shape, self.power(x)) } else { 0.0 }
    }
    fn variance(&self) -> f64 {
        let mean = self.mean();
        self.scale * self.scale * math::gamma(1.0 + 2.0 / self.shape) - mean * mean
    }
}

/// The share of the gamma function's integral that lies below `x`: the regularised incomplete
/// gamma function P(a, x), by its series below a + 1 and Legendre's continued fraction above
/// (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 6.5.29 and 6.5.31).
fn gamma_share(a: f64, x: f64) -> f64 {
    const ENOUGH: f64 = 1e-16;
    let front = math::exp(a * math::ln(x) - x - math::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * ENOUGH {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return front * sum;
    }
    if front == 0.0 {
        return 1.0;
    }
    // Lentz's evaluation of the fraction from the front.
    let (mut b, mut d) = (x + 1.0 - a, 1.0 / (x + 1.0 - a));
    let (mut c, mut value, mut n) = (1e300, d, 1.0);
    loop {
        let above = n * (a - n);
        b += 2.0;
        d = 1.0 / (b + above * d);
        c = b + above / c;
        value *= c * d;
        if math::fabs(c * d - 1.0) < 4.0 * f64::EPSILON || n > 1e4 {
            return 1.0 - front * value;
        }
        n += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incomplete_gamma_function_agrees_with_its_closed_forms() {
        for x in [0.01, 0.5, 1.9, 2.1, 5.0, 40.0, 800.0] {
            let exp = math::exp(-x);
            assert!((gamma_share(1.0, x) - (1.0 - exp)).abs() < 1e-14, "{x}");
            assert!((gamma_share(2.0, x) - (1.0 - exp * (1.0 + x))).abs() < 1e-14, "{x}");
            let half = 1.0 - math::erfc(math::sqrt(x));
            assert!((gamma_share(0.5, x) - half).abs() < 1e-13, "{x}");
        }
    }
}
