//! Round-trip times of TCP, as senders sample them.

use packet::{Duration, Instant};

use crate::Summary;
use crate::Window;
use crate::measure::{AS_MS, Measure, Unit, real, whole};
use crate::waits::Waits;

/// The samples of one traffic group, or of all together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trips {
    samples: Waits,
    shortest: Option<Duration>,
    /// Sum of the smoothed round-trip time after each sample.
    smoothed_ns: u64,
}

impl Trips {
    fn merge(&mut self, more: &Trips) {
        self.samples.merge(&more.samples);
        self.shortest = self.shortest.into_iter().chain(more.shortest).min();
        self.smoothed_ns += more.smoothed_ns;
    }

    fn shortest_s(&self) -> f64 {
        self.shortest.map_or(f64::NAN, Duration::secs_f64)
    }

    fn smoothed_mean_s(&self) -> f64 {
        self.smoothed_ns as f64 / 1e9 / self.samples.count() as f64
    }
}

/// The samples of every sender in the measured interval.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    window: Window,
    groups: Vec<Trips>,
}

impl RoundTrips {
    /// None yet; `groups` is the number of traffic groups.
    pub fn new(window: Window, groups: usize) -> Self {
        RoundTrips { window, groups: vec![Trips::default(); groups] }
    }

    /// A sender of a connection of this group took a sample, after which its smoothed round-trip time
    /// is `smoothed`.
    pub fn sampled(&mut self, now: Instant, group: u16, sample: Duration, smoothed: Duration) {
        let Some(trips) = self.groups.get_mut(usize::from(group)) else { return };
        if !self.window.contains(now) {
            return;
        }
        trips.samples.add(sample.nanos());
        trips.shortest = Some(trips.shortest.map_or(sample, |least| least.min(sample)));
        trips.smoothed_ns += smoothed.nanos();
    }

    /// Writes the measures of all groups together, and of each where several took samples; nothing
    /// without a sample. `names` are those of the groups, in the order of the scenario.
    pub fn summarise(&self, names: &[&str], out: &mut Summary) {
        let used = || self.groups.iter().zip(names).filter(|(trips, _)| trips.samples.count() > 0);
        let mut all = Trips::default();
        used().for_each(|(trips, _)| all.merge(trips));
        if all.samples.count() == 0 {
            return;
        }
        out.write_where(PREFIX, MEASURES, &all, |_| true);
        if used().count() < 2 {
            return;
        }
        let mut groups = Summary::default();
        for (trips, name) in used() {
            let mut group = Summary::default();
            group.write(MEASURES, trips);
            groups.group(name, group);
        }
        out.group("tcp_rtt_by_group", groups);
    }
}

const PREFIX: &str = "tcp_rtt_";
/// Where these measures stand in a summary.
pub(crate) const PLACES: &[&str] = &[PREFIX, "tcp_rtt_by_group.<group>."];

const SAMPLES: Unit = Unit::of("samples");
const QUANTILE: &str = "quantile of the samples, within 0.8 %";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Trips>] = &[
    whole("samples", SAMPLES, "TCP round-trip samples", |t: &Trips| t.samples.count(),
        "of the round-trip time that TCP senders took, in the resolution of their clocks: from a segment's \
         sending to the acknowledgement, delayed acknowledgements included; only where there are some"),
    real("min_s", AS_MS.digits(1), "TCP round trip, least", Trips::shortest_s, "shortest sample"),
    real("mean_s", AS_MS.digits(1), "TCP round trip, mean", |t| t.samples.mean_s(), "mean over the samples"),
    real("trimmed_mean_s", AS_MS.digits(1), "TCP round trip, trimmed mean", |t| t.samples.trimmed_mean_s(0.95),
        "mean of the shortest 95 % of the samples (TMP of draft-ietf-ippm-responsiveness-09), within 0.8 %"),
    real("smoothed_mean_s", AS_MS.digits(1), "TCP round trip, smoothed", Trips::smoothed_mean_s,
        "mean over the samples of the smoothed round-trip time (SRTT of RFC 6298) that each led to"),
    real("p50_s", AS_MS.digits(1), "TCP round trip, median", |t| t.samples.quantile_s(0.5), QUANTILE),
    real("p90_s", AS_MS.digits(1), "TCP round trip, 90 %", |t| t.samples.quantile_s(0.9), QUANTILE),
    real("p95_s", AS_MS.digits(1), "TCP round trip, 95 %", |t| t.samples.quantile_s(0.95), QUANTILE),
    real("p99_s", AS_MS.digits(1), "TCP round trip, 99 %", |t| t.samples.quantile_s(0.99), QUANTILE),
    real("p99_9_s", AS_MS.digits(1), "TCP round trip, 99.9 %", |t| t.samples.quantile_s(0.999), QUANTILE),
    real("max_s", AS_MS.digits(1), "TCP round trip, longest", |t| t.samples.longest_s(), "longest sample"),
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

    #[test]
    fn without_a_sample_nothing_is_written() {
        let mut out = Summary::default();
        let window = Window { from: Instant::ZERO, to: Instant::ZERO };
        RoundTrips::new(window, 1).summarise(&["a"], &mut out);
        assert!(out.0.is_empty());
    }
}
