//! How an endpoint drives [`RackSender`](crate::recovery::RackSender): its
//! acknowledgements, its deadlines, its pauses.

use packet::Instant;

use crate::clock::Moment;
use crate::ecn::EchoReader;
use crate::endpoint::{Endpoint, State};
use crate::host_cache::HostMetrics;
use crate::profile::IdleRule;
use crate::recovery::{AckContext, Due, Outcome};
use crate::segment::Segment;
use crate::send_state::Chunk;
use crate::sender::Sender;

impl Endpoint {
    /// The round trip of a SYN: hosts with RACK know when they sent it, whatever a timestamp says.
    #[cold]
    pub(crate) fn take_opening_sample(&mut self, segment: &Segment, moment: Moment) {
        if matches!(self.sender, Sender::Rack(_)) && self.timed != u64::MAX {
            self.profile.rtt.sample(&mut self.rtt, self.timed_at, self.clock, moment);
            self.timed = u64::MAX;
        } else {
            self.take_sample(1, segment, moment);
        }
    }

    /// The handshake is over: the sender begins with what it has shown.
    #[inline(never)]
    pub(crate) fn begin_sender(&mut self, moment: Moment) {
        let rules = &self.profile.rtt;
        let srtt = rules.srtt(&self.rtt);
        match &mut self.sender {
            Sender::Rack(rack) => {
                rack.begin(&mut self.snd, self.ecn, (srtt, rules.rto(&self.rtt)), moment.at);
            }
            Sender::Classic(classic) => {
                classic.control.begin(&mut self.snd, self.ecn, srtt, moment.at);
            }
        }
    }

    /// The acknowledgement of a segment; `opening` as in [`on_ack`](Self::on_ack).
    #[inline(never)]
    pub(crate) fn on_ack_rack(
        &mut self,
        segment: &Segment,
        opening: Option<&HostMetrics>,
        moment: Moment,
    ) {
        match opening {
            Some(recalled) => self.on_opening_rack(segment, recalled, moment),
            // Not so at a receiver, which has nothing out.
            None if !self.snd.idle() => self.digest(segment, moment),
            None => {}
        }
    }

    /// The acknowledgement that completes the handshake, with a host that is remembered so.
    #[inline(never)]
    fn on_opening_rack(&mut self, segment: &Segment, recalled: &HostMetrics, moment: Moment) {
        self.take_opening_sample(segment, moment);
        self.start_from_linux(recalled);
        (self.snd.una, self.snd.nxt) = (1, self.snd.nxt.max(1));
        self.rexmt_at = Instant::NEVER;
        self.begin_sender(moment);
        let Sender::Rack(rack) = &mut self.sender else { return };
        let outcome = rack.on_opening(
            &mut self.snd,
            &mut EchoReader::new(self.ecn, &mut self.receiver),
            segment,
            moment.at,
        );
        self.note_outcome(outcome);
    }

    /// An acknowledgement while something is out.
    #[inline(never)]
    fn digest(&mut self, segment: &Segment, moment: Moment) {
        let Sender::Rack(rack) = &mut self.sender else { return };
        debug_assert!(!rack.is_idle(), "what is out has records");
        let advances = segment.ack > self.snd.una;
        let mut cx = AckContext {
            snd: &mut self.snd,
            rtt: &mut self.rtt,
            rules: &self.profile.rtt,
            clock: self.clock,
            ecn: EchoReader::new(self.ecn, &mut self.receiver),
            moment,
        };
        let outcome = rack.on_ack(&mut cx, segment);
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
        self.counters.spurious_timeouts += u32::from(outcome.spurious_rto);
        self.counters.ecn_reductions += u32::from(outcome.by_echo);
        if outcome.reduced {
            self.ecn.reduced();
        }
    }

    /// The earliest of the sender's deadlines has come.
    #[inline(never)]
    pub(crate) fn on_rack_timer(&mut self, moment: Moment) {
        let Sender::Rack(rack) = &mut self.sender else { return };
        match rack.due(moment.at) {
            Due::Nothing | Due::Pace => {}
            Due::Reorder => {
                let outcome = rack.on_reorder(&mut self.snd, moment.at);
                self.note_outcome(outcome);
            }
            Due::Probe => rack.on_probe(),
            Due::Timeout => {
                self.counters.timeouts += 1;
                let timeouts = self.profile.rtt.back_off(&mut self.rtt, None);
                if timeouts > self.profile.max_resends {
                    return self.finish(State::Failed);
                }
                let rto = self.profile.rtt.rto(&self.rtt);
                rack.on_timeout(&mut self.snd, timeouts, rto, moment.at);
                self.ecn.reduced();
            }
        }
        let Sender::Rack(rack) = &self.sender else { return };
        self.rexmt_at = rack.deadline();
        self.output_due = true;
    }

    /// Linux's `tcp_cwnd_restart` (RFC 2861): after a pause of more than a timeout the window is
    /// halved once for each that has passed, down to the initial one; the threshold remembers
    /// three quarters of it. A control that sets its window itself is only told.
    #[inline(never)]
    fn decay(&mut self, now: Instant) {
        let rto = self.profile.rtt.rto(&self.rtt);
        let idle = now.since(self.active_at);
        let Sender::Rack(rack) = &mut self.sender else { return };
        if idle <= rto {
            return;
        }
        self.active_at = now;
        let floor = self.profile.initial_window(&self.snd);
        let snd = &mut self.snd;
        if rack.on_restart(snd, idle, now) {
            return;
        }
        let mss = snd.mss();
        let cwnd = snd.cwnd / mss;
        snd.ssthresh = snd.ssthresh.max(((cwnd >> 1) + (cwnd >> 2)) * mss);
        let halvings = (idle.nanos() - 1) / rto.nanos().max(1);
        snd.cwnd = ((cwnd >> halvings.min(63)) * mss).max(floor.min(snd.cwnd));
    }

    /// What the sender lets go, after a look at how long it has paused.
    #[inline(never)]
    pub(crate) fn choose_rack(&mut self, moment: Moment) -> Option<Chunk> {
        if self.snd.idle() {
            // With nothing out only new data can go: receivers are spared the rest.
            let new = self.snd.new_chunk()?;
            if new.len > 0 && self.profile.idle == IdleRule::Decay {
                self.decay(moment.at);
            }
        }
        match &self.sender {
            Sender::Rack(rack) => rack.next(&self.snd),
            Sender::Classic(_) => None,
        }
    }
}
