//! The settings of an end of QUIC.

use packet::Duration;

/// The settings of a QUIC profile besides receive window and congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuicRules {
    /// Largest UDP payload, bytes (`max_datagram_size` of RFC 9002).
    pub datagram: u16,
    /// Bytes of the connection ID in the headers of both directions.
    pub connection_id: u8,
    /// Initial congestion window, datagrams.
    pub initial_window: u64,
    /// Assumed round-trip time before one is measured (`kInitialRtt`).
    pub initial_rtt: Duration,
    /// A packet is lost when one is acknowledged whose number is higher by this (`kPacketThreshold`).
    pub packet_threshold: u64,
    /// A packet is lost after this number of eighths of a round trip (`kTimeThreshold`).
    pub time_eighths: u64,
    /// One packet may be sent at once when the window is reduced, though the window is full (RFC
    /// 9002 section 7.3.2).
    pub recovery_packet: bool,
    /// Packets are spread over the round trip (RFC 9002 section 7.7).
    pub pacing: bool,
    /// A sender that has used up its burst waits until a whole burst may be sent.
    pub pacing_bursts: bool,
    /// A probe without new data repeats the oldest unacknowledged data; else it is a PING.
    pub probe_data: bool,
    pub acks: AckRules,
    /// 0-RTT: the first request goes with the first packet.
    pub zero_rtt: bool,
    /// A client keeps the ticket of a server, and resumes with it (RFC 8446 section 4.6.1).
    pub tickets: bool,
    /// A client that resumes has a token that validates its address (RFC 9000 section 8.1.3).
    pub tokens: bool,
    /// CRYPTO bytes of the client's first flight.
    pub client_hello: u32,
    /// CRYPTO bytes of the server's flight.
    pub server_flight: u32,
    /// Time without an arrival after which an end that awaits an answer gives up.
    pub idle_timeout: Duration,
    /// ECN code point of the packets sent; `None` without ECN.
    pub ecn: Option<packet::Ecn>,
}

/// When acknowledgements go out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckRules {
    /// Number of ack-eliciting packets that may wait for an acknowledgement; the next one triggers
    /// it (draft-ietf-quic-ack-frequency, Ack-Eliciting Threshold).
    pub eliciting: u64,
    /// Longest delay of an acknowledgement.
    pub max_delay: Duration,
    /// Size of a gap in the packet numbers from which on an acknowledgement is sent at once
    /// (Reordering Threshold); 0 for never.
    pub reordering: u64,
    /// Largest number of ranges of packet numbers that a receiver keeps.
    pub ranges: usize,
}

/// CRYPTO bytes of the client's Finished message with TLS_AES_128_GCM_SHA256 (RFC 8446 section 4.4.4): 4 B of header
/// and a hash of 32 B.
pub(super) const FINISHED: u64 = 36;
/// CRYPTO bytes of the flight of a server that resumes a session, without a certificate.
pub(crate) const RESUMED_FLIGHT: u32 = 250;
/// `kGranularity` of RFC 9002 section 6.1.2.
pub(super) const GRANULARITY: Duration = Duration::from_millis(1);
/// `kPersistentCongestionThreshold` of RFC 9002 section 7.6.1.
pub(super) const PERSISTENT: u64 = 3;
/// `kMinimumWindow` of RFC 9002 section 7.2, datagrams.
pub(super) const LEAST_WINDOW: u64 = 2;
/// Bytes that a server may send to an unvalidated address for each byte received (RFC 9000 section
/// 8.1).
pub(super) const AMPLIFICATION: u64 = 3;
/// Least UDP payload of a datagram with an Initial packet (RFC 9000 section 14.1).
pub(super) const PADDED: u32 = 1_200;
