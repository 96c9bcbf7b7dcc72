//! CSFQ, core-stateless fair queueing (I. Stoica, S. Shenker, H. Zhang, *Core-Stateless Fair
//! Queueing: Achieving Approximately Fair Bandwidth Allocations in High Speed Networks*, SIGCOMM
//! 1998; IEEE/ACM ToN 11(1), 2003).
//!
//! The idea in five lines. Routers at the edge measure each flow's rate r and write it on its
//! packets as a label; routers in the core keep no state of flows. They estimate the fair share
//! alpha of the line and drop a packet with probability 1 - alpha/r: a flow is cut down to the fair
//! share, and slower ones lose nothing. alpha follows from the rates of arriving and of accepted
//! traffic. Here the edge and the core are one router, so labels need no header.
//!
//! The paper and the authors' program for ns-2 differ in a rule that matters for a lone flow:
//!
//! | | `ns2` | `paper` |
//! |---|---|---|
//! | a window without congestion ends | alpha is forgotten while the queue is short: nothing is dropped | alpha is the largest label of the window |
//! | alpha begins | with the largest label seen, when the queue is no longer short | at the line's rate |
//! | the line is congested | if arrivals reach its rate | if also the queue was long at first |
//! | overflows lower alpha | at most 30 times per congestion | by at most a quarter per window |
//! | alpha | at most the line's rate | without bound |
//!
//! With the paper's rule a flow that resumes after a silence has the label of its last lone
//! packets, some 100 byte/s, as its fair share, and loses nearly all that it sends.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng, math};

use crate::buffer::{self, LIMIT_100, LIMIT_BYTES, TIME};
use crate::periodic::Ticker;
use crate::rate_average::RateAverage;
use crate::shells::active::Active;
use crate::{Aqm, Built, Entry, Judged, Line, PerFlowState, Verdict};

/// The entry of `csfq` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "csfq",
        summary: "Drops each flow's excess over the fair share of the line, estimated from \
                  arrivals.",
        year: 1998,
        source: "Stoica, Shenker and Zhang, SIGCOMM 1998, figure 3 and section 2 (recalled; \
                 constants weakly); the authors' program for ns-2, as INET's CSFQVLANQueue2 and \
                 CSFQVLANTBFQueue keep it (read)",
        deviations: "Edge and core in one, no weights. paper: alpha begins at the \
                     line's rate; the packet that ends a window without congestion counts in it \
                     (in figure 3 a lone packet would set alpha to 0, and all after it were \
                     dropped). ns2: the averages and the window have a constant each, which are \
                     one in the program. Of packets at one instant each adds bytes/K to its flow's rate. A \
                     flow that has been silent for ten K is forgotten.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "never marks",
    units: "rate",
    build: &build,
};

const SHARE: Kind = Kind::from(Unit::None, 0.0, 1.0);

const FIELDS: &[Field] = &[
    Field::new("fair_share", Kind::Choice(&["ns2", "paper"]), Value::Choice("ns2"))
        .meaning(
            "How the fair share alpha is estimated: ns2, as the authors' program does (without \
             congestion nothing is dropped), or paper, as figure 3 has it (a flow alone on the \
             line can starve after a silence).",
        )
        .source("read: the authors' program for ns-2, kept in INET; recalled: figure 3"),
    Field::new("K", TIME, Value::Real(0.1))
        .meaning("Time constant of the average of a flow's rate.")
        .source("Stoica et al. 1998 (recalled)"),
    Field::new("K_alpha", TIME, Value::Real(0.2))
        .meaning("Time constant of the averages of what arrives and what is accepted.")
        .source("Stoica et al. 1998 (recalled)"),
    Field::new("K_c", TIME, Value::Real(0.2))
        .meaning("Length of the window after which alpha is computed anew.")
        .source("Stoica et al. 1998 (weakly recalled)"),
    Field::new("overflow_step", SHARE, Value::Real(0.01))
        .meaning("Part that alpha loses whenever the buffer overflows.")
        .source("Stoica et al. 1998 (recalled)"),
    Field::new("overflow_most", SHARE, Value::Real(0.25))
        .meaning("Most of alpha that overflows may take between two computations.")
        .source("Stoica et al. 1998 (recalled)"),
    Field::new("congested_from", SHARE, Value::Real(0.5))
        .meaning("Part of the buffer that must be in use before the line is taken for congested.")
        .source("Stoica et al. 1998 (recalled)"),
    LIMIT_100.source("constructed; Stoica et al. 1998: 64 kB (recalled)"),
    LIMIT_BYTES,
];

