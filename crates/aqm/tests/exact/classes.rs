//! Disciplines of packets in classes (RIO, RIO-PS, GRED) against second transcriptions.

use std::collections::VecDeque;

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Rng;
use packet::Why::{Early, Forced, Overflow};

use super::duel::{Arrival, Queue, RATE, Reference, Tally, duel};
use super::transcribed::{linux_idle, pow_w};
use super::{Pairs, build};

/// The edge of RIO-PS: (flow, packets, last).
struct Edge {
    flows: Vec<(u64, u64, u64)>,
    length: u64,
    by_packets: bool,
    short: u64,
    long: u64,
}

const T_U: u64 = 50_000_000;
const T_C: u64 = 100_000_000;

impl Edge {
    fn tag(&mut self, flow: u64, now: u64) -> usize {
        self.flows.retain(|(f, _, last)| *f != flow || now - last <= T_U);
        if !self.flows.iter().any(|(f, ..)| *f == flow) {
            self.flows.push((flow, 0, now));
        }
        let row = self.flows.iter_mut().find(|(f, ..)| *f == flow).unwrap();
        row.1 += 1;
        row.2 = now;
        if row.1 <= self.length {
            self.short += 1;
            0
        } else {
            self.long += 1;
            1
        }
    }

    fn adjust(&mut self, now: u64) {
        self.flows.retain(|(_, _, last)| now - last <= T_U);
        let (mut s, mut g) = (self.short as f64, self.long as f64);
        if !self.by_packets {
            s = self.flows.iter().filter(|(_, n, _)| *n <= self.length).count() as f64;
            g = self.flows.iter().filter(|(_, n, _)| *n > self.length).count() as f64;
        }
        (self.short, self.long) = (0, 0);
        if g == 0.0 && s > 0.0 || g > 0.0 && s / g > 3.0 {
            self.length = if self.length > 1 { self.length - 1 } else { 1 };
        } else if g > 0.0 && s / g < 3.0 {
            self.length += 1;
        }
    }
}

/// RIO as published, or ns-2's (`ns2`).
struct Rio {
    ns2: bool,
    edge: Option<Edge>,
    waiting: VecDeque<usize>,
    /// Averages: of In, of all.
    avg: [f64; 2],
    count: [u64; 2],
    old: [bool; 2],
    /// Since when each average's queue is idle.
    idle: [Option<u64>; 2],
    line_idle: bool,
}

const BANDS: [(f64, f64, f64); 2] = [(15.0, 30.0, 0.02), (5.0, 15.0, 0.1)];

impl Rio {
    fn new(ns2: bool) -> Self {
        Rio {
            ns2,
            edge: None,
            waiting: VecDeque::new(),
            avg: [0.0; 2],
            count: [0; 2],
            old: [false; 2],
            idle: [Some(0); 2],
            line_idle: true,
        }
    }

    fn update(&mut self, which: usize, q: usize, now: u64) {
        let w = 1.0 / 64.0;
        let m = self.idle[which].take().map_or(0, |since| (now - since) * RATE / 4_000_000_000_000);
        self.avg[which] *= (1.0f64 - w).powi(m.min(1 << 30) as i32 + 1);
        self.avg[which] += w * q as f64;
    }

    fn judge(&mut self, class: usize, q: usize, a: Arrival, rng: &mut Rng) -> Admission {
        let (min, max, max_p) = BANDS[class];
        let avg = self.avg[class];
        self.count[class] += 1;
        if avg < min || q < 2 {
            self.old[class] = false;
            return Queued;
        }
        if avg >= max {
            return Dropped(Forced);
        }
        if !self.old[class] {
            self.old[class] = true;
            self.count[class] = 1;
            return Queued;
        }
        let mut p = max_p * (avg - min) / (max - min);
        let c = self.count[class] as f64;
        p = match c * p {
            x if x < 1.0 => 0.0,
            x if x < 2.0 => p / (2.0 - x),
            _ => 1.0,
        };
        if rng.uniform() >= p {
            return Queued;
        }
        self.count[class] = 0;
        if a.ect() { Marked(Early) } else { Dropped(Early) }
    }
}

