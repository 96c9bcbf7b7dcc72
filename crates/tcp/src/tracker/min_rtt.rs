//! The smallest round-trip time of a connection.

use packet::{Duration, Instant};

/// The smallest round-trip time within a window of 300 s (Linux's `tcp_min_rtt_wlen`), by the three
/// best values of Linux's `lib/win_minmax.c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    best: [(Duration, Instant); 3],
}

/// Length of that window.
const WINDOW: Duration = Duration::from_secs(300);

impl MinRtt {
    pub fn new() -> Self {
        MinRtt { best: [(Duration::from_nanos(u64::MAX), Instant::ZERO); 3] }
    }

    /// The minimum; zero before the first sample.
    pub fn get(&self) -> Duration {
        let value = self.best[0].0;
        if value.nanos() == u64::MAX { Duration::ZERO } else { value }
    }

    pub fn update(&mut self, rtt: Duration, now: Instant) {
        let sample = (rtt, now);
        if rtt <= self.best[0].0 || now.since(self.best[2].1) > WINDOW {
            self.best = [sample; 3];
            return;
        }
        if rtt <= self.best[1].0 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if rtt <= self.best[2].0 {
            self.best[2] = sample;
        }
        self.age(sample);
    }

    /// Ages the three values. The second and third best come from later parts of the window, so
    /// that one of them can replace the best when that is too old.
    fn age(&mut self, sample: (Duration, Instant)) {
        let age = sample.1.since(self.best[0].1);
        if age > WINDOW {
            self.best = [self.best[1], self.best[2], sample];
            if sample.1.since(self.best[0].1) > WINDOW {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].1 == self.best[0].1 && age.nanos() > WINDOW.nanos() / 4 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if self.best[2].1 == self.best[1].1 && age.nanos() > WINDOW.nanos() / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_round_trip_is_of_the_last_five_minutes() {
        let mut min = MinRtt::new();
        assert_eq!(min.get(), Duration::ZERO);
        let ms = Duration::from_millis;
        // The samples are 10 ms at the start, 15 ms at 200 s, and 20 ms at all other times.
        for second in 0..700 {
            let rtt = match second {
                0 => ms(10),
                200 => ms(15),
                _ => ms(20),
            };
            min.update(rtt, Instant::ZERO + Duration::from_secs(second));
            let least = match second {
                0..=300 => ms(10),
                301..=500 => ms(15),
                _ => ms(20),
            };
            assert_eq!(min.get(), least, "at {second} s");
        }
    }

    /// The minimum after round trips, each given in ms with the second at which it was measured.
    fn after(samples: &[(u64, u64)]) -> u64 {
        let mut min = MinRtt::new();
        for &(second, rtt) in samples {
            min.update(Duration::from_millis(rtt), Instant::ZERO + Duration::from_secs(second));
        }
        min.get().nanos() / 1_000_000
    }

    #[test]
    fn the_second_best_comes_from_behind_the_first_quarter_and_the_third_from_the_second_half() {
        // `minmax_subwin_update` with 300 s: more than 75, more than 150, more than 300.
        assert_eq!(after(&[(0, 10), (300, 40)]), 10);
        assert_eq!(after(&[(0, 10), (301, 40)]), 40);
        assert_eq!(after(&[(0, 10), (75, 15), (76, 20), (301, 40)]), 20);
        assert_eq!(after(&[(0, 10), (76, 20), (150, 25), (151, 30), (301, 40), (377, 50)]), 30);
        // A smaller sample replaces the third best, a larger one does not.
        let to = |third| after(&[(0, 10), (76, 20), (151, 30), (200, third), (301, 40), (377, 50)]);
        assert_eq!([to(25), to(35)], [25, 30]);
        // At 381 s the second best is too old as well.
        assert_eq!(after(&[(0, 10), (80, 20), (160, 30), (380, 40)]), 20);
        assert_eq!(after(&[(0, 10), (80, 20), (160, 30), (381, 40)]), 30);
    }
}
