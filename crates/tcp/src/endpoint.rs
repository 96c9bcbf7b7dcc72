//! One end of one connection: its life from SYN to TIME_WAIT, and the joining of the parts.

use std::sync::Arc;

use packet::{Duration, Instant};

use crate::clock::{HostClock, Moment, Phase};
use crate::ecn::{EcnFeedback, EcnState};
use crate::host_cache::HostMetrics;
use crate::probe::Counters;
use crate::profile::{IdleRule, Profile, SynAck, TimeLimit};
use crate::receiver::{Receiver, Trip};
use crate::rtt::Rtt;
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;
use crate::sender::Sender;

/// State of a connection (RFC 9293 section 3.3.2, and [`State::Failed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// New: may connect, or accept the first SYN that comes.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has received a SYN and sent a SYN-ACK.
    SynReceived,
    /// Both directions are open.
    Established,
    /// Closed by this side; the FIN is not acknowledged.
    FinWait1,
    /// Closed by this side; the peer may still send.
    FinWait2,
    /// Closed by the peer; this side may still send.
    CloseWait,
    /// Closed by both sides at once; the FIN is not acknowledged.
    Closing,
    /// Closed by the peer first, then by this side; the FIN is not acknowledged.
    LastAck,
    /// Closed by both; answers repeated FINs for a while.
    TimeWait,
    /// Over, in order.
    Closed,
    /// Given up: no connection in 75 s, or too many timeouts.
    Failed,
}

/// When [`Endpoint::on_timeout`] is to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// At this instant, after all packet arrivals of it.
    pub at: Instant,
    /// 0 for the slow clock (retransmission and connection timers), 1 for the fast one (delayed
    /// acknowledgements): at one instant all of order 0 come before all of order 1.
    pub order: u8,
}

/// One end of one TCP connection. See the crate's page for how to drive it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(crate) snd: SendState,
    pub(crate) receiver: Receiver,
    /// When the retransmission timer expires.
    pub(crate) rexmt_at: Instant,
    /// When the connection attempt or TIME_WAIT ends; in between, when the pace of a classic sender
    /// lets the next segment go.
    pub(crate) life_at: Instant,
    pub(crate) rtt: Rtt,
    /// The number being timed (`u64::MAX`: none) and the stamp of its sending.
    pub(crate) timed: u64,
    pub(crate) timed_at: u64,
    /// The last time that counts for the idle rule.
    pub(crate) active_at: Instant,
    pub(crate) state: State,
    /// Phase within the instant `phase_at`.
    pub(crate) phase: Phase,
    pub(crate) phase_at: Instant,
    /// Something happened after which BSD calls `tcp_output`.
    pub(crate) output_due: bool,
    /// Such a call is under way (between two polls).
    pub(crate) in_call: bool,
    /// This call only resends the first unacknowledged segment.
    pub(crate) call_resends: bool,
    /// Whether nothing was outstanding when the call began.
    pub(crate) call_idle: bool,
    /// In this call, a full segment that has no partner yet.
    pub(crate) unpaired: bool,
    /// The program has closed; the FIN is queued once all it wrote is.
    pub(crate) closing: bool,
    /// SYN or SYN-ACK was repeated.
    pub(crate) syn_repeated: bool,
    /// Both SYNs said that selective acknowledgements are understood.
    pub(crate) sack: bool,
    /// Both SYNs carried a timestamp.
    pub(crate) stamps: bool,
    /// Told that the peer, which sends no FIN, is through.
    pub(crate) peer_through: bool,
    pub(crate) ecn: EcnState,
    /// Written by the program and not yet handed to TCP.
    pub(crate) unwritten: u64,
    pub(crate) sender: Sender,
    pub(crate) profile: Arc<Profile>,
    pub(crate) clock: HostClock,
    pub(crate) counters: Counters,
}

impl Endpoint {
    /// A fresh end of a connection on a host with these clocks: it may [`connect`](Self::connect)
    /// or accept the first SYN it is given.
    pub fn new(profile: &Arc<Profile>, clock: HostClock) -> Self {
        let mut end = Endpoint {
            snd: SendState::default(),
            receiver: Receiver::new(),
            rexmt_at: Instant::NEVER,
            life_at: Instant::NEVER,
            rtt: Rtt::default(),
            timed: u64::MAX,
            timed_at: 0,
            active_at: Instant::ZERO,
            state: State::Listen,
            phase: Phase::Events,
            phase_at: Instant::NEVER,
            output_due: false,
            in_call: false,
            call_resends: false,
            call_idle: false,
            unpaired: false,
            closing: false,
            syn_repeated: false,
            sack: false,
            stamps: false,
            peer_through: false,
            ecn: EcnState::default(),
            unwritten: 0,
            sender: Sender::new(profile),
            profile: Arc::clone(profile),
            clock,
            counters: Counters::default(),
        };
        end.reset(profile, clock);
        end
    }

