//! Distances between losses: whole numbers, most of which are small.

use crate::sample::{Keep, Sample};

/// Distances below this number are counted; longer ones are kept as a sample.
const COUNTED: u64 = 1_024;

/// Distribution of the distances from one loss to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    /// How often each distance occurred, up to the longest one below [`COUNTED`].
    counted: Vec<u32>,
    others: Sample,
}

impl Distances {
    /// A distribution without distances; `keep` says how many of the long ones are kept.
    pub fn new(keep: Keep) -> Distances {
        Distances { counted: Vec::new(), others: Sample::new(keep, &[]) }
    }

    /// Adds a distance.
    #[inline]
    pub fn add(&mut self, distance: u64) {
        match self.counted.get_mut(distance as usize) {
            Some(count) => *count += 1,
            None => self.add_beyond(distance),
        }
    }

    #[cold]
    fn add_beyond(&mut self, distance: u64) {
        if distance < COUNTED {
            self.counted.resize(distance as usize + 1, 0);
            self.counted[distance as usize] = 1;
        } else {
            self.others.add(distance);
        }
    }

    /// Adds all distances of another stream.
    pub fn merge(&mut self, more: &Distances) {
        self.counted.resize(self.counted.len().max(more.counted.len()), 0);
        self.counted.iter_mut().zip(&more.counted).for_each(|(sum, n)| *sum += n);
        self.others.merge(&more.others);
    }

    /// Sorts the sample of long distances; call it before reading any rank.
    pub fn sort(&mut self) {
        self.others.sort();
    }

    /// Number of distances.
    pub fn count(&self) -> u64 {
        self.counted.iter().map(|&n| u64::from(n)).sum::<u64>() + self.others.count()
    }

    /// The `rank`-th smallest distance, from 1.
    pub fn ranked(&self, rank: u64) -> u64 {
        let mut left = rank;
        for (distance, &n) in (0..).zip(&self.counted) {
            if left <= u64::from(n) {
                return distance;
            }
            left -= u64::from(n);
        }
        self.others.ranked(left)
    }

    /// Number of distances that are at most `limit`, which is below [`COUNTED`].
    pub fn upto(&self, limit: usize) -> u64 {
        self.counted.iter().take(limit + 1).map(|&n| u64::from(n)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;

    #[test]
    fn counted_and_others_together_are_the_sorted_sample() {
        for keep in [Keep::Everything, Keep::Bounded] {
            let [mut some, mut more] = [(); 2].map(|()| Distances::new(keep));
            let mut rng = Rng::named(1, "distances");
            let mut sorted: Vec<u64> = (0..3_000).map(|_| 1 << rng.below(14)).collect();
            for (number, &distance) in sorted.iter().enumerate() {
                if number % 3 == 0 { more.add(distance) } else { some.add(distance) }
            }
            some.merge(&more);
            some.sort();
            sorted.sort_unstable();
            assert_eq!(some.count(), 3_000);
            (1..=3_000).for_each(|rank| {
                assert_eq!(some.ranked(rank), sorted[rank as usize - 1], "{rank}");
            });
            let neighbours = sorted.iter().filter(|distance| **distance <= 1).count();
            assert_eq!(some.upto(1), neighbours as u64);
        }
        assert_eq!((Distances::default().count(), Distances::default().upto(1)), (0, 0));
    }
}
