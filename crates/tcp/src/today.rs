//! How an endpoint drives the recovery of today's senders ([`Rack`](crate::recovery::Rack)): its
//! acknowledgements, its deadlines, its pauses.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::flight::Chunk;
use crate::profile::IdleRule;
use crate::recovery::{Desk, Due, Outcome};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// The round trip of a SYN: today's hosts know when they sent it, whatever a timestamp says.
    #[cold]
    pub(crate) fn take_opening_sample(&mut self, segment: &Segment, moment: Moment) {
        if self.rack.is_some() && self.timed != u64::MAX {
            self.profile.rtt.sample(&mut self.rtt, self.timed_at, self.clock, moment);
            self.timed = u64::MAX;
        } else {
            self.take_sample(1, segment, moment);
        }
    }

    /// The handshake is over: the sender begins with what it has shown.
    #[inline(never)]
    pub(crate) fn begin_today(&mut self, moment: Moment) {
        if let Some(rack) = &mut self.rack {
            let rules = &self.profile.rtt;
            rack.begin(&self.flight, rules.srtt(&self.rtt), rules.rto(&self.rtt), moment.at);
        }
    }

    /// The acknowledgement of a segment; `opening`: it completes the handshake.
    #[inline(never)]
    pub(crate) fn on_ack_today(&mut self, segment: &Segment, opening: bool, moment: Moment) {
        if opening {
            self.take_opening_sample(segment, moment);
            (self.flight.una, self.flight.nxt) = (1, self.flight.nxt.max(1));
            self.rexmt_at = Instant::NEVER;
            return self.begin_today(moment);
        }
        let Some(rack) = &mut self.rack else { return };
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
    #[inline(never)]
    pub(crate) fn on_deadline_today(&mut self, moment: Moment) {
        let Some(rack) = &mut self.rack else { return };
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
        let Some(rack) = &self.rack else { return };
        self.rexmt_at = rack.deadline();
        self.asked = true;
    }

    /// Linux's `tcp_cwnd_restart` (RFC 2861): after a pause of more than a timeout the window is
    /// halved once for each that has passed, down to the initial one; the threshold remembers
    /// three quarters of it. A control that sets its window itself is only told.
    fn decay(&mut self, now: Instant) {
        let rto = self.profile.rtt.rto(&self.rtt);
        let idle = now.since(self.active_at);
        let Some(rack) = &mut self.rack else { return };
        if idle <= rto || self.flight.new_chunk().is_none_or(|chunk| chunk.len == 0) {
            return;
        }
        self.active_at = now;
        let floor = self.profile.initial_window(&self.flight);
        let flight = &mut self.flight;
        if rack.on_restart(flight, idle, now) {
            return;
        }
        flight.ssthresh = flight.ssthresh.max(flight.cwnd / 4 * 3);
        let halvings = (idle.nanos() - 1) / rto.nanos().max(1);
        flight.cwnd = (flight.cwnd >> halvings.min(63)).max(floor.min(flight.cwnd));
    }

    /// What the sender lets go, after a look at how long it has paused.
    #[inline(never)]
    pub(crate) fn choose_today(&mut self, moment: Moment) -> Option<Chunk> {
        if self.flight.idle() && self.profile.idle == IdleRule::Decay {
            self.decay(moment.at);
        }
        self.rack.as_ref()?.next(&self.flight)
    }
}
