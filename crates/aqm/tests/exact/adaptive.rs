//! Adaptive and self-configuring RED against second transcriptions of their pseudocode, and what
//! defines each profile.

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Why::{Early, Forced, Overflow};
use packet::{Ecn, Instant, Rng};

use super::duel::{Arrival, Queue, RATE, Reference, Tally, duel};
use super::{Bench, Pairs, build, close};

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Above,
    Between,
    Below,
}

/// How max_p moves.
#[derive(Clone, Copy)]
enum Adaptation {
    Floyd { last: Option<u64>, bottom: f64 },
    Feng { status: Status },
}

/// ns-2's enque (`ns`), or the 1993 paper's, with max_p in a variable.
#[derive(Clone)]
struct Red {
    ns: bool,
    bytes: bool,
    mean: f64,
    min: f64,
    max: f64,
    w: f64,
    limit: u64,
    gentle: bool,
    above: &'static str,
    adaptation: Adaptation,
    first_max_p: f64,
    cur_max_p: f64,
    avg: f64,
    count: i64,
    count_bytes: u64,
    old: bool,
    idle_since: Option<u64>,
    interrupted: Option<u64>,
}

impl Red {
    fn new(ns: bool, max_p: f64, adaptation: Adaptation) -> Self {
        let mean = if ns { 500.0 } else { 1000.0 };
        Red {
            ns,
            bytes: false,
            mean,
            min: 5.0,
            max: 15.0,
            w: 1.0 - (-8.0 * mean / RATE as f64).exp(),
            limit: 60,
            gentle: true,
            above: "drop",
            adaptation,
            first_max_p: max_p,
            cur_max_p: max_p,
            avg: 0.0,
            count: if ns { 0 } else { -1 },
            count_bytes: 0,
            old: false,
            idle_since: Some(0),
            interrupted: None,
        }
    }

    fn adapt(&mut self, now: u64) {
        let (avg, p) = (self.avg, &mut self.cur_max_p);
        match &mut self.adaptation {
            Adaptation::Floyd { last, bottom } => {
                if now <= *last.get_or_insert(now) + 500_000_000 {
                    return;
                }
                let part = 0.4 * (self.max - self.min);
                if avg < self.min + part && *p > *bottom {
                    *p *= 0.9;
                    *last = Some(now);
                } else if avg > self.max - part && *p < 0.5 {
                    *p += if 0.01 > 0.25 * *p { 0.25 * *p } else { 0.01 };
                    *last = Some(now);
                }
            }
            Adaptation::Feng { status } => {
                if self.min < avg && avg < self.max {
                    *status = Status::Between;
                } else if avg < self.min && *status != Status::Below {
                    *status = Status::Below;
                    *p /= 3.0;
                } else if avg > self.max && *status != Status::Above {
                    *status = Status::Above;
                    *p *= 2.0;
                    if *p > 1.0 {
                        *p = 1.0;
                    }
                }
            }
        }
    }

    fn p_b(&self) -> f64 {
        if self.avg < self.max {
            return self.cur_max_p * (self.avg - self.min) / (self.max - self.min);
        }
        let base = if self.ns { self.first_max_p } else { self.cur_max_p };
        base + (1.0 - base) * (self.avg - self.max) / self.max
    }

    /// What to do with an arrival that is signalled; `early` says by the random test.
    fn signal(&self, a: Arrival, early: bool) -> Admission {
        let why = if early { Early } else { Forced };
        let mark = match self.above {
            "drop" => early && self.avg < self.max,
            "mark_in_gentle" => early,
            _ => true,
        };
        if a.ect() && mark { Marked(why) } else { Dropped(why) }
    }

    fn decide(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let q = if self.bytes { a.bytes } else { a.packets };
        let top = if self.gentle { 2.0 * self.max } else { self.max };
        if self.avg < self.min || (self.ns && q <= 1) {
            if self.ns {
                self.old = false;
            } else {
                self.count = -1;
            }
            return Queued;
        }
        if self.avg >= top {
            if !self.ns {
                self.count = 0;
            }
            return self.signal(a, false);
        }
        if self.ns && !self.old {
            self.old = true;
            self.count = 1;
            self.count_bytes = a.size;
            return Queued;
        }
        if !self.ns {
            self.count += 1;
        }
        let mut p = self.p_b();
        if !self.ns && self.bytes {
            p *= a.size as f64 / 1500.0;
        }
        let count = match self.ns && self.bytes {
            true => (self.count_bytes / self.mean as u64) as f64,
            false => self.count as f64,
        };
        let passed = count * p;
        p = match self.ns {
            true if passed < 1.0 => 0.0,
            true if passed < 2.0 => p / (2.0 - passed),
            false if passed < 1.0 => p / (1.0 - passed),
            _ => 1.0,
        };
        if self.ns && self.bytes && p < 1.0 {
            p *= a.size as f64 / self.mean;
        }
        if rng.uniform() >= p {
            return Queued;
        }
        self.count = 0;
        self.count_bytes = 0;
        self.signal(a, true)
    }
}