    /// As [`Endpoint::new`], keeping the heap buffers.
    // Field by field: an end made anew elsewhere would be moved here, and the old one away.
    pub fn reset(&mut self, profile: &Arc<Profile>, clock: HostClock) {
        // All are named, so that none is forgotten.
        let Endpoint {
            snd,
            receiver,
            rexmt_at,
            life_at,
            rtt,
            timed,
            timed_at,
            active_at,
            state,
            phase,
            phase_at,
            output_due,
            in_call,
            call_resends,
            call_idle,
            unpaired,
            closing,
            syn_repeated,
            sack,
            stamps,
            peer_through,
            ecn,
            unwritten,
            sender,
            profile: of,
            clock: ticks,
            counters,
        } = self;
        *snd = fresh_send_state(profile);
        receiver.reset(&profile.ack);
        sender.renew(profile);
        *rtt = profile.rtt.fresh();
        *ecn = EcnState::default();
        *counters = Counters::default();
        (*rexmt_at, *life_at, *phase_at) = (Instant::NEVER, Instant::NEVER, Instant::NEVER);
        (*timed, *timed_at, *active_at) = (u64::MAX, 0, Instant::ZERO);
        (*state, *phase, *unwritten) = (State::Listen, Phase::Events, 0);
        for call in [output_due, in_call, call_resends, call_idle, unpaired] {
            *call = false;
        }
        for learnt in [closing, syn_repeated, sack, stamps, peer_through] {
            *learnt = false;
        }
        if !Arc::ptr_eq(of, profile) {
            *of = Arc::clone(profile);
        }
        *ticks = clock;
    }

    /// Opens the connection: a SYN goes out.
    ///
    /// # Panics
    /// If the endpoint is not fresh.
    pub fn connect(&mut self, now: Instant) {
        assert_eq!(self.state, State::Listen, "connect() on an endpoint that is not fresh");
        let moment = self.event(now);
        self.state = State::SynSent;
        self.active_at = now;
        self.life_at = self.life(self.profile.connect_limit, moment);
        self.output_due = true;
    }

    /// Appends `bytes` to what is to be sent; `u64::MAX` never ends. Also before the connection
    /// is established.
    ///
    /// # Panics
    /// After [`close`](Self::close).
    pub fn write(&mut self, bytes: u64, now: Instant) {
        assert!(!self.closing, "write() after close()");
        self.event(now);
        self.unwritten = self.unwritten.saturating_add(bytes);
    }

    /// What has never been sent is not sent any more; returns the payload bytes that have been. To
    /// close is a call of its own.
    pub fn stop_writing(&mut self, now: Instant) -> u64 {
        self.event(now);
        self.unwritten = 0;
        self.snd.end = self.snd.max.clamp(1, self.snd.end);
        self.snd.end - 1
    }

    /// Nothing more will be written: a FIN follows all data written before.
    pub fn close(&mut self, now: Instant) {
        self.event(now);
        self.closing = true;
    }

    /// A segment has arrived.
    #[inline]
    pub fn on_segment(&mut self, segment: &Segment, now: Instant) {
        self.on_segment_recalling(segment, &HostMetrics::NONE, now);
    }

    /// A segment has arrived at a host that remembers this of the peer.
    // Out of line: the one body of both ways to deliver.
    #[inline(never)]
    pub(crate) fn on_segment_recalling(
        &mut self,
        segment: &Segment,
        recalled: &HostMetrics,
        now: Instant,
    ) {
        let moment = self.event(now);
        match self.state {
            State::Listen => self.accept(segment, recalled, moment),
            State::SynSent => self.on_syn_ack(segment, recalled, moment),
            State::Closed | State::Failed => {}
            _ => self.on_synchronised(segment, recalled, moment),
        }
    }

    /// When to call [`on_timeout`](Self::on_timeout) next; ask again after every other call.
    pub fn next_timeout(&self) -> Option<Deadline> {
        let slow = self.rexmt_at.min(self.life_at);
        let fast = self.receiver.ack_at;
        if slow <= fast {
            (slow != Instant::NEVER).then_some(Deadline { at: slow, order: 0 })
        } else {
            Some(Deadline { at: fast, order: 1 })
        }
    }

