//! CHOKe: published probabilities, and a second transcription that holds its own packets.

use aqmlab_aqm::{Cx, Discipline};
use packet::{Backlog, Ecn, Event, Instant, Packet, Rng, Why};

use super::{Pairs, build, close};

/// The line's rate in bit/s.
const RATE: u64 = 10_000_000;

fn choke(pairs: Pairs) -> Box<dyn Discipline> {
    build("choke", pairs, RATE).unwrap_or_else(|why| panic!("{why}")).into_discipline()
}

fn refusal(pairs: Pairs) -> String {
    build("choke", pairs, RATE).err().unwrap_or_else(|| panic!("{pairs:?}")).to_string()
}

fn gauge(choke: &dyn Discipline, name: &str) -> f64 {
    let mut found = f64::NAN;
    choke.gauges(&mut |gauge, value| {
        if gauge == name {
            found = value;
        }
    });
    found
}

fn enqueue(choke: &mut dyn Discipline, packet: Packet, rng: &mut Rng) -> Vec<Event> {
    let mut heard = Vec::new();
    let mut out = |event| heard.push(event);
    let now = packet.arrived;
    choke.enqueue(packet, &mut Cx { now, rng, out: &mut out });
    heard
}

fn dequeue(choke: &mut dyn Discipline, now: u64, rng: &mut Rng) -> Option<Packet> {
    let now = Instant::from_nanos(now);
    choke.dequeue(&mut Cx { now, rng, out: &mut |event| panic!("{event:?} at a departure") })
}

fn packet(id: u32, flow: u64, ecn: Ecn) -> Packet {
    Packet { id, flow, bytes: 1000, ecn, arrived: Instant::ZERO, header: Default::default() }
}

/// What becomes of an arrival of flow 7 (or 8) that finds ten packets, three of them of flow 7,
/// and so an average of 10.
fn eleventh(pairs: Pairs, flow: u64, ecn: Ecn, rng: &mut Rng) -> (Vec<Event>, f64) {
    let pairs = [&[("w_q", "1")], pairs].concat();
    let mut choke = choke(&pairs);
    for id in 0..10 {
        let flow = if id % 4 == 1 { 7 } else { 100 + u64::from(id) };
        let heard = enqueue(&mut *choke, packet(id, flow, Ecn::NotEct), rng);
        assert_eq!(heard, [Event::Queued { id }], "up to min_th everything passes");
    }
    let heard = enqueue(&mut *choke, packet(10, flow, ecn), rng);
    (heard, gauge(&*choke, "p_b"))
}

/// Shares of both dropped, only the arrival dropped, admitted.
fn shares(pairs: Pairs, flow: u64) -> [f64; 3] {
    // Of 40 000 trials: five standard errors are at most 0.0125.
    let mut rng = Rng::named(1, "shares");
    let mut seen = [0u32; 3];
    for _ in 0..40_000 {
        match &eleventh(pairs, flow, Ecn::NotEct, &mut rng).0[..] {
            [Event::Dropped { packet: victim, .. }, Event::Dropped { packet, .. }] => {
                assert_eq!((victim.flow, packet.id), (7, 10));
                assert!(victim.id < 10);
                seen[0] += 1;
            }
            [Event::Dropped { packet, .. }] => {
                assert_eq!(packet.id, 10);
                seen[1] += 1;
            }
            [Event::Queued { id: 10 }] => seen[2] += 1,
            other => panic!("{other:?}"),
        }
    }
    seen.map(|n| f64::from(n) / 40_000.0)
}

#[test]
fn published_probabilities() {
    // Three of ten match; p_b = 0.1 (10 - 9)/(11 - 9) = 0.05, and the count is 0.
    let [both, arrival, admitted] =
        shares(&[("min_th", "9"), ("max_th", "11"), ("max_p", "0.1")], 7);
    close(both, 0.3, 0.0125);
    close(arrival, 0.7 * 0.05, 0.006);
    close(admitted, 0.665, 0.0125);
    // The first packet in Linux's band only draws R.
    let linux = [("profile", "linux"), ("min_th", "9"), ("max_th", "11"), ("max_p", "0.1")];
    let [both, arrival, _] = shares(&linux, 7);
    close(both, 0.3, 0.0125);
    assert_eq!(arrival, 0.0);
}

