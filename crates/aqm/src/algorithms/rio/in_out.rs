//! Two REDs on one queue: In packets are judged by the average of In packets, Out packets by the
//! average of all.

use packet::{Duration, Instant, Packet, Rng, Why};

use crate::algorithms::family::{Early, Idle, Ns};
use crate::shells::classes::Waiting;
use crate::{Aqm, Verdict};

/// The class of an In packet.
pub(crate) const IN: usize = 0;
/// The class of an Out packet.
pub(crate) const OUT: usize = 1;

/// Whose idle clocks and updates.
enum Clocks {
    /// Each average has its own clock; In arrivals update both, Out arrivals the total.
    Own { ins: Idle, all: Idle },
    /// ns-2's: one clock with two flags, and no update at Out arrivals.
    Ns2 { since: Instant, ins: bool, all: bool, line: bool },
}

/// How long each queue was idle before an arrival, if it was: In's, and all.
type Spans = (Option<Duration>, Option<Duration>);

impl Clocks {
    /// An arrival that updates; an In arrival, or an Out arrival with clocks of their own.
    fn end(&mut self, class: usize, now: Instant) -> Spans {
        match self {
            Clocks::Own { ins, all } => {
                let ins = if class == IN { ins.end(now) } else { None };
                (ins, all.end(now))
            }
            Clocks::Ns2 { since, ins, all, .. } => {
                let span = now.since(*since);
                let spans = (ins.then_some(span), all.then_some(span));
                (*ins, *all) = (false, false);
                spans
            }
        }
    }
}

/// The judge of both classes.
pub(crate) struct InOut {
    ins: Ns,
    out: Ns,
    /// Where a hit drops even what could be marked.
    max: [f64; 2],
    clocks: Clocks,
}

impl InOut {
    /// `ins` and `out` judge; `ns2` keeps the defects of ns-2.
    pub fn new(mut ins: Ns, mut out: Ns, ns2: bool) -> Self {
        let clocks = if ns2 {
            Clocks::Ns2 { since: Instant::ZERO, ins: true, all: true, line: true }
        } else {
            Clocks::Own { ins: Idle::new(), all: Idle::new() }
        };
        let max = [ins.curve().max, out.curve().max];
        InOut { ins, out, max, clocks }
    }

    pub fn on_arrival(
        &mut self,
        packet: &Packet,
        class: usize,
        waiting: &Waiting,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        if class == IN || matches!(self.clocks, Clocks::Own { .. }) {
            let (ins, all) = self.clocks.end(class, now);
            if class == IN {
                self.ins.observe(ins, waiting.of[IN]);
            }
            self.out.observe(all, waiting.total);
        }
        let (judge, queue) = match class {
            IN => (&mut self.ins, waiting.of[IN]),
            _ => (&mut self.out, waiting.total),
        };
        judge.tally(packet);
        match judge.decide(packet, queue, rng) {
            Verdict::Signal(why) if judge.average() >= self.max[class] => Verdict::Drop(why),
            verdict => verdict,
        }
    }

    /// The arrival is lost.
    pub fn on_dropped(&mut self, class: usize, why: Why, now: Instant) {
        let judge = if class == IN { &mut self.ins } else { &mut self.out };
        judge.on_dropped(why);
        match &mut self.clocks {
            Clocks::Own { ins, all } => {
                if class == IN {
                    ins.resume();
                }
                all.resume();
            }
            // ns-2 looks into the empty queue after each arrival and starts its clock again.
            Clocks::Ns2 { since, ins, all, line: true } => {
                (*since, *ins, *all) = (now, true, true);
            }
            Clocks::Ns2 { .. } => {}
        }
    }

    /// A packet left `waiting`.
    pub fn on_departure(&mut self, class: usize, waiting: &Waiting, now: Instant) {
        match &mut self.clocks {
            Clocks::Own { ins, .. } if class == IN && waiting.of[IN].packets == 0 => ins.begin(now),
            Clocks::Own { .. } => {}
            Clocks::Ns2 { ins, all, line, .. } => {
                (*all, *line) = (false, false);
                *ins = *ins && class != IN;
            }
        }
    }

    /// The line found the queue empty.
    pub fn on_idle(&mut self, now: Instant) {
        match &mut self.clocks {
            Clocks::Own { all, .. } => all.begin(now),
            Clocks::Ns2 { line: true, .. } => {} // asked again: the same idle time
            Clocks::Ns2 { since, ins, all, line } => {
                (*since, *ins, *all, *line) = (now, true, true, true);
            }
        }
    }

    /// Shows both averages, in packets.
    pub fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg_in", self.ins.average());
        show("avg_total", self.out.average());
    }
}
