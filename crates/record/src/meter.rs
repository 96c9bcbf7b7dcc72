//! What is measured at one port.
//!
//! The meter is lazy: queue samples and time averages are brought up to date when the queue is
//! about to change, so an idle queue costs nothing and no sampling event exists.

use packet::{Backlog, Duration, Instant, Why};

use crate::drop_run::DropRun;
use crate::gauges::Gauges;
use crate::packet_class::ClassCounts;
use crate::packet_trace::PacketTrace;
use crate::samples::{Kept, Samples};
use crate::{Capacity, Column, Fingerprint, PacketClass, PerSecond, Summary, Table, Window};

/// What a meter is to record.
#[derive(Clone, Copy, Debug)]
pub struct MeterSettings {
    /// The measured interval.
    pub window: Window,
    /// Distance of queue samples, if the queue is sampled at all.
    pub sample_every: Option<Duration>,
    /// Whether to keep every sample (else only their statistics).
    pub keep_samples: bool,
    /// Whether the discipline's gauges are sampled with the queue.
    pub gauges: bool,
    /// Whether to keep a row of everything that happens to packets.
    pub trace: bool,
}

/// Packet counts of the whole run: what the conservation law is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets and bytes that came in.
    pub arrived: (u64, u64),
    /// That were dropped.
    pub dropped: (u64, u64),
    /// Whose transmission has begun.
    pub started: (u64, u64),
}

/// Counts within the measured interval.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    arrival_bytes: u64,
    departures: u64,
    departure_bytes: u64,
    busy_ns: u64,
    drops: [u64; Why::ALL.len()],
    drop_bytes: u64,
    lost: ClassCounts,
    marks: [u64; Why::ALL.len()],
    packet_ns: u64,
    byte_ns: u128,
    queue_delay_ns: u128,
}

/// The recorder at one port.
#[derive(Clone, Debug)]
pub struct Meter {
    settings: MeterSettings,
    totals: Totals,
    /// What arrived before the measured interval, and in it.
    arrived: [ClassCounts; 2],
    measured: Measured,
    backlog: Backlog,
    peak_packets: u32,
    changed: Instant,
    next_sample: u64,
    samples: Samples,
    kept: Kept,
    /// When the next sample of the gauges is due.
    next_gauge: u64,
    gauges: Option<Box<Gauges>>,
    drop_run: DropRun,
    trace: Option<Box<PacketTrace>>,
    arrivals: PerSecond,
    /// Departures, their bytes, and how long they had waited, ns.
    departed: PerSecond<3>,
    drops: PerSecond,
    marks: PerSecond,
    fingerprint: Fingerprint,
    /// What the line offered, once it is told.
    capacity: Option<Capacity>,
}

const NO_SAMPLE: u64 = u64::MAX;

impl Meter {
    /// A meter at an empty queue at time zero.
    pub fn new(settings: MeterSettings) -> Self {
        let shown = settings.gauges && settings.sample_every.is_some();
        Meter {
            settings,
            totals: Totals::default(),
            arrived: Default::default(),
            measured: Measured::default(),
            backlog: Backlog::default(),
            peak_packets: 0,
            changed: Instant::ZERO,
            next_sample: if settings.sample_every.is_some() { 0 } else { NO_SAMPLE },
            samples: Samples::default(),
            kept: Kept::default(),
            next_gauge: if shown { 0 } else { NO_SAMPLE },
            gauges: shown.then(|| Box::new(Gauges::new(settings))),
            drop_run: DropRun::default(),
            trace: settings.trace.then(Box::default),
            arrivals: PerSecond::default(),
            departed: PerSecond::default(),
            drops: PerSecond::default(),
            marks: PerSecond::default(),
            fingerprint: Fingerprint::default(),
            capacity: None,
        }
    }

