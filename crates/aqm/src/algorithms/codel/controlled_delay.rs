//! CoDel as a judge of one queue's head, for every discipline that has it.

use packet::params::Params;
use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

use super::law::{Law, UNIT};
pub(crate) use super::{CE_THRESHOLD, CE_THRESHOLD_MASK, CE_THRESHOLD_SELECTOR, INTERVAL, TARGET};
use crate::Verdict;
use crate::shells::departure::AtDeparture;

/// When too little waits to judge a packet, however long it stayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// It leaves no more than this many bytes.
    AtMost,
    /// It leaves fewer.
    Below,
    /// It leaves no more than the largest packet seen.
    LargestSeen,
}

/// What of a time a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// All of it.
    Exact,
    /// Whole units of 1,024 ns: of now, of a packet's arrival, of target, interval and threshold
    /// (Linux `codel_get_time`, `CODEL_SHIFT`).
    Units,
    /// As `Units`, but of how long a packet stayed, not of when it came (ns-3 `Time2CoDel`).
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
    /// How long `packet` has stayed.
    #[inline]
    fn stay(self, packet: &Packet, now: Instant) -> Duration {
        match self {
            Clock::Exact => now.since(packet.arrived),
            Clock::Units => self.now(now).since(self.now(packet.arrived)),
            Clock::UnitsOfStays => self.span(now.since(packet.arrived)),
        }
    }
}

/// What distinguishes the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// The test against a queue too short to judge.
    pub least: Least,
    /// Whether the first signal needs more than an interval, not just one.
    strictly_later: bool,
    /// Whether an empty queue forgets since when packets stay too long.
    empty_resets: bool,
    /// Whether a series that follows closely on another begins with how many signals that one
    /// added, and not with one less than it ended with.
    delta_rule: bool,
    /// Whether the signal after a mark is planned from now, not from when that one was due.
    plans_marks_from_now: bool,
    /// Whether roots are Linux's approximations.
    newton: bool,
    /// What times are cut to.
    clock: Clock,
}

impl Profile {
    pub const RFC8289: Profile = Profile {
        least: Least::AtMost,
        strictly_later: false,
        empty_resets: true,
        delta_rule: true,
        plans_marks_from_now: false,
        newton: false,
        clock: Clock::Exact,
    };
    pub const LINUX: Profile =
        Profile { strictly_later: true, newton: true, clock: Clock::Units, ..Profile::RFC8289 };
    pub const NS3: Profile = Profile {
        least: Least::Below,
        plans_marks_from_now: true,
        empty_resets: false,
        clock: Clock::UnitsOfStays,
        ..Profile::LINUX
    };
    pub const NS2: Profile =
        Profile { least: Least::LargestSeen, delta_rule: false, ..Profile::RFC8289 };
}

/// Which packet of one call is judged next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    First,
    /// The packet behind the one whose drop began a series: it is delivered.
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
    /// The threshold holds for packets whose traffic class, masked, is this: value and mask.
    selector: Option<(u8, u8)>,
    least: u64,
    law: Law,
    last_count: u32,
    /// When packets will have stayed too long for an interval, if they do now.
    first_above: Option<Instant>,
    /// When the next signal of the series is, or would have been, due.
    drop_next: Option<Instant>,
    dropping: bool,
    next: Next,
}

