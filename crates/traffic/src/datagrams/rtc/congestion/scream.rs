//! SCReAM, RFC 8298 (I. Johansson and Z. Sarker, December 2017): a congestion window that keeps the
//! queueing delay at a target, as LEDBAT's does, packets that wait at the sender for the window,
//! and an encoder's rate with which few packets wait. Times are seconds.

mod media;
mod window;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use self::media::{Media, MediaRate};
use self::window::{Window, Windowing};
use super::{Control, Entry, Feedback, Rates, Video};

/// The entry for SCReAM in the registry.
pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "scream",
        summary: "a window by delay; the encoder's rate by what waits for the window",
        year: 2017,
        source: "RFC 8298, its pseudocode recalled and checked against an implementation that has \
                 its constants (libtgvoip's), the draft that follows it \
                 (draft-johansson-ccwg-scream-bis), which repeats its pseudocode, and the authors' \
                 implementation",
        deviations: "the base delay is the smallest of the whole call; a packet that a later one \
                     overtakes is lost, without a reordering window; with a full window one packet \
                     goes after probe_interval, since the RFC says that a least rate is kept and not \
                     how; the change of the rate is towards what is carried, and a queue at the sender \
                     counts as congestion for target_bitrate_last_max, as in the authors' \
                     implementation (EricssonResearch/scream): as the RFC prints it, without \
                     subtracting target_bitrate, 0.9 s of video waited at the sender of 0.6 Mbit/s; \
                     reports come every 20 ms at all rates (the RFC: from 500 kbit/s on)",
        fields: FIELDS,
    },
    start: None,
    feedback: 0.02,
    make: |params, video| Box::new(Scream::new(params, *video)),
};

const FACTOR: Kind = Kind::from(Unit::None, 0.0, 100.0);
const SHARE: Kind = Kind::above(Unit::None, 0.0, 1.0);
const SPAN: Kind = Kind::above(Unit::Time, 0.0, 1e3);
const RATE: Kind = Kind::above(Unit::Rate, 0.0, 1e12);
const CONSTANTS: &str = "RFC 8298 section 4.1.1.1";

