//! RED-PD: a second transcription of `red-pd.cc` and of the scripts that steer it, with lists of
//! names and a memory that forgets nothing. Behind its filter stands the lab's own RED.

use std::collections::{BTreeMap, VecDeque};

use aqmlab_aqm::{Admission, Gate};
use packet::{Backlog, Ecn, Instant, Packet, Rng, Why};

use super::{Pairs, build, close, gate};

const RATE: u64 = 10_000_000;

#[derive(Clone, Debug)]
struct Monitored {
    target: f64,
    unresponsive: bool,
    hist: Vec<(f64, f64)>,
}

#[derive(Default, Debug)]
struct FlowMon {
    barrivals: u64,
    /// All drops and those of the pre-filter.
    bdrops: u64,
    mon_ebdrops: u64,
    count: i64,
    last_change: Option<u64>,
    monitored: Option<Monitored>,
}

struct Sim {
    red: Box<dyn Gate>,
    rtt: f64,
    noidle: bool,
    tests: bool,
    max_list: usize,
    flows: BTreeMap<u64, FlowMon>,
    high_dr_flow_hist: Vec<Vec<(u64, u64)>>,
    barrivals: u64,
    bdrops: u64,
    mon_ebdrops: u64,
    avg_drop_rate: f64,
    blist: [f64; 5],
    bindex: usize,
    last_detect: u64,
    detect_at: u64,
    reward_at: u64,
    declared: u32,
}

fn gauge(gate: &dyn Gate, name: &str) -> f64 {
    let mut found = f64::NAN;
    gate.gauges(&mut |gauge, value| {
        if gauge == name {
            found = value;
        }
    });
    found
}

impl Sim {
    fn min_last_change(&self, no_b: usize) -> f64 {
        let mut index = self.bindex as i64 - 1;
        let mut sum = 0.0;
        for _ in 0..no_b {
            if index == -1 {
                index = 4;
            }
            sum += self.blist[index as usize];
            index -= 1;
        }
        if sum < 0.4 { 0.4 } else { sum }
    }

    fn changed_before(&self, flow: &FlowMon, now: u64, no_b: usize) -> bool {
        flow.last_change.is_none_or(|then| {
            // Compared in whole nanoseconds: sums of rounded intervals.
            let pause = (self.min_last_change(no_b) * 1e9).round() as u64;
            now - then >= pause
        })
    }

    fn do_detect(&mut self, now: u64) {
        let elapsed = (now - self.last_detect) as f64 / 1e9;
        self.last_detect = now;
        let arrivals = self.barrivals - self.mon_ebdrops;
        let drops = self.bdrops - self.mon_ebdrops;
        let current = if arrivals == 0 { 0.0 } else { drops as f64 / arrivals as f64 };
        self.avg_drop_rate =
            if self.avg_drop_rate < 0.0 { current } else { (current + self.avg_drop_rate) / 2.0 };
        let usable = if current <= self.avg_drop_rate { current } else { self.avg_drop_rate };
        let mut drop_list = Vec::new();
        for (name, flow) in &self.flows {
            if flow.bdrops > flow.mon_ebdrops {
                drop_list.push((*name, flow.bdrops - flow.mon_ebdrops));
            }
        }
        drop_list.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        drop_list.truncate(self.max_list);
        self.high_dr_flow_hist.push(drop_list);
        if self.high_dr_flow_hist.len() > 5 {
            self.high_dr_flow_hist.remove(0);
        }
        let mut regular = Vec::new();
        for name in self.flows.keys() {
            let entries = self.high_dr_flow_hist.iter().flatten().filter(|(n, _)| n == name);
            let bytes: Vec<u64> = entries.map(|(_, bytes)| *bytes).collect();
            if bytes.len() >= 3 {
                regular.push((*name, bytes.iter().sum::<u64>()));
            }
        }
        let sum: u64 = regular.iter().map(|(_, bytes)| bytes).sum();
        let avg_drop_count = sum as f64 / regular.len() as f64;
        if current > 0.001 {
            for (name, drop_count) in regular {
                if self.changed_before(&self.flows[&name], now, 4) && self.flows[&name].bdrops != 0
                {
                    let pre = usable * drop_count as f64 / avg_drop_count;
                    self.monitor(name, pre, usable, elapsed, now);
                }
            }
        }
        let b = self.calculate_b();
        self.detect_at = now + (b * 1e9).round() as u64;
        self.reward_at = now + 1_000_000;
        for flow in self.flows.values_mut() {
            (flow.barrivals, flow.bdrops, flow.mon_ebdrops) = (0, 0, 0);
        }
        (self.barrivals, self.bdrops, self.mon_ebdrops) = (0, 0, 0);
    }

