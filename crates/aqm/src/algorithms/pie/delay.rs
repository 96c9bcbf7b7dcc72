//! How the queueing delay is measured.

use packet::{Backlog, Duration, Instant};

/// Bytes over which a departure rate is measured (RFC 8033's DQ_THRESHOLD).
const THRESHOLD: u64 = 1 << 14;

/// An estimator of the departure rate, for Little's law: while at least 16 KiB wait, it measures
/// the time that the next 16 KiB take.
#[derive(Clone, Debug, Default)]
pub(super) struct DepartureRate {
    linux: bool,
    /// When the current measurement began, and the bytes that have left since.
    under_way: Option<(Instant, u64)>,
    /// Average time in seconds in which DQ_THRESHOLD bytes leave (Linux: departure rate in bytes
    /// per second); 0 before the first measurement.
    average: f64,
}

impl DepartureRate {
    pub fn new(linux: bool) -> Self {
        DepartureRate { linux, ..Self::default() }
    }

    /// A packet of `size` bytes departs; `left` still waits. Returns the duration of the
    /// measurement that this departure completes, if it does.
    pub fn departure(&mut self, size: u32, left: Backlog, now: Instant) -> Option<Duration> {
        let plenty = left.bytes >= THRESHOLD;
        if plenty && self.under_way.is_none() {
            self.under_way = Some((now, 0));
        }
        let (start, bytes) = self.under_way.as_mut()?;
        *bytes += u64::from(size);
        let (start, bytes) = (*start, *bytes);
        let taken = now.since(start);
        if bytes < THRESHOLD || taken == Duration::ZERO {
            return None;
        }
        self.under_way = if self.linux && plenty { Some((now, 0)) } else { None };
        let (sample, weight) = if self.linux {
            (bytes as f64 / taken.secs_f64(), 1.0 / 8.0)
        } else {
            (taken.secs_f64(), THRESHOLD as f64 / 65_536.0)
        };
        if self.average == 0.0 {
            self.average = sample;
        } else {
            self.average += weight * (sample - self.average);
        }
        Some(taken)
    }

    /// The queueing delay of `backlog` in seconds; zero as long as no rate is known.
    pub fn delay(&self, backlog: Backlog) -> f64 {
        let bytes = backlog.bytes as f64;
        match self.average {
            0.0 => 0.0,
            rate if self.linux => bytes / rate,
            time => bytes * time / THRESHOLD as f64,
        }
    }

    pub fn known(&self) -> bool {
        self.average > 0.0
    }

    /// Discards all measurements.
    pub fn reset(&mut self) {
        *self = Self::new(self.linux);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets 1500-byte packets depart at 10 Mbit/s from packet time `from` on, with `left` bytes
    /// waiting behind each. Returns the number of measurements that they complete.
    fn run(rate: &mut DepartureRate, packets: u64, from: u64, left: u64) -> u32 {
        let mut completed = 0;
        for n in 0..packets {
            let backlog = Backlog { packets: 1, bytes: left };
            let now = Instant::from_nanos(1_200_000 * (from + n));
            completed += u32::from(rate.departure(1500, backlog, now).is_some());
        }
        completed
    }

    #[test]
    fn rates_are_measured_over_16_kib() {
        for linux in [false, true] {
            let mut rate = DepartureRate::new(linux);
            assert_eq!(run(&mut rate, 100, 0, 16_383), 0, "too little waits");
            assert_eq!(rate.delay(Backlog { packets: 9, bytes: 9000 }), 0.0);
            // The 11th packet completes 16.5 kB in 10 packet times.
            assert_eq!(run(&mut rate, 10, 100, 16_384), 0);
            assert_eq!(run(&mut rate, 1, 110, 16_384), 1);
            assert!(rate.known());
            let delay = rate.delay(Backlog { packets: 11, bytes: 16_384 });
            // Linux's rate counts the bytes that left, the RFC's takes them to be DQ_THRESHOLD.
            let expected = if linux { 16_384.0 / 16_500.0 * 0.012 } else { 0.012 };
            assert!((delay - expected).abs() < 1e-9, "{delay}");
            rate.reset();
            assert!(!rate.known());
        }
    }

    #[test]
    fn averages_weigh_a_quarter_or_an_eighth() {
        for (linux, expected) in [(false, 0.75 * 0.012 + 0.25 * 0.024), (true, 0.0)] {
            let mut rate = DepartureRate::new(linux);
            run(&mut rate, 11, 0, 20_000);
            // Packets now leave at half of the line's rate, one each 2.4 ms.
            for n in 0..14 {
                let now = Instant::from_nanos(1_200_000 * 11 + 2_400_000 * n);
                rate.departure(1500, Backlog { packets: 20, bytes: 20_000 }, now);
                if !linux && rate.average != 0.012 || linux && rate.average < 1_374_999.0 {
                    break;
                }
            }
            let slow = 16_500.0 / 0.0252; // Linux restarts at once, so one gap is of 1.2 ms
            let expected = if linux { 1_375_000.0 + (slow - 1_375_000.0) / 8.0 } else { expected };
            assert!((rate.average / expected - 1.0).abs() < 1e-6, "{} {expected}", rate.average);
        }
    }

    #[test]
    fn exactly_16_kib_are_enough() {
        let mut rate = DepartureRate::new(false);
        let plenty = Backlog { packets: 20, bytes: 20_000 };
        let done = (0..16).map(|n| rate.departure(1_024, plenty, Instant::from_nanos(n * 1_000)));
        assert_eq!(
            done.map(|time| time.is_some()).collect::<Vec<_>>(),
            [[false; 15].as_slice(), &[true]].concat()
        );
    }
}
