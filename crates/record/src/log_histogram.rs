//! Times in bins that are a small share of themselves wide: quantiles in bounded memory.

/// A histogram of times. Every doubling has 2^BITS bins, so a bin is at most 2^-BITS of its lower
/// edge wide and its middle is within half of that (by default 0.8 %) of every value in it. The
/// unit is 2^UNIT ns: times below 2^BITS units are resolved to one unit (by default, below 65 µs,
/// to 1 µs). It takes four bytes for each bin up to the longest time: by default 256 bytes for each
/// doubling from 65 µs on.
#[derive(Clone, Debug, Default)]
pub struct LogHistogram<const BITS: u32 = 6, const UNIT: u32 = 10> {
    counts: Vec<u32>,
    longest: u64,
}

impl<const BITS: u32, const UNIT: u32> LogHistogram<BITS, UNIT> {
    const BINS: u64 = 1 << BITS;

    /// Adds a time.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        let bin = Self::bin_of(ns);
        match self.counts.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.add_beyond(bin),
        }
        if ns > self.longest {
            self.longest = ns;
        }
    }

    /// Adds `n` equal times.
    pub fn add_many(&mut self, ns: u64, n: u32) {
        let bin = Self::bin_of(ns);
        self.counts.resize(self.counts.len().max(bin + 1), 0);
        self.counts[bin] += n;
        self.longest = self.longest.max(ns);
    }

    /// The first time in a bin beyond all others.
    #[cold]
    fn add_beyond(&mut self, bin: usize) {
        self.counts.resize(bin + 1, 0);
        self.counts[bin] = 1;
    }

    /// Adds all that another one counts.
    pub fn merge(&mut self, more: &Self) {
        self.counts.resize(self.counts.len().max(more.counts.len()), 0);
        self.counts.iter_mut().zip(&more.counts).for_each(|(sum, n)| *sum += n);
        self.longest = self.longest.max(more.longest);
    }

    /// How many times were added.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|&n| u64::from(n)).sum()
    }

    /// Whether there is no time.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The longest time, in ns; 0 without any.
    pub fn longest_ns(&self) -> u64 {
        self.longest
    }

    /// The longest time, in seconds; 0 without any.
    pub fn longest_s(&self) -> f64 {
        self.longest as f64 / 1e9
    }

    /// The middle of the bin in which the quantile `p` lies (see [`quantile`](crate::quantile)),
    /// in seconds; 0 without any time.
    pub fn quantile_s(&self, p: f64) -> f64 {
        self.ranked_ns(crate::quantile::rank(self.count(), p)) / 1e9
    }

    /// As [`LogHistogram::quantile_s`] of several shares in growing order, in one pass; `count` is how many
    /// times there are.
    pub fn quantiles_s<const N: usize>(&self, count: u64, shares: [f64; N]) -> [f64; N] {
        let (mut bin, mut seen) = (0, 0);
        shares.map(|p| {
            let rank = crate::quantile::rank(count, p);
            while seen < rank && bin < self.counts.len() {
                seen += u64::from(self.counts[bin]);
                bin += 1;
            }
            if seen < rank { 0.0 } else { Self::middle_ns(bin - 1) / 1e9 }
        })
    }

    /// The middle of the bin of the `rank`-th shortest time, from 1, in ns; 0 if there are fewer.
    pub fn ranked_ns(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let holds_it = self.counts.iter().position(|&n| {
            seen += u64::from(n);
            seen >= rank
        });
        holds_it.map_or(0.0, Self::middle_ns)
    }

    /// The mean of the shortest `share` of the times, each the middle of its bin, in seconds; not a
    /// number if there is none.
    pub fn trimmed_mean_s(&self, share: f64) -> f64 {
        let kept = (self.count() as f64 * share) as u64;
        let (mut left, mut sum) = (kept, 0.0);
        for (bin, &n) in self.counts.iter().enumerate() {
            let of = left.min(u64::from(n));
            sum += of as f64 * Self::middle_ns(bin);
            left -= of;
        }
        sum / 1e9 / kept as f64
    }

    /// Linear up to 2^BITS units, then as many bins a doubling.
    #[inline(always)]
    fn bin_of(ns: u64) -> usize {
        let units = ns >> UNIT;
        let shift = (units | Self::BINS).ilog2() - BITS;
        (u64::from(shift) * Self::BINS + (units >> shift)) as usize
    }

    fn middle_ns(bin: usize) -> f64 {
        let shift = (bin as u64 / Self::BINS).saturating_sub(1);
        let lower = (bin as u64 - shift * Self::BINS) << shift;
        // A bin of one nanosecond is exact.
        ((lower << UNIT) + (1u64 << (shift + u64::from(UNIT)) >> 1)) as f64
    }

    /// The longest time that falls into a bin, and how many did, of every bin that is not empty.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        filled.map(|(bin, n)| (Self::longest_of(bin), *n))
    }

    /// The middle of every bin that is not empty, in ns, and how many times fell into it.
    pub fn middles(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        filled.map(|(bin, n)| ((Self::middle_ns(bin) as u64).min(self.longest), *n))
    }

    fn longest_of(bin: usize) -> u64 {
        let shift = (bin as u64 / Self::BINS).saturating_sub(1);
        let next = u128::from(bin as u64 - shift * Self::BINS + 1) << (shift + u64::from(UNIT));
        u64::try_from(next - 1).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Coarse = LogHistogram<6, 10>;
    type Fine = LogHistogram<8, 0>;

    #[test]
    fn a_bin_s_middle_is_within_its_resolution_of_what_falls_into_it() {
        let mut ns: f64 = 1.0;
        while ns < 1e18 {
            let middle = Coarse::middle_ns(Coarse::bin_of(ns as u64));
            assert!((middle - ns).abs() <= (ns * 0.008).max(600.0), "{ns} ns falls into {middle}");
            let middle = Fine::middle_ns(Fine::bin_of(ns as u64));
            assert!((middle - ns).abs() <= (ns * 0.002).max(1.0), "{ns} ns falls into {middle}");
            ns *= 1.003;
        }
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let edges = (0..4_000u64).map(|i| i << 10).chain([u64::MAX >> 1, u64::MAX]);
        let bins: Vec<usize> = edges.map(Coarse::bin_of).collect();
        assert!(bins[..4_000].windows(2).all(|w| w[1] == w[0] || w[1] == w[0] + 1));
        assert!(bins[4_001] < 55 * 64, "{} bins for any time", bins[4_001]);
    }

    #[test]
    fn quantiles_are_those_of_the_sample() {
        let mut times = LogHistogram::<6, 10>::default();
        assert_eq!(times.quantile_s(0.5), 0.0);
        for ms in 1..=100 {
            times.add(ms * 1_000_000);
        }
        for (p, exact) in [(0.5, 0.050), (0.9, 0.090), (1.0, 0.100)] {
            let got = times.quantile_s(p);
            assert!((got / exact - 1.0).abs() < 0.008, "{got} s, not {exact} s");
        }
        let shares = [0.0, 0.5, 0.505, 0.9, 1.0];
        assert_eq!(times.quantiles_s(100, shares), shares.map(|p| times.quantile_s(p)));
    }

    #[test]
    fn a_trimmed_mean_leaves_the_longest_out() {
        let mut times = Fine::default();
        (1..=19).for_each(|ms| times.add(ms * 1_000_000));
        times.add(10_000_000_000);
        let mean = times.trimmed_mean_s(0.95);
        assert!((mean / 0.010 - 1.0).abs() < 0.002, "{mean} s, not 10 ms");
        assert!(Fine::default().trimmed_mean_s(0.95).is_nan());
    }

    #[test]
    fn two_counted_together_are_as_one() {
        let (mut odd, mut even, mut all) = (Fine::default(), Fine::default(), Fine::default());
        for n in 0..5_000u64 {
            if n % 2 == 0 {
                even.add(n * n)
            } else {
                odd.add(n * n)
            }
            all.add(n * n);
        }
        odd.merge(&even);
        assert_eq!((odd.count(), odd.counts, odd.longest), (5_000, all.counts, all.longest));
    }
}
