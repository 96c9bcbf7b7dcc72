//! COBALT: a second transcription after sch_cake's routines, with a signed `schedule` as there.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::line::{Did, Model, P, Product, Traffic, compare};

#[derive(Default)]
struct Reference {
    ecn: bool,
    limit: usize,
    packets: VecDeque<P>,
    count: u64,
    dropping: bool,
    drop_next: i64,
    p_drop: f64,
    blue: Option<i64>,
}

const TARGET: i64 = 5_000_000;
const INTERVAL: i64 = 100_000_000;

impl Reference {
    fn control(&self, t: i64) -> i64 {
        t + (INTERVAL as f64 / (self.count.max(1) as f64).sqrt()).round() as i64
    }

    fn may(&self, now: i64) -> bool {
        self.blue.is_none_or(|at| now - at > TARGET)
    }

    /// cobalt_should_drop: what is to be dropped, and why.
    fn should_drop(&mut self, p: &mut P, now: i64, rng: &mut Rng, marks: &mut bool) -> Option<Why> {
        let mut drop = None;
        let sojourn = now - p.t as i64;
        let mut schedule = now - self.drop_next;
        let mut next_due = self.count > 0 && schedule >= 0;
        if sojourn > TARGET {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            *marks = self.ecn && p.ect();
            if !*marks {
                drop = Some(Why::Early);
            }
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count > 0 && schedule >= 0;
            }
        }
        if self.p_drop > 0.0 && rng.uniform() < self.p_drop {
            drop = Some(Why::Forced);
        }
        if self.count == 0 {
            self.drop_next = now + INTERVAL;
        } else if schedule > 0 && drop.is_none() {
            self.drop_next = now;
        }
        drop
    }
}

impl Model for Reference {
    fn enqueue(&mut self, p: P, _: &mut Rng, did: &mut Vec<Did>) {
        if self.packets.len() < self.limit {
            did.push(Did::Queue(p.id));
            self.packets.push_back(p);
            return;
        }
        did.push(Did::Drop(p.id, Why::Overflow));
        let now = p.t as i64;
        if self.may(now) {
            self.p_drop = f64::min(self.p_drop + 0.00390625, 1.0);
            self.blue = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    fn dequeue(&mut self, now: u64, rng: &mut Rng, did: &mut Vec<Did>) -> Option<P> {
        let now = now as i64;
        while let Some(mut p) = self.packets.pop_front() {
            let mut marks = false;
            let drop = self.should_drop(&mut p, now, rng, &mut marks);
            match drop {
                Some(why) if !self.packets.is_empty() => did.push(Did::Drop(p.id, why)),
                Some(_) => return Some(p),
                None => {
                    if marks {
                        p.ecn = Ecn::Ce;
                        did.push(Did::Mark(p.id));
                    }
                    return Some(p);
                }
            }
        }
        if self.p_drop > 0.0 && self.may(now) {
            self.p_drop = f64::max(self.p_drop - 0.000244140625, 0.0);
            self.blue = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
        None
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("count", self.count as f64), ("p_drop", self.p_drop)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for ecn in [false, true] {
        for limit in [1000, 80, 25] {
            for seed in 0..5 {
                let model = Reference { ecn, limit, ..Reference::default() };
                let (limit_text, ecn_text) = (limit.to_string(), ecn.to_string());
                let pairs = [("limit", limit_text.as_str()), ("ecn", ecn_text.as_str())];
                let traffic = Traffic::new(seed, 5, 2000);
                let seen = compare("cobalt", &pairs, model, traffic, seed, 30_000);
                assert!(seen.sent > 9000 && seen.early > 50, "{pairs:?} {seen:?}");
                assert_eq!(seen.marked > 50, ecn, "{pairs:?} {seen:?}");
                assert!(limit == 1000 || seen.forced > 50, "{pairs:?} {seen:?}");
            }
        }
    }
}

#[test]
fn the_last_packet_is_delivered() {
    let mut product = Product::new("cobalt", &[("limit", "1"), ("p_inc", "1")], 1);
    let packet = |id, t| P { id, flow: 0, size: 1500, ecn: Ecn::NotEct, t };
    product.enqueue(packet(1, 0));
    product.enqueue(packet(2, 10_000_000));
    assert_eq!(product.gauge("p_drop"), 1.0);
    let (sent, did) = product.dequeue(200_000_000);
    assert_eq!((sent.unwrap().id, did.len()), (1, 1), "certain to be dropped, but the last");
}
