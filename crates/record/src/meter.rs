//! What is measured at one port.
//!
//! The meter is lazy: queue samples and time averages are brought up to date when the queue is
//! about to change, so an idle queue costs nothing and no sampling event exists.

use packet::{Backlog, Duration, Instant, Why};

use crate::{Column, Fingerprint, PerSecond, Summary, Window};

/// What a meter is to record.
#[derive(Clone, Copy, Debug)]
pub struct MeterSettings {
    /// The measured interval.
    pub window: Window,
    /// Distance of queue samples, if the queue is sampled at all.
    pub sample_every: Option<Duration>,
    /// Whether to keep every sample (else only their statistics).
    pub keep_samples: bool,
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

/// Statistics of equally spaced queue samples.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    n: u64,
    sum: u64,
    sum_of_squares: u64,
    min: u32,
    max: u32,
}

impl Samples {
    fn add(&mut self, packets: u32, times: u64) {
        let q = u64::from(packets);
        self.min = if self.n == 0 { packets } else { self.min.min(packets) };
        self.max = self.max.max(packets);
        self.n += times;
        self.sum += q * times;
        self.sum_of_squares += q * q * times;
    }
}

/// Kept samples: in two bytes each until one needs four.
#[derive(Clone, Debug)]
enum Trace {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Default for Trace {
    fn default() -> Self {
        Trace::Short(Vec::new())
    }
}

impl Trace {
    fn push(&mut self, packets: u32) {
        match self {
            Trace::Long(samples) => samples.push(packets),
            Trace::Short(samples) => match u16::try_from(packets) {
                Ok(short) => samples.push(short),
                Err(_) => {
                    let mut long: Vec<u32> = samples.iter().map(|&s| u32::from(s)).collect();
                    long.push(packets);
                    *self = Trace::Long(long);
                }
            },
        }
    }
}

/// Counts within the measured interval.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    arrivals: u64,
    arrival_bytes: u64,
    departures: u64,
    departure_bytes: u64,
    busy_ns: u64,
    drops: [u64; Why::ALL.len()],
    drop_bytes: u64,
    marks: [u64; Why::ALL.len()],
    packet_ns: u64,
    byte_ns: u128,
    wait_ns: u128,
}

/// The recorder at one port.
#[derive(Clone, Debug)]
pub struct Meter {
    settings: MeterSettings,
    totals: Totals,
    data_packets: u64,
    measured: Measured,
    backlog: Backlog,
    peak_packets: u32,
    changed: Instant,
    next_sample: u64,
    samples: Samples,
    trace: Trace,
    arrivals: PerSecond,
    departures: PerSecond,
    bytes: PerSecond,
    drops: PerSecond,
    marks: PerSecond,
    fingerprint: Fingerprint,
}

const NO_SAMPLE: u64 = u64::MAX;

impl Meter {
    /// A meter at an empty queue at time zero.
    pub fn new(settings: MeterSettings) -> Self {
        Meter {
            settings,
            totals: Totals::default(),
            data_packets: 0,
            measured: Measured::default(),
            backlog: Backlog::default(),
            peak_packets: 0,
            changed: Instant::ZERO,
            next_sample: if settings.sample_every.is_some() { 0 } else { NO_SAMPLE },
            samples: Samples::default(),
            trace: Trace::default(),
            arrivals: PerSecond::default(),
            departures: PerSecond::default(),
            bytes: PerSecond::default(),
            drops: PerSecond::default(),
            marks: PerSecond::default(),
            fingerprint: Fingerprint::default(),
        }
    }

