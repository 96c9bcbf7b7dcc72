//! What a meter is to record.

use packet::Duration;

use crate::Window;
use crate::watch::WatchSettings;

/// What a meter is to record.
#[derive(Clone, Copy, Debug)]
pub struct MeterSettings {
    /// The measured interval.
    pub window: Window,
    /// Distance of queue samples, if the queue is sampled at all.
    pub sample_every: Option<Duration>,
    /// Whether to keep every sample (else only their statistics).
    pub keep_samples: bool,
    /// Whether the discipline's gauges are sampled with the queue.
    pub gauges: bool,
    /// Whether to keep a row of everything that happens to packets.
    pub trace: bool,
    /// Whether to keep the distribution of queueing delays, by class of packets.
    pub delays: bool,
    /// Whether to keep what happened in every second.
    pub seconds: bool,
    /// Samples to keep for an observer of the run, if there is one.
    pub watch: Option<WatchSettings>,
}

impl MeterSettings {
    /// Counts and means of the measured interval alone.
    pub fn counts(window: Window) -> Self {
        Self {
            window,
            sample_every: None,
            keep_samples: false,
            gauges: false,
            trace: false,
            delays: false,
            seconds: true,
            watch: None,
        }
    }
}
