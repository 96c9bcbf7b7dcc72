//! The work at the end of an interval: it lists the flows that lost most bytes, and moves the drop
//! probabilities of those that are listed often.

use alloc::vec::Vec;

use packet::{Duration, Instant, math};

use super::flow::{Flow, MOST_LISTS};
use crate::shells::active::Active;

/// Drop rate of an interval, a share of bytes, up to which no flow's probability is raised.
const CALM: f64 = 0.001;
/// Least time between changes of a flow's probability.
const LEAST_PAUSE: Duration = Duration::from_millis(400);
/// Time from the end of an interval until drop probabilities are lowered.
pub(super) const RELAX_AFTER: Duration = Duration::from_millis(1);

/// Parameters by which flows are listed and monitored.
pub(super) struct Rules {
    /// Number of lists (K of the last N) in which a flow of high bandwidth must be.
    pub often: usize,
    pub lists: usize,
    pub rtt: Duration,
    /// Largest number of flows in a list.
    pub longest: usize,
    pub tests: bool,
}

impl Rules {
    /// The length of the next interval at an ambient drop rate of `p`.
    pub fn interval(&self, p: f64) -> Duration {
        let longest = self.rtt * 10;
        if p == 0.0 {
            return longest;
        }
        let share = self.often as f64 / self.lists as f64;
        let secs = share * self.rtt.secs_f64() / math::sqrt(1.5 * p);
        Duration::from_secs_f64(secs.min(longest.secs_f64())).max(self.rtt * 2)
    }
}

/// All flows, their lists and the ambient drop rate.
pub(super) struct Ledger {
    pub flows: Active<Flow>,
    rules: Rules,
    /// Bytes that reached RED in the interval, and those of them that RED dropped or marked.
    pub arrived: u64,
    pub lost: u64,
    /// The smoothed drop rate of RED; none before the end of the first interval.
    ambient: Option<f64>,
    /// Number of lists written so far.
    turns: usize,
    /// Lengths of the last five intervals, including the one that has just begun.
    intervals: [Duration; 5],
    began: Instant,
    /// Flows with losses in the interval: bytes lost, and the flow's index.
    ranking: Vec<(u64, usize)>,
}

impl Ledger {
    pub fn new(rules: Rules) -> Self {
        Ledger {
            flows: Active::new(),
            rules,
            arrived: 0,
            lost: 0,
            ambient: None,
            turns: 0,
            intervals: [Duration::ZERO; 5],
            began: Instant::ZERO,
            ranking: Vec::new(),
        }
    }

    /// The smoothed drop rate.
    pub fn ambient(&self) -> f64 {
        self.ambient.unwrap_or(0.0)
    }

    /// The first interval's length.
    pub fn first_interval(&self) -> Duration {
        self.rules.interval(0.0)
    }

    /// Number of monitored flows, and the largest of their P_f.
    pub fn monitored(&mut self) -> (u32, f64) {
        let all = self.flows.iter_mut().filter_map(|(_, flow)| flow.p);
        all.fold((0, 0.0), |(flows, largest), p| (flows + 1, p.max(largest)))
    }

    /// Length of the last `n` intervals together, at least [`LEAST_PAUSE`].
    fn pause(&self, n: usize) -> Duration {
        let of = |back: usize| self.intervals[(self.turns + 5 - back) % 5];
        (1..=n).fold(Duration::ZERO, |sum, back| sum + of(back)).max(LEAST_PAUSE)
    }

    /// Updates the ambient drop rate. Returns the interval's drop rate, and the lesser of both
    /// rates, by which raises are measured.
    fn rates(&mut self) -> (f64, f64) {
        let rate = if self.arrived == 0 { 0.0 } else { self.lost as f64 / self.arrived as f64 };
        let ambient = self.ambient.map_or(rate, |old| 0.5 * rate + 0.5 * old);
        self.ambient = Some(ambient);
        (rate, rate.min(ambient))
    }

