//! The raw probability p_b as a function of the average queue.

/// Zero below `min`, linear to `max_p` at `max`, then 1 at once or (gentle) linear to 1 at twice
/// `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub min: f64,
    pub max: f64,
    max_p: f64,
    slope: f64,
    gentle_slope: f64,
    /// Where p_b reaches 1: `max`, or twice that if gentle.
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
            certain: if gentle { 2.0 * max } else { max },
        }
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
            (self.slope * (avg - self.min)).max(0.0)
        } else if avg < self.certain {
            self.max_p + self.gentle_slope * (avg - self.max)
        } else {
            1.0
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
    fn harsh_red() {
        close(Curve::new(3.0, 40.0, 0.65, false).p_b(20.0), 0.298649);
        close(Curve::new(3.0, 50.0, 0.65, false).p_b(20.0), 0.235106);
        close(Curve::new(3.0, 9.0, 0.1, false).p_b(6.0), 0.05);
    }
}
