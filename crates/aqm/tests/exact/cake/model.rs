//! A second transcription of sch_cake's routines over plain lists.

mod acks;

use std::collections::{HashMap, VecDeque};

use packet::{Ack, DropReason, Ecn, Packet, Rng, TcpHeader};

use super::super::line::Did;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Set {
    #[default]
    None,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

/// The kernel's struct cake_flow with its cobalt_vars, and the flow's tag.
#[derive(Clone, Default)]
struct Flow {
    packets: VecDeque<Packet>,
    /// Deficit in units of 1/65536 byte.
    deficit: i64,
    src: usize,
    dst: usize,
    set: Set,
    tag: u32,
    count: u64,
    rec_inv_sqrt: u64,
    dropping: bool,
    drop_next: i64,
    p_drop: f64,
    blue: Option<i64>,
}

impl Flow {
    fn backlog(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.bytes)).sum()
    }

    /// cobalt_invsqrt: 2^32/sqrt(count), for the first counts from the kernel's table.
    fn invsqrt(&mut self) {
        let root = (2f64.powi(32) / (self.count.max(1) as f64).sqrt()).round() as u64;
        self.rec_inv_sqrt = match self.count {
            0 | 1 | 4 => root - 1,
            10 | 12 | 15 => root + 1,
            2..=14 => root,
            _ => {
                let square = (self.rec_inv_sqrt * self.rec_inv_sqrt) >> 32;
                ((((3 << 32) - self.count * square) >> 2) * self.rec_inv_sqrt) >> 31
            }
        };
    }
}

#[derive(Clone, Copy, Default)]
struct Host {
    src_tag: u32,
    dst_tag: u32,
    src_bulk: u64,
    dst_bulk: u64,
}

/// The kernel's struct cake_tin_data.
struct Tin {
    flows: Vec<Flow>,
    hosts: Vec<Host>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    flow_quantum: i64,
    target: i64,
    interval: i64,
    mtu_time: i64,
    /// The shaper's time for a byte, in units of 2^-32 ns.
    pace: u128,
    quantum: i64,
    deficit: i64,
    time_next: i64,
}

impl Tin {
    fn number(&self, sets: &[Set]) -> usize {
        self.flows.iter().filter(|flow| sets.contains(&flow.set)).count()
    }
    fn bulk(&self) -> usize {
        self.number(&[Set::Bulk])
    }
    fn sparse(&self) -> usize {
        self.number(&[Set::Sparse, Set::SparseWait])
    }
    fn control(&self, rec_inv_sqrt: u64, t: i64) -> i64 {
        t + ((self.interval as u64 * rec_inv_sqrt) >> 32) as i64
    }
    fn unlist(&mut self, i: usize) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|other| *other != i);
        }
    }
}

/// The settings of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Conf {
    /// The shaper's rate in bit/s; 0 for no shaper.
    pub rate: u64,
    pub tins: &'static str,
    pub isolation: &'static str,
    pub ingress: bool,
    pub ack_filter: &'static str,
    /// Whether packets come with TCP headers.
    pub headers: bool,
    pub ecn: bool,
    pub memory: u64,
    pub overhead: u64,
    pub mpu: u64,
    pub framing: &'static str,
    pub queues: usize,
}

pub const BASE: Conf = Conf {
    rate: 0,
    tins: "diffserv3",
    isolation: "triple-isolate",
    ingress: false,
    ack_filter: "no",
    headers: false,
    ecn: true,
    memory: 0,
    overhead: 0,
    mpu: 0,
    framing: "none",
    queues: 16,
};

pub const SEED: u64 = 7;
const MTU: u64 = 1514;

/// The kernel's struct cake_sched_data.
pub struct Cake {
    conf: Conf,
    /// TCP headers by the packet's id.
    headers: HashMap<u32, TcpHeader>,
    tins: Vec<Tin>,
    cur_tin: usize,
    pace: u128,
    /// Time at which the shaper lets the next packet go, in units of 2^-32 ns.
    time_next: u128,
    failsafe: i64,
    limit: u64,
    pub watchdog: Option<u64>,
}

