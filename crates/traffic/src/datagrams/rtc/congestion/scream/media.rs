//! SCReAM's media rate control, RFC 8298 section 4.1.3: the encoder's rate, computed from the data
//! that waits at the sender.

use std::collections::VecDeque;

use packet::params::Params;
use packet::{Duration, Instant};

use super::super::Video;
use super::window::{Congestion, Window};

/// Number of the encoder's rates of which the median is taken: those of 10 s.
const MEDIAN_SAMPLES: usize = 50;
/// Least share of the usual growth, which applies near the rate of the last congestion, and the
/// factor by which the share rises with the relative difference from that rate.
const LEAST_SCALE: f64 = 0.2;
const SCALE: f64 = 4.0;

/// Parameters of the media rate control; the table of SCReAM's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media {
    interval: Duration,
    ramp_up_speed: f64,
    guard: f64,
    queue_factor: f64,
    queue_delay: f64,
    queue_scale: f64,
    beta_r: f64,
    beta_ecn: f64,
}

impl Media {
    pub fn read(params: &Params) -> Self {
        let real = |name| params.real(name);
        Media {
            interval: params.time("rate_adjust_interval"),
            ramp_up_speed: real("ramp_up_speed"),
            guard: real("pre_congestion_guard"),
            queue_factor: real("tx_queue_size_factor"),
            queue_delay: real("rtp_qdelay_th"),
            queue_scale: real("rtp_qdelay_scale"),
            beta_r: real("beta_r"),
            beta_ecn: real("beta_ecn"),
        }
    }
}

/// Rates in the last interval, bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub transmit: f64,
    pub acked: f64,
    pub media: f64,
}

#[derive(Clone, Debug)]
pub(super) struct MediaRate {
    media: Media,
    video: Video,
    pub(super) target: f64,
    /// The rate at which congestion was seen last (target_bitrate_last_max).
    pub(super) last_max: f64,
    sent: u64,
    acked: u64,
    /// Bytes that waited at the sender when the interval began.
    waited: u64,
    medias: VecDeque<f64>,
    adjusted: Option<Instant>,
}

impl MediaRate {
    pub fn new(media: Media, video: Video) -> Self {
        MediaRate {
            media,
            video,
            target: video.start,
            last_max: 1.0,
            sent: 0,
            acked: 0,
            waited: 0,
            medias: VecDeque::new(),
            adjusted: None,
        }
    }

    pub fn target(&self) -> f64 {
        self.target
    }

    pub fn sent(&mut self, bytes: u32) {
        self.sent += u64::from(bytes);
    }

    pub fn acknowledged(&mut self, bytes: u32) {
        self.acked += u64::from(bytes);
    }

    /// Lowers the rate at once, after a loss or a mark.
    pub fn congested(&mut self, event: Congestion) {
        self.last_max = self.target;
        let beta = match event {
            Congestion::Loss => self.media.beta_r,
            Congestion::Mark => self.media.beta_ecn,
            Congestion::Delay => 1.0,
        };
        self.target = (beta * self.target).max(self.video.least);
    }

    /// Changes the rate at the end of an interval, if one is over.
    pub fn adjust(&mut self, waiting: u64, window: &Window, now: Instant) {
        let last = *self.adjusted.get_or_insert(now);
        if now.since(last) < self.media.interval {
            return;
        }
        let rate = |bytes: u64| 8.0 * bytes as f64 / now.since(last).secs_f64();
        // What the encoder made was either sent or still waits.
        let made = (self.sent + waiting).saturating_sub(self.waited);
        let measured =
            Measured { transmit: rate(self.sent), acked: rate(self.acked), media: rate(made) };
        (self.sent, self.acked, self.waited, self.adjusted) = (0, 0, waiting, Some(now));
        self.change(measured, 8.0 * waiting as f64, window);
    }

    pub(super) fn change(&mut self, measured: Measured, queued: f64, window: &Window) {
        let Media { ramp_up_speed, guard, queue_factor, .. } = self.media;
        let step = ramp_up_speed.min(self.target / 2.0) * self.media.interval.secs_f64();
        let distance = SCALE * (self.target - self.last_max) / self.last_max;
        let scale = (distance * distance).clamp(LEAST_SCALE, 1.0);
        let current = measured.transmit.max(measured.acked);
        if window.fast_increase {
            self.target += step * scale;
        } else {
            let carried = current * (1.0 - guard * window.trend) - queue_factor * queued;
            let change = carried - self.target;
            self.target += if change > 0.0 { (change * scale).min(step) } else { change };
            if queued > self.media.queue_delay * current {
                self.last_max = self.target.min(measured.acked).max(1.0);
                self.target *= self.media.queue_scale;
            }
        }
        let limit = current.max(measured.media).max(self.median(measured.media));
        self.target = self.target.min(limit * (2.0 - window.trend_mem()));
        self.target = self.target.clamp(self.video.least, self.video.most);
    }

    fn median(&mut self, media: f64) -> f64 {
        self.medias.push_back(media);
        if self.medias.len() > MEDIAN_SAMPLES {
            self.medias.pop_front();
        }
        let mut sorted: Vec<f64> = self.medias.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}
