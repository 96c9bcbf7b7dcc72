//! DualPI2: a second transcription of the RFC's and Linux's dequeue routines.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::build;
use super::line::{Did, Model, P, Product, Traffic, compare};

#[derive(Default)]
struct Reference {
    linux: bool,
    drop_overload: bool,
    limit: usize,
    /// Of the RFC; of Linux, whose packets know whether the step counts for them.
    th_len: usize,
    min_backlog: u64,
    min_qlen_step: usize,
    step_packets: Option<usize>,
    apply_step: VecDeque<bool>,
    c: VecDeque<P>,
    l: VecDeque<P>,
    p: f64,
    prev: f64,
    credit: i64,
    n_c: f64,
    n_l: f64,
}

const MTU: i64 = 1514;

impl Reference {
    fn recur(n: &mut f64, likelihood: f64) -> bool {
        *n += likelihood;
        if *n > 1.0 {
            *n -= 1.0;
            return true;
        }
        false
    }

    fn left(&self) -> u64 {
        self.c.iter().chain(&self.l).map(|p| p.size).sum()
    }

    /// 'd', 'm' or ' '.
    fn linux(&mut self, p: &P, from_l: bool, now: u64, rng: &mut Rng) -> char {
        let left = self.left();
        let overload = 2.0 * self.p > 1.0;
        let mut mark = false;
        if left >= self.min_backlog {
            if !from_l {
                if rng.uniform() < self.p && rng.uniform() < self.p {
                    if overload || !p.ect() {
                        return 'd';
                    }
                    mark = true;
                }
            } else if overload {
                if self.drop_overload && rng.uniform() < self.p && rng.uniform() < self.p {
                    self.apply_step.pop_front();
                    return 'd';
                }
                mark = true;
            } else if rng.uniform() < 2.0 * self.p {
                mark = true;
            }
        }
        if from_l && self.apply_step.pop_front().expect("one for each") {
            let over = self.step_packets.map(|most| self.l.len() > most);
            mark |= over.unwrap_or(now - p.t > 1_000_000);
        }
        if mark { 'm' } else { ' ' }
    }

    fn rfc(&mut self, p: &P, from_l: bool, now: u64) -> char {
        if self.left() < self.min_backlog {
            return ' ';
        }
        let p_cl = f64::min(2.0 * self.p, 1.0);
        let p_c = self.p * self.p;
        if from_l {
            if p_cl < 1.0 {
                let age = now - p.t;
                let native = if age <= 800_000 || self.l.len() <= self.th_len {
                    0.0
                } else if age >= 1_200_000 {
                    1.0
                } else {
                    (age - 800_000) as f64 / 400_000.0
                };
                return if Self::recur(&mut self.n_l, f64::max(native, p_cl)) { 'm' } else { ' ' };
            }
            if Self::recur(&mut self.n_l, p_c) {
                return 'd';
            }
            return if Self::recur(&mut self.n_l, p_cl) { 'm' } else { ' ' };
        }
        if Self::recur(&mut self.n_c, p_c) {
            return if !p.ect() || p_c >= 0.25 { 'd' } else { 'm' };
        }
        ' '
    }
}

impl Model for Reference {
    fn enqueue(&mut self, p: P, _: &mut Rng, did: &mut Vec<Did>) {
        if self.c.len() + self.l.len() >= self.limit {
            did.push(Did::Drop(p.id, Why::Overflow));
            return;
        }
        did.push(Did::Queue(p.id));
        let scalable = p.ecn == Ecn::Ect1 || p.ecn == Ecn::Ce;
        if scalable {
            self.apply_step.push_back(self.l.len() >= self.min_qlen_step);
            self.l.push_back(p)
        } else {
            self.c.push_back(p)
        }
    }

    fn dequeue(&mut self, now: u64, rng: &mut Rng, did: &mut Vec<Did>) -> Option<P> {
        loop {
            let from_l = !self.l.is_empty() && (self.c.is_empty() || self.credit <= 0);
            let queue = if from_l { &mut self.l } else { &mut self.c };
            let Some(mut p) = queue.pop_front() else {
                self.credit = MTU * (10 - 90);
                return None;
            };
            let change = match from_l {
                true if !self.c.is_empty() => 10 * p.size as i64,
                false if !self.l.is_empty() => -90 * p.size as i64,
                _ => 0,
            };
            let overload = if self.linux { 2.0 * self.p > 1.0 } else { 2.0 * self.p >= 1.0 };
            let what = if self.linux {
                self.linux(&p, from_l, now, rng)
            } else {
                self.rfc(&p, from_l, now)
            };
            match what {
                'd' => {
                    let why = if overload { Why::Forced } else { Why::Early };
                    did.push(Did::Drop(p.id, why));
                    continue;
                }
                'm' => {
                    p.ecn = Ecn::Ce;
                    did.push(Did::Mark(p.id));
                }
                _ => {}
            }
            self.credit += change;
            return Some(p);
        }
    }

