//! A discipline against a second transcription of its pseudocode: the same arrivals, the same
//! random draws, and the same decision about every packet.

use std::collections::VecDeque;

use aqmlab_aqm::{Admission, Cx, Discipline};
use packet::{Ecn, Event, Instant, Packet, Rng};

use super::{Pairs, build};

/// The line's rate in bit/s.
pub const RATE: u64 = 10_000_000;

/// An arrival as a transcription sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub size: u64,
    pub flow: u64,
    pub ecn: Ecn,
    /// What waits before it.
    pub packets: u64,
    pub bytes: u64,
    pub now: u64,
}

impl Arrival {
    pub fn ect(&self) -> bool {
        self.ecn != Ecn::NotEct
    }
}

/// What waits, and since when its head has.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub packets: u64,
    pub bytes: u64,
    pub head: Option<u64>,
    pub now: u64,
}

/// A second transcription. Times are in nanoseconds.
pub trait Reference {
    /// The first update and the time between updates.
    fn clock(&self) -> Option<(u64, u64)> {
        None
    }
    fn tick(&mut self, _queue: Queue) {}
    /// The period of a second kind of update, which comes after the first kind's of its instant.
    fn second_clock(&self) -> Option<u64> {
        None
    }
    fn second_tick(&mut self, _queue: Queue) {}
    fn arrive(&mut self, arrival: Arrival, rng: &mut Rng) -> Admission;
    /// A packet of `size` bytes that waited `sojourn` begins its transmission and leaves `queue`;
    /// whether it is marked if it can be.
    fn depart(&mut self, _size: u64, _sojourn: u64, _queue: Queue, _rng: &mut Rng) -> bool {
        false
    }
    /// The line found the queue empty.
    fn idle(&mut self, _now: u64) {}
    /// Gauges that both must show.
    fn state(&self) -> Vec<(&'static str, f64)>;
}

/// Random arrivals in phases of overload, moderate load, and sparse load with idle gaps.
struct Traffic {
    rng: Rng,
    now: u64,
    mean_gap: f64,
}

impl Traffic {
    fn next(&mut self) -> (u64, u64, u64, Ecn) {
        let rng = &mut self.rng;
        if rng.below(1500) == 0 {
            self.mean_gap = [2e5, 5e5, 7e5, 8e5, 3e6][rng.below(5) as usize];
        }
        let mut gap = rng.exponential(self.mean_gap) as u64;
        if rng.below(700) == 0 {
            gap += [3_000_000, 80_000_000, 2_000_000_000, 9_000_000_000][rng.below(4) as usize];
        }
        self.now += gap;
        let size = [40, 552, 1000, 1500, 1500][rng.below(5) as usize];
        // A few fat flows among many thin ones.
        let flow = if rng.below(2) == 0 { rng.below(4) } else { 10 + rng.below(300) };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
        (self.now, size, flow, ecn)
    }
}

/// What happened to the packets of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub queued: u32,
    pub marked: u32,
    pub early: u32,
    pub forced: u32,
    pub overflow: u32,
}

struct Duel<R> {
    product: Box<dyn Discipline>,
    reference: R,
    draws: (Rng, Rng),
    clock: Option<(u64, u64)>,
    second_clock: Option<(u64, u64)>,
    waiting: VecDeque<(u32, u64, u64, Ecn)>,
    bytes: u64,
    busy_until: Option<u64>,
    tally: Tally,
}

impl<R: Reference> Duel<R> {
    fn ask<T>(&mut self, now: u64, act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T) -> T {
        self.ask_and_hear(now, act).0
    }

    fn ask_and_hear<T>(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T,
    ) -> (T, Vec<Event>) {
        let mut heard = Vec::new();
        let mut out = |event| heard.push(event);
        let now = Instant::from_nanos(now);
        let answer =
            act(&mut *self.product, &mut Cx { now, rng: &mut self.draws.0, out: &mut out });
        (answer, heard)
    }

    fn queue(&self, now: u64) -> Queue {
        Queue {
            packets: self.waiting.len() as u64,
            bytes: self.bytes,
            head: self.waiting.front().map(|(_, _, since, _)| *since),
            now,
        }
    }

    fn ticks_until(&mut self, now: u64) {
        loop {
            let first = self.clock.map_or(u64::MAX, |(due, _)| due);
            let second = self.second_clock.map_or(u64::MAX, |(due, _)| due);
            let due = first.min(second);
            if due > now {
                return;
            }
            assert_eq!(self.product.next_tick(), Some(Instant::from_nanos(due)));
            self.ask(due, |product, cx| product.on_tick(cx));
            let queue = self.queue(due);
            let clock = if first <= second {
                self.reference.tick(queue);
                &mut self.clock
            } else {
                self.reference.second_tick(queue);
                &mut self.second_clock
            };
            *clock = clock.map(|(due, period)| (due + period, period));
            self.compare();
        }
    }