impl Reference for Rio {
    fn clock(&self) -> Option<(u64, u64)> {
        self.edge.as_ref().map(|_| (T_C, T_C))
    }
    fn tick(&mut self, queue: Queue) {
        if let Some(edge) = &mut self.edge {
            edge.adjust(queue.now);
        }
    }

    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let class = match &mut self.edge {
            Some(edge) => edge.tag(a.flow, a.now),
            None => (a.flow % 2) as usize,
        };
        let before = self.idle;
        let ins = self.waiting.iter().filter(|c| **c == 0).count();
        if class == 0 {
            self.update(0, ins, a.now);
        }
        if class == 0 || !self.ns2 {
            self.update(1, self.waiting.len(), a.now);
        }
        let q = if class == 0 { ins } else { self.waiting.len() };
        let mut said = self.judge(class, q, a, rng);
        if !matches!(said, Dropped(_)) && a.packets >= 25 {
            said = Dropped(Overflow);
        }
        if matches!(said, Dropped(_)) {
            for (now, before) in self.idle.iter_mut().zip(before) {
                if now.is_none() && before.is_some() {
                    *now = Some(a.now);
                }
            }
            if self.ns2 && self.line_idle {
                self.idle = [Some(a.now); 2];
            }
            if said != Dropped(Early) && !(self.ns2 && class == 1) {
                self.count[class] = 0;
            }
        } else {
            self.waiting.push_back(class);
        }
        said
    }

    fn depart(&mut self, _: u64, _: u64, queue: Queue, _: &mut Rng) -> bool {
        let class = self.waiting.pop_front().unwrap();
        self.line_idle = false;
        if self.ns2 {
            self.idle[1] = None;
            if class == 0 {
                self.idle[0] = None;
            }
        } else if class == 0 && !self.waiting.contains(&0) {
            self.idle[0] = Some(queue.now);
        }
        false
    }

    fn idle(&mut self, now: u64) {
        self.line_idle = true;
        if self.ns2 {
            self.idle = [Some(now); 2];
        } else {
            self.idle[1] = Some(now);
        }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![("avg_in", self.avg[0]), ("avg_total", self.avg[1])];
        if let Some(edge) = &self.edge {
            all.push(("L_t", edge.length as f64));
        }
        all
    }
}

fn busy(tally: Tally, marks: bool) {
    assert!(
        tally.queued > 1000 && tally.early + tally.marked > 100 && tally.forced > 20,
        "{tally:?}"
    );
    assert_eq!(tally.marked > 50, marks, "{tally:?}");
}

#[test]
fn rio_as_published_and_as_in_ns2() {
    for (seed, profile) in (30..).zip(["paper", "ns2"]) {
        let pairs: Pairs =
            &[("profile", profile), ("ecn", "true"), ("w_q", "1/64"), ("limit", "25")];
        let tally = duel("rio", pairs, Rio::new(profile == "ns2"), seed, 60_000);
        busy(tally, true);
        assert!(tally.overflow > 0, "{tally:?}");
    }
}

#[test]
fn rio_with_preference_for_short_flows() {
    for (seed, ratio) in (40..).zip(["flows", "packets"]) {
        let by_packets = ratio == "packets";
        let edge = Edge { flows: vec![], length: 8, by_packets, short: 0, long: 0 };
        let pairs: Pairs = &[
            ("ecn", "true"),
            ("w_q", "1/64"),
            ("limit", "25"),
            ("ratio", ratio),
            ("T_u", "50 ms"),
            ("T_c", "100 ms"),
        ];
        let rio = Rio { edge: Some(edge), ..Rio::new(false) };
        busy(duel("rio_ps", pairs, rio, seed, 60_000), true);
    }
}

/// One drop precedence of ALTQ's RIO.
#[derive(Clone, Copy)]
struct State {
    qlen: i64,
    avg: i64,
    count: i64,
    old: bool,
    idle: bool,
    last: u64,
}

struct AltqRio {
    states: [State; 3],
    waiting: VecDeque<usize>,
}

const WSHIFT: i64 = 6;

