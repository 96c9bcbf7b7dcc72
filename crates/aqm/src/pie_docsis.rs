//! DOCSIS-PIE (RFC 8034), for PIE and for Low Latency DOCSIS: the controller of a cable modem. It
//! sleeps while less than a third of the buffer is in use, scales p by packet size, and knows its
//! line's rate.

use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::periodic::Ticker;
use crate::pie_core::step_divisor;
use crate::{Aqm, LimitOrder, Verdict};

/// Quiet time after which the controller goes to sleep (BURST_RESET_TIMEOUT).
const SLEEP_AFTER: Duration = Duration::from_secs(1);
const MEAN_BYTES: f64 = 1024.0;
/// Largest p of a mean packet: at it the smallest packet (64 bytes) is dropped with 0.85.
const P_MAX: f64 = 0.85 * MEAN_BYTES / 64.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Asleep: no arrival has found a third of the buffer in use since the controller went to
    /// sleep.
    Inactive,
    /// Awake without drops: the time for which the queue has been quiet.
    Quiescent(Duration),
    Active,
}

/// Parameters of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub target: f64,
    pub alpha: f64,
    pub beta: f64,
    pub max_burst: Duration,
    pub spared_bytes: u64,
    pub capped: bool,
    pub derandomised: bool,
    pub buffer_bytes: u64,
    /// Rate of the line, bytes/s.
    pub bytes_per_s: f64,
}

pub(crate) struct Docsis {
    numbers: Numbers,
    ticker: Ticker,
    state: State,
    p: f64,
    delay: f64,
    accumulated: f64,
    burst: Duration,
}

impl Docsis {
    pub(crate) fn new(numbers: Numbers, period: Duration) -> Self {
        Docsis {
            numbers,
            ticker: Ticker::every(period),
            state: State::Inactive,
            p: 0.0,
            delay: 0.0,
            accumulated: 0.0,
            burst: Duration::ZERO,
        }
    }

    /// The periodic update, at a queueing delay of `delay` seconds.
    pub(crate) fn update(&mut self, delay: f64) {
        let period = self.ticker.period();
        if self.burst > Duration::ZERO {
            self.p = 0.0;
            self.burst = Duration::from_nanos(self.burst.nanos().saturating_sub(period.nanos()));
        } else {
            self.step(delay);
        }
        let half = self.numbers.target / 2.0;
        let quiet =
            delay < half && self.delay < half && self.p == 0.0 && self.burst == Duration::ZERO;
        self.state = match (self.state, quiet) {
            (State::Active, true) => State::Quiescent(Duration::ZERO),
            (State::Quiescent(time), true) if time + period > SLEEP_AFTER => State::Inactive,
            (State::Quiescent(time), true) => State::Quiescent(time + period),
            (State::Quiescent(_), false) => State::Quiescent(Duration::ZERO),
            (state, _) => state,
        };
        self.delay = delay;
    }

    fn step(&mut self, delay: f64) {
        let Numbers { target, alpha, beta, capped, .. } = self.numbers;
        let mut step = alpha * (delay - target) + beta * (delay - self.delay);
        step *= match self.p {
            p if p < 0.1 => 1.0 / step_divisor(p),
            p if p < 1.0 => 2.0,
            p if p < 10.0 => 8.0,
            _ => 32.0,
        };
        if capped && self.p >= 0.1 {
            step = step.min(0.02);
        }
        self.p += step;
        if delay < 0.005 && self.delay < 0.005 {
            self.p *= 0.98;
        } else if delay > 0.2 {
            self.p += 0.02;
        }
        self.p = self.p.clamp(0.0, P_MAX);
    }

    /// Drop probability of a packet of `size` bytes.
    fn of_size(&self, size: u32) -> f64 {
        (self.p * f64::from(size) / MEAN_BYTES).min(0.85)
    }

