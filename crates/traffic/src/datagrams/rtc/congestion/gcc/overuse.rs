//! The over-use detector, draft-ietf-rmcat-gcc-02 section 5.4: compares the estimate with a
//! threshold that adapts to it.

use packet::Instant;
use packet::params::Params;

use super::arrival::Estimate;

/// An estimate that exceeds the threshold by more than this does not move it, ms.
const FAR_MS: f64 = 15.0;
/// Bounds of the threshold, ms.
const BOUNDS_MS: [f64; 2] = [6.0, 600.0];
/// Longest time between two groups that counts for the threshold, ms (libwebrtc's
/// `kMaxTimeDeltaMs`).
const LONGEST_MS: f64 = 100.0;

/// The signal of the detector: how the network is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Usage {
    Normal,
    Over,
    Under,
}

/// Parameters of the detector; the table of GCC's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detecting {
    deltas: u32,
    threshold_ms: f64,
    overuse_ms: f64,
    k_u: f64,
    k_d: f64,
}

impl Detecting {
    pub fn read(params: &Params) -> Self {
        Detecting {
            deltas: params.whole("deltas") as u32,
            threshold_ms: 1e3 * params.real("threshold"),
            overuse_ms: 1e3 * params.real("overuse_time"),
            k_u: params.real("k_u"),
            k_d: params.real("k_d"),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Detector {
    detecting: Detecting,
    threshold_ms: f64,
    groups: u32,
    /// How long the estimate has been above the threshold, ms.
    above_ms: f64,
    /// Number of groups for which the estimate has been above the threshold.
    above: u32,
    before_ms: f64,
    at: Option<Instant>,
    usage: Usage,
}

impl Detector {
    pub fn new(detecting: Detecting) -> Self {
        Detector {
            detecting,
            threshold_ms: detecting.threshold_ms,
            groups: 1,
            above_ms: 0.0,
            above: 0,
            before_ms: 0.0,
            at: None,
            usage: Usage::Normal,
        }
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Updates the signal and the threshold by the estimate of a group.
    pub fn estimated(&mut self, estimate: &Estimate) {
        self.groups = (self.groups + 1).min(self.detecting.deltas.max(1));
        let amplified_ms = f64::from(self.groups) * estimate.gradient_ms;
        if amplified_ms > self.threshold_ms {
            // It is unknown when within the first group the delay exceeded the threshold: half of
            // its time counts.
            self.above_ms += estimate.apart_ms * if self.above == 0 { 0.5 } else { 1.0 };
            self.above += 1;
            let long = self.above_ms > self.detecting.overuse_ms && self.above > 1;
            if long && amplified_ms >= self.before_ms {
                (self.above_ms, self.above, self.usage) = (0.0, 0, Usage::Over);
            }
        } else {
            let under = amplified_ms < -self.threshold_ms;
            self.usage = if under { Usage::Under } else { Usage::Normal };
            (self.above_ms, self.above) = (0.0, 0);
        }
        self.before_ms = amplified_ms;
        self.adapt(amplified_ms.abs(), estimate.at);
    }

    fn adapt(&mut self, estimate_ms: f64, now: Instant) {
        let last = self.at.replace(now).unwrap_or(now);
        let beyond = estimate_ms - self.threshold_ms;
        if beyond > FAR_MS {
            return;
        }
        let k = if beyond < 0.0 { self.detecting.k_d } else { self.detecting.k_u };
        let span_ms = (1e3 * now.since(last).secs_f64()).min(LONGEST_MS);
        let [least, most] = BOUNDS_MS;
        self.threshold_ms = (self.threshold_ms + k * beyond * span_ms).clamp(least, most);
    }

    #[cfg(test)]
    pub fn threshold_ms(&self) -> f64 {
        self.threshold_ms
    }
}
