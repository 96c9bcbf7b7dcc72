//! The settings of an end system, checked once and shared by all its connections.

use packet::Duration;

use crate::congestion::Control;
use crate::ecn::EcnRules;
use crate::host_metrics::Remembers;
use crate::quic::QuicRules;
use crate::receiver::{AckClock, AckPolicy};
use crate::recovery::Rules;
use crate::rtt::RttRules;
use crate::send_state::{SendState, Window};

/// How an end system behaves: made by an [`Entry`](crate::Entry) of the registry, immutable, shared
/// by all its connections. Segments of an end with a constant receive window carry no window; the
/// peer then assumes that of its own profile.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: &'static str,
    /// Segment size, bytes; with timestamps, reduced by the length of their option.
    pub(crate) mss: u16,
    /// Receive window in bytes, constant unless segments carry windows: then the window until the
    /// first one arrives.
    pub(crate) window: u64,
    /// Initial congestion window in segments; a pause reduces a larger window to it.
    pub(crate) initial_segments: u64,
    /// Initial slow-start threshold, bytes.
    pub(crate) initial_ssthresh: u64,
    /// Congestion control, of which every connection gets its own copy.
    pub(crate) congestion: Box<dyn Control>,
    /// Name of `congestion` in the list of congestion controls.
    pub(crate) control_name: &'static str,
    pub(crate) rtt: RttRules,
    pub(crate) recovery: Rules,
    pub(crate) ack: AckPolicy,
    pub(crate) idle: IdleRule,
    pub(crate) output: Output,
    pub(crate) opening: Opening,
    pub(crate) ending: Ending,
    pub(crate) rto_check: RtoCheck,
    /// The SYN offers timestamps (RFC 7323).
    pub(crate) timestamps: bool,
    pub(crate) ecn: EcnRules,
    /// Largest number of timeouts in a row; at one more the connection is given up. [`u8::MAX`] is
    /// no limit.
    pub(crate) max_resends: u8,
    pub(crate) connect_limit: TimeLimit,
    pub(crate) time_wait: TimeLimit,
    /// What hosts cache of their connections for later ones.
    pub(crate) remembers: Remembers,
    /// The rules of QUIC, for an end that speaks QUIC; `None` for TCP.
    pub(crate) quic: Option<QuicRules>,
}

/// How a connection begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub syn_ack: SynAck,
    pub waits: SynRetries,
    /// Bytes of options on a SYN or SYN-ACK, timestamps not counted.
    pub options: u16,
    /// The ACK that completes the handshake increases the window as any other ACK does.
    pub handshake_grows: bool,
    /// A lost SYN or SYN-ACK sets the slow-start threshold to two segments.
    pub loss_cuts_threshold: bool,
    /// A side that retransmitted its SYN or SYN-ACK starts with a window of one segment.
    pub loss_closes_window: bool,
}

/// How often SYN and SYN-ACK are retransmitted; [`u8::MAX`] is no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynRetries {
    /// Number of timeouts of a SYN before the timeout begins to double.
    pub syn_linear: u8,
    pub syn_retries: u8,
    pub syn_ack_retries: u8,
}

/// What retransmits a SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SynAck {
    /// The retransmission timer of the connection; a retransmitted SYN is answered by a bare ACK
    /// (4.4BSD).
    Timer,
    /// A SYN cache (FreeBSD 4.5) with its own schedule: it measures no round trip; a retransmitted
    /// SYN makes it repeat the SYN-ACK; when its retries are used up the entry is dropped and the
    /// end listens again.
    Cache,
    /// A request socket (Linux's `tcp_check_req` and `reqsk_timer_handler`): as a SYN cache, but
    /// the round trip is measured if the SYN-ACK was sent once, and its retransmissions are passed
    /// on to the connection.
    Request,
    /// No timer: a retransmitted SYN makes the end repeat the SYN-ACK, as a sink of ns-2
    /// acknowledges every packet.
    Sink,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The connection ends by FINs and a TIME_WAIT; the last data segment carries the FIN where
    /// possible.
    Fin,
    /// As [`Ending::Fin`], but the FIN is a segment of its own after all data has been sent (it is
    /// carried by data only when that is retransmitted).
    BareFin,
    /// The connection ends when all data is acknowledged, without any segment.
    Silent,
}