fn splitmix(value: u64, seed: u64) -> u32 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    };
    mix(value ^ mix(seed.wrapping_add(0x9E3779B97F4A7C15))) as u32
}

/// The tables of sch_cake: the tin of each of the 64 DSCPs, as digits.
fn table(tins: &str) -> &'static str {
    match tins {
        "precedence" => "0000000011111111222222223333333344444444555555556666666677777777",
        "diffserv8" => "2012422212121212524242423232323262323232622262627222222272222222",
        "diffserv4" => "0100200010000000202020202020202030202020300030303000000030000000",
        "diffserv3" => "0100200010000000000000000000000000000000000020202000000020000000",
        _ => "0000000000000000000000000000000000000000000000000000000000000000",
    }
}

fn pace(rate: u64) -> u128 {
    if rate == 0 { 0 } else { 4_294_967_296_000_000_000 / u128::from(rate.max(64)) }
}

impl Cake {
    pub fn new(conf: Conf) -> Self {
        let rate = conf.rate / 8;
        let divided: Vec<(u64, i64)> = match conf.tins {
            "besteffort" => vec![(rate, 65_535)],
            "diffserv3" => vec![(rate, 1024), (rate / 16, 64), (rate / 4, 256)],
            "diffserv4" => vec![(rate, 1024), (rate / 16, 64), (rate / 2, 512), (rate / 4, 256)],
            _ => {
                let mut all = vec![(rate, 256)];
                for n in 0..7 {
                    let (rate, quantum): (u64, i64) = all[n];
                    all.push((rate * 7 / 8, quantum * 7 / 8));
                }
                all
            }
        };
        let tin = |(tin_rate, quantum): (u64, i64)| {
            let mtu_time = ((pace(tin_rate) * u128::from(MTU)) >> 32) as i64;
            let target = (mtu_time * 3 / 2).max(5_000_000);
            Tin {
                flows: vec![Flow::default(); conf.queues],
                hosts: vec![Host::default(); conf.queues],
                new: VecDeque::new(),
                old: VecDeque::new(),
                decaying: VecDeque::new(),
                flow_quantum: if rate > 0 {
                    (tin_rate as i64 / 4096).clamp(300, 1514)
                } else {
                    1514
                },
                target,
                interval: (95_000_000 + target).max(2 * target),
                mtu_time,
                pace: pace(tin_rate),
                quantum,
                deficit: 0,
                time_next: 0,
            }
        };
        let default = if rate > 0 { (rate * 4 / 10).max(4 << 20) } else { u64::MAX };
        Cake {
            conf,
            headers: HashMap::new(),
            tins: divided.into_iter().map(tin).collect(),
            cur_tin: 0,
            pace: pace(rate),
            time_next: 0,
            failsafe: 0,
            limit: if conf.memory > 0 { conf.memory } else { default.min(10_240 * MTU) },
            watchdog: None,
        }
    }

    fn dsrc(&self) -> bool {
        matches!(self.conf.isolation, "dual-srchost" | "triple-isolate")
    }
    fn ddst(&self) -> bool {
        matches!(self.conf.isolation, "dual-dsthost" | "triple-isolate")
    }
    fn qlen(&self) -> usize {
        self.tins.iter().flat_map(|tin| &tin.flows).map(|flow| flow.packets.len()).sum()
    }

    fn host_bulk(&mut self, t: usize, i: usize, up: bool) {
        let (dsrc, ddst) = (self.dsrc(), self.ddst());
        let Tin { flows, hosts, .. } = &mut self.tins[t];
        let step = |n: &mut u64| if up { *n += 1 } else { *n -= 1 };
        if dsrc {
            step(&mut hosts[flows[i].src].src_bulk);
        }
        if ddst {
            step(&mut hosts[flows[i].dst].dst_bulk);
        }
    }

