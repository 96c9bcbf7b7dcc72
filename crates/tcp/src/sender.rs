//! The sending side's reactions: acknowledgements and the retransmission timer.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::segment::Segment;

impl Endpoint {
    /// The acknowledgement number of a segment. `opening`: it completes the handshake.
    pub(crate) fn on_ack(&mut self, segment: &Segment, opening: bool, moment: Moment) {
        let ack = segment.ack;
        if ack > self.flight.max {
            return;
        }
        let pending = self.rexmt_at != Instant::NEVER;
        let reaction = if ack > self.flight.una {
            self.take_sample(ack, moment);
            let acked = ack - self.flight.una;
            self.flight.una = ack;
            self.flight.nxt = self.flight.nxt.max(ack);
            self.restart_timer(moment);
            if opening && !self.profile.handshake_grows {
                return;
            }
            let growth = self.profile.growth;
            self.recovery.on_advance(&mut self.flight, growth, acked, segment)
        } else {
            self.recovery.on_duplicate(&mut self.flight, segment, pending)
        };
        if reaction.entered {
            self.counters.fast_retransmits += 1;
            self.timed = u64::MAX;
        }
        if reaction.stop_timer {
            self.rexmt_at = Instant::NEVER;
        }
        if reaction.resend_only {
            self.asked = false;
        }
        if self.flight.fin_sent && self.flight.una > self.flight.end {
            self.on_fin_acked(moment);
        }
    }

    /// All acknowledged: the timer stops; else it starts anew with the timeout in force.
    fn restart_timer(&mut self, moment: Moment) {
        self.rtt.on_advance();
        self.rexmt_at =
            if self.flight.idle() { Instant::NEVER } else { self.rtt.deadline(self.clock, moment) };
    }

    /// Ends the timing of a round trip if `ack` covers the timed number.
    pub(crate) fn take_sample(&mut self, ack: u64, moment: Moment) {
        if ack > self.timed {
            self.rtt.sample(self.timed_at, self.clock, moment);
            self.timed = u64::MAX;
        }
    }

    pub(crate) fn on_retransmission_timeout(&mut self, moment: Moment) {
        self.counters.timeouts += 1;
        if self.rtt.back_off() > self.profile.max_resends {
            self.finish(State::Failed);
            return;
        }
        self.timed = u64::MAX;
        self.flight.resend = false;
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.syn_repeated = true;
            self.flight.nxt = 0;
            if self.profile.handshake_grows {
                // BSD runs the same routine for a SYN: two segments of threshold remain.
                self.flight.ssthresh = 2 * self.flight.mss();
            }
        } else {
            self.recovery.on_timeout(&mut self.flight);
        }
        self.rexmt_at = self.rtt.deadline(self.clock, moment);
        self.asked = true;
    }
}