    fn monitor(&mut self, name: u64, pre: f64, usable: f64, elapsed: f64, now: u64) {
        let tests = self.tests;
        let flow = self.flows.get_mut(&name).unwrap();
        let m = flow.monitored.get_or_insert(Monitored {
            target: f64::NAN,
            unresponsive: false,
            hist: Vec::new(),
        });
        if m.target.is_nan() {
            let p = if pre > 2.0 * usable { 2.0 * usable } else { pre };
            m.target = if 1.0 - p < 0.5 { 0.5 } else { 1.0 - p };
        } else {
            let old = m.target;
            let old_p = 1.0 - old;
            if !m.unresponsive && tests && check_unresponsive(&m.hist) {
                m.unresponsive = true;
                self.declared += 1;
            }
            let (times, parts) = if m.unresponsive { (3.0, 2.0) } else { (2.0, 1.0) };
            let new_p = if pre > old_p { times * old_p } else { old_p + parts * pre };
            m.target = if 1.0 - new_p < 0.0 { old / times } else { 1.0 - new_p };
        }
        let rate = flow.barrivals as f64 / elapsed;
        m.hist.push((rate, flow.bdrops as f64 / flow.barrivals as f64));
        if m.hist.len() > 5 {
            m.hist.remove(0);
        }
        flow.last_change = Some(now);
    }

    fn calculate_b(&mut self) -> f64 {
        let p = self.avg_drop_rate;
        if p == 0.0 {
            return 10.0 * self.rtt;
        }
        let b = (3.0 / 5.0 * self.rtt / (1.5 * p).sqrt()).clamp(2.0 * self.rtt, 10.0 * self.rtt);
        self.blist[self.bindex] = (b * 1e9).round() / 1e9;
        self.bindex = (self.bindex + 1) % 5;
        b
    }

    fn do_reward(&mut self, now: u64) {
        self.reward_at = u64::MAX;
        let names: Vec<u64> = self.flows.keys().copied().collect();
        for name in names {
            let listed = self.high_dr_flow_hist.iter().flatten().any(|(n, _)| *n == name);
            let Some(m) = self.flows[&name].monitored.clone() else { continue };
            let no_b = if m.unresponsive { 5 } else { 3 };
            if listed || !self.changed_before(&self.flows[&name], now, no_b) {
                continue;
            }
            let p = 1.0 - m.target;
            let (stop, big, by) =
                if m.unresponsive { (0.9975, 0.075, 1.5) } else { (0.995, 0.1, 2.0) };
            let flow = self.flows.get_mut(&name).unwrap();
            flow.last_change = Some(now);
            if m.target >= stop {
                flow.monitored = None;
                flow.count = 0; // the one difference from ns-2 that is ours
            } else {
                let next = if p > big { p - 0.05 } else { p / by };
                flow.monitored.as_mut().unwrap().target = 1.0 - next;
            }
        }
    }

    fn enqueue(&mut self, packet: &mut Packet, backlog: Backlog, rng: &mut Rng) -> Admission {
        let bytes = u64::from(packet.bytes);
        self.barrivals += bytes;
        let avg = gauge(&*self.red, "avg");
        let flow = self.flows.entry(packet.flow).or_default();
        flow.barrivals += bytes;
        if let Some(m) = &flow.monitored {
            let mut p = 1.0 - m.target;
            let passed = flow.count as f64 * p;
            p = if passed < 1.0 { p / (1.0 - passed) } else { 1.0 };
            let u = rng.uniform();
            let q = backlog.packets;
            let may = if m.unresponsive { q > 1 || !self.noidle } else { avg >= 5.0 && q > 1 };
            if u < p && may {
                flow.count = 0;
                flow.bdrops += bytes;
                flow.mon_ebdrops += bytes;
                self.bdrops += bytes;
                self.mon_ebdrops += bytes;
                return Admission::Dropped(Why::Early);
            }
            flow.count += 1;
        }
        let now = packet.arrived;
        let said = self.red.admit(packet, backlog, now, rng);
        if said != Admission::Queued {
            flow.bdrops += bytes;
            self.bdrops += bytes;
        }
        said
    }
}