impl Reference for Red {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let q = if self.bytes { a.bytes } else { a.packets } as f64;
        self.interrupted = self.idle_since.map(|_| a.now);
        let idle = self.idle_since.take();
        if let Some(since) = idle {
            let packets = (a.now - since) as f64 * 1e-9 * RATE as f64 / 8.0 / self.mean;
            let packets = (packets + 1e-9) as u64;
            self.avg *= (1.0 - self.w).powi(packets as i32);
            if !self.ns {
                let one = (self.mean * 8e9) as u64 / RATE;
                self.interrupted = Some(since + packets * one);
            }
        }
        if self.ns || idle.is_none() {
            self.avg = (1.0 - self.w) * self.avg + self.w * q;
        }
        if self.ns {
            self.count += 1;
            self.count_bytes += a.size;
        }
        self.adapt(a.now);
        let mut said = self.decide(a, rng);
        let full = match self.bytes {
            true if self.ns => a.bytes >= self.limit * self.mean as u64,
            true => a.bytes + a.size > self.limit * self.mean as u64,
            false => a.packets >= self.limit,
        };
        if full && !matches!(said, Dropped(_)) {
            said = Dropped(Overflow);
        }
        if matches!(said, Dropped(_)) {
            self.idle_since = self.interrupted;
        }
        if self.ns && matches!(said, Dropped(Forced | Overflow)) {
            self.count = 0;
            self.count_bytes = 0;
        }
        said
    }

    fn idle(&mut self, now: u64) {
        self.idle_since.get_or_insert(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let unit = if self.bytes { self.mean } else { 1.0 };
        vec![("avg", self.avg / unit), ("max_p", self.cur_max_p)]
    }
}

const FLOYD: Adaptation = Adaptation::Floyd { last: None, bottom: 0.01 };

fn busy(tally: Tally, marks: bool) {
    assert!(tally.queued > 1000 && tally.early + tally.marked > 100, "{tally:?}");
    assert_eq!(tally.marked > 20, marks, "{tally:?}");
}

#[test]
fn the_report_in_both_units_and_under_each_ecn_rule() {
    let mut seed = 0;
    for units in ["packet", "byte"] {
        for above in ["drop", "mark_in_gentle", "mark_always"] {
            for gentle in ["true", "false"] {
                if gentle == "false" && above == "mark_in_gentle" {
                    continue;
                }
                seed += 1;
                let pairs: Pairs = &[
                    ("units", units),
                    ("ecn_above_max", above),
                    ("gentle", gentle),
                    ("ecn", "true"),
                    ("w_q", "1/128"),
                    ("limit", "25"),
                ];
                let mut red = Red::new(false, 0.1, FLOYD);
                (red.above, red.gentle, red.w, red.limit) =
                    (above, gentle == "true", 1.0 / 128.0, 25);
                if units == "byte" {
                    (red.bytes, red.min, red.max) = (true, 5000.0, 15_000.0);
                }
                let tally = duel("ared", pairs, red, seed, 60_000);
                busy(tally, true);
                assert!(tally.overflow > 0 || above == "drop", "{pairs:?} {tally:?}");
            }
        }
    }
}

#[test]
fn the_reports_own_settings() {
    let tally = duel(
        "ared",
        &[("ecn", "true")],
        Red { limit: 60, ..Red::new(false, 0.1, FLOYD) },
        77,
        200_000,
    );
    busy(tally, true);
}

