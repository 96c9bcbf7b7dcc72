//! RIO-PS, RIO with preference for short flows (L. Guo, I. Matta, *The War Between Mice and
//! Elephants*, ICNP 2001).
//!
//! The idea in five lines. The edge counts the packets of each flow. The first `L_t` are tagged
//! Short, the others Long; a flow that is silent for `T_u` begins anew. Every `T_c` the edge moves
//! `L_t` by one, so that active short and long flows keep the ratio `SLR`. The core is RIO with
//! Short as In and Long as Out, so short flows are hardly ever hit. Here one link plays both
//! parts, and a tag stays with its packet.

use alloc::boxed::Box;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant, Packet};

use crate::buffer::{ECN, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY};

use super::family::Ns;
use super::in_out::{InOut, Tagger, in_and_out};
use crate::periodic::Ticker;
use crate::shells::active::Active;
use crate::shells::classes::ClassFifo;
use crate::{Built, Entry, Line, PerFlowState};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "rio_ps",
        summary: "RIO that takes the first packets of each flow as In, the later ones as Out.",
        year: 2001,
        source: "Guo and Matta, ICNP 2001 (recalled)",
        deviations: "One link is edge and core. SLR, T_u and T_c are weakly recalled, the \
                     thresholds are those of ns-2's RIO, and L_t starts at a constructed value; \
                     how the paper counts short and long is recalled (ratio).",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "marks below the class's max_th if ecn is on and the packet is ECN-capable; drops above \
          it and on overflow",
    units: "packets",
    build: &build,
};

const fn real(name: &'static str, kind: Kind, default: f64, meaning: &'static str) -> Field {
    Field { name, meaning, kind, default: Value::Real(default), source: "read: ns-2.35 RIO" }
}

const FIELDS: &[Field] = &[
    Field::new("L_t", Kind::whole(Unit::Packets, 1, 1_000_000_000), Value::Whole(8))
        .meaning("First length of a short flow: this many packets of a flow are Short.")
        .source("constructed"),
    Field::new("SLR", Kind::above(Unit::None, 0.0, 1e6), Value::Real(3.0))
        .meaning("Wished ratio of short to long.")
        .source("Guo and Matta 2001 (weakly recalled)"),
    Field::new("ratio", Kind::Choice(&["flows", "packets"]), Value::Choice("flows"))
        .meaning("What the ratio counts: active flows, or packets since the last T_c.")
        .source("Guo and Matta 2001 (recalled)"),
    Field::new("T_u", Kind::above(Unit::Time, 0.0, 1e6), Value::Real(1.0))
        .meaning("Silence after which a flow is forgotten.")
        .source("Guo and Matta 2001 (weakly recalled)"),
    Field::new("T_c", Kind::from(Unit::Time, 1e-3, 1e6), Value::Real(10.0))
        .meaning("Time between two steps of L_t.")
        .source("Guo and Matta 2001 (weakly recalled)"),
    real("in_min_th", PACKETS, 15.0, "Average of Short packets below which every one passes."),
    real("in_max_th", PACKETS, 30.0, "Average of Short packets from which every one is dropped."),
    real("in_max_p", PROBABILITY, 0.02, "Probability of a signal to a Short packet at in_max_th."),
    real("out_min_th", PACKETS, 5.0, "Average of all packets below which every Long one passes."),
    real("out_max_th", PACKETS, 15.0, "Average of all from which every Long packet is dropped."),
    real("out_max_p", PROBABILITY, 0.1, "Probability of a signal to a Long packet at out_max_th."),
    real("w_q", PROBABILITY, 0.002, "Weight of the newest sample in the averages."),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(500))
        .meaning("The packet of the idle clock, at the line's rate.")
        .source("read: ns-2.35 mean_pktsize_"),
    Field::new("limit", LIMIT, Value::Whole(50))
        .meaning("Packets that may wait.")
        .source("read: ns-2.35 Queue limit_"),
    ECN.source("read: ns-2.35 setbit_"),
];

fn build(params: &Params, line: &Line) -> Result<Built, BadParams> {
    let [ins, out] = in_and_out(params, line)?;
    let edge = Edge {
        flows: Active::new(),
        short_length: params.whole("L_t"),
        ratio: params.real("SLR"),
        by_packets: params.choice("ratio") == "packets",
        packets: (0, 0),
        silence: params.time("T_u"),
        ticker: Ticker::every(params.time("T_c")),
    };
    let limit = params.whole("limit");
    let judge = InOut::new(edge, Ns::new(&ins), Ns::new(&out), false, limit);
    Ok(Built::Discipline(Box::new(ClassFifo::new(judge, params.switch("ecn")))))
}

/// An active flow: its packets so far, and when the last one arrived.
#[derive(Default)]
struct Seen {
    sent: u64,
    last: Instant,
}

