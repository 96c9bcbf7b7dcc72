//! A second transcription of RED, straight from each program's pseudocode and in its own words:
//! one function per program, no tables of differences, loops where the product uses powers.

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Rng;
use packet::Why::{Early, Forced, Overflow};

/// What both versions are told.
#[derive(Clone, Copy, Debug)]
pub struct Conf {
    pub profile: &'static str,
    pub min: f64,
    pub max: f64,
    pub max_p: f64,
    /// 1/w_q.
    pub weight: u64,
    pub gentle: bool,
    pub wait: bool,
    pub queue_in_bytes: bool,
    pub bytes: bool,
    pub mean: u64,
    pub ecn: bool,
    pub harddrop: bool,
    pub use_mark_p: bool,
    pub ns1: bool,
    pub limit: u64,
}

/// What an arrival meets: its size and whether it can be marked, the queue, the time.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub size: u64,
    pub ect: bool,
    pub packets: u64,
    pub bytes: u64,
    pub now: u64,
}

/// The line's rate in bit/s.
pub const RATE: u64 = 10_000_000;

pub struct Reference {
    conf: Conf,
    idle_since: Option<u64>,
    avg: f64,
    count: i64,
    count_bytes: u64,
    old: bool,
    /// ALTQ's and Linux's scaled average.
    fixed: i64,
    r: u64,
}

impl Reference {
    pub fn new(conf: Conf) -> Self {
        let count = if matches!(conf.profile, "fj93" | "linux") { -1 } else { 0 };
        Reference {
            conf,
            idle_since: Some(0),
            avg: 0.0,
            count,
            count_bytes: 0,
            old: false,
            fixed: 0,
            r: 0,
        }
    }

    /// An empty dequeue.
    pub fn dequeue_empty(&mut self, now: u64) {
        if self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }

    pub fn enqueue(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        match self.conf.profile {
            "fj93" => self.fj93(a, rng),
            "ns2" | "ns2-fixed" => self.ns2(a, rng),
            "ns3" => self.ns3(a, rng),
            "altq" => self.altq(a, rng),
            "linux" => self.linux(a, rng),
            other => panic!("{other}"),
        }
    }

    fn w(&self) -> f64 {
        1.0 / self.conf.weight as f64
    }

    /// Packets of the mean size in `idle` nanoseconds.
    fn packets_in(&self, idle: u64, rate: u64) -> u64 {
        let bits = u128::from(idle) * u128::from(rate) / 1_000_000_000;
        (bits / u128::from(self.conf.mean * 8)) as u64
    }

    fn decay(&mut self, times: u64) {
        for _ in 0..times.min(5_000_000) {
            self.avg *= 1.0 - self.w();
            if self.avg < 1e-30 {
                break;
            }
        }
    }

    fn p_b(&self, min: f64, max: f64) -> f64 {
        let (avg, max_p) = (self.avg, self.conf.max_p);
        if self.conf.gentle && avg >= max {
            let v_c = (1.0 - max_p) / max;
            let v_d = 2.0 * max_p - 1.0;
            (v_c * avg + v_d).min(1.0)
        } else if avg >= max {
            1.0
        } else {
            max_p * (avg - min) / (max - min)
        }
    }

    fn fj93(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let c = self.conf;
        let scale = if c.queue_in_bytes { c.mean as f64 } else { 1.0 };
        let (min, max) = (c.min * scale, c.max * scale);
        let q = if c.queue_in_bytes { a.bytes } else { a.packets };
        let mut aged_to = None;
        if let Some(since) = self.idle_since.take() {
            let m = self.packets_in(a.now - since, RATE);
            self.decay(m);
            aged_to = Some(since + m * c.mean * 8_000_000_000 / RATE);
        } else {
            self.avg = (1.0 - self.w()) * self.avg + self.w() * q as f64;
        }
        let mut signal = None;
        if self.avg >= if c.gentle { 2.0 * max } else { max } {
            signal = Some(Forced);
            self.count = 0;
        } else if self.avg >= min {
            self.count += 1;
            let mut p_b = self.p_b(min, max);
            if c.bytes {
                p_b = p_b * a.size as f64 / 1500.0;
            }
            let passed = self.count as f64 * p_b;
            let p_a = if passed >= 1.0 { 1.0 } else { p_b / (1.0 - passed) };
            if rng.uniform() < p_a {
                signal = Some(Early);
                self.count = 0;
            }
        } else {
            self.count = -1;
        }
        let can_mark = c.ecn && a.ect && !(signal == Some(Forced) && c.harddrop);
        let said = match signal {
            Some(why) if !can_mark => Dropped(why),
            _ if a.packets >= c.limit => Dropped(Overflow),
            Some(why) => Marked(why),
            None => Queued,
        };
        if matches!(said, Dropped(_)) {
            self.idle_since = aged_to; // q_time stays, less what has aged the average
        }
        said
    }