#[test]
fn an_average_of_max_th_is_tested_and_one_above_it_is_certain() {
    let mut rng = Rng::named(2, "edges");
    let edge = [("min_th", "9"), ("max_th", "10"), ("max_p", "0.1")];
    assert_eq!(eleventh(&edge, 8, Ecn::NotEct, &mut rng).1, 0.1);
    let [both, arrival, _] = shares(&edge, 8);
    assert_eq!(both, 0.0);
    close(arrival, 0.1, 0.0075);
    let above = [("min_th", "9"), ("max_th", "9.9"), ("limit", "1000")];
    let only_the_arrival = |heard: &[Event]| matches!(heard, [Event::Dropped { packet, why: Why::Forced }] if packet.id == 10);
    let (heard, p_b) = eleventh(&above, 8, Ecn::NotEct, &mut rng);
    assert!(only_the_arrival(&heard) && p_b == 1.0, "{heard:?}");
    let ecn = [&above[..], &[("ecn", "true")]].concat();
    let marked = [Event::Marked { id: 10, why: Why::Forced }, Event::Queued { id: 10 }];
    assert_eq!(eleventh(&ecn, 8, Ecn::Ect0, &mut rng).0, marked);
    assert!(only_the_arrival(&eleventh(&ecn, 8, Ecn::NotEct, &mut rng).0));
    let hard = [&ecn[..], &[("harddrop", "true")]].concat();
    assert!(only_the_arrival(&eleventh(&hard, 8, Ecn::Ect0, &mut rng).0));
}

