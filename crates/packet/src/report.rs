//! What an application reports of itself at the end of a run, of the measured interval: a simulated
//! one, or one of a live run. The recorder adds the reports of all users up.

use alloc::vec::Vec;

use crate::{Duration, Instant};

/// How a codec sounds, and how losses harm it (ITU-T G.113 Appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairment {
    /// Equipment impairment factor Ie, without losses.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl.
    pub robustness: f64,
}

/// What one listener of a call received. A packet counts once it is known whether it was played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListenerReport {
    /// Whether it sits at the application's own machine, and not at the peer's.
    pub back: bool,
    /// Packets said to it in the measured interval.
    pub said: u64,
    /// Packets of `said` that arrived after their playout time.
    pub late: u64,
    /// Packets of `said` that never arrived.
    pub lost: u64,
    /// Runs of packets that were not played, one after the other.
    pub gaps: u64,
    /// Mean one-way delay over the network of those that came, s; NaN if none came.
    pub network_s: f64,
    /// Mean delay of those that were played, from mouth to ear, s; NaN if none was.
    pub mouth_to_ear_s: f64,
    /// The codec.
    pub codec: Impairment,
}

/// What one viewer of a video call saw. Bytes are of RTP packets.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoCallReport {
    /// Whether it sits at the application's own machine, and not at the peer's.
    pub back: bool,
    /// Length of the call within the measured interval.
    pub seconds: f64,
    /// Frames made for it.
    pub frames: u64,
    /// Frames that were never complete while a later one was shown.
    pub frames_lost: u64,
    /// Delay from capture to display of the frames that were shown.
    pub delays: Vec<Duration>,
    /// Times the picture froze.
    pub freezes: u64,
    /// How long the picture stood still, s.
    pub frozen_s: f64,
    /// Bytes sent to the viewer.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets received.
    pub received: u64,
    /// Packets that were missing when a later one came.
    pub lost: u64,
    /// Received packets that a queue had marked.
    pub marked: u64,
}

/// What one viewer saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewerReport {
    /// From its begin until the picture moved, if it did; also if that was before the measured
    /// interval.
    pub startup: Option<Duration>,
    /// Times the picture froze.
    pub stalls: u64,
    /// How long the picture was frozen in all.
    pub stalled: Duration,
    /// Times the bit rate of the picture changed.
    pub switches: u64,
    /// Segments fetched.
    pub segments: u64,
    /// The bit rates on offer, bit/s, from the lowest on, and for how long each was seen.
    pub seen: Vec<(u64, Duration)>,
}

/// What one sender of echo requests measured, in the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PingReport {
    /// When each request left.
    pub sent: Vec<Instant>,
    /// Round trip of each; none without an answer.
    pub round_trips: Vec<Option<Duration>>,
    /// The first request of the measured interval.
    pub measured_from: usize,
}

/// One probe of a test of responsiveness (draft-ietf-ippm-responsiveness): on a connection of its own ("foreign"),
/// or on a load-generating one ("self"). A time is none while it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When it began.
    pub begun: Instant,
    /// Whether it shares a load-generating connection.
    pub is_self: bool,
    /// The TCP handshake.
    pub tcp: Option<Duration>,
    /// A round trip of the TLS handshake, the mean of several.
    pub tls: Option<Duration>,
    /// From the request to its whole answer.
    pub http: Option<Duration>,
}
