//! Answered requests by the size of the reply.

use crate::log_histogram::LogHistogram;
use crate::{Column, Request, Table};

/// Counts and times of answers of similar size.
#[derive(Clone, Debug, Default)]
struct SizeBin {
    responses: u64,
    bytes: u64,
    took_ns: u64,
    retransmitted: u64,
    times: LogHistogram,
}

/// Answers by the binary logarithm of their size, rounded up.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    bins: Vec<SizeBin>,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { bins: vec![SizeBin::default(); 33] }
    }
}

impl Sizes {
    /// Adds a request that was answered after `took_ns`.
    pub fn answered(&mut self, request: &Request, took_ns: u64) {
        let bin = &mut self.bins[bin_of(request.reply_bytes)];
        bin.responses += 1;
        bin.bytes += u64::from(request.reply_bytes);
        bin.took_ns += took_ns;
        bin.retransmitted += u64::from(request.retransmitted);
        bin.times.add(took_ns);
    }

    /// A table by the size of the reply. Each row holds the sizes above the previous row's and up
    /// to its own, which doubles from row to row. Mean and quantiles are 0 if there is no response.
    pub fn table(&self) -> Table {
        let last = self.bins.iter().rposition(|bin| bin.responses > 0).map_or(0, |i| i + 1);
        let bins = &self.bins[..last];
        let whole = |of: fn(&SizeBin) -> u64| Column::U64(bins.iter().map(of).collect());
        let real = |of: fn(&SizeBin) -> f64| Column::F64(bins.iter().map(of).collect());
        Table {
            name: "response_sizes",
            columns: vec![
                ("upto_bytes".into(), Column::U64((0..last).map(|i| 1 << i).collect())),
                ("responses".into(), whole(|b| b.responses)),
                ("bytes".into(), whole(|b| b.bytes)),
                ("mean_s".into(), real(|b| b.took_ns as f64 / 1e9 / b.responses.max(1) as f64)),
                ("p50_s".into(), real(|b| b.times.quantile_s(0.5))),
                ("p90_s".into(), real(|b| b.times.quantile_s(0.9))),
                ("retransmitted".into(), whole(|b| b.retransmitted)),
            ],
            every_s: None,
        }
    }
}

/// The bin of a size: i holds the sizes above 2^(i-1) and up to 2^i.
fn bin_of(bytes: u32) -> usize {
    u64::from(bytes.max(1)).next_power_of_two().trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Instant;

    #[test]
    fn sizes_fall_into_bins_that_double() {
        assert_eq!([0, 1, 2, 3, 4, 5, 1 << 31, u32::MAX].map(bin_of), [0, 0, 1, 2, 2, 3, 31, 32]);
        let mut sizes = Sizes::default();
        for (ms, retransmitted) in [(500, false), (1_500, true), (2_500, false)] {
            let request = Request {
                requested: Instant::ZERO,
                ended: Instant::from_nanos(ms * 1_000_000),
                request_bytes: 300,
                reply_bytes: 1_000,
                user: 1,
                group: 0,
                retransmitted,
                failed: false,
            };
            sizes.answered(&request, ms * 1_000_000);
        }
        let table = sizes.table();
        let last = |name: &str| {
            let (_, column) = table.columns.iter().find(|(n, _)| n == name).unwrap();
            assert_eq!(column.len(), 11);
            match column {
                Column::U64(values) => values[10] as f64,
                Column::F64(values) => values[10],
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(["responses", "retransmitted", "mean_s"].map(last), [3.0, 1.0, 1.5]);
        for (name, exact) in [("p50_s", 1.5), ("p90_s", 2.5)] {
            assert!((last(name) / exact - 1.0).abs() < 0.008, "{name}: {}", last(name));
        }
    }
}