/// How spurious retransmission timeouts are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RtoCheck {
    /// Spurious timeouts are not detected.
    Off,
    /// An ACK within half a round trip of the retransmission shows that it was spurious (FreeBSD
    /// 4.x).
    BadRetransmit,
    /// F-RTO (RFC 5682).
    FRto,
}

/// After which pause the congestion window is reduced to the initial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleRule {
    /// No data outstanding, and nothing received for a retransmission timeout (4.4BSD).
    SinceReceived,
    /// Nothing sent for more than a retransmission timeout (RFC 5681 section 4.1).
    SinceSent,
    /// No data outstanding, and nothing sent for a retransmission timeout: the window is halved for
    /// each timeout of the pause (RFC 2861, as Linux's `tcp_cwnd_restart`); a rule of RACK senders.
    Decay,
    /// Pauses do not reduce the window.
    Off,
}

/// A limit on the duration of a state of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    /// A number of ticks of the host's slow timer.
    Ticks {
        n: u64,
        tick: Duration,
    },
    Exact(Duration),
    /// The duration of the state has no limit.
    Unlimited,
}

/// How written data becomes segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// 4.4BSD `tcp_output`: every piece of a write, and the close, makes an output call of its own;
    /// short segments wait by Nagle's rule; ACKs repeat the flag of an unacknowledged FIN.
    /// Otherwise writes and close are handled together, and a segment is sent as soon as it fits
    /// whole.
    pub bsd: bool,
    /// The socket layer hands over at most this many bytes per call; 0 for whole writes.
    pub write_chunk: u64,
    /// Writes (and the rests of longer ones) below 208 B are handed over in pieces of at most 100
    /// B.
    pub small_write_split: bool,
    /// A short packet takes as long to transmit as a full one (ns-2's one-way agents count
    /// packets).
    pub whole_packets: bool,
    /// Two full segments are handed to the device as one where possible (Linux's segmentation
    /// offload).
    pub pairs: bool,
    /// PSH is set at the end of a write and at the end of what is handed to the device as one
    /// (Linux).
    pub pushes: bool,
}

impl Profile {
    /// Sequence numbers and windows of a sender that has sent nothing.
    pub(crate) fn fresh_send_state(&self) -> SendState {
        let mut snd = SendState {
            end: 1,
            window: self.window as u32,
            win: Window { ssthresh: self.initial_ssthresh, mss: self.mss, ..Window::default() },
            ..SendState::default()
        };
        snd.win.cwnd = self.initial_window(&snd);
        snd
    }
    /// Initial congestion window, bytes.
    pub(crate) fn initial_window(&self, snd: &SendState) -> u64 {
        self.initial_segments * snd.mss()
    }
    /// Name of the profile in the registry of end systems.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// The name of its congestion control, chosen by the parameters or the profile's own.
    pub fn control_name(&self) -> &'static str {
        self.control_name
    }
    /// Largest payload of a segment, bytes.
    pub fn mss(&self) -> u32 {
        u32::from(self.mss)
    }
    /// Receive window, bytes.
    pub fn window(&self) -> u64 {
        self.window
    }
    /// Whether the timers of all connections of a host expire at ticks of the host's timers, many
    /// at a time (4.4BSD).
    pub fn timers_tick(&self) -> bool {
        self.rtt.timers_tick() && self.ack.clock == AckClock::Host
    }
    /// Whether the profile's connections carry streams that do not wait for each other, as QUIC's
    /// do.
    pub fn has_streams(&self) -> bool {
        self.quic.is_some()
    }
    /// Whether the profile's clients keep session tickets, with which later connections resume.
    pub fn keeps_tickets(&self) -> bool {
        self.quic.is_some_and(|quic| quic.tickets)
    }

    /// Whether the profile's hosts need a [`HostCache`](crate::HostCache).
    pub fn remembers(&self) -> bool {
        self.remembers != Remembers::Nothing || self.keeps_tickets()
    }
}
