//! Algorithms that choose the bit rate of a player's next segment.

use std::collections::VecDeque;

use packet::math;

/// Number of segments over which the throughput is estimated.
const REMEMBERED: usize = 5;

/// The algorithm by which a player chooses the bit rate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// BBA-0 (Huang et al., SIGCOMM 2014, algorithm 1), which looks at the buffer alone: the lowest
    /// rate up to a buffer of `reservoir` seconds, the highest from `upper` seconds on.
    Buffer { reservoir: f64, upper: f64 },
    /// The highest rate below the harmonic mean of the last five segments' throughputs (Yin et
    /// al., SIGCOMM 2015, the algorithm RB; the estimate is that of FESTIVE, 2012).
    Throughput,
    /// BOLA-BASIC (Spiteri, Urgaonkar and Sitaraman, INFOCOM 2016): by the buffer, of at most
    /// `most` segments, with the buffer's weight `gamma_p` and logarithmic utilities.
    Bola { most: f64, gamma_p: f64 },
}

/// What a player knows when it chooses.
#[derive(Debug)]
pub(super) struct Known<'a> {
    /// Rates on offer, bit/s, from the lowest on.
    pub ladder: &'a [u64],
    /// Index of the rate chosen last.
    pub before: usize,
    /// Content of the playback buffer, in seconds.
    pub buffer_s: f64,
    /// Content of the playback buffer, in segments.
    pub buffer_segments: f64,
    /// Estimated throughput, bit/s; `None` before the first segment.
    pub throughput: Option<f64>,
}

impl Rule {
    /// Index of the rate to request.
    pub fn choose(self, known: &Known) -> usize {
        match self {
            Rule::Buffer { reservoir, upper } => by_buffer(known, reservoir, upper),
            Rule::Throughput => {
                known.throughput.map_or(0, |bits| highest_below(known.ladder, bits))
            }
            Rule::Bola { most, gamma_p } => bola(known, most, gamma_p),
        }
    }
}

/// Index of the highest rate not above `bits`; 0 if all are above.
fn highest_below(ladder: &[u64], bits: f64) -> usize {
    ladder.partition_point(|&rate| rate as f64 <= bits).saturating_sub(1)
}

/// Keeps the rate until the map from buffer to rate, a straight line, has passed the next higher
/// or lower one.
fn by_buffer(known: &Known, reservoir: f64, upper: f64) -> usize {
    let Known { ladder, before, buffer_s, .. } = *known;
    let last = ladder.len() - 1;
    if buffer_s <= reservoir {
        return 0;
    }
    if buffer_s >= upper {
        return last;
    }
    let (low, high) = (ladder[0] as f64, ladder[last] as f64);
    let map = low + (high - low) * (buffer_s - reservoir) / (upper - reservoir);
    if map >= ladder[(before + 1).min(last)] as f64 {
        ladder.partition_point(|&rate| (rate as f64) < map).saturating_sub(1)
    } else if map <= ladder[before.saturating_sub(1)] as f64 {
        ladder.partition_point(|&rate| rate as f64 <= map).min(last)
    } else {
        before
    }
}

/// Index of the rate whose utility, less the buffer's content, is largest per bit (BOLA).
fn bola(known: &Known, most: f64, gamma_p: f64) -> usize {
    let lowest = known.ladder[0] as f64;
    let utility = |rate: u64| math::ln(rate as f64 / lowest);
    let highest = known.ladder[known.ladder.len() - 1];
    let weight = (most - 1.0) / (utility(highest) + gamma_p);
    let score =
        |rate: u64| (weight * (utility(rate) + gamma_p) - known.buffer_segments) / rate as f64;
    let mut best = 0;
    for place in 1..known.ladder.len() {
        if score(known.ladder[place]) > score(known.ladder[best]) {
            best = place;
        }
    }
    best
}

/// The throughput of the latest segments.
#[derive(Debug, Default)]
pub(super) struct Throughput {
    seconds_per_bit: VecDeque<f64>,
}

