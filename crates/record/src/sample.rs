//! A sample of whole numbers: all values, or counts in bins where memory must not grow with the
//! run.

use crate::{LogHistogram, digits};

/// How much of the data of a run is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All data that exact figures and tables need.
    #[default]
    Everything,
    /// An amount that does not grow with the run: quantiles of more than 4,096 values are those of
    /// bins, within 0.2 %; samples are discarded once an observer has read them; there are no
    /// tables.
    Bounded,
}

/// Values that a bounded sample keeps one by one: up to this number its quantiles are exact.
const MOST_VALUES: usize = 4_096;

/// Values, unordered until [`Sample::sort`] is called.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    All(Vec<u64>),
    Bounded(Box<Bounded>),
}

#[derive(Clone, Debug)]
pub(crate) struct Bounded {
    /// All values, or the first ones if there are more.
    first: Vec<u64>,
    bins: LogHistogram<8, 0>,
    sum: u128,
    least: u64,
    /// For each limit: the limit, and the exact number of values at most as large.
    upto: Vec<(u64, u64)>,
}

impl Default for Sample {
    fn default() -> Self {
        Sample::All(Vec::new())
    }
}

impl Sample {
    /// An empty sample. A bounded one counts exactly how many values are at most each of `limits`.
    pub fn new(keep: Keep, limits: &[u64]) -> Sample {
        match keep {
            Keep::Everything => Sample::default(),
            Keep::Bounded => Sample::Bounded(Box::new(Bounded {
                first: Vec::new(),
                bins: LogHistogram::default(),
                sum: 0,
                least: u64::MAX,
                upto: limits.iter().map(|&limit| (limit, 0)).collect(),
            })),
        }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        match self {
            Sample::All(values) => values.push(value),
            Sample::Bounded(sample) => sample.add(value),
        }
    }

    /// Adds all values of another sample of this run, made with an equal `keep` and equal limits.
    pub fn merge(&mut self, more: &Sample) {
        match (&mut *self, more) {
            (Sample::All(values), Sample::All(others)) => values.extend(others),
            (Sample::Bounded(sample), Sample::Bounded(other)) => sample.merge(other),
            _ => {
                assert_eq!(self.count(), 0, "samples of a run are kept alike");
                *self = more.clone();
            }
        }
    }

    /// Sorts the sample; call it before reading any rank or share.
    pub fn sort(&mut self) {
        match self {
            Sample::All(values) if values.is_sorted() => {}
            Sample::All(values) => digits::sort(values),
            Sample::Bounded(sample) => sample.first.sort_unstable(),
        }
    }

    /// Sorts a sample that was merged from sorted ones: one pass for each doubling of the number of
    /// merged samples.
    pub fn sort_merged(&mut self) {
        match self {
            // The stable sort detects runs that are sorted already.
            Sample::All(values) => values.sort(),
            Sample::Bounded(_) => self.sort(),
        }
    }

    /// Whether the sample may hold fewer than all values.
    pub fn is_bounded(&self) -> bool {
        matches!(self, Sample::Bounded(_))
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        match self {
            Sample::All(values) => values.len() as u64,
            Sample::Bounded(sample) => sample.bins.count(),
        }
    }

    pub fn sum(&self) -> u128 {
        match self {
            Sample::All(values) => values.iter().map(|&value| u128::from(value)).sum(),
            Sample::Bounded(sample) => sample.sum,
        }
    }

    /// The value of rank `rank`; the smallest value has rank 1.
    pub fn ranked(&self, rank: u64) -> u64 {
        match self {
            Sample::All(sorted) => sorted[rank as usize - 1],
            Sample::Bounded(sample) if sample.is_exact() => sample.first[rank as usize - 1],
            Sample::Bounded(sample) if rank == sample.bins.count() => sample.bins.longest_ns(),
            Sample::Bounded(sample) => sample.bins.ranked_ns(rank) as u64,
        }
    }

    /// The differences between each value and the smallest one, in the order of the values. Bins of
    /// a bounded sample keep their width, so that a difference is within 0.2 % of the value.
    pub fn above_least(&self) -> Sample {
        match self {
            Sample::All(values) => {
                let least = values.iter().min().copied().unwrap_or_default();
                Sample::All(values.iter().map(|value| value - least).collect())
            }
            Sample::Bounded(sample) => Sample::Bounded(Box::new(sample.above_least())),
        }
    }

    /// Number of values that are at most `limit`, one of the limits given to [`Sample::new`].
    pub fn upto(&self, limit: u64) -> u64 {
        match self {
            Sample::All(sorted) => sorted.partition_point(|&value| value <= limit) as u64,
            Sample::Bounded(sample) => {
                let known = sample.upto.iter().find(|(of, _)| *of == limit);
                known.expect("it was made with this limit").1
            }
        }
    }

