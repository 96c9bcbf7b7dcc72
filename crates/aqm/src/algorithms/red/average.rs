//! The average queue, and the clock that runs while the line idles.

use packet::{Duration, Instant, Rate, math};

/// Since when the line idles, if it does.
///
/// A queue begins idle. An arrival ends the idle time, unless it is dropped: then the line stays
/// idle, and there are two readings of what the next arrival ages the average by.
///
/// - [`Idle::end`], the programs': by the time since the dropped arrival, because their holder
///   looks into the empty queue after each arrival and starts the clock anew (ns-2, ns-3, Linux).
/// - [`Idle::end_in_packets`], the papers': by the whole packets of the idle time that have not
///   aged it yet. In the 1993 paper a dropped arrival leaves `q_time` alone. If it threw away the
///   part of a packet since, an average above `max_th` would never fall again under arrivals
///   closer together than a packet; read to the letter, the same time would count at each arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    idle: bool,
    since: Instant,
    /// Whole packets since then that have been told.
    told: u64,
    /// Whether the arrival in hand found the line idle.
    interrupted: bool,
}

impl Idle {
    pub const fn new() -> Self {
        Idle { idle: true, since: Instant::ZERO, told: 0, interrupted: false }
    }

    /// The line goes idle. Asking an empty queue again does not restart the clock.
    pub fn begin(&mut self, now: Instant) {
        if !self.idle {
            self.idle = true;
            self.since = now;
            self.told = 0;
        }
    }

    /// A packet arrives: whether the line was idle.
    #[inline]
    fn interrupt(&mut self) -> bool {
        self.interrupted = self.idle;
        self.idle = false;
        self.interrupted
    }

    /// A packet arrives: how long the line was idle since the last one, if it was.
    #[inline]
    pub fn end(&mut self, now: Instant) -> Option<Duration> {
        self.interrupt().then(|| self.restart(now))
    }

    fn restart(&mut self, now: Instant) -> Duration {
        let span = now.since(self.since);
        self.since = now;
        span
    }

    /// A packet arrives: if the line was idle, how many whole packets of the idle time no earlier
    /// arrival has been told of.
    #[inline]
    pub fn end_in_packets(&mut self, now: Instant, clock: &PacketClock) -> Option<u64> {
        self.interrupt().then(|| self.tell(now, clock))
    }

    #[cold]
    fn tell(&mut self, now: Instant, clock: &PacketClock) -> u64 {
        let all = clock.packets_in(now.since(self.since));
        let fresh = all - self.told;
        self.told = all;
        fresh
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
    /// Whether the arrival that ends an idle time counts as a sample on top of the ageing, and a
    /// dropped one starts the idle clock anew (ns-2, ns-3; not the paper).
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
        if self.idle.interrupt() {
            self.age_to(now);
            if !self.samples_after_idle {
                return;
            }
        }
        self.sample(queue);
    }

    /// The same with a sample in any case, where another clock tells how long the queue was idle,
    /// if it was.
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
            self.clock.packets_in(self.idle.restart(now))
        } else {
            self.idle.tell(now, &self.clock)
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
                average.idle.resume(); // dropped
                let packets = clock.packets_in(now.since(us(100)));
                close(average.value, 10.0 * 0.998f64.powi(packets as i32));
            }
        }
    }

    #[test]
    fn an_idle_time_that_a_packet_ended_leaves_nothing_to_the_next() {
        let mut average = ten(0.5, false);
        average.idle.begin(us(0));
        average.update(0.0, us(1_500)); // one packet and most of another
        close(average.value, 5.0);
        average.idle.begin(us(2_000));
        average.update(0.0, us(2_700)); // less than one
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
            average.update(0.0, us(now)); // a sample each, and no whole packet
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
        idle.begin(ms(15)); // asked again while empty: no new start
        assert_eq!(idle.end(ms(20)), Some(Duration::from_millis(10)));
        idle.resume(); // that arrival was dropped
        assert_eq!(idle.end(ms(23)), Some(Duration::from_millis(3)));
        assert_eq!(idle.end(ms(24)), None);
        idle.resume(); // dropped while the line was busy: still busy
        assert_eq!(idle.end(ms(25)), None);
    }
}
