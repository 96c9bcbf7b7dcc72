//! How an endpoint drives the recovery of today's senders ([`Rack`](crate::recovery::Rack)): its
//! acknowledgements, its deadlines, its pauses.

use packet::{Duration, Instant};

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::recovery::{Desk, Due, Outcome, Recovery};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// The round trip of a SYN: today's hosts know when they sent it, whatever a timestamp says.
    pub(crate) fn take_opening_sample(&mut self, segment: &Segment, moment: Moment) {
        if matches!(self.recovery, Recovery::Rack(_)) && self.timed != u64::MAX {
            self.profile.rtt.sample(&mut self.rtt, self.timed_at, self.clock, moment);
            self.timed = u64::MAX;
        } else {
            self.take_sample(1, segment, moment);
        }
    }

    /// The handshake is over: the sender begins with what it has shown.
    pub(crate) fn begin_today(&mut self, moment: Moment) {
        if let Recovery::Rack(rack) = &mut self.recovery {
            let rules = &self.profile.rtt;
            rack.begin(&self.flight, rules.srtt(&self.rtt), rules.rto(&self.rtt), moment.at);
        }
    }

    /// The acknowledgement of a segment; `opening`: it completes the handshake.
    pub(crate) fn on_ack_today(&mut self, segment: &Segment, opening: bool, moment: Moment) {
        if opening {
            self.take_opening_sample(segment, moment);
            (self.flight.una, self.flight.nxt) = (1, self.flight.nxt.max(1));
            self.rexmt_at = Instant::NEVER;
            return self.begin_today(moment);
        }
        let Recovery::Rack(rack) = &mut self.recovery else { return };
        if rack.is_idle() {
            return;
        }
        let advances = segment.ack > self.flight.una;
        let mut desk = Desk {
            flight: &mut self.flight,
            rtt: &mut self.rtt,
            rules: &self.profile.rtt,
            clock: self.clock,
            echoed: self.ecn.on && segment.flags.has(Flags::ECE),
            moment,
        };
        let outcome = rack.on_ack(&mut desk, segment);
        self.rexmt_at = rack.deadline();
        if advances {
            self.profile.rtt.on_advance(&mut self.rtt);
        }
        self.note_outcome(outcome);
        if self.closing && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
    }

    fn note_outcome(&mut self, outcome: Outcome) {
        if outcome == Outcome::default() {
            return;
        }
        self.counters.fast_retransmits += u32::from(outcome.entered);
        self.counters.spurious_timeouts += u32::from(outcome.needless);
        self.counters.ecn_reductions += u32::from(outcome.by_echo);
        if outcome.reduced {
            self.ecn.reduced();
        }
    }

    /// The earliest of the sender's deadlines has come.
    pub(crate) fn on_deadline_today(&mut self, moment: Moment) {
        let Recovery::Rack(rack) = &mut self.recovery else { return };
        match rack.due(moment.at) {
            Due::Nothing | Due::Pace => {}
            Due::Reorder => {
                let outcome = rack.on_reorder(&mut self.flight, moment.at);
                self.note_outcome(outcome);
            }
            Due::Probe => rack.on_probe(),
            Due::Timeout => {
                self.counters.timeouts += 1;
                let timeouts = self.profile.rtt.back_off(&mut self.rtt, false);
                if timeouts > self.profile.max_resends {
                    return self.finish(State::Failed);
                }
                let rto = self.profile.rtt.rto(&self.rtt);
                rack.on_timeout(&mut self.flight, timeouts, rto, moment.at);
                self.ecn.reduced();
            }
        }
        let Recovery::Rack(rack) = &self.recovery else { return };
        self.rexmt_at = rack.deadline();
        self.asked = true;
    }

    /// Linux's `tcp_cwnd_restart` (RFC 2861): after a pause the window is halved once for each
    /// timeout that has passed, down to the initial one; the threshold remembers three quarters
    /// of it. A control that sets its window itself is only told.
    #[cold]
    pub(crate) fn decay(&mut self, idle: Duration, now: Instant) -> bool {
        self.active_at = now;
        let floor = self.profile.initial_window(&self.flight);
        let rto = self.profile.rtt.rto(&self.rtt);
        let flight = &mut self.flight;
        let before = flight.cwnd;
        let own_window = match &mut self.recovery {
            Recovery::Rack(rack) => rack.on_restart(flight, idle, now),
            _ => false,
        };
        if own_window {
            return flight.cwnd != before;
        }
        flight.ssthresh = flight.ssthresh.max(flight.cwnd / 4 * 3);
        let halvings = (idle.nanos() - 1) / rto.nanos().max(1);
        let decayed = flight.cwnd.checked_shr(halvings.min(63) as u32).unwrap_or(0);
        flight.cwnd = decayed.max(floor.min(flight.cwnd));
        flight.cwnd != before
    }

    /// Whether a pause has closed the congestion window, as far as it has.
    pub(crate) fn decays_after_pause(&mut self, moment: Moment) -> bool {
        if !self.flight.idle() {
            return false;
        }
        let idle = moment.at.since(self.active_at);
        idle > self.profile.rtt.rto(&self.rtt) && self.decay(idle, moment.at)
    }
}