impl Throughput {
    /// Adds a segment of `bits` bits that took `seconds`.
    pub fn add(&mut self, bits: f64, seconds: f64) {
        if self.seconds_per_bit.len() == REMEMBERED {
            self.seconds_per_bit.pop_front();
        }
        self.seconds_per_bit.push_back(seconds / bits);
    }

    /// The harmonic mean of the throughputs, bit/s; none before the first segment.
    pub fn estimate(&self) -> Option<f64> {
        let sum: f64 = self.seconds_per_bit.iter().sum();
        (sum > 0.0).then(|| self.seconds_per_bit.len() as f64 / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: &[u64] = &[1_000, 2_000, 3_000, 5_000];

    fn choose(rule: Rule, before: usize, buffer_s: f64, throughput: Option<f64>) -> usize {
        let buffer_segments = buffer_s / 4.0;
        rule.choose(&Known { ladder: LADDER, before, buffer_s, buffer_segments, throughput })
    }

    #[test]
    fn bba_keeps_its_rate_until_the_map_passes_the_next_one() {
        // From 1,000 bit/s at 20 s to 5,000 at 60 s: 100 bit/s for each second.
        let rule = Rule::Buffer { reservoir: 20.0, upper: 60.0 };
        let at = |before, buffer| choose(rule, before, buffer, None);
        assert_eq!([at(3, 0.0), at(3, 20.0), at(0, 60.0), at(0, 99.0)], [0, 0, 3, 3]);
        // Upwards: once the map has reached the next rate, to the highest rate below the map.
        assert_eq!([at(0, 29.0), at(0, 30.0), at(0, 31.0), at(0, 45.0)], [0, 0, 1, 2]);
        // Downwards: once the map has reached the rate below, to the lowest rate above the map.
        assert_eq!([at(2, 31.0), at(2, 30.0), at(2, 25.0), at(3, 41.0)], [2, 2, 1, 3]);
        assert_eq!([at(3, 39.0), at(3, 29.0), at(1, 20.5)], [2, 1, 1]);
        // Where the map is the present rate itself, the rate stays.
        assert_eq!([at(1, 30.0), at(2, 40.0)], [1, 2]);
    }

    #[test]
    fn throughput_is_the_harmonic_mean_of_five() {
        let mut throughput = Throughput::default();
        assert_eq!(throughput.estimate(), None);
        throughput.add(1e9, 1e-3); // leaves the window of five
        for seconds in [1.0, 1.0, 1.0, 1.0, 6.0] {
            throughput.add(4_000.0, seconds);
        }
        assert!((throughput.estimate().unwrap() - 2_000.0).abs() < 1e-9);
        let at = |bits| choose(Rule::Throughput, 3, 99.0, bits);
        assert_eq!([at(None), at(Some(500.0)), at(Some(2_999.0)), at(Some(9e9))], [0, 0, 1, 3]);
        assert_eq!(at(Some(3_000.0)), 2);
    }

    #[test]
    fn bola_goes_up_where_its_paper_says() {
        // Between two rates the choice turns where their scores meet: with S the rates and u the
        // utilities, Q = V (gp + (S2 u1 - S1 u2) / (S2 - S1)).
        let rule = Rule::Bola { most: 15.0, gamma_p: 5.0 };
        let weight = 14.0 / (f64::ln(5.0) + 5.0);
        for place in 0..3 {
            let [low, high] = [LADDER[place] as f64, LADDER[place + 1] as f64];
            let [u1, u2] = [low, high].map(|rate| f64::ln(rate / 1_000.0));
            let meets = 4.0 * weight * (5.0 + (high * u1 - low * u2) / (high - low));
            assert_eq!(choose(rule, 0, meets - 0.01, None), place, "{meets}");
            assert_eq!(choose(rule, 0, meets + 0.01, None), place + 1, "{meets}");
        }
    }
}
