//! Dependence over a long range: autocorrelations and variances of block means.

use super::*;

struct Process {
    name: &'static str,
    d: f64,
    terms: usize,
    theta: fn(&Laws) -> f64,
    rate: f64,
    /// Printed autocorrelations at lags 1, 2, 10, 100.
    printed: [f64; 4],
}

const PROCESSES: [Process; 4] = [
    Process {
        name: "gaps, 100/s",
        d: 0.33,
        terms: 1_000,
        theta: |l| l.gap_theta,
        rate: 100.0,
        printed: [0.084, 0.057, 0.032, 0.015],
    },
    Process {
        name: "gaps, 1/s",
        d: 0.33,
        terms: 1_000,
        theta: |l| l.gap_theta,
        rate: 1.0,
        printed: [0.352, 0.240, 0.135, 0.062],
    },
    Process {
        name: "requests, 100/s",
        d: 0.31,
        terms: 5_000,
        theta: |l| l.request_theta,
        rate: 100.0,
        printed: [0.067, 0.043, 0.023, 0.009],
    },
    Process {
        name: "requests, 1/s",
        d: 0.31,
        terms: 5_000,
        theta: |l| l.request_theta,
        rate: 1.0,
        printed: [0.371, 0.239, 0.125, 0.052],
    },
];

impl Process {
    fn theta(&self) -> f64 {
        (self.theta)(&laws(self.rate))
    }

    fn values(&self) -> Vec<f64> {
        let of = Arc::new(Coefficients::new(self.d, self.terms));
        let stream = |name: &str| Rng::named(7, &format!("{}.{name}", self.name));
        let mut process = SumDifference::new(&of, self.theta(), stream("noise"), stream("white"));
        (0..DRAWS).map(|_| process.draw()).collect()
    }

    /// The exact autocorrelations at lags 0, 1, 2, …
    fn theory(&self, lags: usize) -> Vec<f64> {
        // Of fractional noise: rho_k = rho_{k-1} (k - 1 + d) / (k - d) (Hosking 1981).
        let mut noise = vec![1.0];
        for k in 1..=lags + 1 {
            let k = k as f64;
            noise.push(noise[noise.len() - 1] * (k - 1.0 + self.d) / (k - self.d));
        }
        let sums = (0..=lags).map(|k| 2.0 * noise[k] + noise[k.abs_diff(1)] + noise[k + 1]);
        let sums: Vec<f64> = sums.collect();
        let white = |k: usize| if k == 0 { self.theta() } else { 0.0 };
        (0..=lags).map(|k| white(k) + (1.0 - self.theta()) * sums[k] / sums[0]).collect()
    }
}

#[test]
fn the_theory_is_the_printed_one() {
    for process in &PROCESSES {
        let theory = process.theory(100);
        for (lag, printed) in [1, 2, 10, 100].into_iter().zip(process.printed) {
            assert!(
                (theory[lag] - printed).abs() < 1.1e-3,
                "{} {lag}: {}",
                process.name,
                theory[lag]
            );
        }
    }
}

#[test]
fn autocorrelations_over_a_million_values() {
    for process in &PROCESSES {
        let values = process.values();
        let n = values.len() as f64;
        let at = |lag: usize| -> f64 {
            values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>() / n
        };
        // About the known mean 0 and variance 1.
        assert!((at(0) - 1.0).abs() < 0.03, "{}: variance {}", process.name, at(0));
        for (lag, printed) in [1, 2, 10].into_iter().zip(process.printed) {
            assert!((at(lag) - printed).abs() < 0.015, "{} {lag}: {}", process.name, at(lag));
        }
    }
}

#[test]
fn block_means_vary_as_long_range_dependence_says() {
    // The variance of means over m values, against the exact one; with short memory it would fall
    // as 1/m. Some 2,000 blocks: a standard error of 3 to 6 % with the dependence between blocks;
    // bounds of 25 %.
    const BLOCK: usize = 500;
    for process in &PROCESSES {
        let theory = process.theory(BLOCK);
        let weighted = (1..BLOCK).map(|k| 2.0 * (1.0 - k as f64 / BLOCK as f64) * theory[k]);
        let expected = (theory[0] + weighted.sum::<f64>()) / BLOCK as f64;
        assert!(expected > 3.0 / BLOCK as f64, "{} is not far from white", process.name);
        let values = process.values();
        let mean = |block: &[f64]| block.iter().sum::<f64>() / BLOCK as f64;
        let means: Vec<f64> = values.chunks_exact(BLOCK).map(mean).collect();
        let found = means.iter().map(|m| m * m).sum::<f64>() / means.len() as f64;
        assert_near(process.name, found, (expected, 25.0));
    }
}

#[test]
fn gaps_and_requests_of_a_link_have_their_marginals_and_their_dependence() {
    let mut arrivals = arrivals(1.0);
    let n = 200_000;
    let gaps: Vec<f64> = (0..n).map(|_| arrivals.gap()).collect();
    let requests: Vec<f64> = (0..n).map(|_| arrivals.request() as f64).collect();
    let laws = laws(1.0);
    for (name, values, law) in [
        ("gap", &gaps, &laws.gap as &dyn Distribution),
        ("request", &requests, laws.request.as_ref()),
    ] {
        // Long-range dependence widens what a sample shows of a share: at lag sums up to n^0.66
        // some 0.02 of a standard deviation at 1/s; bounds of five such.
        for p in [0.1, 0.5, 0.9] {
            let x = law.quantile(p).round_ties_even();
            let x = if name == "gap" { law.quantile(p) } else { x + 0.5 };
            let below = values.iter().filter(|&&v| v < x).count() as f64 / f64::from(n);
            assert!((below - law.below(x)).abs() < 0.05, "{name} {p}: {below}");
        }
        // Ranks keep the sign of the dependence: values above the median follow each other.
        let median = law.quantile(0.5);
        let alike = values.windows(2).filter(|w| (w[0] < median) == (w[1] < median)).count();
        let share = alike as f64 / f64::from(n);
        let rho = if name == "gap" { 0.352 } else { 0.371 };
        // Of a bivariate normal: 1/2 + asin(rho) / pi (Sheppard).
        let expected = 0.5 + f64::asin(rho) / std::f64::consts::PI;
        assert!((share - expected).abs() < 0.02, "{name}: {share} against {expected}");
    }
}

#[test]
fn gaussian_values_are_standard_normal() {
    let mut rng = Rng::named(1, "normal");
    let values: Vec<f64> = (0..DRAWS).map(|_| gaussian(&mut rng)).collect();
    let moment = |k: i32| values.iter().map(|v| v.powi(k)).sum::<f64>() / DRAWS as f64;
    // Five standard errors: sqrt(1, 2, 15, 96) / 1000.
    for (k, expected, sd) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let found = moment(k);
        assert!((found - expected).abs() < 5.0 * math::sqrt(sd) / 1e3, "moment {k}: {found}");
    }
}
