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

/// How an end system behaves: made by an [`Entry`](crate::Entry) of the registry, immutable,
/// shared by all its connections. An end whose receive window never changes is assumed to have that of
/// its peer's profile, for its segments carry none.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: &'static str,
    /// Segment size, bytes; with timestamps less by their option.
    pub(crate) mss: u16,
    /// Receive window, bytes, until a segment offers another: constant but where segments carry it.
    pub(crate) window: u64,
    /// First congestion window, and what a pause leaves of a larger one, in segments.
    pub(crate) initial_segments: u64,
    /// First slow-start threshold, bytes.
    pub(crate) initial_ssthresh: u64,
    /// Congestion control: every connection has one like it.
    pub(crate) congestion: Box<dyn Control>,
    /// Its name in the list of controls.
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
    /// Retransmissions of one segment; one timeout more and the connection is given up.
    /// [`u8::MAX`] is no limit.
    pub(crate) max_resends: u8,
    pub(crate) connect_limit: TimeLimit,
    pub(crate) time_wait: TimeLimit,
    /// What hosts keep of their connections for the next ones.
    pub(crate) remembers: Remembers,
    /// The rules of an end of QUIC; none of TCP.
    pub(crate) quic: Option<QuicRules>,
}

/// How a connection begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub syn_ack: SynAck,
    pub waits: SynRetries,
    /// Bytes of options on a SYN or SYN-ACK, timestamps not counted.
    pub options: u16,
    /// The ACK that completes the handshake opens the window like any other.
    pub handshake_grows: bool,
    /// A lost SYN or SYN-ACK leaves a threshold of two segments.
    pub loss_cuts_threshold: bool,
    /// A side that repeated its SYN or SYN-ACK starts with one segment.
    pub loss_closes_window: bool,
}

/// How often SYN and SYN-ACK are retransmitted; [`u8::MAX`] is no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynRetries {
    /// Timeouts of a SYN that leave its wait as it was.
    pub syn_linear: u8,
    pub syn_retries: u8,
    pub syn_ack_retries: u8,
}

/// Who looks after a SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SynAck {
    /// The connection's own timer; a repeated SYN draws a bare ACK (4.4BSD).
    Timer,
    /// A SYN cache (FreeBSD 4.5): a schedule of its own, no round trip measured; a repeated SYN
    /// repeats the SYN-ACK; when its retries are used up the entry is dropped and the end listens again.
    Cache,
    /// A request socket (Linux's `tcp_check_req` and `reqsk_timer_handler`): as a cache, but the
    /// round trip of a SYN-ACK that went once is measured, and what befell it is remembered.
    Request,
    /// Nobody: a repeated SYN repeats it, as a sink of ns-2 acknowledges every packet.
    Sink,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By FINs, and a TIME_WAIT; the FIN rides on the last data if it can.
    Fin,
    /// As [`Ending::Fin`], but the FIN follows once all data has been sent, alone (it rides on what of that goes
    /// again).
    BareFin,
    /// When all data is acknowledged, without a word on the wire.
    Silent,
}

/// How spurious retransmission timeouts are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RtoCheck {
    /// There is none.
    Off,
    /// An ACK within half a round trip of the resend settles it (FreeBSD 4.x).
    BadRetransmit,
    /// RFC 5682.
    FRto,
}

/// When a pause closes the congestion window to the initial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleRule {
    /// Nothing outstanding, and nothing received for a timeout (4.4BSD).
    SinceReceived,
    /// Nothing sent for more than a timeout (RFC 5681 section 4.1).
    SinceSent,
    /// Nothing outstanding, and nothing sent for a timeout: the window is halved for each timeout
    /// of the pause (RFC 2861, as Linux's `tcp_cwnd_restart`); a rule of RACK senders.
    Decay,
    /// The idle time has no effect.
    Off,
}

/// A limit on part of a connection's life.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    /// In ticks of the host's slow clock.
    Ticks {
        n: u64,
        tick: Duration,
    },
    Exact(Duration),
    /// Never ends.
    Unlimited,
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
    /// A short packet occupies the line like a full one (ns-2's one-way agents count packets).
    pub whole_packets: bool,
    /// Two full segments go down as one where they can (Linux's segmentation offload).
    pub pairs: bool,
    /// The end of a write, and of what goes down as one, has PSH (Linux).
    pub pushes: bool,
}

impl Profile {
    /// The numbers of a sender that has sent nothing.
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
    /// First congestion window, bytes.
    pub(crate) fn initial_window(&self, snd: &SendState) -> u64 {
        self.initial_segments * snd.mss()
    }
    /// The name in the registry.
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
    /// Whether the timers of all connections of a host expire at ticks of its clocks, many at a time (4.4BSD).
    pub fn timers_tick(&self) -> bool {
        self.rtt.timers_tick() && self.ack.clock == AckClock::Host
    }
    /// Whether its connections carry streams that do not wait for each other, as QUIC's do.
    pub fn has_streams(&self) -> bool {
        self.quic.is_some()
    }
    /// Whether its clients keep tickets, with which later connections resume.
    pub fn keeps_tickets(&self) -> bool {
        self.quic.is_some_and(|quic| quic.tickets)
    }

    /// Whether its hosts need a [`HostCache`](crate::HostCache).
    pub fn remembers(&self) -> bool {
        self.remembers != Remembers::Nothing || self.keeps_tickets()
    }
}