/// A flow's state is freed after this many time constants, when its rate has fallen to e^-10.
const FORGOTTEN_AFTER: u64 = 10;

/// Shortest time between two searches for silent flows: more would take all of a processor's time.
const SHORTEST: Duration = Duration::from_millis(1);

/// One flow; its rate is the label that an edge router would write on its packets.
#[derive(Default)]
struct Flow {
    rate: Option<RateAverage>,
}

struct Csfq {
    flows: Active<Flow>,
    over: f64,
    ticker: Ticker,
    share: FairShare,
}

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let share = FairShare::new(params, line.rate.bytes_per_s());
    let silent = params.time("K").nanos() * FORGOTTEN_AFTER;
    let ticker = Ticker::every(Duration::from_nanos(silent).max(SHORTEST));
    let judge = Csfq { flows: Active::new(), over: params.real("K"), ticker, share };
    Ok(Built::Gate(Box::new(Judged::new(judge, buffer::limit(params, 100), false))))
}

/// Backlog, in packets or bytes, from which on the line may count as congested.
fn threshold(params: &Params) -> Backlog {
    let part = params.real("congested_from");
    let of = |limit: u64| (limit as f64 * part) as u64;
    let in_packets = !params.given("limit_bytes") || params.given("limit");
    let packets = if in_packets { of(params.whole_or("limit", 100)) } else { u64::MAX };
    let bytes =
        if params.given("limit_bytes") { of(params.whole("limit_bytes")) } else { u64::MAX };
    Backlog { packets: u32::try_from(packets).unwrap_or(u32::MAX), bytes }
}

/// The rule by which alpha is estimated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Ns2,
    Paper,
}

/// The core router's estimate of the fair share, by figure 3's estimate_alpha or the authors'
/// program.
struct FairShare {
    rule: Rule,
    /// Capacity C of the line. All rates are in bytes/s.
    capacity: f64,
    /// A of the paper: the aggregate arrival rate.
    arrived: RateAverage,
    /// F of the paper: the rate of accepted traffic.
    accepted: RateAverage,
    /// The fair share alpha, infinite while nothing is to be dropped.
    alpha: f64,
    /// paper: lowest value to which overflows may reduce alpha before it is computed again.
    floor: f64,
    /// ns2: number of times that overflows may still lower alpha.
    reductions: u32,
    /// The largest label in a window without congestion.
    label_max: f64,
    congested: bool,
    /// Start of the window after which alpha is computed anew.
    since: Instant,
    window: Duration,
    kept_at_overflow: f64,
    kept_at_least: f64,
    congested_from: Backlog,
}

impl FairShare {
    fn new(params: &Params, capacity: f64) -> Self {
        let rates = RateAverage::over(params.real("K_alpha"));
        let rule = if params.choice("fair_share") == "paper" { Rule::Paper } else { Rule::Ns2 };
        let mut share = FairShare {
            rule,
            capacity,
            arrived: rates,
            accepted: rates,
            alpha: if rule == Rule::Paper { capacity } else { f64::INFINITY },
            floor: 0.0,
            reductions: 0,
            label_max: 0.0,
            // As in the authors' program, the line counts as congested at first.
            congested: rule == Rule::Ns2,
            since: Instant::ZERO,
            window: params.time("K_c"),
            kept_at_overflow: 1.0 - params.real("overflow_step"),
            kept_at_least: 1.0 - params.real("overflow_most"),
            congested_from: threshold(params),
        };
        share.reductions = share.most_reductions();
        share
    }

    /// Updates the estimate for a packet with this label, which found `backlog` and was accepted or
    /// not.
    fn update(
        &mut self,
        packet: &Packet,
        label: f64,
        accepted: bool,
        backlog: Backlog,
        now: Instant,
    ) {
        self.arrived.add(packet.bytes, now);
        if accepted {
            self.accepted.add(packet.bytes, now);
        }
        let full = backlog.packets >= self.congested_from.packets
            || backlog.bytes >= self.congested_from.bytes;
        match self.rule {
            Rule::Ns2 => self.estimate_as_ns2(label, full, now),
            Rule::Paper => self.estimate_as_paper(label, full, now),
        }
    }

