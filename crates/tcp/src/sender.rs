//! The two kinds of sender, and the reactions of the classic one: acknowledgements and the
//! retransmission timer.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::host_cache::HostMetrics;
use crate::profile::{Ending, Profile, SynAck};
use crate::recovery::{
    ClassicControl, Heard, RackSender, Reaction, Recovery, RecoveryKind, Windows,
};
use crate::segment::Segment;
use crate::spurious_rto::SpuriousRto;

/// What sends the data of one end.
#[derive(Clone, Debug)]
pub(crate) enum Sender {
    /// By duplicate acknowledgements, or RFC 6675.
    Classic(ClassicSender),
    /// By RACK-TLP, or as Linux does without it.
    Rack(Box<RackSender>),
}

/// A sender of BSD's lineage: a recovery, which asks a congestion control.
#[derive(Clone, Debug)]
pub(crate) struct ClassicSender {
    pub recovery: Recovery,
    pub control: ClassicControl,
    /// What is remembered to see whether a timeout was spurious; none before the first timeout.
    pub rto_check: Option<Box<SpuriousRto>>,
}

/// An ACK as a classic sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    pub segment: &'a Segment,
    /// New numbers that it acknowledges.
    pub acked: u64,
    /// The retransmission timer ran as it came.
    pub pending: bool,
    /// It carries an ECN echo, and grows nothing.
    pub echoed: bool,
}

impl Sender {
    pub fn new(profile: &Profile) -> Self {
        let control = &*profile.congestion;
        match profile.recovery.kind {
            RecoveryKind::Rack(settings) => {
                Sender::Rack(Box::new(RackSender::new(settings, control.boxed())))
            }
            kind => Sender::Classic(ClassicSender {
                recovery: Recovery::new(kind),
                control: ClassicControl::new(control),
                rto_check: None,
            }),
        }
    }

    /// One of no profile, for a moment.
    fn blank() -> Self {
        Sender::Classic(ClassicSender {
            recovery: Recovery::new(RecoveryKind::Tahoe),
            control: ClassicControl::reno(),
            rto_check: None,
        })
    }