#[test]
fn ns2_in_bytes_without_use_mark_p() {
    // min(0.01, 80000/10^7) = 0.008.
    let rule = Adaptation::Floyd { last: None, bottom: 0.008 };
    let ours = Red::new(true, 0.1, rule);
    let w = 1.0 - (-1.0 / (10.0 * 0.1 * 2500.0f64)).exp();
    let (min, max) = (6.25 * 500.0, 18.75 * 500.0);
    let red = Red { bytes: true, min, max, w, limit: 50, above: "mark_in_gentle", ..ours };
    let pairs: Pairs = &[("profile", "ns2"), ("ecn", "true"), ("ecn_above_max", "mark_in_gentle")];
    busy(duel("ared", pairs, red, 5, 100_000), true);
}

#[test]
fn self_configuring_red() {
    let feng = |status| Adaptation::Feng { status };
    let pairs: Pairs = &[("ecn", "true"), ("w_q", "1/64"), ("max_p", "0.1")];
    let mut red = Red::new(false, 0.1, feng(Status::Below));
    (red.w, red.gentle, red.limit, red.above) = (1.0 / 64.0, false, 60, "mark_in_gentle");
    busy(duel("feng_red", pairs, red, 11, 100_000), true);
    let pairs: Pairs =
        &[("profile", "ns2"), ("ecn", "true"), ("w_q", "1/64"), ("mean_packet_bytes", "500")];
    let mut red = Red::new(true, 0.1, feng(Status::Below));
    (red.w, red.limit, red.above) = (1.0 / 64.0, 60, "mark_in_gentle");
    busy(duel("feng_red", pairs, red, 12, 100_000), true);
}

#[test]
fn ns3_divides_max_p_at_the_first_packet() {
    let max_p = |profile| {
        let mut red = Bench::new("feng_red", &[("profile", profile)], 1);
        red.arrive(0, 1000, Ecn::NotEct);
        red.gauge("max_p")
    };
    assert_eq!((max_p("fj93"), max_p("ns2")), (0.1, 0.1));
    assert_eq!(max_p("ns3"), 0.02 / 3.0);
}

/// max_p after the average stood at `queue` packets for `secs`, arrivals every millisecond.
fn settled(pairs: Pairs, queue: u32, secs: u64) -> (f64, f64) {
    let all = [&[("w_q", "1"), ("min_th", "5"), ("max_th", "15")] as Pairs, pairs].concat();
    let mut red = Bench::new("ared", &all, 3);
    red.arrive(0, 1000, Ecn::NotEct);
    for ms in 1..=secs * 1000 {
        red.now = ms * 1_000_000;
        while let Some(tick) = red.gate.next_tick().filter(|t| t.nanos() <= red.now) {
            red.gate.on_tick(packet::Backlog::default(), tick, &mut red.rng);
        }
        red.arrive(queue, 1000, Ecn::NotEct);
    }
    (red.gauge("max_p"), red.gauge("p_b"))
}

#[test]
fn twenty_seconds_up_and_nineteen_down() {
    // A step every 501 ms: the next arrival after more than half a second.
    close(settled(&[], 12, 21).0, 0.5, 1e-9);
    close(settled(&[], 12, 10).0, 0.29, 1e-9);
    assert!(settled(&[("max_p", "0.5")], 8, 21).0 <= 0.01);
    close(settled(&[], 10, 21).0, 0.1, 0.0);
}

#[test]
fn a_spell_in_the_band_makes_the_next_step_immediate() {
    let mut red = Bench::new("ared", &[("w_q", "1"), ("min_th", "5"), ("max_th", "15")], 3);
    red.arrive(0, 1000, Ecn::NotEct);
    for (now, queue, max_p) in
        [(600, 12, 0.11), (1000, 12, 0.11), (5000, 10, 0.11), (5001, 12, 0.12), (5002, 12, 0.12)]
    {
        red.now = now * 1_000_000;
        red.arrive(queue, 1000, Ecn::NotEct);
        close(red.gauge("max_p"), max_p, 1e-12);
    }
}

#[test]
fn ns2_and_ns3_keep_the_first_gentle_curve() {
    // max_p has grown to 0.5; just above max_th.
    let at_max = |profile| {
        let pairs: Pairs = &[("profile", profile), ("max_p", "0.1"), ("units", "packet")];
        settled(pairs, 15, 21)
    };
    close(at_max("floyd").0, 0.5, 1e-9);
    close(at_max("floyd").1, 0.5, 1e-9);
    for profile in ["ns2", "ns3"] {
        close(at_max(profile).0, 0.5, 1e-9);
        close(at_max(profile).1, 0.1, 1e-9);
    }
}

