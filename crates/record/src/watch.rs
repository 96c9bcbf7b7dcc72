//! Samples kept for an observer of a run: bounded in number, and removed when they are read.

use std::collections::VecDeque;

use packet::{Duration, Instant};

/// Settings of the samples that a watched port keeps until the observer reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchSettings {
    /// Length of the intervals of which the least and the largest sample are kept.
    pub bin: Duration,
}

/// Most intervals kept until the observer reads them; beyond that the oldest are discarded.
const MOST_BINS: usize = 4_096;

/// The least and the largest sample in each of a series of equal intervals.
#[derive(Clone, Debug)]
pub struct Bins {
    width_ns: u64,
    /// Number of the first interval kept: it begins at `first` interval widths.
    first: u64,
    bins: VecDeque<[f64; 2]>,
    /// The last sample, which holds through intervals without one.
    last: f64,
}

/// Intervals that an observer has read: start of the first, and least and largest sample of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binned {
    /// Start of the first interval, in seconds.
    pub from_s: f64,
    /// Length of each interval, in seconds.
    pub width_s: f64,
    /// Least and largest sample of each interval.
    pub bins: Vec<[f64; 2]>,
}

impl Bins {
    /// An empty series of intervals as long as `width`.
    pub fn new(width: Duration) -> Self {
        Bins { width_ns: width.nanos().max(1), first: 0, bins: VecDeque::new(), last: 0.0 }
    }

    /// Adds a sample at `at_ns`, not before the last one.
    pub fn add(&mut self, at_ns: u64, value: f64) {
        let number = at_ns / self.width_ns;
        let held = std::mem::replace(&mut self.last, value);
        if self.bins.is_empty() {
            self.first = number;
        }
        let place = number.saturating_sub(self.first) as usize;
        if let Some([least, most]) = self.bins.get_mut(place) {
            (*least, *most) = (least.min(value), most.max(value));
            return;
        }
        self.bins.resize(place.min(MOST_BINS), [held; 2]);
        self.bins.push_back([value; 2]);
        while self.bins.len() > MOST_BINS {
            self.bins.pop_front();
        }
        self.first = number + 1 - self.bins.len() as u64;
    }

    /// Removes and returns every interval that has ended at `now`.
    pub fn drain(&mut self, now: Instant) -> Binned {
        let over = (now.nanos() / self.width_ns).saturating_sub(self.first) as usize;
        let bins: Vec<[f64; 2]> = self.bins.drain(..over.min(self.bins.len())).collect();
        let width_s = self.width_ns as f64 / 1e9;
        let from_s = self.first as f64 * width_s;
        self.first += bins.len() as u64;
        Binned { from_s, width_s, bins }
    }
}

/// Bins of response times in each decade, from one millisecond on.
const BINS_A_DECADE: u32 = 20;
/// Number of decades, up to 1000 s; longer responses and failed ones are counted in the last bin.
const DECADES: u32 = 6;

/// Response times of the measured interval so far, in bins.
#[derive(Clone, Debug)]
pub struct WatchedResponses {
    /// Number of responses in each bin; the last bin also holds the failed ones.
    pub counts: Vec<u64>,
    /// Number of responses, failed ones included.
    pub total: u64,
    /// Number of responses that took at most one second.
    pub within_a_second: u64,
    /// Number of requests that failed.
    pub failed: u64,
}

impl Default for WatchedResponses {
    fn default() -> Self {
        let counts = vec![0; (BINS_A_DECADE * DECADES) as usize];
        WatchedResponses { counts, total: 0, within_a_second: 0, failed: 0 }
    }
}

impl WatchedResponses {
    /// Bins in each decade, the first from a millisecond on.
    pub const BINS_A_DECADE: u32 = BINS_A_DECADE;

    /// Adds a request that ended `ns` nanoseconds after it was made.
    pub fn add(&mut self, ns: u64, failed: bool) {
        let ms = (ns as f64 / 1e6).max(1.0);
        let decades = packet::math::ln(ms) / std::f64::consts::LN_10;
        let last = self.counts.len() - 1;
        let bin = (decades * f64::from(BINS_A_DECADE)) as usize;
        self.counts[if failed { last } else { bin.min(last) }] += 1;
        self.total += 1;
        self.failed += u64::from(failed);
        self.within_a_second += u64::from(!failed && ns <= 1_000_000_000);
    }
}

/// The queue of one port and its discipline's gauges, for an observer.
#[derive(Clone, Debug)]
pub(crate) struct QueueWatch {
    settings: WatchSettings,
    queue: Bins,
    gauges: Vec<(&'static str, Bins)>,
}

/// Samples of a port that an observer has read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSnapshot {
    /// Samples of the number of packets that wait.
    pub queue: Binned,
    /// Samples of the discipline's gauges, by name.
    pub gauges: Vec<(&'static str, Binned)>,
}

impl QueueWatch {
    pub fn new(settings: WatchSettings) -> Self {
        QueueWatch { settings, queue: Bins::new(settings.bin), gauges: Vec::new() }
    }

    pub fn queue(&mut self, at_ns: u64, packets: u32) {
        self.queue.add(at_ns, f64::from(packets));
    }

    /// Adds a sample of the gauge with index `place`, in the order in which the discipline shows
    /// its gauges.
    pub fn gauge(&mut self, place: usize, name: &'static str, at_ns: u64, value: f64) {
        if place == self.gauges.len() {
            self.gauges.push((name, Bins::new(self.settings.bin)));
        }
        self.gauges[place].1.add(at_ns, value);
    }

    pub fn drain(&mut self, now: Instant) -> QueueSnapshot {
        let gauges = self.gauges.iter_mut().map(|(name, bins)| (*name, bins.drain(now)));
        QueueSnapshot { queue: self.queue.drain(now), gauges: gauges.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    #[test]
    fn an_interval_has_its_least_and_largest_sample_and_is_handed_over_once() {
        let mut bins = Bins::new(Duration::from_millis(10));
        for (ms, value) in [(0, 3.0), (3, 1.0), (6, 5.0), (12, 2.0), (21, 7.0)] {
            bins.add(ms * MS, value);
        }
        let seen = bins.drain(at(20));
        assert_eq!((seen.from_s, seen.bins), (0.0, vec![[1.0, 5.0], [2.0, 2.0]]));
        assert_eq!(bins.drain(at(29)).bins, [] as [[f64; 2]; 0], "the third is not over");
        bins.add(25 * MS, 6.0);
        let seen = bins.drain(at(30));
        assert_eq!((seen.from_s, seen.bins), (0.02, vec![[6.0, 7.0]]));
    }

    #[test]
    fn where_no_sample_fell_the_last_one_holds() {
        let mut bins = Bins::new(Duration::from_millis(1));
        bins.add(0, 1.0);
        bins.add(MS / 2, 4.0);
        bins.add(3 * MS, 9.0);
        assert_eq!(bins.drain(at(4)).bins, [[1.0, 4.0], [4.0; 2], [4.0; 2], [9.0; 2]]);
    }

    #[test]
    fn what_nobody_looks_at_does_not_grow() {
        let mut bins = Bins::new(Duration::from_millis(1));
        (0..10_000).for_each(|ms| bins.add(ms * MS, ms as f64));
        let seen = bins.drain(at(10_000));
        assert_eq!(seen.bins.len(), MOST_BINS);
        assert!((seen.from_s - (10_000 - MOST_BINS) as f64 / 1e3).abs() < 1e-9);
        assert_eq!(seen.bins.last(), Some(&[9_999.0; 2]));
    }
}
