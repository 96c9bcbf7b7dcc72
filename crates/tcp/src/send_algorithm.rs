//! The seam at which a way of sending plugs in: seven verbs, and what the connection lends at each.
//!
//! An implementation keeps for itself what only it needs (its timers, which segment is timed, what it
//! remembers of a timeout). The two of today are [`ClassicSender`](crate::classic_sender::ClassicSender) and
//! [`RackSender`](crate::recovery::RackSender); [`Sender`](crate::sender::Sender) is their list.

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

/// What sends the data of one end: retransmission timer, loss recovery and congestion control together.
pub(crate) trait SendAlgorithm {
    /// The handshake is over. `opening`: by this acknowledgement, on the side that accepted; the side that
    /// connected has measured its SYN before.
    fn begin(&mut self, cx: &mut SendContext, opening: Option<&Opening>);

    /// A segment came that acknowledges no more than was sent.
    fn on_ack(&mut self, cx: &mut SendContext, segment: &Segment) -> AfterAck;

    /// Its [`deadline`](Self::deadline) has come.
    fn on_timer(&mut self, cx: &mut SendContext) -> AfterTimer;

    /// What may go out now; `call_idle`: nothing was outstanding when this output call began.
    fn next(&mut self, cx: &mut SendContext, call_idle: bool) -> Option<Chunk>;

    /// `chunk` goes out; `snd.max` is still what it was before.
    fn on_sent(&mut self, cx: &mut SendContext, chunk: Chunk);

    /// When [`on_timer`](Self::on_timer) is to be called; [`Instant::NEVER`] if no timer runs.
    fn deadline(&self) -> Instant;

    /// Data goes out after a pause of `idle` with nothing outstanding.
    fn on_restart(&mut self, cx: &mut SendContext, idle: Duration);
}

/// What the endpoint does after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAck {
    /// It sends what may go out.
    Output,
    /// It sends the first unacknowledged segment and nothing else (a fast retransmit of BSD and ns-2).
    Resend,
}

/// What the endpoint does after a sender's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterTimer {
    /// It sends what may go out.
    Output,
    /// A segment was sent as often as the profile allows: the connection has failed.
    GiveUp,
}

/// The acknowledgement that completes the handshake.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub segment: &'a Segment,
    /// What the host remembers of the peer.
    pub cached: &'a HostMetrics,
    /// The stamp of the sending of the SYN-ACK, `u64::MAX` if it is not timed.
    pub syn_sent: u64,
}

impl Opening<'_> {
    /// Measures the round trip of the SYN-ACK; `own_time`: by when it was sent, whatever a timestamp
    /// says.
    pub fn sample(&self, cx: &mut SendContext, own_time: bool) {
        let rules = &cx.profile.rtt;
        let timed = self.syn_sent != u64::MAX;
        if cx.stamps && !(own_time && timed) {
            rules.sample_echo(cx.rtt, self.segment.echo, cx.host, cx.moment);
        } else if timed {
            rules.sample(cx.rtt, self.syn_sent, cx.host, cx.moment);
        }
    }

    /// Begins with what the host remembers of the peer, where it is Linux.
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
    /// The peer reports selectively.
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
    /// When a retransmission timer expires that is set now.
    #[inline(always)]
    pub fn rexmt_deadline(&self) -> Instant {
        self.profile.rtt.deadline(self.rtt, self.host, self.moment)
    }
    /// Reads what acknowledgements say of marks.
    pub fn echo_reader(&mut self) -> EchoReader<'_> {
        EchoReader::new(*self.ecn, || self.rx.marks())
    }
}
