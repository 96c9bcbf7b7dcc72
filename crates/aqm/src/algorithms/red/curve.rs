//! The raw probability p_b as a function of the average queue.

/// How p_b grows between the thresholds.
#[derive(Clone, Copy, Debug)]
enum Band {
    /// p_b grows linearly with the average, from 0 at `min` to `max_p` at `max`.
    Linear,
    /// p_b grows with the square of the average's distance from `min`, up to `factor` at `max`.
    Squared { factor: f64 },
    /// p_b grows on one straight line up to `p_knee` at the average `knee`, then on another one of
    /// slope `second`.
    Broken { knee: f64, p_knee: f64, second: f64 },
}

/// p_b over the average: zero below `min`, linear to `max_p` at `max` (or as [`Band`] says), then
/// 1 at once or (gentle) linear to 1 at twice `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub min: f64,
    pub max: f64,
    max_p: f64,
    slope: f64,
    gentle_slope: f64,
    band: Band,
    /// Average from which on p_b is 1: `max`, or twice `max` if gentle.
    pub certain: f64,
}

impl Curve {
    pub fn new(min: f64, max: f64, max_p: f64, gentle: bool) -> Self {
        Curve {
            min,
            max,
            max_p,
            slope: max_p / (max - min),
            gentle_slope: (1.0 - max_p) / max,
            band: Band::Linear,
            certain: if gentle { 2.0 * max } else { max },
        }
    }

    /// Nonlinear RED's curve: `factor` times the square of the way from `min` to `max` (K. Zhou,
    /// K. L. Yeung, V. O. K. Li, *Nonlinear RED*, Computer Networks 50, 2006, equation 3).
    pub fn squared(self, factor: f64) -> Self {
        Curve { band: Band::Squared { factor }, ..self }
    }

    /// Double-slope RED's curve: two lines that meet half way between `min` and `max` at
    /// `1 - gamma`, the second of which ends at 1 (B. Zheng, M. Atiquzzaman, *DSRED*, LCN 2000,
    /// equation 2).
    pub fn broken(self, gamma: f64) -> Self {
        let half = (self.max - self.min) / 2.0;
        let (slope, second) = ((1.0 - gamma) / half, gamma / half);
        let band = Band::Broken { knee: self.min + half, p_knee: 1.0 - gamma, second };
        Curve { slope, band, ..self }
    }

    /// Sets `max_p`, the one parameter of a curve that may change while a queue works; the gentle
    /// part follows. Returns whether `name` and `value` are valid.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let known = name == "max_p" && (0.0..=1.0).contains(&value);
        if known {
            self.set_max_p(value, true);
        }
        known
    }

    /// Changes max_p. The slope of the gentle part follows if `gentle_too`; ns-2 and ns-3 compute
    /// it once, from the first max_p.
    pub fn set_max_p(&mut self, max_p: f64, gentle_too: bool) {
        self.slope = max_p / (self.max - self.min);
        if gentle_too {
            self.max_p = max_p;
            self.gentle_slope = (1.0 - max_p) / self.max;
        }
    }

    /// p_b where the average is `avg`.
    #[inline]
    pub fn p_b(&self, avg: f64) -> f64 {
        if avg < self.max {
            // Not `f64::max`, which may return either of two zeros of different sign.
            let p = self.within(avg);
            if p > 0.0 { p } else { 0.0 }
        } else if avg < self.certain {
            self.max_p + self.gentle_slope * (avg - self.max)
        } else {
            1.0
        }
    }

    /// p_b at an average below `max`; below `min` it may be any number up to 0.
    #[inline]
    fn within(&self, avg: f64) -> f64 {
        match self.band {
            Band::Linear => self.slope * (avg - self.min),
            Band::Squared { factor } => {
                let way = ((avg - self.min) / (self.max - self.min)).max(0.0);
                (factor * (way * way)).min(1.0)
            }
            Band::Broken { knee, p_knee, second } if avg >= knee => p_knee + second * (avg - knee),
            Band::Broken { .. } => self.slope * (avg - self.min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn published_points() {
        let red = Curve::new(5.0, 15.0, 0.1, false);
        close(red.p_b(10.0), 0.05);
        close(red.p_b(4.9), 0.0);
        close(red.p_b(15.0), 1.0);
        let gentle = Curve::new(5.0, 15.0, 0.1, true);
        close(gentle.p_b(15.0), 0.1);
        close(gentle.p_b(20.0), 0.4);
        close(gentle.p_b(27.0), 0.82);
        close(gentle.p_b(30.0), 1.0);
    }

    #[test]
    fn nonlinear() {
        // With 1.5 max_p the area under the curve is that of RED's triangle.
        let squared = Curve::new(5.0, 15.0, 0.1, false).squared(0.15);
        close(squared.p_b(4.0), 0.0);
        close(squared.p_b(10.0), 0.0375);
        close(squared.p_b(14.999_999), 0.15);
        close(squared.p_b(15.0), 1.0);
        let area: f64 =
            (0..10_000).map(|i| squared.p_b(5.0 + f64::from(i) / 1e3)).sum::<f64>() / 1e3;
        assert!((area - 0.5).abs() < 1e-3, "{area}");
        close(Curve::new(5.0, 15.0, 0.9, false).squared(1.35).p_b(14.0), 1.0);
    }

    #[test]
    fn double_slope() {
        let broken = Curve::new(5.0, 15.0, 1.0, false).broken(0.96);
        close(broken.p_b(5.0), 0.0);
        close(broken.p_b(7.5), 0.02);
        close(broken.p_b(10.0), 0.04);
        close(broken.p_b(12.5), 0.52);
        close(broken.p_b(14.999_999), 1.0);
        close(broken.p_b(15.0), 1.0);
        // With gamma = 1/2 both parts have one slope.
        close(Curve::new(0.0, 10.0, 1.0, false).broken(0.5).p_b(7.0), 0.7);
    }

    #[test]
    fn harsh_red() {
        close(Curve::new(3.0, 40.0, 0.65, false).p_b(20.0), 0.298649);
        close(Curve::new(3.0, 50.0, 0.65, false).p_b(20.0), 0.235106);
        close(Curve::new(3.0, 9.0, 0.1, false).p_b(6.0), 0.05);
    }
}