    /// Makes it as new, keeping what is allocated.
    pub fn renew(&mut self, profile: &Profile) {
        let control = &*profile.congestion;
        match (&mut *self, profile.recovery.kind) {
            (Sender::Rack(_), RecoveryKind::Rack(settings)) => {
                if let Sender::Rack(rack) = std::mem::replace(self, Sender::blank()) {
                    *self = Sender::Rack(rack.renewed(settings, control.boxed()));
                }
            }
            (Sender::Classic(classic), kind) if !matches!(kind, RecoveryKind::Rack(_)) => {
                classic.recovery.reset(kind);
                classic.control = ClassicControl::new(control);
                if let Some(check) = &mut classic.rto_check {
                    check.reset();
                }
            }
            _ => *self = Sender::new(profile),
        }
    }
}

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
        if let Sender::Rack(_) = self.sender {
            return self.on_ack_rack(segment, opening, moment);
        }
        let pending = self.rexmt_at != Instant::NEVER;
        let acked = ack.saturating_sub(self.snd.una);
        let echo = self.hears_echo(segment, acked, opening.is_some());
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
                if !echo.asks {
                    return;
                }
            }
        }
        let reaction = if acked == 0 && self.snd.idle() {
            Reaction::default() // a receiver's: nothing is out
        } else if self.asks_reno_only() {
            self.recover_inline(Ack { segment, acked, pending, echoed: echo.asks })
        } else {
            let ack = Ack { segment, acked, pending, echoed: echo.asks };
            self.recover_watched(&ack, echo.marked, moment)
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
        if echo.asks || self.ecn.held {
            let heard = echo.asks && (acked > 0 || !self.profile.recovery.cwr_state);
            self.on_echo(heard, moment);
        }
        if self.closing && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
    }

    /// Tells the recovery of an acknowledgement of new numbers, or of a duplicate.
    #[inline(always)]
    fn recover_inline(&mut self, ack: Ack) -> Reaction {
        let Sender::Classic(ClassicSender { recovery, control, .. }) = &mut self.sender else {
            return Reaction::default();
        };
        self.snd.growth_held = ack.echoed;
        let w = &mut Windows { rules: &self.profile.recovery, snd: &mut self.snd, control };
        if ack.acked == 0 {
            recovery.on_duplicate(w, ack.segment, ack.pending)
        } else {
            recovery.on_advance(w, ack.acked, ack.segment)
        }
    }

    /// The same, out of the way of the connections that look at no timeout.
    #[cold]
    pub(crate) fn recover(&mut self, ack: &Ack) -> Reaction {
        self.recover_inline(*ack)
    }

    /// Whether nobody but the recovery and Reno is to hear of an ACK.
    #[inline(always)]
    fn asks_reno_only(&self) -> bool {
        match &self.sender {
            Sender::Classic(ClassicSender { control, rto_check, .. }) => {
                control.is_reno() && rto_check.as_ref().is_none_or(|check| !check.runs())
            }
            Sender::Rack(_) => false,
        }
    }

    /// The same for a connection that looks at a timeout, or whose control needs to know more than
    /// the recovery: the control hears of the ACK before it, and is told once it has done.
    #[cold]
    fn recover_watched(&mut self, ack: &Ack, marked: u64, moment: Moment) -> Reaction {
        let (Ack { segment, acked, .. }, sack) = (*ack, self.sack);
        let rules = self.profile.recovery;
        let Sender::Classic(classic) = &mut self.sender else { return Reaction::default() };
        classic.control.hear(&self.snd, &Heard { segment, acked, marked, sack, now: moment.at });
        let recovering = classic.recovery.recovering(&rules);
        let checks = classic.rto_check.as_ref().is_some_and(|check| check.runs());
        let reaction = if checks { self.on_ack_after_rto(ack, moment) } else { self.recover(ack) };
        if let Sender::Classic(classic) = &mut self.sender {
            let recovering = recovering || classic.recovery.recovering(&rules);
            classic.control.finish(&mut self.snd, recovering);
        }
        reaction
    }

    /// Whether nothing remains to be acknowledged after the close.
    pub(crate) fn all_acknowledged(&self) -> bool {
        match self.profile.ending {
            Ending::Fin | Ending::BareFin => self.snd.fin_sent && self.snd.una > self.snd.end,
            Ending::Silent => self.unwritten == 0 && self.snd.una == self.snd.end,
        }
    }

    /// All acknowledged: the timer stops; else it starts anew with the timeout in force, if the
    /// recovery lets it.
    fn restart_timer(&mut self, moment: Moment) {
        self.profile.rtt.on_advance(&mut self.rtt);
        if self.snd.idle() {
            self.rexmt_at = Instant::NEVER;
        } else if !self.recovery_keeps_timer() {
            self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        }
    }

    fn recovery_keeps_timer(&self) -> bool {
        match &self.sender {
            Sender::Classic(classic) => {
                classic.recovery.keeps_timer(&self.profile.recovery, &self.snd)
            }
            Sender::Rack(_) => false,
        }
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
        if !opening && matches!(self.sender, Sender::Rack(_)) {
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
            if let Sender::Classic(ClassicSender { recovery, control, .. }) = &mut self.sender {
                let rules = &self.profile.recovery;
                recovery.on_timeout(&mut Windows { rules, snd: &mut self.snd, control }, moment.at);
            }
            self.ecn.reduced();
        }
        self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        self.output_due = true;
    }

    /// Fetches into the cache what the endpoint keeps apart from itself, as far as most events touch
    /// it; what its sender keeps only if it `sends`. To be said a while before it is told something, and
    /// after it was itself fetched.
    #[inline]
    pub fn fetch(&self, sends: bool) {
        self.receiver.fetch();
        if let Sender::Rack(rack) = &self.sender
            && sends
        {
            prefetch::prefetch(&**rack);
        }
    }

    /// Fetches what a sender refers to, likewise.
    #[inline]
    pub fn fetch_more(&self) {
        if let Sender::Rack(rack) = &self.sender {
            rack.fetch();
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::params::Params;

    use super::*;

    #[test]
    fn a_used_sender_becomes_that_of_the_next_profile() {
        let profile = |name| {
            let entry = crate::find(name).expect("a listed profile");
            (entry.build)(&Params::defaults(entry.about.fields)).expect("its defaults")
        };
        let profiles = ["linux", "plain", "freebsd-2.2.8"].map(profile);
        let racks = |sender: &Sender| matches!(sender, Sender::Rack(_));
        for (from, to) in profiles.iter().flat_map(|from| profiles.iter().map(move |to| (from, to)))
        {
            let mut renewed = Sender::new(from);
            renewed.renew(to);
            assert_eq!(racks(&renewed), to.name() == "linux", "{} {}", from.name(), to.name());
        }
    }
}