    /// The rule of the authors' program: alpha holds from the time the queue is long until it is
    /// short at the end of a window without congestion.
    fn estimate_as_ns2(&mut self, label: f64, full: bool, now: Instant) {
        if self.alpha.is_infinite() {
            if !full {
                self.label_max = self.label_max.max(label);
                return;
            }
            // Half of the line's rate if no label was seen: arbitrary, as a comment in the program
            // says.
            let first = if self.label_max > 0.0 { self.label_max } else { self.capacity / 2.0 };
            (self.alpha, self.label_max) = (first, 0.0);
        }
        let congested = self.arrived.bytes_per_s() >= self.capacity;
        let over = now.since(self.since) >= self.window;
        if congested != self.congested {
            (self.congested, self.since) = (congested, now);
            if congested { self.reductions = self.most_reductions() } else { self.label_max = 0.0 }
        } else if congested && over {
            let fair = self.alpha * self.capacity / self.accepted.bytes_per_s();
            self.set(fair.min(self.capacity), now);
        } else if !congested && !over {
            self.label_max = self.label_max.max(label);
        } else if !congested && full && self.label_max > 0.0 {
            self.set(self.label_max, now);
            self.label_max = 0.0;
        } else if !congested {
            (self.alpha, self.since) = (f64::INFINITY, now);
        }
    }

    /// Number of steps of `overflow_step` that take `overflow_most`, plus one: 30 in the program.
    fn most_reductions(&self) -> u32 {
        let steps = math::ln(self.kept_at_least) / math::ln(self.kept_at_overflow);
        if steps.is_finite() { ((-math::floor(-steps)) as u32).saturating_add(1) } else { 1 }
    }

    /// The estimation of the fair rate alpha by the pseudocode of the paper's Figure 3.
    fn estimate_as_paper(&mut self, label: f64, full: bool, now: Instant) {
        let congested = self.arrived.bytes_per_s() >= self.capacity && (self.congested || full);
        if congested != self.congested {
            self.congested = congested;
            self.since = now;
            self.label_max = 0.0;
        } else if congested {
            if now.since(self.since) > self.window {
                self.set(self.alpha * self.capacity / self.accepted.bytes_per_s(), now);
            }
        } else {
            self.label_max = self.label_max.max(label);
            if now.since(self.since) >= self.window {
                self.set(self.label_max, now);
                self.label_max = 0.0;
            }
        }
    }

    /// Sets alpha at the end of a window, unless nothing was accepted.
    fn set(&mut self, alpha: f64, now: Instant) {
        if alpha.is_finite() {
            self.alpha = alpha;
        }
        self.floor = self.alpha * self.kept_at_least;
        self.since = now;
    }

    fn on_overflow(&mut self) {
        let less = self.alpha * self.kept_at_overflow;
        if self.rule == Rule::Paper {
            self.alpha = less.max(self.floor);
        } else if self.reductions > 0 {
            self.reductions -= 1;
            self.alpha = less;
        }
    }
}

impl Aqm for Csfq {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let over = self.over;
        let flow = self.flows.enter(packet.flow);
        let rate = flow.rate.get_or_insert(RateAverage::over(over));
        rate.add(packet.bytes, now);
        let label = rate.bytes_per_s();
        let excess = 1.0 - self.share.alpha / label;
        let dropped = excess > 0.0 && rng.uniform() < excess;
        self.share.update(packet, label, !dropped, backlog, now);
        if dropped { Verdict::Drop(DropReason::Early) } else { Verdict::Pass }
    }
    fn on_overflow(&mut self, _: Backlog, _: Instant) {
        self.share.on_overflow();
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, _: Backlog, now: Instant, _: &mut Rng) {
        self.ticker.done();
        let silent = self.ticker.period();
        let recent = |rate: RateAverage| rate.last().is_some_and(|at| now.since(at) < silent);
        self.flows.retain(|flow| flow.rate.is_some_and(recent));
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        // While no fair share is known, the authors' program shows 0.
        let alpha = self.share.alpha;
        show("alpha", if alpha.is_finite() { alpha * 8.0 } else { 0.0 });
        show("A", self.share.arrived.bytes_per_s() * 8.0);
        show("F", self.share.accepted.bytes_per_s() * 8.0);
        show("flows", self.flows.len() as f64);
    }
}

#[cfg(test)]
mod tests;
