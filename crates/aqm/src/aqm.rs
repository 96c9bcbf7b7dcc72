//! The interface of AQM algorithms, and [`Judged`], which wraps an algorithm and carries out its
//! verdicts.

use packet::{Backlog, DropReason, Ecn, Instant, Packet, Rng};

use crate::{Admission, BufferLimit, Gate, Idle};

/// What an algorithm decides about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet may join the queue.
    Pass,
    /// A congestion signal: the queue marks the packet if ECN is on and the packet is ECN-capable,
    /// and drops it otherwise.
    Signal(DropReason),
    /// The packet is dropped, whatever its ECN field says.
    Drop(DropReason),
}

/// Whether the buffer limit is tested before or after the algorithm's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOrder {
    /// The limit is tested first: an overflow draws no random number and changes no state except in
    /// [`Aqm::on_overflow`] (PI, PIE, BLUE, …).
    BeforeJudge,
    /// The limit is tested last: the algorithm has already counted the packet and may have
    /// signalled it (the RED family).
    AfterJudge,
}

/// An AQM algorithm. It decides on an arriving packet by the packet's size and flow and by the
/// backlog, and never holds a packet. The queue that calls it carries out the decision: a mark or a
/// drop.
///
/// Every method has a default; drop-tail needs none of them.
pub trait Aqm: Send {
    /// Decides on `packet`, which finds `backlog` waiting (without itself and the packet being
    /// transmitted).
    fn on_arrival(
        &mut self,
        _packet: &Packet,
        _backlog: Backlog,
        _now: Instant,
        _rng: &mut Rng,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Whether the buffer limit is tested before or after [`Aqm::on_arrival`].
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::AfterJudge
    }

    /// Reports how a [`Verdict::Signal`] was carried out: the packet was marked and queued, or is
    /// about to be dropped. Not called if the buffer limit drops a packet that was to be marked.
    fn on_signalled(&mut self, _marked: bool) {}

    /// The buffer limit drops the arrival; a call of [`Aqm::on_dropped`] follows.
    fn on_overflow(&mut self, _backlog: Backlog, _now: Instant) {}

    /// The clock by which the algorithm's average ages while the line is idle, if it has one. The
    /// defaults of [`Aqm::on_dropped`] and [`Aqm::on_idle`] keep it up to date: an arrival that is
    /// dropped does not end the idle time.
    fn idle_clock(&mut self) -> Option<&mut Idle> {
        None
    }

    /// The arrival is dropped, for whatever reason, the algorithm's own verdict included.
    fn on_dropped(&mut self, _why: DropReason) {
        if let Some(idle) = self.idle_clock() {
            idle.resume();
        }
    }

    /// The line finished its last packet at `now` and found the queue empty.
    fn on_idle(&mut self, now: Instant) {
        if let Some(idle) = self.idle_clock() {
            idle.begin(now);
        }
    }

    /// When [`Aqm::on_tick`] must be called next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }
    /// The algorithm's periodic update.
    fn on_tick(&mut self, _backlog: Backlog, _now: Instant, _rng: &mut Rng) {}

    /// Changes a parameter during a run. Returns whether the algorithm has a parameter `name` that
    /// can be changed, and accepts `value`.
    fn set(&mut self, _name: &str, _value: f64) -> bool {
        false
    }

