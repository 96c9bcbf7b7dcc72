//! COBALT, CoDel and BLUE alternate (J. Morton, P. Heist, T. Høiland-Jørgensen, J. Morton, in
//! Linux `sch_cake`, 2018; T. Høiland-Jørgensen, D. Taht, J. Morton, *Piece of CAKE*, LANMAN
//! 2018).
//!
//! The idea in five lines. CoDel signals flows that answer; against those that do not, it lets
//! the queue grow until the buffer is full. There BLUE takes over: each overflow, at most one per
//! `target`, raises a probability with which packets are dropped whatever their ECN field, and
//! each time the queue is found empty it falls. CoDel is rewritten so that one clock,
//! `drop_next`, serves as the timer before the first signal and between signals, and the count
//! of signals falls again, step by step, once packets are on time.
//!
//! One queue, first come, first served; the last packet of the queue is never dropped (the rule
//! of `sch_cake`).

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Backlog, Duration, Instant, Packet, Rng, Why, math};

use crate::shells::departure::{AtDeparture, DepartureFifo, Rules};
use crate::{Built, Entry, Line, Verdict, buffer};

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "cobalt",
    summary: "Controlled delay, and random drops that grow while the buffer overflows.",
    year: 2018,
    source: "Linux sch_cake; ns-3 CobaltQueueDisc; Høiland-Jørgensen, Taht and Morton, LANMAN 2018",
    ecn: "marks in place of every drop by CoDel if ecn is on and the packet is ECN-capable; the \
          random drops of its other half ignore ECN; a full buffer drops",
    units: "time",
    deviations: "One FIFO that refuses arrivals when full, each of which raises the probability \
                 (sch_cake: each packet dropped from the fattest queue). Roots are exact \
                 (sch_cake: 16 accurate values, then Newton steps); a random draw u drops if \
                 u < p_drop. ns-3 raises the probability also if a packet stayed longer than \
                 400 ms: not here. A queue never used counts as last visited long ago.",
    fields: FIELDS,
    build,
};

const FIELDS: &[Field] = &[
    Field {
        name: "target",
        meaning: "Time in the queue that is acceptable for good, and least time between changes \
                  of the drop probability.",
        kind: Kind::Real { unit: Unit::Time, min: 0.0, max: 1e3, open: false },
        default: Value::Real(0.005),
        source: "read: Linux sch_cake, ns-3",
    },
    Field {
        name: "interval",
        meaning: "How long packets must stay too long before the first signal.",
        kind: buffer::TIME,
        default: Value::Real(0.1),
        source: "read: Linux sch_cake, ns-3",
    },
    Field {
        name: "p_inc",
        meaning: "By how much an overflow raises the drop probability.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false },
        default: Value::Real(1.0 / 256.0),
        source: "read: Linux sch_cake, ns-3",
    },
    Field {
        name: "p_dec",
        meaning: "By how much an empty queue lowers it.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false },
        default: Value::Real(1.0 / 4096.0),
        source: "read: Linux sch_cake, ns-3",
    },
    Field {
        name: "limit",
        meaning: "Packets that may wait; 1000 unless limit_bytes is given.",
        kind: buffer::LIMIT,
        default: Value::Unset,
        source: "constructed, as Linux sch_codel",
    },
    buffer::LIMIT_BYTES,
    buffer::ECN,
];

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let judge = Cobalt::new(Numbers {
        target: params.time("target"),
        interval: params.time("interval"),
        p_inc: params.real("p_inc"),
        p_dec: params.real("p_dec"),
    });
    let rules = Rules { ecn: params.switch("ecn"), keep_last: true };
    let fifo = DepartureFifo::new(judge, buffer::room(params, 1000), rules);
    Ok(Built::Discipline(Box::new(fifo)))
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    target: Duration,
    interval: Duration,
    p_inc: f64,
    p_dec: f64,
}

