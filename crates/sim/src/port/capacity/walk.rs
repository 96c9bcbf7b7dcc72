//! Opportunities whose rate wanders: the model by which Sprout sees a cellular link (Winstein,
//! Sivaraman and Balakrishnan, NSDI 2013, section 3.1).
//!
//! Opportunities are a Poisson process. Every 20 ms its rate takes a step of Brownian motion
//! between 0 and twice the nominal rate, where it is reflected. At 0 there is an outage, whose
//! length is exponential. Sprout infers with this model; drawing links from it is our own choice.

use packet::{Rng, math};

use super::FAR;

/// Bits of an opportunity.
const BITS: f64 = 12_000.0;
/// Time between two changes of the rate, ns (Sprout).
const TICK: u64 = 20_000_000;

/// Parameters of a walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkSettings {
    /// Midpoint of the walk's range, bit/s.
    pub middle_bits_per_s: f64,
    /// Standard deviation of the rate one second later, bit/s.
    pub volatility_bits_per_s: f64,
    /// Mean length of an outage, s.
    pub outage_s: f64,
}

/// A wandering rate and its opportunities.
#[derive(Clone, Debug)]
pub struct Walk {
    rng: Rng,
    /// Largest rate, in opportunities per second.
    most: f64,
    /// Present rate, in opportunities per second.
    rate: f64,
    /// Standard deviation of a step of the rate, in opportunities per second.
    step: f64,
    /// The chance that an outage ends within a tick.
    recovery: f64,
    at: u64,
    tick_ends: u64,
    /// Begin and end of the measured interval, ns, and the number of opportunities drawn in it so
    /// far.
    counted: (u64, u64, u64),
}

impl Walk {
    /// A walk that begins anywhere in its range; opportunities of the measured interval `from..=to`
    /// (ns) are counted.
    pub fn new(settings: &WalkSettings, mut rng: Rng, from: u64, to: u64) -> Self {
        let tick_s = TICK as f64 / 1e9;
        let most = 2.0 * settings.middle_bits_per_s / BITS;
        Walk {
            rate: rng.uniform() * most,
            rng,
            most,
            step: settings.volatility_bits_per_s / BITS * math::sqrt(tick_s),
            recovery: 1.0 - math::exp(-tick_s / settings.outage_s),
            at: 0,
            tick_ends: TICK,
            counted: (from, to, 0),
        }
    }

