//! RED's average queue, which ages while the line idles.

use packet::{Duration, Instant, math};

use crate::idle::{Idle, PacketClock};

/// The exponential average in floating point (the paper, ns-2, ns-3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    /// The average queue, in the unit in which the queue is measured.
    pub value: f64,
    pub idle: Idle,
    w_q: f64,
    keep: f64,
    clock: PacketClock,
    /// Whether the arrival that ends an idle time counts as a sample on top of the ageing, and a
    /// dropped one starts the idle clock anew (ns-2, ns-3, ALTQ; not the paper).
    samples_after_idle: bool,
    /// Packets of an idle time that do not age the average, because the sample stands for them
    /// (ALTQ: 1).
    lag: u64,
    /// Idle time beyond which the average becomes 0 (ALTQ: a minute).
    longest: Duration,
}

impl Average {
    pub fn new(w_q: f64, clock: PacketClock, samples_after_idle: bool) -> Self {
        let keep = 1.0 - w_q;
        Average {
            value: 0.0,
            idle: Idle::new(),
            w_q,
            keep,
            clock,
            samples_after_idle,
            lag: 0,
            longest: Duration::from_nanos(u64::MAX),
        }
    }

    /// This average with ALTQ's ageing: an idle time of n packets counts n, the sample included,
    /// and one of more than a minute clears the average.
    pub const fn of_altq(mut self) -> Self {
        self.lag = 1;
        self.longest = Duration::from_secs(60);
        self
    }

    /// Updates the average at an arrival that finds `queue` waiting.
    #[inline]
    pub fn update(&mut self, queue: f64, now: Instant) {
        if self.idle.interrupt() {
            self.age_to(now);
            if !self.samples_after_idle {
                return;
            }
        }
        self.sample(queue);
    }

    /// As [`Average::update`], but it takes a sample in any case; `span` is the idle time that
    /// another clock measured, if the queue was idle.
    #[inline]
    pub fn update_after(&mut self, span: Option<Duration>, queue: f64) {
        if let Some(span) = span {
            self.age(self.clock.packets_in(span));
        }
        self.sample(queue);
    }

    #[inline]
    fn sample(&mut self, queue: f64) {
        self.value = self.keep * self.value + self.w_q * queue;
    }

    #[cold]
    fn age_to(&mut self, now: Instant) {
        let packets = if self.samples_after_idle {
            let span = self.idle.restart(now);
            if span > self.longest {
                self.value = 0.0;
            }
            self.clock.packets_in(span).saturating_sub(self.lag)
        } else {
            self.idle.report(now, &self.clock)
        };
        self.age(packets);
    }

    #[cold]
    fn age(&mut self, packets: u64) {
        if packets > 0 && self.value > 0.0 {
            self.value *= math::pow(self.keep, packets as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::Rate;

    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ten(w_q: f64, samples_after_idle: bool) -> Average {
        let clock = PacketClock::of_line(Rate::from_bits_per_s(10_000_000), 1000);
        let mut average = Average::new(w_q, clock, samples_after_idle);
        average.idle.interrupt();
        average.value = 10.0;
        average
    }

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
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
    fn no_part_of_a_packet_is_lost_to_dropped_arrivals_nor_counted_twice() {
        // 3 Mbit/s: a packet of 1000 B takes 2666.67 us, not a whole number of nanoseconds.
        for bits_per_s in [10_000_000, 3_000_000] {
            let clock = PacketClock::of_line(Rate::from_bits_per_s(bits_per_s), 1000);
            let mut average = ten(0.002, false);
            average.clock = clock;
            average.idle.begin(us(100));
            for arrival in 1..=5000 {
                let now = us(100 + 400 * arrival);
                average.update(0.0, now);
                average.idle.resume(); // the arrival was dropped
                let packets = clock.packets_in(now.since(us(100)));
                close(average.value, 10.0 * 0.998f64.powi(packets as i32));
            }
        }
    }

    #[test]
    fn an_idle_time_that_a_packet_ended_leaves_nothing_to_the_next() {
        let mut average = ten(0.5, false);
        average.idle.begin(us(0));
        average.update(0.0, us(1_500)); // idle for one packet time and most of another
        close(average.value, 5.0);
        average.idle.begin(us(2_000));
        average.update(0.0, us(2_700)); // idle for less than one packet time
        close(average.value, 5.0);
        average.idle.resume();
        average.update(0.0, us(2_800));
        close(average.value, 2.5);
    }

    #[test]
    fn a_simulators_clock_starts_anew_with_a_dropped_arrival() {
        let mut average = ten(0.5, true);
        average.idle.begin(us(0));
        for now in [700, 1_400] {
            average.update(0.0, us(now)); // a sample, after less than one packet time
            average.idle.resume();
        }
        close(average.value, 2.5);
    }

    #[test]
    fn the_idle_clock_runs_on_past_a_dropped_arrival() {
        let mut idle = Idle::new();
        idle.end(ms(5));
        assert_eq!(idle.end(ms(6)), None);
        idle.begin(ms(10));
        idle.begin(ms(15)); // a second call while idle does not restart the clock
        assert_eq!(idle.end(ms(20)), Some(Duration::from_millis(10)));
        idle.resume(); // that arrival was dropped
        assert_eq!(idle.end(ms(23)), Some(Duration::from_millis(3)));
        assert_eq!(idle.end(ms(24)), None);
        idle.resume(); // an arrival dropped at a busy line leaves it busy
        assert_eq!(idle.end(ms(25)), None);
    }
}