    fn drops(&mut self, size: u32, bytes: u64, rng: &mut Rng) -> bool {
        if self.burst > Duration::ZERO {
            return false;
        }
        if self.p == 0.0 {
            self.accumulated = 0.0;
        }
        if self.state == State::Inactive {
            if bytes < self.numbers.buffer_bytes / 3 {
                return false;
            }
            self.state = State::Quiescent(Duration::ZERO);
        }
        let p = self.of_size(size);
        self.accumulated += p;
        let low = self.delay < self.numbers.target / 2.0 && self.p < 0.2;
        if low || bytes <= self.numbers.spared_bytes {
            return false;
        }
        if !self.numbers.derandomised {
            return rng.uniform() < p;
        }
        self.accumulated >= 8.5 || (self.accumulated >= 0.85 && rng.uniform() < p)
    }
}

impl Docsis {
    /// Whether an arrival of `size` bytes is dropped that finds `bytes` waiting. The first drop
    /// after a quiet time begins a burst allowance.
    pub(crate) fn drops_arrival(&mut self, size: u32, bytes: u64, rng: &mut Rng) -> bool {
        let drops = self.drops(size, bytes, rng);
        if drops && matches!(self.state, State::Quiescent(_)) {
            self.state = State::Active;
            self.burst = self.numbers.max_burst;
        }
        drops
    }

    /// A packet was dropped: the accumulated probability is cleared.
    pub(crate) fn cleared(&mut self) {
        self.accumulated = 0.0;
    }

    /// Drop probability of a packet of mean size (1024 bytes).
    pub(crate) const fn p(&self) -> f64 {
        self.p
    }
}