    /// A standard normal random number, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = math::sqrt(2.0 * self.rng.exponential(1.0));
        radius * math::cos(core::f64::consts::TAU * self.rng.uniform())
    }

    fn wander(&mut self) {
        if self.rate > 0.0 {
            let moved = self.rate + self.step * self.normal();
            let turned = if moved > self.most { 2.0 * self.most - moved } else { moved };
            self.rate = turned.max(0.0);
        } else if self.rng.uniform() < self.recovery {
            let moved = math::fabs(self.step * self.normal());
            self.rate = moved.min(self.most);
        }
    }

    /// Draws the next transmission opportunity. Returns its time, ns.
    pub fn next_opportunity(&mut self) -> u64 {
        while self.at < FAR {
            let gap = match self.rate > 0.0 {
                true => self.rng.exponential(1e9 / self.rate),
                false => f64::INFINITY,
            };
            if gap < (self.tick_ends - self.at) as f64 {
                self.at += gap as u64;
                let (from, to, count) = &mut self.counted;
                *count += u64::from(*from <= self.at && self.at <= *to);
                return self.at;
            }
            self.at = self.tick_ends;
            self.tick_ends += TICK;
            self.wander();
        }
        FAR
    }

    /// Number of opportunities in the measured interval; draws those that have not been needed yet.
    pub fn count_to_the_end(&mut self, from: u64, to: u64) -> u64 {
        assert_eq!((from, to), (self.counted.0, self.counted.1), "one interval is counted");
        while self.at <= to && self.next_opportunity() < FAR {}
        self.counted.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;
    const SETTINGS: WalkSettings =
        WalkSettings { middle_bits_per_s: 6e6, volatility_bits_per_s: 2.4e6, outage_s: 0.1 };

    fn walk(settings: &WalkSettings, seed: u64) -> Walk {
        Walk::new(settings, Rng::named(seed, "walk"), 0, HOUR)
    }

    #[test]
    fn a_walk_that_stands_still_is_poisson() {
        // Hardly any movement: the counts of 100 ms have the variance of their mean.
        let still = WalkSettings { volatility_bits_per_s: 1e-3, ..SETTINGS };
        let mut walk = walk(&still, 5);
        walk.rate = 500.0;
        let mut counts = vec![0_f64; 36_000];
        loop {
            let at = walk.next_opportunity();
            if at >= HOUR {
                break;
            }
            counts[(at / 100_000_000) as usize] += 1.0;
        }
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
        // Four standard errors: sqrt(50 / n) and sqrt(2 / n).
        assert!((mean - 50.0).abs() < 4.0 * (50.0 / n).sqrt(), "{mean}");
        assert!((variance / mean - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{variance} at {mean}");
    }

    #[test]
    fn the_rate_wanders_over_its_whole_range_and_stops_now_and_then() {
        let mut walk = walk(&SETTINGS, 7);
        let (mut still, mut sum, mut most) = (0.0, 0.0, 0.0_f64);
        let mut moves = Vec::new();
        let ticks = 180_000;
        for _ in 0..ticks {
            let before = walk.rate;
            walk.wander();
            assert!((0.0..walk.most).contains(&walk.rate), "{}: it turns back", walk.rate);
            if before > 200.0 && before < 800.0 {
                moves.push(walk.rate - before);
            }
            still += f64::from(walk.rate == 0.0);
            sum += walk.rate;
            most = most.max(walk.rate);
        }
        let n = moves.len() as f64;
        let deviation = (moves.iter().map(|m| m * m).sum::<f64>() / n).sqrt();
        // The standard deviation is 200 opportunities/s after a second, sqrt(0.02) of that after a
        // tick; four standard errors.
        let expected = 200.0 * 0.02_f64.sqrt();
        assert!((deviation / expected - 1.0).abs() < 4.0 / (2.0 * n).sqrt(), "{deviation}");
        let (still, mean) = (still / f64::from(ticks), sum / f64::from(ticks));
        assert!((0.01..0.3).contains(&still), "{still}");
        assert!((350.0..550.0).contains(&mean) && most > 950.0, "{mean} up to {most}");
    }

    #[test]
    fn what_is_not_requested_is_counted() {
        let mut all = walk(&SETTINGS, 9);
        let count = (0..).take_while(|_| all.next_opportunity() <= HOUR).count() as u64;
        let mut some = walk(&SETTINGS, 9);
        (0..1_000).for_each(|_| _ = some.next_opportunity());
        assert_eq!(some.count_to_the_end(0, HOUR), count);
        assert_ne!(walk(&SETTINGS, 10).count_to_the_end(0, HOUR), count);
    }

    #[test]
    fn an_outage_lasts_until_its_chance_and_ends_with_a_step() {
        let long = WalkSettings { outage_s: 1e12, ..SETTINGS };
        let mut long = walk(&long, 3);
        long.rate = 0.0;
        (0..1_000).for_each(|_| long.wander());
        assert_eq!(long.rate, 0.0);
        // The outage ends at the next tick. The volatility is 0.001 opportunities/s after a second,
        // so that the step of this tick is about 0.00014 opportunities/s.
        let short = WalkSettings { outage_s: 1e-6, volatility_bits_per_s: 12.0, ..SETTINGS };
        let mut short = walk(&short, 3);
        short.rate = 0.0;
        short.wander();
        assert!((1e-9..0.01).contains(&short.rate), "{}", short.rate);
    }

    #[test]
    fn an_opportunity_lies_within_the_tick_whose_rate_it_was_drawn_from() {
        let mut walk = walk(&SETTINGS, 11);
        for _ in 0..10_000 {
            let at = walk.next_opportunity();
            assert!((walk.tick_ends - TICK..walk.tick_ends).contains(&at), "{at}");
        }
    }
}
