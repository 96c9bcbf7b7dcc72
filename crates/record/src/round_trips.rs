//! Round-trip times of TCP, as its senders sample them.

use packet::{Duration, Instant, Rounded};

use crate::Summary;
use crate::Window;
use crate::measure::{AS_MS, Measure, Unit, real, whole};
use crate::waits::{Spread, Waits};

/// The samples of one traffic group.
#[derive(Clone, Debug, Default)]
struct Trips {
    /// Number of samples of each rounded time, by [`Rounded::place`]; statistics are computed at
    /// the end.
    rounded: Vec<u32>,
    /// Samples that are not rounded.
    exact: Waits,
    /// The shortest of the samples that are not rounded, ns.
    shortest_exact_ns: Option<u64>,
    /// Sum over the samples of the smoothed round-trip time after each, ns.
    smoothed_ns: u64,
}

impl Trips {
    fn is_used(&self) -> bool {
        !self.rounded.is_empty() || self.exact.is_used()
    }

    /// Adds the first sample of a rounded time that is longer than all before.
    #[cold]
    fn add_beyond(&mut self, sample: Rounded) {
        self.rounded.resize(sample.place() + 1, 0);
        self.rounded[sample.place()] = 1;
    }

    /// Each rounded time that has samples, in ns, and the number of its samples; the shortest
    /// first.
    fn times(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let counted = self.rounded.iter().enumerate().filter(|(_, n)| **n > 0);
        counted.map(|(place, n)| (Rounded::at(place).middle().nanos(), *n))
    }

    /// The distribution of all samples, rounded or not.
    fn samples(&self) -> Waits {
        let mut all = self.exact.clone();
        self.times().for_each(|(ns, n)| all.add_many(ns, n));
        all
    }

    /// The shortest sample, ns; [`u64::MAX`] without one.
    fn shortest_ns(&self) -> u64 {
        let rounded = self.times().next().map(|(ns, _)| ns);
        rounded.into_iter().chain(self.shortest_exact_ns).min().unwrap_or(u64::MAX)
    }
}

/// Statistics of some samples.
pub(crate) struct TripFigures {
    spread: Spread,
    shortest_ns: u64,
    smoothed_ns: u64,
}

impl TripFigures {
    /// The statistics of these samples together.
    fn of(trips: &[&Trips]) -> TripFigures {
        let samples: Vec<Waits> = trips.iter().map(|of| of.samples()).collect();
        let samples: Vec<&Waits> = samples.iter().collect();
        let shortest_ns = trips.iter().map(|of| of.shortest_ns()).min().unwrap_or(u64::MAX);
        TripFigures {
            spread: Spread::of(&samples).not_below(shortest_ns as f64 / 1e9),
            shortest_ns,
            smoothed_ns: trips.iter().map(|of| of.smoothed_ns).sum(),
        }
    }

    fn shortest_s(&self) -> f64 {
        if self.spread.count == 0 { f64::NAN } else { self.shortest_ns as f64 / 1e9 }
    }

    fn smoothed_mean_s(&self) -> f64 {
        self.smoothed_ns as f64 / 1e9 / self.spread.count as f64
    }
}

/// The recorder of the round-trip samples of every TCP sender in the measured interval.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    window: Window,
    groups: Vec<Trips>,
}

impl RoundTrips {
    /// A recorder without samples; `groups` is the number of traffic groups.
    pub fn new(window: Window, groups: usize) -> Self {
        RoundTrips { window, groups: vec![Trips::default(); groups] }
    }

    /// Adds a sample that its sender keeps rounded; `smoothed` is the sender's smoothed round-trip
    /// time after it. The sender's connection belongs to `group`.
    #[inline]
    pub fn sampled_rounded(
        &mut self,
        now: Instant,
        group: u16,
        sample: Rounded,
        smoothed: Duration,
    ) {
        let Some(trips) = self.groups.get_mut(usize::from(group)) else { return };
        if !self.window.contains(now) {
            return;
        }
        match trips.rounded.get_mut(sample.place()) {
            Some(count) => *count += 1,
            None => trips.add_beyond(sample),
        }
        trips.smoothed_ns += smoothed.nanos();
    }

    /// As [`RoundTrips::sampled_rounded`], for a sample that is not rounded.
    pub fn sampled(&mut self, now: Instant, group: u16, sample: Duration, smoothed: Duration) {
        let Some(trips) = self.groups.get_mut(usize::from(group)) else { return };
        if !self.window.contains(now) {
            return;
        }
        let shortest = trips.shortest_exact_ns.map_or(sample.nanos(), |ns| ns.min(sample.nanos()));
        trips.shortest_exact_ns = Some(shortest);
        trips.exact.add(sample.nanos());
        trips.smoothed_ns += smoothed.nanos();
    }

    /// Writes the measures of all groups together and, where several groups took samples, of each;
    /// writes nothing without a sample. `names` are those of the groups, in the order of the
    /// scenario.
    pub fn summarise(&self, names: &[&str], out: &mut Summary) {
        let used = self.groups.iter().zip(names).filter(|(trips, _)| trips.is_used());
        let (used, names): (Vec<&Trips>, Vec<&str>) = used.unzip();
        if used.is_empty() {
            return;
        }
        out.write_where(PREFIX, MEASURES, &TripFigures::of(&used), |_| true);
        if used.len() < 2 {
            return;
        }
        let mut groups = Summary::default();
        for (trips, name) in used.into_iter().zip(names) {
            let mut group = Summary::default();
            group.write(MEASURES, &TripFigures::of(&[trips]));
            groups.group(name, group);
        }
        out.group("tcp_rtt_by_group", groups);
    }
}

