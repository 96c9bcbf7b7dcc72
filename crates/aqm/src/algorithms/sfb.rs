//! SFB, Stochastic Fair BLUE (W. Feng, D. Kandlur, D. Saha, K. Shin, *Stochastic Fair Blue: A
//! Queue Management Algorithm for Enforcing Fairness*, INFOCOM 2001).
//!
//! The idea in five lines. Every flow is hashed into one bin of each of L levels; a bin counts its
//! waiting packets and raises its probability when they are many, lowers it when there are none.
//! A packet's probability is the least of its L bins': a responsive flow shares bins with an
//! unresponsive one, but hardly all of them. A flow all of whose bins have reached probability 1 is
//! unresponsive, and is limited to a small rate. Now and then the hash functions change, so that no
//! flow is punished for long because of those that share its bins.
//!
//! Three profiles: `lab` follows Linux's `sch_sfb` in real numbers with an exact token bucket;
//! `linux` has its 16-bit probabilities and the quirk of its bucket; `paper` has two levels of 23
//! bins, no drops of packets that could be marked below certainty, and no limit of a bin.

mod bins;
mod bucket;
mod fields;

use alloc::{boxed::Box, collections::VecDeque, format};

use packet::params::{BadParams, Params};
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::shells::flows::hash_seed;
use crate::shells::watched::{Watched, Watcher};
use crate::{
    Aqm, BufferLimit, Built, Entry, Fit, Judged, LimitOrder, Line, PerFlowState, Table, Verdict,
};
use bins::{Bins, Rule};
use bucket::Bucket;

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "sfb",
        summary: "BLUE's probability in a Bloom filter of bins: flows that do not yield are found \
                  without a state per flow, and held to a small rate.",
        year: 2001,
        source: "Feng, Kandlur, Saha and Shin, INFOCOM 2001; Linux sch_sfb",
        deviations: "All: one queue behind the filter, which is Linux's default; flows are hashed \
                     by seeded 64-bit functions (Linux: 4 bits a level of one 32-bit hash), and \
                     the first hash functions last from the first arrival on. lab: probabilities \
                     are real numbers, the penalty box opens from 1 - 2^-16 on, its bucket is \
                     refilled continuously. linux: marks ECN-capable packets only with ecn on (the \
                     kernel has no such switch); times are compared in nanoseconds, not jiffies. \
                     paper: the published text gives no increments, no rate for the penalty box \
                     and no rehash interval: Linux's defaults; bins are updated at each arrival, \
                     without freeze times; a full bin as such drops nothing.",
        fields: fields::FIELDS,
    },
    per_flow: PerFlowState::Nothing,
    tables: &[Table { rows: &[("L", 8), ("N", 23)], row: 48 }],
    ecn: "marks ECN-capable packets with probability p_min; lab, linux: above 1/2 some are \
          dropped, with probability 2 (p_min - 1/2); the penalty box drops what has no token",
    units: "packets",
    build: &build,
};

/// The source that the algorithm follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Lab,
    Linux,
    Paper,
}

/// Linux's `SFB_MAX_PROB`, 65,535, as a share of 2^16.
const LINUX_TOP: f64 = 65_535.0 / 65_536.0;

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let profile = match params.choice("profile") {
        "linux" => Profile::Linux,
        "paper" => Profile::Paper,
        _ => Profile::Lab,
    };
    let judge = Sfb::new(params, profile)?;
    let limit = BufferLimit::of_packets(params.whole("limit") as u32, Fit::Whole);
    let ecn = params.switch("ecn");
    Ok(Built::Discipline(Box::new(Watched::new(Judged::new(judge, limit, ecn), ecn))))
}

/// The filter's levels and bins per level. A flow's bins are digits of one 64-bit hash, so that
/// their number is bounded.
fn size(params: &Params, profile: Profile) -> Result<(usize, u64), BadParams> {
    let (levels, bins) = if profile == Profile::Paper { (2, 23) } else { (8, 16) };
    let (levels, bins) = (params.whole_or("L", levels), params.whole_or("N", bins));
    let bits = f64::from(levels as u32) * packet::math::log2(bins as f64);
    if bits <= 48.0 {
        return Ok((levels as usize, bins));
    }
    let why = format!(
        "{levels} levels of N = {bins} bins need {bits:.1} bits of hash, and 48 are there: take \
         fewer levels or smaller ones"
    );
    Err(BadParams::new("L", why))
}

