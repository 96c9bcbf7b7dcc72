//! Goodput and responses of every user and flow that sends requests.

use crate::measure::{BARE, Measure, real};
use crate::{Column, Summary, Table, jain_index};

pub(crate) static MEASURES: &[Measure<[f64]>] = &[real(
    "sources_jain_index",
    BARE.digits(3),
    "Jain's index of sources",
    jain_index,
    "of the goodputs in `sources`, as `jain_index`; only with `record.sources`",
)];

/// Counts of one user or flow in the measured interval.
#[derive(Clone, Copy, Debug)]
struct Source {
    group: u16,
    user: u32,
    responses: u64,
    response_bytes: u64,
    delivered: u64,
}

/// The recorder of users and flows, which are numbered over all groups.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    rows: Vec<Source>,
    /// The row of each user; `None` for users that send no requests.
    row_of: Vec<Option<u32>>,
}

impl Sources {
    /// Adds the next user or flow of the scenario; it gets a row if it sends requests.
    pub fn add(&mut self, group: u16, asks: bool) {
        let user = self.row_of.len() as u32;
        self.row_of.push(asks.then_some(self.rows.len() as u32));
        if asks {
            self.rows.push(Source { group, user, responses: 0, response_bytes: 0, delivered: 0 });
        }
    }

    fn of(&mut self, user: u32) -> Option<&mut Source> {
        let row = self.row_of[user as usize]?;
        Some(&mut self.rows[row as usize])
    }

    /// Counts a request of `user` that was answered in the measured interval.
    pub fn answered(&mut self, user: u32, reply_bytes: u64) {
        if let Some(source) = self.of(user) {
            source.responses += 1;
            source.response_bytes += reply_bytes;
        }
    }

    /// Adds payload of a connection of `user` that arrived in order at its ends in the measured
    /// interval.
    pub fn delivered(&mut self, user: u32, bytes: u64) {
        if let Some(source) = self.of(user) {
            source.delivered += bytes;
        }
    }

    fn goodputs(&self, seconds: f64) -> Vec<f64> {
        self.rows.iter().map(|source| source.delivered as f64 * 8.0 / seconds).collect()
    }

    /// Writes the measures of a measured interval of `seconds`.
    pub fn summarise(&self, seconds: f64, out: &mut Summary) {
        out.write(MEASURES, self.goodputs(seconds).as_slice());
    }

    /// A table with one row for each user or flow that sends requests.
    pub fn table(&self, seconds: f64) -> Table {
        let whole = |of: fn(&Source) -> u64| Column::U64(self.rows.iter().map(of).collect());
        let columns = vec![
            ("group".to_owned(), Column::U16(self.rows.iter().map(|s| s.group).collect())),
            ("user".to_owned(), Column::U32(self.rows.iter().map(|s| s.user).collect())),
            ("responses".to_owned(), whole(|s| s.responses)),
            ("response_bytes".to_owned(), whole(|s| s.response_bytes)),
            ("goodput_bits_per_s".to_owned(), Column::F64(self.goodputs(seconds))),
        ];
        Table { name: "sources", columns, every_s: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_asks_for_replies_has_a_row() {
        let mut sources = Sources::default();
        sources.add(0, false);
        sources.add(1, true);
        sources.add(1, true);
        for (user, bytes) in [(0, 9_000), (1, 1_250), (2, 2_500)] {
            sources.answered(user, bytes - 250);
            sources.delivered(user, bytes);
        }
        let mut out = Summary::default();
        sources.summarise(10.0, &mut out);
        assert!((out.number("sources_jain_index") - 0.9).abs() < 1e-12);
        let columns: Vec<Column> =
            sources.table(10.0).columns.into_iter().map(|(_, column)| column).collect();
        assert_eq!(columns[0], Column::U16(vec![1, 1]));
        assert_eq!(columns[1], Column::U32(vec![1, 2]));
        assert_eq!(columns[3], Column::U64(vec![1_000, 2_250]));
        assert_eq!(columns[4], Column::F64(vec![1_000.0, 2_000.0]));
    }
}
