//! The two kinds of sender as one type. The endpoint and its other parts use the seven methods of
//! [`SendAlgorithm`]; only header prediction (`predicted`) calls each kind directly.

use packet::{Duration, Instant};

use crate::classic_sender::ClassicSender;
use crate::congestion::Control;
use crate::profile::Profile;
use crate::recovery::{Outstanding, RackSender, RecoveryKind};
use crate::rtt::Rtt;
use crate::segment::Segment;
use crate::send_algorithm::{AfterAck, AfterTimer, Opening, SendAlgorithm, SendContext};
use crate::send_state::{Chunk, SendState};

/// The sender of one end: retransmission timer, loss recovery and congestion control.
#[derive(Clone, Debug)]
pub(crate) enum Sender {
    /// Loss recovery by duplicate acknowledgements, or by RFC 6675.
    Classic(ClassicSender),
    /// Loss recovery by RACK-TLP, or by Linux's rules without RACK.
    Rack(Box<RackSender>),
}

/// The sending half of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    pub snd: SendState,
    pub rtt: Rtt,
    pub sender: Sender,
}

impl Transmitter {
    pub fn new(profile: &Profile) -> Self {
        let (snd, rtt) = (profile.fresh_send_state(), profile.rtt.fresh());
        Transmitter { snd, rtt, sender: Sender::new(profile) }
    }

    /// Resets the state for a new connection, keeping allocated memory.
    pub fn renew(&mut self, profile: &Profile) {
        self.snd = profile.fresh_send_state();
        self.rtt = profile.rtt.fresh();
        self.sender.renew(profile);
    }
}

impl Sender {
    pub fn new(profile: &Profile) -> Self {
        let control = &*profile.congestion;
        match profile.recovery.kind {
            RecoveryKind::Rack(settings) => {
                Sender::Rack(Box::new(RackSender::new(settings, control.boxed())))
            }
            kind => Sender::Classic(ClassicSender::new(kind, control)),
        }
    }

    /// A stand-in while a sender is moved out of its variable.
    fn placeholder() -> Self {
        Sender::Classic(ClassicSender::placeholder())
    }

    /// Resets the state for a new connection, keeping allocated memory.
    pub fn renew(&mut self, profile: &Profile) {
        let control = &*profile.congestion;
        match (&mut *self, profile.recovery.kind) {
            (Sender::Rack(_), RecoveryKind::Rack(settings)) => {
                if let Sender::Rack(rack) = std::mem::replace(self, Sender::placeholder()) {
                    *self = Sender::Rack(rack.renewed(settings, control.boxed()));
                }
            }
            (Sender::Classic(classic), kind) if !matches!(kind, RecoveryKind::Rack(_)) => {
                classic.renew(kind, control);
            }
            _ => *self = Sender::new(profile),
        }
    }

    /// Whether there may be data or a FIN to send. If not, an output call could only send an
    /// acknowledgement, as at a receiver, or at a sender that has sent all its data.
    #[inline]
    pub fn may_choose(&self, snd: &SendState) -> bool {
        let in_order = match self {
            Sender::Classic(classic) => classic.sends_in_order(),
            Sender::Rack(_) => false,
        };
        let some = if in_order { snd.has_rest() } else { !snd.is_through() };
        some || snd.resend
    }

    /// The classic sender, if this is one; header prediction calls it directly.
    #[inline(always)]
    pub fn classic(&mut self) -> Option<&mut ClassicSender> {
        match self {
            Sender::Classic(classic) => Some(classic),
            Sender::Rack(_) => None,
        }
    }

