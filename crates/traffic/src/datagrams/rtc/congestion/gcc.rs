//! Google's congestion control, draft-ietf-rmcat-gcc-02 (S. Holmer, H. Lundin, G. Carlucci, L. De
//! Cicco and S. Mascolo, July 2016): a delay-based rate that grows until packets arrive further
//! apart than they were sent, and a loss-based one; the smaller of the two is used. Times are
//! seconds where not said to be milliseconds.

mod aimd;
mod arrival;
mod overuse;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use self::aimd::{Aimd, Increasing};
use self::arrival::{Arrivals, Filtering};
use self::overuse::{Detecting, Detector};
use super::{Control, Entry, Feedback, Rates, Video};

/// The entry for GCC in the registry.
pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "gcc",
        summary: "grows until a Kalman filter finds that the delay grows; losses above 10 % bound it",
        year: 2016,
        source: "draft-ietf-rmcat-gcc-02, recalled and checked against implementations that quote \
                 it: GStreamer's rtpgccbwe and libwebrtc",
        deviations: "the estimate is multiplied before it is compared (deltas), the deviation of the \
                     link's capacity has bounds, and a rate that has fallen below what was known \
                     forgets it, as in libwebrtc: the draft is silent, and does not work without. \
                     Packets are paced one by one and not in groups of 5 ms. No probes: a rate grows \
                     by 8 % a second at most",
        fields: FIELDS,
    },
    start: Some(300e3),
    feedback: 0.1,
    make: |params, video| Box::new(Gcc::new(params, *video)),
};

const FACTOR: Kind = Kind::from(Unit::None, 1.0, 100.0);
const SHARE: Kind = Kind::above(Unit::None, 0.0, 1.0);
const GAIN: Kind = Kind::above(Unit::None, 0.0, 1.0);
const SPAN: Kind = Kind::above(Unit::Time, 0.0, 100.0);
const TABLE: &str = "draft-ietf-rmcat-gcc-02 table 1";
const RATE_CONTROL: &str = "draft-ietf-rmcat-gcc-02 section 5.5";
const LOSSES: &str = "draft-ietf-rmcat-gcc-02 section 6";

const FIELDS: &[Field] = &[
    Field::new("burst_time", SPAN, Value::Real(0.005))
        .meaning("Packets sent within this time are one group (burst_time).")
        .source(TABLE),
    Field::new("state_noise", GAIN, Value::Real(1e-3))
        .meaning("Variance of the state's noise, ms^2 (q).")
        .source(TABLE),
    Field::new("first_error", GAIN, Value::Real(0.1))
        .meaning("Variance of the estimate at the begin, ms^2 (e(0)).")
        .source(TABLE),
    Field::new("chi", GAIN, Value::Real(0.01))
        .meaning("Coefficient of the measured noise's variance (chi).")
        .source("draft-ietf-rmcat-gcc-02 table 1: 0.001 to 0.1; libwebrtc: 0.01"),
    Field::new("deltas", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(60))
        .meaning(
            "The estimate is multiplied by the number of groups so far, and this at most, before it \
             is compared with the threshold; 1: the letter of the draft.",
        )
        .source("read: GStreamer's rtpgccbwe and libwebrtc; not in the draft"),
    Field::new("threshold", SPAN, Value::Real(0.0125))
        .meaning("Threshold of the estimate at the begin (del_var_th(0)).")
        .source(TABLE),
    Field::new("overuse_time", SPAN, Value::Real(0.01))
        .meaning("How long the estimate is above it before that is called over-use.")
        .source(TABLE),
    Field::new("k_u", GAIN, Value::Real(0.01))
        .meaning("How fast the threshold rises, a millisecond (K_u).")
        .source(TABLE),
    Field::new("k_d", GAIN, Value::Real(0.00018))
        .meaning("How fast it falls, a millisecond (K_d).")
        .source(TABLE),
    Field::new("rate_window", SPAN, Value::Real(0.5))
        .meaning("What the received rate is measured over (T).")
        .source("draft-ietf-rmcat-gcc-02 section 5.5: 0.5 to 1 s"),
    Field::new("eta", FACTOR, Value::Real(1.08))
        .meaning("Growth in a second, far from where the delay grew last (eta).")
        .source(RATE_CONTROL),
    Field::new("beta", SHARE, Value::Real(0.85))
        .meaning("Of the received rate, what is left after over-use (beta).")
        .source(RATE_CONTROL),
    Field::new("loss_low", SHARE, Value::Real(0.02))
        .meaning("Share of losses below which the rate that they bound grows.")
        .source(LOSSES),
    Field::new("loss_high", SHARE, Value::Real(0.1))
        .meaning("Share of losses above which it falls.")
        .source(LOSSES),
    Field::new("loss_growth", FACTOR, Value::Real(1.05))
        .meaning("How much it grows at a time.")
        .source(LOSSES),
    Field::new("loss_interval", SPAN, Value::Real(0.2))
        .meaning("Time between two of its changes at least; 20 packets must be reported as well.")
        .source("read: GStreamer's rtpgccbwe (200 ms), libwebrtc (20 packets); the draft: a report"),
    Field::new("pacing", FACTOR, Value::Real(2.5))
        .meaning("The pacer's rate, as a multiple of the encoder's.")
        .source("recalled: libwebrtc. The draft has 1, with which a frame's packets wait for ever"),
];