    fn quantum(&self, t: usize, i: usize) -> i64 {
        let tin = &self.tins[t];
        let mut load = 1;
        if self.dsrc() {
            load = load.max(tin.hosts[tin.flows[i].src].src_bulk);
        }
        if self.ddst() {
            load = load.max(tin.hosts[tin.flows[i].dst].dst_bulk);
        }
        tin.flow_quantum * 65_536 / load as i64
    }

    /// The kernel's cake_hash: index of the packet's flow in tin `t`.
    fn hash(&mut self, t: usize, p: &Packet) -> usize {
        let n = self.conf.queues;
        let src_hash = splitmix(u64::from(p.header.source), SEED + 1);
        let dst_hash = splitmix(u64::from(p.header.destination), SEED + 2);
        let flow_hash = match self.conf.isolation {
            "flowblind" => return 0,
            "srchost" => src_hash,
            "dsthost" => dst_hash,
            "hosts" => src_hash ^ dst_hash,
            _ => splitmix(p.flow, SEED),
        };
        let (dsrc, ddst) = (self.dsrc(), self.ddst());
        let way = |hash: u32, k: usize| {
            let reduced = hash as usize % n;
            reduced / 8 * 8 + (reduced % 8 + k) % 8
        };
        let mut allocate = false;
        let flows = &self.tins[t].flows;
        let hit = (0..8).map(|k| way(flow_hash, k)).find(|i| flows[*i].tag == flow_hash);
        let miss = (0..8).map(|k| way(flow_hash, k)).find(|i| flows[*i].set == Set::None);
        let i = match (hit, miss) {
            (Some(i), _) => {
                allocate |= flows[i].set == Set::None;
                i
            }
            (None, Some(i)) => {
                allocate = true;
                i
            }
            (None, None) => {
                allocate = true;
                way(flow_hash, 0)
            }
        };
        let collided = hit.is_none() && miss.is_none() && flows[i].set == Set::Bulk;
        if collided {
            self.host_bulk(t, i, false);
        }
        let Tin { flows, hosts, .. } = &mut self.tins[t];
        flows[i].tag = flow_hash;
        if allocate && dsrc {
            let known = (0..8).map(|k| way(src_hash, k)).find(|h| hosts[*h].src_tag == src_hash);
            let free = (0..8).map(|k| way(src_hash, k)).find(|h| hosts[*h].src_bulk == 0);
            flows[i].src = known.or(free).unwrap_or(way(src_hash, 0));
            hosts[flows[i].src].src_tag = src_hash;
        }
        if allocate && ddst {
            let known = (0..8).map(|k| way(dst_hash, k)).find(|h| hosts[*h].dst_tag == dst_hash);
            let free = (0..8).map(|k| way(dst_hash, k)).find(|h| hosts[*h].dst_bulk == 0);
            flows[i].dst = known.or(free).unwrap_or(way(dst_hash, 0));
            hosts[flows[i].dst].dst_tag = dst_hash;
        }
        if collided {
            self.host_bulk(t, i, true);
        }
        i
    }

    /// The kernel's cake_calc_overhead: bytes of the packet on the link.
    fn adjusted(&self, p: &Packet) -> u64 {
        let mut len = u64::from(p.bytes) + self.conf.overhead;
        if len < self.conf.mpu {
            len = self.conf.mpu;
        }
        match self.conf.framing {
            "atm" => (len + 47).div_euclid(48) * 53,
            "ptm" => len + (len + 63).div_euclid(64),
            _ => len,
        }
    }

    /// The kernel's cake_advance_shaper. Returns the packet's bytes on the link.
    fn advance(&mut self, t: usize, p: &Packet, now: i64, drop: bool) -> i64 {
        let len = self.adjusted(p);
        if self.conf.rate > 0 {
            let tin = &mut self.tins[t];
            let tin_dur = ((u128::from(len) * tin.pace) >> 32) as i64;
            if tin.time_next < now {
                tin.time_next += tin_dur;
            } else if tin.time_next < now + tin_dur {
                tin.time_next = now + tin_dur;
            }
            let before = self.time_next >> 32;
            self.time_next += u128::from(len) * self.pace;
            let global_dur = ((self.time_next >> 32) - before) as i64;
            if !drop {
                self.failsafe += global_dur + (global_dur >> 1);
            }
        }
        len as i64
    }

