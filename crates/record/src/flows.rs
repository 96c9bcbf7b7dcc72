//! Connections as flows: the goodput of long ones, and the recoveries of senders.

use crate::measure::{BARE, BITS_PER_S, CONNECTIONS, Measure, SEGMENTS, real, whole};
use crate::{Column, Summary, Table};

/// A transfer without replies on a connection open over the whole measured interval, and the bytes
/// of it that arrived in that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFlow {
    /// Index of the traffic group in the scenario.
    pub group: u16,
    /// Number of the user or flow, counted over all groups.
    pub source: u32,
    /// Payload bytes that arrived in order at the side that accepted the connection.
    pub to_acceptor: u64,
    /// Payload bytes that arrived in order at the side that opened it.
    pub to_opener: u64,
}

/// Recoveries of senders in the measured interval, over both ends of every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// Number of retransmission timers that expired.
    pub timeouts: u64,
    /// Number of recoveries begun by duplicate or selective acknowledgements.
    pub fast_retransmits: u64,
    /// Number of timeouts found to have been needless (F-RTO, timestamps, an early
    /// acknowledgement), by senders that detect this.
    pub spurious_timeouts: u64,
    /// Number of reductions of the congestion window because of ECN.
    pub ecn_reductions: u64,
    /// Number of retransmitted segments with payload.
    pub retransmitted: u64,
}

#[rustfmt::skip]
pub(crate) static RECOVERIES: &[Measure<Recoveries>] = &[
    whole("timeouts", BARE, "timeouts", |r| r.timeouts,
        "retransmission timers that expired, over both ends of every connection"),
    whole("fast_retransmits", BARE, "fast retransmits", |r| r.fast_retransmits,
        "recoveries begun by duplicate or selective acknowledgements, of these senders"),
    whole("spurious_timeouts", BARE, "spurious timeouts", |r| r.spurious_timeouts,
        "timeouts that the sender found needless, of these senders"),
    whole("ecn_reductions", BARE, "reductions by ECN", |r| r.ecn_reductions,
        "reductions of the window because of ECN, of these senders; they can exceed the marks: a sender without \
         data to carry its answer (CWR) gets the echo again"),
    whole("segments_retransmitted", SEGMENTS, "segments retransmitted", |r| r.retransmitted,
        "with payload retransmitted, needlessly or not, over both ends of every connection"),
];

#[rustfmt::skip]
pub(crate) static LONG: &[Measure<[f64]>] = &[
    whole("long_flows", CONNECTIONS, "long flows", |goodputs| goodputs.len() as u64,
        "of senders that request no replies, open over the whole measured interval (see `flows`)"),
    real("long_flow_goodput_mean_bits_per_s", BITS_PER_S, "long flows, mean",
        |goodputs| goodputs.iter().sum::<f64>() / goodputs.len() as f64,
        "mean goodput of these; null without any"),
    real("long_flow_goodput_min_bits_per_s", BITS_PER_S, "long flows, least",
        |goodputs| goodputs.iter().copied().fold(f64::NAN, f64::min), "least; null without any"),
    real("long_flow_goodput_max_bits_per_s", BITS_PER_S, "long flows, largest",
        |goodputs| goodputs.iter().copied().fold(f64::NAN, f64::max), "largest; null without any"),
    real("jain_index", BARE.digits(3), "Jain's index", jain_index,
        "of their goodputs: 1 if all are equal, 1/n if one has all (Jain, Chiu and Hawe, 1984)"),
];

/// The recorder of long flows and of senders' recoveries.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    long: Vec<LongFlow>,
    recoveries: Recoveries,
}

impl Flows {
    /// Adds a connection that was open over the whole measured interval.
    pub fn long(&mut self, flow: LongFlow) {
        self.long.push(flow);
    }

    /// Sorts the long flows by user, whatever the order in which they were added.
    pub fn sort(&mut self) {
        self.long.sort_by_key(|flow| flow.source);
    }

    /// Adds the recoveries of a connection's ends in the measured interval.
    pub fn recovered(&mut self, by: Recoveries) {
        self.recoveries.timeouts += by.timeouts;
        self.recoveries.fast_retransmits += by.fast_retransmits;
        self.recoveries.spurious_timeouts += by.spurious_timeouts;
        self.recoveries.ecn_reductions += by.ecn_reductions;
        self.recoveries.retransmitted += by.retransmitted;
    }

    fn goodputs(&self, seconds: f64) -> Vec<f64> {
        let bits = |f: &LongFlow| (f.to_acceptor + f.to_opener) as f64 * 8.0 / seconds;
        self.long.iter().map(bits).collect()
    }

    /// Writes the measures of a measured interval of `seconds`.
    pub fn summarise(&self, seconds: f64, out: &mut Summary) {
        out.write(RECOVERIES, &self.recoveries);
        out.write(LONG, self.goodputs(seconds).as_slice());
    }

    /// A table with one row for each long flow; none without any.
    pub fn table(&self, seconds: f64) -> Option<Table> {
        let whole = |of: fn(&LongFlow) -> u64| Column::U64(self.long.iter().map(of).collect());
        let columns = vec![
            ("group".to_owned(), Column::U16(self.long.iter().map(|f| f.group).collect())),
            ("user".to_owned(), Column::U32(self.long.iter().map(|f| f.source).collect())),
            ("to_acceptor_bytes".to_owned(), whole(|f| f.to_acceptor)),
            ("to_opener_bytes".to_owned(), whole(|f| f.to_opener)),
            ("goodput_bits_per_s".to_owned(), Column::F64(self.goodputs(seconds))),
        ];
        (!self.long.is_empty()).then_some(Table { name: "flows", columns, every_s: None })
    }
}

/// Jain's fairness index of shares: 1 if all are equal, 1/n if one has all (Jain, Chiu and Hawe,
/// DEC-TR-301, 1984). NaN without shares.
pub fn jain_index(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_by_hand() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert!((jain_index(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-15);
        assert!(jain_index(&[]).is_nan());
    }

    #[test]
    fn goodput_counts_both_directions() {
        let mut flows = Flows::default();
        flows.long(LongFlow { group: 0, source: 3, to_acceptor: 1_000, to_opener: 250 });
        let two = Recoveries { timeouts: 2, fast_retransmits: 1, ..Recoveries::default() };
        flows.recovered(two);
        flows.recovered(Recoveries { timeouts: 1, fast_retransmits: 0, ..two });
        let mut out = Summary::default();
        flows.summarise(10.0, &mut out);
        assert_eq!(out.number("long_flow_goodput_min_bits_per_s"), 1_000.0);
        assert_eq!((out.number("timeouts"), out.number("fast_retransmits")), (3.0, 1.0));
        assert_eq!(out.number("jain_index"), 1.0);
    }
}
