//! COBALT's state machine of one queue: CoDel and BLUE, with one clock.

use packet::{Duration, Instant, Rng, math};

use super::roots::inverse_root;

/// Constants that the queues of one rate share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Sojourn time that is acceptable for good.
    pub target: Duration,
    /// How long sojourn times must exceed the target before the first signal.
    pub interval: Duration,
    /// Transmission time of the largest packet, or zero where the rate is not known.
    pub mtu_time: Duration,
    /// Sojourn time above which BLUE acts as if the queue were full.
    pub blue_threshold: Duration,
    /// What an overflow adds to the drop probability.
    pub p_inc: f64,
    /// What an empty queue subtracts from the drop probability.
    pub p_dec: f64,
    /// Whether reciprocal roots are computed in Linux's integers.
    pub linux: bool,
}

/// A threshold that is never exceeded.
pub(crate) const NEVER: Duration = Duration::from_nanos(u64::MAX);

impl Numbers {
    /// Constants of a queue whose largest packet takes `mtu_time`. `target` and `interval` are
    /// stretched on slow lines, where long transmission times are no sign of a queue.
    pub fn at_rate(target: Duration, interval: Duration, mtu_time: Duration) -> Self {
        let stretched = target.max(Duration::from_nanos(mtu_time.nanos() * 3 / 2));
        Numbers {
            target: stretched,
            interval: (interval + (stretched - target)).max(stretched * 2),
            mtu_time,
            blue_threshold: NEVER,
            p_inc: 1.0 / 256.0,
            p_dec: 1.0 / 4096.0,
            linux: true,
        }
    }

    /// Whether `sojourn` is too long: longer than the target, and than the transmission time of
    /// four packets or of two for each of `bulk_flows` other flows.
    fn too_long(&self, sojourn: Duration, bulk_flows: u64) -> bool {
        let packets = (2 * bulk_flows).max(4);
        sojourn > self.target && sojourn > self.mtu_time * packets
    }
}

/// Decisions on the packet at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// Whether CoDel signals the packet.
    pub signal: bool,
    /// Whether BLUE drops the packet.
    pub coin: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Alternation {
    count: u32,
    /// 2^32/√count as of the last step of the count. It is zero before the first step, as in Linux,
    /// so that a queue's first signal waits for no interval.
    inverse_root: u32,
    dropping: bool,
    /// Whether the last decision was made after the time at which the next signal was due.
    late: bool,
    /// Time at which the next signal is due; before a series, the timer of its first signal.
    drop_next: Instant,
    p_drop: f64,
    /// Time of the last change of `p_drop`.
    changed: Option<Instant>,
}

impl Alternation {
    /// The state of a queue that was never used.
    pub const fn new() -> Self {
        Alternation {
            count: 0,
            inverse_root: 0,
            dropping: false,
            late: false,
            drop_next: Instant::ZERO,
            p_drop: 0.0,
            changed: None,
        }
    }

    /// CoDel's count of signals.
    pub const fn count(&self) -> u32 {
        self.count
    }
    /// BLUE's drop probability.
    pub const fn p_drop(&self) -> f64 {
        self.p_drop
    }
    /// Whether CoDel is in its dropping state: the last packet stayed too long, or the buffer
    /// overflowed.
    pub const fn dropping(&self) -> bool {
        self.dropping
    }

    /// Whether earlier congestion is forgotten: CoDel and BLUE are both at their start.
    pub fn at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    fn after(&self, t: Instant, numbers: &Numbers) -> Instant {
        let interval = numbers.interval.nanos();
        if numbers.linux {
            let wait = (u128::from(interval) * u128::from(self.inverse_root)) >> 32;
            return t + Duration::from_nanos(wait as u64);
        }
        let root = math::sqrt(f64::from(self.count.max(1)));
        t + Duration::from_nanos((interval as f64 / root + 0.5) as u64)
    }

    fn count_to(&mut self, count: u32) {
        self.count = count;
        self.inverse_root = inverse_root(count, self.inverse_root);
    }

    const fn due(&self, now: Instant) -> bool {
        self.count > 0 && now.nanos() >= self.drop_next.nanos()
    }

    /// CoDel's and BLUE's decisions on the packet at the head of the queue, whose sojourn time is
    /// `sojourn`. The caller must call [`Alternation::settle`] afterwards.
    #[inline]
    pub fn visit(
        &mut self,
        numbers: &Numbers,
        sojourn: Duration,
        bulk_flows: u64,
        now: Instant,
        rng: &mut Rng,
    ) -> Visit {
        let signal = self.signals(numbers, numbers.too_long(sojourn, bulk_flows), now);
        if sojourn > numbers.blue_threshold && self.may_change(numbers, now) {
            self.raise(numbers, now);
        }
        let coin = self.p_drop > 0.0 && rng.uniform() < self.p_drop;
        Visit { signal, coin }
    }