    /// Serves what is due at `now`; harmless if nothing is. If a deadline of order 0 and one of
    /// order 1 are due, the first is served, and a segment it sends carries the acknowledgement
    /// of the second.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.rexmt_at <= now || self.life_at <= now {
            let moment = self.enter_phase(now, Phase::Slow);
            if self.rexmt_at <= now {
                self.on_retransmission_timeout(moment);
            }
            if self.life_at <= now {
                self.on_state_deadline();
            }
        } else if self.receiver.ack_at <= now {
            self.enter_phase(now, Phase::Fast);
            self.receiver.on_ack_due(Trip { rules: &self.profile.rtt, rtt: &self.rtt });
            self.output_due = true;
        }
    }

    fn on_state_deadline(&mut self) {
        match self.state {
            State::TimeWait => self.finish(State::Closed),
            State::SynSent | State::SynReceived => self.finish(State::Failed),
            _ => (self.life_at, self.output_due) = (Instant::NEVER, true),
        }
    }

    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }
    /// Own payload bytes acknowledged.
    pub fn acked(&self) -> u64 {
        let fin = self.snd.una > self.snd.end;
        self.snd.una.saturating_sub(1 + u64::from(fin))
    }
    /// Whether the peer is through: its FIN has arrived in order, or
    /// [`hear_end`](Self::hear_end) said so.
    pub fn peer_closed(&self) -> bool {
        self.receiver.closed() || self.peer_through
    }
    /// State of the connection.
    pub fn state(&self) -> State {
        self.state
    }
    /// What this endpoint has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.snd.cwnd
    }
    /// Slow-start threshold, bytes; [`u64::MAX`] where it starts unbounded.
    pub fn ssthresh(&self) -> u64 {
        self.snd.ssthresh
    }
    /// Bytes (and FIN) sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.snd.outstanding()
    }
    /// Oldest unacknowledged sequence number (SND.UNA of RFC 9293 section 3.3.1).
    pub fn snd_una(&self) -> u64 {
        self.snd.una
    }
    /// Highest sequence number ever sent, plus one: unlike SND.NXT it never falls back.
    pub fn snd_max(&self) -> u64 {
        self.snd.max
    }
    /// Retransmission timeout in force. With a tick clock a timer set to it lasts up to one tick
    /// less.
    pub fn rto(&self) -> Duration {
        self.profile.rtt.rto(&self.rtt)
    }

    /// The driver reports an event of `now`, which comes before the ticks of that instant.
    pub(crate) fn event(&mut self, now: Instant) -> Moment {
        self.phase_at = Instant::NEVER;
        Moment { at: now, phase: Phase::Events }
    }
    fn enter_phase(&mut self, now: Instant, phase: Phase) -> Moment {
        (self.phase_at, self.phase) = (now, phase);
        Moment { at: now, phase }
    }
    /// Where we are when the driver polls.
    pub(crate) fn moment(&self, now: Instant) -> Moment {
        let phase = if self.phase_at == now { self.phase } else { Phase::Events };
        Moment { at: now, phase }
    }

    pub(crate) fn life(&self, life: TimeLimit, moment: Moment) -> Instant {
        match life {
            TimeLimit::Ticks { n, tick } => self.clock.slow(tick).deadline(moment, n),
            TimeLimit::Exact(span) => moment.at + span,
            TimeLimit::Unlimited => Instant::NEVER,
        }
    }

    fn on_synchronised(&mut self, segment: &Segment, recalled: &HostMetrics, moment: Moment) {
        self.output_due = true;
        self.take_synchronised(segment, recalled, moment);
        // A call that finds nothing need not be made.
        self.output_due &= self.receiver.ack_now || self.may_choose();
    }

    #[inline(always)]
    fn take_synchronised(&mut self, segment: &Segment, recalled: &HostMetrics, moment: Moment) {
        if self.profile.idle == IdleRule::SinceReceived {
            self.active_at = moment.at;
        }
        if segment.flags.has(Flags::SYN) && !self.on_repeated_syn(segment, recalled, moment) {
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.stamps {
            self.receiver.on_stamp(segment);
        }
        let opening = (self.state == State::SynReceived).then_some(recalled);
        if opening.is_some() {
            if segment.ack != self.snd.max {
                return;
            }
            if self.profile.opening.syn_ack == SynAck::Cache {
                // The socket is made only here: whatever befell the SYN-ACK is forgotten.
                self.rtt = self.profile.rtt.fresh();
                self.start_from_route(recalled, None);
            }
            self.establish(recalled, moment);
            self.begin_feedback();
        }
        self.on_ack(segment, opening, moment);
        let occupies = segment.len > 0 || segment.flags.has(Flags::FIN);
        if occupies && !segment.flags.has(Flags::SYN) {
            if self.ecn.on() {
                self.note_mark(segment);
            }
            let was_closed = self.receiver.closed();
            let trip = Trip { rules: &self.profile.rtt, rtt: &self.rtt };
            self.receiver.on_data(segment, &self.profile.ack, trip, self.clock, moment);
            if self.receiver.closed() && !was_closed {
                self.on_peer_closed(moment);
                // Nothing of its own is to follow.
                self.receiver.ack_now |= self.state != State::CloseWait;
            }
        } else if self.ecn.feedback == EcnFeedback::Accurate {
            self.note_mark_without_data(segment);
        }
    }
}

fn fresh_send_state(profile: &Profile) -> SendState {
    let mut snd = SendState {
        end: 1,
        ssthresh: profile.initial_ssthresh,
        window: profile.window as u32,
        mss: profile.mss,
        ..SendState::default()
    };
    snd.cwnd = profile.initial_window(&snd);
    snd
}
