//! CoDel's decisions at the head of one queue, for every discipline that uses CoDel.

use packet::params::Params;
use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

use super::law::{Law, Roots, UNIT};
pub(crate) use super::{CE_THRESHOLD, CE_THRESHOLD_MASK, CE_THRESHOLD_SELECTOR, INTERVAL, TARGET};
use crate::Verdict;
use crate::shells::departure::AtDeparture;

/// Test whether too few bytes wait for a signal, however long the packet stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// The packet leaves no more than `least` bytes.
    AtMost,
    /// The packet leaves fewer than `least` bytes.
    Below,
    /// The packet leaves no more bytes than the largest packet seen has.
    LargestSeen,
}

/// Resolution in which an implementation measures times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Times are exact, in nanoseconds.
    Exact,
    /// Times in whole units of 1,024 ns: the present time, a packet's arrival, target, interval and
    /// threshold (Linux `codel_get_time`, `CODEL_SHIFT`).
    Units,
    /// As `Units`, but the sojourn time is cut, not the time of arrival (ns-3 `Time2CoDel`).
    UnitsOfStays,
}

impl Clock {
    fn now(self, now: Instant) -> Instant {
        match self {
            Clock::Exact => now,
            _ => Instant::from_nanos(now.nanos() >> UNIT << UNIT),
        }
    }
    fn span(self, span: Duration) -> Duration {
        match self {
            Clock::Exact => span,
            _ => Duration::from_nanos(span.nanos() >> UNIT << UNIT),
        }
    }
    /// Sojourn time of `packet` so far, as this clock measures it.
    #[inline]
    fn stay(self, packet: &Packet, now: Instant) -> Duration {
        match self {
            Clock::Exact => now.since(packet.arrived),
            Clock::Units => self.now(now).since(self.now(packet.arrived)),
            Clock::UnitsOfStays => self.span(now.since(packet.arrived)),
        }
    }
}

/// What distinguishes the implementations of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Test whether too few bytes wait for a signal.
    pub least: Least,
    /// Whether packets must stay too long for more than an interval before the first signal;
    /// otherwise one interval is enough.
    strictly_later: bool,
    /// Whether an empty queue resets the time since which packets stay too long.
    empty_resets: bool,
    /// Whether a series soon after another begins with the number of signals that the other one
    /// added; otherwise it begins with one less than the other one's last count.
    delta_rule: bool,
    /// Whether the signal after a mark is planned from now; otherwise from the time the mark was
    /// due.
    plans_marks_from_now: bool,
    /// Resolution of times. With whole units, roots are Linux's approximations too.
    clock: Clock,
    /// Whether after 256 signals at one departure the packet passes and the next signal is planned
    /// from now (`CODEL_MAX_DROPS_PER_DEQUEUE`), and no wait is shorter than a unit
    /// (`codel_control_law`).
    bounded: bool,
}

impl Profile {
    /// How reciprocal roots are computed.
    fn roots(self) -> Roots {
        match (self.clock, self.bounded) {
            (Clock::Exact, _) => Roots::Exact,
            (_, false) => Roots::Newton,
            (_, true) => Roots::NewtonOfOne,
        }
    }

    pub const RFC8289: Profile = Profile {
        least: Least::AtMost,
        strictly_later: false,
        empty_resets: true,
        delta_rule: true,
        plans_marks_from_now: false,
        clock: Clock::Exact,
        bounded: false,
    };
    pub const LINUX_6_12: Profile =
        Profile { strictly_later: true, clock: Clock::Units, ..Profile::RFC8289 };
    pub const LINUX: Profile = Profile { bounded: true, ..Profile::LINUX_6_12 };
    pub const NS3: Profile = Profile {
        least: Least::Below,
        plans_marks_from_now: true,
        empty_resets: false,
        clock: Clock::UnitsOfStays,
        ..Profile::LINUX_6_12
    };
    pub const NS2: Profile =
        Profile { least: Least::LargestSeen, delta_rule: false, ..Profile::RFC8289 };
}

/// Role of the next packet within one dequeue, which may drop several packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    First,
    /// The packet behind the one whose drop began a series; it is delivered.
    BehindFirstDrop,
    /// The packet behind a later drop of a series.
    BehindDrop,
}

/// CoDel's state for one queue.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    profile: Profile,
    target: Duration,
    interval: Duration,
    ce_threshold: Option<Duration>,
    /// Value and mask of the traffic class of the packets for which `ce_threshold` holds; a mask
    /// and a value of 0 stand for all packets.
    selector: (u8, u8),
    least: u64,
    law: Law,
    last_count: u32,
    /// Time at which packets will have stayed too long for an interval, if they stay too long now.
    first_above: Option<Instant>,
    /// Time at which the next signal of the series is due, or would have been.
    drop_next: Option<Instant>,
    dropping: bool,
    next: Next,
    /// Number of signals at the present departure within a series, modulo 256.
    at_once: u8,
}

