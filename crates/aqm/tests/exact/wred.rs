//! Weighted RED against a second transcription of its rule, and its published numbers.

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Why::{Early, Forced, Overflow};
use packet::{Ecn, Instant, Rng};

use super::duel::{Arrival, Queue, RATE, Reference, duel};
use super::{Bench, Pairs, build, close};

struct Ios {
    exponent: i32,
    limit: u64,
    classes: u64,
    uniformise: bool,
    timer: bool,
    decays: bool,
    avg: f64,
    counts: [i64; 8],
    idle_since: Option<u64>,
}

impl Ios {
    fn new(classes: u64) -> Self {
        let (avg, counts, idle_since) = (0.0, [-1; 8], Some(0));
        let (uniformise, timer, decays) = (false, false, true);
        Ios { exponent: 6, limit: 40, classes, uniformise, timer, decays, avg, counts, idle_since }
    }

    fn weight(&self) -> f64 {
        0.5f64.powi(self.exponent)
    }
}

impl Reference for Ios {
    fn clock(&self) -> Option<(u64, u64)> {
        self.timer.then_some((800_000, 800_000))
    }

    fn tick(&mut self, queue: Queue) {
        self.avg = self.avg * (1.0 - self.weight()) + queue.packets as f64 * self.weight();
    }

    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let idle = self.idle_since.take();
        let mut aged_to = a.now;
        if !self.timer {
            match idle {
                Some(since) if self.decays => {
                    let m = (a.now - since) * RATE / 1_000_000_000 / 8000;
                    aged_to = since + m * 800_000;
                    self.avg *= (1.0 - self.weight()).powi(m.min(1 << 30) as i32);
                }
                _ => self.avg = self.avg * (1.0 - self.weight()) + a.packets as f64 * self.weight(),
            }
        }
        let class = a.flow % self.classes;
        let (min, max) = ((40 * (9 + class) / 18) as f64, 40.0);
        let count = &mut self.counts[class as usize];
        let mut said = Queued;
        if self.avg < min {
            *count = -1;
        } else if self.avg > max {
            *count = 0;
            said = Dropped(Forced);
        } else {
            let mut p = 0.1 * (self.avg - min) / (max - min);
            if self.uniformise {
                *count += 1;
                let left = 1.0 - *count as f64 * p;
                p = if left > 0.0 { p / left } else { 1.0 };
            }
            if rng.uniform() < p {
                *count = 0;
                said = if a.ect() { Marked(Early) } else { Dropped(Early) };
            }
        }
        if !matches!(said, Dropped(_)) && a.packets >= self.limit {
            said = Dropped(Overflow);
        }
        if matches!(said, Dropped(_)) {
            self.idle_since = idle.map(|_| aged_to);
        }
        said
    }

    fn idle(&mut self, now: u64) {
        self.idle_since.get_or_insert(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("avg", self.avg)]
    }
}

#[test]
fn both_transcriptions_agree() {
    type Change = fn(&mut Ios);
    let more: [(Pairs, Change); 5] = [
        (&[], |_| ()),
        (&[("limit", "60")], |ios| ios.limit = 60),
        (&[("uniformise", "true")], |ios| ios.uniformise = true),
        (&[("update", "timer")], |ios| ios.timer = true),
        (&[("idle_decay", "false")], |ios| ios.decays = false),
    ];
    for (seed, (pairs, change)) in (1..).zip(more) {
        for classes in [1, 8] {
            let text = classes.to_string();
            let base: Pairs = &[("n", "6"), ("ecn", "true"), ("max_th", "40"), ("classes", &text)];
            let mut ios = Ios::new(classes);
            change(&mut ios);
            let tally = duel("wred", &[base, pairs].concat(), ios, seed, 60_000);
            assert!(tally.queued > 1000 && tally.early > 100 && tally.marked > 100, "{tally:?}");
        }
    }
}

#[test]
fn the_average() {
    let mut wred = Bench::new("wred", &[("n", "1"), ("limit", "4000")], 1);
    wred.arrive(0, 1000, Ecn::NotEct);
    wred.arrive(20, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.0, 0.0);
    let mut wred = Bench::new("wred", &[("limit", "4000")], 1);
    wred.arrive(0, 1000, Ecn::NotEct);
    wred.arrive(5120, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.0, 0.0);
    wred.arrive(20, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.01953125, 1e-12);
    // A hundred packet times of idleness.
    let before = wred.gauge("avg");
    wred.gate.on_idle(Instant::from_nanos(20_000_000));
    wred.now = 100_000_000;
    wred.arrive(0, 1000, Ecn::NotEct);
    close(wred.gauge("avg") / before * 10.0, 8.224205, 1e-6);
}

#[test]
fn at_and_above_max_th() {
    let at = |queue: u32, max: &str| {
        let pairs: Pairs = &[("n", "1"), ("ecn", "true"), ("limit", "4000"), ("max_th", max)];
        let mut wred = Bench::new("wred", pairs, 1);
        wred.arrive(0, 1000, Ecn::Ect0);
        for _ in 0..60 {
            wred.arrive(queue, 1000, Ecn::Ect0); // the average converges exactly
        }
        let mut marks = 0u32;
        for _ in 0..10_000 {
            match wred.arrive(queue, 1000, Ecn::Ect0) {
                Dropped(Forced) => return None,
                Marked(Early) => marks += 1,
                Queued => {}
                other => panic!("{other:?}"),
            }
        }
        Some(marks)
    };
    // 1000 of 10^4 at p = 0.1: five standard deviations are 150.
    assert!(at(40, "40").unwrap().abs_diff(1000) < 150);
    assert_eq!(at(40, "39.99"), None, "dropped although ECN-capable");
}

#[test]
fn classes_are_counted_from_the_first() {
    let why = build("wred", &[("classes", "3"), ("first_class", "7")], RATE).err().unwrap();
    assert!(why.to_string().starts_with("classes: 3 is too many from first_class = 7"), "{why}");
    assert!(build("wred", &[("classes", "2"), ("first_class", "7")], RATE).is_ok());
    let why = build("wred", &[("period", "1 ms")], RATE).err().unwrap();
    assert!(why.to_string().contains("no effect"), "{why}");
}
