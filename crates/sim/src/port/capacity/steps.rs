//! A rate that is constant between steps.

use super::FAR;

/// Capacity that one byte takes, in bit/s times ns: a bit at 1 bit/s takes 10^9 ns.
const PER_BYTE: u128 = 8_000_000_000;

/// A table of steps, which at its end begins anew or keeps the last rate. Capacity is counted
/// exactly, in bit/s times nanoseconds.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Begin of each step, ns; the first is 0.
    starts: Vec<u64>,
    /// Rate of each step, bit/s; may be 0.
    rates: Vec<u64>,
    /// Capacity from the table's begin to the begin of each step, bit/s times ns.
    before: Vec<u128>,
    /// Time after which the table begins anew, ns, if it does.
    period: Option<u64>,
    /// Capacity of one period, bit/s times ns.
    whole: u128,
}

impl Steps {
    /// Steps of (begin in ns, rate in bit/s), which begin anew after `period` ns or keep the last
    /// rate.
    ///
    /// # Errors
    /// A sentence, if the first step is not at 0, if the steps are not in order, if the period does
    /// not end after the last begin, or if the line would never send again.
    pub fn new(steps: &[(u64, u64)], period: Option<u64>) -> Result<Steps, String> {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return Err("there is no step; write for example [[\"0 s\", \"10 Mbit/s\"]]".into());
        };
        if first.0 != 0 {
            return Err(
                "the first step is not at \"0 s\"; say what the rate is from there on".into()
            );
        }
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(format!(
                "the step at {} s does not come after the one at {} s; sort them by time",
                seconds(pair[1].0),
                seconds(pair[0].0)
            ));
        }
        if let Some(period) = period.filter(|period| *period <= last.0) {
            return Err(format!(
                "the steps repeat after {} s and the last is at {} s; repeat them later",
                seconds(period),
                seconds(last.0)
            ));
        }
        if period.is_none() && last.1 == 0 {
            return Err(
                "the last rate is 0, so the line would never send again; add a step, after \
                        the end of the run if the outage lasts so long, or let the steps repeat"
                    .into(),
            );
        }
        if steps.iter().all(|step| step.1 == 0) {
            return Err("every rate is 0, so the line never sends; give a positive one".into());
        }
        let mut before = vec![0];
        for pair in steps.windows(2) {
            let offered = u128::from(pair[1].0 - pair[0].0) * u128::from(pair[0].1);
            before.push(before[before.len() - 1] + offered);
        }
        let lasts = |period| u128::from(period - last.0) * u128::from(last.1);
        let whole = period.map_or(0, |period| before[before.len() - 1] + lasts(period));
        let (starts, rates) = steps.iter().copied().unzip();
        Ok(Steps { starts, rates, before, period, whole })
    }

    /// Mean rate in bit/s over a period or, without a period, before the last step (for a single
    /// step, its rate).
    pub fn mean_bits_per_s(&self) -> f64 {
        let last = self.starts.len() - 1;
        match self.period {
            Some(period) => self.whole as f64 / period as f64,
            None if last == 0 => self.rates[0] as f64,
            None => self.before[last] as f64 / self.starts[last] as f64,
        }
    }

    /// Index of the step at the instant `at` (ns), and begin of the period that holds it (ns).
    fn place(&self, at: u64) -> (usize, u64) {
        let base = self.period.map_or(0, |period| at - at % period);
        let after = self.starts.partition_point(|start| *start <= at - base);
        (after - 1, base)
    }

    /// Capacity from the run's begin to `at`, bit/s times ns.
    fn until(&self, at: u64) -> u128 {
        let (place, base) = self.place(at);
        let periods = self.period.map_or(0, |period| u128::from(base / period));
        let within = u128::from(at - base - self.starts[place]) * u128::from(self.rates[place]);
        periods * self.whole + self.before[place] + within
    }

    /// Capacity between two instants, bit/s times ns.
    pub fn offered(&self, from: u64, to: u64) -> u128 {
        self.until(to) - self.until(from)
    }

    /// Instant, in ns, at which the line has sent `bytes` if it begins to send at `start`: the
    /// integral of the rate from `start` to this instant is the number of bits. It is rounded up to
    /// a whole nanosecond, so that no line is ever faster than its rate.
    pub fn end_of(&self, start: u64, bytes: u64) -> u64 {
        self.end_of_need(start, u128::from(bytes) * PER_BYTE)
    }

    /// As [`Steps::end_of`], for a number of bits given as `need` in bit/s times ns.
    pub fn end_of_need(&self, start: u64, mut need: u128) -> u64 {
        let (mut place, base) = self.place(start);
        let (mut base, mut at) = (u128::from(base), u128::from(start));
        loop {
            let rate = u128::from(self.rates[place]);
            let next = self.starts.get(place + 1).copied().or(self.period);
            let left = next.map_or(u128::MAX, |next| (base + u128::from(next) - at) * rate);
            if need <= left {
                let end = at + need.div_ceil(rate.max(1));
                return end.min(u128::from(FAR)) as u64;
            }
            need -= left;
            place += 1;
            at = base + u128::from(self.starts.get(place).copied().or(self.period).unwrap_or(0));
            if place == self.starts.len() {
                // Whole periods are skipped.
                let whole = (need - 1) / self.whole;
                need -= whole * self.whole;
                at += whole * u128::from(self.period.unwrap_or(0));
                (place, base) = (0, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Rate, Rng};

    const S: u64 = 1_000_000_000;

    fn steps(steps: &[(u64, u64)], period: Option<u64>) -> Steps {
        Steps::new(steps, period).unwrap()
    }

    #[test]
    fn a_packet_under_way_goes_on_at_the_new_rate() {
        // 8 kbit/s is 1 B in 1 ms. From 1 s on a fifth of it.
        let line = steps(&[(0, 8_000), (S, 1_600)], None);
        assert_eq!(line.end_of(0, 1_000), S);
        assert_eq!(line.end_of(S / 2, 1_000), S + 5 * S / 2);
        assert_eq!(line.end_of(S, 100), S + S / 2);
        // Up again: 200 B in the slow second, 300 B in 0.3 s.
        let line = steps(&[(0, 1_600), (S, 8_000)], None);
        assert_eq!(line.end_of(0, 500), S + 3 * S / 10);
    }

    #[test]
    fn the_mean_is_that_of_a_period_or_before_the_last_step() {
        assert_eq!(steps(&[(0, 8_000)], None).mean_bits_per_s(), 8_000.0);
        // 8 kbit/s for 1 s and 2 kbit/s for 3 s.
        let two = [(0, 8_000), (S, 2_000), (4 * S, 16_000)];
        assert_eq!(steps(&two, None).mean_bits_per_s(), 3_500.0);
        // And 16 kbit/s for another 4 s.
        assert_eq!(steps(&two, Some(8 * S)).mean_bits_per_s(), 9_750.0);
    }

    #[test]
    fn an_outage_is_waited_for() {
        let line = steps(&[(0, 8_000), (S, 0), (3 * S, 8_000)], None);
        assert_eq!(line.end_of(S / 2, 1_000), 3 * S + S / 2);
        assert_eq!(line.end_of(2 * S, 1), 3 * S + S / 1_000);
        assert_eq!(line.end_of(0, 1_000), S, "sent to the last bit before it");
        assert_eq!(line.offered(0, 3 * S), 8_000 * u128::from(S));
    }

    #[test]
    fn a_table_begins_anew() {
        // 1,000 B in the first half of every 2 s, nothing in the second.
        let line = steps(&[(0, 8_000), (S, 0)], Some(2 * S));
        assert_eq!(line.end_of(0, 2_500), 4 * S + S / 2);
        assert_eq!(line.end_of(0, 3_000), 5 * S, "whole periods, and not the rest of the last one");
        assert_eq!(line.end_of(7 * S, 1), 8 * S + S / 1_000);
        assert_eq!(line.end_of(S / 2, 1_000_000), 2_000 * S + S / 2);
        assert_eq!(line.mean_bits_per_s(), 4_000.0);
        assert_eq!(line.offered(S / 2, 6 * S + S / 4), 22_000 * u128::from(S));
    }

    #[test]
    fn rounding_is_up_and_once() {
        // 3 bit/s: a byte takes 2.67 s; a step to the present rate changes nothing.
        let line = steps(&[(0, 3), (S, 3), (2 * S, 3)], None);
        assert_eq!(line.end_of(0, 1), 2_666_666_667);
        let (rate, mut rng) = (Rate::from_bits_per_s(7_777_777), Rng::named(1, "steps"));
        let cut = steps(&[(0, 7_777_777), (3_333_333, 7_777_777)], Some(10_000_019));
        for _ in 0..10_000 {
            let (start, bytes) = (rng.below(1 << 40), 1 + rng.below(3_000));
            assert_eq!(cut.end_of(start, bytes), start + rate.time_for(bytes).nanos());
        }
    }

    #[test]
    fn the_end_is_the_first_instant_with_enough_capacity() {
        let mut rng = Rng::named(2, "steps");
        for _ in 0..300 {
            let (mut at, mut table) = (0, Vec::new());
            for _ in 0..1 + rng.below(6) {
                table.push((at, rng.below(3) * rng.below(1_000_000)));
                at += 1 + rng.below(5_000_000);
            }
            table[0].1 += 1;
            let line = steps(&table, Some(at));
            for _ in 0..50 {
                let (start, bytes) = (rng.below(20_000_000), 1 + rng.below(3_000));
                let (end, need) = (line.end_of(start, bytes), u128::from(bytes) * PER_BYTE);
                assert!(line.offered(start, end) >= need, "{table:?}: too early");
                assert!(line.offered(start, end - 1) < need, "{table:?}: too late");
            }
        }
    }

    #[test]
    fn what_never_ends_is_far() {
        let line = steps(&[(0, 1), (1, 0)], Some(S * 1_000_000_000));
        assert_eq!(line.end_of(0, u64::from(u32::MAX)), FAR);
        assert_eq!(line.end_of(FAR, 1_500), FAR);
    }

    #[test]
    fn tables_that_make_no_line_are_refused() {
        for (table, period, why) in [
            (&[][..], None, "no step"),
            (&[(1, 5)], None, "not at \"0 s\""),
            (&[(0, 5), (S, 6), (S, 7)], None, "the step at 1 s does not come after"),
            (&[(0, 5), (S, 6)], Some(S), "repeat after 1 s"),
            (&[(0, 5), (S, 0)], None, "never send again"),
            (&[(0, 0)], Some(S), "every rate is 0"),
        ] {
            let sentence = Steps::new(table, period).unwrap_err();
            assert!(sentence.contains(why), "{sentence}");
        }
    }
}
