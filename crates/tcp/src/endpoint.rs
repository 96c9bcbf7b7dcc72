//! One end of one TCP connection: its life from SYN to TIME_WAIT, and how its parts work together.

use std::sync::Arc;

use packet::{Duration, Instant, Rounded};

use crate::clock::{HostClock, LocalClock, Moment, Phase};
use crate::connection::{Connection, State};
use crate::ecn::EcnFeedback;
use crate::host_metrics::HostMetrics;
use crate::output_call::OutputCall;
use crate::probe::Counters;
use crate::profile::{IdleRule, Profile, SynAck, TimeLimit};
use crate::receiver::{Receiver, Trip};
use crate::segment::{Flags, Segment};
use crate::send_algorithm::{AfterAck, AfterTimer, SendAlgorithm, SendContext};
use crate::sender::{Sender, Transmitter};

/// When [`TcpEndpoint::on_timeout`] is to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// The instant; the packet arrivals of that instant are served before.
    pub at: Instant,
    /// 0 for the slow clock (retransmission and connection timers), 1 for the fast one (delayed
    /// acknowledgements): at one instant all of order 0 come before all of order 1.
    pub order: u8,
}

/// One end of one TCP connection. See the crate's page for how to drive it.
#[derive(Clone, Debug)]
pub struct TcpEndpoint {
    pub(crate) conn: Connection,
    pub(crate) tx: Transmitter,
    pub(crate) rx: Receiver,
    pub(crate) call: OutputCall,
    pub(crate) profile: Arc<Profile>,
    pub(crate) clock: LocalClock,
    pub(crate) counters: Counters,
}

impl TcpEndpoint {
    /// A fresh end of a connection on a host with these clocks: it may [`connect`](Self::connect)
    /// or accept the first SYN it is given.
    pub fn new(profile: &Arc<Profile>, clock: HostClock) -> Self {
        let mut rx = Receiver::new();
        rx.reset(&profile.ack);
        TcpEndpoint {
            conn: Connection::default(),
            tx: Transmitter::new(profile),
            rx,
            call: OutputCall::default(),
            profile: Arc::clone(profile),
            clock: LocalClock::new(clock),
            counters: Counters::default(),
        }
    }

    /// Makes the end as new ([`TcpEndpoint::new`]), keeping its heap buffers.
    // Field by field, since assigning a new endpoint would copy the whole of it.
    pub fn reset(&mut self, profile: &Arc<Profile>, clock: HostClock) {
        let TcpEndpoint { conn, tx, rx, call, profile: of, clock: ticks, counters } = self;
        *conn = Connection::default();
        tx.renew(profile);
        rx.reset(&profile.ack);
        *call = OutputCall::default();
        if !Arc::ptr_eq(of, profile) {
            *of = Arc::clone(profile);
        }
        *ticks = LocalClock::new(clock);
        *counters = Counters::default();
    }

    /// Opens the connection: a SYN goes out.
    ///
    /// # Panics
    /// If the endpoint is not fresh.
    pub fn connect(&mut self, now: Instant) {
        assert_eq!(self.conn.state, State::Listen, "connect() on an endpoint that is not fresh");
        let moment = self.call.event(now);
        self.conn.state = State::SynSent;
        self.tx.snd.active_at = now;
        self.conn.conn_timer = self.end_of(self.profile.connect_limit, moment);
        self.call.due = true;
    }

    /// Appends `bytes` to the data to be sent; `u64::MAX` is an endless transfer. It may be called
    /// before the connection is established.
    ///
    /// # Panics
    /// After [`close`](Self::close).
    pub fn write(&mut self, bytes: u64, now: Instant) {
        assert!(!self.call.closing, "write() after close()");
        self.call.event(now);
        self.conn.unwritten = self.conn.unwritten.saturating_add(bytes);
    }

    /// Discards the data that was never sent; returns the payload bytes that were sent. It does not
    /// close the connection.
    pub fn stop_writing(&mut self, now: Instant) -> u64 {
        self.call.event(now);
        self.conn.unwritten = 0;
        self.tx.snd.end = self.tx.snd.max.clamp(1, self.tx.snd.end);
        self.tx.snd.end - 1
    }

    /// Nothing more will be written: a FIN follows all data written before.
    pub fn close(&mut self, now: Instant) {
        self.call.event(now);
        self.call.closing = true;
    }

    /// Whether there is a sample of the round-trip time that was not taken yet.
    #[inline]
    pub fn has_round_trip(&self) -> bool {
        self.tx.rtt.has_newest()
    }

    /// Processes a segment that has arrived; `cached`: the host's metrics of earlier connections.
    // Out of line: both ways to deliver a segment share this code.
    #[inline(never)]
    pub(crate) fn on_segment_cached(
        &mut self,
        segment: &Segment,
        cached: &HostMetrics,
        now: Instant,
    ) {
        let moment = self.call.event(now);
        match self.conn.state {
            State::Listen => self.accept(segment, cached, moment),
            State::SynSent => self.on_syn_ack(segment, cached, moment),
            State::Closed | State::Failed => {}
            _ => self.on_synchronised(segment, cached, moment),
        }
    }

