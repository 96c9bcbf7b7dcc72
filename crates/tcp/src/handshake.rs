//! How a connection begins: the SYNs of both sides and what they agree on.

use std::sync::Arc;

use packet::{Duration, Instant};

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::host_cache::HostMetrics;
use crate::profile::{Ending, SynAck};
use crate::recovery::{Implementation, RecoveryKind};
use crate::segment::{Flags, STAMP_BYTES, Segment};
use crate::sender::Sender;

impl Endpoint {
    /// A SYN reaches an end that listens.
    pub(crate) fn accept(&mut self, segment: &Segment, recalled: &HostMetrics, moment: Moment) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return;
        }
        self.state = State::SynReceived;
        self.active_at = moment.at;
        self.life_at = match self.profile.opening.syn_ack {
            SynAck::Timer | SynAck::Request => self.life(self.profile.connect_limit, moment),
            SynAck::Cache | SynAck::Sink => Instant::NEVER,
        };
        self.receiver.open();
        self.agree(segment);
        self.start_from_route(recalled, Some(self.profile.opening.syn_ack));
        self.accept_ecn(segment);
        self.output_due = true;
    }

    /// Something reaches an end that has sent a SYN.
    pub(crate) fn on_syn_ack(&mut self, segment: &Segment, recalled: &HostMetrics, moment: Moment) {
        // A bare ACK answers a repeated SYN; it does not open the connection.
        if !segment.flags.has(Flags::SYN.with(Flags::ACK)) || segment.ack != 1 {
            return;
        }
        self.receiver.open();
        // A one-way agent's data is its only answer (ns-2).
        self.receiver.ack_now = self.profile.ending != Ending::Silent;
        self.agree(segment);
        self.start_from_route(recalled, None);
        self.learn_ecn(segment);
        self.active_at = moment.at;
        self.take_opening_sample(segment, moment);
        self.snd.una = 1;
        self.snd.timed_out = false;
        self.snd.nxt = 1;
        self.rexmt_at = Instant::NEVER;
        self.establish(recalled, moment);
        self.output_due = true;
    }

    /// The options of both SYNs. One announces selective acknowledgements by an empty block.
    fn agree(&mut self, syn: &Segment) {
        let mine = self.profile.recovery.kind.selective();
        self.sack = mine && !syn.sack.is_empty();
        self.receiver.agree(self.sack);
        if mine && !self.sack {
            match &mut self.sender {
                Sender::Rack(rack) => rack.without_reports(),
                Sender::Classic(classic) => classic.recovery.reset(RecoveryKind::NewReno),
            }
        }
        self.stamps = self.profile.timestamps && syn.flags.has(Flags::STAMPED);
        if self.stamps {
            self.receiver.on_stamp(syn);
            // Every segment has room for so much less; windows count such segments.
            let loss = self.snd.ssthresh == 2 * self.snd.mss();
            self.snd.mss -= STAMP_BYTES as u16;
            self.snd.cwnd = self.profile.initial_window(&self.snd);
            if loss {
                self.snd.ssthresh = 2 * self.snd.mss();
            }
        }
    }

    /// The handshake is over.
    pub(crate) fn establish(&mut self, recalled: &HostMetrics, moment: Moment) {
        self.state = State::Established;
        self.life_at = Instant::NEVER;
        let repeats = if self.syn_repeated { self.counters.resent_syn } else { 0 };
        // Linux: a timestamp may have told the round trip of a repeated SYN (`tcp_init_metrics`), and
        // one repeat is forgiven, since the first timeout is only 1 s (`tcp_init_transfer`).
        let (unmeasured, forgiven) = match &self.sender {
            Sender::Rack(_) => (self.profile.rtt.srtt(&self.rtt) == Duration::ZERO, 1),
            Sender::Classic(_) => (true, 0),
        };
        self.profile.rtt.on_established(&mut self.rtt, repeats > 0 && unmeasured);
        if repeats > forgiven && self.profile.opening.loss_closes_window {
            self.snd.cwnd = self.snd.mss();
        }
        self.start_from_linux(recalled);
        self.begin_sender(moment);
    }

    /// A SYN came again. Answered by an ACK, where a SYN cache or sink answers by the SYN-ACK,
    /// which also begins its current wait anew. A one-way agent of ns-2 never acknowledges, and to it
    /// a SYN-ACK is an ACK like any other, this one a duplicate; 4.4BSD takes the SYN off and goes on
    /// with the ACK; by the RFCs such a segment is not acceptable (RFC 9293 section 3.10.7.4), nor
    /// a duplicate ACK (RFC 5681 section 2). `false` if that is all there is to it.
    pub(crate) fn on_repeated_syn(
        &mut self,
        segment: &Segment,
        recalled: &HostMetrics,
        moment: Moment,
    ) -> bool {
        if self.profile.opening.syn_ack == SynAck::Sink && segment.flags.has(Flags::ACK) {
            return true;
        }
        let waiting = self.state == State::SynReceived;
        if !waiting || self.profile.opening.syn_ack == SynAck::Timer {
            if waiting {
                self.start_from_route(recalled, Some(SynAck::Timer));
            }
            self.receiver.ack_now = true;
            return waiting || self.profile.recovery.implementation != Implementation::Rfc;
        }
        if self.profile.opening.syn_ack == SynAck::Request {
            // Two copies are out: no round trip can be told (`tcp_synack_rtt_meas`).
            (self.timed, self.syn_repeated) = (u64::MAX, true);
        }
        self.snd.nxt = 0;
        if self.rexmt_at != Instant::NEVER {
            self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        }
        false
    }

    /// The SYN cache drops its entry: as if no SYN had come.
    pub(crate) fn forget_opening(&mut self) {
        let counters = self.counters;
        let (profile, clock) = (Arc::clone(&self.profile), self.clock);
        self.reset(&profile, clock);
        self.counters = counters;
    }
}