    /// A packet of `bytes` reaches the port; `carries_data` tells data from pure control.
    /// A sample of the same instant comes before the arrival.
    #[inline]
    pub fn arrival(&mut self, now: Instant, bytes: u32, carries_data: bool) {
        self.sample_up_to(now.nanos() + 1);
        self.totals.arrived.0 += 1;
        self.totals.arrived.1 += u64::from(bytes);
        self.data_packets += u64::from(carries_data);
        self.arrivals.add(now, 1);
        if self.settings.window.contains(now) {
            self.measured.arrivals += 1;
            self.measured.arrival_bytes += u64::from(bytes);
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

    /// The packet was marked.
    pub fn marked(&mut self, now: Instant, why: Why) {
        self.marks.add(now, 1);
        if self.settings.window.contains(now) {
            self.measured.marks[why as usize] += 1;
        }
    }

    /// A packet begins its transmission, which lasts until `finish`; it had come at `arrived`
    /// and belongs to `flow`. A sample of the same instant comes after the departure.
    #[inline]
    pub fn started(
        &mut self,
        now: Instant,
        finish: Instant,
        arrived: Instant,
        bytes: u32,
        flow: u64,
    ) {
        self.sample_up_to(now.nanos());
        self.totals.started.0 += 1;
        self.totals.started.1 += u64::from(bytes);
        let word = now.nanos() ^ (flow << 40) ^ (u64::from(bytes) << 20);
        self.fingerprint.add(word);
        let window = self.settings.window;
        if finish <= window.to {
            self.departures.add(finish, 1);
            self.bytes.add(finish, u64::from(bytes));
            if finish >= window.from {
                self.measured.departures += 1;
                self.measured.departure_bytes += u64::from(bytes);
                self.measured.wait_ns += u128::from(now.since(arrived).nanos());
            }
        }
        let busy_from = now.max(window.from);
        self.measured.busy_ns += finish.min(window.to).since(busy_from).nanos();
    }

    /// What waits has just become `backlog`.
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
                self.samples.add(self.backlog.packets, 1);
            }
            if self.settings.keep_samples {
                self.trace.push(self.backlog.packets);
            }
            self.next_sample += every.nanos();
        }
    }

    /// Brings samples and averages up to the end of the run.
    pub fn finish(&mut self) {
        let end = self.settings.window.to;
        self.sample_up_to(end.nanos());
        self.integrate(end);
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
        self.data_packets
    }
    /// A hash over time, flow and size of every departure in order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
    /// The kept queue samples in packets.
    pub fn trace(&self) -> Column {
        match &self.trace {
            Trace::Short(samples) => Column::U16(samples.clone()),
            Trace::Long(samples) => Column::U32(samples.clone()),
        }
    }

    /// The figures of the measured interval.
    pub fn summarise(&self, out: &mut Summary) {
        let m = &self.measured;
        let seconds = self.settings.window.seconds();
        let share =
            |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let drops: u64 = m.drops.iter().sum();
        let marks: u64 = m.marks.iter().sum();
        out.whole("arrivals", m.arrivals);
        out.whole("departures", m.departures);
        out.whole("drops", drops);
        out.whole("marks", marks);
        out.real("drop_rate", share(drops, m.arrivals));
        out.real("mark_rate", share(marks, m.arrivals));
        for (i, why) in Why::ALL.iter().enumerate() {
            out.whole(&format!("drops_{}", why.name()), m.drops[i]);
        }
        for (i, why) in Why::OF_MARKS.iter().enumerate() {
            out.whole(&format!("marks_{}", why.name()), m.marks[i]);
        }
        out.whole("arrival_bytes", m.arrival_bytes);
        out.whole("departure_bytes", m.departure_bytes);
        out.whole("drop_bytes", m.drop_bytes);
        out.real("utilisation", m.busy_ns as f64 / 1e9 / seconds);
        out.real("throughput_bytes_per_s", m.departure_bytes as f64 / seconds);
        self.summarise_queue(out, seconds);
    }

    fn summarise_queue(&self, out: &mut Summary, seconds: f64) {
        let m = &self.measured;
        let time_mean = m.packet_ns as f64 / 1e9 / seconds;
        let s = &self.samples;
        if s.n > 0 {
            let mean = s.sum as f64 / s.n as f64;
            let variance = s.sum_of_squares as f64 / s.n as f64 - mean * mean;
            out.real("queue_mean_packets", mean);
            out.real("queue_var_packets", variance.max(0.0));
            out.whole("queue_min_packets", u64::from(s.min));
            out.whole("queue_max_packets", u64::from(s.max));
        } else if self.settings.sample_every.is_some() {
            for name in ["mean", "var", "min", "max"] {
                out.real(&format!("queue_{name}_packets"), f64::NAN);
            }
        }
        out.real("queue_time_mean_packets", time_mean);
        out.whole("queue_peak_packets", u64::from(self.peak_packets));
        out.real("queue_mean_bytes", m.byte_ns as f64 / 1e9 / seconds);
        let waited =
            if m.departures == 0 { 0.0 } else { m.wait_ns as f64 / 1e9 / m.departures as f64 };
        out.real("wait_mean_s", waited);
    }

    /// The per-second series as columns named `<port>.<series>`.
    pub fn per_second(&self, port: &str, seconds: usize) -> Vec<(String, Column)> {
        let series = [
            ("arrivals", &self.arrivals),
            ("departures", &self.departures),
            ("drops", &self.drops),
            ("marks", &self.marks),
            ("ip_bytes", &self.bytes),
        ];
        series
            .into_iter()
            .map(|(name, s)| (format!("{port}.{name}"), Column::U64(s.rows(seconds))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(t: u64) -> Instant {
        Instant::from_nanos(t * 1_000_000)
    }

    fn meter(from_ms: u64, to_ms: u64) -> Meter {
        Meter::new(MeterSettings {
            window: Window { from: ms(from_ms), to: ms(to_ms) },
            sample_every: Some(Duration::from_millis(3)),
            keep_samples: true,
        })
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: u64::from(packets) * 1_000 }
    }

    #[test]
    fn samples_and_time_average_follow_the_queue() {
        // Queue: 0 on [0, 4), 2 on [4, 10), 1 on [10, 12) ms; measured from 3 ms.
        let mut m = meter(3, 12);
        m.arrival(ms(4), 1_000, true);
        m.queue(ms(4), waiting(2));
        m.started(ms(10), ms(11), ms(4), 1_000, 1);
        m.queue(ms(10), waiting(1));
        m.finish();
        assert_eq!(m.trace(), Column::U16(vec![0, 0, 2, 2]), "samples at 0, 3, 6, 9 ms");
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!(s.number("queue_mean_packets"), 4.0 / 3.0);
        assert_eq!(s.number("queue_min_packets"), 0.0);
        assert_eq!(s.number("queue_max_packets"), 2.0);
        assert!((s.number("queue_var_packets") - 8.0 / 9.0).abs() < 1e-12);
        assert!((s.number("queue_time_mean_packets") - 14.0 / 9.0).abs() < 1e-12);
        assert!((s.number("utilisation") - 1.0 / 9.0).abs() < 1e-12);
        assert!((s.number("wait_mean_s") - 0.006).abs() < 1e-12);
    }

    #[test]
    fn a_sample_sees_the_departure_but_not_the_arrival_of_its_instant() {
        let mut m = meter(0, 10);
        m.arrival(ms(0), 100, true);
        m.queue(ms(0), waiting(1));
        m.started(ms(3), ms(4), ms(0), 100, 1);
        m.queue(ms(3), waiting(0));
        m.arrival(ms(6), 100, true);
        m.queue(ms(6), waiting(1));
        m.finish();
        assert_eq!(m.trace(), Column::U16(vec![0, 0, 0, 1]));
    }

    #[test]
    fn long_queues_are_kept_whole() {
        let mut m = meter(0, 9);
        m.queue(ms(1), waiting(7));
        m.started(ms(4), ms(5), ms(0), 100, 1);
        m.queue(ms(4), waiting(70_000));
        m.finish();
        assert_eq!(m.trace(), Column::U32(vec![0, 7, 70_000]));
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
            m.arrival(ms(t), 40, false);
            m.dropped(ms(t), 40, Why::Early);
        }
        m.finish();
        let mut s = Summary::default();
        m.summarise(&mut s);
        assert_eq!((s.number("arrivals"), s.number("drops_early")), (3.0, 3.0));
        assert_eq!(m.totals().arrived, (5, 200));
        assert_eq!(m.per_second("p", 2)[2], ("p.drops".into(), Column::U64(vec![2, 2])));
    }
}
