//! The Bloom filter: two sets of L levels of N bins, and the hash functions into them.

use alloc::{vec, vec::Vec};

use crate::shells::flows;

/// Linux's number of levels (and of bins in each). A bin's index is 4 bits of the hash and the
/// compiler unrolls the loops: a sixth fewer instructions per packet.
const USUAL_LEVELS: usize = 8;
const USUAL_BINS: usize = 16;

/// How a bin's probability moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub up: f64,
    pub down: f64,
    /// Number of waiting packets from which on a bin is overloaded.
    pub full: u32,
    /// Largest probability of a bin.
    pub top: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    queue: u32,
    p: f64,
}

impl Bin {
    fn arrive(&mut self, rule: Rule) {
        if self.queue == 0 {
            self.p = (self.p - rule.down).max(0.0);
        } else if self.queue >= rule.full {
            self.p = (self.p + rule.up).min(rule.top);
        }
    }
}

/// Both sets of bins: one in use, one for the next hash functions.
pub(super) struct Bins {
    bins: Vec<Bin>,
    levels: usize,
    per_level: u64,
    seed: u64,
    salts: [u64; 2],
    /// Number of salts drawn so far.
    salted: u64,
    current: usize,
}

impl Bins {
    /// Empty bins whose hash functions follow from `seed`.
    pub fn new(levels: usize, per_level: u64, seed: u64) -> Self {
        Bins {
            bins: vec![Bin::default(); 2 * levels * per_level as usize],
            levels,
            per_level,
            seed,
            salts: [flows::hash(1, seed), flows::hash(2, seed)],
            salted: 2,
            current: 0,
        }
    }

    /// Index of the set in use.
    pub const fn current(&self) -> usize {
        self.current
    }

    /// The other set comes into use, and this one gets new hash functions. Its bins keep what
    /// they hold.
    pub fn turn(&mut self) {
        self.salted += 1;
        self.salts[self.current] = flows::hash(self.salted, self.seed);
        self.current = 1 - self.current;
    }

    /// The hash of `flow` in `set`; never 0.
    pub const fn hash(&self, flow: u64, set: usize) -> u64 {
        flows::hash(flow, self.salts[set]) | 1
    }

    /// Visits the bins of `hash` in `set`, one per level: the digits of the hash to the base N.
    fn each(&mut self, set: usize, hash: u64, mut visit: impl FnMut(&mut Bin)) {
        let per_level = self.per_level as usize;
        let from = set * self.levels * per_level;
        let set = &mut self.bins[from..from + self.levels * per_level];
        if per_level == USUAL_BINS
            && let Ok(usual) = <&mut [Bin; USUAL_LEVELS * USUAL_BINS]>::try_from(&mut *set)
        {
            for level in 0..USUAL_LEVELS {
                let digit = (hash >> (60 - 4 * level)) as usize % USUAL_BINS;
                visit(&mut usual[level * USUAL_BINS + digit]);
            }
            return;
        }
        let mut rest = hash;
        for level in set.chunks_exact_mut(per_level) {
            let wide = u128::from(rest) * u128::from(self.per_level);
            visit(&mut level[(wide >> 64) as usize]);
            rest = wide as u64;
        }
    }

    /// Moves the probabilities of an arrival's bins. Returns the least queue and the least
    /// probability among them.
    pub fn arrive(&mut self, set: usize, hash: u64, rule: Rule) -> (u32, f64) {
        let (mut queue, mut p) = (u32::MAX, f64::INFINITY);
        self.each(set, hash, |bin| {
            bin.arrive(rule);
            queue = queue.min(bin.queue);
            p = if bin.p < p { bin.p } else { p }; // cheaper than `min`, which handles NaN
        });
        (queue, p)
    }