impl Reference for AltqRio {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let d = (a.flow % 3) as usize;
        for s in &mut self.states[d..] {
            if s.idle {
                s.idle = false;
                let us = (a.now - s.last) / 1000;
                let n = us as i64 / 800;
                if us > 60_000_000 {
                    s.avg = 0;
                } else if n > 0 {
                    s.avg = (s.avg >> 12) * pow_w(1 << WSHIFT, n);
                }
            }
            s.avg += (s.qlen << 12) - (s.avg >> WSHIFT);
            s.count += 1;
        }
        let (min, max) = [(35, 45), (20, 30), (5, 15)][d];
        let s = &mut self.states[d];
        let scale = 12 + WSHIFT;
        let mut said = Queued;
        if s.avg >= min << scale && s.qlen > 1 {
            if s.avg >= max << scale {
                said = Dropped(Forced);
            } else if !s.old {
                s.old = true;
                s.count = 1;
            } else {
                let fp_len = (s.avg - (min << scale)) >> WSHIFT;
                let left = ((2 * (max - min) * 10) << 12) - s.count * fp_len;
                if left <= 0 || (rng.below(left as u64) as i64) < fp_len {
                    said = Dropped(Early);
                }
            }
        } else {
            s.old = false;
        }
        if said == Queued && a.packets >= 60 {
            said = Dropped(Overflow);
        }
        if said == Queued {
            self.waiting.push_back(d);
            self.states[d..].iter_mut().for_each(|s| s.qlen += 1);
        } else {
            self.states[d..].iter_mut().for_each(|s| s.count = 0);
        }
        said
    }

    fn depart(&mut self, _: u64, _: u64, queue: Queue, _: &mut Rng) -> bool {
        let d = self.waiting.pop_front().unwrap();
        for s in &mut self.states[d..] {
            s.qlen -= 1;
            if s.qlen == 0 && !s.idle {
                s.idle = true;
                s.last = queue.now;
            }
        }
        false
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let of = |i: usize| self.states[i].avg as f64 / f64::from(1 << (12 + WSHIFT));
        vec![("avg_low", of(0)), ("avg_medium", of(1)), ("avg_high", of(2))]
    }
}

#[test]
fn altqs_three_precedences() {
    let state = State { qlen: 0, avg: 0, count: 0, old: false, idle: true, last: 0 };
    let rio = AltqRio { states: [state; 3], waiting: VecDeque::new() };
    busy(duel("rio", &[("profile", "altq"), ("w_q", "1/64")], rio, 50, 100_000), false);
}

/// A virtual queue of GRED.
#[derive(Clone, Copy)]
struct Vq {
    backlog: u64,
    avg: u64,
    idle: Option<u64>,
    count: i64,
    r: u64,
}

struct Kernel {
    mode: &'static str,
    vqs: [Vq; 3],
    wred: Vq,
    harddrop: bool,
    /// The class that has no virtual queue, if any.
    waiting: VecDeque<(usize, u64)>,
}

const WLOG: u32 = 5;

fn average(vq: &mut Vq, backlog: u64, now: u64) {
    vq.avg = match vq.idle.take() {
        Some(since) => linux_idle(vq.avg, (now - since) / 1000, WLOG, 1000),
        None => vq.avg + backlog - (vq.avg >> WLOG),
    };
}

impl Reference for Kernel {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let dp = (a.flow % 4) as usize;
        if dp == 3 {
            // No virtual queue: only the total limit, of 60 000 bytes.
            if a.bytes + a.size > 60_000 {
                return Dropped(Overflow);
            }
            self.waiting.push_back((dp, a.size));
            return Queued;
        }
        let mut others = 0;
        if self.mode == "grio" {
            let above = self.vqs[..dp].iter().filter(|vq| vq.idle.is_none());
            others = above.map(|vq| vq.avg).sum();
        }
        let judged_by = if self.mode == "shared" {
            average(&mut self.wred, a.bytes, a.now);
            self.wred.avg
        } else {
            let vq = &mut self.vqs[dp];
            average(vq, vq.backlog, a.now);
            vq.avg + others
        };
        // Thresholds from 4000 and 12 000 bytes down to 2000 and 6000.
        let (min, max) = [(4000, 12_000), (3000, 9000), (2000, 6000)][dp];
        let vq = &mut self.vqs[dp];
        let random = |rng: &mut Rng| (rng.next_u64() >> 32) / (429_496_729 / (max - min));
        let mut signal = None;
        if judged_by < min << WLOG {
            vq.count = -1;
        } else if judged_by >= max << WLOG {
            vq.count = -1;
            signal = Some(Forced);
        } else {
            vq.count += 1;
            if vq.count == 0 {
                vq.r = random(rng);
            } else if ((judged_by - (min << WLOG)) >> WLOG) * vq.count as u64 >= vq.r {
                vq.count = 0;
                vq.r = random(rng);
                signal = Some(Early);
            }
        }
        if let Some(why) = signal
            && (!a.ect() || (why == Forced && self.harddrop))
        {
            return Dropped(why);
        }
        let backlog = if self.mode == "shared" { a.bytes } else { vq.backlog };
        if backlog + a.size > 12_000 {
            return Dropped(Overflow);
        }
        vq.backlog += a.size;
        self.waiting.push_back((dp, a.size));
        signal.map_or(Queued, Marked)
    }

    fn depart(&mut self, _: u64, _: u64, queue: Queue, _: &mut Rng) -> bool {
        let (dp, size) = self.waiting.pop_front().unwrap();
        if dp == 3 {
            return false;
        }
        self.vqs[dp].backlog -= size;
        if self.mode == "shared" {
            if queue.bytes == 0 {
                self.wred.idle = Some(queue.now);
            }
        } else if self.vqs[dp].backlog == 0 {
            self.vqs[dp].idle = Some(queue.now);
        }
        false
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let packets = |vq: &Vq| vq.avg as f64 / f64::from(1 << WLOG) / 1000.0;
        match self.mode {
            "shared" => vec![("avg", packets(&self.wred))],
            _ => {
                let names = ["avg_0", "avg_1", "avg_2"];
                names.into_iter().zip(self.vqs.iter().map(packets)).collect()
            }
        }
    }
}