    fn serve(&mut self, now: u64) {
        let sent = self.ask(now, |product, cx| product.dequeue(cx));
        let Some((id, size, since, ecn)) = self.waiting.pop_front() else {
            assert_eq!(sent, None);
            self.busy_until = None;
            self.reference.idle(now);
            return;
        };
        self.bytes -= size;
        let queue = self.queue(now);
        let signal = self.reference.depart(size, now - since, queue, &mut self.draws.1);
        let marked = signal && ecn != Ecn::NotEct;
        self.tally.marked += u32::from(marked);
        let ecn = if marked { Ecn::Ce } else { ecn };
        let sent = sent.expect("a packet waits");
        assert_eq!((sent.id, sent.ecn), (id, ecn));
        self.busy_until = Some(now + (size * 8_000_000_000).div_ceil(RATE));
    }

    fn advance(&mut self, now: u64) {
        while let Some(end) = self.busy_until.filter(|end| *end <= now) {
            self.ticks_until(end);
            self.serve(end);
        }
        self.ticks_until(now);
    }

    fn arrive(&mut self, n: u32, (now, size, flow, ecn): (u64, u64, u64, Ecn)) {
        self.advance(now);
        let Queue { packets, bytes, .. } = self.queue(now);
        let arrival = Arrival { size, flow, ecn, packets, bytes, now };
        let expected = self.reference.arrive(arrival, &mut self.draws.1);
        let arrived = Instant::from_nanos(now);
        let packet =
            Packet { id: n, flow, bytes: size as u32, ecn, arrived, header: Default::default() };
        let (_, heard) = self.ask_and_hear(now, |product, cx| product.enqueue(packet, cx));
        let said = match &heard[..] {
            [Event::Queued { .. }] => Admission::Queued,
            [Event::Marked { why, .. }, Event::Queued { .. }] => Admission::Marked(*why),
            [Event::Dropped { why, .. }] => Admission::Dropped(*why),
            other => panic!("{other:?}"),
        };
        assert_eq!(said, expected, "packet {n}, {arrival:?}");
        use packet::Why::{Early, Forced, Overflow, Superseded};
        match said {
            Admission::Queued => self.tally.queued += 1,
            Admission::Marked(_) => self.tally.marked += 1,
            Admission::Dropped(Early) => self.tally.early += 1,
            Admission::Dropped(Forced) => self.tally.forced += 1,
            Admission::Dropped(Overflow) => self.tally.overflow += 1,
            Admission::Dropped(Superseded) => panic!("no acknowledgement came"),
        }
        if !matches!(said, Admission::Dropped(_)) {
            let ecn = if matches!(said, Admission::Marked(_)) { Ecn::Ce } else { ecn };
            self.waiting.push_back((n, size, now, ecn));
            self.bytes += size;
            if self.busy_until.is_none() {
                self.serve(now);
            }
        } else if self.busy_until.is_none() && n.is_multiple_of(2) {
            // A holder may look into the empty queue again; it is the same idle time.
            assert_eq!(self.ask(now, |product, cx| product.dequeue(cx)), None);
        }
        self.compare();
    }

    fn compare(&self) {
        for (name, expected) in self.reference.state() {
            let mut found = None;
            self.product.gauges(&mut |gauge, value| {
                if gauge == name {
                    found = Some(value);
                }
            });
            let found = found.unwrap_or_else(|| panic!("no gauge {name}"));
            let near = (found - expected).abs() <= 1e-9 * expected.abs() + 1e-12;
            assert!(near, "{name} is {found}, not {expected}");
        }
    }
}

/// Drives both over one random trace, comparing decisions, state, and the number of draws.
pub fn duel(name: &str, pairs: Pairs, reference: impl Reference, seed: u64, packets: u32) -> Tally {
    let product = match build(name, pairs, RATE) {
        Ok(built) => built.into_discipline(),
        Err(why) => panic!("{pairs:?}: {why}"),
    };
    let mut duel = Duel {
        clock: reference.clock(),
        second_clock: reference.second_clock().map(|period| (period, period)),
        product,
        reference,
        draws: (Rng::named(seed, "draws"), Rng::named(seed, "draws")),
        waiting: VecDeque::new(),
        bytes: 0,
        busy_until: None,
        tally: Tally::default(),
    };
    assert_eq!(duel.product.next_tick().is_some(), duel.clock.is_some());
    let mut traffic = Traffic { rng: Rng::named(seed, "trace"), now: 0, mean_gap: 5e5 };
    for n in 0..packets {
        let next = traffic.next();
        duel.arrive(n, next);
    }
    assert_eq!(duel.draws.0, duel.draws.1, "{name} {pairs:?}: a different number of draws");
    duel.tally
}
