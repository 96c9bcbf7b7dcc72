//! Opportunities whose rate wanders: the model by which Sprout sees a cellular link (Winstein,
//! Sivaraman and Balakrishnan, NSDI 2013, section 3.1).
//!
//! Opportunities are a Poisson process. Every 20 ms its rate takes a step of Brownian motion
//! between 0 and twice its middle, where it turns back. At 0 there is an outage, whose length is
//! exponential. Sprout infers with this model; that links are drawn from it is ours.

use packet::{Rng, math};

use super::FAR;

/// Bits of an opportunity.
const BITS: f64 = 12_000.0;
/// How often the rate changes, ns (Sprout).
const TICK: u64 = 20_000_000;

/// The numbers of a walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkSettings {
    /// Middle of the walk's range, bit/s.
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
    /// Opportunities per second: the largest, now, and the step's standard deviation.
    most: f64,
    rate: f64,
    step: f64,
    /// The chance that an outage ends within a tick.
    recovery: f64,
    at: u64,
    tick_ends: u64,
    /// The opportunities between these instants, as far as they are drawn.
    counted: (u64, u64, u64),
}

impl Walk {
    /// A walk that begins anywhere in its range; those of the measured interval `from..=to` (ns)
    /// are counted.
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

    /// Standard normal, by Box and Muller.
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

    /// The next one, ns.
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

    /// How many there are in the measured interval; draws those that nobody has asked for.
    pub fn count_to_the_end(&mut self, from: u64, to: u64) -> u64 {
        assert_eq!((from, to), (self.counted.0, self.counted.1), "one interval is counted");
        while self.at <= to && self.next_opportunity() < FAR {}
        self.counted.2
    }
}
