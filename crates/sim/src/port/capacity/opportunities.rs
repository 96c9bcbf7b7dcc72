//! Transmission opportunities, as a cellular base station grants them and as Mahimahi's link shell
//! replays them (Netravali et al., USENIX ATC 2015).
//!
//! At each opportunity up to 1,500 bytes leave (or another number that the trace gives). Several
//! packets may share an opportunity, and the rest of a packet that does not fit waits for the next.
//! Bytes that no waiting packet takes are lost. A packet that finds the line idle is served from
//! the first opportunity after its arrival on: Mahimahi, too, uses up the opportunities of an
//! instant before it takes in packets that arrive at that instant.

use super::{FAR, Walk};

/// Bytes of an opportunity, unless a trace gives another number.
pub const BYTES: u64 = 1_500;
const NANOS_PER_MS: u64 = 1_000_000;

/// A list of opportunities that begins anew at its end.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Instants in ns, each with the number of opportunities before it, in order; equal instants
    /// are one entry.
    at: Vec<(u64, u64)>,
    count: u64,
    period: u64,
    /// Bytes that leave at each opportunity.
    bytes: u64,
}

/// The source of a line's opportunities.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A list of opportunities.
    Listed(Listed),
    /// Opportunities whose rate is a random walk.
    Walk(Box<Walk>),
}

/// A line that sends at opportunities.
#[derive(Clone, Debug)]
pub struct Opportunities {
    schedule: Schedule,
    /// Bytes that leave at each opportunity.
    bytes: u64,
    /// Number of opportunities of the list that have been used or passed.
    passed: u64,
    next: u64,
    /// Time of the last used opportunity, and the bytes that it can still take.
    last: u64,
    left: u64,
}

impl Listed {
    /// Opportunities at these milliseconds, in order; the list begins anew at the last.
    ///
    /// # Errors
    /// A sentence, if there is no opportunity, if they are not in order, or if all are at 0.
    pub fn new(milliseconds: &[u64]) -> Result<Listed, String> {
        if let Some(pair) = milliseconds.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(format!(
                "the opportunity at {} ms stands after the one at {} ms; sort them by time",
                pair[1], pair[0]
            ));
        }
        let last = milliseconds.last().copied().unwrap_or(0);
        if last == 0 {
            return Err(
                "there is no opportunity after 0 ms, so the trace has no length; give one \
                        whole number of milliseconds a line"
                    .into(),
            );
        }
        let mut at: Vec<(u64, u64)> = Vec::new();
        for (count, ms) in (0..).zip(milliseconds) {
            if at.last().is_none_or(|(last, _)| *last != ms * NANOS_PER_MS) {
                at.push((ms * NANOS_PER_MS, count));
            }
        }
        let (count, period) = (milliseconds.len() as u64, last * NANOS_PER_MS);
        Ok(Listed { at, count, period, bytes: BYTES })
    }

    /// This list, with another number of bytes at each opportunity.
    #[must_use]
    pub fn of_bytes(self, bytes: u64) -> Listed {
        Listed { bytes, ..self }
    }

    /// Mean rate, bit/s.
    pub fn mean_bits_per_s(&self) -> f64 {
        (self.count * self.bytes * 8) as f64 / (self.period as f64 / 1e9)
    }

    /// Time, ns, of the opportunity with this number, counted from 0.
    fn time(&self, number: u64) -> u64 {
        let (rounds, within) = (number / self.count, number % self.count);
        let place = self.at.partition_point(|(_, before)| *before <= within) - 1;
        let at = u128::from(rounds) * u128::from(self.period) + u128::from(self.at[place].0);
        at.min(u128::from(FAR)) as u64
    }

    /// Number of opportunities at or before `at`.
    fn until(&self, at: u64) -> u64 {
        let (rounds, within) = (at / self.period, at % self.period);
        let place = self.at.partition_point(|(time, _)| *time <= within);
        let here = self.at.get(place).map_or(self.count, |(_, before)| *before);
        rounds.saturating_mul(self.count).saturating_add(here)
    }
}

impl Opportunities {
    /// An idle line.
    pub fn new(mut schedule: Schedule) -> Self {
        let (bytes, next) = match &mut schedule {
            Schedule::Listed(list) => (list.bytes, list.time(0)),
            Schedule::Walk(walk) => (BYTES, walk.next_opportunity()),
        };
        Opportunities { schedule, bytes, passed: 0, next, last: 0, left: 0 }
    }

    fn advance(&mut self) {
        self.passed += 1;
        self.next = match &mut self.schedule {
            Schedule::Listed(list) => list.time(self.passed),
            Schedule::Walk(walk) => walk.next_opportunity(),
        };
    }

    /// Passes the opportunities at or before `at`.
    fn pass(&mut self, at: u64) {
        if let Schedule::Listed(list) = &self.schedule {
            self.passed = self.passed.max(list.until(at));
            self.next = list.time(self.passed);
        }
        while self.next <= at && self.next < FAR {
            self.advance();
        }
    }

