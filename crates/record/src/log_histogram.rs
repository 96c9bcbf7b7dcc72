//! A histogram of times with logarithmic bins: quantiles in bounded memory.

/// A histogram of times. Every doubling has 2^BITS bins, so a bin is at most 2^-BITS of its lower
/// edge wide and its midpoint is within half of that (by default 0.8 %) of every value in it. The
/// unit is 2^UNIT ns: times below 2^BITS units are resolved to one unit (by default, below 65 µs,
/// to 1 µs). It takes four bytes for each bin up to the longest time: by default 256 bytes for each
/// doubling from 1 µs on.
#[derive(Clone, Debug, Default)]
pub struct LogHistogram<const BITS: u32 = 6, const UNIT: u32 = 10> {
    /// Number of times shorter than a unit.
    none: u32,
    /// Number of times in each bin below that of the longest time, by the index of
    /// [`LogHistogram::bin_of`].
    counts: Vec<u32>,
    /// Number of times in the bin of the longest time, unless that time is shorter than a unit.
    last: u32,
    longest: u64,
}

impl<const BITS: u32, const UNIT: u32> LogHistogram<BITS, UNIT> {
    const BINS: usize = 1 << BITS;

    /// Adds a time.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        match self.counts.get_mut(Self::bin_of(ns)) {
            Some(count) => *count += 1,
            None => self.add_at_an_end(ns, 1),
        }
    }

    /// Adds a time of zero.
    #[inline(always)]
    pub fn add_zero(&mut self) {
        self.none += 1;
    }

    /// Adds `n` equal times.
    pub fn add_many(&mut self, ns: u64, n: u32) {
        match self.counts.get_mut(Self::bin_of(ns)) {
            Some(count) => *count += n,
            None => self.add_at_an_end(ns, n),
        }
    }

    /// Adds `n` times that are the longest so far or shorter than a unit.
    #[cold]
    #[inline(never)]
    fn add_at_an_end(&mut self, ns: u64, n: u32) {
        self.longest = self.longest.max(ns);
        match ns >> UNIT {
            0 => self.none += n,
            // Times above 2^63 ns, 292 years, share one bin.
            _ => self.count_last(Self::bin_of(ns.min(i64::MAX as u64)), n),
        }
    }

    /// Adds `n` times to the bin of the longest time or to one above it.
    fn count_last(&mut self, bin: usize, n: u32) {
        if bin > self.counts.len() {
            let below = self.counts.len();
            self.counts.resize(bin, 0);
            self.counts[below] = std::mem::take(&mut self.last);
        }
        self.last += n;
    }

    /// Adds all times of another histogram.
    pub fn merge(&mut self, more: &Self) {
        self.none += more.none;
        for (bin, n) in more.filled() {
            match self.counts.get_mut(bin) {
                Some(count) => *count += n,
                None => self.count_last(bin, n),
            }
        }
        self.longest = self.longest.max(more.longest);
    }

    /// Number of times (durations) that were added.
    pub fn count(&self) -> u64 {
        let inner = self.counts.iter().map(|&n| u64::from(n)).sum::<u64>();
        inner + u64::from(self.none) + u64::from(self.last)
    }

    /// Whether no time was added.
    pub fn is_empty(&self) -> bool {
        self.none == 0 && self.last == 0
    }

    /// The longest time that was added, in ns; 0 if none was.
    pub fn longest_ns(&self) -> u64 {
        self.longest
    }

    /// The longest time that was added, in seconds; 0 if none was.
    pub fn longest_s(&self) -> f64 {
        self.longest as f64 / 1e9
    }

    /// The midpoint of the bin that holds the quantile `p` (see [`quantile`](crate::quantile)) of
    /// the times, in seconds; 0 if no time was added.
    pub fn quantile_s(&self, p: f64) -> f64 {
        self.ranked_ns(crate::quantile::rank(self.count(), p)) / 1e9
    }

    /// As [`LogHistogram::quantile_s`] of several shares in growing order, in one pass; `count` is
    /// the number of times in the histogram.
    pub fn quantiles_s<const N: usize>(&self, count: u64, shares: [f64; N]) -> [f64; N] {
        let mut bins = self.middles_f64();
        let (mut middle, mut seen) = (0.0, 0);
        shares.map(|p| {
            let rank = crate::quantile::rank(count, p);
            while seen < rank
                && let Some((next, n)) = bins.next()
            {
                (middle, seen) = (next, seen + u64::from(n));
            }
            if seen < rank { 0.0 } else { middle / 1e9 }
        })
    }

    /// The midpoint, in ns, of the bin of the `rank`-th shortest time, counted from 1; 0 if there
    /// are fewer times.
    pub fn ranked_ns(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let holds_it = self.middles_f64().find(|&(_, n)| {
            seen += u64::from(n);
            seen >= rank
        });
        holds_it.map_or(0.0, |(middle, _)| middle)
    }

    /// The mean of the shortest `share` of the times, in seconds, where the midpoint of a time's
    /// bin stands for the time; NaN if this share holds no time.
    pub fn trimmed_mean_s(&self, share: f64) -> f64 {
        let kept = (self.count() as f64 * share) as u64;
        let (mut left, mut sum) = (kept, 0.0);
        for (middle, n) in self.middles_f64() {
            let of = left.min(u64::from(n));
            sum += of as f64 * middle;
            left -= of;
        }
        sum / 1e9 / kept as f64
    }

    /// Index of a time's bin: the exponent of the time in units and the first BITS bits of its
    /// mantissa, which are adjacent in a double. A time shorter than a unit gets an index far above
    /// all others.
    #[inline(always)]
    fn bin_of(ns: u64) -> usize {
        const EXPONENT_OF_ONE: usize = 1023;
        // No time of a run comes near 2^63 ns, nor to the 2^53 from which on a double is not exact.
        let bits = ((ns >> UNIT) as i64 as f64).to_bits();
        ((bits >> (52 - BITS)) as usize).wrapping_sub(EXPONENT_OF_ONE << BITS)
    }

    /// The lower edge of a bin and its width, in ns.
    fn edges(bin: usize) -> (u64, u64) {
        let (exponent, places) = (bin / Self::BINS, bin % Self::BINS);
        let first = (((Self::BINS + places) as u128) << exponent >> BITS) as u64;
        // Below 2^BITS units several bins fall within one unit, and only one of them holds times.
        let width = (1u128 << exponent >> BITS).max(1) as u64;
        (first << UNIT, width << UNIT)
    }

    /// The midpoint of a bin, ns; exact for a bin of one nanosecond.
    fn middle_ns(bin: usize) -> u64 {
        let (first, width) = Self::edges(bin);
        first + width / 2
    }

    /// The midpoint of the bin of times shorter than a unit, ns.
    const MIDDLE_OF_NONE: u64 = (1 << UNIT) / 2;

    /// Every bin of at least a unit that is not empty, and the number of times in it.
    fn filled(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let all = self.counts.iter().copied().chain([self.last]).enumerate();
        all.filter(|(_, n)| *n > 0)
    }

    /// For every bin that is not empty: the longest time that falls into it, in ns, and the number
    /// of times in it.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let longest = |bin| {
            let (first, width) = Self::edges(bin);
            first + (width - 1)
        };
        let none = (self.none > 0).then_some(((1 << UNIT) - 1, self.none));
        none.into_iter().chain(self.filled().map(move |(bin, n)| (longest(bin), n)))
    }

    /// For every bin that is not empty: the bin's midpoint in ns, or the longest time added so far
    /// if that is shorter; and the number of times in the bin.
    pub fn middles(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let none = (self.none > 0).then_some((Self::MIDDLE_OF_NONE, self.none));
        let all = none.into_iter().chain(self.filled().map(|(bin, n)| (Self::middle_ns(bin), n)));
        all.map(|(middle, n)| (middle.min(self.longest), n))
    }

    /// The midpoints (ns) and counts of [`LogHistogram::middles`], but a midpoint may exceed the
    /// longest time added.
    fn middles_f64(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let none = (self.none > 0).then_some((Self::MIDDLE_OF_NONE as f64, self.none));
        none.into_iter().chain(self.filled().map(|(bin, n)| (Self::middle_ns(bin) as f64, n)))
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
            let mut coarse = Coarse::default();
            coarse.add(ns as u64);
            let middle = coarse.ranked_ns(1);
            assert!((middle - ns).abs() <= (ns * 0.008).max(600.0), "{ns} ns falls into {middle}");
            let middle = Fine::middle_ns(Fine::bin_of(ns as u64)) as f64;
            assert!((middle - ns).abs() <= (ns * 0.002).max(1.0), "{ns} ns falls into {middle}");
            ns *= 1.003;
        }
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let (mut ns, mut beyond) = (1024, 0);
        while ns < 1 << 62 {
            let bin = Coarse::bin_of(ns);
            let (first, width) = Coarse::edges(bin);
            assert_eq!(first, ns, "the bin after that of {} ns", ns - 1);
            assert_eq!((Coarse::bin_of(ns + width - 1), bin >= beyond), (bin, true));
            (ns, beyond) = (ns + width, bin + 1);
        }
        let mut longest = Fine::default();
        longest.add(u64::MAX);
        assert_eq!((longest.longest_ns(), longest.count()), (u64::MAX, 1));
        assert!(longest.counts.len() < 64 * 256, "{} bins for any time", longest.counts.len());
    }

    /// The bin of the longest time has a counter of its own. All times are counted, also if shorter
    /// or longer ones follow the longest so far.
    #[test]
    fn times_in_any_order_are_all_counted() {
        let mut times = Fine::default();
        let given = [0, 7, 7, 0, 3, 1_000_000, 1_000_001, 9, 999_000, 1_000_000, 1];
        given.iter().for_each(|&ns| times.add(ns));
        times.add_zero();
        times.add_many(7, 2);
        times.add_many(0, 5);
        assert_eq!((times.count(), times.longest_ns()), (19, 1_000_001));
        let bins: Vec<(u64, u32)> = times.bins().collect();
        assert_eq!(bins[..5], [(0, 8), (1, 1), (3, 1), (7, 4), (9, 1)]);
        assert_eq!(bins[5..].iter().map(|(_, n)| n).sum::<u32>(), 4);
        assert!(bins[5..].iter().all(|(ns, _)| (999_000..1_005_000).contains(ns)), "{bins:?}");
        assert_eq!(times.middles().last().map(|(ns, _)| ns <= 1_000_001), Some(true));
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
        assert_eq!(odd.count(), 5_000);
        assert_eq!(
            (odd.none, odd.counts, odd.last, odd.longest),
            (all.none, all.counts, all.last, all.longest)
        );
    }
}
