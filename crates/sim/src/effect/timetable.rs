//! Timetables: the intervals in which a line is open and sends.

use std::collections::VecDeque;

/// Later than every run ends.
pub const FAR: u64 = 1 << 62;

/// The times at which a line is open, which do not depend on its traffic.
pub trait Timetable: Send + Sync {
    /// The open interval (ns) that contains `at`, or else the first one after it: its begin, not
    /// before `at`, and its end. Calls come in the order of time.
    fn open(&mut self, at: u64) -> (u64, u64);

    /// This timetable in its state before the first call.
    fn fresh(&self) -> Box<dyn Timetable>;
}

impl std::fmt::Debug for dyn Timetable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Timetable")
    }
}

/// A timetable that is open whenever all of several are.
#[derive(Debug)]
pub struct All(pub Vec<Box<dyn Timetable>>);

impl Clone for All {
    fn clone(&self) -> Self {
        All(self.0.iter().map(|each| each.fresh()).collect())
    }
}

impl All {
    /// The interval (ns) in which all timetables are open that contains `at`, or else the first one
    /// after it, as [`Timetable::open`] gives that of one timetable.
    pub fn open(&mut self, at: u64) -> (u64, u64) {
        let (mut from, mut to) = (at, FAR);
        loop {
            let mut moved = false;
            for each in &mut self.0 {
                let (begin, end) = each.open(from);
                if begin > from {
                    // The ends that were found for the other timetables are no longer valid.
                    (from, to, moved) = (begin, FAR, true);
                    break;
                }
                to = to.min(end);
            }
            if !moved || from >= FAR {
                return (from.min(FAR), to.min(FAR));
            }
        }
    }
}

/// Closed intervals that are drawn as far as they are needed, in the order of time.
#[derive(Clone, Debug)]
pub struct Drawn<D> {
    draw: D,
    fresh: D,
    /// Begin and end of the closed intervals that are drawn and not over, ns; at least the last one
    /// drawn is kept.
    closed: VecDeque<(u64, u64)>,
}

/// Draws closed intervals one after another.
pub trait Draw: Clone + Send + Sync + 'static {
    /// The next closed interval after the last one, which ended at `after` (0 before the first).
    fn next(&mut self, after: u64) -> (u64, u64);
}

impl<D: Draw> Drawn<D> {
    /// Closed intervals to be drawn by `draw`.
    pub fn new(draw: D) -> Self {
        Drawn { fresh: draw.clone(), draw, closed: VecDeque::new() }
    }

    /// The first closed interval that ends after `at`.
    fn not_over(&mut self, at: u64) -> (u64, u64) {
        loop {
            match self.closed.front() {
                Some(&(begin, end)) if end > at || begin >= FAR => return (begin, end),
                Some(_) if self.closed.len() > 1 => drop(self.closed.pop_front()),
                last => {
                    let after = last.map_or(0, |(_, end)| *end);
                    let (begin, end) = self.draw.next(after);
                    let begin = begin.clamp(after, FAR);
                    self.closed.push_back((begin, end.clamp(begin, FAR)));
                }
            }
        }
    }
}

impl<D: Draw> Timetable for Drawn<D> {
    fn open(&mut self, at: u64) -> (u64, u64) {
        let mut from = at;
        loop {
            let (begin, end) = self.not_over(from);
            if begin > from || begin >= FAR {
                return (from, begin.max(from));
            }
            from = end;
        }
    }

    fn fresh(&self) -> Box<dyn Timetable> {
        Box::new(Drawn::new(self.fresh.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period, and the length of its last part, in which the line is closed.
    #[derive(Clone, Debug)]
    struct Every(u64, u64);

    impl Draw for Every {
        fn next(&mut self, after: u64) -> (u64, u64) {
            let begin = (after / self.0 + 1) * self.0;
            (begin - self.1, begin)
        }
    }

    #[test]
    fn several_are_open_where_each_is() {
        let mut all = All(vec![
            Box::new(Drawn::new(Every(10, 4))),
            Box::new(Drawn::new(Every(15, 5))),
            Box::new(Drawn::new(Every(3, 0))),
        ]);
        let open = |at: u64| at % 10 < 6 && at % 15 < 10;
        let mut at = 0;
        let mut found = [false; 300];
        while at < 300 {
            let (from, to) = all.open(at);
            assert!(from >= at && to > from, "{from} to {to} of {at}");
            (from..to.min(300)).for_each(|each| found[each as usize] = true);
            at = to;
        }
        (0..300).for_each(|at| assert_eq!(found[at as usize], open(at), "at {at}"));
        assert_eq!(all.clone().open(7), (15, 16), "as before its first call");
    }
}
