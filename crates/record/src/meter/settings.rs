//! Settings of a meter.

use packet::Duration;

use crate::Window;
use crate::watch::WatchSettings;

/// Settings of a meter: what it records.
#[derive(Clone, Copy, Debug)]
pub struct MeterSettings {
    /// The measured interval.
    pub window: Window,
    /// Time between samples of the queue; none if it is not sampled.
    pub sample_every: Option<Duration>,
    /// Whether to keep every sample (else only their statistics).
    pub keep_samples: bool,
    /// Whether the discipline's gauges are sampled with the queue.
    pub gauges: bool,
    /// Whether to keep a trace with a row for each event of each packet.
    pub trace: bool,
    /// Whether to keep the distribution of queueing delays, by class of packets.
    pub delays: bool,
    /// Whether to keep counts of every second.
    pub seconds: bool,
    /// Samples to keep for an observer of the run, if there is one.
    pub watch: Option<WatchSettings>,
}

impl MeterSettings {
    /// Settings for counts and means of the measured interval alone.
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