    /// Sets the peer's receive window to `bytes` beyond its last acknowledgement. Until this call,
    /// or a segment that carries a window, the profile's own window is assumed.
    pub fn on_window(&mut self, bytes: u32, now: Instant) {
        self.call.event(now);
        self.tx.snd.window = bytes;
        self.call.due = self.tx.sender.may_choose(&self.tx.snd);
    }

    /// When the next timer of the slow clock and the next delayed acknowledgement are due.
    #[inline]
    pub fn deadlines(&self) -> (Instant, Instant) {
        (self.conn.deadline().min(self.tx.sender.deadline()), self.rx.ack_at)
    }

    /// When to call [`on_timeout`](Self::on_timeout) next; it may change with every other call.
    pub fn next_timeout(&self) -> Option<Deadline> {
        let (slow, fast) = self.deadlines();
        if slow <= fast {
            (slow != Instant::NEVER).then_some(Deadline { at: slow, order: 0 })
        } else {
            Some(Deadline { at: fast, order: 1 })
        }
    }

    /// Serves the deadline that is due at `now`; does nothing if none is. If one of order 0 and one
    /// of order 1 are due, the first is served, and a segment it sends carries the acknowledgement
    /// of the second.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.conn.deadline() <= now || self.tx.sender.deadline() <= now {
            let moment = self.call.tick(now, Phase::Slow);
            if self.conn.syn.expires <= now {
                self.on_syn_timer(moment);
            } else if self.tx.sender.deadline() <= now {
                self.on_sender_timer(moment);
            }
            if self.conn.conn_timer <= now
                && let Some(state) = self.conn.on_conn_timer()
            {
                self.finish(state);
            }
        } else if self.rx.ack_at <= now {
            self.call.tick(now, Phase::Fast);
            self.rx.on_ack_due(Trip { rules: &self.profile.rtt, rtt: &self.tx.rtt });
            self.call.due = true;
        }
    }

    fn on_sender_timer(&mut self, moment: Moment) {
        let (sender, mut cx) = self.lend(moment);
        match sender.on_timer(&mut cx) {
            AfterTimer::Output => self.call.due = true,
            AfterTimer::GiveUp => self.finish(State::Failed),
        }
    }

    /// Prefetches into the processor's cache the endpoint's data on the heap that most events use,
    /// its sender's only if it `sends`. To be called some time before an event, when the endpoint
    /// itself is in the cache.
    #[inline]
    pub fn fetch(&self, sends: bool) {
        self.rx.fetch();
        if sends {
            self.tx.sender.fetch();
        }
    }

    /// Prefetches what the sender's data on the heap points to, some time after
    /// [`fetch`](Self::fetch).
    #[inline]
    pub fn fetch_more(&self) {
        self.tx.sender.fetch_more();
    }

    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.rx.delivered()
    }
    /// Payload bytes sent by this end and acknowledged.
    pub fn acked(&self) -> u64 {
        let fin = self.tx.snd.una > self.tx.snd.end;
        self.tx.snd.una.saturating_sub(1 + u64::from(fin))
    }
    /// Whether the peer has closed: its FIN has arrived in order, or
    /// [`on_peer_closed`](Self::on_peer_closed) was called.
    pub fn peer_closed(&self) -> bool {
        self.rx.closed() || self.rx.peer_closed
    }
    /// State of the connection.
    pub fn state(&self) -> State {
        self.conn.state
    }
    /// Counters of this endpoint's segments, retransmissions and timeouts.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.tx.snd.win.cwnd
    }
    /// Slow-start threshold, bytes; [`u64::MAX`] where it starts unbounded.
    pub fn ssthresh(&self) -> u64 {
        self.tx.snd.win.ssthresh
    }
    /// Sequence numbers sent and not acknowledged: one for each byte, and one for a FIN.
    pub fn outstanding(&self) -> u64 {
        self.tx.snd.outstanding()
    }
    /// Oldest unacknowledged sequence number (SND.UNA of RFC 9293 section 3.3.1).
    pub fn snd_una(&self) -> u64 {
        self.tx.snd.una
    }
    /// Highest sequence number ever sent, plus one: unlike SND.NXT it never falls back.
    pub fn snd_max(&self) -> u64 {
        self.tx.snd.max
    }
    /// Smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.profile.rtt.smoothed(&self.tx.rtt)
    }
    /// Passes the inner state of the congestion control to `show`, by name.
    pub fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(control) = self.tx.sender.control() {
            control.gauges(show);
        }
    }
    /// Current retransmission timeout. Where timers expire at ticks, a timer set to it lasts up to
    /// one tick less.
    pub fn rto(&self) -> Duration {
        self.profile.rtt.rto(&self.tx.rtt)
    }

    /// The newest sample of the round-trip time since this was last called ([`Rounded::NONE`] without
    /// one), and the smoothed round-trip time after it. Both are in the resolution of the sender's clock.
    #[inline]
    pub fn take_round_trip(&mut self) -> (Rounded, Duration) {
        (self.tx.rtt.take_newest(), self.profile.rtt.smoothed(&self.tx.rtt))
    }

    /// The sender, and references to the other parts that it needs for an event.
    #[inline(always)]
    pub(crate) fn lend(&mut self, moment: Moment) -> (&mut Sender, SendContext<'_>) {
        let TcpEndpoint { conn, tx, rx, profile, clock, counters, .. } = self;
        let cx = SendContext {
            snd: &mut tx.snd,
            rtt: &mut tx.rtt,
            ecn: &mut conn.ecn,
            rx,
            counters,
            profile,
            host: clock.host(),
            moment,
            sack: conn.sack,
            stamps: conn.stamps,
        };
        (&mut tx.sender, cx)
    }

    pub(crate) fn end_of(&self, limit: TimeLimit, moment: Moment) -> Instant {
        match limit {
            TimeLimit::Ticks { n, tick } => self.clock.host().slow(tick).deadline(moment, n),
            TimeLimit::Exact(span) => moment.at + span,
            TimeLimit::Unlimited => Instant::NEVER,
        }
    }

    fn on_synchronised(&mut self, segment: &Segment, cached: &HostMetrics, moment: Moment) {
        self.call.due = true;
        self.take_synchronised(segment, cached, moment);
        // No output call is needed if there is nothing to send.
        self.call.due &= self.rx.ack_now || self.tx.sender.may_choose(&self.tx.snd);
    }

    /// Updates the peer's receive window (`tcp_may_update_window`): an older acknowledgement does
    /// not change it, and one that repeats the last number may only enlarge it.
    #[inline]
    pub(crate) fn note_window(&mut self, ack: u64, window: u64) {
        let (snd, bytes) = (&mut self.tx.snd, u32::try_from(window).unwrap_or(u32::MAX));
        if ack > snd.una || ack == snd.una && bytes > snd.window {
            snd.window = bytes;
        }
    }

    #[inline(always)]
    fn take_synchronised(&mut self, segment: &Segment, cached: &HostMetrics, moment: Moment) {
        if self.profile.idle == IdleRule::SinceReceived {
            self.tx.snd.active_at = moment.at;
        }
        if segment.flags.has(Flags::SYN) && !self.on_repeated_syn(segment, cached, moment) {
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.resets() {
            return self.on_reset(segment);
        }
        if segment.ack > self.tx.snd.max && self.conn.state != State::SynReceived {
            // RFC 9293 section 3.10.7.4: it acknowledges data never sent; it is answered and
            // dropped.
            self.rx.ack_now = true;
            return;
        }
        let newest = self.conn.stamps && self.rx.on_stamp(segment);
        if let Some(window) = segment.window() {
            self.note_window(segment.ack, window);
        }
        if self.conn.ecn.feedback == EcnFeedback::Accurate {
            self.read_accurate(segment, newest);
        }
        let opening = (self.conn.state == State::SynReceived).then_some(cached);
        if opening.is_some() {
            if segment.ack != self.tx.snd.max {
                return;
            }
            if self.profile.opening.syn_ack == SynAck::Cache {
                // The SYN cache makes the socket only now, without the timeouts of the SYN-ACK.
                self.tx.rtt = self.profile.rtt.fresh();
                self.start_from_route(cached, None);
            }
            self.establish(cached, moment);
            self.check_third_ack(segment);
            self.begin_feedback();
            self.begin_sender(Some((segment, cached)), moment);
        } else {
            // A fast retransmit of BSD makes an output call of its own.
            self.call.due = self.on_ack(segment, moment) == AfterAck::Output;
        }
        if self.call.closing && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
        let occupies = segment.len > 0 || segment.flags.has(Flags::FIN);
        if occupies && !segment.flags.has(Flags::SYN) {
            if self.conn.ecn.on() {
                self.note_mark(segment);
            }
            self.take_data(segment, moment);
        } else if self.conn.ecn.feedback == EcnFeedback::Accurate {
            self.note_mark_without_data(segment);
        }
    }

    /// Processes data or a FIN of an open connection.
    #[inline(always)]
    fn take_data(&mut self, segment: &Segment, moment: Moment) {
        let was_closed = self.rx.closed();
        let trip = Trip { rules: &self.profile.rtt, rtt: &self.tx.rtt };
        self.rx.on_data(segment, &self.profile.ack, trip, self.clock.host(), moment);
        if self.rx.closed() && !was_closed {
            self.take_peer_close(moment);
            // If this side has closed, no data of its own will carry the acknowledgement.
            self.rx.ack_now |= self.conn.state != State::CloseWait;
        }
    }
}