fn check_unresponsive(hist: &[(f64, f64)]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for (bw1, p1) in hist {
        for (bw2, p2) in hist {
            if p1 < p2 && p1 / p2 > 0.1 {
                if bw2 / bw1 > (p1 / p2).sqrt() { bad += 1 } else { good += 1 }
            }
        }
    }
    (good == 0 && bad >= 3) || (good == 1 && bad >= 4) || (good >= 2 && bad >= 4 * good)
}

/// A heavy flow, some that come and go, and many small ones, in phases of load.
struct Traffic {
    rng: Rng,
    now: u64,
    mean_gap: f64,
    heavy: u64,
}

impl Traffic {
    fn next(&mut self, id: u32) -> Packet {
        let rng = &mut self.rng;
        if rng.below(2000) == 0 {
            self.mean_gap = [3e5, 5e5, 6e5, 8e5][rng.below(4) as usize];
            self.heavy = rng.below(8);
        }
        self.now += rng.exponential(self.mean_gap) as u64;
        if rng.below(8000) == 0 {
            self.now += 2_000_000_000;
        }
        let flow = match rng.below(10) {
            0..3 => 0,
            3..6 => self.heavy,
            _ => 10 + rng.below(200),
        };
        // Sizes of which no two sums agree, so that no two flows lose equally much.
        let bytes = 40 + rng.below(1461) as u32;
        let ecn = [Ecn::NotEct, Ecn::Ect0][rng.below(2) as usize];
        Packet {
            id,
            flow,
            bytes,
            ecn,
            arrived: Instant::from_nanos(self.now),
            header: Default::default(),
        }
    }
}

struct Duel {
    product: Box<dyn Gate>,
    reference: Sim,
    draws: (Rng, Rng),
    waiting: VecDeque<u64>,
    bytes: u64,
    busy_until: Option<u64>,
    most_monitored: f64,
}

impl Duel {
    fn tick(&mut self, at: u64) {
        let now = Instant::from_nanos(at);
        let backlog = Backlog::default();
        self.product.on_tick(backlog, now, &mut self.draws.0);
        if self.reference.reward_at == at {
            self.reference.do_reward(at);
        } else {
            assert_eq!(self.reference.detect_at, at);
            self.reference.do_detect(at);
        }
        let flows = self.reference.flows.values();
        let all: Vec<f64> =
            flows.filter_map(|flow| Some(1.0 - flow.monitored.as_ref()?.target)).collect();
        let monitored = all.len() as f64;
        let largest = all.into_iter().fold(0.0, f64::max);
        close(gauge(&*self.product, "p_f"), largest, 1e-9);
        self.most_monitored = self.most_monitored.max(monitored);
        assert_eq!(gauge(&*self.product, "monitored"), monitored);
        close(gauge(&*self.product, "ambient"), self.reference.avg_drop_rate, 1e-12);
    }

    fn advance(&mut self, now: u64) {
        loop {
            let tick = self.product.next_tick().unwrap().nanos();
            let free = self.busy_until.unwrap_or(u64::MAX);
            if tick <= now.min(free) {
                self.tick(tick);
            } else if free <= now {
                self.busy_until = self.waiting.pop_front().map(|size| {
                    self.bytes -= size;
                    free + (size * 8_000_000_000).div_ceil(RATE)
                });
                if self.busy_until.is_none() {
                    let at = Instant::from_nanos(free);
                    self.product.on_idle(at);
                    self.reference.red.on_idle(at);
                }
            } else {
                return;
            }
        }
    }

    fn arrive(&mut self, packet: Packet) -> Admission {
        let now = packet.arrived.nanos();
        self.advance(now);
        let backlog = Backlog { packets: self.waiting.len() as u32, bytes: self.bytes };
        let (mut ours, mut theirs) = (packet.clone(), packet);
        let at = Instant::from_nanos(now);
        let said = self.product.admit(&mut ours, backlog, at, &mut self.draws.0);
        let expected = self.reference.enqueue(&mut theirs, backlog, &mut self.draws.1);
        assert_eq!((said, ours.ecn), (expected, theirs.ecn), "packet {}", ours.id);
        assert_eq!(self.draws.0, self.draws.1, "packet {}: a different number of draws", ours.id);
        assert_eq!(gauge(&*self.product, "avg"), gauge(&*self.reference.red, "avg"));
        let size = u64::from(ours.bytes);
        match (said, self.busy_until) {
            (Admission::Dropped(_), _) => {}
            (_, None) => self.busy_until = Some(now + (size * 8_000_000_000).div_ceil(RATE)),
            _ => {
                self.waiting.push_back(size);
                self.bytes += size;
            }
        }
        said
    }
}