    /// ns-2's and ns-3's random test: whether it hits, and p_b.
    fn drop_early(&mut self, a: Arrival, min: f64, max: f64, rng: &mut Rng) -> (bool, f64) {
        let c = self.conf;
        let p_b = self.p_b(min, max);
        let mut count1 = self.count as f64;
        if c.bytes {
            count1 = (self.count_bytes / c.mean) as f64;
        }
        let mut p = p_b;
        if c.wait {
            if count1 * p < 1.0 {
                p = 0.0;
            } else if count1 * p < 2.0 {
                p /= 2.0 - count1 * p;
            } else {
                p = 1.0;
            }
        } else if count1 * p < 1.0 {
            p /= 1.0 - count1 * p;
        } else {
            p = 1.0;
        }
        if c.bytes && p < 1.0 {
            p = p * a.size as f64 / c.mean as f64;
        }
        if rng.uniform() < p {
            self.count = 0;
            self.count_bytes = 0;
            return (true, p_b);
        }
        (false, p_b)
    }

    fn ns_average(&mut self, a: Arrival, rate: u64) -> u64 {
        let q = if self.conf.queue_in_bytes { a.bytes } else { a.packets };
        let m = match self.idle_since.take() {
            Some(since) => self.packets_in(a.now - since, rate),
            None => 0,
        };
        self.decay(m + 1);
        self.avg += self.w() * q as f64;
        self.count += 1;
        self.count_bytes += a.size;
        q
    }

    fn ns2(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let c = self.conf;
        let fixed = c.profile == "ns2-fixed";
        let scale = if c.queue_in_bytes { c.mean as f64 } else { 1.0 };
        let (min, max) = (c.min * scale, c.max * scale);
        let q = self.ns_average(a, RATE);
        let mut drop = None;
        let mut mark = false;
        let top = if c.gentle { 2.0 * max } else { max };
        let certain = !c.use_mark_p && self.avg >= top;
        if fixed && certain {
            drop = Some(Forced);
        } else if self.avg >= min && q > 1 {
            if certain {
                drop = Some(Forced);
            } else if !self.old {
                self.count = 1;
                self.count_bytes = a.size;
                self.old = true;
            } else if let (true, p_b) = self.drop_early(a, min, max, rng) {
                if c.ecn && a.ect && (!c.use_mark_p || p_b < 0.1) {
                    mark = true;
                } else {
                    drop = Some(Early);
                }
            }
        } else {
            self.old = false;
        }
        let full = if fixed {
            a.bytes + a.size > c.limit * c.mean
        } else if c.queue_in_bytes {
            a.bytes >= c.limit * c.mean
        } else {
            a.packets >= c.limit
        };
        if full && drop.is_none() {
            drop = Some(Overflow);
        }
        match drop {
            Some(why) => {
                if why != Early && !c.ns1 {
                    self.count = 0;
                    self.count_bytes = 0;
                }
                Dropped(why)
            }
            None if mark => Marked(Early),
            None => Queued,
        }
    }

    fn ns3(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let c = self.conf;
        let scale = if c.queue_in_bytes { c.mean as f64 } else { 1.0 };
        let (min, max) = (c.min * scale, c.max * scale);
        let q = self.ns_average(a, 1_500_000);
        let mut mark = None;
        if self.avg >= min && q > 1 {
            if self.avg >= if c.gentle { 2.0 * max } else { max } {
                if c.harddrop || !c.ecn || !a.ect {
                    if c.ns1 {
                        self.count = 0;
                        self.count_bytes = 0;
                    }
                    return Dropped(Forced);
                }
                mark = Some(Forced);
            } else if !self.old {
                self.count = 1;
                self.count_bytes = a.size;
                self.old = true;
            } else if self.drop_early(a, min, max, rng).0 {
                if !c.ecn || !a.ect {
                    return Dropped(Early);
                }
                mark = Some(Early);
            }
        } else {
            self.old = false;
        }
        let fits = if c.queue_in_bytes {
            a.bytes + a.size <= c.limit * c.mean
        } else {
            a.packets < c.limit
        };
        match (fits, mark) {
            (false, _) => Dropped(Overflow),
            (true, Some(why)) => Marked(why),
            (true, None) => Queued,
        }
    }

