//! The controller, and its signals to both queues.

use packet::{DropReason, Duration, Ecn, Rng};

use crate::credit::Which;

/// The decision on a packet: to pass, mark or drop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Pass,
    Mark,
    Drop(DropReason),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub linux: bool,
    /// Target delay, s.
    pub target: f64,
    /// Gains per update, in 1/s.
    pub alpha: f64,
    pub beta: f64,
    /// Coupling factor.
    pub k: f64,
    /// Bytes left in both queues below which nothing is signalled, except by Linux's step.
    pub spared_bytes: u64,
    pub drop_overload: bool,
    /// Linux's step: sojourn time in the scalable queue above which a packet is marked.
    pub step: Duration,
    /// Packets behind in the scalable queue above which a packet is marked, in place of `step`.
    pub step_packets: Option<u32>,
    /// Sojourn time in the scalable queue at which the RFC's ramp starts.
    pub min_th: Duration,
    /// Width of the RFC's ramp.
    pub range: Duration,
    /// Packets behind in the scalable queue up to which the RFC's ramp is off.
    pub th_len: u32,
}

/// A packet that has left its queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub which: Which,
    pub ecn: Ecn,
    /// Sojourn time of the packet.
    pub age: Duration,
    /// Packets left in the packet's own queue.
    pub behind: u32,
    /// Bytes left in both queues.
    pub left: u64,
    /// Whether Linux's step applies to the packet (`apply_step`).
    pub stepped: bool,
}

/// The controller's state.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    numbers: Numbers,
    /// The controller's probability p'.
    p: f64,
    /// The older queue's delay at the last update, in seconds.
    delay: f64,
    /// Sum of the classic queue's probabilities since its last signal, in the RFC's form.
    classic_sum: f64,
    /// Sum of the scalable queue's probabilities since its last signal, in the RFC's form.
    scalable_sum: f64,
}

/// Adds `p` to the sum of probabilities. Returns whether a signal is due (RFC 9332 A.1, `recur`).
fn recur(sum: &mut f64, p: f64) -> bool {
    *sum += p;
    let due = *sum > 1.0;
    if due {
        *sum -= 1.0;
    }
    due
}

impl Signals {
    pub const fn new(numbers: Numbers) -> Self {
        Signals { numbers, p: 0.0, delay: 0.0, classic_sum: 0.0, scalable_sum: 0.0 }
    }

    /// The periodic update; `delay` is the older queue's delay, in seconds.
    pub fn update(&mut self, delay: f64) {
        let Numbers { target, alpha, beta, k, drop_overload, .. } = self.numbers;
        let most = if drop_overload { 1.0 } else { (1.0 / k).min(1.0) };
        let step = alpha * (delay - target) + beta * (delay - self.delay);
        self.p = (self.p + step).clamp(0.0, most);
        self.delay = delay;
    }

    fn classic(&self) -> f64 {
        self.p * self.p
    }

    fn coupled(&self) -> f64 {
        self.numbers.k * self.p
    }

    /// The controller's signal to an arrival that finds `found` bytes, for profile `linux` with
    /// `drop_enqueue`.
    pub fn judge_arrival(&self, which: Which, ecn: Ecn, found: u64, rng: &mut Rng) -> Action {
        match which {
            Which::Classic => self.linux_classic(ecn, found, rng),
            Which::Scalable => self.linux_scalable(found, rng),
        }
    }

    /// The only signal at departure with `drop_enqueue`: the step.
    pub fn judge_step(&self, packet: Leaving) -> Action {
        let late = packet.which == Which::Scalable
            && packet.stepped
            && self.over_step(packet.behind, packet.age);
        if late { Action::Mark } else { Action::Pass }
    }

