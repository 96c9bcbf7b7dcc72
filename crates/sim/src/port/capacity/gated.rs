//! A rate by steps of a line that is closed at times: slots and outages.

use super::{FAR, Steps};
use crate::effect::timetable::All;

/// Capacity that a byte needs, in bit/s times ns.
const PER_BYTE: u128 = 8_000_000_000;

/// A line that sends at the rate of its steps while it is open.
#[derive(Clone, Debug)]
pub struct Gated {
    steps: Steps,
    open: All,
}

impl Gated {
    /// A line of these steps that sends only while all of `open` are open.
    pub fn new(steps: Steps, open: All) -> Self {
        Gated { steps, open }
    }

    /// When `bytes` that begin at `start` have left, and the capacity in the interval `(from, to)`
    /// that they took (bit/s times ns). A packet that the line's closing interrupts goes on when
    /// the line opens.
    pub fn end_of(&mut self, start: u64, bytes: u64, (from, to): (u64, u64)) -> (u64, u128) {
        let (mut need, mut at, mut used) = (u128::from(bytes) * PER_BYTE, start, 0);
        loop {
            let (begin, end) = self.open.open(at);
            if begin >= FAR {
                return (FAR, used);
            }
            let offered = self.steps.offered(begin, end);
            let left = if need <= offered { self.steps.end_of_need(begin, need) } else { end };
            let (first, last) = (begin.max(from), left.min(to));
            if first < last {
                used += self.steps.offered(first, last);
            }
            if need <= offered {
                return (left, used);
            }
            (need, at) = (need - offered, end);
        }
    }

    /// Capacity between two instants, bit/s times ns.
    pub fn offered(&self, from: u64, to: u64) -> u128 {
        let (mut open, mut at, mut sum) = (self.open.clone(), from, 0);
        while at < to {
            let (begin, end) = open.open(at);
            if begin >= to {
                break;
            }
            sum += self.steps.offered(begin, end.min(to));
            at = end;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::timetable::{Draw, Drawn};

    const MS: u64 = 1_000_000;

    /// Closes a line for the last 3 of every 4 ms.
    #[derive(Clone, Debug)]
    struct Quarter;

    impl Draw for Quarter {
        fn next(&mut self, after: u64) -> (u64, u64) {
            (after + MS, after + 4 * MS)
        }
    }

    #[test]
    fn a_packet_goes_on_in_the_next_slot() {
        // 8 Mbit/s: 1,000 B take 1 ms, a whole slot.
        let steps = Steps::new(&[(0, 8_000_000)], None).unwrap();
        let mut line = Gated::new(steps, All(vec![Box::new(Drawn::new(Quarter))]));
        let mut end = |start: u64, bytes| line.end_of(start, bytes, (0, 12 * MS));
        assert_eq!(end(0, 500), (MS / 2, 4_000 * 1_000_000_000));
        assert_eq!(end(MS / 2, 500).0, MS, "it ends with the slot");
        assert_eq!(end(MS, 500).0, 4 * MS + MS / 2);
        assert_eq!(end(4 * MS + MS / 2, 1_000).0, 8 * MS + MS / 2, "half and half");
        assert_eq!(
            end(11 * MS, 2_000),
            (17 * MS, 0),
            "it closed at 9 ms; of this nothing is measured"
        );
        assert_eq!(line.offered(0, 12 * MS), 24_000 * 1_000_000_000);
        assert_eq!(line.offered(MS / 2, 8 * MS), 12_000 * 1_000_000_000);
    }
}
