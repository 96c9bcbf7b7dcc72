//! The proportional-integral controller of a queue length, and the rule that tunes it (C. V.
//! Hollot, V. Misra, D. Towsley, W. Gong, *On Designing Improved Controllers for AQM Routers
//! Supporting TCP Flows*, INFOCOM 2001).

use packet::math;

/// Gains of the controller, in probability per packet of queue and per update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiGains {
    /// Gain of the present queue's deviation from the target.
    pub a: f64,
    /// Gain of the previous queue's deviation; smaller than `a` by the integral term.
    pub b: f64,
    /// Time between updates, in seconds, for which `a` and `b` hold.
    pub period: f64,
}

/// Sampling period of the paper's example, in seconds: 160 updates per second.
pub const PI_PERIOD: f64 = 1.0 / 160.0;

/// Gains that keep the loop stable with at least `flows` (N⁻) long TCP flows, a line of `capacity`
/// (C) packets per second, and round trips of at most `rtt` (R⁺) seconds, queueing included, if
/// the controller is updated every `period` seconds ([`PI_PERIOD`] in the paper).
///
/// The controller's zero z = 2N⁻/(R⁺²C) cancels the pole of TCP's window; the loop's gain is one
/// at that frequency; the controller K(s/z + 1)/s is carried to discrete time by the bilinear
/// transform.
///
/// # Examples
/// ```
/// let gains = aqmlab_aqm::design_pi(60.0, 3750.0, 0.246, aqmlab_aqm::PI_PERIOD);
/// assert!((gains.a - 1.853e-5).abs() < 5e-9); // published: 1.822e-5, from a rounded z
/// ```
pub fn design_pi(flows: f64, capacity: f64, rtt: f64, period: f64) -> PiGains {
    let zero = 2.0 * flows / (rtt * rtt * capacity);
    let delay = zero * rtt;
    let plant = math::pow(rtt * capacity, 3.0) / (4.0 * flows * flows);
    let gain = zero * math::sqrt(1.0 + delay * delay) / plant;
    PiGains { a: gain * (1.0 / zero + period / 2.0), b: gain * (1.0 / zero - period / 2.0), period }
}

/// The controller: p ← p + a(q − q_ref) − b(q_old − q_ref), held in [0, 1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PiLaw {
    a: f64,
    b: f64,
    q_ref: f64,
    q_old: f64,
    /// The probability of a signal.
    pub(crate) p: f64,
}

impl PiLaw {
    /// A controller at rest: signal probability 0, previous queue 0.
    pub(crate) const fn new(a: f64, b: f64, q_ref: f64) -> Self {
        PiLaw { a, b, q_ref, q_old: 0.0, p: 0.0 }
    }
    /// Updates the probability for a queue of `q` packets.
    pub(crate) fn update(&mut self, q: f64) {
        let step = self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref);
        self.p = (self.p + step).clamp(0.0, 1.0);
        self.q_old = q;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found} is not {expected}");
    }

    #[test]
    fn published_vectors() {
        for (p, q_old, q, expected) in [
            (0.01, 250.0, 300.0, 0.010914),
            (0.01, 200.0, 200.0, 0.01),
            (0.01, 0.0, 0.0, 0.009988),
            (0.0, 0.0, 0.0, 0.0),
            (0.9999, 0.0, 5e4, 1.0),
        ] {
            let mut law = PiLaw { q_old, p, ..PiLaw::new(1.822e-5, 1.816e-5, 200.0) };
            law.update(q);
            assert!((law.p - expected).abs() < 1e-12, "{} is not {expected}", law.p);
            assert_eq!(law.q_old, q);
        }
    }

    /// With the published gains, a queue 200 packets above its target raises p to 0.0036 at once,
    /// and to 0.02 after 8.5 s.
    #[test]
    fn the_integral_is_slow() {
        let mut law = PiLaw { q_old: 200.0, ..PiLaw::new(1.822e-5, 1.816e-5, 200.0) };
        law.update(400.0);
        assert!((law.p - 0.003644).abs() < 1e-9);
        let mut updates = 0;
        while law.p < 0.02 {
            law.update(400.0);
            updates += 1;
        }
        near(f64::from(updates) / 160.0, 8.5, 0.01);
    }

    #[test]
    fn designs() {
        for (flows, capacity, rtt, hertz, a, b, margin) in [
            (60.0, 3_750.0, 0.246, 160.0, 1.853e-5, 1.847e-5, 75.1),
            (60.0, 12_500.0, 0.246, 160.0, 4.959e-7, 4.954e-7, 85.5),
            (100.0, 12_500.0, 0.25, 170.0, 1.314e-6, 1.312e-6, 82.7),
            (200.0, 12_500.0, 0.2, 170.0, 1.039e-5, 1.035e-5, 71.7),
            (60.0, 25_000.0, 0.246, 160.0, 6.193e-8, 6.190e-8, 87.8),
        ] {
            let gains = design_pi(flows, capacity, rtt, 1.0 / hertz);
            near(gains.a, a, 5e-4);
            near(gains.b, b, 5e-4);
            // The zero, read back from the gains, gives the phase margin.
            let zero = (gains.a - gains.b) / ((gains.a + gains.b) / 2.0 * gains.period);
            let lag = (zero * rtt).atan() + zero * rtt;
            assert!((90.0 - lag.to_degrees() - margin).abs() < 0.06, "{flows} {capacity}");
        }
    }

    #[test]
    fn the_published_gains_follow_from_a_rounded_zero() {
        let (gain, zero, period) = (9.64e-6, 0.53, PI_PERIOD);
        near(gain * (1.0 / zero + period / 2.0), 1.82188e-5, 5e-6);
        near(gain * (1.0 / zero - period / 2.0), 1.81586e-5, 5e-6);
        near(1.82188e-5, 1.822e-5, 1e-4);
    }
}
