//! The controller of PIE (RFC 8033 and Linux): it derives a signal probability from a queueing
//! delay, which its caller measures, and decides on arrivals.

use packet::{Duration, Rng};

/// Constants of the controller, and switches for what Linux does differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieRules {
    /// Target delay, in seconds.
    pub target: f64,
    /// Time between updates of the probability.
    pub period: Duration,
    /// Gain of the delay's deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the delay's change since the last update, in Hz.
    pub beta: f64,
    /// Burst allowance: time for which nothing is signalled after a quiet period.
    pub max_burst: Duration,
    /// A backlog of at most this many bytes is never signalled (Linux: one byte less).
    pub spared_bytes: u64,
    /// Whether p rises by at most 0.02 per update once it is at least 0.1.
    pub capped: bool,
    /// Whether signals are spaced by an accumulated probability (the RFC's derandomization).
    pub derandomised: bool,
    /// Whether details follow Linux instead of the RFC.
    pub linux: bool,
}

/// PIE's state of one queue.
#[derive(Clone, Debug)]
pub(crate) struct PieCore {
    rules: PieRules,
    /// Probability of a signal. In Linux it may exceed 1, up to 256: signals are certain from 1 on,
    /// but p needs time to fall below 1 again.
    pub p: f64,
    /// Queueing delay at the last update, in seconds (Linux: at the last measurement).
    pub delay: f64,
    pub delay_old: f64,
    accumulated: f64,
    burst: Duration,
}

/// Linux counts p in units of 2^-56 in 64 bits, and sets it to 1 only when these overflow.
const LINUX_BOUND: f64 = 256.0;

/// Divisor of a step of p: a small p changes in small steps (RFC 8033, section 4.2).
pub(crate) fn step_divisor(p: f64) -> f64 {
    match p {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 1e-1 => 2.0,
        _ => 1.0,
    }
}

