//! ALTQ's RIO: three drop precedences, low, medium and high.
//!
//! State i averages the packets of precedence i and below. An arrival of precedence d updates the
//! states from d on and state d decides on it; any drop clears the counts of the states from d on.
//! A state's idle clock starts with the departure that leaves none of its packets.

use packet::{DropReason, Instant, Packet, Rng};

use super::Classes;
use crate::algorithms::family::Altq;
use crate::shells::classes::{ClassJudge, Waiting};
use crate::{Aqm, Verdict};

/// Number of drop precedences, each with a RED state.
pub(super) const STATES: usize = 3;

pub(super) struct Precedences {
    states: [Altq; STATES],
    classes: Classes,
    limit: u64,
}

impl Precedences {
    pub fn new(states: [Altq; STATES], classes: Classes, limit: u64) -> Self {
        Precedences { states, classes, limit }
    }
}

/// Number of waiting packets of precedence `state` and below.
fn length(waiting: &Waiting, state: usize) -> u32 {
    waiting.of[..=state].iter().map(|backlog| backlog.packets).sum()
}

impl ClassJudge for Precedences {
    fn class_of(&mut self, packet: &Packet, _now: Instant) -> usize {
        match self.classes.of(packet) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        }
    }

    fn on_arrival(
        &mut self,
        _packet: &Packet,
        class: usize,
        waiting: &Waiting,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        for (i, state) in self.states.iter_mut().enumerate().skip(class) {
            state.sample(length(waiting, i), now, 0);
        }
        self.states[class].decide(length(waiting, class), rng)
    }

    fn has_room(&self, _class: usize, _bytes: u32, waiting: &Waiting) -> bool {
        u64::from(waiting.total.packets) < self.limit
    }

    fn on_dropped(&mut self, class: usize, _why: DropReason) {
        for state in &mut self.states[class..] {
            state.clear();
        }
    }

    fn on_departure(&mut self, class: usize, waiting: &Waiting, now: Instant) {
        for (i, state) in self.states.iter_mut().enumerate().skip(class) {
            if length(waiting, i) == 0 {
                state.on_idle(now);
            }
        }
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        for (name, state) in ["avg_low", "avg_medium", "avg_high"].iter().zip(&self.states) {
            show(name, state.average());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Line;
    use packet::Rate;
    use packet::params::Params;

    #[test]
    fn a_state_counts_its_own_precedence_and_those_below() {
        let mut waiting = Waiting::default();
        for (class, packets) in [(0, 1), (1, 2), (2, 3)] {
            waiting.of[class].packets = packets;
        }
        assert_eq!([0, 1, 2].map(|state| length(&waiting, state)), [1, 3, 6]);
    }

    #[test]
    fn averages_age_once_the_queue_that_they_count_is_empty() {
        let params = Params::defaults(super::super::FIELDS);
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let states = super::super::precedences(&params, &line).unwrap();
        let classes = super::super::Classes::read(&params, true).unwrap();
        let mut judge = Precedences::new(states, classes, 60);
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1_000,
            ecn: packet::Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let (mut busy, empty) = (Waiting::default(), Waiting::default());
        busy.of[0].packets = 20;
        let rng = &mut Rng::named(1, "rio");
        let mut average = |judge: &mut Precedences, waiting: &Waiting, seconds: u64| {
            let now = Instant::from_nanos(seconds * 1_000_000_000);
            judge.on_arrival(&packet, 0, waiting, now, rng);
            let mut shown = f64::NAN;
            judge.gauges(&mut |name, value| {
                if name == "avg_low" {
                    shown = value
                }
            });
            shown
        };
        (0..2_000).for_each(|_| _ = average(&mut judge, &busy, 0));
        assert!(average(&mut judge, &busy, 0) > 10.0);
        judge.on_departure(0, &empty, Instant::ZERO);
        assert!(average(&mut judge, &empty, 60) < 1.0);
    }
}