/// The edge: it counts the packets of each active flow and tags them Short or Long.
struct Edge {
    flows: Active<Seen>,
    /// `L_t`: the packets of a flow that are tagged Short.
    short_length: u64,
    ratio: f64,
    by_packets: bool,
    /// Number of Short and of Long packets since the last step of `L_t`.
    packets: (u64, u64),
    silence: Duration,
    ticker: Ticker,
}

impl Edge {
    /// Counts a packet of `flow`. Returns whether it is Short.
    fn is_short(&mut self, flow: u64, now: Instant) -> bool {
        let seen = self.flows.enter(flow);
        if now.since(seen.last) > self.silence {
            seen.sent = 0;
        }
        *seen = Seen { sent: seen.sent + 1, last: now };
        let short = seen.sent <= self.short_length;
        let count = if short { &mut self.packets.0 } else { &mut self.packets.1 };
        *count += 1;
        short
    }

    /// Forgets silent flows and moves `L_t`.
    fn step(&mut self, now: Instant) {
        let silence = self.silence;
        self.flows.retain(|seen| now.since(seen.last) <= silence);
        let length = self.short_length;
        let long = self.flows.iter_mut().filter(|(_, seen)| seen.sent > length).count() as u64;
        let by_flows = (self.flows.len() as u64 - long, long);
        let (short, long) = if self.by_packets { self.packets } else { by_flows };
        self.packets = (0, 0);
        self.short_length = moved(self.short_length, short, long, self.ratio);
    }
}

/// `L_t` after a step from `length`, by the numbers of short and long flows (or packets) and the
/// target `ratio` of both.
fn moved(length: u64, short: u64, long: u64, ratio: f64) -> u64 {
    if short == 0 && long == 0 {
        return length;
    }
    let (short, wished) = (short as f64, ratio * long as f64);
    if short > wished {
        (length - 1).max(1)
    } else if short < wished {
        length + 1
    } else {
        length
    }
}

impl Tagger for Edge {
    fn is_in(&mut self, packet: &Packet, now: Instant) -> bool {
        self.is_short(packet.flow, now)
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.ticker.next())
    }
    fn on_tick(&mut self, now: Instant) {
        self.ticker.done();
        self.step(now);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("L_t", self.short_length as f64);
        show("flows", self.flows.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_steps() {
        for (short, long, after) in [(40, 10, 7), (20, 10, 9), (30, 10, 8), (5, 0, 7), (0, 0, 8)] {
            assert_eq!(moved(8, short, long, 3.0), after, "{short} short, {long} long");
        }
        assert_eq!(moved(1, 9, 0, 3.0), 1);
    }

    fn edge(by_packets: bool) -> Edge {
        Edge {
            flows: Active::new(),
            short_length: 8,
            ratio: 3.0,
            by_packets,
            packets: (0, 0),
            silence: Duration::from_secs(1),
            ticker: Ticker::every(Duration::from_secs(10)),
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn the_first_eight_packets_are_short_until_a_silence() {
        let mut edge = edge(false);
        let tags: Vec<bool> = (0..9).map(|ms| edge.is_short(5, at(ms))).collect();
        assert_eq!(tags, [[true; 8].as_slice(), &[false]].concat());
        assert!(!edge.is_short(5, at(1008)), "a silence of T_u exactly");
        assert!(edge.is_short(5, at(2009)));
    }

    #[test]
    fn flows_or_packets_are_counted_and_silent_flows_forgotten() {
        for (by_packets, after) in [(false, 7), (true, 9)] {
            let mut edge = edge(by_packets);
            let fresh = (0..4).filter(|flow| edge.is_short(*flow, at(9_500))).count();
            let long = (0..20).filter(|_| !edge.is_short(9, at(9_500))).count();
            assert_eq!((fresh, long), (4, 12));
            edge.is_short(77, at(8_999));
            edge.step(at(10_000));
            // Flows: 4 short, 1 long. Packets: 4 + 8 + 1 short, 12 long.
            assert_eq!((edge.short_length, edge.flows.len()), (after, 5));
            assert_eq!(edge.packets, (0, 0));
        }
    }

    #[test]
    fn where_nothing_was_short_more_shall_be() {
        assert_eq!(moved(8, 0, 5, 3.0), 9);
        // Six flows, two of them long: four are short, which is the two thirds that the ratio
        // requires.
        let mut edge = Edge { ratio: 2.0, ..edge(false) };
        (0..4).for_each(|flow| {
            edge.is_short(flow, at(9_500));
        });
        for flow in [8, 9] {
            (0..20).for_each(|_| {
                edge.is_short(flow, at(9_500));
            });
        }
        edge.step(at(10_000));
        assert_eq!(edge.short_length, 8);
    }
}
