//! Payload that arrives for applications, second by second.

use std::ops::Range;

use packet::Instant;

use crate::{Column, PerSecond};

/// Payload that reached its receiver, per second and traffic group. Bytes of a stream count when
/// they are in order, so that none counts twice; datagrams count when they arrive.
#[derive(Clone, Debug)]
pub struct Goodput {
    groups: Vec<(String, PerSecond)>,
}

impl Goodput {
    /// A recorder of groups with these names, without any payload.
    pub fn new(groups: impl Iterator<Item = String>) -> Self {
        Goodput { groups: groups.map(|name| (name, PerSecond::default())).collect() }
    }

    /// Counts `bytes` of `group` that arrived at `at`, in either direction.
    pub fn arrived(&mut self, group: u16, at: Instant, bytes: u64) {
        self.groups[usize::from(group)].1.add(at, bytes);
    }

    /// For each group a column: payload bytes that arrived in each of these seconds.
    pub fn per_second(&self, seconds: Range<usize>) -> Vec<(String, Column)> {
        let column = |series: &PerSecond| Column::U64(series.rows(seconds.clone()));
        let named = |name: &String| format!("{name}.goodput_bytes");
        self.groups.iter().map(|(name, series)| (named(name), column(series))).collect()
    }

    /// Discards the series of the seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.groups.iter_mut().for_each(|(_, series)| series.forget_before(second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_its_own_seconds() {
        let mut goodput = Goodput::new(["web", "bulk"].map(String::from).into_iter());
        let at = |s: f64| Instant::from_nanos((s * 1e9) as u64);
        goodput.arrived(1, at(0.5), 10);
        goodput.arrived(1, at(1.5), 20);
        goodput.arrived(0, at(1.9), 5);
        let columns = goodput.per_second(0..2);
        assert_eq!(columns[0], ("web.goodput_bytes".into(), Column::U64(vec![0, 5])));
        assert_eq!(columns[1], ("bulk.goodput_bytes".into(), Column::U64(vec![10, 20])));
    }
}
