//! Times in bins that are a small share of themselves wide: quantiles in bounded memory.

/// Bins in every doubling, as a power of two.
const BITS: u32 = 6;
const BINS: u64 = 1 << BITS;
/// The unit is 2^10 ns: times below 65 µs are told apart to a microsecond.
const UNIT: u32 = 10;

/// Counts of times. A bin is at most 1/64 of its lower edge wide, so that its middle is within
/// 0.8 % of all that is in it (below 65 µs within 0.6 µs). Takes 256 bytes for each doubling from
/// 65 µs to the longest time.
#[derive(Clone, Debug, Default)]
pub struct LogHistogram {
    counts: Vec<u32>,
    total: u64,
    longest: u64,
}

impl LogHistogram {
    /// Adds a time.
    pub fn add(&mut self, ns: u64) {
        let bin = bin_of(ns);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.total += 1;
        self.longest = self.longest.max(ns);
    }

    /// The longest time, in seconds; 0 without any.
    pub fn longest_s(&self) -> f64 {
        self.longest as f64 / 1e9
    }

    /// The middle of the bin in which the quantile `p` lies (see [`quantile`](crate::quantile)),
    /// in seconds; 0 without any time.
    pub fn quantile_s(&self, p: f64) -> f64 {
        let rank = (self.total as f64 * p - 1e-9).ceil().max(1.0) as u64;
        let mut seen = 0;
        let holds_it = self.counts.iter().position(|&n| {
            seen += u64::from(n);
            seen >= rank
        });
        holds_it.map_or(0.0, |bin| middle_ns(bin) / 1e9)
    }
}

/// Linear up to 64 units, then 64 bins a doubling.
fn bin_of(ns: u64) -> usize {
    let units = ns >> UNIT;
    let shift = (units | BINS).ilog2() - BITS;
    (u64::from(shift) * BINS + (units >> shift)) as usize
}

fn middle_ns(bin: usize) -> f64 {
    let shift = (bin as u64 / BINS).saturating_sub(1);
    let lower = (bin as u64 - shift * BINS) << shift;
    (lower as f64 + (1u64 << shift) as f64 / 2.0) * (1u64 << UNIT) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_s_middle_is_within_its_resolution_of_what_falls_into_it() {
        let mut ns: f64 = 1.0;
        while ns < 1e18 {
            let middle = middle_ns(bin_of(ns as u64));
            let allowed = (ns * 0.008).max(600.0);
            assert!((middle - ns).abs() <= allowed, "{ns} ns falls into {middle}");
            ns *= 1.003;
        }
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let edges = (0..4_000u64).map(|i| i << UNIT).chain([u64::MAX >> 1, u64::MAX]);
        let bins: Vec<usize> = edges.map(bin_of).collect();
        assert!(bins[..4_000].windows(2).all(|w| w[1] == w[0] || w[1] == w[0] + 1));
        assert!(bins[4_001] < 55 * 64, "{} bins for any time", bins[4_001]);
    }

    #[test]
    fn quantiles_are_those_of_the_sample() {
        let mut times = LogHistogram::default();
        assert_eq!(times.quantile_s(0.5), 0.0);
        for ms in 1..=100 {
            times.add(ms * 1_000_000);
        }
        for (p, exact) in [(0.5, 0.050), (0.9, 0.090), (1.0, 0.100)] {
            let got = times.quantile_s(p);
            assert!((got / exact - 1.0).abs() < 0.008, "{got} s, not {exact} s");
        }
    }
}
