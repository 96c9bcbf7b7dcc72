//! Response times of the measured interval as a histogram: 1 ms bins up to 3 s, then bins 1 %
//! wide; the last bin (upper edge infinite) holds the failed requests.

use crate::times::Times;
use crate::{Column, Table};

/// The table while it is put together, block by block.
#[derive(Default)]
pub(crate) struct ResponseHistogram {
    group: Vec<u16>,
    upper_ms: Vec<f64>,
    count: Vec<u64>,
}

impl ResponseHistogram {
    /// Adds a block of rows: the histogram of all these response times together.
    pub fn block(&mut self, group: u16, times: &[&Times]) {
        let all = || times.iter().flat_map(|part| part.ns());
        let longest = all().max().copied().unwrap_or(0);
        let mut edges: Vec<f64> = (1..=3_000).map(f64::from).collect();
        while edges[edges.len() - 1] < longest as f64 / 1e6 {
            edges.push(edges[edges.len() - 1] * 1.01);
        }
        let mut counts = vec![0u64; edges.len() + 1];
        for &ns in all() {
            counts[edges.partition_point(|&edge| edge < ns as f64 / 1e6)] += 1;
        }
        edges.push(f64::INFINITY);
        counts[edges.len() - 1] = times.iter().map(|part| part.failed()).sum();
        self.group.resize(self.group.len() + edges.len(), group);
        self.upper_ms.extend(edges);
        self.count.extend(counts);
    }

    /// The table, with or without the column `group`.
    pub fn into_table(self, by_group: bool) -> Table {
        let mut columns = Vec::new();
        if by_group {
            columns.push(("group".into(), Column::U16(self.group)));
        }
        columns.push(("upper_ms".into(), Column::F64(self.upper_ms)));
        columns.push(("count".into(), Column::U64(self.count)));
        Table { name: "response_histogram", columns, every_s: None }
    }
}
