//! Values that are read from a meter during a run or after it: totals, samples, the trace of
//! packets and the counts of a second.

use packet::{Backlog, DropReason};

use super::Meter;
use crate::packet_class::ClassCounts;
use crate::packet_trace::PacketTrace;
use crate::{Column, Table};

/// Packet counts of the whole run, for the check that every arrival is dropped, transmitted or
/// waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets and bytes that arrived.
    pub arrived: (u64, u64),
    /// Packets and bytes that were dropped.
    pub dropped: (u64, u64),
    /// Packets and bytes whose transmission has begun.
    pub started: (u64, u64),
}

/// Counts of one second at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// Departures, their IP bytes, and the sum of their waiting times, ns.
    pub departures: [u64; 3],
    /// Number of drops by reason, in the order of [`DropReason`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Number of marks by reason, in the order of [`MarkReason`](packet::MarkReason).
    pub marks: [u64; DropReason::ALL.len()],
}

impl Meter {
    /// Counts of the whole run.
    pub fn totals(&self) -> Totals {
        let packets = self.arrived.iter().map(ClassCounts::total).sum();
        let arrived = (packets, self.arrived_bytes.iter().sum());
        let [packets, bytes, _] = self.departed.total();
        let started = (self.outlasted.0 + packets, self.outlasted.1 + bytes);
        Totals { arrived, dropped: self.dropped, started }
    }
    /// The backlog as last reported.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
    /// Number of packets with payload that reached the port in the whole run.
    pub fn data_packets(&self) -> u64 {
        self.arrived.iter().map(ClassCounts::with_payload).sum()
    }
    /// A hash over time, flow and size of every departure in order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
    /// Number of packets that wait according to the trace; none without a trace.
    pub fn traced_backlog(&self) -> Option<u32> {
        self.trace.as_ref().map(|trace| trace.waiting())
    }
    /// The kept samples as columns: the queue in packets, under the port's name, and the gauges.
    pub fn samples(&self, port: &str) -> Vec<(String, Column)> {
        let queue = (port.to_owned(), self.kept.column());
        let gauges = self.gauges.iter().filter(|_| self.settings.gauges);
        let gauges = gauges.flat_map(|gauges| gauges.columns(port));
        std::iter::once(queue).chain(gauges).collect()
    }
    /// The traces of packets at several ports in order of time; none unless all were kept.
    pub fn trace<'a>(ports: impl Iterator<Item = &'a Meter>) -> Option<Table> {
        let kept = |port: &'a Meter| port.trace.as_deref().filter(|_| port.settings.trace);
        let traces: Option<Vec<&PacketTrace>> = ports.map(kept).collect();
        traces.map(|traces| PacketTrace::table(&traces))
    }

    /// Discards the series of the seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.arrivals.forget_before(second);
        self.departed.forget_before(second);
        self.drops.forget_before(second);
        self.marks.forget_before(second);
    }

    /// Departures, drops and marks at the port in second `second`.
    pub fn second(&self, second: usize) -> Second {
        Second {
            departures: self.departed.row(second),
            drops: self.drops.row(second),
            marks: self.marks.row(second),
        }
    }
}