/// Linux: its RED on the timer's step, in integers.
#[test]
fn linux_steps_on_its_timer_with_bounds_tested_before() {
    let last = |max_p, queue: u32| {
        let pairs: Pairs = &[
            ("profile", "linux"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("w_q", "1"),
            ("max_p", max_p),
            ("limit", "100"),
        ];
        let mut red = Bench::new("ared", pairs, 1);
        red.arrive(0, 1000, Ecn::NotEct);
        red.arrive(queue, 1000, Ecn::NotEct);
        let at = red.gate.next_tick().unwrap();
        assert_eq!(at, Instant::from_nanos(500_000_000));
        red.gate.on_tick(packet::Backlog::default(), at, &mut red.rng);
        assert_eq!(red.gate.next_tick(), Some(Instant::from_nanos(1_000_000_000)));
        red.gauge("max_p")
    };
    close(last("0.5", 12), 0.51, 1e-6);
    close(last("0.52", 12), 0.52, 1e-6);
    // tc truncates 0.01 to one unit of 2^-32 less than the kernel's one per cent.
    close(last("0.010000001", 8), 0.009, 1e-6);
    close(last("0.0099", 8), 0.0099, 1e-6);
    close(last("0.02", 12), 0.025, 1e-6);
    // The target is 9 to 11 packets, its edges inside.
    for (queue, max_p) in [(8, 0.09), (9, 0.1), (11, 0.1), (12, 0.11)] {
        close(last("0.1", queue), max_p, 1e-6);
    }
}

/// sch_red with the flag `adaptive`, as a whole.
struct Adaptive {
    avg: u64,
    max_p: u64,
    count: i64,
    r: u64,
    idle_since: Option<u64>,
    interrupted: Option<u64>,
}

/// min_th, max_th in bytes, and −log2 of the weight.
const LINUX: (u64, u64, u32) = (5000, 15_000, 6);

impl Adaptive {
    fn aged(&self, since: u64, now: u64) -> u64 {
        let per_us = -(1.0f64 - 1.0 / 64.0).ln() / 800.0;
        let cell = (0..31).find(|k| 31.0 / per_us / f64::from(1 << k) < 512.0).unwrap();
        let us = ((now - since) / 1000).min(255 << cell);
        match us >> cell {
            255 => self.avg >> 31,
            i => match ((i << cell) as f64 * per_us) as u64 {
                0 if ((self.avg * us) >> cell) < self.avg / 2 => {
                    self.avg - ((self.avg * us) >> cell)
                }
                0 => self.avg / 2,
                shift => self.avg >> shift.min(31),
            },
        }
    }

    fn draw(&mut self, rng: &mut Rng) {
        let slope = ((self.max_p + 5000) / 10_000).max(1);
        self.r = (rng.next_u64() >> 32) / slope;
    }
}

impl Reference for Adaptive {
    fn clock(&self) -> Option<(u64, u64)> {
        Some((500_000_000, 500_000_000))
    }

    fn tick(&mut self, queue: Queue) {
        let avg = self.idle_since.map_or(self.avg, |since| self.aged(since, queue.now)) >> LINUX.2;
        let percent = 42_949_673;
        if avg > 11_000 && self.max_p <= 50 * percent {
            self.max_p += percent.min(self.max_p / 4);
        } else if avg < 9_000 && self.max_p >= percent {
            self.max_p = self.max_p / 10 * 9;
        }
    }

    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        self.interrupted = self.idle_since.map(|_| a.now);
        self.avg = match self.idle_since.take() {
            Some(since) => self.aged(since, a.now),
            None => self.avg - (self.avg >> LINUX.2) + a.bytes,
        };
        let mut said = Queued;
        if self.avg < LINUX.0 << LINUX.2 {
            self.count = -1;
        } else if self.avg >= LINUX.1 << LINUX.2 {
            self.count = -1;
            said = if a.ect() { Marked(Forced) } else { Dropped(Forced) };
        } else {
            self.count += 1;
            if self.count == 0 {
                self.draw(rng);
            } else if ((self.avg >> LINUX.2) - LINUX.0) * self.count as u64 >= self.r {
                self.count = 0;
                self.draw(rng);
                said = if a.ect() { Marked(Early) } else { Dropped(Early) };
            }
        }
        if !matches!(said, Dropped(_)) && a.bytes + a.size > 30_000 {
            said = Dropped(Overflow);
        }
        if matches!(said, Dropped(_)) {
            self.idle_since = self.interrupted;
        }
        said
    }

    fn idle(&mut self, now: u64) {
        self.idle_since.get_or_insert(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("avg", self.avg as f64 / 64_000.0), ("max_p", self.max_p as f64 / 4_294_967_296.0)]
    }
}