    /// The decision on a packet at departure.
    #[inline]
    pub fn judge(&mut self, packet: Leaving, rng: &mut Rng) -> Action {
        let Leaving { which, ecn, age, behind, left, stepped } = packet;
        match (self.numbers.linux, which) {
            (true, Which::Classic) => self.linux_classic(ecn, left, rng),
            (true, Which::Scalable) => match self.linux_scalable(left, rng) {
                Action::Pass if stepped && self.over_step(behind, age) => Action::Mark,
                action => action,
            },
            (false, _) if left < self.numbers.spared_bytes => Action::Pass,
            (false, Which::Classic) => self.rfc_classic(ecn),
            (false, Which::Scalable) => self.rfc_scalable(behind, age),
        }
    }

    /// Whether a packet is beyond the step (Linux `do_step_aqm`).
    fn over_step(&self, behind: u32, age: Duration) -> bool {
        self.numbers.step_packets.map_or(age > self.numbers.step, |most| behind > most)
    }

    /// Whether two random numbers are both below p'.
    fn squared(&self, rng: &mut Rng) -> bool {
        rng.uniform() < self.p && rng.uniform() < self.p
    }

    fn linux_classic(&self, ecn: Ecn, left: u64, rng: &mut Rng) -> Action {
        if left < self.numbers.spared_bytes || !self.squared(rng) {
            return Action::Pass;
        }
        if self.coupled() > 1.0 {
            Action::Drop(DropReason::Forced)
        } else if ecn.can_be_marked() {
            Action::Mark
        } else {
            Action::Drop(DropReason::Early)
        }
    }

    fn linux_scalable(&self, left: u64, rng: &mut Rng) -> Action {
        if left < self.numbers.spared_bytes {
            return Action::Pass;
        }
        if self.coupled() > 1.0 {
            let drops = self.numbers.drop_overload && self.squared(rng);
            return if drops { Action::Drop(DropReason::Forced) } else { Action::Mark };
        }
        if rng.uniform() < self.coupled() { Action::Mark } else { Action::Pass }
    }

    fn rfc_classic(&mut self, ecn: Ecn) -> Action {
        let p = self.classic();
        if !recur(&mut self.classic_sum, p) {
            return Action::Pass;
        }
        let most = (1.0 / (self.numbers.k * self.numbers.k)).min(1.0);
        if p >= most {
            Action::Drop(DropReason::Forced)
        } else if ecn.can_be_marked() {
            Action::Mark
        } else {
            Action::Drop(DropReason::Early)
        }
    }

    fn rfc_scalable(&mut self, behind: u32, age: Duration) -> Action {
        let (squared, coupled) = (self.classic(), self.coupled().min(1.0));
        let p = if coupled < 1.0 {
            self.ramp(behind, age).max(coupled)
        } else if recur(&mut self.scalable_sum, squared) {
            return Action::Drop(DropReason::Forced);
        } else {
            coupled
        };
        if recur(&mut self.scalable_sum, p) { Action::Mark } else { Action::Pass }
    }

    /// Probability of the scalable queue's own marks.
    fn ramp(&self, behind: u32, age: Duration) -> f64 {
        let Numbers { min_th, range, th_len, .. } = self.numbers;
        if behind <= th_len || age <= min_th {
            0.0
        } else if age >= min_th + range {
            1.0
        } else {
            (age - min_th).nanos() as f64 / range.nanos() as f64
        }
    }

