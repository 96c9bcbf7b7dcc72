//! The interface of a sender: seven methods, and the context that the connection lends to each.
//!
//! An implementation keeps its private state (timers, the segment that is timed, the last timeout).
//! There are two, [`ClassicSender`](crate::classic_sender::ClassicSender) and
//! [`RackSender`](crate::recovery::RackSender); a [`Sender`](crate::sender::Sender) is either.

use packet::{Duration, Instant};

use crate::clock::{HostClock, Moment};
use crate::ecn::{EchoReader, EcnState};
use crate::host_metrics::HostMetrics;
use crate::probe::Counters;
use crate::profile::Profile;
use crate::receiver::Receiver;
use crate::rtt::Rtt;
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};

/// The sender of one end: retransmission timer, loss recovery and congestion control together.
pub(crate) trait SendAlgorithm {
    /// The handshake is complete. `opening`: on the accepting side, the acknowledgement that
    /// completed it; the connecting side has measured the round trip of its SYN before.
    fn begin(&mut self, cx: &mut SendContext, opening: Option<&Opening>);

    /// Processes the acknowledgement of a segment, which covers no more than was sent.
    fn on_ack(&mut self, cx: &mut SendContext, segment: &Segment) -> AfterAck;

    /// The sender's [`deadline`](Self::deadline) has come.
    fn on_timer(&mut self, cx: &mut SendContext) -> AfterTimer;

    /// The chunk that may be sent now, if any; `call_idle`: nothing was outstanding when this
    /// output call began.
    fn next(&mut self, cx: &mut SendContext, call_idle: bool) -> Option<Chunk>;

    /// `chunk` is sent; `snd.max` does not include it yet.
    fn on_sent(&mut self, cx: &mut SendContext, chunk: Chunk);

    /// When [`on_timer`](Self::on_timer) is to be called; [`Instant::NEVER`] if no timer runs.
    fn deadline(&self) -> Instant;

    /// Data goes out after a pause of `idle` with nothing outstanding.
    fn on_restart(&mut self, cx: &mut SendContext, idle: Duration);
}

/// What the endpoint does after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAck {
    /// Send what the windows allow.
    Output,
    /// Send the first unacknowledged segment and nothing else (the fast retransmit of BSD and
    /// ns-2).
    Resend,
}

/// What the endpoint does after a sender's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTimer {
    /// Send what the windows allow.
    Output,
    /// Give up: there were more timeouts in a row than the profile allows.
    GiveUp,
}

/// The acknowledgement that completes the handshake.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub segment: &'a Segment,
    /// The host's metrics of earlier connections to the peer.
    pub cached: &'a HostMetrics,
    /// Clock reading when this end's SYN or SYN-ACK was sent, `u64::MAX` if it is not timed.
    pub syn_sent: u64,
}

impl Opening<'_> {
    /// Measures the round trip of this end's SYN or SYN-ACK: by the echoed timestamp, or, if
    /// `own_time` and where it is timed, by its sending time.
    pub fn sample(&self, cx: &mut SendContext, own_time: bool) {
        let rules = &cx.profile.rtt;
        let timed = self.syn_sent != u64::MAX;
        if cx.stamps && !(own_time && timed) {
            rules.sample_echo(cx.rtt, self.segment.echo, cx.host, cx.moment);
        } else if timed {
            rules.sample(cx.rtt, self.syn_sent, cx.host, cx.moment);
        }
    }

    /// Starts from the host's cached metrics of the peer, if the host is Linux.
    pub fn start_from_cached(&self, cx: &mut SendContext) {
        self.cached.start_linux(cx.profile, cx.rtt, cx.snd);
    }
}

/// What a connection lends its sender for one event.
#[derive(Debug)]
pub(crate) struct SendContext<'a> {
    pub snd: &'a mut SendState,
    pub rtt: &'a mut Rtt,
    pub ecn: &'a mut EcnState,
    pub rx: &'a mut Receiver,
    pub counters: &'a mut Counters,
    pub profile: &'a Profile,
    pub host: HostClock,
    pub moment: Moment,
    /// Both ends agreed on selective acknowledgements.
    pub sack: bool,
    /// Segments carry timestamps.
    pub stamps: bool,
}

impl SendContext<'_> {
    /// The smoothed round trip; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.profile.rtt.srtt(self.rtt)
    }
    /// The retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        self.profile.rtt.rto(self.rtt)
    }
    /// When a retransmission timer set now expires.
    #[inline(always)]
    pub fn rexmt_deadline(&self) -> Instant {
        self.profile.rtt.deadline(self.rtt, self.host, self.moment)
    }
    /// A reader of the ECN feedback in acknowledgements.
    pub fn echo_reader(&mut self) -> EchoReader<'_> {
        EchoReader::new(*self.ecn, || self.rx.marks())
    }
}