#[test]
fn up_to_min_th_nothing_is_drawn() {
    for profile in ["paper", "linux"] {
        let pairs = [("profile", profile), ("min_th", "10"), ("max_th", "12")];
        let mut rng = Rng::named(3, "calm");
        let (heard, _) = eleventh(&pairs, 7, Ecn::NotEct, &mut rng);
        assert_eq!(heard, [Event::Queued { id: 10 }]);
        assert_eq!(rng, Rng::named(3, "calm"));
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    assert!(refusal(&[("min_th", "300")]).starts_with("min_th: 300 is not below max_th = 200"));
    let linux = ("profile", "linux");
    assert!(refusal(&[linux, ("limit", "131072")]).contains("at most 131071 places"));
    assert!(refusal(&[linux, ("min_th", "4.5")]).contains("write 4 or 5"));
    assert!(refusal(&[linux, ("w_q", "0.002")]).contains("power of two"));
    let wide = [linux, ("min_th", "5000"), ("max_th", "9000"), ("w_q", "1/1048576")];
    assert!(refusal(&wide).contains("must be below 4096"));
}

/// Straight from the paper's figure and from `choke_enqueue`, with packets of its own.
struct Reference {
    linux: bool,
    ecn: bool,
    harddrop: bool,
    min: u64,
    max: u64,
    max_p: f64,
    wlog: u32,
    limit: usize,
    avg: f64,
    qavg: u64,
    qcount: i64,
    qr: u64,
    idle: Option<u64>,
    /// Up to where the idle time that the last arrival met has aged the average of the paper.
    aged_to: Option<u64>,
    /// The array: (id, flow, size), or a hole.
    tab: Vec<Option<(u32, u64, u64)>>,
}

#[derive(Debug, PartialEq)]
enum Fate {
    Queued,
    Marked(Why),
    Dropped(Why),
    Both(u32),
}

impl Reference {
    fn len(&self) -> usize {
        self.tab.iter().flatten().count()
    }

    fn average(&mut self, now: u64) {
        let since = self.idle.take();
        let idle = since.map(|since| now - since);
        self.aged_to = since.map(|since| since + (now - since) / 800_000 * 800_000);
        let q = self.len();
        if self.linux {
            self.qavg = match idle {
                Some(ns) => linux_age(self.qavg, ns / 1000, self.wlog),
                None => self.qavg + q as u64 - (self.qavg >> self.wlog),
            };
            self.avg = self.qavg as f64 / (1u64 << self.wlog) as f64;
        } else {
            let w = 1.0 / (1u64 << self.wlog) as f64;
            match idle {
                Some(ns) => {
                    for _ in 0..(ns / 800_000).min(2_000_000) {
                        self.avg *= 1.0 - w;
                    }
                }
                None => self.avg = (1.0 - w) * self.avg + w * q as f64,
            }
        }
    }

    fn random_victim(&self, rng: &mut Rng) -> Option<usize> {
        if self.len() == 0 {
            return None;
        }
        if !self.linux {
            let nth = rng.below(self.len() as u64) as usize;
            let waiting = self.tab.iter().enumerate().filter(|(_, p)| p.is_some());
            return Some(waiting.map(|(i, _)| i).nth(nth).unwrap());
        }
        for _ in 0..3 {
            let i = rng.below(self.tab.len() as u64) as usize;
            if self.tab[i].is_some() {
                return Some(i);
            }
        }
        Some(0)
    }

    fn zap_head(&mut self) {
        while self.tab.first().is_some_and(Option::is_none) {
            self.tab.remove(0);
        }
    }

    fn enqueue(
        &mut self,
        id: u32,
        flow: u64,
        size: u64,
        ect: bool,
        now: u64,
        rng: &mut Rng,
    ) -> Fate {
        self.average(now);
        let (min, max) = (self.min as f64, self.max as f64);
        let mut mark = None;
        if self.avg <= min {
            self.qcount = -1;
        } else {
            if let Some(i) = self.random_victim(rng)
                && self.tab[i].unwrap().1 == flow
            {
                let victim = self.tab[i].take().unwrap().0;
                self.zap_head();
                return Fate::Both(victim);
            }
            if self.avg > max {
                self.qcount = -1;
                if self.harddrop || !self.ecn || !ect {
                    return Fate::Dropped(Why::Forced);
                }
                mark = Some(Why::Forced);
            } else if self.early(min, max, rng) {
                if !self.ecn || !ect {
                    return Fate::Dropped(Why::Early);
                }
                mark = Some(Why::Early);
            }
        }
        if self.len() >= self.limit {
            return Fate::Dropped(Why::Overflow);
        }
        self.tab.push(Some((id, flow, size)));
        mark.map_or(Fate::Queued, Fate::Marked)
    }

    fn early(&mut self, min: f64, max: f64, rng: &mut Rng) -> bool {
        self.qcount += 1;
        if !self.linux {
            let p_b = self.max_p * (self.avg - min) / (max - min);
            let p_a = p_b / (1.0 - self.qcount as f64 * p_b);
            let hit = rng.uniform() < if p_a < 0.0 { 1.0 } else { p_a };
            if hit {
                self.qcount = 0;
            }
            return hit;
        }
        let mut random = || {
            let per_packet = (self.max_p * 4_294_967_296.0) as u64 / (self.max - self.min);
            (rng.next_u64() >> 32) / per_packet
        };
        if self.qcount == 0 {
            self.qr = random();
            return false;
        }
        let packets = (self.qavg - (self.min << self.wlog)) >> self.wlog;
        if packets * (self.qcount as u64) < self.qr {
            return false;
        }
        self.qr = random();
        self.qcount = 0;
        true
    }

    fn dequeue(&mut self, now: u64) -> Option<(u32, u64)> {
        if self.tab.is_empty() {
            let dropped = if self.linux { None } else { self.aged_to };
            self.idle.get_or_insert(dropped.unwrap_or(now));
            return None;
        }
        self.aged_to = None;
        let (id, _, size) = self.tab.remove(0).unwrap();
        self.zap_head();
        Some((id, size))
    }
}

/// tc's table for packets of 800 us, and the kernel's use of it.
fn linux_age(avg: u64, us: u64, wlog: u32) -> u64 {
    let per_us = -(1.0 - 0.5f64.powi(wlog as i32)).ln() / 800.0;
    let mut cell = 1u64;
    while 31.0 / per_us / cell as f64 >= 512.0 {
        cell *= 2;
    }
    let us = us.min(255 * cell);
    match us / cell {
        255 => avg >> 31,
        i => match (((i * cell) as f64 * per_us) as u64).min(31) {
            0 if avg * us / cell < avg / 2 => avg - avg * us / cell,
            0 => avg / 2,
            shift => avg >> shift,
        },
    }
}

fn fate(heard: &[Event]) -> Fate {
    match heard {
        [Event::Queued { .. }] => Fate::Queued,
        [Event::Marked { why, .. }, Event::Queued { .. }] => Fate::Marked(*why),
        [Event::Dropped { why, .. }] => Fate::Dropped(*why),
        [Event::Dropped { packet, .. }, Event::Dropped { .. }] => Fate::Both(packet.id),
        other => panic!("{other:?}"),
    }
}

/// The line is free at `at`: both hand it the same packet. When it is free again.
fn serve(
    at: u64,
    reference: &mut Reference,
    product: &mut dyn Discipline,
    rng: &mut Rng,
) -> Option<u64> {
    let expected = reference.dequeue(at);
    let sent = dequeue(product, at, rng).map(|p| (p.id, u64::from(p.bytes)));
    assert_eq!(sent, expected);
    expected.map(|(_, size)| at + size * 8_000_000_000 / RATE)
}

/// Drives both over one random trace; how often each fate befell a packet.
fn duel(
    linux: bool,
    ecn: bool,
    harddrop: bool,
    numbers: (u64, u64, f64, u32),
    seed: u64,
) -> [u32; 5] {
    let (min, max, max_p, wlog) = numbers;
    let text = |on: bool| if on { "true" } else { "false" };
    let (min_text, max_text, p_text) = (min.to_string(), max.to_string(), max_p.to_string());
    let w_q = format!("1/{}", 1 << wlog);
    let mut product = choke(&[
        ("profile", if linux { "linux" } else { "paper" }),
        ("min_th", &min_text),
        ("max_th", &max_text),
        ("max_p", &p_text),
        ("w_q", &w_q),
        ("limit", "40"),
        ("ecn", text(ecn)),
        ("harddrop", text(harddrop)),
    ]);
    let mut reference = Reference {
        linux,
        ecn,
        harddrop,
        min,
        max,
        max_p,
        wlog,
        limit: 40,
        avg: 0.0,
        qavg: 0,
        qcount: -1,
        qr: 0,
        idle: Some(0),
        aged_to: None,
        tab: Vec::new(),
    };
    let mut draws = (Rng::named(seed, "draws"), Rng::named(seed, "draws"));
    let mut traffic = Rng::named(seed, "traffic");
    let (mut now, mut mean_gap, mut busy_until) = (0, 5e5, None::<u64>);
    let mut seen = [0; 5];
    for id in 0..30_000 {
        if traffic.below(300) == 0 {
            mean_gap = [2e5, 5e5, 7e5, 8e5, 3e6][traffic.below(5) as usize];
        }
        now += traffic.exponential(mean_gap) as u64;
        if traffic.below(700) == 0 {
            now += [3_000_000, 80_000_000, 2_000_000_000][traffic.below(3) as usize];
        }
        let flow = if traffic.below(2) == 0 { traffic.below(4) } else { traffic.below(300) };
        let bytes = [40, 1000, 1500][traffic.below(3) as usize];
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][traffic.below(4) as usize];
        while let Some(end) = busy_until.filter(|end| *end <= now) {
            busy_until = serve(end, &mut reference, &mut *product, &mut draws.0);
        }
        let arrived = Instant::from_nanos(now);
        let packet = Packet { id, flow, bytes, ecn, arrived, header: Default::default() };
        let ect = ecn != Ecn::NotEct;
        let expected = reference.enqueue(id, flow, u64::from(bytes), ect, now, &mut draws.1);
        let said = fate(&enqueue(&mut *product, packet, &mut draws.0));
        assert_eq!(said, expected, "packet {id}");
        seen[match said {
            Fate::Queued => 0,
            Fate::Marked(_) => 1,
            Fate::Dropped(Why::Overflow) => 2,
            Fate::Dropped(_) => 3,
            Fate::Both(_) => 4,
        }] += 1;
        let waiting = reference.tab.iter().flatten();
        let bytes = waiting.map(|(_, _, size)| size).sum();
        let backlog = Backlog { packets: reference.len() as u32, bytes };
        assert_eq!(product.backlog(), backlog);
        close(gauge(&*product, "avg"), reference.avg, 1e-9);
        assert_eq!(gauge(&*product, "count"), reference.qcount as f64);
        if busy_until.is_none() {
            busy_until = serve(now, &mut reference, &mut *product, &mut draws.0);
        }
    }
    assert_eq!(draws.0, draws.1, "a different number of draws");
    seen
}

#[test]
fn both_transcriptions_agree() {
    for bits in 0..16u64 {
        let on = |bit: u32| bits >> bit & 1 == 1;
        let numbers = if on(3) { (5, 15, 0.1, 2) } else { (10, 34, 0.02, 6) };
        let seen = duel(on(0), on(1), on(2), numbers, bits);
        let [queued, marked, overflow, dropped, both] = seen;
        assert!(queued > 5000 && both > 500 && dropped > 50, "{bits}: {seen:?}");
        assert_eq!(marked > 50, on(1), "{bits}: {seen:?}");
        assert!(on(3) || overflow > 10, "{bits}: {seen:?}");
    }
}

#[test]
fn a_flow_that_does_not_yield_loses_more_than_its_share() {
    // It meets itself in the queue and makes room for the others.
    let (small, heavy) = super::unfair::run("choke", &[]);
    assert!(small > 0.95, "{small}");
    close(heavy, 0.75, 0.02);
}
