//! CUBIC by the letter of RFC 9438: after congestion the window follows a cubic function of the
//! time since, flat around the window at which congestion came. Linux's version is
//! [`super::cubic`].
//!
//! Windows in the formulas are in segments, times in seconds. Arithmetic is IEEE 754's four
//! operations and `libm`'s cube root: the same bits on every machine.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, math};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use super::hystart_plus::HyStart;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "rfc9438",
        summary: "CUBIC by the letter of its RFC: windows in bytes, exact arithmetic, HyStart++",
        year: 2023,
        source: "RFC 9438, with HyStart++ (RFC 9406) in the first slow start, where cubic has what \
             Linux has",
        deviations: "as fast as Reno once W_est has reached the window before congestion \
             (section 4.3); ssthresh from cwnd, which does not grow unused (section 4.6), as in \
             Linux; K not below zero, and the window not lowered to W_est, as in Linux; a mark \
             counts like a loss",
        fields: FIELDS,
    },
    make: |params| Box::new(Cubic::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("c", Kind::from(Unit::None, 0.01, 10.0), Value::Real(0.4))
        .meaning("Growth of the cubic, segments/s^3.")
        .source("section 5"),
    Field::new("beta", Kind::from(Unit::None, 0.1, 0.99), Value::Real(0.7))
        .meaning("What congestion leaves of the window.")
        .source("section 4.6"),
    Field::new("fast_convergence", Kind::Switch, Value::Switch(true))
        .meaning("A window below the last plateau aims lower: room for others.")
        .source("section 4.7"),
];

/// The parameters, and the factor that follows from them.
#[derive(Clone, Copy, Debug)]
struct Settings {
    c: f64,
    beta: f64,
    /// Section 4.3: segments per round trip at which AIMD with `beta` equals Reno.
    alpha: f64,
    fast_convergence: bool,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let (c, beta) = (params.real("c"), params.real("beta"));
        let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
        Settings { c, beta, alpha, fast_convergence: params.switch("fast_convergence") }
    }
}

#[derive(Clone, Debug)]
struct Cubic {
    settings: Settings,
    hystart: HyStart,
    curve: Curve,
    /// The curve before the last congestion (section 4.9).
    before: Option<Curve>,
    /// Fraction of a byte of growth that `cwnd` does not hold yet.
    credit: f64,
}

/// The variables of section 4.1.2, which an undo restores; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// Plateau of the next curve; none before the first congestion and after a timeout.
    w_max: Option<f64>,
    /// Window before the last congestion; 0 before the first.
    cwnd_prior: f64,
    /// The current stage of congestion avoidance; none outside of it.
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Constant C of the cubic function, segments/s^3.
    c: f64,
    /// Time since the epoch began during which the window was used (sections 4.2 and 5.8).
    age: Duration,
    /// When the last acknowledgement arrived.
    seen: Instant,
    plateau: f64,
    /// Time from the start to the plateau, seconds.
    k: f64,
    /// Window of the AIMD sender that equals Reno, segments.
    w_est: f64,
}

impl Epoch {
    /// W_cubic (equation 1): the window on the curve at time `t`, segments.
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.c * x * x * x + self.plateau
    }
}

impl Curve {
    /// Congestion avoidance begins with a window of `cwnd`.
    fn begin(&mut self, c: f64, cwnd: f64, now: Instant) -> Epoch {
        // Section 4.10: the first slow start ended without congestion.
        if self.cwnd_prior == 0.0 {
            self.cwnd_prior = cwnd;
        }
        // Sections 4.8 and 4.10: without a plateau the curve starts flat.
        let plateau = self.w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        self.w_max = Some(plateau);
        let k = math::cbrt((plateau - cwnd) / c);
        Epoch { c, age: Duration::ZERO, seen: now, plateau, k, w_est: cwnd }
    }

    /// Ends congestion avoidance: fast convergence (section 4.7), and the window saved as in
    /// section 4.6.
    fn end(&mut self, settings: &Settings, cwnd: f64) {
        let less = settings.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if less { cwnd * (1.0 + settings.beta) / 2.0 } else { cwnd });
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }
}

impl Cubic {
    fn new(settings: Settings) -> Self {
        Cubic {
            settings,
            hystart: HyStart::default(),
            curve: Curve::default(),
            before: None,
            credit: 0.0,
        }
    }

    /// Congestion avoidance for `acked` bytes (sections 4.2 to 4.5).
    fn avoid(&mut self, win: &mut Window, ack: &AckSample, acked: u64) {
        let mss = win.mss() as f64;
        let cwnd = (win.cwnd as f64 + self.credit) / mss;
        let mut epoch = match self.curve.epoch {
            Some(epoch) => epoch,
            None => self.curve.begin(self.settings.c, cwnd, ack.now),
        };
        epoch.age += ack.now.since(epoch.seen);
        epoch.seen = ack.now;
        let share = acked as f64 / mss / cwnd;
        let alpha = if epoch.w_est >= self.curve.cwnd_prior { 1.0 } else { self.settings.alpha };
        epoch.w_est += alpha * share;
        self.curve.epoch = Some(epoch);
        let t = epoch.age.secs_f64();
        let grown = if epoch.w_cubic(t) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            let target = epoch.w_cubic(t + ack.srtt.secs_f64()).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        let bytes = grown * mss;
        win.cwnd = bytes as u64;
        self.credit = bytes - win.cwnd as f64;
    }
}

impl Control for Cubic {
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if matches!(ack.ca_state, CaState::Recovery | CaState::Cwr) {
            return;
        }
        if !ack.window_limited {
            // Time in which the window was not used does not count (section 5.8).
            if let Some(epoch) = &mut self.curve.epoch {
                epoch.seen = ack.now;
            }
            return;
        }
        let mut rest = ack.acked;
        if win.cwnd < win.ssthresh {
            rest = self.hystart.on_ack(win, ack);
        }
        if rest > 0 {
            self.avoid(win, ack, rest);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, _now: Instant) {
        self.hystart.stop();
        self.before = Some(self.curve);
        self.credit = 0.0;
        self.curve.end(&self.settings, win.cwnd as f64 / win.mss() as f64);
        if cause == Cause::Timeout {
            self.curve.w_max = None;
        }
        win.ssthresh = ((win.cwnd as f64 * self.settings.beta) as u64).max(2 * win.mss());
    }

    fn undo(&mut self, _win: &mut Window, _ends: bool) {
        if let Some(before) = self.before.take() {
            self.curve = before;
        }
    }

    fn on_tx_start(&mut self, _: &mut Window, _last: Instant, _app_limited: bool, now: Instant) {
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.seen = now;
        }
    }
}

#[cfg(test)]
mod tests;