const FIELDS: &[Field] = &[
    Field::new("qdelay_target_lo", SPAN, Value::Real(0.1))
        .meaning("Least target of the queueing delay (QDELAY_TARGET_LO).")
        .source(CONSTANTS),
    Field::new("qdelay_target_hi", SPAN, Value::Real(0.4))
        .meaning(
            "Largest target, beside flows that fill the queue (QDELAY_TARGET_HI); the least one: no \
             such compensation.",
        )
        .source(CONSTANTS),
    Field::new("qdelay_weight", SHARE, Value::Real(0.1))
        .meaning("Weight of a new sample of the delay's share of its target (QDELAY_WEIGHT).")
        .source(CONSTANTS),
    Field::new("qdelay_trend_th", SHARE, Value::Real(0.2))
        .meaning("Trend of the delay that ends the fast increase (QDELAY_TREND_TH).")
        .source(CONSTANTS),
    Field::new("min_cwnd", Kind::from(Unit::Bytes, 1.0, 1e9), Value::Real(3_000.0))
        .meaning("Least congestion window (MIN_CWND).")
        .source(CONSTANTS),
    Field::new("head_room", FACTOR, Value::Real(1.1))
        .meaning(
            "The window, as a multiple of the most bytes in flight of 5 s, at most \
             (MAX_BYTES_IN_FLIGHT_HEAD_ROOM).",
        )
        .source(CONSTANTS),
    Field::new("gain", FACTOR, Value::Real(1.0))
        .meaning("How fast the window follows the delay (GAIN).")
        .source(CONSTANTS),
    Field::new("beta_loss", SHARE, Value::Real(0.8))
        .meaning("What a loss leaves of the window (BETA_LOSS).")
        .source(CONSTANTS),
    Field::new("beta_ecn", SHARE, Value::Real(0.9))
        .meaning("What a mark leaves of the window and of the rate (BETA_ECN).")
        .source(CONSTANTS),
    Field::new("beta_r", SHARE, Value::Real(0.9))
        .meaning("What a loss leaves of the rate (BETA_R).")
        .source(CONSTANTS),
    Field::new("rate_adjust_interval", SPAN, Value::Real(0.2))
        .meaning("Between two changes of the encoder's rate (RATE_ADJUST_INTERVAL).")
        .source(CONSTANTS),
    Field::new("ramp_up_speed", RATE, Value::Real(200e3))
        .meaning("Largest growth of the rate in a second (RAMP_UP_SPEED).")
        .source(CONSTANTS),
    Field::new("pre_congestion_guard", FACTOR, Value::Real(0.1))
        .meaning("How much the delay's trend slows the growth (PRE_CONGESTION_GUARD).")
        .source("RFC 8298 section 4.1.1.1: 0 to 0.2"),
    Field::new("tx_queue_size_factor", FACTOR, Value::Real(1.0))
        .meaning("How much what waits at the sender slows the growth (TX_QUEUE_SIZE_FACTOR).")
        .source("RFC 8298 section 4.1.1.1: 0 to 2"),
    Field::new("rtp_qdelay_th", SPAN, Value::Real(0.02))
        .meaning("Wait at the sender above which the rate is lowered (RTP_QDELAY_TH).")
        .source(CONSTANTS),
    Field::new("rtp_qdelay_scale", SHARE, Value::Real(0.95))
        .meaning("What that leaves of it (TARGET_RATE_SCALE_RTP_QDELAY).")
        .source(CONSTANTS),
    Field::new("qdelay_trend_lo", SHARE, Value::Real(0.2))
        .meaning("Trend of the delay below which the fast increase may resume (QDELAY_TREND_LO).")
        .source(CONSTANTS),
    Field::new("resume_after", SPAN, Value::Real(5.0))
        .meaning("How long it must have been below (T_RESUME_FAST_INCREASE).")
        .source(CONSTANTS),
    Field::new("rate_pace_min", RATE, Value::Real(50e3))
        .meaning("Least rate of the pacer (RATE_PACE_MIN).")
        .source(CONSTANTS),
    Field::new("patience", SPAN, Value::Real(1.0))
        .meaning("What has waited at the sender for longer is given up, with its frames.")
        .source("RFC 8298 section 4.1.3: a sender should; the time is constructed"),
    Field::new("probe_interval", SPAN, Value::Real(0.2))
        .meaning("With a full window, the time after which a packet goes all the same.")
        .source("constructed"),
];

#[derive(Clone, Debug)]
struct Scream {
    window: Window,
    media: MediaRate,
    pace_min: f64,
    probe: Duration,
    patience: Duration,
    last_sent: Instant,
}

impl Scream {
    fn new(params: &Params, video: Video) -> Self {
        Scream {
            window: Window::new(Windowing::read(params, &video)),
            media: MediaRate::new(Media::read(params), video),
            pace_min: params.real("rate_pace_min"),
            probe: params.time("probe_interval"),
            patience: params.time("patience"),
            last_sent: Instant::ZERO,
        }
    }
}

impl Control for Scream {
    fn copy(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }

    fn on_frame(&mut self, buffered: u64, now: Instant) {
        self.media.adjust(buffered, &self.window, now);
    }

    fn on_sent(&mut self, bytes: u32, now: Instant) {
        self.last_sent = now;
        self.window.sent(bytes, now);
        self.media.sent(bytes);
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        let congested = self.window.on_feedback(feedback);
        self.media.acknowledged(feedback.packets.iter().map(|packet| packet.bytes).sum());
        if let Some(event) = congested {
            self.media.congested(event);
        }
    }

    fn rates(&self, _buffered: u64) -> Rates {
        let pacer = self.window.pace().max(self.pace_min);
        Rates { encoder: self.media.target(), pacer }
    }

    fn opens(&self, bytes: u32) -> Instant {
        if self.window.has_room(bytes) { Instant::ZERO } else { self.last_sent + self.probe }
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

#[cfg(test)]
mod tests;
