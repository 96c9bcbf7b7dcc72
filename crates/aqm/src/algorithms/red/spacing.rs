//! From p_b to p_a: how the count of packets since the last signal spaces the signals.

/// p_a of the 1993 paper: p_b/(1 − c·p_b). At constant p_b the gaps are uniform on 1..1/p_b.
#[inline]
pub(crate) fn paper(p_b: f64, count: f64) -> f64 {
    let passed = count * p_b;
    if passed < 1.0 { p_b / (1.0 - passed) } else { 1.0 }
}

/// p_a of ns-2 and ns-3 with `wait`: 0 until 1/p_b packets have passed. At constant p_b the gaps
/// are uniform over the next 1/p_b packets.
#[inline]
pub(crate) fn wait(p_b: f64, count: f64) -> f64 {
    let passed = count * p_b;
    if passed < 1.0 {
        0.0
    } else if passed < 2.0 {
        p_b / (2.0 - passed)
    } else {
        1.0
    }
}

/// p_a of ALTQ: p_b/(2 − c·p_b) from the first packet on. At constant p_b the gaps are uniform on
/// 1..2/p_b − 1.
#[inline]
pub(crate) fn altq(p_b: f64, count: f64) -> f64 {
    let passed = count * p_b;
    if passed < 2.0 { (p_b / (2.0 - passed)).min(1.0) } else { 1.0 }
}

/// The spacing rule that an algorithm follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Paper,
    Wait,
    Altq,
}

impl Spacing {
    /// p_a from p_b and the packets since the last signal.
    #[inline]
    pub fn p_a(self, p_b: f64, count: f64) -> f64 {
        match self {
            Spacing::Paper => paper(p_b, count),
            Spacing::Wait => wait(p_b, count),
            Spacing::Altq => altq(p_b, count),
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
        close(paper(0.05, 10.0), 0.1);
        close(paper(0.05, 20.0), 1.0);
        close(wait(0.05, 10.0), 0.0);
        close(wait(0.05, 20.0), 0.05);
        close(wait(0.05, 30.0), 0.1);
        close(wait(0.05, 39.0), 1.0);
        close(wait(0.5, 4.0), 1.0);
        close(wait(1.0, 0.0), 0.0);
        close(wait(1.0, 1.0), 1.0);
        close(altq(0.05, 0.0), 0.025);
        close(altq(0.05, 10.0), 0.033333);
        close(altq(0.05, 20.0), 0.05);
        close(altq(0.05, 30.0), 0.1);
        close(altq(0.05, 39.0), 1.0);
        close(altq(0.05, 39.5), 1.0);
        close(altq(0.05, 41.0), 1.0);
    }

    /// The distribution of gaps whose hazard at the c-th packet is `hazard(c)`.
    fn gaps(hazard: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut survives = 1.0;
        let gap = |c: u32| {
            let here = survives * hazard(f64::from(c)).min(1.0);
            survives -= here;
            here
        };
        (1..=60).map(gap).collect()
    }

    fn uniform_on(from: usize, to: usize, gaps: &[f64]) {
        let each = 1.0 / (to - from + 1) as f64;
        for (i, &p) in gaps.iter().enumerate() {
            let expected = if (from..=to).contains(&(i + 1)) { each } else { 0.0 };
            assert!((p - expected).abs() < 1e-9, "gap {}: {p} is not {expected}", i + 1);
        }
    }

    #[test]
    fn gaps_are_exactly_uniform() {
        // p_b = 1/20, written so that 20 p_b is exactly 1.
        let p_b = 1.0 / 20.0;
        uniform_on(1, 19, &gaps(|c| paper(p_b, c)));
        uniform_on(1, 20, &gaps(|c| paper(p_b, c - 1.0)));
        uniform_on(20, 39, &gaps(|c| wait(p_b, c)));
        uniform_on(1, 39, &gaps(|c| altq(p_b, c)));
    }
}
