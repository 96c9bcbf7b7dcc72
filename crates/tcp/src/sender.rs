//! The senders to choose from. No other file distinguishes them: the endpoint and its other
//! parts see the seven verbs of [`SendAlgorithm`].

use packet::{Duration, Instant};

use crate::classic_sender::ClassicSender;
use crate::congestion::Control;
use crate::profile::Profile;
use crate::recovery::{Outstanding, RackSender, RecoveryKind};
use crate::rtt::Rtt;
use crate::segment::Segment;
use crate::send_algorithm::{AfterAck, AfterTimer, Opening, SendAlgorithm, SendContext};
use crate::send_state::{Chunk, SendState};

/// What sends the data of one end.
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

    /// Makes it as new, keeping what is allocated.
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

    /// Stands where a sender is taken out for a moment.
    fn placeholder() -> Self {
        Sender::Classic(ClassicSender::placeholder())
    }

    /// Makes it as new, keeping what is allocated.
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

    /// Whether there is data or a FIN to choose from. Where not, an output call would find nothing but
    /// an acknowledgement that is due: most calls of a receiver, and of a sender who has sent all.
    #[inline]
    pub fn may_choose(&self, snd: &SendState) -> bool {
        let in_order = match self {
            Sender::Classic(classic) => classic.sends_in_order(),
            Sender::Rack(_) => false,
        };
        let some = if in_order { snd.has_rest() } else { !snd.is_through() };
        some || snd.resend
    }

    /// The classic sender, if it is one: the predicted path is its.
    #[inline(always)]
    pub fn classic(&mut self) -> Option<&mut ClassicSender> {
        match self {
            Sender::Classic(classic) => Some(classic),
            Sender::Rack(_) => None,
        }
    }

    /// The sender with RACK, if it is one.
    #[inline(always)]
    pub fn rack(&mut self) -> Option<&mut RackSender> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => Some(rack),
        }
    }

    /// Its congestion control; none of Reno that a classic sender calls directly.
    pub fn control(&self) -> Option<&dyn Control> {
        match self {
            Sender::Classic(classic) => classic.control.get(),
            Sender::Rack(rack) => Some(rack.control()),
        }
    }

    /// Whether it knows of every segment when it was sent.
    pub fn keeps_records(&self) -> bool {
        matches!(self, Sender::Rack(_))
    }

    /// What its scoreboard says; `None` of a sender that has none.
    pub fn outstanding(&self) -> Option<Outstanding> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => Some(rack.outstanding()),
        }
    }

    /// Whether nothing is known to be wrong (Linux's `TCP_CA_Open`), as far as it keeps such a state.
    pub fn is_calm(&self) -> bool {
        match self {
            Sender::Classic(_) => true,
            Sender::Rack(rack) => rack.is_open(),
        }
    }

    /// Where segments go down many as one: whether the one sent last was the last of several.
    #[inline]
    pub fn ends_burst(&self) -> Option<bool> {
        match self {
            Sender::Classic(_) => None,
            Sender::Rack(rack) => rack.ends_burst(),
        }
    }

    /// A FIN that was sent is repeated by a bare acknowledgement: the retransmission timer runs.
    pub fn on_fin_repeated(&mut self, cx: &mut SendContext) {
        match self {
            Sender::Classic(classic) => classic.ensure_timer(cx),
            Sender::Rack(_) => {}
        }
    }

    /// Nothing is sent any more, and no timer runs.
    pub fn stop(&mut self) {
        match self {
            Sender::Classic(classic) => classic.stop(),
            Sender::Rack(rack) => rack.stop(),
        }
    }

    /// Fetches into the cache what it keeps apart, as far as most events touch it. To be called a while
    /// before an event, and after the endpoint was itself fetched.
    #[inline]
    pub fn fetch(&self) {
        if let Sender::Rack(rack) = self {
            prefetch::prefetch(&**rack);
        }
    }

    /// Fetches what that refers to.
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
