//! The reports that applications make about the measured interval, at its end.

use packet::Duration;
pub use packet::report::{ListenerReport, PingReport, Probe, VideoCallReport, ViewerReport};

/// The report of an application about the measured interval.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Reports of a call's listeners, the one at the peer's machine first.
    Call(Vec<ListenerReport>),
    /// Reports of a video call's viewers, the one at the peer's machine first.
    VideoCall(Vec<VideoCallReport>),
    /// Report of a video player.
    Viewing(ViewerReport),
    /// Report of a sender of echo requests.
    Ping(PingReport),
    /// Probes of a test of responsiveness in the whole run.
    Probes(Vec<Probe>),
}

/// What the viewers of one application were shown until now, for an observer of the run: sums that
/// begin anew with the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Number of viewers.
    pub viewers: u32,
    /// Number of frames of video calls that were shown, over all viewers.
    pub frames: u64,
    /// Sum of the delays of `frames`, from capture to display.
    pub delay: Duration,
    /// Time for which pictures stood still after they had begun to move; the sum over all viewers.
    pub still: Duration,
}

impl Shown {
    /// The sums over these viewers and those of `more`.
    pub fn and(self, more: Shown) -> Shown {
        Shown {
            viewers: self.viewers + more.viewers,
            frames: self.frames + more.frames,
            delay: self.delay + more.delay,
            still: self.still + more.still,
        }
    }
}