    /// A packet of `bytes` reaches the port. A sample of the same instant comes before the arrival.
    #[inline]
    pub fn arrival(&mut self, now: Instant, bytes: u32, class: PacketClass) {
        self.sample_up_to(now.nanos() + 1);
        self.totals.arrived.0 += 1;
        self.totals.arrived.1 += u64::from(bytes);
        self.arrivals.add(now, 1);
        let measured = self.settings.window.contains(now);
        self.arrived[usize::from(measured)].add(class);
        if measured {
            self.measured.arrival_bytes += u64::from(bytes);
        }
    }

    /// The last arrival was not dropped on arrival.
    #[inline]
    pub fn admitted(&mut self, now: Instant) {
        if self.drop_run.is_open() {
            self.drop_run.end(now);
        }
    }

    /// The last arrival was dropped on arrival; that it was dropped is told as of any packet.
    pub fn refused(&mut self, now: Instant) {
        if self.settings.window.contains(now) {
            self.drop_run.refused(now);
        }
    }

    /// The packet was dropped.
    pub fn dropped(&mut self, now: Instant, bytes: u32, why: Why) {
        self.totals.dropped.0 += 1;
        self.totals.dropped.1 += u64::from(bytes);
        self.drops.add(now, 1);
        if self.settings.window.contains(now) {
            self.measured.drops[why as usize] += 1;
            self.measured.drop_bytes += u64::from(bytes);
        }
    }

    /// What was dropped: told apart from [`Meter::dropped`] because a queue does not know.
    pub fn lost(&mut self, now: Instant, class: PacketClass) {
        if self.settings.window.contains(now) {
            self.measured.lost.add(class);
        }
    }

    /// The packet was marked.
    pub fn marked(&mut self, now: Instant, why: Why) {
        self.marks.add(now, 1);
        if self.settings.window.contains(now) {
            self.measured.marks[why as usize] += 1;
        }
    }

    /// A packet that had come at `arrived` and belongs to `flow` leaves the queue. Its transmission
    /// lasts from `start`, later than now if a device holds others before it, until `finish`.
    #[inline]
    pub fn started(
        &mut self,
        start: Instant,
        finish: Instant,
        arrived: Instant,
        bytes: u32,
        flow: u64,
    ) {
        self.totals.started.0 += 1;
        self.totals.started.1 += u64::from(bytes);
        let word = start.nanos() ^ (flow << 40) ^ (u64::from(bytes) << 20);
        self.fingerprint.add(word);
        let window = self.settings.window;
        if finish <= window.to {
            let waited = start.since(arrived).nanos();
            self.departed.add_all(finish, [1, u64::from(bytes), waited]);
            if finish >= window.from {
                self.measured.departures += 1;
                self.measured.departure_bytes += u64::from(bytes);
                self.measured.queue_delay_ns += u128::from(waited);
            }
        }
        let busy_from = start.max(window.from);
        self.measured.busy_ns += finish.min(window.to).since(busy_from).nanos();
    }

    /// What waits has just become `backlog`. A sample of the same instant comes after it.
    #[inline]
    pub fn queue(&mut self, now: Instant, backlog: Backlog) {
        self.sample_up_to(now.nanos());
        self.integrate(now);
        self.backlog = backlog;
        self.peak_packets = self.peak_packets.max(backlog.packets);
    }

    fn integrate(&mut self, now: Instant) {
        let window = self.settings.window;
        let span = now.min(window.to).since(self.changed.max(window.from)).nanos();
        self.measured.packet_ns += u64::from(self.backlog.packets) * span;
        self.measured.byte_ns += u128::from(self.backlog.bytes) * u128::from(span);
        self.changed = now;
    }

    /// Takes the samples due before `before_ns`.
    #[inline]
    fn sample_up_to(&mut self, before_ns: u64) {
        if self.next_sample < before_ns {
            self.take_samples(before_ns);
        }
    }

    #[cold]
    fn take_samples(&mut self, before_ns: u64) {
        let Some(every) = self.settings.sample_every else { return };
        let window = self.settings.window;
        let before_ns = before_ns.min(window.to.nanos());
        while self.next_sample < before_ns {
            if self.next_sample >= window.from.nanos() {
                self.samples.add(self.backlog.packets);
            }
            if self.settings.keep_samples {
                self.kept.push(self.backlog.packets);
            }
            self.next_sample += every.nanos();
        }
    }