struct Sfb {
    bins: Bins,
    rule: Rule,
    /// Number of packets in the emptiest of a flow's bins from which on its arrivals are dropped.
    max: u32,
    /// p_min, the least probability of a flow's bins, from which on the flow is in the penalty box.
    top: f64,
    /// p_min above which a signal may drop even an ECN-capable packet.
    half: f64,
    linux: bool,
    bucket: Bucket,
    rehash_interval: Duration,
    warmup_time: Duration,
    /// When the current hash functions came into use; none before the first arrival.
    since: Option<Instant>,
    warm: bool,
    /// Hashes of the last arrival in both sets of bins, 0 where it is in no bin of a set; and those
    /// of the packets that wait, in their order.
    hashes: [u64; 2],
    waiting: VecDeque<[u64; 2]>,
    p_min: f64,
}

impl Sfb {
    fn new(params: &Params, profile: Profile) -> Result<Self, BadParams> {
        let (levels, bins) = size(params, profile)?;
        let linux = profile == Profile::Linux;
        // tc writes steps in units of 2^-16; the defaults are such numbers in every profile.
        let step = |name| {
            let step = params.real(name);
            let units = packet::math::floor(step * 65_535.0 + 0.5);
            if linux && params.given(name) { units / 65_536.0 } else { step }
        };
        let paper = profile == Profile::Paper;
        let (bin_size, interval) = (params.whole("bin_size"), params.time("rehash_interval"));
        let max = params.whole_or("max", if paper { u64::MAX } else { 25 });
        let warmup_time = params.time("warmup_time");
        if warmup_time > interval {
            let why = format!(
                "{} s is longer than rehash_interval = {} s, of which it is the last part; make it the \
                 shorter",
                params.real("warmup_time"),
                params.real("rehash_interval")
            );
            return Err(BadParams::new("warmup_time", why));
        }
        let rule = Rule {
            up: step("d1"),
            down: step("d2"),
            full: bin_size as u32 + u32::from(paper),
            top: if linux { LINUX_TOP } else { 1.0 },
        };
        Ok(Sfb {
            bins: Bins::new(levels, bins, hash_seed(params)),
            rule,
            max: u32::try_from(max).unwrap_or(u32::MAX),
            top: match profile {
                Profile::Paper => 1.0,
                Profile::Lab | Profile::Linux => LINUX_TOP,
            },
            half: match profile {
                Profile::Paper => f64::INFINITY,
                Profile::Lab => 0.5,
                Profile::Linux => 32_767.0 / 65_536.0,
            },
            linux,
            bucket: Bucket::new(params.real("penalty_rate"), params.whole("penalty_burst"), linux),
            rehash_interval: interval,
            warmup_time,
            since: None,
            warm: false,
            hashes: [0; 2],
            waiting: VecDeque::new(),
            p_min: 0.0,
        })
    }

    /// Changes the hash functions at the end of their interval, or begins to warm up the next set.
    fn turn(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let age = now.since(since);
        if age > self.rehash_interval {
            self.bins.turn();
            self.since = Some(now);
            self.warm = false;
        } else if self.warmup_time > Duration::ZERO && age + self.warmup_time > self.rehash_interval
        {
            self.warm = true;
        }
    }

    fn penalty(&mut self, flow: u64, now: Instant) -> Verdict {
        if self.warm {
            let other = 1 - self.bins.current();
            self.hashes[other] = self.bins.hash(flow, other);
            self.bins.arrive(other, self.hashes[other], self.rule);
        }
        if self.bucket.take(now) { self.admit() } else { Verdict::Drop(DropReason::Forced) }
    }

    fn admit(&mut self) -> Verdict {
        self.bins.shift(self.hashes, true);
        self.waiting.push_back(self.hashes);
        Verdict::Pass
    }

