//! BLUE: second transcriptions of the papers' rule and of ALTQ's.

use std::collections::VecDeque;

use aqmlab_aqm::{Admission, Cx};
use packet::{Ecn, Event, Instant, Packet, Rng, Why};

use super::duel::{Arrival, RATE, Reference, duel};
use super::{Pairs, build};

const MS: u64 = 1_000_000;

/// One clock, and idle events one by one.
struct Blue {
    repeat: bool,
    ecn: bool,
    pm: f64,
    last_update: Option<u64>,
    idle: Option<u64>,
}

impl Blue {
    fn event(&mut self, now: u64, change: f64) {
        if self.last_update.is_some_and(|last| now - last > 20 * MS) {
            self.pm = (self.pm + change).clamp(0.0, 1.0);
            self.last_update = Some(now);
        }
    }
}

impl Reference for Blue {
    fn arrive(&mut self, arrival: Arrival, rng: &mut Rng) -> Admission {
        let last = self.last_update.unwrap_or(arrival.now);
        self.last_update = Some(last);
        if let Some(idle) = self.idle.filter(|_| self.repeat) {
            let mut due = idle.max(last + 20 * MS);
            while due < arrival.now {
                self.pm = f64::max(0.0, self.pm - 0.001);
                self.last_update = Some(due);
                due += 20 * MS;
            }
        }
        if arrival.packets >= 40 {
            self.event(arrival.now, 0.01);
            return Admission::Dropped(Why::Overflow);
        }
        let coin = rng.uniform() < self.pm;
        if coin && !(self.ecn && arrival.ect()) {
            return Admission::Dropped(Why::Early);
        }
        self.idle = None;
        if coin { Admission::Marked(Why::Early) } else { Admission::Queued }
    }
    fn idle(&mut self, now: u64) {
        self.idle = Some(now);
        self.event(now, -0.001);
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.pm)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for bits in 0..4u64 {
        let on = |bit: u32| bits >> bit & 1 == 1;
        let text = |on: bool| if on { "true" } else { "false" };
        let pairs = [
            ("freeze_time", "20 ms"),
            ("d1", "0.01"),
            ("d2", "0.001"),
            ("repeat", text(on(0))),
            ("ecn", text(on(1))),
            ("limit", "40"),
        ];
        let reference = Blue { repeat: on(0), ecn: on(1), pm: 0.0, last_update: None, idle: None };
        let tally = duel("blue", &pairs, reference, bits, 60_000);
        assert!(tally.queued > 10_000 && tally.early > 500 && tally.overflow > 500, "{tally:?}");
        assert_eq!(tally.marked > 500, on(1), "{tally:?}");
    }
}

/// `blue_addq` and `blue_getq`, on a list of handles.
struct Altq {
    queue: VecDeque<u32>,
    pmark: i32,
    last: Option<u64>,
    idle: bool,
}

impl Altq {
    fn addq(&mut self, id: u32, markable: bool, now: u64, rng: &mut Rng) -> String {
        if self.idle {
            self.idle = false;
            match self.last {
                None => self.last = Some(now),
                Some(last) if (now - last) / 1_000_000_000 > 1 => {
                    self.pmark = 1;
                    self.last = Some(now);
                }
                Some(last) if now - last > 50 * MS => {
                    self.pmark = (self.pmark - 1).max(0);
                    self.last = Some(now);
                }
                Some(_) => {}
            }
        }
        let early = rng.uniform() * 1000.0 < f64::from(self.pmark);
        let early = early && self.queue.len() > 1;
        if early && !markable {
            return format!("early {id} ");
        }
        let mut said = if early { format!("mark {id} ") } else { String::new() };
        let forced = self.queue.len() >= 30;
        self.queue.push_back(id);
        said += &format!("queue {id} ");
        if forced {
            let victim = rng.below(self.queue.len() as u64) as usize;
            let victim = self.queue.remove(victim).unwrap();
            if self.last.is_some_and(|last| now - last > 50 * MS) {
                self.pmark = (self.pmark + (1000 >> 3)).min(1000);
                self.last = Some(now);
            }
            said += &format!("overflow {victim} ");
        }
        said
    }