    fn tick(&mut self, now: u64) {
        let age = |q: &VecDeque<P>| q.front().map_or(0.0, |p| (now - p.t) as f64 / 1e9);
        let delay = age(&self.c).max(age(&self.l));
        let (alpha, beta) = if self.linux { (41.0 / 256.0, 819.0 / 256.0) } else { (0.15, 3.0) };
        self.p += alpha * (delay - 0.015) + beta * (delay - self.prev);
        let most = if self.drop_overload { 1.0 } else { 0.5 };
        self.p = self.p.max(0.0).min(most);
        self.prev = delay;
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("qdelay", self.prev), ("scalable_packets", self.l.len() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for (profile, drop_overload, extra) in [
        ("rfc9332", true, None),
        ("rfc9332", true, Some(("th_len", 4))),
        ("rfc9332", true, Some(("min_backlog", 2_500))),
        ("linux", true, Some(("min_backlog", 4_000))),
        ("linux", true, None),
        ("linux", false, None),
        ("linux", false, Some(("min_qlen_step", 3))),
        ("linux", true, Some(("step_packets", 3))),
    ] {
        let number = |name| extra.filter(|e| e.0 == name).map(|e| e.1);
        for limit in [10_000, 60] {
            for seed in 0..6 {
                let model = Reference {
                    linux: profile == "linux",
                    drop_overload,
                    limit,
                    th_len: number("th_len").unwrap_or(1),
                    min_backlog: number("min_backlog").unwrap_or(if profile == "linux" {
                        2 * MTU as usize
                    } else {
                        0
                    }) as u64,
                    min_qlen_step: number("min_qlen_step").unwrap_or(0),
                    step_packets: number("step_packets"),
                    credit: MTU * (10 - 90),
                    ..Reference::default()
                };
                let (limit, drops) = (limit.to_string(), drop_overload.to_string());
                let value = extra.map(|e| e.1.to_string()).unwrap_or_default();
                let mut pairs = vec![
                    ("profile", profile),
                    ("limit", limit.as_str()),
                    ("drop_overload", drops.as_str()),
                ];
                pairs.extend(extra.map(|e| (e.0, value.as_str())));
                let traffic = Traffic::new(seed, 5, 1000);
                let seen = compare("dualpi2", &pairs, model, traffic, seed, 20_000);
                assert!(seen.sent > 8000 && seen.marked > 1000, "{pairs:?} {seen:?}");
                assert!(seen.early > 20, "{pairs:?} {seen:?}");
                assert_eq!(seen.forced > 20, drop_overload, "{pairs:?} {seen:?}");
                assert!(limit == "10000" || seen.overflow > 100, "{pairs:?} {seen:?}");
            }
        }
    }
}

#[test]
fn what_a_profile_does_not_have_is_refused() {
    for (profile, field, value) in [
        ("linux", "min_th", "1 ms"),
        ("linux", "range", "1 ms"),
        ("linux", "th_len", "2"),
        ("rfc9332", "step_packets", "2"),
        ("rfc9332", "min_qlen_step", "2"),
        ("rfc9332", "step", "1 ms"),
        ("rfc9332", "drop_overload", "false"),
    ] {
        let Err(why) = build("dualpi2", &[("profile", profile), (field, value)], 10_000_000) else {
            panic!("{field} accepted")
        };
        let why = why.to_string();
        assert!(why.starts_with(field) && why.contains(profile), "{why}");
    }
}

#[test]
fn the_rfc_wants_room_for_a_largest_packet() {
    for (profile, accepted) in [("rfc9332", 2), ("linux", 5)] {
        let pairs = [("profile", profile), ("limit_bytes", "2500"), ("mtu", "1514")];
        let mut product = Product::new("dualpi2", &pairs, 1);
        for id in 0..9 {
            // Both queues count.
            let ecn = [Ecn::Ect0, Ecn::Ect1][id as usize % 2];
            product.enqueue(P { id, flow: id.into(), size: 500, ecn, t: 0 });
        }
        // 500 + 1514 fit into 2500, 1000 + 1514 do not.
        assert_eq!(product.discipline.backlog().packets, accepted, "{profile}");
    }
}