impl PieCore {
    /// Changes the target delay, in seconds. Returns whether `name` is the target and `value`
    /// positive.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let known = name == "target" && value > 0.0;
        self.rules.target = if known { value } else { self.rules.target };
        known
    }

    /// A controller at rest, with its full burst allowance.
    pub fn new(rules: PieRules) -> Self {
        let burst = rules.max_burst;
        PieCore { rules, p: 0.0, delay: 0.0, delay_old: 0.0, accumulated: 0.0, burst }
    }

    /// The update of every period, at a queueing delay of `delay` seconds. `measured` is whether a
    /// delay of zero is a valid reading, with which p may decay (in Linux only of an empty queue).
    /// Returns whether the queue is quiet: the caller then restores the burst allowance by
    /// [`PieCore::renew`].
    pub fn update(&mut self, delay: f64, measured: bool) -> bool {
        let PieRules { target, alpha, beta, linux, .. } = self.rules;
        let old = self.delay_old;
        let mut step = alpha * (delay - target) + beta * (delay - old);
        step /= step_divisor(self.p);
        if self.rules.capped && self.p >= 0.1 {
            step = step.min(0.02);
        }
        if linux && delay > 0.25 {
            step += 0.02;
        }
        self.p = (self.p + step).max(0.0);
        if self.p >= if linux { LINUX_BOUND } else { 1.0 } {
            self.p = 1.0;
        }
        if delay == 0.0 && old == 0.0 && measured {
            self.p *= if linux { 1.0 - 1.0 / 64.0 } else { 0.98 };
        }
        self.delay = delay;
        self.delay_old = delay;
        if !linux {
            self.spend_burst(self.rules.period);
        }
        self.p == 0.0 && delay < target / 2.0 && old < target / 2.0
    }

    /// Restores the burst allowance (Linux: also clears the accumulated probability).
    pub fn renew(&mut self) {
        self.burst = self.rules.max_burst;
        if self.rules.linux {
            self.accumulated = 0.0;
        }
    }

    /// Subtracts `time` from the burst allowance.
    pub fn spend_burst(&mut self, time: Duration) {
        self.burst = Duration::from_nanos(self.burst.nanos().saturating_sub(time.nanos()));
    }

    /// Whether an arrival that finds `bytes` waiting is signalled.
    pub fn signals(&mut self, bytes: u64, rng: &mut Rng) -> bool {
        let linux = self.rules.linux;
        let delay = if linux { self.delay } else { self.delay_old };
        let low = delay < self.rules.target / 2.0 && self.p < 0.2;
        let few = bytes < self.rules.spared_bytes + u64::from(!linux);
        if self.burst > Duration::ZERO || low || few {
            return false;
        }
        if !self.rules.derandomised {
            return rng.uniform() < self.p;
        }
        self.accumulated = if self.p == 0.0 { 0.0 } else { self.accumulated + self.p };
        if self.accumulated < 0.85 {
            return false;
        }
        if self.accumulated >= 8.5 {
            return true;
        }
        let hit = rng.uniform() < self.p;
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }

    /// A packet of this queue was dropped at arrival: the accumulated probability is cleared.
    pub fn dropped(&mut self) {
        self.accumulated = 0.0;
    }

    /// Shows inner state (probability, delay, …) by name.
    pub fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.p);
        show("qdelay", self.delay);
        show("burst_allowance", self.burst.secs_f64());
        show("accu_prob", self.accumulated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(linux: bool) -> PieCore {
        PieCore::new(PieRules {
            target: 0.015,
            period: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::from_millis(150),
            spared_bytes: 2000,
            capped: true,
            derandomised: true,
            linux,
        })
    }

    #[test]
    fn updates() {
        for (p, delay, old, rfc, linux) in [
            (0.005, 0.030, 0.020, 0.006796875, 0.006796875),
            (0.05, 0.030, 0.020, 0.0571875, 0.0571875),
            (0.2, 0.030, 0.020, 0.214375, 0.214375),
            (0.2, 0.100, 0.050, 0.22, 0.22),
            (0.0, 0.020, 0.010, 6.40869e-6, 6.40869e-6),
            (0.01, 0.0, 0.0, 0.00888125, 0.00892090),
            (0.2, 0.300, 0.290, 0.22, 0.24),
            // Linux lets p pass 1 until 64 bits overflow.
            (0.99, 0.3, 0.2, 1.0, 1.03),
            (255.99, 0.3, 0.2, 1.0, 1.0),
        ] {
            for (is_linux, expected) in [(false, rfc), (true, linux)] {
                let mut core = PieCore { p, delay_old: old, ..core(is_linux) };
                core.update(delay, true);
                let relative = (core.p / expected - 1.0).abs();
                assert!(relative < 1e-6, "{p} {delay} {old}: {} is not {expected}", core.p);
                assert_eq!(core.delay_old, delay);
            }
        }
    }

    #[test]
    fn a_step_grows_from_its_power_of_ten_on() {
        // RFC 8033, section 4.2: "if p < 0.000001 ... / 2048" and so on.
        let table = [
            (1e-6, 2048.0, 512.0),
            (1e-5, 512.0, 128.0),
            (1e-4, 128.0, 32.0),
            (1e-3, 32.0, 8.0),
            (1e-2, 8.0, 2.0),
            (1e-1, 2.0, 1.0),
        ];
        for (p, below, from) in table {
            assert_eq!((step_divisor(p * 0.999), step_divisor(p)), (below, from), "{p}");
        }
    }

    #[test]
    fn a_quarter_of_a_second_is_not_yet_high_in_linux() {
        let after = |delay| {
            let mut core = PieCore { p: 0.2, delay_old: delay, ..core(true) };
            core.rules.capped = false;
            core.update(delay, true);
            core.p - 0.2 - 0.125 * (delay - 0.015)
        };
        assert!(after(0.25).abs() < 1e-12, "RFC 8033, section 4.2: more than 250 ms");
        assert!((after(0.250_001) - 0.02).abs() < 1e-12);
    }

    #[test]
    fn it_is_quiet_below_half_of_the_target_twice() {
        for (delay, old, quiet) in
            [(0.0074, 0.0074, true), (0.0075, 0.0, false), (0.0, 0.0075, false), (0.0, 0.0, true)]
        {
            let mut core = PieCore { delay_old: old, ..core(false) };
            // Without gains p stays 0, whatever the delays.
            (core.rules.alpha, core.rules.beta) = (0.0, 0.0);
            assert_eq!(core.update(delay, true), quiet, "{delay} {old}");
        }
    }

    #[test]
    fn only_a_target_above_zero_can_be_set() {
        let mut core = core(false);
        for (name, value, set) in [
            ("target", 0.0, false),
            ("target", -1.0, false),
            ("alpha", 1.0, false),
            ("target", 0.1, true),
        ] {
            assert_eq!(core.set(name, value), set, "{name} {value}");
            assert_eq!(core.rules.target, if set { value } else { 0.015 });
        }
    }

    #[test]
    fn from_half_of_the_target_from_a_fifth_and_from_85_hundredths_on_packets_are_tested() {
        let tested = |p: f64, delay: f64, accumulated: f64| {
            let mut rng = Rng::named(1, "core");
            let untouched = rng.clone();
            let mut core = PieCore { p, delay_old: delay, accumulated, ..core(false) };
            core.burst = Duration::ZERO;
            core.signals(9000, &mut rng);
            rng != untouched
        };
        assert!(!tested(0.1, 0.0074, 2.0) && tested(0.1, 0.0075, 2.0));
        assert!(!tested(0.199, 0.0, 2.0) && tested(0.2, 0.0, 2.0));
        assert!(!tested(0.25, 1.0, 0.5) && tested(0.25, 1.0, 0.6));
    }

    #[test]
    fn a_small_backlog_without_delay_does_not_decay_in_linux() {
        let mut core = PieCore { p: 0.01, ..core(true) };
        core.update(0.0, false);
        assert!((core.p - 0.0090625).abs() < 1e-12);
    }

    #[test]
    fn the_cap_can_be_switched_off() {
        let mut core = PieCore { p: 0.2, delay_old: 0.050, ..core(false) };
        core.rules.capped = false;
        core.update(0.100, true);
        assert!((core.p - (0.2 + 0.125 * 0.085 + 1.25 * 0.05)).abs() < 1e-12);
    }

    #[test]
    fn the_ninth_packet_at_one_in_ten_is_the_first_tested() {
        let mut rng = Rng::named(1, "core");
        let untouched = rng.clone();
        let mut core = PieCore { p: 0.1, delay: 1.0, delay_old: 1.0, ..core(false) };
        core.burst = Duration::ZERO;
        for _ in 0..8 {
            assert!(!core.signals(9000, &mut rng));
        }
        assert_eq!(rng, untouched);
        core.signals(9000, &mut rng);
        assert_ne!(rng, untouched);
    }

    #[test]
    fn an_accumulated_probability_of_8_5_is_certain() {
        let mut rng = Rng::named(1, "core");
        let mut core = PieCore { p: 0.5, accumulated: 8.1, delay_old: 1.0, ..core(false) };
        core.burst = Duration::ZERO;
        let untouched = rng.clone();
        assert!(core.signals(9000, &mut rng) && rng == untouched);
        core.dropped();
        assert_eq!(core.accumulated, 0.0);
    }

    #[test]
    fn guards() {
        let mut rng = Rng::named(1, "core");
        let sure = |linux: bool| {
            let mut core = PieCore { p: 1.0, delay: 1.0, delay_old: 1.0, ..core(linux) };
            core.burst = Duration::ZERO;
            core
        };
        // A backlog of two mean packets: the RFC spares it, Linux spares only less than that.
        assert!(!sure(false).signals(2000, &mut rng) && sure(false).signals(2001, &mut rng));
        assert!(!sure(true).signals(1999, &mut rng) && sure(true).signals(2000, &mut rng));
        // A low delay spares packets while p is below 0.2: in the RFC the delay of the last update,
        // in Linux the latest one.
        let low = PieCore { p: 0.199, accumulated: 8.5, delay_old: 0.0, ..sure(false) };
        assert!(!low.clone().signals(9000, &mut rng));
        assert!(PieCore { p: 0.2, ..low }.signals(9000, &mut rng));
        let low = PieCore { p: 0.199, accumulated: 8.5, delay: 0.0, ..sure(true) };
        assert!(!low.clone().signals(9000, &mut rng));
        assert!(PieCore { delay: 0.008, ..low }.signals(9000, &mut rng));
    }

    #[test]
    fn the_burst_allowance_falls_and_returns() {
        let mut core = core(false);
        let mut rng = Rng::named(1, "core");
        for _ in 0..10 {
            core.p = 1.0;
            assert!(!core.signals(9000, &mut rng));
            core.update(0.020, true);
        }
        core.p = 1.0;
        assert!(core.signals(9000, &mut rng));
        core.p = 0.0;
        assert!(!core.update(0.001, true), "the delay before was long");
        assert!(core.update(0.001, true));
        core.renew();
        assert_eq!(core.burst, Duration::from_millis(150));
    }
}