    /// Writes this interval's list over the oldest.
    fn write_list(&mut self) {
        let list = self.turns % self.rules.lists;
        self.ranking.clear();
        for (place, flow) in self.flows.iter_mut() {
            flow.lists[list] = flow.lost;
            if flow.lost > 0 {
                self.ranking.push((flow.lost, place));
            }
        }
        if self.ranking.len() > self.rules.longest {
            self.ranking.sort_unstable_by_key(|&(bytes, place)| (u64::MAX - bytes, place));
            for &(_, place) in &self.ranking[self.rules.longest..] {
                self.flows.at(place).lists[list] = 0;
            }
        }
    }

    fn raise(&mut self, u: f64, now: Instant) {
        let often = self.rules.often;
        let high = |flow: &Flow| Some(flow.listed()).filter(|(lists, _)| *lists >= often);
        let (mut flows, mut sum) = (0u32, 0);
        for (_, bytes) in self.flows.iter_mut().filter_map(|(_, flow)| high(flow)) {
            (flows, sum) = (flows + 1, sum + bytes);
        }
        let mean = sum as f64 / f64::from(flows);
        let (pause, elapsed) = (self.pause(4), now.since(self.began));
        for (_, flow) in self.flows.iter_mut() {
            let rested = flow.changed.is_none_or(|then| now.since(then) >= pause);
            if let Some((_, bytes)) = high(flow)
                && rested
                && flow.lost + flow.filtered > 0
            {
                flow.raise(u * bytes as f64 / mean, u, elapsed, now, self.rules.tests);
            }
        }
    }

    /// Ends the interval: writes its list and raises P_f of flows. Returns the next one's length.
    pub fn close(&mut self, now: Instant) -> Duration {
        let (rate, u) = self.rates();
        self.write_list();
        if rate > CALM {
            self.raise(u, now);
        }
        let next = self.rules.interval(self.ambient());
        self.intervals[self.turns % 5] = next;
        self.turns += 1;
        self.forget(now);
        (self.arrived, self.lost, self.began) = (0, 0, now);
        next
    }

    /// Clears the interval's accounts, and forgets flows without arrivals, lists, P_f or a recent
    /// change of it.
    fn forget(&mut self, now: Instant) {
        let longest = self.rules.rtt * 40 + LEAST_PAUSE;
        self.flows.retain(|flow| {
            let seen = flow.arrived > 0 || flow.lists != [0; MOST_LISTS] || flow.p.is_some();
            (flow.arrived, flow.lost, flow.filtered) = (0, 0, 0);
            seen || flow.changed.is_some_and(|then| now.since(then) < longest)
        });
    }