    /// The values, in ascending order after [`Sample::sort`]; empty if the sample is bounded.
    pub fn values(&self) -> &[u64] {
        match self {
            Sample::All(values) => values,
            Sample::Bounded(_) => &[],
        }
    }
}

impl Bounded {
    fn add(&mut self, value: u64) {
        if self.first.len() < MOST_VALUES {
            self.first.push(value);
        }
        self.bins.add(value);
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        for (limit, count) in &mut self.upto {
            *count += u64::from(value <= *limit);
        }
    }

    fn merge(&mut self, more: &Bounded) {
        self.first.extend(&more.first);
        self.bins.merge(&more.bins);
        self.sum += more.sum;
        self.least = self.least.min(more.least);
        for ((_, count), (_, others)) in self.upto.iter_mut().zip(&more.upto) {
            *count += others;
        }
    }

    /// As [`Sample::above_least`]. The counts of values up to a limit are left out.
    fn above_least(&self) -> Bounded {
        let above = |value: u64| value.saturating_sub(self.least);
        let mut bins = LogHistogram::default();
        if self.is_exact() {
            self.first.iter().for_each(|&value| bins.add(above(value)));
        } else {
            self.bins.middles().for_each(|(value, n)| bins.add_many(above(value), n));
        }
        Bounded {
            first: self.first.iter().map(|&value| above(value)).collect(),
            bins,
            sum: self.sum.saturating_sub(u128::from(self.least) * u128::from(self.bins.count())),
            least: 0,
            upto: Vec::new(),
        }
    }

    fn is_exact(&self) -> bool {
        self.first.len() as u64 == self.bins.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;

    const LIMITS: [u64; 2] = [1, 1_000_000_000];

    /// A sample that keeps all values and a bounded one, with `n` random values that are equal in
    /// both.
    fn both(n: u64) -> [Sample; 2] {
        let mut rng = Rng::named(1, "sample");
        let mut samples = [Keep::Everything, Keep::Bounded].map(|keep| Sample::new(keep, &LIMITS));
        for _ in 0..n {
            let most = 1 << rng.below(40);
            let value = rng.below(most);
            samples.iter_mut().for_each(|sample| sample.add(value));
        }
        samples
    }

    #[test]
    fn a_bounded_sample_is_exact_as_long_as_it_is_small() {
        let [mut all, mut bounded] = both(4_096);
        all.sort();
        bounded.sort();
        assert!((1..=4_096).all(|rank| all.ranked(rank) == bounded.ranked(rank)));
        assert!(bounded.values().is_empty());
    }

    #[test]
    fn a_large_one_knows_counts_sums_and_shares_exactly_and_quantiles_nearly() {
        let [mut all, mut bounded] = both(50_000);
        let [more, others] = both(9_000);
        all.merge(&more);
        bounded.merge(&others);
        all.sort();
        bounded.sort();
        assert_eq!((all.count(), all.sum()), (bounded.count(), bounded.sum()));
        assert_eq!(LIMITS.map(|limit| all.upto(limit)), LIMITS.map(|limit| bounded.upto(limit)));
        for rank in (1..=59_000).step_by(37) {
            let (exact, near) = (all.ranked(rank) as f64, bounded.ranked(rank) as f64);
            assert!((exact - near).abs() <= exact * 0.002, "{rank}: {near}, not {exact}");
        }
        let Sample::Bounded(kept) = &bounded else { panic!() };
        assert_eq!(kept.first.len(), 2 * MOST_VALUES);
    }

    #[test]
    fn what_is_above_the_least_is_exact_or_within_the_bins_of_the_value() {
        for n in [4_096u64, 50_000] {
            let mut samples = [Keep::Everything, Keep::Bounded].map(|keep| {
                let mut sample = Sample::new(keep, &[]);
                let mut rng = Rng::named(1, "above");
                (0..n).for_each(|_| sample.add(20_000_000 + rng.below(5_000_000)));
                let mut above = sample.above_least();
                above.merge(&above.clone()); // of two streams
                above
            });
            samples.iter_mut().for_each(Sample::sort);
            let [all, bounded] = samples;
            let within = if n > 4_096 { 0.002 * 25e6 } else { 0.0 };
            for rank in (1..=2 * n).step_by(37) {
                let (exact, near) = (all.ranked(rank) as f64, bounded.ranked(rank) as f64);
                assert!((exact - near).abs() <= within, "{rank} of {n}: {near}, not {exact}");
            }
        }
    }

    #[test]
    fn nothing_takes_the_way_of_the_first_that_is_added_to_it() {
        let mut all = Sample::default();
        all.merge(&both(10)[1]);
        assert!(matches!(all, Sample::Bounded(_)) && all.count() == 10);
    }
}
