//! `autorate-ingress`: behind a link whose rate varies, the shaper follows an estimate of the rate
//! at which packets arrive.
//!
//! The arrival rate is measured between two gaps that are longer than usual, so that a burst of an
//! aggregating link is counted as a whole. Its average rises quickly and falls slowly; the shaper
//! sends at 15/16 of it.

use packet::{Duration, Instant};

use super::tins::{Scheme, TinNumbers, buffer};

/// Longest time that is counted as a gap between packets.
const LONGEST: Duration = Duration::from_secs(1);
/// Shortest time between two changes of the shaper's rate.
const REST: Duration = Duration::from_millis(250);

/// Settings from which the tins and the buffer of a rate are computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub scheme: Scheme,
    pub mtu: u64,
    pub target: Duration,
    pub interval: Duration,
    /// Limit of the buffer in bytes, if it does not follow from the rate.
    pub limit: Option<u64>,
}

impl Plan {
    /// The parameters of each tin (such as its rate, target and quantum) if CAKE shapes to `rate`
    /// bytes per second; 0 stands for no limit.
    pub fn tins(self, rate: u64) -> impl Iterator<Item = TinNumbers> {
        let numbers = move |part| TinNumbers::new(part, self.mtu, self.target, self.interval);
        self.scheme.divide(rate).map(numbers)
    }

    /// Limit of the buffer in bytes, at `rate` bytes per second.
    pub fn limit(&self, rate: u64) -> u64 {
        self.limit.unwrap_or_else(|| buffer(rate, self.mtu, self.interval))
    }
}

/// The estimate of the arrival rate (`cake_enqueue`, CAKE_FLAG_AUTORATE_INGRESS).
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// Average of the measured rate, in bytes per second (`avg_peak_bandwidth`).
    peak: u64,
    /// Average time between two packets, in nanoseconds.
    gap: u64,
    /// Time of the last packet, if there was one.
    last: Option<Instant>,
    /// Start of the measurement under way.
    began: Instant,
    /// Bytes of the measurement under way.
    bytes: u64,
    /// Time of the last change of the shaper's rate, if there was one.
    changed: Option<Instant>,
}

/// The average after a step of 2^-`shift` of the difference towards `sample`.
const fn towards(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl Estimate {
    /// An estimate that begins with `rate` bytes per second.
    pub const fn new(rate: u64) -> Self {
        let (last, changed) = (None, None);
        Estimate { peak: rate, gap: 0, last, began: Instant::ZERO, bytes: 0, changed }
    }

    /// Average of the measured rate, in bytes per second.
    pub const fn peak(&self) -> u64 {
        self.peak
    }

    /// Adds an arrival of `bytes` bytes. Returns the shaper's new rate in bytes per second, if it
    /// changes. The first packet ends the longest gap and a measurement with a rate of 0: in the
    /// kernel that measurement has lasted since the start of the clock.
    pub fn arrival(&mut self, bytes: u64, now: Instant) -> Option<u64> {
        self.bytes += bytes;
        let first = self.last.is_none();
        let since = self.last.replace(now).map_or(LONGEST, |last| now.since(last)).min(LONGEST);
        let since = since.nanos();
        self.gap = towards(self.gap, since, if since > self.gap { 2 } else { 8 });
        if since <= self.gap {
            return None;
        }
        let took = u128::from(now.since(self.began).nanos());
        let rate = if first { 0 } else { u128::from(self.bytes) * 1_000_000_000 / took.max(1) };
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.peak = towards(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        (self.bytes, self.began) = (0, now);
        if self.changed.is_some_and(|at| now.since(at) <= REST) {
            return None;
        }
        self.changed = Some(now);
        Some((u128::from(self.peak) * 15 / 16) as u64)
    }
}

#[cfg(test)]
mod tests {
    use packet::params::{Params, Raw};
    use packet::{Ecn, Event, Packet, Rate, Rng};

    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn the_first_packet_ends_a_long_silence() {
        // The estimate falls by 1/256 of 1,000,000 B/s, and the shaper sends at 15/16 of it.
        let mut estimate = Estimate::new(1_000_000);
        assert_eq!(estimate.arrival(1_500, ms(5)), Some((1_000_000 - 3_906) * 15 / 16));
        assert_eq!(estimate.peak(), 996_094);
    }

    #[test]
    fn the_shaper_has_the_new_rate_at_once() {
        // After the first packet the shaper sends at 15/16 of 1,250,000 - 4,882 B/s: 1,000 B take
        // 856,679 ns, not 800,000 ns.
        let raw =
            [("autorate".into(), Raw::Bool(true)), ("rate".into(), Raw::Text("10 Mbit/s".into()))];
        let params = Params::check(super::super::ENTRY.about.fields, &raw).unwrap();
        let line = crate::Line::of(Rate::from_bits_per_s(1_000_000_000));
        let mut queue = (super::super::ENTRY.build)(&params, &line).unwrap().into_discipline();
        let (mut rng, mut out) = (Rng::named(1, "cake"), |_: Event| {});
        let mut cx = crate::Cx { now: ms(5), rng: &mut rng, out: &mut out };
        for id in 0..2 {
            let header = Default::default();
            let (ecn, arrived) = (Ecn::NotEct, ms(5));
            queue.enqueue(Packet { id, flow: 1, bytes: 1_000, ecn, arrived, header }, &mut cx);
        }
        assert!(queue.dequeue(&mut cx).is_some() && queue.dequeue(&mut cx).is_none());
        let took = queue.next_tick().unwrap().since(ms(5)).nanos();
        assert!(took.abs_diff(856_679) <= 1, "{took} ns");
    }

    #[test]
    fn bursts_of_an_aggregating_link_count_whole() {
        // Ten packets of 1,000 B at once, every 10 ms: 1 MB/s, whatever the gaps within a burst.
        let mut estimate = Estimate::new(0);
        let mut rates = Vec::new();
        for burst in 0..2_000 {
            for _ in 0..10 {
                if let Some(rate) = estimate.arrival(1_000, ms(100 + 10 * burst)) {
                    rates.push((burst, rate));
                }
            }
        }
        assert!((990_000..=1_000_000).contains(&estimate.peak()), "{}", estimate.peak());
        let gaps: Vec<_> = rates.windows(2).map(|two| two[1].0 - two[0].0).collect();
        assert!(gaps.iter().all(|&bursts| bursts > 25), "not before 250 ms have passed");
        assert!(rates.last().is_some_and(|&(_, rate)| rate <= 937_500), "15/16 of it");
    }

    #[test]
    fn it_rises_quickly_and_falls_slowly() {
        // A step is a quarter of the way up and 1/256 of the way down.
        assert_eq!(towards(1_000, 2_000, 2), 1_250);
        assert_eq!(towards(256_000, 0, 8), 255_000);
    }
}
