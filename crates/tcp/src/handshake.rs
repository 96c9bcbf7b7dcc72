//! How a connection begins: the SYNs of both sides and what they agree on.

use std::sync::Arc;

use packet::{Duration, Instant};

use crate::clock::Moment;
use crate::connection::State;
use crate::endpoint::TcpEndpoint;
use crate::host_metrics::HostMetrics;
use crate::profile::{Ending, SynAck};
use crate::recovery::Implementation;
use crate::segment::{Flags, STAMP_BYTES, Segment};
use crate::send_algorithm::{Opening, SendAlgorithm};

impl TcpEndpoint {
    /// Processes a segment that reaches a listening end; a SYN opens the connection.
    pub(crate) fn accept(&mut self, segment: &Segment, cached: &HostMetrics, moment: Moment) {
        if segment.flags.has(Flags::ACK) && !segment.resets() {
            // RFC 9293 section 3.10.7.2: an acknowledgement of a handshake that was given up.
            (self.tx.snd.nxt, self.call.refuses, self.call.due) = (segment.ack, true, true);
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.conn.state = State::SynReceived;
        self.tx.snd.active_at = moment.at;
        self.conn.conn_timer = match self.profile.opening.syn_ack {
            SynAck::Timer | SynAck::Request => self.end_of(self.profile.connect_limit, moment),
            SynAck::Cache | SynAck::Sink => Instant::NEVER,
        };
        self.rx.open();
        self.agree(segment);
        self.start_from_route(cached, Some(self.profile.opening.syn_ack));
        self.accept_ecn(segment);
        self.call.due = true;
    }

    /// Processes a segment that reaches an end in SYN-SENT.
    pub(crate) fn on_syn_ack(&mut self, segment: &Segment, cached: &HostMetrics, moment: Moment) {
        // A bare ACK answers a repeated SYN; it does not open the connection.
        if !segment.flags.has(Flags::SYN.with(Flags::ACK)) || segment.ack != 1 {
            if segment.resets() && segment.ack == 1 {
                self.finish(State::Failed); // a reset answers the SYN (RFC 9293 section 3.10.7.3)
            }
            return;
        }
        self.rx.open();
        // A one-way agent of ns-2 answers with data only.
        self.rx.ack_now = self.profile.ending != Ending::Silent;
        self.agree(segment);
        self.start_from_route(cached, None);
        self.conclude_ecn(segment);
        self.tx.snd.active_at = moment.at;
        self.sample_syn(segment, cached, moment);
        self.tx.snd.una = 1;
        self.tx.snd.timed_out = false;
        self.tx.snd.nxt = 1;
        self.establish(cached, moment);
        self.begin_sender(None, moment);
        self.call.due = true;
    }

    /// Applies the options that both SYNs have. Here an empty SACK block in a SYN stands for the
    /// option SACK-permitted.
    fn agree(&mut self, syn: &Segment) {
        let mine = self.profile.recovery.kind.selective();
        self.conn.sack = mine && !syn.sack.is_empty();
        self.rx.agree(self.conn.sack);
        if let Some(window) = syn.window() {
            self.tx.snd.window = u32::try_from(window).unwrap_or(u32::MAX);
        }
        self.conn.stamps = self.profile.timestamps && syn.flags.has(Flags::STAMPED);
        if self.conn.stamps {
            self.rx.on_stamp(syn);
            // The option takes room from the payload of every segment, which is the unit of
            // windows.
            let loss = self.tx.snd.win.ssthresh == 2 * self.tx.snd.mss();
            self.tx.snd.win.mss -= STAMP_BYTES as u16;
            self.tx.snd.win.cwnd = self.profile.initial_window(&self.tx.snd);
            if loss {
                self.tx.snd.win.ssthresh = 2 * self.tx.snd.mss();
            }
        }
    }

    /// The handshake is complete: enters ESTABLISHED with the first window and timeout.
    pub(crate) fn establish(&mut self, cached: &HostMetrics, moment: Moment) {
        self.conn.establish();
        self.rx.established(moment.at);
        let repeats = if self.conn.syn_repeated { self.counters.resent_syn } else { 0 };
        // Linux: a timestamp may have shown the round trip of a repeated SYN (`tcp_init_metrics`),
        // and one retransmission is forgiven, since the first timeout is only 1 s
        // (`tcp_init_transfer`).
        let (unmeasured, forgiven) = if self.tx.sender.keeps_records() {
            (self.profile.rtt.srtt(&self.tx.rtt) == Duration::ZERO, 1)
        } else {
            (true, 0)
        };
        self.profile.rtt.on_established(&mut self.tx.rtt, repeats > 0 && unmeasured);
        if repeats > forgiven && self.profile.opening.loss_closes_window {
            self.tx.snd.win.cwnd = self.tx.snd.mss();
        }
        cached.start_linux(&self.profile, &mut self.tx.rtt, &mut self.tx.snd);
    }

    /// Starts the sender after the handshake. `opening`: the acknowledgement that completed it, and
    /// the host's cached metrics of the peer.
    #[inline(never)]
    pub(crate) fn begin_sender(
        &mut self,
        opening: Option<(&Segment, &HostMetrics)>,
        moment: Moment,
    ) {
        let syn_sent = std::mem::replace(&mut self.conn.syn.sent, u64::MAX);
        let opening = opening.map(|(segment, cached)| Opening { segment, cached, syn_sent });
        let (sender, mut cx) = self.lend(moment);
        sender.begin(&mut cx, opening.as_ref());
    }

    /// Measures the round trip of the SYN when its SYN-ACK arrives.
    #[cold]
    fn sample_syn(&mut self, segment: &Segment, cached: &HostMetrics, moment: Moment) {
        let syn_sent = std::mem::replace(&mut self.conn.syn.sent, u64::MAX);
        let opening = Opening { segment, cached, syn_sent };
        let (sender, mut cx) = self.lend(moment);
        let own_time = sender.keeps_records();
        opening.sample(&mut cx, own_time);
    }

    /// The retransmission timer of a SYN or SYN-ACK has expired.
    pub(crate) fn on_syn_timer(&mut self, moment: Moment) {
        self.counters.timeouts += 1;
        let connects = self.conn.state == State::SynSent;
        let waits = self.profile.opening.waits;
        let linear = connects.then_some(waits.syn_linear);
        let timeouts = self.profile.rtt.back_off(&mut self.tx.rtt, linear);
        if timeouts > if connects { waits.syn_retries } else { waits.syn_ack_retries } {
            return self.give_up_opening();
        }
        let cached = !connects && self.profile.opening.syn_ack == SynAck::Cache;
        if timeouts > 1 {
            self.fall_back_accepting();
        }
        self.tx.snd.nxt = 0;
        self.conn.syn_repeated = !cached;
        if self.profile.opening.loss_cuts_threshold && !cached {
            // As after a timeout of data, the threshold becomes two segments.
            self.tx.snd.win.ssthresh = 2 * self.tx.snd.mss();
        }
        let rules = &self.profile.rtt;
        self.conn.syn.sent = u64::MAX;
        self.conn.syn.expires = rules.deadline(&self.tx.rtt, self.clock.host(), moment);
        self.call.due = true;
    }

    /// One timeout too many: the attempt fails; a SYN cache or request socket is dropped and
    /// listens again.
    #[cold]
    fn give_up_opening(&mut self) {
        let forgets = matches!(self.profile.opening.syn_ack, SynAck::Cache | SynAck::Request);
        if forgets && self.conn.state == State::SynReceived {
            self.forget_opening();
        } else {
            self.finish(State::Failed);
        }
    }

    /// Answers a repeated SYN or SYN-ACK by an ACK. A SYN cache, request socket or sink repeats its
    /// SYN-ACK instead and restarts its timer. A one-way agent of ns-2 never acknowledges, and
    /// takes a repeated SYN-ACK for a duplicate ACK; 4.4BSD removes the SYN and processes the ACK;
    /// by the RFCs the segment is not acceptable (RFC 9293 section 3.10.7.4), and its ACK is no
    /// duplicate (RFC 5681 section 2). Returns whether the rest of the segment is to be processed.
    pub(crate) fn on_repeated_syn(
        &mut self,
        segment: &Segment,
        cached: &HostMetrics,
        moment: Moment,
    ) -> bool {
        if self.profile.opening.syn_ack == SynAck::Sink && segment.flags.has(Flags::ACK) {
            return true;
        }
        let waiting = self.conn.state == State::SynReceived;
        self.answer_repeated_syn(segment);
        if !waiting || self.profile.opening.syn_ack == SynAck::Timer {
            if waiting {
                self.start_from_route(cached, Some(SynAck::Timer));
            }
            self.rx.ack_now = true;
            return waiting || self.profile.recovery.implementation != Implementation::Rfc;
        }
        if self.profile.opening.syn_ack == SynAck::Request {
            // Two copies of the SYN-ACK are in flight: no round trip can be measured
            // (`tcp_synack_rtt_meas`).
            (self.conn.syn.sent, self.conn.syn_repeated) = (u64::MAX, true);
        }
        self.tx.snd.nxt = 0;
        if self.conn.syn.expires != Instant::NEVER {
            let rules = &self.profile.rtt;
            self.conn.syn.expires = rules.deadline(&self.tx.rtt, self.clock.host(), moment);
        }
        false
    }

    /// Drops the entry of the SYN cache: the end listens again as if no SYN had arrived.
    pub(crate) fn forget_opening(&mut self) {
        let counters = self.counters;
        let (profile, clock) = (Arc::clone(&self.profile), self.clock.host());
        self.reset(&profile, clock);
        self.counters = counters;
    }
}
