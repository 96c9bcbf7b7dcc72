//! The average queue, and the clock that runs while the line idles.

use packet::{Duration, Instant, Rate, math};

/// Since when the line idles, if it does.
///
/// A queue begins idle. An arrival ends the idle time, unless it is dropped: then the line stays
/// idle and the next arrival ages the average by the time since this one, as every implementation
/// does whose holder looks into the empty queue after each arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    idle: bool,
    since: Instant,
    /// Whether the arrival in hand found the line idle.
    interrupted: bool,
}

impl Idle {
    pub const fn new() -> Self {
        Idle { idle: true, since: Instant::ZERO, interrupted: false }
    }

    /// The line goes idle. Asking an empty queue again does not restart the clock.
    pub fn begin(&mut self, now: Instant) {
        if !self.idle {
            self.idle = true;
            self.since = now;
        }
    }

    /// A packet arrives: how long the line was idle, if it was.
    #[inline]
    pub fn end(&mut self, now: Instant) -> Option<Duration> {
        self.interrupted = self.idle;
        if !self.idle {
            return None;
        }
        let span = now.since(self.since);
        self.idle = false;
        self.since = now;
        Some(span)
    }

    /// How long the line has been idle, if it is.
    pub fn span(&self, now: Instant) -> Option<Duration> {
        self.idle.then(|| now.since(self.since))
    }

    /// The packet in hand was dropped.
    pub fn resume(&mut self) {
        self.idle = self.interrupted;
    }
}

/// How many packets the line could have sent in a span of time; exact in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketClock {
    /// Packets per nanosecond as a fraction.
    packets: u128,
    nanos: u128,
}

impl PacketClock {
    /// Packets of `bytes` at `rate`.
    pub const fn of_line(rate: Rate, bytes: u32) -> Self {
        PacketClock { packets: rate.bits_per_s() as u128, nanos: bytes as u128 * 8_000_000_000 }
    }

    /// One packet per `time`, which is not zero.
    pub const fn of_time(time: Duration) -> Self {
        assert!(time.nanos() > 0, "a packet takes some time");
        PacketClock { packets: 1, nanos: time.nanos() as u128 }
    }

    /// Whole packets in `span`.
    #[inline]
    pub fn packets_in(&self, span: Duration) -> u64 {
        let packets = u128::from(span.nanos()) * self.packets;
        // Idle times are short as a rule, and 64-bit division is several times faster.
        match (u64::try_from(packets), u64::try_from(self.nanos)) {
            (Ok(packets), Ok(nanos)) => packets / nanos,
            _ => u64::try_from(packets / self.nanos).unwrap_or(u64::MAX),
        }
    }

    /// Transmission time of one packet in seconds.
    pub fn packet_secs(&self) -> f64 {
        self.nanos as f64 / self.packets as f64 * 1e-9
    }
}

/// The exponential average in floating point (the paper, ns-2, ns-3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    /// Its value, in the unit in which the queue is measured.
    pub value: f64,
    pub idle: Idle,
    w_q: f64,
    keep: f64,
    clock: PacketClock,
    /// Whether the arrival that ends an idle time counts as a sample on top of the ageing
    /// (ns-2, ns-3; not the paper).
    samples_after_idle: bool,
}

impl Average {
    pub fn new(w_q: f64, clock: PacketClock, samples_after_idle: bool) -> Self {
        let keep = 1.0 - w_q;
        Average { value: 0.0, idle: Idle::new(), w_q, keep, clock, samples_after_idle }
    }

    /// Takes in that an arrival finds `queue` waiting.
    #[inline]
    pub fn update(&mut self, queue: f64, now: Instant) {
        let span = self.idle.end(now);
        self.update_after(span, queue);
    }

    /// The same where another clock tells how long the queue was idle, if it was.
    #[inline]
    pub fn update_after(&mut self, span: Option<Duration>, queue: f64) {
        if let Some(span) = span {
            self.age(span);
            if !self.samples_after_idle {
                return;
            }
        }
        self.value = self.keep * self.value + self.w_q * queue;
    }

    #[cold]
    fn age(&mut self, span: Duration) {
        let packets = self.clock.packets_in(span);
        if packets > 0 && self.value > 0.0 {
            self.value *= math::pow(self.keep, packets as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ten(w_q: f64, samples_after_idle: bool) -> Average {
        let clock = PacketClock::of_line(Rate::from_bits_per_s(10_000_000), 1000);
        let mut average = Average::new(w_q, clock, samples_after_idle);
        average.idle.end(ms(0));
        average.value = 10.0;
        average
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn one_sample() {
        let mut average = ten(0.002, false);
        average.update(20.0, ms(1));
        close(average.value, 10.02);
    }

    #[test]
    fn ageing_in_the_paper_and_in_ns2() {
        for (samples, expected) in [(false, 8.185668), (true, 8.169297)] {
            let mut average = ten(0.002, samples);
            average.idle.begin(ms(20));
            average.update(0.0, ms(100));
            close(average.value, expected);
        }
    }

    #[test]
    fn ns3_default_clock_is_slow() {
        let mut average = ten(0.002, true);
        average.clock = PacketClock::of_line(Rate::from_bits_per_s(1_500_000), 500);
        average.idle.begin(ms(0));
        average.update(0.0, ms(80));
        assert!((average.value - 9.3982).abs() < 1e-4, "{}", average.value);
    }

    #[test]
    fn only_whole_packets_count() {
        let clock = PacketClock::of_time(Duration::from_micros(800));
        assert_eq!(clock.packets_in(Duration::from_nanos(1_599_999)), 1);
        assert_eq!(clock.packets_in(Duration::from_nanos(1_600_000)), 2);
        let line = PacketClock::of_line(Rate::from_bits_per_s(3_000_000), 1000);
        assert_eq!(line.packets_in(Duration::from_secs(3)), 1125);
        assert_eq!(line.packets_in(Duration::from_nanos(u64::MAX)), 6_917_529_027_641);
        close(line.packet_secs(), 8.0 / 3000.0);
    }

    #[test]
    fn a_busy_line_that_empties_its_queue_is_not_idle() {
        let mut average = ten(0.5, false);
        average.update(0.0, ms(1_000));
        close(average.value, 5.0);
    }

    #[test]
    fn the_idle_clock_runs_on_past_a_dropped_arrival() {
        let mut idle = Idle::new();
        idle.end(ms(5));
        assert_eq!(idle.end(ms(6)), None);
        idle.begin(ms(10));
        idle.begin(ms(15)); // asked again while empty: no new start
        assert_eq!(idle.end(ms(20)), Some(Duration::from_millis(10)));
        idle.resume(); // that arrival was dropped
        assert_eq!(idle.end(ms(23)), Some(Duration::from_millis(3)));
        assert_eq!(idle.end(ms(24)), None);
        idle.resume(); // dropped while the line was busy: still busy
        assert_eq!(idle.end(ms(25)), None);
    }
}