    /// Whether a driver must tell more than of arrivals, losses, marks and departures: gauges by
    /// [`Meter::gauges_due`], and what [`Meter::packet_trace`] asks for.
    pub fn watches(&self) -> bool {
        self.trace.is_some() || self.gauges.is_some()
    }

    /// The trace of packets, if there is one.
    #[inline]
    pub fn packet_trace(&mut self) -> Option<&mut PacketTrace> {
        self.trace.as_deref_mut()
    }

    /// Whether samples of the gauges are due before `before_ns`: the driver asks before it calls
    /// the discipline, with the instant of a departure or an update, or one nanosecond more for an
    /// arrival, so that these samples fall where the queue's do.
    #[inline]
    pub fn gauges_due(&self, before_ns: u64) -> bool {
        self.next_gauge < before_ns
    }

    /// Takes the samples of the gauges due before `before_ns`; `ask` shows them.
    #[cold]
    pub fn take_gauges(
        &mut self,
        before_ns: u64,
        ask: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        if let Some(gauges) = &mut self.gauges {
            self.next_gauge = gauges.take(before_ns, ask);
        }
    }

    /// Brings samples and averages up to the end of the run; gauges by [`Meter::take_gauges`].
    pub fn finish(&mut self) {
        let end = self.settings.window.to;
        self.sample_up_to(end.nanos());
        self.integrate(end);
        self.drop_run.end(end);
    }

    /// What the line offered in the measured interval, told at the end of the run.
    pub fn offered(&mut self, capacity: Capacity) {
        self.capacity = Some(capacity);
    }

