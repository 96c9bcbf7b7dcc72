//! Nichols's filter for the greatest value of a window of rounds or of time (Linux's
//! `lib/win_minmax.c`). It keeps the best value of the window and the best ones of two later parts
//! of it.

/// The filter: three entries of a round (or time) and a value, which is 0 before the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    best: [(u64, u64); 3],
}

impl WindowedMax {
    /// The greatest value of the window.
    pub fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Enters the value of round (or time) `at`; values older than `window` rounds expire.
    pub fn update(&mut self, at: u64, value: u64, window: u64) {
        let new = (at, value);
        if value >= self.best[0].1 || at - self.best[2].0 > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        let age = at - self.best[0].0;
        if age > window {
            self.best = [self.best[1], self.best[2], new];
            if at - self.best[0].0 > window {
                self.best = [self.best[1], new, new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_a_window_ages_out() {
        let mut filter = WindowedMax::default();
        filter.update(0, 9, 10);
        for at in 1..=10 {
            filter.update(at, at % 4, 10);
            assert_eq!(filter.get(), 9, "round {at}");
        }
        filter.update(11, 1, 10);
        // The values of rounds 3 and 7 were 3.
        assert_eq!(filter.get(), 3);
        filter.update(40, 2, 10);
        assert_eq!(filter.get(), 2);
        filter.update(41, 5, 10);
        assert_eq!(filter.get(), 5);
    }

    /// The greatest value after these entries of round and value, in a window of twelve rounds.
    fn after(values: &[(u64, u64)]) -> u64 {
        let mut filter = WindowedMax::default();
        values.iter().for_each(|&(at, value)| filter.update(at, value, 12));
        filter.get()
    }

    #[test]
    fn the_second_best_comes_from_behind_the_first_quarter_and_the_third_from_the_second_half() {
        // `minmax_subwin_update`: the second best is replaced after more than a quarter of the
        // window, the third after more than half, the best after more than the whole.
        assert_eq!(after(&[(0, 9), (3, 8), (4, 7), (12, 1)]), 9);
        assert_eq!(after(&[(0, 9), (3, 8), (4, 7), (13, 1)]), 7);
        assert_eq!(after(&[(0, 9), (4, 7), (6, 6), (7, 5), (13, 1), (17, 0)]), 5);
        // The second best has expired as well.
        assert_eq!(after(&[(0, 9), (4, 7), (7, 5), (16, 1)]), 7);
        assert_eq!(after(&[(0, 9), (4, 7), (7, 5), (17, 1)]), 5);
    }
}