    /// cake_ack_filter, by TCP headers, or by the packets' `ack` fields without them.
    fn ack_filter(&mut self, t: usize, i: usize) -> Option<Packet> {
        let packets = &mut self.tins[t].flows[i].packets;
        let is_known = packets.back().is_some_and(|tail| self.headers.contains_key(&tail.id));
        if is_known && self.conf.ack_filter != "no" {
            let known = |p: &Packet| (p.flow, self.headers.get(&p.id).copied());
            let waiting: Vec<_> = packets.iter().map(known).collect();
            let place = acks::filter(&waiting, self.conf.ack_filter == "aggressive")?;
            return packets.remove(place);
        }
        let tail = packets.len() - 1;
        if self.conf.ack_filter == "no" || packets[tail].header.ack != Ack::Newer {
            return None;
        }
        let mut eligible: Vec<usize> = Vec::new();
        for n in 0..tail {
            if packets[n].flow != packets[tail].flow {
                continue;
            }
            match packets[n].header.ack {
                Ack::No => {}
                Ack::Needed => eligible.clear(),
                Ack::Newer => eligible.push(n),
            }
            if eligible.len() == 2 {
                return packets.remove(eligible[0]);
            }
        }
        if self.conf.ack_filter == "aggressive" && tail > 0 && eligible == [tail - 1] {
            return packets.remove(tail - 1);
        }
        None
    }

    fn queue_full(&mut self, t: usize, i: usize, now: i64) {
        let target = self.tins[t].target;
        let flow = &mut self.tins[t].flows[i];
        if flow.blue.is_none_or(|at| now - at > target) {
            flow.p_drop = (flow.p_drop + 1.0 / 256.0).min(1.0);
            flow.blue = Some(now);
        }
        flow.dropping = true;
        flow.drop_next = now;
        flow.count = flow.count.max(1);
    }

    fn queue_empty(&mut self, t: usize, i: usize, now: i64) {
        let tin = &mut self.tins[t];
        let target = tin.target;
        let flow = &mut tin.flows[i];
        if flow.p_drop > 0.0 && flow.blue.is_none_or(|at| now - at > target) {
            flow.p_drop = (flow.p_drop - 1.0 / 4096.0).max(0.0);
            flow.blue = Some(now);
        }
        flow.dropping = false;
        if flow.count > 0 && now >= flow.drop_next {
            flow.count -= 1;
            flow.invsqrt();
            let (root, next) = (flow.rec_inv_sqrt, flow.drop_next);
            tin.flows[i].drop_next = tin.control(root, next);
        }
    }