    /// When `bytes` that begin at `start` have left; `used` is called with the time of each
    /// opportunity and the bytes that it carried.
    pub fn end_of(
        &mut self,
        start: u64,
        bytes: u64,
        fresh: bool,
        used: &mut impl FnMut(u64, u64),
    ) -> u64 {
        if fresh {
            self.left = 0;
            self.pass(start);
        }
        let mut need = bytes;
        loop {
            let taken = need.min(self.left);
            if taken > 0 {
                used(self.last, taken);
            }
            (need, self.left) = (need - taken, self.left - taken);
            if need == 0 {
                return self.last;
            }
            if self.next >= FAR {
                return FAR;
            }
            (self.last, self.left) = (self.next, self.bytes);
            self.advance();
        }
    }

    /// Bytes offered from one instant to another, both included.
    pub fn offered(&mut self, from: u64, to: u64) -> u128 {
        let count = match &mut self.schedule {
            Schedule::Listed(list) => {
                list.until(to) - if from > 0 { list.until(from - 1) } else { 0 }
            }
            Schedule::Walk(walk) => walk.count_to_the_end(from, to),
        };
        u128::from(count) * u128::from(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;

    const MS: u64 = NANOS_PER_MS;

    fn line(milliseconds: &[u64]) -> Opportunities {
        let listed = Listed::new(milliseconds).unwrap();
        Opportunities::new(Schedule::Listed(listed))
    }

    fn end(line: &mut Opportunities, start_ms: u64, bytes: u64, fresh: bool) -> u64 {
        line.end_of(start_ms * MS, bytes, fresh, &mut |_, _| {}) / MS
    }

    #[test]
    fn packets_share_an_opportunity_and_span_several() {
        let mut line = line(&[10, 20, 20, 50]);
        assert_eq!(end(&mut line, 0, 500, true), 10);
        assert_eq!(end(&mut line, 10, 1_000, false), 10, "the rest of the same one");
        assert_eq!(end(&mut line, 10, 1_501, false), 20, "two of one instant");
        assert_eq!(end(&mut line, 20, 1_499, false), 20);
        assert_eq!(end(&mut line, 20, 3_001, false), 70, "50, 60 and a byte of 70");
        assert_eq!(
            end(&mut line, 70, 1_500, false),
            70,
            "1,499 of the first and one of the second"
        );
    }

    #[test]
    fn what_nobody_takes_is_lost() {
        let mut line = line(&[10, 20]);
        assert_eq!(end(&mut line, 0, 100, true), 10);
        // The line rested at 10 ms: its other 1,400 bytes are gone.
        assert_eq!(end(&mut line, 10, 100, true), 20);
        assert_eq!(end(&mut line, 25, 100, true), 30);
        assert_eq!(end(&mut line, 1_000_000_009, 100, true), 1_000_000_010);
    }

    #[test]
    fn rounds_follow_each_other_without_a_gap() {
        // The last instant of one round is the first of the next: two opportunities at 10 ms.
        let listed = Listed::new(&[0, 4, 10]).unwrap();
        let times: Vec<u64> = (0..7).map(|i| listed.time(i) / MS).collect();
        assert_eq!(times, [0, 4, 10, 10, 14, 20, 20]);
        assert_eq!(listed.mean_bits_per_s(), 3.6e6);
        for at in 0..40 {
            let before = (0..30).filter(|i| listed.time(*i) <= at * MS).count();
            assert_eq!(listed.until(at * MS), before as u64, "{at} ms");
        }
    }

    #[test]
    fn offered_is_what_a_greedy_sender_gets() {
        let mut rng = Rng::named(3, "opportunities");
        for _ in 0..100 {
            let (mut at, mut list) = (rng.below(3), Vec::new());
            for _ in 0..1 + rng.below(20) {
                at += rng.below(4);
                list.push(at);
            }
            list.push(at + 1);
            let mut line = line(&list);
            let (mut now, mut taken) = (0, 0);
            while now <= 200 * MS {
                now = line.end_of(now, 700, now == 0, &mut |at, bytes| {
                    taken += if at <= 200 * MS { u128::from(bytes) } else { 0 };
                });
            }
            // A line that is idle until 0 has missed the opportunities at 0.
            let missed = u128::from(list.iter().filter(|ms| **ms == 0).count() as u64 * BYTES);
            assert_eq!(taken + missed, line.offered(0, 200 * MS), "{list:?}");
        }
    }

    #[test]
    fn traces_without_length_or_order_are_refused() {
        for (list, why) in [(&[][..], "no opportunity"), (&[0, 0], "no length"), (&[2, 1], "sort")]
        {
            let sentence = Listed::new(list).unwrap_err();
            assert!(sentence.contains(why), "{sentence}");
        }
    }
}