const PREFIX: &str = "tcp_rtt_";
/// Prefixes of the measures of round-trip times in a summary.
pub(crate) const PLACES: &[&str] = &[PREFIX, "tcp_rtt_by_group.<group>."];

const SAMPLES: Unit = Unit::of("samples");
const QUANTILE: &str = "quantile of the samples, within 0.8 %";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<TripFigures>] = &[
    whole("samples", SAMPLES, "TCP round-trip samples", |t: &TripFigures| t.spread.count,
        "of the round-trip time that TCP senders took, in the resolution of their clocks: from a segment's \
         sending to the acknowledgement, delayed acknowledgements included; only where there are some"),
    real("min_s", AS_MS.digits(1), "TCP round trip, least", TripFigures::shortest_s, "shortest sample"),
    real("mean_s", AS_MS.digits(1), "TCP round trip, mean", |t| t.spread.mean_s, "mean over the samples"),
    real("trimmed_mean_s", AS_MS.digits(1), "TCP round trip, trimmed mean", |t| t.spread.trimmed_mean_s,
        "mean of the shortest 95 % of the samples (TMP of draft-ietf-ippm-responsiveness-09), within 0.8 %"),
    real("smoothed_mean_s", AS_MS.digits(1), "TCP round trip, smoothed", TripFigures::smoothed_mean_s,
        "mean over the samples of the smoothed round-trip time (SRTT of RFC 6298) that each led to"),
    real("p50_s", AS_MS.digits(1), "TCP round trip, median", |t| t.spread.quantiles_s[0], QUANTILE),
    real("p90_s", AS_MS.digits(1), "TCP round trip, 90 %", |t| t.spread.quantiles_s[1], QUANTILE),
    real("p95_s", AS_MS.digits(1), "TCP round trip, 95 %", |t| t.spread.quantiles_s[2], QUANTILE),
    real("p99_s", AS_MS.digits(1), "TCP round trip, 99 %", |t| t.spread.quantiles_s[3], QUANTILE),
    real("p99_9_s", AS_MS.digits(1), "TCP round trip, 99.9 %", |t| t.spread.quantiles_s[4], QUANTILE),
    real("max_s", AS_MS.digits(1), "TCP round trip, longest", |t| t.spread.longest_s, "longest sample"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_the_measured_interval_by_hand() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let ms = Duration::from_millis;
        let mut trips = RoundTrips::new(Window { from: at(100), to: at(200) }, 3);
        trips.sampled(at(99), 0, ms(1), ms(1)); // before the measured interval
        trips.sampled(at(100), 0, ms(20), ms(30));
        trips.sampled(at(150), 2, ms(40), ms(32));
        let mut out = Summary::default();
        trips.summarise(&["a", "b", "c"], &mut out);
        assert_eq!(out.number("tcp_rtt_samples"), 2.0);
        assert_eq!(
            ["min_s", "mean_s", "smoothed_mean_s", "max_s"]
                .map(|name| out.number(&format!("tcp_rtt_{name}"))),
            [0.02, 0.03, 0.031, 0.04]
        );
        let Some(crate::Figure::Group(groups)) = out.get("tcp_rtt_by_group") else { panic!() };
        let Some(crate::Figure::Group(of)) = groups.get("c") else { panic!() };
        assert!(groups.get("b").is_none() && of.number("p50_s") == 0.04);
    }

    /// The midpoint of a bin may lie below all times in it.
    #[test]
    fn no_quantile_is_below_the_shortest_sample() {
        let sample = Duration::from_micros(50_190);
        let mut trips = RoundTrips::new(Window { from: Instant::ZERO, to: Instant::NEVER }, 1);
        trips.sampled(Instant::ZERO, 0, sample, sample);
        let mut out = Summary::default();
        trips.summarise(&["a"], &mut out);
        let figures = ["min_s", "p50_s", "p99_9_s", "max_s"];
        let found = figures.map(|name| out.number(&format!("tcp_rtt_{name}")));
        assert_eq!(found, [sample.secs_f64(); 4]);
    }

    /// Counting rounded samples by index gives the figures that adding their times one by one
    /// gives.
    #[test]
    fn rounded_samples_are_what_their_times_are() {
        let window = Window { from: Instant::ZERO, to: Instant::NEVER };
        let [mut counted, mut added] = [(); 2].map(|()| RoundTrips::new(window, 2));
        let mut state = 1u64;
        for turn in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let sample = Duration::from_nanos((state >> 34) >> (state & 15));
            let smoothed = Duration::from_nanos(state >> 40);
            let (group, rounded) = (turn % 3, Rounded::of(sample)); // there is no third group
            counted.sampled_rounded(Instant::ZERO, group, rounded, smoothed);
            added.sampled(Instant::ZERO, group, rounded.middle(), smoothed);
            if turn % 5 == 0 {
                // Senders of a group may keep some samples exactly.
                counted.sampled(Instant::ZERO, group, sample, smoothed);
                added.sampled(Instant::ZERO, group, sample, smoothed);
            }
        }
        let [counted, added] = [counted, added].map(|trips| {
            let mut out = Summary::default();
            trips.summarise(&["a", "b"], &mut out);
            out
        });
        assert!(counted.get("tcp_rtt_by_group").is_some());
        assert_eq!(format!("{counted:?}"), format!("{added:?}"));
    }

    #[test]
    fn without_a_sample_nothing_is_written() {
        let mut out = Summary::default();
        let window = Window { from: Instant::ZERO, to: Instant::ZERO };
        RoundTrips::new(window, 1).summarise(&["a"], &mut out);
        assert!(out.0.is_empty());
    }
}
