//! Samples of a discipline's gauges, which show its inner state over time.

use crate::measure::{Measure, Unit, figure};
use crate::watch::QueueWatch;
use crate::{Column, MeterSettings, Summary};

/// One gauge: its kept samples, and statistics of those in the measured interval.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    name: &'static str,
    kept: Vec<f64>,
    sum: f64,
    max: f64,
}

/// Equally spaced samples of all gauges of a discipline.
#[derive(Clone, Debug)]
pub(crate) struct Gauges {
    settings: MeterSettings,
    /// When the next sample is due, in nanoseconds.
    next: u64,
    /// Number of samples in the measured interval.
    measured: u64,
    series: Vec<Series>,
}

const BY_GAUGE: Unit = Unit::of("by gauge").digits(1);

#[rustfmt::skip]
pub(crate) static LARGEST: &[Measure<Series>] = &[
    figure("<gauge>", BY_GAUGE, "largest sample of a gauge", |_| None,
        "largest sample of a gauge (see `queue`), in the unit it has there; null without samples; only \
         with `record.gauges`, only ports in `record.queues`"),
];

#[rustfmt::skip]
pub(crate) static MEANS: &[Measure<Series>] = &[
    figure("<gauge>", BY_GAUGE, "mean of a gauge", |_| None, "mean of its samples in the measured interval"),
];

impl Gauges {
    /// A recorder without samples.
    pub fn new(settings: MeterSettings) -> Self {
        Gauges { settings, next: 0, measured: 0, series: Vec::new() }
    }

    /// Takes the samples due before `before_ns`; `ask` reads the gauges. All these samples have the
    /// current values, since nothing has changed them since the first was due. Returns when the
    /// next sample is due.
    pub fn take(
        &mut self,
        before_ns: u64,
        mut watched: Option<&mut QueueWatch>,
        ask: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) -> u64 {
        let MeterSettings { window, sample_every, .. } = self.settings;
        let keep = self.settings.keep_samples && self.settings.gauges;
        let first = self.next;
        let every = sample_every.map_or(u64::MAX, |every| every.nanos());
        let due = before_ns.min(window.to.nanos()).saturating_sub(self.next).div_ceil(every);
        let to_come = window.from.nanos().saturating_sub(self.next).div_ceil(every).min(due);
        let measured = due - to_come;
        let mut place = 0;
        ask(&mut |name, value| {
            if place == self.series.len() {
                let max = f64::NEG_INFINITY;
                self.series.push(Series { name, kept: Vec::new(), sum: 0.0, max });
            }
            let series = &mut self.series[place];
            debug_assert_eq!(series.name, name, "a discipline always shows the same gauges");
            place += 1;
            if let Some(watched) = &mut watched {
                // All these samples are equal, so the first and the last are enough.
                let mut show =
                    |sample| watched.gauge(place - 1, name, first + sample * every, value);
                (0..due).take(1).for_each(&mut show);
                (1..due).last().into_iter().for_each(show);
            }
            if keep {
                series.kept.extend((0..due).map(|_| value));
            }
            if measured > 0 {
                series.sum += value * measured as f64;
                series.max = series.max.max(value);
            }
        });
        self.measured += measured;
        self.next = self.next.saturating_add(due.saturating_mul(every));
        self.next
    }

    /// The kept samples as columns named `<port>.<gauge>`.
    pub fn columns(&self, port: &str) -> Vec<(String, Column)> {
        let column = |s: &Series| (format!("{port}.{}", s.name), Column::F64(s.kept.clone()));
        self.series.iter().map(column).collect()
    }

    /// Writes the largest and the mean sample of each gauge; NaN without samples.
    pub fn summarise(&self, out: &mut Summary) {
        let (mut max, mut mean) = (Summary::default(), Summary::default());
        for series in &self.series {
            let any = self.measured > 0;
            max.real(series.name, if any { series.max } else { f64::NAN });
            mean.real(series.name, series.sum / self.measured as f64);
        }
        if !self.series.is_empty() {
            out.group("gauge_max", max);
            out.group("gauge_mean", mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Window};
    use packet::{Duration, Instant};

    fn ms(t: u64) -> Instant {
        Instant::from_nanos(t * 1_000_000)
    }

    fn gauges(from_ms: u64, to_ms: u64) -> Gauges {
        Gauges::new(MeterSettings {
            window: Window { from: ms(from_ms), to: ms(to_ms) },
            sample_every: Some(Duration::from_millis(3)),
            keep_samples: true,
            gauges: true,
            trace: false,
            watch: None,
            delays: true,
            seconds: true,
        })
    }

    #[test]
    fn a_sample_has_the_value_that_held_until_it_was_due() {
        // p is 1 before 4 ms, 5 before 12 ms, then 2; samples at 0, 3, 6, 9, 12, 15 ms.
        let mut g = gauges(3, 18);
        for (before, p) in [(4, 1.0), (12, 5.0), (13, 2.0), (18, 2.0)] {
            let next = g.take(ms(before).nanos(), None, |show| {
                show("p", p);
                show("avg", 7.0);
            });
            assert!(next >= ms(before).nanos(), "none is due again");
        }
        let expected = Column::F64(vec![1.0, 1.0, 5.0, 5.0, 2.0, 2.0]);
        assert_eq!(g.columns("x")[0], ("x.p".to_owned(), expected));
        assert_eq!(g.columns("x")[1].0, "x.avg");
        let mut out = Summary::default();
        g.summarise(&mut out);
        let [(_, Figure::Group(max)), (_, Figure::Group(mean))] = &out.0[..] else { panic!() };
        assert_eq!((max.number("p"), mean.number("p")), (5.0, 3.0), "of those at 3 to 15 ms");
        assert_eq!((max.number("avg"), mean.number("avg")), (7.0, 7.0));
    }

    #[test]
    fn without_a_measured_sample_there_is_no_number() {
        let mut g = gauges(4, 6);
        g.take(ms(6).nanos(), None, |show| show("p", 0.5));
        let mut out = Summary::default();
        g.summarise(&mut out);
        let Some(Figure::Group(mean)) = out.get("gauge_mean") else { panic!() };
        assert!(mean.number("p").is_nan());
    }
}