    /// CoDel's part: whether the packet is signalled because sojourn times are too long.
    #[inline]
    fn signals(&mut self, numbers: &Numbers, too_long: bool, now: Instant) -> bool {
        let mut due = self.due(now);
        self.late = now > self.drop_next;
        if too_long {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, numbers);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            self.count_to(self.count.saturating_add(1));
            self.drop_next = self.after(self.drop_next, numbers);
            self.late = now > self.drop_next;
            return true;
        }
        while due {
            self.count_to(self.count - 1);
            self.drop_next = self.after(self.drop_next, numbers);
            self.late = false; // if the count falls to zero, `late` is not read
            due = self.due(now);
        }
        false
    }

    /// Completes a decision; `dropped` is whether the packet was dropped, or kept only because it
    /// is the last. With a count of zero, `drop_next` is set to an interval after `now`. If it lies
    /// in the past, only drops advance it step by step; a packet that is not dropped sets it to
    /// `now`.
    #[inline]
    pub fn settle(&mut self, numbers: &Numbers, dropped: bool, now: Instant) {
        if self.count == 0 {
            self.drop_next = now + numbers.interval;
        } else if self.late && !dropped {
            self.drop_next = now;
        }
    }

    /// Whether BLUE's probability may change again: its last change is longer ago than the target.
    fn may_change(&self, numbers: &Numbers, now: Instant) -> bool {
        self.changed.is_none_or(|at| now.since(at) > numbers.target)
    }

    fn raise(&mut self, numbers: &Numbers, now: Instant) {
        self.p_drop = (self.p_drop + numbers.p_inc).min(1.0);
        self.changed = Some(now);
    }

    /// A packet of this queue was dropped because the buffer was full.
    pub fn full(&mut self, numbers: &Numbers, now: Instant) {
        if self.may_change(numbers, now) {
            self.raise(numbers, now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// A dequeue found the queue empty.
    pub fn empty(&mut self, numbers: &Numbers, now: Instant) {
        if self.p_drop > 0.0 && self.may_change(numbers, now) {
            self.p_drop = (self.p_drop - numbers.p_dec).max(0.0);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.due(now) {
            self.count_to(self.count - 1);
            self.drop_next = self.after(self.drop_next, numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn numbers() -> Numbers {
        Numbers { linux: false, ..Numbers::at_rate(MS * 5, MS * 100, Duration::ZERO) }
    }

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn nanos(at: Instant) -> f64 {
        at.nanos() as f64 / 1e6
    }

    /// Decides at `at` ms on a packet that stayed `sojourn` ms, and drops it if it is signalled.
    /// Returns whether it was signalled.
    fn visit(law: &mut Alternation, at: u64, sojourn: u64) -> bool {
        let mut rng = Rng::named(1, "alternation");
        let visit = law.visit(&numbers(), MS * sojourn, 0, ms(at), &mut rng);
        assert!(!visit.coin);
        law.settle(&numbers(), visit.signal, ms(at));
        visit.signal
    }

    #[test]
    fn overflows_raise_and_empty_queues_lower_the_probability() {
        let mut law = Alternation::new();
        for n in 0..3 {
            law.full(&numbers(), ms(100 + 6 * n));
            law.full(&numbers(), ms(100 + 6 * n + 5)); // too soon
        }
        assert_eq!(law.p_drop(), 3.0 / 256.0);
        for n in 0..16 {
            law.empty(&numbers(), ms(200 + 6 * n));
        }
        assert_eq!(law.p_drop(), 0.0078125);
    }

    #[test]
    fn one_clock_arms_spaces_and_releases() {
        let mut law = Alternation::new();
        for (at, sojourn, signal, count, next) in [
            (0, 1, false, 0, 100.0),
            (50, 6, false, 1, 150.0),
            (149, 20, false, 1, 150.0),
            (150, 20, true, 2, 220.711),
            (221, 20, true, 3, 278.446),
            (280, 3, false, 2, 349.156),
        ] {
            assert_eq!(visit(&mut law, at, sojourn), signal, "{at}");
            assert_eq!(law.count(), count, "{at}");
            assert!((nanos(law.drop_next) - next).abs() < 5e-4, "{at}");
        }
        law.empty(&numbers(), ms(360));
        assert_eq!(law.count(), 1);
        assert!((nanos(law.drop_next) - 449.156).abs() < 5e-4);
        assert!(!law.at_rest(ms(500)));
        law.empty(&numbers(), ms(500));
        assert!(!law.at_rest(ms(549)) && law.at_rest(ms(550)));
    }

    #[test]
    fn in_linux_the_first_signal_of_a_queue_waits_for_no_interval_and_later_ones_do() {
        let numbers = Numbers::at_rate(MS * 5, MS * 100, Duration::ZERO);
        let mut law = Alternation::new();
        let mut rng = Rng::named(1, "alternation");
        // Waits are in 2^-32 of the interval, rounded down: 1 ns less than 100 ms and 100 ms/√2.
        for (at, sojourn, signal, count, next) in [
            (0, 1, false, 0, 100_000_000),
            (50, 6, false, 1, 50_000_000),
            (51, 6, true, 2, 120_710_678),
            (52, 1, false, 2, 120_710_678),
            (121, 1, false, 1, 220_710_677),
            (221, 1, false, 0, 321_000_000),
            (320, 6, false, 1, 419_999_999),
        ] {
            let visit = law.visit(&numbers, MS * sojourn, 0, ms(at), &mut rng);
            law.settle(&numbers, visit.signal, ms(at));
            assert_eq!((visit.signal, law.count()), (signal, count), "{at}");
            assert_eq!(law.drop_next.nanos(), next, "{at}");
        }
    }

    #[test]
    fn a_late_first_packet_arms_the_clock_for_at_once() {
        let mut law = Alternation { drop_next: ms(100), ..Alternation::new() };
        assert!(!visit(&mut law, 300, 20));
        assert_eq!((law.dropping(), law.count(), law.drop_next), (true, 1, ms(300)));
        assert!(visit(&mut law, 301, 20));
        // As in sch_cake, a dequeue is late only if it is after `drop_next`, not at it.
        let mut law = Alternation { drop_next: ms(300), ..Alternation::new() };
        assert!(!visit(&mut law, 300, 20));
        assert_eq!((law.count(), law.drop_next), (1, ms(400)));
    }

    /// Decides at 500 ms on a packet that stayed 20 ms, with `drop_next` 400 ms in the past.
    fn catch_up(p_drop: f64, dropped: bool) -> (Visit, Instant) {
        let mut law = Alternation {
            count: 1,
            dropping: true,
            drop_next: ms(100),
            p_drop,
            ..Alternation::new()
        };
        let mut rng = Rng::named(1, "alternation");
        let visit = law.visit(&numbers(), MS * 20, 0, ms(500), &mut rng);
        law.settle(&numbers(), dropped, ms(500));
        (visit, law.drop_next)
    }

    #[test]
    fn a_clock_that_is_behind_catches_up_by_drops_only() {
        // The signal with count 2 was due 70.711 ms after 100 ms, which is still long ago.
        let next = Instant::from_nanos(170_710_678);
        let signalled = |coin| Visit { signal: true, coin };
        assert_eq!(catch_up(0.0, true), (signalled(false), next));
        assert_eq!(catch_up(0.0, false), (signalled(false), ms(500)));
        assert_eq!(catch_up(1.0, true), (signalled(true), next), "the coin drops");
    }

    #[test]
    fn slow_lines_are_given_time() {
        let at = |ns| Numbers::at_rate(MS * 5, MS * 100, Duration::from_nanos(ns));
        // 1514 bytes at 1 Mb/s and at 10 Mb/s.
        let slow = at(12_112_000);
        assert_eq!((slow.target.nanos(), slow.interval.nanos()), (18_168_000, 113_168_000));
        assert!(!slow.too_long(Duration::from_nanos(48_448_000), 0), "four packets' time");
        assert!(slow.too_long(Duration::from_nanos(48_448_001), 0));
        assert!(!slow.too_long(Duration::from_nanos(72_672_000), 3), "two for each of three flows");
        let fast = at(1_211_200);
        assert_eq!((fast.target, fast.interval), (MS * 5, MS * 100));
        assert!(!fast.too_long(MS * 5, 0) && fast.too_long(MS * 5 + Duration::from_nanos(1), 0));
        // 64 kb/s: the interval is at least twice the target.
        let slowest = at(189_250_000);
        assert_eq!(slowest.interval, slowest.target * 2);
    }

    #[test]
    fn a_long_stay_raises_the_probability_only_above_a_threshold() {
        let numbers = Numbers { blue_threshold: MS * 400, ..numbers() };
        let mut rng = Rng::named(1, "alternation");
        let mut law = Alternation::new();
        for (at, sojourn, p) in
            [(1000, 400, 0.0), (1001, 401, 1.0), (1006, 401, 1.0), (1007, 401, 2.0)]
        {
            let visit = law.visit(&numbers, MS * sojourn, 0, ms(at), &mut rng);
            law.settle(&numbers, visit.signal || visit.coin, ms(at));
            assert_eq!(law.p_drop(), p / 256.0, "{at}");
        }
    }
}