#[test]
fn the_three_modes_of_gred() {
    let mut seed = 60;
    for mode in ["separate", "grio", "shared"] {
        for hard in ["false", "true"] {
            seed += 1;
            let vq = Vq { backlog: 0, avg: 0, idle: Some(0), count: -1, r: 0 };
            let (vqs, waiting) = ([vq; 3], VecDeque::new());
            let kernel = Kernel { mode, vqs, wred: vq, harddrop: hard == "true", waiting };
            let pairs: Pairs = &[
                ("mode", mode),
                ("classes", "4"),
                ("min_th", "4"),
                ("max_th", "12"),
                ("min_th_last", "2"),
                ("max_th_last", "6"),
                ("w_q", "1/32"),
                ("max_p", "0.1"),
                ("vq_limit", "12"),
                ("ecn", "true"),
                ("harddrop", hard),
            ];
            let tally = duel("gred", pairs, kernel, seed, 80_000);
            assert!(tally.early > 50 && tally.marked > 50 && tally.overflow > 50, "{tally:?}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    for (name, pairs, says) in [
        ("gred", &[("min_th", "20")] as Pairs, "min_th: 20 is not below max_th = 15"),
        ("gred", &[("default_vq", "3")], "default_vq: 3 does not exist"),
        ("gred", &[("virtual_queues", "16"), ("classes", "17")], "classes: 17 leaves classes"),
        ("rio", &[("in_min_th", "30")], "in_min_th: 30 is not below in_max_th = 30"),
        ("rio", &[("profile", "altq"), ("ecn", "true")], "ecn: true is not possible"),
        ("rio", &[("medium_max_p", "0.2")], "medium_max_p: 0.2 is not possible"),
        ("rio", &[("in_classes", "3")], "in_classes: 3 and medium_classes = 0 are more"),
        ("rio_ps", &[("out_min_th", "20")], "out_min_th: 20 is not below"),
    ] {
        let why = build(name, pairs, RATE).err().unwrap_or_else(|| panic!("{pairs:?}")).to_string();
        assert!(why.starts_with(says), "{why}");
    }
}

#[test]
fn a_default_virtual_queue_takes_what_has_none() {
    let bytes_dropped = |default: Pairs| {
        let pairs =
            [&[("classes", "4"), ("w_q", "1"), ("limit", "1000")] as Pairs, default].concat();
        let Ok(built) = build("gred", &pairs, RATE) else { panic!("{pairs:?}") };
        let mut gred = built.into_discipline();
        let mut drops = 0;
        for id in 0..200 {
            let packet = packet::Packet { flow: 3, id, ..super::packet(1000, packet::Ecn::NotEct) };
            let mut out =
                |event| drops += u32::from(!matches!(event, packet::Event::Queued { .. }));
            let mut rng = Rng::named(1, "gred");
            let now = packet::Instant::ZERO;
            gred.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
        }
        drops
    };
    assert_eq!(bytes_dropped(&[]), 0);
    assert!(bytes_dropped(&[("default_vq", "1")]) > 150);
}
