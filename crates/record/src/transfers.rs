//! Transfers without a reply: when they began, when the last byte was acknowledged.

use std::collections::BTreeMap;

use packet::Instant;

use crate::measure::{Measure, SECONDS, Unit, real, whole};
use crate::{Column, Fingerprint, Keep, Summary, Table};

/// One transfer that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// When the SYN of the transfer was sent.
    pub started: Instant,
    /// When the last acknowledgement arrived, or the connection was given up.
    pub ended: Instant,
    /// Payload, bytes.
    pub bytes: u64,
    /// The sender, numbered over all groups of the scenario.
    pub user: u32,
    /// Index of the sender's group in the scenario.
    pub group: u16,
    /// Whether the transfer was given up.
    pub failed: bool,
}

/// The outcome of one group's transfers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    began: Instant,
    over: Instant,
    finished: u64,
    failed: u64,
}

const TRANSFERS: Unit = Unit::of("transfers");

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Burst>] = &[
    whole("finished", TRANSFERS, "finished", |b: &Burst| b.finished,
        "of a group's transfers without a reply; only where there are some").whole_run(),
    whole("failed", TRANSFERS, "failed", |b: &Burst| b.failed, "of these, given up").whole_run(),
    real("elapsed_s", SECONDS, "elapsed", |b: &Burst| b.over.since(b.began).secs_f64(),
        "from their first SYN to their last acknowledgement").whole_run(),
];

/// The log of all transfers.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    keep: Keep,
    rows: Vec<Transfer>,
    bursts: BTreeMap<u16, Burst>,
    fingerprint: Fingerprint,
}

impl Transfers {
    /// An empty log. A bounded one keeps no rows.
    pub fn new(keep: Keep) -> Self {
        Transfers { keep, ..Transfers::default() }
    }

    /// Adds a transfer that has ended. Transfers must be added in the order of their ends.
    pub fn ended(&mut self, transfer: Transfer) {
        let took = transfer.ended.since(transfer.started).nanos();
        let word = transfer.ended.nanos() ^ (took << 20) ^ u64::from(transfer.user);
        self.fingerprint.add(word);
        let burst = self.bursts.entry(transfer.group).or_insert(Burst {
            began: transfer.started,
            over: transfer.ended,
            finished: 0,
            failed: 0,
        });
        burst.began = burst.began.min(transfer.started);
        burst.over = transfer.ended;
        burst.finished += u64::from(!transfer.failed);
        burst.failed += u64::from(transfer.failed);
        if self.keep == Keep::Everything {
            self.rows.push(transfer);
        }
    }

    /// A hash over every transfer's end, duration and sender, in order; none without any.
    pub fn fingerprint(&self) -> Option<u64> {
        (!self.bursts.is_empty()).then_some(self.fingerprint.value())
    }

    /// The measures of one group over the whole run, warm-up included: its transfers that have
    /// finished or failed, and the time from their first SYN to their last acknowledgement. `None`
    /// if no transfer has ended.
    pub fn summarise(&self, group: u16) -> Option<Summary> {
        let burst = self.bursts.get(&group)?;
        let mut out = Summary::default();
        out.write(MEASURES, burst);
        Some(out)
    }

    /// A table with a row for every transfer; none without rows.
    pub fn into_log(self) -> Option<Table> {
        if self.rows.is_empty() {
            return None;
        }
        let u64s = |of: fn(&Transfer) -> u64| Column::U64(self.rows.iter().map(of).collect());
        let columns = [
            ("start_ns", u64s(|t| t.started.nanos())),
            ("end_ns", u64s(|t| t.ended.nanos())),
            ("bytes", u64s(|t| t.bytes)),
            ("user", Column::U32(self.rows.iter().map(|t| t.user).collect())),
            ("failed", Column::U8(self.rows.iter().map(|t| u8::from(t.failed)).collect())),
            ("group", Column::U16(self.rows.iter().map(|t| t.group).collect())),
        ];
        let columns = columns.into_iter().map(|(n, c)| (n.to_owned(), c)).collect();
        Some(Table { name: "transfers", columns, every_s: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_lasts_from_its_first_syn_to_its_last_acknowledgement() {
        let at = |s: f64| Instant::from_secs_f64(s);
        let mut log = Transfers::default();
        assert!(log.summarise(0).is_none() && log.fingerprint().is_none());
        for (group, started, ended, failed) in [
            (1, 5.0, 9.0, false),
            (1, 5.5, 8.0, false),
            (1, 5.0, 11.5, true),
            (0, 0.0, 60.0, false),
        ] {
            let (started, ended) = (at(started), at(ended));
            log.ended(Transfer { started, ended, bytes: 7, user: 3, group, failed });
        }
        let burst = log.summarise(1).unwrap();
        let figures = ["finished", "failed", "elapsed_s"].map(|name| burst.number(name));
        assert_eq!(figures, [2.0, 1.0, 6.5]);
        assert_eq!(log.summarise(0).unwrap().number("elapsed_s"), 60.0);
        assert!(log.fingerprint().is_some());
        assert_eq!(log.into_log().unwrap().columns[4].1, Column::U8(vec![0, 0, 1, 0]));
    }
}
