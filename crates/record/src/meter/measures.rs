//! The measures of a port's meter at the end of a run, and its series of seconds.

use std::ops::Range;

use packet::DropReason;

use super::Meter;
use crate::measure::{AS_MS, BYTES, Measure, PACKETS, SECONDS, SHARE, Unit, figure, real, whole};
use crate::sojourn::Sojourns;
use crate::{Column, Figure, Summary, Table, ratio};

const BYTES_PER_S: Unit = Unit::of("bytes/s").shown("kB/s", 1e-3);
const RATE: Unit = Unit::of("bit/s").shown("Mbit/s", 1e-6).digits(2);

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Meter>] = &[
    whole("arrivals", PACKETS, "arrivals", |m| m.arrived[1].total(), "that reached the port"),
    whole("departures", PACKETS, "departures", |m| m.measured.departures, "whose transmission ended"),
    whole("drops", PACKETS, "drops", Meter::drops, "dropped"),
    whole("marks", PACKETS, "marks", Meter::marks, "marked"),
    real("drop_rate", SHARE.digits(2), "loss", |m| ratio(m.measured.own_drops, m.arrived[1].total()),
        "of the arrivals, dropped in the measured interval: drops of packets that arrived before it do not count"),
    real("mark_rate", SHARE.digits(2), "marked", |m| ratio(m.measured.own_marks, m.arrived[1].total()),
        "of the arrivals, marked in the measured interval: each counts once, those that arrived before it do not"),
    whole("drops_early", PACKETS, "drops, early", |m| m.drops_by(DropReason::Early),
        "dropped by the discipline's random decision"),
    whole("drops_forced", PACKETS, "drops, forced", |m| m.drops_by(DropReason::Forced),
        "dropped by the discipline's certain decision"),
    whole("drops_overflow", PACKETS, "drops, no room", |m| m.drops_by(DropReason::Overflow),
        "dropped for want of room"),
    whole("drops_superseded", PACKETS, "drops, superseded", |m| m.drops_by(DropReason::AckFiltered),
        "acknowledgements dropped because a later one made them unnecessary"),
    whole("marks_early", PACKETS, "marks, early", |m| m.marks_by(DropReason::Early),
        "marked by the discipline's random decision"),
    whole("marks_forced", PACKETS, "marks, forced", |m| m.marks_by(DropReason::Forced),
        "marked by the discipline's certain decision"),
    whole("marks_overflow", PACKETS, "marks, no room", |m| m.marks_by(DropReason::Overflow),
        "marked for want of room"),
    whole("arrivals_syn", PACKETS, "arrivals, SYN", |m| m.arrived[1].sorts()[0],
        "of the arrivals: SYN and SYN-ACK. What is neither of these three is a datagram"),
    whole("arrivals_ack", PACKETS, "arrivals, ACK", |m| m.arrived[1].sorts()[1],
        "of the arrivals: pure acknowledgements and FINs, both without payload"),
    whole("arrivals_data", PACKETS, "arrivals, data", |m| m.arrived[1].sorts()[2],
        "of the arrivals: segments with payload, whatever their flags"),
    whole("drops_syn", PACKETS, "drops, SYN", |m| m.measured.lost.sorts()[0],
        "of the drops: SYN and SYN-ACK"),
    whole("drops_ack", PACKETS, "drops, ACK", |m| m.measured.lost.sorts()[1],
        "of the drops: pure acknowledgements and FINs, both without payload"),
    whole("drops_data", PACKETS, "drops, data", |m| m.measured.lost.sorts()[2],
        "of the drops: segments with payload, whatever their flags"),
    real("drop_rate_syn", SHARE.digits(2), "loss, SYN", |m| m.drop_rate_of(0),
        "of arrivals_syn, dropped in the measured interval: those that arrived before it do not count"),
    real("drop_rate_ack", SHARE.digits(2), "loss, ACK", |m| m.drop_rate_of(1),
        "of arrivals_ack, dropped in the measured interval: those that arrived before it do not count"),
    real("drop_rate_data", SHARE.digits(2), "loss, data", |m| m.drop_rate_of(2),
        "of arrivals_data, dropped in the measured interval: those that arrived before it do not count"),
    whole("retransmissions_dropped", PACKETS, "retransmissions dropped", |m| m.measured.lost.retransmissions(),
        "dropped retransmissions of any kind: they begin with a number that was sent before"),
    real("longest_drop_run_s", SECONDS, "longest run of drops", |m| m.drop_run.longest_s(),
        "longest time in which every arrival was dropped: from the first drop of a run of arrivals all \
         dropped on arrival to the next arrival that was not, or to the end of the run; drops before \
         the measured interval and those of packets that waited do not count; 0 without any"),
    whole("longest_drop_run_packets", PACKETS, "longest run of drops", |m| m.drop_run.longest_packets(),
        "most arrivals dropped in a row, not necessarily in the longest time"),
    whole("arrival_bytes", BYTES, "bytes that arrived", |m| m.arrived_bytes[1], "of the arrivals"),
    whole("departure_bytes", BYTES, "bytes that departed", |m| m.measured.departure_bytes,
        "of the departures"),
    whole("drop_bytes", BYTES, "bytes dropped", |m| m.measured.drop_bytes, "of the drops"),
    real("utilisation", SHARE, "utilisation", Meter::utilisation,
        "of the time in which the line was busy, framing included; where its rate changes, of what it \
         offered (a packet that waits for the next opportunity, or out an outage, keeps the line busy \
         and uses nothing)"),
    figure("capacity_mean_bits_per_s", RATE, "capacity",
        |m| m.capacity.map(|capacity| Figure::Real(capacity.mean_bits_per_s)),
        "that the line offered, framing included: its rate, or the mean of one that changes"),
    real("throughput_bytes_per_s", BYTES_PER_S, "throughput",
        |m| m.measured.departure_bytes as f64 / m.seconds(), "that departed"),
    real("queue_time_mean_packets", PACKETS.digits(1), "queue, mean over time",
        |m| m.measured.packet_ns as f64 / 1e9 / m.seconds(), "average over time, not over samples"),
    whole("queue_peak_packets", PACKETS, "queue, largest", |m: &Meter| u64::from(m.peak_packets),
        "largest queue at any instant").whole_run(),
    real("queue_mean_bytes", BYTES, "queue, mean over time",
        |m| m.measured.byte_ns as f64 / 1e9 / m.seconds(), "average over time, not over samples"),
    real("queue_delay_mean_s", AS_MS.digits(1), "queueing delay", Meter::queue_delay_mean_s,
        "mean time from arrival to the begin of transmission"),
    real("queue_delay_p50_s", AS_MS.digits(1), "queueing delay, median", |m| m.delays.quantiles_s[0], DELAY),
    real("queue_delay_p90_s", AS_MS.digits(1), "queueing delay, 90 %", |m| m.delays.quantiles_s[1], DELAY),
    real("queue_delay_p95_s", AS_MS.digits(1), "queueing delay, 95 %", |m| m.delays.quantiles_s[2], DELAY),
    real("queue_delay_p99_s", AS_MS.digits(1), "queueing delay, 99 %", |m| m.delays.quantiles_s[3], DELAY),
    real("queue_delay_p99_9_s", AS_MS.digits(1), "queueing delay, 99.9 %", |m| m.delays.quantiles_s[4], DELAY),
    real("queue_delay_max_s", AS_MS.digits(1), "queueing delay, longest",
        |m| m.delays.longest_s,
        "longest time from arrival to the begin of transmission; null without departures"),
];