    /// Counts of the whole run.
    pub fn totals(&self) -> Totals {
        self.totals
    }
    /// What waits, as last told.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
    /// Data packets that reached the port in the whole run.
    pub fn data_packets(&self) -> u64 {
        self.arrived.iter().map(ClassCounts::with_payload).sum()
    }
    /// A hash over time, flow and size of every departure in order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
    /// How many packets wait by the trace; none without a trace.
    pub fn traced_backlog(&self) -> Option<u32> {
        self.trace.as_ref().map(|trace| trace.waiting())
    }
    /// The kept samples as columns: the queue in packets, named as the port, and its gauges.
    pub fn samples(&self, port: &str) -> Vec<(String, Column)> {
        let queue = (port.to_owned(), self.kept.column());
        let gauges = self.gauges.iter().flat_map(|gauges| gauges.columns(port));
        std::iter::once(queue).chain(gauges).collect()
    }
    /// What happened at several ports in order of time; none unless it was traced.
    pub fn trace<'a>(ports: impl Iterator<Item = &'a Meter>) -> Option<Table> {
        let traces: Option<Vec<&PacketTrace>> = ports.map(|port| port.trace.as_deref()).collect();
        traces.map(|traces| PacketTrace::table(&traces))
    }

    /// The figures of the measured interval.
    pub fn summarise(&self, out: &mut Summary) {
        let m = &self.measured;
        let seconds = self.settings.window.seconds();
        let share =
            |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let drops: u64 = m.drops.iter().sum();
        let marks: u64 = m.marks.iter().sum();
        let [_, arrived] = &self.arrived;
        let arrivals = arrived.total();
        out.whole("arrivals", arrivals);
        out.whole("departures", m.departures);
        out.whole("drops", drops);
        out.whole("marks", marks);
        out.real("drop_rate", share(drops, arrivals));
        out.real("mark_rate", share(marks, arrivals));
        for (i, why) in Why::ALL.iter().enumerate() {
            out.whole(&format!("drops_{}", why.name()), m.drops[i]);
        }
        for (i, why) in Why::OF_MARKS.iter().enumerate() {
            out.whole(&format!("marks_{}", why.name()), m.marks[i]);
        }
        for (what, packets) in [("arrivals", arrived), ("drops", &m.lost)] {
            for (sort, count) in packets.sorts() {
                out.whole(&format!("{what}_{sort}"), count);
            }
        }
        out.whole("drops_again", m.lost.again());
        out.real("longest_drop_run_s", self.drop_run.longest_s());
        out.whole("longest_drop_run_packets", self.drop_run.longest_packets());
        out.whole("arrival_bytes", m.arrival_bytes);
        out.whole("departure_bytes", m.departure_bytes);
        out.whole("drop_bytes", m.drop_bytes);
        let used = self.capacity.and_then(|capacity| capacity.used);
        out.real("utilisation", used.unwrap_or(m.busy_ns as f64 / 1e9 / seconds));
        if let Some(capacity) = self.capacity {
            out.real("capacity_mean_bits_per_s", capacity.mean_bits_per_s);
        }
        out.real("throughput_bytes_per_s", m.departure_bytes as f64 / seconds);
        self.summarise_queue(out, seconds);
    }

    fn summarise_queue(&self, out: &mut Summary, seconds: f64) {
        let m = &self.measured;
        let time_mean = m.packet_ns as f64 / 1e9 / seconds;
        if self.settings.sample_every.is_some() {
            self.samples.summarise(out);
        }
        out.real("queue_time_mean_packets", time_mean);
        out.whole("queue_peak_packets", u64::from(self.peak_packets));
        out.real("queue_mean_bytes", m.byte_ns as f64 / 1e9 / seconds);
        let waited = if m.departures == 0 {
            0.0
        } else {
            m.queue_delay_ns as f64 / 1e9 / m.departures as f64
        };
        out.real("queue_delay_mean_s", waited);
        if let Some(gauges) = &self.gauges {
            gauges.summarise(out);
        }
    }

    /// The per-second series as columns named `<port>.<series>`.
    pub fn per_second(&self, port: &str, seconds: usize) -> Vec<(String, Column)> {
        let [departures, bytes, waits] = [0, 1, 2].map(|i| self.departed.column(i, seconds));
        let mean_delay =
            |(wait, n): (&u64, &u64)| if *n == 0 { 0.0 } else { *wait as f64 / 1e9 / *n as f64 };
        let waits = waits.iter().zip(&departures).map(mean_delay).collect();
        let series = [
            ("arrivals", Column::U64(self.arrivals.rows(seconds))),
            ("departures", Column::U64(departures)),
            ("drops", Column::U64(self.drops.rows(seconds))),
            ("marks", Column::U64(self.marks.rows(seconds))),
            ("ip_bytes", Column::U64(bytes)),
            ("queue_delay_mean_s", Column::F64(waits)),
        ];
        series.into_iter().map(|(name, column)| (format!("{port}.{name}"), column)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    const DATA: PacketClass = PacketClass::new(Kind::Data, false);

    fn ms(t: u64) -> Instant {
        Instant::from_nanos(t * 1_000_000)
    }

    fn meter(from_ms: u64, to_ms: u64) -> Meter {
        Meter::new(MeterSettings {
            window: Window { from: ms(from_ms), to: ms(to_ms) },
            sample_every: Some(Duration::from_millis(3)),
            keep_samples: true,
            gauges: true,
            trace: false,
        })
    }

    fn samples(m: &Meter) -> Column {
        m.samples("p").swap_remove(0).1
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: u64::from(packets) * 1_000 }
    }

    #[test]
    fn samples_and_time_average_follow_the_queue() {
        // Queue: 0 on [0, 4), 2 on [4, 10), 1 on [10, 12) ms; measured from 3 ms.
        let mut m = meter(3, 12);
        m.arrival(ms(4), 1_000, DATA);
        m.queue(ms(4), waiting(2));
        m.started(ms(10), ms(11), ms(4), 1_000, 1);
        m.queue(ms(10), waiting(1));
        m.finish();
        assert_eq!(samples(&m), Column::U16(vec![0, 0, 2, 2]), "samples at 0, 3, 6, 9 ms");
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!(s.number("queue_mean_packets"), 4.0 / 3.0);
        assert_eq!(s.number("queue_min_packets"), 0.0);
        assert_eq!(s.number("queue_max_packets"), 2.0);
        assert!((s.number("queue_var_packets") - 8.0 / 9.0).abs() < 1e-12);
        assert!((s.number("queue_time_mean_packets") - 14.0 / 9.0).abs() < 1e-12);
        assert!((s.number("utilisation") - 1.0 / 9.0).abs() < 1e-12);
        assert!((s.number("queue_delay_mean_s") - 0.006).abs() < 1e-12);
    }

    #[test]
    fn a_sample_sees_the_departure_but_not_the_arrival_of_its_instant() {
        let mut m = meter(0, 10);
        m.arrival(ms(0), 100, DATA);
        m.queue(ms(0), waiting(1));
        m.started(ms(3), ms(4), ms(0), 100, 1);
        m.queue(ms(3), waiting(0));
        m.arrival(ms(6), 100, DATA);
        m.queue(ms(6), waiting(1));
        m.finish();
        assert_eq!(samples(&m), Column::U16(vec![0, 0, 0, 1]));
    }

    #[test]
    fn long_queues_are_kept_whole() {
        let mut m = meter(0, 9);
        m.queue(ms(1), waiting(7));
        m.started(ms(4), ms(5), ms(0), 100, 1);
        m.queue(ms(4), waiting(70_000));
        m.finish();
        assert_eq!(samples(&m), Column::U32(vec![0, 7, 70_000]));
    }

    #[test]
    fn a_window_without_samples_has_no_sample_statistics() {
        let mut m = meter(7, 8);
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert!(s.number("queue_mean_packets").is_nan() && s.number("queue_max_packets").is_nan());
        assert_eq!(s.number("queue_time_mean_packets"), 0.0);
    }

    #[test]
    fn the_warm_up_is_counted_apart() {
        let mut m = meter(1_000, 2_000);
        for t in [10, 999, 1_000, 1_500, 2_000] {
            m.arrival(ms(t), 40, PacketClass::new(Kind::Ack, false));
            m.dropped(ms(t), 40, Why::Early);
        }
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!((s.number("arrivals"), s.number("drops_early")), (3.0, 3.0));
        assert_eq!(m.totals().arrived, (5, 200));
        assert_eq!(m.per_second("p", 2)[2], ("p.drops".into(), Column::U64(vec![2, 2])));
    }

    #[test]
    fn packets_are_counted_by_what_they_are() {
        let mut m = meter(5, 10);
        let packets = [(Kind::Syn, true), (Kind::Ack, false), (Kind::Fin, false)];
        let classes = packets.map(|(kind, again)| PacketClass::new(kind, again));
        for (t, class) in (4..).zip([DATA].into_iter().chain(classes)) {
            m.arrival(ms(t), 40, class);
            m.dropped(ms(t), 40, Why::Overflow);
            m.lost(ms(t), class);
        }
        let mut s = Summary::default();
        m.summarise(&mut s);
        for what in ["arrivals", "drops"] {
            let count = |sort| s.number(&format!("{what}_{sort}"));
            assert_eq!([count("syn"), count("ack"), count("data")], [1.0, 2.0, 0.0], "{what}");
        }
        assert_eq!((s.number("drops_again"), m.data_packets()), (1.0, 1));
    }

    #[test]
    fn only_the_measured_part_of_a_run_of_drops_counts() {
        let mut m = meter(5, 10);
        (3..8).for_each(|t| m.refused(ms(t)));
        m.admitted(ms(8)); // measured: 5, 6, 7 ms
        m.refused(ms(9));
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!(s.number("longest_drop_run_packets"), 3.0);
        assert_eq!(s.number("longest_drop_run_s"), 0.003);
        let mut m = meter(5, 10);
        m.refused(ms(6));
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!(s.number("longest_drop_run_s"), 0.004, "open at the end of the run");
    }
}