/// Least number of packets over which the share of lost ones is computed (libwebrtc's
/// `kLimitNumPackets`).
const FEW: u64 = 20;

/// The loss-based controller of the draft's section 6.
#[derive(Clone, Debug)]
struct LossBound {
    low: f64,
    high: f64,
    growth: f64,
    interval: f64,
    rate: f64,
    reported: u64,
    lost: u64,
    changed: Option<Instant>,
}

impl LossBound {
    fn new(params: &Params, rate: f64) -> Self {
        LossBound {
            low: params.real("loss_low"),
            high: params.real("loss_high"),
            growth: params.real("loss_growth"),
            interval: params.real("loss_interval"),
            rate,
            reported: 0,
            lost: 0,
            changed: None,
        }
    }

    fn on_feedback(&mut self, feedback: &Feedback, video: &Video) {
        self.reported += feedback.packets.len() as u64;
        self.lost += feedback.packets.iter().filter(|p| p.arrived.is_none()).count() as u64;
        let last = *self.changed.get_or_insert(feedback.now);
        if self.reported < FEW || feedback.now.since(last).secs_f64() < self.interval {
            return;
        }
        let share = self.lost as f64 / self.reported as f64;
        if share > self.high {
            self.rate *= 1.0 - 0.5 * share;
        } else if share < self.low {
            self.rate *= self.growth;
        }
        self.rate = self.rate.clamp(video.least, video.most);
        (self.reported, self.lost, self.changed) = (0, 0, Some(feedback.now));
    }
}

#[derive(Clone, Debug)]
struct Gcc {
    video: Video,
    pacing: f64,
    arrivals: Arrivals,
    detector: Detector,
    /// The delay-based rate (A_hat), and the loss-based one (As_hat).
    aimd: Aimd,
    losses: LossBound,
}

impl Gcc {
    fn new(params: &Params, video: Video) -> Self {
        Gcc {
            video,
            pacing: params.real("pacing"),
            arrivals: Arrivals::new(Filtering::read(params)),
            detector: Detector::new(Detecting::read(params)),
            aimd: Aimd::new(Increasing::read(params), video),
            losses: LossBound::new(params, video.start),
        }
    }

    fn rate(&self) -> f64 {
        self.aimd.rate().min(self.losses.rate)
    }
}

impl Control for Gcc {
    fn copy(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        for packet in feedback.packets {
            if let Some(estimate) = self.arrivals.packet(packet) {
                self.detector.estimated(&estimate);
            }
        }
        self.losses.on_feedback(feedback, &self.video);
        self.aimd.on_feedback(feedback, self.detector.usage());
    }

    fn rates(&self, _buffered: u64) -> Rates {
        let rate = self.rate();
        Rates { encoder: rate, pacer: self.pacing * rate }
    }
}

#[cfg(test)]
mod tests;
