//! What the disciplines of RED's family use of it: its parts, its algorithms in two steps, and an
//! AQM whose `max_p` adapts.

use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

pub(crate) use super::altq::{Altq, log_weight};
pub(crate) use super::average::Average;
pub(crate) use super::early::Early;
pub(crate) use super::in_packets;
pub(crate) use super::linux::{Ageing, Law, Linux, Vars};
pub(crate) use super::ns::Ns;
pub(crate) use super::paper::Paper;
pub(crate) use super::profile::{Given, Profile, Program, Switch, band, band_of};
pub(crate) use super::profiles::{ALTQ, FJ93, LINUX, NS2, NS3, named};
pub(crate) use super::settings::{Settings, weight_for_burst};
pub(crate) use super::spacing;
pub(crate) use super::spacing::paper as space_signals;
pub(crate) use crate::idle::{Idle, PacketClock};
use crate::{Aqm, BufferLimit, Verdict};

/// Plain settings of a RED that counts packets (`Linux`: bytes), for a discipline that resolves
/// its own parameters and overrides what it needs.
pub(crate) fn plain(profile: &'static Profile, band: (f64, f64), w_q: f64, max_p: f64) -> Settings {
    Settings {
        profile,
        min_th: band.0,
        max_th: band.1,
        w_q,
        max_p,
        gentle: false,
        wait: matches!(profile.wait, Switch::Free(true)),
        queue_in_bytes: matches!(profile.queue_in_bytes, Switch::Fixed(true, _)),
        byte_probability: false,
        mean_packet_bytes: 1000,
        max_packet_bytes: 1500,
        clock: PacketClock::of_time(Duration::from_micros(800)),
        harddrop: true,
        nodrop: false,
        use_mark_p: false,
        mark_p: 0.0,
        ns1_compat: false,
        ecn: false,
        limit: BufferLimit::UNLIMITED,
    }
}

/// A rule that moves `max_p` at arrivals.
pub(crate) trait Tuner: Send {
    /// The new `max_p` after an update of the average to `average`; none if it stays.
    fn tune(&mut self, max_p: f64, average: f64, now: Instant) -> Option<f64>;
}

/// A RED whose `max_p` a rule changes after the average is updated and before the packet is
/// decided on.
pub(crate) struct Tuned<J, T> {
    judge: J,
    rule: T,
    max_p: f64,
    gentle_too: bool,
    drop_from: f64,
}

impl<J: Early, T: Tuner> Tuned<J, T> {
    /// The RED `judge`, which starts with `max_p`. The gentle part of its curve follows `max_p`
    /// if `gentle_too`. A signal at an average of `drop_from` or more drops even ECN-capable
    /// packets.
    pub fn new(judge: J, rule: T, max_p: f64, gentle_too: bool, drop_from: f64) -> Self {
        Tuned { judge, rule, max_p, gentle_too, drop_from }
    }

    #[cold]
    fn set(&mut self, max_p: f64) {
        self.max_p = max_p;
        self.judge.curve().set_max_p(max_p, self.gentle_too);
    }
}

impl<J: Early, T: Tuner> Aqm for Tuned<J, T> {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.judge.sample(packet, backlog, now);
        let average = self.judge.average();
        if let Some(max_p) = self.rule.tune(self.max_p, average, now) {
            self.set(max_p);
        }
        match self.judge.decide(packet, backlog, rng) {
            Verdict::Signal(why) if average >= self.drop_from => Verdict::Drop(why),
            verdict => verdict,
        }
    }

    fn on_dropped(&mut self, why: DropReason) {
        self.judge.on_dropped(why);
    }
    fn on_idle(&mut self, now: Instant) {
        self.judge.on_idle(now);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.judge.gauges(show);
        show("max_p", self.max_p);
    }
}