/// The state of one queue.
#[derive(Clone, Debug)]
struct Cobalt {
    numbers: Numbers,
    count: u32,
    dropping: bool,
    /// Whether the visit that signalled was later than planned even for the next signal.
    late: bool,
    /// When the next signal is due, or the first one after it is armed.
    drop_next: Instant,
    p_drop: f64,
    /// When that was last changed.
    changed: Option<Instant>,
}

impl Cobalt {
    const fn new(numbers: Numbers) -> Self {
        Cobalt {
            numbers,
            count: 0,
            dropping: false,
            late: false,
            drop_next: Instant::ZERO,
            p_drop: 0.0,
            changed: None,
        }
    }

    fn after(&self, t: Instant) -> Instant {
        let root = math::sqrt(f64::from(self.count.max(1)));
        let wait = self.numbers.interval.nanos() as f64 / root + 0.5;
        t + Duration::from_nanos(wait as u64)
    }

    fn due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// CoDel's half: whether a packet that stayed for `sojourn` is signalled, and whether the
    /// visit was later than planned.
    fn visit(&mut self, sojourn: Duration, now: Instant) -> (bool, bool) {
        let mut due = self.due(now);
        let mut late = now > self.drop_next;
        if sojourn > self.numbers.target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            self.count = self.count.saturating_add(1);
            self.drop_next = self.after(self.drop_next);
            return (true, now > self.drop_next);
        }
        while due {
            self.count -= 1;
            self.drop_next = self.after(self.drop_next);
            late = now > self.drop_next;
            due = self.due(now);
        }
        (false, late)
    }

    /// BLUE's half.
    fn coin(&self, rng: &mut Rng) -> bool {
        self.p_drop > 0.0 && rng.uniform() < self.p_drop
    }

    /// Whether the probability may change again.
    fn may_change(&self, now: Instant) -> bool {
        self.changed.is_none_or(|at| now.since(at) > self.numbers.target)
    }
}

impl AtDeparture for Cobalt {
    fn on_departure(
        &mut self,
        packet: &Packet,
        _left: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let (signal, late) = self.visit(now.since(packet.arrived), now);
        let coin = self.coin(rng);
        if self.count == 0 {
            self.drop_next = now + self.numbers.interval;
        } else if late && !signal && !coin {
            self.drop_next = now;
        }
        self.late = late;
        match (coin, signal) {
            (true, _) => Verdict::Drop(Why::Forced),
            (false, true) => Verdict::Signal(Why::Early),
            (false, false) => Verdict::Pass,
        }
    }

    fn on_signalled(&mut self, marked: bool, now: Instant) {
        if marked && self.late {
            self.drop_next = now;
        }
    }

