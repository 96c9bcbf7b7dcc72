//! CSFQ, core-stateless fair queueing (I. Stoica, S. Shenker, H. Zhang, *Core-Stateless Fair
//! Queueing: Achieving Approximately Fair Bandwidth Allocations in High Speed Networks*, SIGCOMM
//! 1998; IEEE/ACM ToN 11(1), 2003).
//!
//! The idea in five lines. Routers at the edge measure each flow's rate r and write it on its
//! packets as a label; routers in the core keep nothing of flows. They estimate the fair share alpha
//! of the line and drop a packet with probability 1 - alpha/r: a flow is cut down to the fair share,
//! and slower ones lose nothing. alpha follows from what arrives and what is accepted. Here the edge
//! and the core are one router, so labels need no header.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::buffer::{self, LIMIT_100, LIMIT_BYTES, TIME};
use crate::periodic::Ticker;
use crate::rate_average::RateAverage;
use crate::shells::active::Active;
use crate::{Aqm, Built, Entry, Judged, Line, PerFlowState, Verdict};

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "csfq",
        summary: "Drops each flow's excess over the fair share of the line, estimated from \
                  arrivals.",
        year: 1998,
        source: "Stoica, Shenker and Zhang, SIGCOMM 1998, figure 3 and section 2 (recalled; \
                 constants weakly)",
        deviations: "Edge and core in one, no weights. No program was read. alpha begins at the \
                     line's rate. The packet that ends a window without congestion counts in it \
                     (in figure 3 a lone packet would set alpha to 0, and all after it were \
                     dropped). Of packets at one instant each adds bytes/K to its flow's rate. A \
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

/// A flow's state is freed after this many time constants, when e^-10 of its rate is left.
const FORGOTTEN_AFTER: u64 = 10;

/// Looking through the flows more often would be all that a processor does.
const SHORTEST: Duration = Duration::from_millis(1);

/// One flow; its rate is that which an edge router would write on its packets.
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

/// What must wait, in packets or bytes, before the line is taken for congested.
fn threshold(params: &Params) -> Backlog {
    let part = params.real("congested_from");
    let of = |limit: u64| (limit as f64 * part) as u64;
    let in_packets = !params.given("limit_bytes") || params.given("limit");
    let packets = if in_packets { of(params.whole_or("limit", 100)) } else { u64::MAX };
    let bytes =
        if params.given("limit_bytes") { of(params.whole("limit_bytes")) } else { u64::MAX };
    Backlog { packets: u32::try_from(packets).unwrap_or(u32::MAX), bytes }
}

/// The core router's estimate of the fair share, figure 3's estimate_alpha.
struct FairShare {
    /// C. All rates are in bytes/s.
    capacity: f64,
    /// A.
    arrived: RateAverage,
    /// F.
    accepted: RateAverage,
    alpha: f64,
    /// The least that overflows may leave of alpha before it is computed anew.
    floor: f64,
    /// The largest label in a window without congestion.
    label_max: f64,
    congested: bool,
    /// When the window began.
    since: Instant,
    window: Duration,
    kept_at_overflow: f64,
    kept_at_least: f64,
    congested_from: Backlog,
}

impl FairShare {
    fn new(params: &Params, capacity: f64) -> Self {
        let rates = RateAverage::over(params.real("K_alpha"));
        FairShare {
            capacity,
            arrived: rates,
            accepted: rates,
            alpha: capacity,
            floor: 0.0,
            label_max: 0.0,
            congested: false,
            since: Instant::ZERO,
            window: params.time("K_c"),
            kept_at_overflow: 1.0 - params.real("overflow_step"),
            kept_at_least: 1.0 - params.real("overflow_most"),
            congested_from: threshold(params),
        }
    }

    /// A packet with this label has arrived, found `backlog`, and was accepted or not.
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

    /// A window is over: a new alpha, unless nothing was accepted.
    fn set(&mut self, alpha: f64, now: Instant) {
        if alpha.is_finite() {
            self.alpha = alpha;
        }
        self.floor = self.alpha * self.kept_at_least;
        self.since = now;
    }

