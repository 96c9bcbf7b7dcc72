//! Sets of numbers, stored as ranges.

/// A set of numbers as ascending half-open ranges; adjacent ranges are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds `start..end` to the set; returns how many of its numbers are new.
    pub fn insert(&mut self, mut start: u64, mut end: u64) -> u64 {
        let first = self.0.partition_point(|&(_, stop)| stop < start);
        let last = self.0.partition_point(|&(from, _)| from <= end);
        let whole = end - start;
        let mut known = 0;
        if first < last {
            let (from, to) = (start, end);
            known = self.0[first..last]
                .iter()
                .map(|&(s, e)| e.min(to).saturating_sub(s.max(from)))
                .sum();
            start = start.min(self.0[first].0);
            end = end.max(self.0[last - 1].1);
        }
        if last == first + 1 {
            self.0[first] = (start, end);
        } else {
            self.0.splice(first..last, [(start, end)]);
        }
        whole - known
    }

    /// Removes `start..end` from the set.
    pub fn remove(&mut self, start: u64, end: u64) {
        let first = self.0.partition_point(|&(_, stop)| stop <= start);
        let last = self.0.partition_point(|&(from, _)| from < end);
        if first >= last {
            return;
        }
        let (before, after) = (self.0[first].0, self.0[last - 1].1);
        let rest = [(before, start), (end, after)];
        let rest = rest.into_iter().filter(|(from, to)| from < to);
        self.0.splice(first..last, rest);
    }

    /// Whether all of `start..end` is in the set.
    pub fn contains(&self, start: u64, end: u64) -> bool {
        let place = self.0.partition_point(|&(_, stop)| stop < end);
        start >= end || self.0.get(place).is_some_and(|&(from, _)| from <= start)
    }

    /// The first range within `start..end` whose numbers are not in the set.
    pub fn gap(&self, mut start: u64, end: u64) -> Option<(u64, u64)> {
        let place = self.0.partition_point(|&(_, stop)| stop <= start);
        let mut above = self.0[place..].iter();
        let mut next = above.next();
        if let Some(&(_, stop)) = next.filter(|&&(from, _)| from <= start) {
            (start, next) = (stop, above.next());
        }
        let end = next.map_or(end, |&(from, _)| from.min(end));
        (start < end).then_some((start, end))
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.0.first().copied()
    }

    /// The ranges, highest first.
    pub fn highest_first(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().rev().copied()
    }

    /// The highest number in the set.
    pub fn highest(&self) -> Option<u64> {
        self.0.last().map(|&(_, end)| end - 1)
    }

    /// Removes the lowest ranges, so that `most` at most remain.
    pub fn keep_highest(&mut self, most: usize) {
        let surplus = self.0.len().saturating_sub(most);
        self.0.drain(..surplus);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_was_put_in_and_not_taken_out() {
        let mut set = Ranges::default();
        assert_eq!([set.insert(5, 8), set.insert(10, 12), set.insert(7, 10)], [3, 2, 2]);
        assert_eq!(set.0, [(5, 12)]);
        set.remove(6, 7);
        set.remove(20, 30);
        assert_eq!(set.0, [(5, 6), (7, 12)]);
        assert!(set.contains(7, 12) && !set.contains(5, 12) && !set.contains(12, 13));
        let gaps = [(5, 20), (0, 20), (6, 20), (12, 20), (7, 9)].map(|(a, b)| set.gap(a, b));
        assert_eq!(gaps, [Some((6, 7)), Some((0, 5)), Some((6, 7)), Some((12, 20)), None]);
        assert_eq!(set.insert(0, 20), 14);
        set.remove(0, 20);
        assert!(set.is_empty());
        (0..5).for_each(|at| _ = set.insert(2 * at, 2 * at + 1));
        set.keep_highest(2);
        assert_eq!(set.highest_first().collect::<Vec<_>>(), [(8, 9), (6, 7)]);
        assert_eq!((set.first(), set.highest()), (Some((6, 7)), Some(8)));
    }
}
