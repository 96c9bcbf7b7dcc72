//! Reports of applications about the measured interval, made at the end of a simulated or a live
//! run. The recorder adds up the reports of all users.

use alloc::vec::Vec;

use crate::{Duration, Instant};

/// Quality of a codec, and its sensitivity to losses (ITU-T G.113 Appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairment {
    /// Equipment impairment factor Ie, without losses.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl.
    pub robustness: f64,
}

/// What one listener of a call received. A packet counts once it is known whether the packet was
/// played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListenerReport {
    /// Whether the receiver is on the application's own machine, and not on the peer's.
    pub back: bool,
    /// Voice packets sent to the listener in the measured interval.
    pub said: u64,
    /// Packets of `said` that arrived after their playout time.
    pub late: u64,
    /// Packets of `said` that never arrived.
    pub lost: u64,
    /// Number of gaps: runs of consecutive packets that were not played.
    pub gaps: u64,
    /// Mean one-way network delay of the packets that arrived, s; NaN if none arrived.
    pub network_s: f64,
    /// Mean mouth-to-ear delay of the packets that were played, s; NaN if none was played.
    pub mouth_to_ear_s: f64,
    /// Impairment factors of the call's codec.
    pub codec: Impairment,
}

/// What one viewer of a video call saw. Numbers of bytes count RTP packets.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoCallReport {
    /// Whether the receiver is on the application's own machine, and not on the peer's.
    pub back: bool,
    /// Length of the call within the measured interval.
    pub seconds: f64,
    /// Video frames encoded for the viewer.
    pub frames: u64,
    /// Frames that had not become complete when a later one was shown.
    pub frames_lost: u64,
    /// Delay from capture to display of the frames that were shown.
    pub delays: Vec<Duration>,
    /// Number of times the picture froze.
    pub freezes: u64,
    /// Total time for which the picture was frozen, s.
    pub frozen_s: f64,
    /// Bytes sent to the viewer.
    pub sent_bytes: u64,
    /// Bytes that the viewer received.
    pub received_bytes: u64,
    /// Packets that the viewer received.
    pub received: u64,
    /// Packets that were missing when a later packet arrived.
    pub lost: u64,
    /// Received packets that a queue had marked.
    pub marked: u64,
}

/// What one viewer of a streamed film saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewerReport {
    /// Startup delay: from the viewer's begin until the picture moved, also if that was before the
    /// measured interval; `None` if the picture never moved.
    pub startup: Option<Duration>,
    /// Number of times the picture froze.
    pub stalls: u64,
    /// Total time for which the picture was frozen.
    pub stalled: Duration,
    /// Number of changes of the picture's bit rate.
    pub switches: u64,
    /// Media segments fetched.
    pub segments: u64,
    /// Bit rates on offer in bit/s, lowest first, each with the time for which it was shown.
    pub seen: Vec<(u64, Duration)>,
}

/// What one sender of echo requests measured, in the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PingReport {
    /// When each request left.
    pub sent: Vec<Instant>,
    /// Round-trip time of each request; `None` without a reply.
    pub round_trips: Vec<Option<Duration>>,
    /// Index of the first request in the measured interval.
    pub measured_from: usize,
}

/// One probe of a test of responsiveness (draft-ietf-ippm-responsiveness): on a connection of its
/// own ("foreign"), or on a load-generating one ("self"). A time is `None` while it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When the probe began.
    pub begun: Instant,
    /// Whether the probe uses a load-generating connection.
    pub is_self: bool,
    /// Duration of the TCP handshake.
    pub tcp: Option<Duration>,
    /// Mean duration of a round trip of the TLS handshake.
    pub tls: Option<Duration>,
    /// Time from the HTTP request to the end of its response.
    pub http: Option<Duration>,
}