    /// Lowers P_f of monitored flows that are in no list.
    pub fn relax(&mut self, now: Instant) {
        let pauses = [self.pause(3), self.pause(5)];
        for (_, flow) in self.flows.iter_mut() {
            let pause = pauses[usize::from(flow.unresponsive)];
            let rested = flow.changed.is_none_or(|then| now.since(then) >= pause);
            if flow.p.is_some() && rested && flow.listed().0 == 0 {
                flow.relax(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules =
        Rules { often: 3, lists: 5, rtt: Duration::from_millis(40), longest: 50, tests: true };

    #[test]
    fn published_intervals() {
        let secs = |p| RULES.interval(p).secs_f64();
        assert!((secs(0.01) - 0.19596).abs() < 1e-5);
        assert_eq!((secs(0.001), secs(0.1), secs(0.0)), (0.4, 0.08, 0.4));
    }

    #[test]
    fn a_raise_is_measured_by_the_lesser_rate() {
        let mut ledger = Ledger::new(RULES);
        (ledger.arrived, ledger.lost) = (1000, 10);
        assert_eq!(ledger.rates(), (0.01, 0.01));
        (ledger.arrived, ledger.lost) = (1000, 30);
        assert_eq!(ledger.rates(), (0.03, 0.02));
        ledger.arrived = 0;
        assert_eq!(ledger.rates(), (0.0, 0.0));
    }

    /// Ends interval number `turn`, of 100 ms, in which each flow of `losses` sent 100 000 bytes
    /// and lost those given.
    fn interval(ledger: &mut Ledger, turn: u64, losses: &[(u64, u64)]) {
        for &(name, lost) in losses {
            let flow = ledger.flows.enter(name);
            (flow.arrived, flow.lost) = (100_000, lost);
            ledger.arrived += 100_000;
            ledger.lost += lost;
        }
        ledger.close(Instant::from_nanos(turn * 100_000_000));
    }

    #[test]
    fn three_of_five_lists_make_a_flow_monitored_by_its_share() {
        let mut ledger = Ledger::new(RULES);
        for turn in 1..=3 {
            assert_eq!(ledger.monitored().0, 0);
            // Flow 1 loses in every interval, flow 2 a third of that, flow 3 only in two.
            let third = if turn < 3 { 9000 } else { 0 };
            interval(&mut ledger, turn, &[(1, 3000), (2, 1000), (3, third)]);
        }
        assert_eq!(ledger.monitored().0, 2);
        // RED dropped 4000 of 300 000 bytes in the last interval; the smoothed rate is larger.
        let u = 4000.0 / 300_000.0;
        let p = |ledger: &mut Ledger, name| ledger.flows.get(name).unwrap().p;
        assert!((p(&mut ledger, 1).unwrap() - 1.5 * u).abs() < 1e-12);
        assert!((p(&mut ledger, 2).unwrap() - 0.5 * u).abs() < 1e-12);
        assert_eq!(p(&mut ledger, 3), None);
    }

    #[test]
    fn a_list_holds_those_who_lost_most() {
        let mut ledger = Ledger::new(Rules { longest: 2, ..RULES });
        interval(&mut ledger, 1, &[(1, 500), (2, 700), (3, 600), (4, 600)]);
        let listed: Vec<_> =
            (1..=4).map(|name| ledger.flows.get(name).unwrap().listed().1).collect();
        assert_eq!(listed, [0, 700, 600, 0]);
    }

    #[test]
    fn silent_flows_are_forgotten_and_a_calm_line_raises_nobody() {
        let mut ledger = Ledger::new(RULES);
        for turn in 1..=6 {
            interval(&mut ledger, turn, &[(1, 90), (2, 0)]);
        }
        assert_eq!((ledger.monitored().0, ledger.flows.len()), (0, 2));
        for turn in 7..=11 {
            assert!(ledger.flows.get(1).is_some());
            interval(&mut ledger, turn, &[]);
        }
        assert_eq!(ledger.flows.len(), 0);
    }

    #[test]
    fn at_one_in_a_thousand_the_line_is_calm() {
        let mut ledger = Ledger::new(RULES);
        for turn in 1..=6 {
            interval(&mut ledger, turn, &[(1, 100)]);
        }
        assert_eq!(ledger.monitored().0, 0);
    }

    #[test]
    fn who_lost_nothing_of_late_is_not_raised() {
        let mut ledger = Ledger::new(RULES);
        for turn in 1..=3 {
            interval(&mut ledger, turn, &[(1, 3000), (2, 3000)]);
        }
        let p = |ledger: &mut Ledger, name| ledger.flows.get(name).unwrap().p.unwrap();
        let before = p(&mut ledger, 1);
        assert_eq!(before, p(&mut ledger, 2));
        // Both flows are in three lists of five, and no P_f has changed for ten seconds.
        interval(&mut ledger, 103, &[(1, 0), (2, 3000)]);
        assert_eq!(p(&mut ledger, 1), before);
        assert!(p(&mut ledger, 2) > before);
    }

    #[test]
    fn a_change_is_remembered_for_forty_round_trips_and_the_least_pause() {
        let mut ledger = Ledger::new(RULES);
        let then = Instant::from_nanos(1_000_000_000);
        ledger.flows.enter(1).changed = Some(then);
        let longest = RULES.rtt * 40 + LEAST_PAUSE;
        for (now, known) in
            [(then, 1), (then + (longest - Duration::from_nanos(1)), 1), (then + longest, 0)]
        {
            ledger.forget(now);
            assert_eq!(ledger.flows.len(), known);
        }
    }
}