    fn getq(&mut self, now: u64) -> Option<u32> {
        let head = self.queue.pop_front();
        if head.is_none() && !self.idle {
            self.idle = true;
            self.last = Some(now);
        }
        head
    }
}

#[test]
fn altq_agrees_with_its_transcription() {
    for (ecn, seed) in [("true", 1), ("false", 2)] {
        let pairs = [("profile", "altq"), ("limit", "30"), ("ecn", ecn)];
        let mut product = build("blue", &pairs, RATE).ok().unwrap().into_discipline();
        let mut altq = Altq { queue: VecDeque::new(), pmark: 0, last: None, idle: true };
        let mut draws = (Rng::named(seed, "draws"), Rng::named(seed, "draws"));
        let mut traffic = Rng::named(seed, "traffic");
        let (mut now, mut free, mut busy, mut gap) = (0u64, 0u64, false, 7e5);
        let mut counts = [0; 3];
        for id in 0..40_000u32 {
            if traffic.below(1500) == 0 {
                gap = [4e5, 7e5, 1.2e6][traffic.below(3) as usize];
            }
            now += traffic.exponential(gap) as u64;
            if traffic.below(2000) == 0 {
                now += [60 * MS, 900 * MS, 2500 * MS][traffic.below(3) as usize];
            }
            let capable = traffic.below(2) == 0;
            let mut said = String::new();
            let mut out = |event| match event {
                Event::Queued { id } => said += &format!("queue {id} "),
                Event::Marked { id, .. } => said += &format!("mark {id} "),
                Event::Dropped { packet, why } => {
                    said += &format!("{} {} ", why.name(), packet.id);
                }
            };
            while busy && free <= now {
                let at = Instant::from_nanos(free);
                let mut cx = Cx { now: at, rng: &mut draws.0, out: &mut out };
                let sent = product.dequeue(&mut cx).map(|packet| packet.id);
                assert_eq!(sent, altq.getq(free));
                busy = sent.is_some();
                free += 800_000;
            }
            let at = Instant::from_nanos(now);
            let mut cx = Cx { now: at, rng: &mut draws.0, out: &mut out };
            let field = if capable { Ecn::Ect0 } else { Ecn::NotEct };
            product.enqueue(
                Packet {
                    id,
                    flow: 0,
                    bytes: 1000,
                    ecn: field,
                    arrived: at,
                    header: Default::default(),
                },
                &mut cx,
            );
            let expected = altq.addq(id, capable && ecn == "true", now, &mut draws.1);
            assert_eq!(said, expected);
            for (count, word) in counts.iter_mut().zip(["mark", "early", "overflow"]) {
                *count += u32::from(expected.contains(word));
            }
            if !busy {
                let mut cx = Cx { now: at, rng: &mut draws.0, out: &mut |_| {} };
                assert_eq!(product.dequeue(&mut cx).map(|packet| packet.id), altq.getq(now));
                busy = true;
                free = now + 800_000;
            }
        }
        assert_eq!(draws.0, draws.1);
        assert!(counts[1] > 500 && counts[2] > 300, "{counts:?}");
        assert_eq!(counts[0] > 300, ecn == "true", "{counts:?}");
    }
}

#[test]
fn what_altq_cannot_do_is_refused() {
    for (name, value) in [("d1", "0.1"), ("d2", "0.1"), ("trigger", "9"), ("repeat", "true")] {
        let pairs: Pairs = &[("profile", "altq"), (name, value)];
        let why = build("blue", pairs, RATE).err().unwrap().to_string();
        assert!(why.starts_with(name) && why.contains("profile \"altq\""), "{why}");
    }
}