const DELAY: &str = "quantile over packets of the time from arrival to the begin of transmission (sojourn time \
     in the queue), within 0.8 %; null without departures";

impl Meter {
    /// Length of the measured interval in seconds, times the number of copies of this line.
    pub(super) fn seconds(&self) -> f64 {
        self.settings.window.seconds() * f64::from(self.copies)
    }

    pub(super) fn drops(&self) -> u64 {
        self.measured.drops.iter().sum()
    }

    /// Share of the arrivals of the measured interval that was dropped in it, of one of the three
    /// classes of [`ClassCounts::sorts`](crate::packet_class::ClassCounts::sorts).
    fn drop_rate_of(&self, class: usize) -> f64 {
        ratio(self.measured.own_lost.sorts()[class], self.arrived[1].sorts()[class])
    }

    pub(super) fn marks(&self) -> u64 {
        self.measured.marks.iter().sum()
    }

    fn drops_by(&self, why: DropReason) -> u64 {
        self.measured.drops[why as usize]
    }

    fn marks_by(&self, why: DropReason) -> u64 {
        self.measured.marks[why as usize]
    }

    pub(super) fn utilisation(&self) -> f64 {
        let used = self.capacity.and_then(|capacity| capacity.used);
        used.unwrap_or(self.measured.busy_ns as f64 / 1e9 / self.seconds())
    }

    fn queue_delay_mean_s(&self) -> f64 {
        if self.delays.count == 0 { 0.0 } else { self.delays.mean_s }
    }

    /// Adds the queueing delays of classes of packets to a summary; `groups` are the names of the
    /// traffic groups, in the order of the scenario.
    pub fn summarise_delays(&self, groups: &[&str], out: &mut Summary) {
        self.sojourns.summarise(groups, out);
    }

    /// The table of the histograms of queueing delays at several ports.
    pub fn delays_table<'a>(ports: impl Iterator<Item = &'a Meter>) -> Table {
        Sojourns::table(ports.map(|meter| &meter.sojourns))
    }

    /// Writes the measures of the measured interval.
    pub fn summarise(&self, out: &mut Summary) {
        out.write(MEASURES, self);
        if self.settings.sample_every.is_some() {
            self.samples.summarise(out);
        }
        if let Some(gauges) = self.gauges.as_ref().filter(|_| self.settings.gauges) {
            gauges.summarise(out);
        }
    }

    /// The series of these seconds as columns named `<port>.<series>`.
    pub fn per_second(&self, port: &str, seconds: Range<usize>) -> Vec<(String, Column)> {
        let [departures, bytes, delays] =
            [0, 1, 2].map(|i| self.departed.column(i, seconds.clone()));
        let delays = delays.iter().zip(&departures).map(|(&ns, &n)| mean_s(ns as f64, n)).collect();
        let series = [
            ("arrivals", Column::U64(self.arrivals.rows(seconds.clone()))),
            ("departures", Column::U64(departures)),
            ("drops", Column::U64(self.drops.sums(seconds.clone()))),
            ("marks", Column::U64(self.marks.sums(seconds))),
            ("ip_bytes", Column::U64(bytes)),
            ("queue_delay_mean_s", Column::F64(delays)),
        ];
        series.into_iter().map(|(name, column)| (format!("{port}.{name}"), column)).collect()
    }
}

/// The mean, in seconds, of `n` times whose sum is `ns` nanoseconds; 0 if `n` is 0.
fn mean_s(ns: f64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { ns / 1e9 / n as f64 }
}