/// What both are told, as RED-PD and as RED understand it.
fn pairs(fj93: bool, ecn: &'static str) -> [Vec<(&'static str, &'static str)>; 2] {
    let common = vec![
        ("min_th", "5"),
        ("max_th", "20"),
        ("w_q", "1/64"),
        ("max_p", "0.1"),
        ("gentle", "true"),
        ("mean_packet_bytes", "1000"),
        ("limit", "30"),
        ("ecn", ecn),
    ];
    let mut red = common.clone();
    red.push(("profile", if fj93 { "fj93" } else { "ns2" }));
    if !fj93 {
        red.extend([("use_mark_p", "false"), ("queue_in_bytes", "false")]);
        red.push(("byte_probability", "false"));
    }
    let mut red_pd = common;
    red_pd.push(("inner", if fj93 { "fj93" } else { "ns2" }));
    [red_pd, red]
}

fn duel(bits: u64) -> (f64, u32, u32) {
    let on = |bit: u32| bits >> bit & 1 == 1;
    let text = |on: bool| if on { "true" } else { "false" };
    let (noidle, tests, max_list) = (on(1), !on(2), if on(3) { 4 } else { 50 });
    let [mut red_pd, red] = pairs(on(0), text(on(2)));
    red_pd.extend([("noidle", text(noidle)), ("unresponsive_test", text(tests))]);
    red_pd.push(("max_listed", if on(3) { "4" } else { "50" }));
    // The least pause is longer than several short intervals, and shorter than as many long ones.
    let rtt = if on(4) { 0.030 } else { 0.010 };
    red_pd.push(("R", if on(4) { "30 ms" } else { "10 ms" }));
    let mut duel = Duel {
        product: gate("red_pd", &red_pd),
        reference: Sim {
            red: gate("red", &red),
            rtt,
            noidle,
            tests,
            max_list,
            flows: BTreeMap::new(),
            high_dr_flow_hist: Vec::new(),
            barrivals: 0,
            bdrops: 0,
            mon_ebdrops: 0,
            avg_drop_rate: -1.0,
            blist: [0.0; 5],
            bindex: 0,
            last_detect: 0,
            detect_at: if on(4) { 300_000_000 } else { 100_000_000 },
            reward_at: u64::MAX,
            declared: 0,
        },
        draws: (Rng::named(bits, "draws"), Rng::named(bits, "draws")),
        waiting: VecDeque::new(),
        bytes: 0,
        busy_until: None,
        most_monitored: 0.0,
    };
    let mut traffic = Traffic { rng: Rng::named(bits, "traffic"), now: 0, mean_gap: 5e5, heavy: 1 };
    let mut marked = 0;
    for id in 0..60_000 {
        let packet = traffic.next(id);
        marked += u32::from(matches!(duel.arrive(packet), Admission::Marked(_)));
    }
    (duel.most_monitored, duel.reference.declared, marked)
}

#[test]
fn both_transcriptions_agree() {
    let mut declared = 0;
    for bits in 0..32 {
        let (monitored, unresponsive, marked) = duel(bits);
        assert!(monitored >= 2.0, "{bits}: {monitored} monitored");
        let tests_and_marks = bits & 4 == 4;
        assert_eq!(marked > 50, tests_and_marks, "{bits}: {marked} marked");
        assert!(!tests_and_marks || unresponsive == 0);
        declared += unresponsive;
    }
    assert!(declared > 10, "{declared} flows declared unresponsive");
}

#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("red_pd", &[]);
    assert!(small > 0.9, "{small}");
    // Raised by threes and lowered by steps, its probability overshoots.
    assert!(heavy > 0.4 && heavy < 0.75, "{heavy}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let refusal = |pairs: Pairs| build("red_pd", pairs, RATE).err().unwrap().to_string();
    assert!(refusal(&[("min_th", "40")]).starts_with("min_th: 40 is not below max_th = 33"));
    assert!(refusal(&[("K", "6")]).starts_with("K: 6 is more than N = 5"));
}