    fn random(&self, rng: &mut Rng) -> f64 {
        if self.linux { (rng.next_u64() >> 48) as f64 / 65_536.0 } else { rng.uniform() }
    }
}

impl Aqm for Sfb {
    fn on_arrival(&mut self, packet: &Packet, _: Backlog, now: Instant, rng: &mut Rng) -> Verdict {
        if self.rehash_interval > Duration::ZERO {
            self.turn(now);
        }
        let set = self.bins.current();
        let hash = self.bins.hash(packet.flow, set);
        self.hashes = [0; 2];
        self.hashes[set] = hash;
        let (least_queue, p_min) = self.bins.arrive(set, hash, self.rule);
        self.p_min = p_min;
        if least_queue >= self.max {
            return Verdict::Drop(DropReason::Forced);
        }
        if p_min >= self.top {
            return self.penalty(packet.flow, now);
        }
        let r = self.random(rng);
        if r >= p_min {
            return self.admit();
        }
        if r < 2.0 * (p_min - self.half) {
            return Verdict::Drop(DropReason::Early);
        }
        Verdict::Signal(DropReason::Early)
    }

    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn on_signalled(&mut self, marked: bool) {
        if marked {
            self.admit();
        }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p_min", self.p_min);
        show("tokens", self.bucket.tokens());
        show("set", self.bins.current() as f64);
    }
}

impl Watcher for Sfb {
    fn on_departure(
        &mut self,
        _: &Packet,
        _: Duration,
        _: Backlog,
        _: Instant,
        _: &mut Rng,
    ) -> bool {
        if let Some(hashes) = self.waiting.pop_front() {
            self.bins.shift(hashes, false);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_warmed_in_the_last_part_of_its_interval_and_then_changed() {
        // sch_sfb.c compares the times with `time_after`, which is strict.
        let mut sfb = Sfb::new(&Params::defaults(fields::FIELDS), Profile::Linux).unwrap();
        let (interval, warmup) = (sfb.rehash_interval, sfb.warmup_time);
        assert!(interval > warmup && warmup > Duration::ZERO);
        let (begin, nanosecond) = (Instant::from_nanos(1_000), Duration::from_nanos(1));
        let mut at = |now: Instant| {
            sfb.turn(now);
            (sfb.warm, sfb.bins.current())
        };
        assert_eq!(at(begin), (false, 0));
        let warm_from = begin + (interval - warmup);
        assert_eq!(at(warm_from), (false, 0));
        assert_eq!(at(warm_from + nanosecond), (true, 0));
        assert_eq!(at(begin + interval), (true, 0));
        assert_eq!(at(begin + interval + nanosecond), (false, 1));
    }

    #[test]
    fn above_a_half_linux_drops_below_twice_the_excess() {
        // sch_sfb.c drops if `r < (p_min - SFB_MAX_PROB / 2) * 2`. Seeds are tried until a random
        // number equals that bound.
        let of = |id| Packet {
            id,
            flow: 1,
            bytes: 1_000,
            ecn: packet::Ecn::Ect0,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let mut equal = 0;
        for seed in 0..1_000 {
            let mut sfb = Sfb::new(&Params::defaults(fields::FIELDS), Profile::Linux).unwrap();
            let mut rng = Rng::named(seed, "sfb");
            while sfb.p_min < sfb.top && equal == 0 {
                let r = sfb.random(&mut rng.clone());
                let (none, now) = (Backlog::default(), Instant::ZERO);
                let verdict = sfb.on_arrival(&of(0), none, now, &mut rng);
                // Bins of 20 packets raise their probability; bins of 25 would drop every arrival.
                while sfb.waiting.len() > 22 {
                    sfb.on_departure(&of(0), Duration::ZERO, none, now, &mut rng.clone());
                }
                if r == 2.0 * (sfb.p_min - sfb.half) && r > 0.0 && r < sfb.p_min {
                    assert_eq!(verdict, Verdict::Signal(DropReason::Early));
                    equal += 1;
                }
            }
        }
        assert_eq!(equal, 1);
    }
}
