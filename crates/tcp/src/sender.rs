//! The sending side's reactions: acknowledgements and the retransmission timer.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::host_cache::HostMetrics;
use crate::profile::{Ending, SynAck};
use crate::recovery::Reaction;
use crate::segment::Segment;
use crate::window::Growth;

impl Endpoint {
    /// The acknowledgement number of a segment. `opening`: it completes the handshake, with a host
    /// that is remembered so.
    pub(crate) fn on_ack(
        &mut self,
        segment: &Segment,
        opening: Option<&HostMetrics>,
        moment: Moment,
    ) {
        let ack = segment.ack;
        if ack > self.snd.max {
            return;
        }
        if self.rack.is_some() {
            return self.on_ack_rack(segment, opening, moment);
        }
        let pending = self.rexmt_at != Instant::NEVER;
        let acked = ack.saturating_sub(self.snd.una);
        let echoed = self.hears_echo(segment, acked, opening.is_some());
        if acked > 0 {
            self.take_sample(ack, segment, moment);
            self.snd.una = ack;
            self.snd.timed_out = false;
            self.snd.nxt = self.snd.nxt.max(ack);
            self.restart_timer(moment);
            if let Some(recalled) = opening
                && !self.profile.opening.handshake_grows
            {
                self.start_from_linux(recalled); // anew, now that there is a sample
                if !echoed {
                    return;
                }
            }
        }
        let reaction = if self.spurious_rto.as_ref().is_some_and(|spurious_rto| spurious_rto.runs())
        {
            self.on_ack_after_rto(segment, acked, pending, echoed, moment)
        } else {
            self.recover(segment, acked, pending, echoed)
        };
        if reaction.entered {
            self.counters.fast_retransmits += 1;
            self.timed = u64::MAX;
            self.ecn.reduced();
        }
        if reaction.stop_timer {
            self.rexmt_at = Instant::NEVER;
        }
        if reaction.resend_only {
            self.output_due = false;
        }
        if echoed || self.ecn.held {
            self.on_echo(echoed, moment);
        }
        if self.closing && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
    }

    /// Tells the recovery of an acknowledgement of `acked` new numbers, or of a duplicate.
    #[inline(always)]
    fn recover(&mut self, segment: &Segment, acked: u64, pending: bool, echoed: bool) -> Reaction {
        let (rules, snd) = (&self.profile.recovery, &mut self.snd);
        if acked == 0 {
            return self.recovery.on_duplicate(rules, snd, segment, pending);
        }
        let growth = if echoed { Growth::Held } else { self.profile.growth };
        self.recovery.on_advance(rules, snd, growth, acked, segment)
    }

    /// The same, out of the way of the connections that have no trial.
    #[cold]
    pub(crate) fn recover_after_rto(
        &mut self,
        segment: &Segment,
        acked: u64,
        pending: bool,
        echoed: bool,
    ) -> Reaction {
        self.recover(segment, acked, pending, echoed)
    }

    /// Whether nothing remains to be acknowledged after the close.
    pub(crate) fn all_acknowledged(&self) -> bool {
        match self.profile.ending {
            Ending::Fin | Ending::BareFin => self.snd.fin_sent && self.snd.una > self.snd.end,
            Ending::Silent => self.unwritten == 0 && self.snd.una == self.snd.end,
        }
    }

    /// All acknowledged: the timer stops; else it starts anew with the timeout in force.
    fn restart_timer(&mut self, moment: Moment) {
        self.profile.rtt.on_advance(&mut self.rtt);
        self.rexmt_at = if self.snd.idle() {
            Instant::NEVER
        } else {
            self.profile.rtt.deadline(&self.rtt, self.clock, moment)
        };
    }

    /// Measures a round trip, if `ack` covers the timed number or the segment echoes a timestamp.
    pub(crate) fn take_sample(&mut self, ack: u64, segment: &Segment, moment: Moment) {
        let rules = &self.profile.rtt;
        if self.stamps {
            // RFC 7323 section 4.1: every acknowledgement of new data is a sample.
            rules.sample_echo(&mut self.rtt, segment.echo, self.clock, moment);
        } else if ack > self.timed {
            rules.sample(&mut self.rtt, self.timed_at, self.clock, moment);
            self.timed = u64::MAX;
        }
    }

    /// A timeout too many: the end of the connection, or of what a listening end knew of it.
    #[cold]
    fn give_up(&mut self) {
        let rule = self.profile.opening.syn_ack;
        let forgets = matches!(rule, SynAck::Cache | SynAck::Request);
        if forgets && self.state == State::SynReceived {
            self.forget_opening();
        } else {
            self.finish(State::Failed);
        }
    }

    pub(crate) fn on_retransmission_timeout(&mut self, moment: Moment) {
        if self.ecn.held && self.snd.idle() {
            return self.end_hold();
        }
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        if !opening && self.rack.is_some() {
            return self.on_rack_timer(moment);
        }
        self.counters.timeouts += 1;
        let waits = self.profile.opening.waits;
        let linear = (self.state == State::SynSent).then_some(waits.syn_linear);
        let timeouts = self.profile.rtt.back_off(&mut self.rtt, linear);
        let most = match self.state {
            State::SynSent => waits.syn_retries,
            State::SynReceived => waits.syn_ack_retries,
            _ => self.profile.max_resends,
        };
        if timeouts > most {
            return self.give_up();
        }
        let cached =
            self.state == State::SynReceived && self.profile.opening.syn_ack == SynAck::Cache;
        self.timed = u64::MAX;
        self.snd.resend = false;
        self.ecn.held = false;
        if opening {
            self.snd.nxt = 0;
            self.syn_repeated = !cached;
            if self.profile.opening.loss_cuts_threshold && !cached {
                // The same routine runs for a SYN: two segments of threshold remain.
                self.snd.ssthresh = 2 * self.snd.mss();
            }
        } else {
            self.begin_rto_check(timeouts, moment);
            self.recovery.on_timeout(&self.profile.recovery, &mut self.snd);
            self.ecn.reduced();
        }
        self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        self.output_due = true;
    }
}