    /// cobalt_should_drop: why the packet is dropped, if it is, and whether it is marked.
    fn should_drop(
        &mut self,
        t: usize,
        i: usize,
        p: &Packet,
        now: i64,
        rng: &mut Rng,
    ) -> (Option<DropReason>, bool) {
        let bulk = if self.conf.ingress { self.tins[t].bulk() as i64 } else { 0 };
        let ecn = self.conf.ecn;
        let tin = &mut self.tins[t];
        let mut flow = std::mem::take(&mut tin.flows[i]);
        let sojourn = now - p.arrived.nanos() as i64;
        let mut schedule = now - flow.drop_next;
        let over =
            sojourn > tin.target && sojourn > tin.mtu_time * bulk * 2 && sojourn > tin.mtu_time * 4;
        let mut next_due = flow.count > 0 && schedule >= 0;
        let (mut drop, mut marked) = (None, false);
        if over {
            if !flow.dropping {
                flow.dropping = true;
                flow.drop_next = tin.control(flow.rec_inv_sqrt, now);
            }
            if flow.count == 0 {
                flow.count = 1;
            }
        } else {
            flow.dropping = false;
        }
        if next_due && flow.dropping {
            marked = ecn && p.ecn != Ecn::NotEct;
            if !marked {
                drop = Some(DropReason::Early);
            }
            flow.count += 1;
            flow.invsqrt();
            flow.drop_next = tin.control(flow.rec_inv_sqrt, flow.drop_next);
            schedule = now - flow.drop_next;
        } else {
            while next_due {
                flow.count -= 1;
                flow.invsqrt();
                flow.drop_next = tin.control(flow.rec_inv_sqrt, flow.drop_next);
                schedule = now - flow.drop_next;
                next_due = flow.count > 0 && schedule >= 0;
            }
        }
        if flow.p_drop > 0.0 && rng.uniform() < flow.p_drop {
            drop = Some(DropReason::Forced);
        }
        if flow.count == 0 {
            flow.drop_next = now + tin.interval;
        } else if schedule > 0 && drop.is_none() {
            flow.drop_next = now;
        }
        tin.flows[i] = flow;
        (drop, marked)
    }

    /// The kernel's cake_drop: drops the head of the longest queue.
    fn drop(&mut self, now: i64, did: &mut Vec<Did>) {
        let mut longest = (0, 0, 0);
        for (t, tin) in self.tins.iter().enumerate() {
            for (i, flow) in tin.flows.iter().enumerate() {
                if flow.backlog() > longest.0 {
                    longest = (flow.backlog(), t, i);
                }
            }
        }
        let (_, t, i) = longest;
        let p = self.tins[t].flows[i].packets.pop_front().unwrap();
        self.queue_full(t, i, now);
        if self.conf.ingress {
            self.advance(t, &p, now, true);
        }
        did.push(Did::Drop(p.id, DropReason::Overflow));
    }