    /// Shows inner state (average, probability, …) by name.
    fn gauges(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// An AQM algorithm with its buffer limit and its ECN switch. It makes a [`Gate`] of an [`Aqm`]: it
/// turns a signal at arrival into a mark or a drop.
///
/// Disciplines that decide elsewhere than at arrival do this in queues of their own (`shells/`),
/// never in the algorithm.
pub struct Judged<A> {
    judge: A,
    limit: BufferLimit,
    ecn: bool,
    /// Whether a signalled packet that cannot be marked is queued nevertheless (`nodrop`).
    lenient: bool,
}

impl<A: Aqm> Judged<A> {
    /// The algorithm `judge` with a buffer `limit`; `ecn` allows marks in place of signalled drops.
    pub const fn new(judge: A, limit: BufferLimit, ecn: bool) -> Self {
        Judged { judge, limit, ecn, lenient: false }
    }

    /// With `nodrop` a signalled packet that cannot be marked is queued as if it had passed.
    pub(crate) const fn lenient(mut self, nodrop: bool) -> Self {
        self.lenient = nodrop;
        self
    }

    /// The algorithm, for a discipline that reports more events to it than a gate does.
    pub(crate) const fn judge_mut(&mut self) -> &mut A {
        &mut self.judge
    }

    fn drop_arrival(&mut self, why: DropReason) -> Admission {
        self.judge.on_dropped(why);
        Admission::Dropped(why)
    }

    fn overflow(&mut self, backlog: Backlog, now: Instant) -> Admission {
        self.judge.on_overflow(backlog, now);
        self.drop_arrival(DropReason::Overflow)
    }
}

impl<A: Aqm> Gate for Judged<A> {
    fn admit(
        &mut self,
        packet: &mut Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Admission {
        let fits = self.limit.admits(backlog, packet.bytes);
        if !fits && self.judge.limit_order() == LimitOrder::BeforeJudge {
            return self.overflow(backlog, now);
        }
        let mark = match self.judge.on_arrival(packet, backlog, now, rng) {
            Verdict::Pass => None,
            Verdict::Signal(why) if self.ecn && packet.ecn.can_be_marked() => Some(why),
            Verdict::Signal(_) if self.lenient => None,
            Verdict::Signal(why) => {
                self.judge.on_signalled(false);
                return self.drop_arrival(why);
            }
            Verdict::Drop(why) => return self.drop_arrival(why),
        };
        if !fits {
            return self.overflow(backlog, now);
        }
        match mark {
            None => Admission::Queued,
            Some(why) => {
                packet.ecn = Ecn::Ce;
                self.judge.on_signalled(true);
                Admission::Marked(why)
            }
        }
    }

    fn on_idle(&mut self, now: Instant) {
        self.judge.on_idle(now);
    }
    fn next_tick(&self) -> Option<Instant> {
        self.judge.next_tick()
    }
    fn on_tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.judge.on_tick(backlog, now, rng);
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.judge.set(name, value)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.judge.gauges(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fit;

    /// An algorithm that returns the verdict set by the test and records the calls that it gets.
    struct Puppet {
        verdict: Verdict,
        order: LimitOrder,
        calls: Vec<String>,
    }

    impl Aqm for Puppet {
        fn on_arrival(&mut self, _: &Packet, _: Backlog, _: Instant, _: &mut Rng) -> Verdict {
            self.calls.push("arrival".into());
            self.verdict
        }
        fn limit_order(&self) -> LimitOrder {
            self.order
        }
        fn on_signalled(&mut self, marked: bool) {
            self.calls.push(format!("signalled {marked}"));
        }
        fn on_overflow(&mut self, _: Backlog, _: Instant) {
            self.calls.push("overflow".into());
        }
        fn on_dropped(&mut self, why: DropReason) {
            self.calls.push(format!("dropped {}", why.name()));
        }
    }

    /// Offers a packet to a buffer of three packets that holds `waiting`; the algorithm returns
    /// `verdict`. Returns the admission, the packet's ECN field afterwards, and the calls made.
    fn admit(
        verdict: Verdict,
        order: LimitOrder,
        ecn: (bool, Ecn),
        waiting: u32,
    ) -> (Admission, Ecn, String) {
        let puppet = Puppet { verdict, order, calls: Vec::new() };
        let mut shell = Judged::new(puppet, BufferLimit::of_packets(3, Fit::Whole), ecn.0);
        let mut packet = Packet {
            id: 1,
            flow: 1,
            bytes: 100,
            ecn: ecn.1,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let backlog = Backlog { packets: waiting, bytes: 100 * u64::from(waiting) };
        let admission =
            shell.admit(&mut packet, backlog, Instant::ZERO, &mut Rng::named(1, "shell"));
        (admission, packet.ecn, shell.judge.calls.join(", "))
    }

    use LimitOrder::{AfterJudge, BeforeJudge};

    #[test]
    fn a_signal_marks_only_with_the_switch_on_and_a_willing_packet() {
        let signal = Verdict::Signal(DropReason::Early);
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            let (admission, after, calls) = admit(signal, AfterJudge, (true, ecn), 0);
            assert_eq!((admission, after), (Admission::Marked(DropReason::Early), Ecn::Ce));
            assert_eq!(calls, "arrival, signalled true");
            let (admission, after, calls) = admit(signal, AfterJudge, (false, ecn), 0);
            assert_eq!((admission, after), (Admission::Dropped(DropReason::Early), ecn));
            assert_eq!(calls, "arrival, signalled false, dropped early");
        }
        let (admission, after, _) = admit(signal, AfterJudge, (true, Ecn::NotEct), 0);
        assert_eq!((admission, after), (Admission::Dropped(DropReason::Early), Ecn::NotEct));
    }

    #[test]
    fn with_nodrop_what_cannot_be_marked_waits() {
        for (verdict, ecn, expected) in [
            (Verdict::Signal(DropReason::Early), Ecn::NotEct, Admission::Queued),
            (Verdict::Signal(DropReason::Early), Ecn::Ect0, Admission::Marked(DropReason::Early)),
            (
                Verdict::Drop(DropReason::Forced),
                Ecn::NotEct,
                Admission::Dropped(DropReason::Forced),
            ),
        ] {
            let puppet = Puppet { verdict, order: AfterJudge, calls: Vec::new() };
            let limit = BufferLimit::of_packets(3, Fit::Whole);
            let mut shell = Judged::new(puppet, limit, true).lenient(true);
            let mut packet = Packet {
                id: 1,
                flow: 1,
                bytes: 100,
                ecn,
                arrived: Instant::ZERO,
                header: Default::default(),
            };
            let rng = &mut Rng::named(1, "shell");
            let admission = shell.admit(&mut packet, Backlog::default(), Instant::ZERO, rng);
            assert_eq!(admission, expected, "{ecn:?}");
        }
    }

    #[test]
    fn a_drop_verdict_ignores_ecn() {
        let forced = Verdict::Drop(DropReason::Forced);
        let (admission, after, calls) = admit(forced, AfterJudge, (true, Ecn::Ect0), 0);
        assert_eq!((admission, after), (Admission::Dropped(DropReason::Forced), Ecn::Ect0));
        assert_eq!(calls, "arrival, dropped forced");
    }

    #[test]
    fn the_judge_chooses_when_the_limit_is_tested() {
        let overflow = Admission::Dropped(DropReason::Overflow);
        let (admission, _, calls) = admit(Verdict::Pass, BeforeJudge, (true, Ecn::Ect0), 3);
        assert_eq!((admission, calls.as_str()), (overflow, "overflow, dropped overflow"));
        let (admission, ecn, calls) =
            admit(Verdict::Signal(DropReason::Early), AfterJudge, (true, Ecn::Ect0), 3);
        assert_eq!((admission, ecn), (overflow, Ecn::Ect0));
        assert_eq!(calls, "arrival, overflow, dropped overflow");
        // The algorithm's own drop comes first: its reason is reported, not an overflow.
        let (admission, _, _) =
            admit(Verdict::Drop(DropReason::Forced), AfterJudge, (true, Ecn::Ect0), 3);
        assert_eq!(admission, Admission::Dropped(DropReason::Forced));
    }
}