impl Aqm for Docsis {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        _: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        match self.drops_arrival(packet.bytes, backlog.bytes, rng) {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn on_dropped(&mut self, _: DropReason) {
        self.cleared();
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, backlog: Backlog, _: Instant, _: &mut Rng) {
        self.ticker.done();
        self.update(backlog.bytes as f64 / self.numbers.bytes_per_s);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.p);
        show("qdelay", self.delay);
        show("burst_allowance", self.burst.secs_f64());
        show("accu_prob", self.accumulated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docsis() -> Docsis {
        let numbers = Numbers {
            target: 0.010,
            alpha: 0.25,
            beta: 2.5,
            max_burst: Duration::from_millis(142),
            spared_bytes: 2048,
            capped: true,
            derandomised: true,
            buffer_bytes: 90_000,
            bytes_per_s: 1.25e6,
        };
        Docsis::new(numbers, Duration::from_millis(16))
    }

    #[test]
    fn updates() {
        for (p, delay, old, expected) in [
            (0.005, 0.030, 0.020, 0.00875),
            (0.5, 0.030, 0.020, 0.52),
            (0.3, 0.250, 0.250, 0.34),
            (0.05, 0.004, 0.004, 0.048265),
            (13.59, 0.250, 0.250, 13.6),
            // At 5 ms p does not decay yet, at 200 ms it is not raised yet.
            (0.05, 0.005, 0.0045, 0.05),
            (0.05, 0.0045, 0.005, 0.0486875),
            (0.3, 0.200, 0.200, 0.32),
        ] {
            let mut controller = Docsis { p, delay: old, state: State::Active, ..docsis() };
            controller.update(delay);
            assert!((controller.p - expected).abs() < 1e-9, "{} is not {expected}", controller.p);
        }
        // Steps are scaled up from 0.1 on. Upwards the cap hides it, so steps down are tested.
        for (p, factor) in
            [(0.1, 2.0), (0.5, 2.0), (1.0, 8.0), (5.0, 8.0), (10.0, 32.0), (12.0, 32.0)]
        {
            let mut controller = Docsis { p, delay: 0.010, ..docsis() };
            controller.update(0.009);
            assert!((controller.p - (p - factor * (0.25 * 0.001 + 2.5 * 0.001))).abs() < 1e-9);
        }
    }

    #[test]
    fn probabilities_grow_with_size() {
        let controller = Docsis { p: 0.2, ..docsis() };
        assert!((controller.of_size(1500) - 0.29297).abs() < 5e-6);
        assert!((controller.of_size(64) - 0.0125).abs() < 1e-12);
        assert_eq!(Docsis { p: 13.6, ..controller }.of_size(65_535), 0.85);
    }

    #[test]
    fn sleeps_until_a_third_of_the_buffer_is_in_use() {
        let mut rng = Rng::named(1, "docsis");
        let mut controller = Docsis { p: 13.6, delay: 1.0, ..docsis() };
        for _ in 0..50 {
            assert!(!controller.drops(1500, 29_999, &mut rng));
        }
        assert_eq!((controller.state, controller.accumulated), (State::Inactive, 0.0));
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::Ect0,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let backlog = Backlog { packets: 20, bytes: 30_000 };
        while controller.on_arrival(&packet, backlog, Instant::ZERO, &mut rng) == Verdict::Pass {}
        assert_eq!(
            (controller.state, controller.burst),
            (State::Active, Duration::from_millis(142))
        );
    }

    #[test]
    fn goes_to_sleep_at_the_63rd_quiet_update() {
        let mut controller = Docsis { state: State::Active, ..docsis() };
        controller.update(0.0);
        assert_eq!(controller.state, State::Quiescent(Duration::ZERO));
        for _ in 0..62 {
            controller.update(0.0);
        }
        assert_eq!(controller.state, State::Quiescent(Duration::from_millis(992)));
        controller.update(0.0);
        assert_eq!(controller.state, State::Inactive);
        controller.state = State::Quiescent(Duration::from_millis(500));
        controller.update(0.006);
        assert_eq!(controller.state, State::Quiescent(Duration::ZERO));
    }

    #[test]
    fn p_is_zero_while_a_burst_is_allowed() {
        let mut controller = Docsis { p: 0.5, burst: Duration::from_millis(20), ..docsis() };
        controller.update(0.3);
        assert_eq!((controller.p, controller.burst), (0.0, Duration::from_millis(4)));
        controller.update(0.3);
        assert_eq!((controller.p, controller.burst), (0.0, Duration::ZERO));
        controller.update(0.3);
        assert!(controller.p > 0.0);
    }

    #[test]
    fn it_is_quiet_below_half_the_target_twice_in_a_row() {
        // Half of the target is 5 ms: only the last pair of delays lies below it.
        for (old, delay, quiet) in [
            (0.007, 0.007, false),
            (0.007, 0.001, false),
            (0.0049, 0.005, false),
            (0.005, 0.004, false),
            (0.0049, 0.0049, true),
        ] {
            let mut controller = Docsis { delay: old, state: State::Active, ..docsis() };
            controller.update(delay);
            assert_eq!(controller.p, 0.0);
            assert_eq!(controller.state != State::Active, quiet, "{old} s, then {delay} s");
        }
    }

    #[test]
    fn a_second_of_rest_is_not_more_than_a_second() {
        let fresh = Docsis::new(docsis().numbers, Duration::from_millis(20));
        let mut controller =
            Docsis { state: State::Quiescent(Duration::from_millis(980)), ..fresh };
        controller.update(0.0);
        assert_eq!(controller.state, State::Quiescent(Duration::from_secs(1)));
        controller.update(0.0);
        assert_eq!(controller.state, State::Inactive);
    }

    #[test]
    fn a_short_queue_is_spared_while_p_is_small() {
        // RFC 8034 spares packets below half of the target while p is below 0.2, and a backlog of
        // up to two mean packets.
        let mut rng = Rng::named(1, "docsis");
        for (delay, p, bytes, drops) in [
            (0.004, 0.1, 60_000, false),
            (0.005, 0.1, 60_000, true),
            (0.007, 0.1, 60_000, true),
            (0.004, 0.2, 60_000, true),
            (0.1, 0.5, 2_048, false),
            (0.1, 0.5, 2_049, true),
        ] {
            let sure = Docsis { accumulated: 9.0, state: State::Active, ..docsis() };
            let mut controller = Docsis { p, delay, ..sure };
            assert_eq!(controller.drops(1500, bytes, &mut rng), drops, "{delay} s, {p}, {bytes} B");
        }
    }

    #[test]
    fn without_derandomisation_every_packet_is_a_throw_of_its_own() {
        let numbers = Numbers { derandomised: false, ..docsis().numbers };
        let mut controller =
            Docsis { numbers, p: 0.3, delay: 0.1, state: State::Active, ..docsis() };
        let mut rng = Rng::named(1, "docsis");
        let drops = (0..10_000).filter(|_| controller.drops(1024, 60_000, &mut rng)).count();
        // The bounds are five standard deviations, of 46 drops each, from the mean.
        assert!((2_770..3_230).contains(&drops), "{drops}");
    }
}