impl Control {
    /// The state of a queue that has seen no packet, with the parameters `target`, `interval` and
    /// `ce_threshold`; `least` is in bytes.
    pub fn new(profile: Profile, params: &Params, least: u64) -> Self {
        let time = |name| profile.clock.span(params.time(name));
        let interval = time("interval");
        let threshold = params.given("ce_threshold").then(|| time("ce_threshold"));
        Control {
            profile,
            target: time("target"),
            interval,
            ce_threshold: threshold,
            selector: (0, 0),
            least,
            law: Law::new(interval, profile.roots()),
            last_count: 0,
            first_above: None,
            drop_next: None,
            dropping: false,
            next: Next::First,
            at_once: 0,
        }
    }

    /// Restricts `ce_threshold` to packets whose traffic class, masked by `mask`, is `selector`;
    /// with a `mask` of 0 it holds for all packets.
    pub fn selecting(self, selector: u8, mask: u8) -> Self {
        Control { selector: if mask == 0 { (0, 0) } else { (selector, mask) }, ..self }
    }

    /// Whether packets have stayed too long for an interval.
    #[inline]
    fn too_long(&mut self, packet: &Packet, left: u64, now: Instant) -> bool {
        let short = match self.profile.least {
            Least::AtMost => left <= self.least,
            Least::Below => left < self.least,
            Least::LargestSeen => {
                self.least = self.least.max(u64::from(packet.bytes));
                left <= self.least
            }
        };
        if short || self.profile.clock.stay(packet, now) < self.target {
            self.first_above = None;
            return false;
        }
        let now = self.profile.clock.now(now);
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
            Some(at) if self.profile.strictly_later => now > at,
            Some(at) => now >= at,
        }
    }

    fn due(&self, now: Instant) -> bool {
        self.drop_next.is_some_and(|at| now >= at)
    }

    fn plan_from_plan(&mut self) {
        self.drop_next = self.drop_next.map(|at| self.law.after(at));
    }

    fn begin_series(&mut self, now: Instant) {
        self.dropping = true;
        let recent = self.drop_next.is_some_and(|at| now.since(at) < self.interval * 16);
        let count = self.law.count();
        let wanted = if self.profile.delta_rule {
            count.wrapping_sub(self.last_count)
        } else {
            // ns-2 begins with one less than the last count, if that is at least one.
            count.saturating_sub(1)
        };
        let least = if self.profile.delta_rule { 2 } else { 1 };
        self.law.restart(if wanted >= least && recent { wanted } else { 1 });
        self.last_count = self.law.count();
        self.drop_next = Some(self.law.after(now));
    }
}

impl AtDeparture for Control {
    fn on_departure(
        &mut self,
        packet: &Packet,
        left: Backlog,
        now: Instant,
        _rng: &mut Rng,
    ) -> Verdict {
        let too_long = self.too_long(packet, left.bytes, now);
        let now = self.profile.clock.now(now);
        let next = core::mem::replace(&mut self.next, Next::First);
        if next == Next::BehindFirstDrop {
            return Verdict::Pass;
        }
        if !self.dropping {
            if !too_long {
                return Verdict::Pass;
            }
            self.begin_series(now);
            self.next = Next::BehindFirstDrop;
            return Verdict::Signal(DropReason::Early);
        }
        if !too_long {
            self.dropping = false;
            return Verdict::Pass;
        }
        if next == Next::BehindDrop {
            self.plan_from_plan();
        } else {
            self.at_once = 0;
        }
        if !self.due(now) {
            return Verdict::Pass;
        }
        if self.profile.bounded && next == Next::BehindDrop && self.at_once == 0 {
            // After 256 signals at this departure the plan begins anew from now.
            self.drop_next = Some(self.law.after(now));
            return Verdict::Pass;
        }
        self.at_once = self.at_once.wrapping_add(1);
        self.law.grow();
        self.next = Next::BehindDrop;
        Verdict::Signal(DropReason::Early)
    }

    fn on_signalled(&mut self, marked: bool, now: Instant) {
        if !marked {
            return;
        }
        if core::mem::replace(&mut self.next, Next::First) == Next::BehindDrop {
            if self.profile.plans_marks_from_now {
                self.drop_next = Some(self.law.after(self.profile.clock.now(now)));
            } else {
                self.plan_from_plan();
            }
        }
    }

    fn hints(&self, packet: &Packet, now: Instant) -> bool {
        let stayed = || self.profile.clock.stay(packet, now);
        let class = packet.header.dscp << 2 | packet.ecn.code_point();
        self.ce_threshold.is_some_and(|threshold| stayed() > threshold)
            && class & self.selector.1 == self.selector.0
    }

    fn on_empty(&mut self, _now: Instant) {
        // Behind a drop, every implementation tests the next packet, finds none and resets the
        // timer.
        if self.profile.empty_resets || self.next != Next::First {
            self.first_above = None;
        }
        self.next = Next::First;
        self.dropping = false;
    }

    fn on_cut(&mut self, packets: u32, _now: Instant) {
        self.law.add(packets);
    }

    fn strength(&self) -> (&'static str, f64) {
        ("max_count", f64::from(self.law.count()))
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("count", f64::from(self.law.count()));
        show("dropping", f64::from(u8::from(self.dropping)));
    }
}

#[cfg(test)]
mod tests;