    /// The RACK sender, if this is one.
    #[inline(always)]
    pub fn rack(&mut self) -> Option<&mut RackSender> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => Some(rack),
        }
    }

    /// The congestion control; `None` for the Reno that a classic sender calls directly.
    pub fn control(&self) -> Option<&dyn Control> {
        match self {
            Sender::Classic(classic) => classic.control.get(),
            Sender::Rack(rack) => Some(rack.control()),
        }
    }

    /// Whether the sender keeps the sending time of every segment in flight.
    pub fn keeps_records(&self) -> bool {
        matches!(self, Sender::Rack(_))
    }

    /// Counts from the sender's scoreboard; `None` for a sender without one.
    pub fn outstanding(&self) -> Option<Outstanding> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => Some(rack.outstanding()),
        }
    }

    /// Whether the sender is in Linux's state `TCP_CA_Open` (no loss, mark or reordering is known);
    /// always true for a sender without such states.
    pub fn is_calm(&self) -> bool {
        match self {
            Sender::Classic(_) => true,
            Sender::Rack(rack) => rack.is_open(),
        }
    }

    /// Whether the segment sent last ended a burst of several that is handed down as one packet;
    /// `None` for a sender without bursts.
    #[inline]
    pub fn ends_burst(&self) -> Option<bool> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => rack.ends_burst(),
        }
    }

    /// A bare acknowledgement repeats a FIN that was sent: the retransmission timer must run.
    pub fn on_fin_repeated(&mut self, cx: &mut SendContext) {
        match self {
            Sender::Classic(classic) => classic.ensure_timer(cx),
            Sender::Rack(_) => {}
        }
    }

    /// Stops all timers: nothing more is sent.
    pub fn stop(&mut self) {
        match self {
            Sender::Classic(classic) => classic.stop(),
            Sender::Rack(rack) => rack.stop(),
        }
    }

    /// Prefetches into the processor's cache the sender's data on the heap that most events use. To
    /// be called some time before an event, when the endpoint itself is in the cache.
    #[inline]
    pub fn fetch(&self) {
        if let Sender::Rack(rack) = self {
            prefetch::prefetch(&**rack);
        }
    }

    /// Prefetches what the sender's data on the heap points to.
    #[inline]
    pub fn fetch_more(&self) {
        if let Sender::Rack(rack) = self {
            rack.fetch();
        }
    }
}

impl SendAlgorithm for Sender {
    #[inline]
    fn begin(&mut self, cx: &mut SendContext, opening: Option<&Opening>) {
        match self {
            Sender::Classic(classic) => classic.begin(cx, opening),
            Sender::Rack(rack) => rack.begin(cx, opening),
        }
    }
    fn on_ack(&mut self, cx: &mut SendContext, segment: &Segment) -> AfterAck {
        match self {
            Sender::Classic(classic) => classic.on_ack(cx, segment),
            Sender::Rack(rack) => rack.on_ack(cx, segment),
        }
    }
    #[inline]
    fn on_timer(&mut self, cx: &mut SendContext) -> AfterTimer {
        match self {
            Sender::Classic(classic) => classic.on_timer(cx),
            Sender::Rack(rack) => rack.on_timer(cx),
        }
    }
    fn next(&mut self, cx: &mut SendContext, call_idle: bool) -> Option<Chunk> {
        match self {
            Sender::Classic(classic) => classic.next(cx, call_idle),
            Sender::Rack(rack) => rack.next(cx, call_idle),
        }
    }
    #[inline(always)]
    fn on_sent(&mut self, cx: &mut SendContext, chunk: Chunk) {
        match self {
            Sender::Classic(classic) => classic.on_sent(cx, chunk),
            Sender::Rack(rack) => rack.on_sent(cx, chunk),
        }
    }
    #[inline(always)]
    fn deadline(&self) -> Instant {
        match self {
            Sender::Classic(classic) => classic.deadline(),
            Sender::Rack(rack) => rack.deadline(),
        }
    }
    fn on_restart(&mut self, cx: &mut SendContext, idle: Duration) {
        match self {
            Sender::Classic(classic) => classic.on_restart(cx, idle),
            Sender::Rack(rack) => rack.on_restart(cx, idle),
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::params::Params;

    use super::*;
    use crate::congestion::Controls;

    #[test]
    fn a_used_sender_becomes_that_of_the_next_profile() {
        let profile = |name| {
            let entry = crate::find(name).expect("a listed profile");
            (entry.build)(&Params::defaults(entry.about.fields), &Controls::ours())
                .expect("its defaults")
        };
        let profiles = ["linux", "plain", "freebsd-2.2.8"].map(profile);
        for (from, to) in profiles.iter().flat_map(|from| profiles.iter().map(move |to| (from, to)))
        {
            let mut renewed = Sender::new(from);
            renewed.renew(to);
            let linux = to.name() == "linux";
            assert_eq!(renewed.keeps_records(), linux, "{} {}", from.name(), to.name());
        }
    }
}