    pub fn enqueue(&mut self, p: Packet, header: Option<&TcpHeader>, did: &mut Vec<Did>) {
        self.headers.extend(header.map(|header| (p.id, *header)));
        let now = p.arrived.nanos() as i64;
        let t = usize::from(table(self.conf.tins).as_bytes()[usize::from(p.header.dscp)] - b'0');
        let i = self.hash(t, &p);
        did.push(Did::Queue(p.id));
        let tin_empty = self.tins[t].flows.iter().all(|flow| flow.packets.is_empty());
        if tin_empty && self.tins[t].time_next < now {
            self.tins[t].time_next = now;
        }
        if self.qlen() == 0 && ((self.time_next >> 32) as i64) < now {
            self.failsafe = now;
            self.time_next = (now as u128) << 32;
        }
        self.tins[t].flows[i].packets.push_back(p);
        if let Some(ack) = self.ack_filter(t, i) {
            if self.conf.ingress {
                self.advance(t, &ack, now, true);
            }
            did.push(Did::Drop(ack.id, DropReason::AckFiltered));
        }
        match self.tins[t].flows[i].set {
            Set::None | Set::Decaying => {
                self.tins[t].unlist(i);
                self.tins[t].new.push_back(i);
                self.tins[t].flows[i].set = Set::Sparse;
                self.tins[t].flows[i].deficit = self.quantum(t, i);
            }
            Set::SparseWait => {
                self.tins[t].flows[i].set = Set::Bulk;
                self.host_bulk(t, i, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        let used = |cake: &Cake| -> u64 {
            cake.tins.iter().flat_map(|tin| &tin.flows).map(Flow::backlog).sum()
        };
        while used(self) > self.limit {
            self.drop(now, did);
        }
    }

    /// The kernel's cake_dequeue.
    pub fn dequeue(&mut self, at: u64, rng: &mut Rng, did: &mut Vec<Did>) -> Option<Packet> {
        let now = at as i64;
        let mut first_flow = true;
        'begin: loop {
            if self.qlen() == 0 {
                return None;
            }
            let next = ((self.time_next >> 32) as i64).min(self.failsafe);
            if next > now {
                self.watchdog = Some(next as u64);
                return None;
            }
            self.watchdog = None;
            let busy = |tin: &Tin| tin.sparse() + tin.bulk() > 0;
            if self.conf.rate == 0 {
                loop {
                    let has = busy(&self.tins[self.cur_tin]);
                    let tin = &mut self.tins[self.cur_tin];
                    if tin.deficit >= 0 && has {
                        break;
                    }
                    if tin.deficit <= 0 {
                        tin.deficit += tin.quantum;
                    }
                    self.cur_tin = (self.cur_tin + 1) % self.tins.len();
                }
            } else {
                let mut best_time = i64::MAX;
                for (t, tin) in self.tins.iter().enumerate() {
                    let time_to_packet = tin.time_next - now;
                    if busy(tin) && (time_to_packet <= 0 || time_to_packet <= best_time) {
                        best_time = time_to_packet;
                        self.cur_tin = t;
                    }
                }
            }
            let t = self.cur_tin;
            'retry: loop {
                let tin = &mut self.tins[t];
                let lists = if first_flow {
                    [&tin.decaying, &tin.new, &tin.old]
                } else {
                    [&tin.new, &tin.old, &tin.decaying]
                };
                let Some(i) = lists.iter().find_map(|list| list.front().copied()) else {
                    continue 'begin;
                };
                first_flow = false;
                if tin.flows[i].deficit <= 0 {
                    if tin.flows[i].set == Set::Sparse {
                        if tin.flows[i].packets.is_empty() {
                            tin.flows[i].set = Set::SparseWait;
                        } else {
                            tin.flows[i].set = Set::Bulk;
                            self.host_bulk(t, i, true);
                        }
                    }
                    let more = self.quantum(t, i);
                    self.tins[t].flows[i].deficit += more;
                    self.tins[t].unlist(i);
                    self.tins[t].old.push_back(i);
                    continue 'retry;
                }
                loop {
                    let Some(mut p) = self.tins[t].flows[i].packets.pop_front() else {
                        self.queue_empty(t, i, now);
                        if self.tins[t].flows[i].set == Set::Bulk {
                            self.host_bulk(t, i, false);
                        }
                        self.tins[t].unlist(i);
                        let tin = &mut self.tins[t];
                        let flow = &mut tin.flows[i];
                        flow.set = Set::None;
                        if flow.p_drop > 0.0 || flow.count > 0 || now < flow.drop_next {
                            flow.set = Set::Decaying;
                            tin.decaying.push_back(i);
                        }
                        continue 'begin;
                    };
                    let (drop, marked) = self.should_drop(t, i, &p, now, rng);
                    if let Some(why) = drop
                        && !self.tins[t].flows[i].packets.is_empty()
                    {
                        did.push(Did::Drop(p.id, why));
                        if self.conf.ingress {
                            let len = self.advance(t, &p, now, true);
                            self.tins[t].flows[i].deficit -= len * 65_536;
                            self.tins[t].deficit -= len;
                            continue 'retry;
                        }
                        continue;
                    }
                    if marked {
                        p.ecn = Ecn::Ce;
                        did.push(Did::Mark(p.id));
                    }
                    let len = self.advance(t, &p, now, false);
                    self.tins[t].flows[i].deficit -= len * 65_536;
                    self.tins[t].deficit -= len;
                    return Some(p);
                }
            }
        }
    }

    pub fn shows(&self) -> [(&'static str, f64); 4] {
        let sum = |of: fn(&Tin) -> usize| self.tins.iter().map(of).sum::<usize>() as f64;
        let p = self.tins.iter().flat_map(|tin| &tin.flows).map(|flow| flow.p_drop);
        [
            ("bulk_flows", sum(Tin::bulk)),
            ("sparse_flows", sum(Tin::sparse)),
            ("decaying_flows", sum(|tin| tin.number(&[Set::Decaying]))),
            ("max_p_drop", p.fold(0.0, f64::max)),
        ]
    }
}