    fn on_overflow(&mut self) {
        self.alpha = (self.alpha * self.kept_at_overflow).max(self.floor);
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
        let heard = |rate: RateAverage| rate.last().is_some_and(|at| now.since(at) < silent);
        self.flows.retain(|flow| flow.rate.is_some_and(heard));
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.share.alpha * 8.0);
        show("A", self.share.arrived.bytes_per_s() * 8.0);
        show("F", self.share.accepted.bytes_per_s() * 8.0);
        show("flows", self.flows.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Raw;
    use packet::{Ecn, Rate};

    /// Constant flows of these shares of a 10 Mbit/s line for ten seconds: what of it each gets in
    /// the last nine, where the line takes whatever is accepted.
    fn accepted(shares: &[f64]) -> Vec<f64> {
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let raw = [("congested_from".to_string(), Raw::Text("0".into()))];
        let params = Params::check(FIELDS, &raw).unwrap();
        let Built::Gate(mut gate) = build(&params, &line).unwrap() else { panic!() };
        let mut rng = Rng::named(1, "csfq");
        let mut next: Vec<f64> = shares.iter().map(|share| 0.0008 / share).collect();
        let mut got = vec![0.0; shares.len()];
        loop {
            let first = (0..shares.len()).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
            let at = next[first];
            if at >= 10.0 {
                return got.iter().map(|bytes| bytes / (9.0 * 1.25e6)).collect();
            }
            next[first] += 0.0008 / shares[first];
            let now = Instant::from_nanos((at * 1e9) as u64);
            let mut packet = Packet {
                id: 0,
                flow: first as u64,
                bytes: 1000,
                ecn: Ecn::NotEct,
                arrived: now,
                header: Default::default(),
            };
            let admission = gate.admit(&mut packet, Backlog::default(), now, &mut rng);
            if admission == crate::Admission::Queued && at >= 1.0 {
                got[first] += 1000.0;
            }
        }
    }

    #[test]
    fn every_flow_gets_the_fair_share_and_no_more() {
        // The fair share of a line with 0.1, 0.5 and 1.0 is 0.45.
        let got = accepted(&[0.1, 0.5, 1.0]);
        for (got, fair) in got.iter().zip([0.1, 0.45, 0.45]) {
            assert!((got - fair).abs() < 0.02, "{got} is not {fair}");
        }
    }

    #[test]
    fn overflows_take_a_percent_each_and_a_quarter_in_all() {
        let mut share = FairShare::new(&Params::defaults(FIELDS), 1000.0);
        share.set(1000.0, Instant::ZERO);
        share.on_overflow();
        assert_eq!(share.alpha, 990.0);
        (0..100).for_each(|_| share.on_overflow());
        assert_eq!(share.alpha, 750.0);
        share.set(800.0, Instant::ZERO);
        (0..100).for_each(|_| share.on_overflow());
        assert_eq!(share.alpha, 600.0);
    }

    #[test]
    fn without_congestion_nothing_is_lost() {
        assert!((accepted(&[0.3, 0.6]).iter().sum::<f64>() - 0.9).abs() < 0.002);
    }

    #[test]
    fn a_flow_that_was_silent_for_a_whole_period_is_forgotten() {
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let Built::Gate(mut gate) = build(&Params::defaults(FIELDS), &line).unwrap() else {
            panic!()
        };
        let mut rng = Rng::named(1, "csfq");
        let mut flows_after = |gate: &mut Box<dyn crate::Gate>, heard: Instant, tick: Instant| {
            let mut packet = Packet {
                id: 0,
                flow: 7,
                bytes: 1000,
                ecn: Ecn::NotEct,
                arrived: heard,
                header: Default::default(),
            };
            gate.admit(&mut packet, Backlog::default(), heard, &mut rng);
            gate.on_tick(Backlog::default(), tick, &mut rng);
            let mut flows = f64::NAN;
            gate.gauges(&mut |name, value| flows = if name == "flows" { value } else { flows });
            flows
        };
        let first = gate.next_tick().expect("a tick");
        let period = first.since(Instant::ZERO);
        assert_eq!(flows_after(&mut gate, Instant::ZERO, first), 0.0);
        let second = first + period;
        assert_eq!(flows_after(&mut gate, first + Duration::from_nanos(1), second), 1.0);
    }

    #[test]
    fn a_window_of_congestion_must_be_over() {
        let mut share = FairShare::new(&Params::defaults(FIELDS), 1000.0);
        let window = share.window;
        let full = Backlog { packets: u32::MAX, bytes: u64::MAX };
        let packet = Packet {
            id: 0,
            flow: 7,
            bytes: 1_000_000,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let mut at = |now: Instant| {
            share.update(&packet, 1.0, true, full, now);
            (share.congested, share.since)
        };
        let begin = Instant::ZERO;
        assert_eq!(at(begin), (true, begin));
        assert_eq!(at(begin + window), (true, begin), "figure 3: longer than K_c");
        let later = begin + window + Duration::from_nanos(1);
        assert_eq!(at(later), (true, later));
    }
}
