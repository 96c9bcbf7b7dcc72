//! What the viewer of a video call sees: frames as they become complete, and freezes.

use std::collections::VecDeque;

use packet::{Duration, Instant};

use crate::report::Shown;

/// Number of the latest frames whose mean duration defines a freeze.
const RECENT: usize = 30;
/// Least time by which a freeze exceeds the mean duration of the latest frames.
const MARGIN: Duration = Duration::from_millis(150);

/// The viewer's screen. A frame is shown when its last packet has arrived.
#[derive(Debug, Default)]
pub(super) struct Picture {
    last: Option<Instant>,
    /// Durations of the latest frames.
    recent: VecDeque<Duration>,
    /// Begin of the measured interval.
    from: Instant,
    delays: Vec<Duration>,
    delay_sum: Duration,
    freezes: u64,
    frozen_s: f64,
    /// Number after that of the last frame shown.
    next: u64,
    /// Number of frames that were not shown although a later one was.
    lost: u64,
}

impl Picture {
    /// Shows frame `number`, made at `made`. It counts if it was made in the measured interval.
    pub fn shown(&mut self, number: u64, made: Instant, now: Instant) {
        self.lost += number - self.next;
        self.next = number + 1;
        if let Some(last) = self.last {
            let lasted = now.since(last);
            if self.is_freeze(lasted) {
                self.freezes += 1;
                self.frozen_s += now.since(last.max(self.from)).secs_f64();
            }
            self.recent.push_back(lasted);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
        self.last = Some(now);
        if made >= self.from {
            self.delays.push(now.since(made));
            self.delay_sum += now.since(made);
        }
    }

    /// The definition of `freezeCount` in W3C's *Identifiers for WebRTC's Statistics API*: the
    /// duration of a frame equals or exceeds max(3 δ, δ + 150 ms), δ being the mean of the last 30
    /// frames.
    fn is_freeze(&self, lasted: Duration) -> bool {
        let frames = self.recent.len() as u64;
        let sum = self.recent.iter().fold(Duration::ZERO, |sum, &frame| sum + frame);
        frames > 0 && lasted * frames >= (sum * 3).max(sum + MARGIN * frames)
    }

    /// Begins the measured interval.
    pub fn measure(&mut self, now: Instant) {
        (self.from, self.freezes, self.frozen_s, self.lost) = (now, 0, 0.0, 0);
        self.delays.clear();
        self.delay_sum = Duration::ZERO;
    }

    /// Number of freezes and their duration in seconds; a freeze that lasts at `until` is included.
    pub fn freezes(&self, until: Instant) -> (u64, f64) {
        match self.last {
            Some(last) if self.is_freeze(until.since(last)) => {
                let lasting = until.since(last.max(self.from)).secs_f64();
                (self.freezes + 1, self.frozen_s + lasting)
            }
            _ => (self.freezes, self.frozen_s),
        }
    }

    /// Number of frames that were never complete while a later one was.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What this viewer has been shown until now, for an observer of the run.
    pub fn so_far(&self, now: Instant) -> Shown {
        let still = Duration::from_secs_f64(self.freezes(now).1);
        Shown { viewers: 1, frames: self.delays.len() as u64, delay: self.delay_sum, still }
    }

    /// For each frame of the measured interval that was shown: the time from making to showing it.
    pub fn delays(&self) -> &[Duration] {
        &self.delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A picture that has shown a frame every `every` ms up to `last`.
    fn running(every: u64, last: u64) -> Picture {
        let mut picture = Picture::default();
        (0..=last / every).for_each(|i| picture.shown(i, at(i * every), at(i * every)));
        picture
    }

    #[test]
    fn a_freeze_is_three_means_or_the_mean_and_150_ms() {
        // At 20 frames/s the mean is 50 ms and a freeze lasts 200 ms; at 10 it is 100 ms and 300
        // ms.
        for (every, still, freeze) in [(50, 199, 200), (100, 299, 300)] {
            let shown = |after: u64| {
                let mut picture = running(every, 5_000);
                let next = picture.next;
                picture.shown(next, at(5_000), at(5_000 + after));
                picture.freezes(at(5_000 + after))
            };
            assert_eq!(shown(still), (0, 0.0));
            assert_eq!(shown(freeze), (1, freeze as f64 / 1e3));
        }
    }

    #[test]
    fn the_mean_is_of_thirty_frames() {
        let mut picture = running(100, 10_000);
        (1..=30).for_each(|i| picture.shown(100 + i, at(0), at(10_000 + 20 * i)));
        picture.shown(133, at(0), at(10_600 + 170));
        assert_eq!(picture.lost(), 2);
        assert_eq!(picture.freezes(at(10_770)).0, 1); // a freeze from 20 + 150 ms on
    }

    #[test]
    fn the_thirtieth_frame_before_still_counts() {
        // One frame of 300 ms and 29 of 33 ms have a mean of 41.9 ms; without the first one it is
        // 33 ms.
        let mut picture = Picture::default();
        let mut now = 0;
        for (number, lasts) in [0, 300].into_iter().chain([33; 29]).enumerate() {
            now += lasts;
            picture.shown(number as u64, at(now), at(now));
        }
        assert_eq!(picture.freezes(at(now + 191)).0, 0);
        assert_eq!(picture.freezes(at(now + 192)).0, 1);
    }

    #[test]
    fn a_freeze_that_lasts_at_the_end_counts_from_the_measured_begin() {
        let mut picture = running(50, 1_000);
        picture.measure(at(3_000));
        assert_eq!(picture.freezes(at(7_000)), (1, 4.0));
        assert!(picture.delays().is_empty());
    }
}
