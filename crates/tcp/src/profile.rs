//! The settings of an end system, checked once and shared by all its connections.

use packet::Duration;

use crate::receiver::AckPolicy;
use crate::recovery::RecoveryKind;
use crate::rtt::RttKind;
use crate::window::Growth;

/// How an end system behaves: made by an [`Entry`](crate::Entry) of the registry, immutable,
/// shared by all its connections. Both ends of a connection are taken to have the same receive
/// window (no segment carries it).
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: &'static str,
    /// Segment size, bytes.
    pub(crate) mss: u32,
    /// Receive window, bytes: constant, the program reads at once.
    pub(crate) window: u64,
    /// First congestion window, bytes.
    pub(crate) initial_window: u64,
    /// The ACK that completes the handshake opens the window like any other.
    pub(crate) handshake_grows: bool,
    /// First slow-start threshold, bytes.
    pub(crate) initial_ssthresh: u64,
    pub(crate) growth: Growth,
    pub(crate) rtt: RttKind,
    pub(crate) recovery: RecoveryKind,
    pub(crate) ack: AckPolicy,
    pub(crate) idle: IdleRule,
    pub(crate) output: Output,
    /// Retransmissions of one segment; one timeout more and the connection is given up.
    pub(crate) max_resends: u8,
    pub(crate) connect_limit: Life,
    pub(crate) time_wait: Life,
}

/// When a pause closes the congestion window again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleRule {
    /// Nothing outstanding, and nothing received for a timeout: one segment (4.4BSD).
    SinceReceived,
    /// Nothing sent for more than a timeout: at most the initial window (RFC 5681 section 4.1).
    SinceSent,
    /// Never.
    Off,
}

/// A limit on part of a connection's life.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Life {
    /// In slow ticks of the host.
    Ticks(u64),
    /// Exact.
    Exact(Duration),
}

/// How written data becomes segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// 4.4BSD `tcp_output`: every piece of a write and the close are calls of their own; short
    /// segments wait by Nagle's rule; ACKs repeat the flag of an unacknowledged FIN. Else writes
    /// and close are seen together, and segments go as soon as they fit whole.
    pub bsd: bool,
    /// The socket layer hands over at most this much per call; 0 for whole writes.
    pub write_chunk: u64,
    /// Writes (and rests) below 208 B are handed over in pieces of at most 100 B.
    pub small_write_split: bool,
}

impl Profile {
    /// The name in the registry.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Largest payload of a segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss
    }
    /// Receive window, bytes.
    pub fn window(&self) -> u64 {
        self.window
    }
}