    fn on_refused(&mut self, now: Instant) {
        if self.may_change(now) {
            self.p_drop = (self.p_drop + self.numbers.p_inc).min(1.0);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    fn on_empty(&mut self, now: Instant) {
        if self.p_drop > 0.0 && self.may_change(now) {
            self.p_drop = (self.p_drop - self.numbers.p_dec).max(0.0);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.due(now) {
            self.count -= 1;
            self.drop_next = self.after(self.drop_next);
        }
    }

    fn strength(&self) -> (&'static str, f64) {
        ("max_p_drop", self.p_drop)
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("count", f64::from(self.count));
        show("p_drop", self.p_drop);
        show("dropping", f64::from(u8::from(self.dropping)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: Numbers = Numbers {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        p_inc: 1.0 / 256.0,
        p_dec: 1.0 / 4096.0,
    };

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// A packet that stayed so long is visited: whether it is signalled (and then dropped).
    fn visit(cobalt: &mut Cobalt, at: u64, sojourn: u64) -> bool {
        let arrived = Instant::from_nanos((at.saturating_sub(sojourn)) * 1_000_000);
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::NotEct,
            arrived,
            header: Default::default(),
        };
        let mut rng = Rng::named(1, "cobalt");
        let verdict = cobalt.on_departure(&packet, Backlog::default(), ms(at), &mut rng);
        assert_ne!(verdict, Verdict::Drop(Why::Forced));
        verdict != Verdict::Pass
    }

    #[test]
    fn overflows_raise_and_empty_queues_lower_the_probability() {
        let mut cobalt = Cobalt::new(NUMBERS);
        for n in 0..3 {
            cobalt.on_refused(ms(100 + 6 * n));
            cobalt.on_refused(ms(100 + 6 * n + 5)); // too soon
        }
        assert_eq!(cobalt.p_drop, 3.0 / 256.0);
        for n in 0..16 {
            cobalt.on_empty(ms(200 + 6 * n));
        }
        assert_eq!(cobalt.p_drop, 0.0078125);
    }

    #[test]
    fn one_clock_arms_spaces_and_releases() {
        let mut cobalt = Cobalt::new(NUMBERS);
        for (at, sojourn, signal, count, next) in [
            (0, 1, false, 0, 100.0),
            (50, 6, false, 1, 150.0),
            (149, 20, false, 1, 150.0),
            (150, 20, true, 2, 220.711),
            (221, 20, true, 3, 278.446),
            (280, 3, false, 2, 349.156),
        ] {
            // At 0 nothing can have stayed 1 ms; any stay below the target will do.
            assert_eq!(visit(&mut cobalt, at, sojourn), signal, "{at}");
            assert_eq!(cobalt.count, count, "{at}");
            assert!((cobalt.drop_next.nanos() as f64 / 1e6 - next).abs() < 5e-4, "{at}");
        }
        cobalt.on_empty(ms(360));
        assert_eq!(cobalt.count, 1);
        assert!((cobalt.drop_next.nanos() as f64 / 1e6 - 449.156).abs() < 5e-4);
    }

    #[test]
    fn a_late_first_packet_arms_the_clock_for_at_once() {
        let mut cobalt = Cobalt { drop_next: ms(100), ..Cobalt::new(NUMBERS) };
        assert!(!visit(&mut cobalt, 300, 20));
        assert_eq!((cobalt.dropping, cobalt.count, cobalt.drop_next), (true, 1, ms(300)));
        assert!(visit(&mut cobalt, 301, 20));
    }

    /// Of a packet that stayed 20 ms, visited at 500 ms by a clock that is far behind.
    fn catch_up(p_drop: f64, plan: u64, marked: bool) -> (Verdict, Instant) {
        let mut cobalt = Cobalt {
            count: 1,
            dropping: true,
            drop_next: ms(plan),
            p_drop,
            ..Cobalt::new(NUMBERS)
        };
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::Ect0,
            arrived: ms(480),
            header: Default::default(),
        };
        let mut rng = Rng::named(1, "cobalt");
        let verdict = cobalt.on_departure(&packet, Backlog::default(), ms(500), &mut rng);
        if matches!(verdict, Verdict::Signal(_)) {
            cobalt.on_signalled(marked, ms(500));
        }
        (verdict, cobalt.drop_next)
    }

    #[test]
    fn a_clock_that_is_behind_catches_up_by_drops_only() {
        // Count 2 follows 100 ms by 70.711 ms, still long ago.
        let next = Instant::from_nanos(170_710_678);
        assert_eq!(catch_up(0.0, 100, false), (Verdict::Signal(Why::Early), next));
        assert_eq!(catch_up(0.0, 100, true), (Verdict::Signal(Why::Early), ms(500)));
        assert_eq!(catch_up(1.0, 100, true), (Verdict::Drop(Why::Forced), next), "the coin drops");
    }

    #[test]
    fn the_coin_leaves_the_clock_behind() {
        let late = |p_drop| {
            let mut cobalt = Cobalt { drop_next: ms(100), p_drop, ..Cobalt::new(NUMBERS) };
            let packet = Packet {
                id: 0,
                flow: 0,
                bytes: 1500,
                ecn: packet::Ecn::Ect0,
                arrived: ms(280),
                header: Default::default(),
            };
            let mut rng = Rng::named(1, "cobalt");
            cobalt.on_departure(&packet, Backlog::default(), ms(300), &mut rng);
            cobalt.drop_next
        };
        assert_eq!((late(0.0), late(1.0)), (ms(300), ms(400)));
    }
}