    pub fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.p);
        show("qdelay", self.delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(alpha: f64, beta: f64) -> Signals {
        Signals::new(Numbers {
            linux: false,
            target: 0.015,
            alpha,
            beta,
            k: 2.0,
            spared_bytes: 0,
            drop_overload: true,
            step: Duration::from_millis(1),
            step_packets: None,
            th_len: 1,
            min_th: Duration::from_micros(800),
            range: Duration::from_micros(400),
        })
    }

    #[test]
    fn updates() {
        for (alpha, beta, p) in
            [(0.16, 3.2, 0.1072), (41.0 / 256.0, 819.0 / 256.0, 0.1071992), (0.15, 3.0, 0.10675)]
        {
            let mut signals = Signals { p: 0.1, delay: 0.018, ..signals(alpha, beta) };
            signals.update(0.020);
            assert!((signals.p - p).abs() < 5e-8, "{}", signals.p);
        }
        let mut capped = signals(10.0, 0.0);
        capped.numbers.drop_overload = false;
        capped.update(1.0);
        assert_eq!(capped.p, 0.5, "without drops in overload p' is at most 1/k");
    }

    #[test]
    fn one_p_serves_both() {
        let at = |p| Signals { p, ..signals(0.15, 3.0) };
        assert!((at(0.1).classic() - 0.01).abs() < 1e-15);
        assert!((at(0.1).coupled() - 0.2).abs() < 1e-15);
        assert_eq!((at(0.5).classic(), at(0.5).coupled()), (0.25, 1.0));
    }

    #[test]
    fn ramps() {
        let signals = signals(0.15, 3.0);
        let at = |us| signals.ramp(2, Duration::from_micros(us));
        assert_eq!([at(800), at(1000), at(1200), at(5000)], [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(signals.ramp(1, Duration::from_millis(5)), 0.0, "one packet waits behind it");
    }

    #[test]
    fn sums_space_signals() {
        let mut sum = 0.0;
        let due: Vec<_> = (1..=12).filter(|_| recur(&mut sum, 0.375)).collect();
        assert_eq!(due, [3, 6, 9, 11], "the 8th sum is exactly 1");
    }

    #[test]
    fn overload_begins_at_one_in_the_rfc_and_above_in_linux() {
        let mut rng = Rng::named(1, "overload");
        let drops = |linux: bool, p: f64, rng: &mut Rng| {
            let mut signals = Signals { p, ..signals(0.15, 3.0) };
            signals.numbers.linux = linux;
            let mut judge = |which, ecn| {
                let mut drops = 0;
                for _ in 0..100 {
                    let (age, behind, left) = (Duration::ZERO, 6, 9000);
                    let packet = Leaving { which, ecn, age, behind, left, stepped: true };
                    let action = signals.judge(packet, rng);
                    drops += i32::from(matches!(action, Action::Drop(_)));
                }
                drops > 0
            };
            (judge(Which::Classic, Ecn::Ect0), judge(Which::Scalable, Ecn::Ect1))
        };
        assert_eq!(drops(false, 0.499, &mut rng), (false, false));
        assert_eq!(drops(false, 0.5, &mut rng), (true, true));
        assert_eq!(drops(true, 0.5, &mut rng), (false, false));
        assert_eq!(drops(true, 0.501, &mut rng), (true, true));
    }

    #[test]
    fn linux_steps_beyond_its_threshold_and_spares_below_its_bytes() {
        let mut linux = Signals { p: 1.0, ..signals(0.15, 3.0) };
        (linux.numbers.linux, linux.numbers.spared_bytes) = (true, 3_000);
        let step = linux.numbers.step;
        let over = |behind, age| linux.over_step(behind, age);
        assert_eq!([over(9, step), over(0, step + Duration::from_nanos(1))], [false, true]);
        let mut rng = Rng::named(1, "linux");
        for which in [Which::Classic, Which::Scalable] {
            for (left, spared) in [(2_999, true), (3_000, false)] {
                let (ecn, age) = (Ecn::Ect1, Duration::ZERO);
                let packet = Leaving { which, ecn, age, behind: 6, left, stepped: true };
                let passes = linux.judge(packet, &mut rng) == Action::Pass;
                assert_eq!(passes, spared, "{left} B");
            }
        }
        linux.numbers.step_packets = Some(2);
        let over = [1, 2, 3].map(|behind| linux.over_step(behind, Duration::ZERO));
        assert_eq!(over, [false, false, true]);
    }

    #[test]
    fn classic_overload_begins_at_one_over_k_squared() {
        // With k = 3 overload begins at a classic probability of 1/9.
        for (p, forced) in [(0.33, false), (0.34, true)] {
            let mut signals = Signals { p, ..signals(0.15, 3.0) };
            signals.numbers.k = 3.0;
            signals.classic_sum = 1.0;
            let action = signals.rfc_classic(Ecn::Ect0);
            assert_eq!(action == Action::Drop(DropReason::Forced), forced, "{p}");
        }
    }
}