#[test]
fn linux_as_a_whole() {
    let pairs: Pairs = &[
        ("profile", "linux"),
        ("min_th", "5"),
        ("max_th", "15"),
        ("w_q", "1/64"),
        ("limit", "30"),
        ("ecn", "true"),
    ];
    let max_p = (0.02 * 4_294_967_296.0) as u64;
    let red = Adaptive { avg: 0, max_p, count: -1, r: 0, idle_since: Some(0), interrupted: None };
    busy(duel("ared", pairs, red, 21, 100_000), true);
}

/// What is done to an ECN-capable packet at averages of 12, 20 and 40 packets (thresholds 5, 15).
fn done(pairs: Pairs) -> String {
    let all = [
        &[
            ("w_q", "1"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("ecn", "true"),
            ("mean_packet_bytes", "1000"),
            ("limit", "100"),
        ] as Pairs,
        pairs,
    ]
    .concat();
    let zone = |queue| {
        let mut red = Bench::new("ared", &all, 5);
        let mut found = (false, false);
        for n in 0..500 {
            match red.arrive(if n == 0 { 0 } else { queue }, 1000, Ecn::Ect0) {
                Marked(_) => found.0 = true,
                Dropped(_) => found.1 = true,
                Queued => {}
            }
        }
        match found {
            (true, false) => "mark",
            (false, true) => "drop",
            _ => "?",
        }
    };
    [12, 20, 40].map(zone).join(" ")
}

#[test]
fn the_ecn_rules_of_the_studies() {
    assert_eq!(done(&[]), "mark drop drop");
    assert_eq!(done(&[("ecn_above_max", "mark_in_gentle")]), "mark mark drop");
    assert_eq!(done(&[("ecn_above_max", "mark_always")]), "mark mark mark");
    for profile in ["ns2", "ns3"] {
        let ns = |above| done(&[("profile", profile), ("ecn_above_max", above)]);
        assert_eq!(ns("drop"), "mark drop drop");
        assert_eq!(ns("mark_in_gentle"), "mark mark drop");
        assert_eq!(ns("mark_always"), "mark mark mark");
    }
    assert_eq!(done(&[("profile", "ns3")]), "mark mark drop");
    assert_eq!(done(&[("profile", "ns2")]), "mark drop drop", "use_mark_p");
    assert_eq!(done(&[("profile", "linux")]), "mark mark mark");
    assert_eq!(done(&[("profile", "linux"), ("ecn_above_max", "drop")]), "mark drop drop");
}

#[test]
fn adaptation_holds_the_queue_in_the_middle_of_the_band() {
    // A source that halves its rate at a signal and grows otherwise, against a fixed line: plain
    // statistics of a closed loop, to within the band of 9 to 11 packets and one to each side.
    let mut red = match build("ared", &[], RATE) {
        Ok(built) => built.into_discipline(),
        Err(why) => panic!("{why}"),
    };
    let mut rng = Rng::named(8, "loop");
    let (mut now, mut free_at, mut gap) = (0u64, 0u64, 1e6f64);
    let (mut sum, mut samples) = (0.0, 0u32);
    for n in 0..400_000u32 {
        now += rng.exponential(gap) as u64 + 1;
        let mut lost = false;
        let mut out = |event| lost |= matches!(event, packet::Event::Dropped { .. });
        while free_at <= now {
            let at = Instant::from_nanos(free_at);
            let mut cx = aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out };
            free_at = match red.dequeue(&mut cx) {
                Some(_) => free_at + 800_000,
                None => now + 1,
            };
        }
        let at = Instant::from_nanos(now);
        let packet = packet::Packet {
            id: n,
            flow: 0,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: at,
            header: Default::default(),
        };
        red.enqueue(packet, &mut aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out });
        gap = if lost { (gap * 1.1).min(4e6) } else { (gap * 0.998).max(2e5) };
        if n > 200_000 {
            red.gauges(&mut |name, value| sum += if name == "avg" { value } else { 0.0 });
            samples += 1;
        }
    }
    let mean = sum / f64::from(samples);
    assert!((8.0..12.0).contains(&mean), "{mean}");
}