    fn altq(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let c = self.conf;
        let shift = c.weight.ilog2();
        let (min, max) = (c.min as i64, c.max as i64);
        if let Some(since) = self.idle_since.take() {
            let us = (a.now - since) / 1000;
            if us > 60_000_000 {
                self.fixed = 0;
            } else {
                let n = us as i64 / 800 - 1;
                if n > 0 {
                    self.fixed = (self.fixed >> 12) * pow_w(c.weight as i64, n);
                }
            }
        }
        self.fixed += ((a.packets as i64) << 12) - (self.fixed >> shift);
        self.count += 1;
        let mut drop = None;
        let mut mark = false;
        if self.fixed >= min << (12 + shift) && a.packets > 1 {
            if self.fixed >= max << (12 + shift) {
                drop = Some(Forced);
            } else if !self.old {
                self.count = 1;
                self.old = true;
            } else {
                let length = (self.fixed - (min << (12 + shift))) >> shift;
                let inverse = (1.0 / c.max_p).round() as i64;
                let d = ((2 * (max - min) * inverse) << 12) - self.count * length;
                if d <= 0 || (rng.below(d as u64) as i64) < length {
                    if c.ecn && a.ect {
                        self.count = 0;
                        mark = true;
                    } else {
                        drop = Some(Early);
                    }
                }
            }
        } else {
            self.old = false;
        }
        if drop.is_none() && a.packets >= c.limit.max(max as u64) {
            drop = Some(Overflow);
        }
        match drop {
            Some(why) => {
                self.count = 0;
                Dropped(why)
            }
            None if mark => Marked(Early),
            None => Queued,
        }
    }

    fn linux(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let c = self.conf;
        let wlog = c.weight.ilog2();
        let (min, max) = (c.min as u64 * c.mean, c.max as u64 * c.mean);
        let mut avg = self.fixed as u64;
        if let Some(since) = self.idle_since.take() {
            avg = linux_idle(avg, (a.now - since) / 1000, wlog, c.mean);
        } else {
            avg = avg + a.bytes - (avg >> wlog);
        }
        self.fixed = avg as i64;
        let max_p = (c.max_p * 4_294_967_296.0) as u64;
        let random = |rng: &mut Rng| (rng.next_u64() >> 32) / (max_p / (max - min));
        let mut signal = None;
        if avg < min << wlog {
            self.count = -1;
        } else if avg >= max << wlog {
            self.count = -1;
            signal = Some(Forced);
        } else {
            self.count += 1;
            if self.count == 0 {
                self.r = random(rng);
            } else if ((avg - (min << wlog)) >> wlog) * self.count as u64 >= self.r {
                self.count = 0;
                self.r = random(rng);
                signal = Some(Early);
            }
        }
        match signal {
            Some(Forced) if c.harddrop => Dropped(Forced),
            Some(why) if !(c.ecn && a.ect) => Dropped(why),
            _ if a.bytes + a.size > c.limit * c.mean => Dropped(Overflow),
            Some(why) => Marked(why),
            None => Queued,
        }
    }
}

/// (1 − 1/weight)^n with 12 fractional bits, by squaring.
pub fn pow_w(weight: i64, mut n: i64) -> i64 {
    let (mut value, mut square) = (4096, (weight - 1) * 4096 / weight);
    while n > 0 {
        if n % 2 == 1 {
            value = value * square / 4096;
        }
        square = square * square / 4096;
        n /= 2;
    }
    value
}

/// tc's table, one cell at a time, and the kernel's use of it.
pub fn linux_idle(avg: u64, us: u64, wlog: u32, mean: u64) -> u64 {
    let xmit_us = mean as f64 * 8.0 / RATE as f64 * 1e6;
    let lw = -(1.0 - 0.5f64.powi(wlog as i32)).ln() / xmit_us;
    let mut cell = 1u64;
    while 31.0 / lw / cell as f64 >= 512.0 {
        cell *= 2;
    }
    let us = us.min(255 * cell);
    let shift = match us / cell {
        0 => 0,
        255 => 31,
        i => (((i * cell) as f64 * lw) as u64).min(31),
    };
    if shift > 0 {
        return avg >> shift;
    }
    let linear = avg * us / cell;
    if linear < avg / 2 { avg - linear } else { avg / 2 }
}