impl Control {
    /// A queue that has seen no packet, with the parameters `target`, `interval` and
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
            selector: None,
            least,
            law: Law::new(interval, profile.newton),
            last_count: 0,
            first_above: None,
            drop_next: None,
            dropping: false,
            next: Next::First,
        }
    }

    /// The threshold for marks holds only for packets whose traffic class, masked by `mask`, is
    /// `selector`; a `mask` of 0 lets it hold for all.
    pub fn selecting(self, selector: u8, mask: u8) -> Self {
        Control { selector: (mask != 0).then_some((selector, mask)), ..self }
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
            // One less than before, if that is at least one.
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
        }
        if !self.due(now) {
            return Verdict::Pass;
        }
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
            && self.selector.is_none_or(|(selector, mask)| class & mask == selector)
    }

    fn on_empty(&mut self, _now: Instant) {
        // Behind a drop, every program looks at the packet that is not there.
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
mod tests {
    use super::*;

    #[test]
    fn a_series_soon_after_another_begins_with_what_that_one_added() {
        // RFC 8289 section 5.5: less than 16 intervals of 100 ms after it.
        for (late_ms, count, wait_ns) in
            [(1000, 6, 40_824_829), (1599, 6, 40_824_829), (1600, 1, 100_000_000)]
        {
            let params = Params::defaults(super::super::FIELDS);
            let mut control = Control::new(Profile::RFC8289, &params, 1500);
            control.law.restart(10);
            control.last_count = 4;
            control.drop_next = Some(Instant::ZERO);
            let now = Instant::from_nanos(late_ms * 1_000_000);
            control.begin_series(now);
            assert_eq!((control.law.count(), control.last_count), (count, count));
            assert_eq!(control.drop_next, Some(now + Duration::from_nanos(wait_ns)));
        }
    }
    #[test]
    fn linux_and_ns3_see_whole_units_of_1024_ns() {
        // Above the target from 1,023 ns on, which is unit 0: an interval of 97,656 units later the
        // delay must be longer still, at unit 97,657.
        let params = Params::defaults(super::super::FIELDS);
        let packet = |arrived: u64| Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::NotEct,
            arrived: Instant::from_nanos(arrived),
            header: packet::Header::default(),
        };
        let begin = 1_000_000 * 1_024 + 1_023;
        for (profile, last) in [
            (Profile::LINUX, (1_000_000 + 97_657) * 1_024),
            (Profile::NS3, (1_000_000 + 97_657) * 1_024),
            (Profile::RFC8289, begin + 100_000_000),
        ] {
            let mut control = Control::new(profile, &params, 1500);
            let mut late = |at| control.too_long(&packet(0), 9000, Instant::from_nanos(at));
            assert!(!late(begin) && !late(last - 1), "{profile:?}");
            assert!(late(last), "{profile:?}");
        }
        // 4,882 units are the target: Linux cuts arrival and departure, ns-3 the stay.
        let stays = |profile: Profile, arrived, left| {
            profile.clock.stay(&packet(arrived), Instant::from_nanos(left)).nanos() / 1_024
        };
        assert_eq!([Profile::LINUX, Profile::NS3].map(|of| stays(of, 1_023, 1_024)), [1, 0]);
    }

    #[test]
    fn a_threshold_for_some_marks_the_packets_of_its_class() {
        // Linux since 5.16: 1 under the mask 3 is ECT(1), whatever the code point above it.
        let given = [("ce_threshold".to_string(), packet::params::Raw::Text("1 ms".into()))];
        let params = Params::check(super::super::FIELDS, &given).unwrap();
        let hints = |selector, mask, ecn| {
            let control = Control::new(Profile::LINUX, &params, 1500).selecting(selector, mask);
            let header = packet::Header { dscp: 46, ..Default::default() };
            let packet =
                Packet { id: 0, flow: 0, bytes: 1500, ecn, arrived: Instant::ZERO, header };
            control.hints(&packet, Instant::from_nanos(2_000_000))
        };
        use packet::Ecn::{Ce, Ect0, Ect1};
        assert_eq!([Ect1, Ect0, Ce].map(|ecn| hints(1, 3, ecn)), [true, false, false]);
        assert_eq!([Ect1, Ect0].map(|ecn| hints(0, 0, ecn)), [true, true], "no mask: all");
        assert_eq!([Ect1, Ect0].map(|ecn| hints(46 << 2, 0xfc, ecn)), [true, true], "by DSCP");
    }

    #[test]
    fn a_series_of_ns2_soon_after_another_begins_with_one_less_than_that_one_reached() {
        for (profile, count) in [(Profile::RFC8289, 6), (Profile::NS2, 9)] {
            let mut control = Control::new(profile, &Params::defaults(super::super::FIELDS), 1500);
            control.law.restart(10);
            control.last_count = 4;
            control.drop_next = Some(Instant::ZERO);
            control.begin_series(Instant::from_nanos(1_000_000_000));
            assert_eq!(control.law.count(), count, "{profile:?}");
        }
    }

    #[test]
    fn an_emptied_queue_forgets_since_when_packets_stay_too_long_but_in_ns3() {
        let params = Params::defaults(super::super::FIELDS);
        let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let packet = |at: Instant| Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::NotEct,
            arrived: at,
            header: packet::Header::default(),
        };
        for (profile, signals) in
            [(Profile::RFC8289, false), (Profile::LINUX, false), (Profile::NS3, true)]
        {
            let mut control = Control::new(profile, &params, 1500);
            assert!(!control.too_long(&packet(ms(0)), 9000, ms(10)));
            // Other queues are served: this one is empty when its turn comes, and then is not.
            control.on_empty(ms(11));
            assert_eq!(control.too_long(&packet(ms(100)), 9000, ms(120)), signals, "{profile:?}");
        }
    }
}