    /// A packet with these hashes (0: not in that set) joins or leaves the queue.
    pub fn shift(&mut self, hashes: [u64; 2], joins: bool) {
        for (set, hash) in hashes.into_iter().enumerate() {
            if hash == 0 {
                continue;
            }
            if joins {
                self.each(set, hash, |bin| bin.queue += 1);
            } else {
                self.each(set, hash, |bin| bin.queue -= 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { up: 66.0 / 65_536.0, down: 0.25, full: 20, top: 1.0 };

    #[test]
    fn the_usual_size_has_the_digits_of_any_other() {
        // A filter of 9 levels takes its digits by the general code. Its first 8 levels must be
        // those of the usual size.
        let (mut usual, mut longer) = (Bins::new(8, 16, 5), Bins::new(9, 16, 5));
        for flow in 0..100 {
            let hash = usual.hash(flow, 0);
            usual.shift([hash, 0], true);
            longer.shift([hash, 0], true);
        }
        let queues = |bins: &Bins| bins.bins[..128].iter().map(|bin| bin.queue).collect::<Vec<_>>();
        assert_eq!(queues(&usual), queues(&longer));
    }

    #[test]
    fn the_least_of_a_flows_bins_counts() {
        let mut bins = Bins::new(3, 1, 1);
        for (bin, p) in bins.bins.iter_mut().zip([0.4, 0.05, 0.7]) {
            *bin = Bin { queue: 1, p };
        }
        assert_eq!(bins.arrive(0, bins.hash(9, 0), RULE), (1, 0.05));
    }

    #[test]
    fn the_penalty_comes_with_the_993rd_arrival_at_full_bins() {
        let mut bins = Bins::new(8, 16, 1);
        let hash = bins.hash(5, 0);
        for _ in 0..20 {
            bins.shift([hash, 0], true);
        }
        let ceiling = 65_535.0 / 65_536.0;
        let reached = (1..2000).find(|_| bins.arrive(0, hash, RULE).1 >= ceiling);
        assert_eq!(reached, Some(993));
    }

    #[test]
    fn an_empty_bin_lowers_its_probability_and_a_busy_one_keeps_it() {
        let mut bin = Bin { queue: 0, p: 0.3 };
        bin.arrive(RULE);
        assert!((bin.p - 0.05).abs() < 1e-12);
        bin.arrive(RULE);
        assert_eq!(bin.p, 0.0);
        for (queue, p) in [(1, 0.5), (19, 0.5), (20, 0.5 + RULE.up)] {
            let mut bin = Bin { queue, p: 0.5 };
            bin.arrive(RULE);
            assert_eq!(bin.p, p, "{queue}");
        }
    }

    /// The share of innocent flows all of whose bins are shared with one of ten others.
    fn punished(levels: usize, per_level: u64) -> f64 {
        let mut hits = 0;
        for round in 0..2000 {
            let mut bins = Bins::new(levels, per_level, round);
            for flow in 0..10 {
                bins.shift([bins.hash(flow, 0), 0], true);
            }
            for flow in 100..200 {
                hits += u32::from(bins.arrive(0, bins.hash(flow, 0), RULE).0 > 0);
            }
        }
        f64::from(hits) / 200_000.0
    }

    #[test]
    fn false_penalties_are_as_frequent_as_published() {
        // Expected: (1 - (1 - 1/N)^10)^L. The innocent flows of a round share one filter, so the
        // sample is 2000 rounds: five standard errors are 0.015 and 0.0025.
        let found = punished(2, 23);
        assert!((found - 0.1288).abs() < 0.015, "{found}");
        let found = punished(8, 16);
        assert!((found - 0.002615).abs() < 0.0025, "{found}");
    }

    #[test]
    fn new_hash_functions_keep_the_bins() {
        let mut bins = Bins::new(2, 23, 7);
        let first = bins.hash(1, 0);
        bins.shift([first, bins.hash(1, 1)], true);
        let old = bins.hash(1, 1);
        bins.turn();
        assert_eq!((bins.current(), bins.hash(1, 1)), (1, old));
        assert_ne!(bins.hash(1, 0), first);
        assert_eq!(bins.arrive(1, old, RULE).0, 1);
        bins.shift([first, old], false);
        assert!(bins.bins.iter().all(|bin| bin.queue == 0));
    }

    #[test]
    fn a_filter_of_as_many_bins_has_its_own_levels() {
        // Four levels of 32 bins are as many bins as eight of 16, but a packet is in four of them.
        let mut bins = Bins::new(4, 32, 5);
        bins.shift([bins.hash(7, 0), 0], true);
        let level = |level: usize| bins.bins[32 * level..32 * (level + 1)].iter();
        for number in 0..4 {
            assert_eq!(level(number).map(|bin| bin.queue).sum::<u32>(), 1, "{number}");
        }
    }
}
