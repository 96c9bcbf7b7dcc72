//! DCN, Differential Congestion Notification (L. Le, J. Aikat, K. Jeffay, F. D. Smith,
//! *Differential Congestion Notification: Taming the Elephants*, ICNP 2004).
//!
//! The idea in five lines. Only long, fast flows have a rate that a signal can change; dropping a
//! packet of a short one only delays it. A scoreboard counts the packets of candidate flows. A flow
//! that reaches a threshold is moved to the table of high-bandwidth flows, and stays there while it
//! sends that much per interval. A PI controller of the queue sets the drop probability of their
//! packets; packets of all other flows are dropped only by a full buffer. There are no marks.
//!
//! The paper's text was not available: this is a reconstruction from its slides and abstract, and
//! everything that they leave open is a parameter.

mod flows;

use alloc::{boxed::Box, format};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Instant, Packet, Rng};

use crate::buffer::{self, LIMIT_200, LIMIT_BYTES, PACKET_BYTES, SPARE_SHORT_QUEUE};
use crate::periodic::Ticker;
use crate::pi_law::PiLaw;
use crate::shells::flows::{HASH_SEED, HASH_SEED_FIELD};
use crate::{Aqm, Built, Entry, Judged, LimitOrder, Line, PerFlowState, Table, Verdict};
use flows::{Collision, Flows};

/// The entry of `dcn` in the registry of disciplines.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "dcn",
        summary: "Drops packets of long, fast flows only, as often as a controller of the queue \
                  says.",
        year: 2004,
        source: "Le, Aikat, Jeffay and Smith, ICNP 2004 (slides and abstract)",
        deviations: "A reconstruction. Established: two tables keyed by flow, a packet-count \
                     threshold, a controller like PI, drops only, never of a short flow. Not \
                     established, hence parameters: table sizes, threshold, interval and rule of \
                     ageing, collisions on the scoreboard, gains and target, and how the \
                     probability depends on the flow. Pure acknowledgements count like data.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[
        Table { rows: &[("scoreboard_size", 1_024)], row: 168 },
        Table { rows: &[("table_size", 1_024)], row: 104 },
    ],
    ecn: "never marks",
    units: "packets or bytes",
    build: &build,
};

const GAIN: Kind = Kind::above(Unit::None, 0.0, 1.0);
const SIZE: Kind = Kind::whole(Unit::Count, 1, 16_777_216);
const COUNT: Kind = Kind::whole(Unit::Packets, 1, 1_000_000_000);

const FIELDS: &[Field] = &[
    Field::new("threshold", COUNT, Value::Whole(100))
        .meaning("Packets on the scoreboard that make a flow a high-bandwidth flow.")
        .source("constructed (weakly recalled); sweep 25 to 200"),
    Field::new("interval", crate::periodic::PERIOD, Value::Real(0.8))
        .meaning(
            "DI, the time between two ageings of the high-bandwidth flows; a scoreboard entry \
             without a packet for longer is free.",
        )
        .source("constructed (weakly recalled); sweep 0.2 s to 2 s"),
    Field::new("decrement", COUNT, Value::Unset)
        .meaning(
            "What ageing takes from a high-bandwidth flow's count; at 0 it is one no longer. \
             threshold unless given.",
        )
        .source("constructed"),
    Field::new("age_below_target", Kind::Switch, Value::Switch(false))
        .meaning("Whether flows age only while the queue is below q_ref.")
        .source("constructed"),
    Field::new("scoreboard_size", SIZE, Value::Whole(8192))
        .meaning("Slots of the scoreboard (SB).")
        .source("constructed (weakly recalled); sweep 1 K to 16 K"),
    Field::new("table_size", SIZE, Value::Whole(8192))
        .meaning(
            "Most high-bandwidth flows (HB); a flow that finds no room stays on the scoreboard.",
        )
        .source("constructed (weakly recalled)"),
    Field::new(
        "collision",
        Kind::Choice(&["decrement-incumbent", "replace-if-smaller", "chain", "ignore"]),
        Value::Choice("decrement-incumbent"),
    )
    .meaning(
        "What a packet does that finds its slot taken: lower the other's count; replace it if \
             that is at most 1; have an entry of its own, as many in all as there are slots; or go \
             uncounted.",
    )
    .source("constructed"),
    Field::new(
        "probability",
        Kind::Choice(&["uniform", "bytes", "count-weighted"]),
        Value::Choice("uniform"),
    )
    .meaning(
        "A packet's drop probability: uniform, the controller's p; bytes, p \
             size/mean_packet_bytes; count-weighted, p (1 + count/threshold).",
    )
    .source("constructed"),
    Field::new("q_ref", Kind::from(Unit::Packets, 0.0, 1e8), Value::Real(50.0))
        .meaning("Target queue.")
        .source("constructed: as PI; sweep 24 and 240"),
    Field::new("a", GAIN, Value::Real(1.822e-5))
        .meaning("Gain of the present queue, per packet and update.")
        .source("constructed: as PI"),
    Field::new("b", GAIN, Value::Real(1.816e-5))
        .meaning("Gain of the previous queue, per packet and update; below a.")
        .source("constructed: as PI"),
    Field::new("T", crate::periodic::PERIOD, Value::Real(1.0 / 170.0))
        .meaning("Time between updates of the probability.")
        .source("constructed: as PI"),
    Field::new("queue_in_bytes", Kind::Switch, Value::Switch(false))
        .meaning("Whether the queue is measured in bytes, divided by mean_packet_bytes.")
        .source("constructed: as PI"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning("Mean packet size, to which bytes and queue_in_bytes refer. 500 unless given.")
        .source("constructed: as PI"),
    Field {
        meaning: "Seed of the hash that gives flows their slots. A run draws one from its seed, \
                  each queue its own; a trial and an embedded queue take 1.",
        source: "constructed",
        ..HASH_SEED
    },
    SPARE_SHORT_QUEUE,
    LIMIT_200.source("constructed: as PI"),
    LIMIT_BYTES,
];

/// How a packet's drop probability depends on the packet and its flow.
#[derive(Clone, Copy, Debug)]
enum Weight {
    Uniform,
    Bytes { mean: f64 },
    Count { threshold: f64 },
}

impl Weight {
    fn of(self, p: f64, size: u32, count: u32) -> f64 {
        match self {
            Weight::Uniform => p,
            Weight::Bytes { mean } => p * f64::from(size) / mean,
            Weight::Count { threshold } => p * (1.0 + f64::from(count) / threshold),
        }
    }
}

struct Dcn {
    flows: Flows,
    law: PiLaw,
    weight: Weight,
    queue_mean: Option<f64>,
    q_ref: f64,
    age_below_target: bool,
    /// Whether nothing is dropped early while at most one packet waits.
    spares: bool,
    decrement: u32,
    control: Ticker,
    ageing: Ticker,
}

fn build(params: &Params, _: &Line) -> Result<Built, BadParams> {
    let (a, b) = (params.real("a"), params.real("b"));
    if b >= a {
        let why = format!(
            "{b} is not below a = {a}: what is left of a - b is the integral term, without which \
             the queue does not find its target; give both, b the smaller"
        );
        return Err(BadParams::new("b", why));
    }
    let (in_bytes, probability) = (params.switch("queue_in_bytes"), params.choice("probability"));
    if params.given("mean_packet_bytes") && !in_bytes && probability != "bytes" {
        let why = format!(
            "{} has no effect: only queue_in_bytes and probability = \"bytes\" refer to it; leave \
             it out",
            params.written("mean_packet_bytes")
        );
        return Err(BadParams::new("mean_packet_bytes", why));
    }
    let judge = Dcn::new(params, PiLaw::new(a, b, params.real("q_ref")));
    if !in_bytes && probability != "bytes" {
        params.ignore("mean_packet_bytes");
    }
    let limit = buffer::limit(params, 200);
    Ok(Built::Gate(Box::new(Judged::new(judge, limit, false))))
}

impl Dcn {
    fn new(params: &Params, law: PiLaw) -> Self {
        let threshold = params.whole("threshold") as u32;
        let mean = params.whole_or("mean_packet_bytes", 500) as f64;
        let interval = params.time("interval").max(Duration::from_nanos(1));
        let sizes = (params.whole("scoreboard_size") as usize, params.whole("table_size") as usize);
        let collision = match params.choice("collision") {
            "decrement-incumbent" => Collision::DecrementIncumbent,
            "replace-if-smaller" => Collision::ReplaceIfSmaller,
            "chain" => Collision::Chain,
            _ => Collision::Ignore,
        };
        Dcn {
            flows: Flows::new(
                sizes,
                collision,
                threshold,
                interval,
                params.whole_or(HASH_SEED_FIELD, 1),
            ),
            law,
            weight: match params.choice("probability") {
                "uniform" => Weight::Uniform,
                "bytes" => Weight::Bytes { mean },
                _ => Weight::Count { threshold: f64::from(threshold) },
            },
            queue_mean: if params.switch("queue_in_bytes") { Some(mean) } else { None },
            q_ref: params.real("q_ref"),
            age_below_target: params.switch("age_below_target"),
            spares: params.switch("spare_short_queue"),
            decrement: params.whole_or("decrement", u64::from(threshold)) as u32,
            control: Ticker::every(params.time("T")),
            ageing: Ticker::every(interval),
        }
    }
}

impl Aqm for Dcn {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        let Some(count) = self.flows.arrival(packet.flow, now) else { return Verdict::Pass };
        let p = self.weight.of(self.law.p, packet.bytes, count);
        let hit = rng.uniform() < p && !buffer::is_spared(self.spares, backlog);
        if hit { Verdict::Drop(DropReason::Early) } else { Verdict::Pass }
    }
    fn limit_order(&self) -> LimitOrder {
        LimitOrder::BeforeJudge
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(self.control.next().min(self.ageing.next()))
    }
    fn on_tick(&mut self, backlog: Backlog, now: Instant, _: &mut Rng) {
        let queue = match self.queue_mean {
            Some(mean) => backlog.bytes as f64 / mean,
            None => f64::from(backlog.packets),
        };
        // One call does one update. If both are due at one instant, the controller's comes first.
        if self.control.next() <= self.ageing.next() {
            self.control.done();
            self.law.update(queue);
        } else {
            self.ageing.done();
            let ages = !self.age_below_target || queue < self.q_ref;
            self.flows.age(if ages { Some(self.decrement) } else { None }, now);
        }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("p", self.law.p);
        show("high_bandwidth_flows", self.flows.fast() as f64);
        let cost = self.flows.cost();
        show("scoreboard_flows", cost.scoreboard_flows as f64);
        show("probes_per_packet", cost.probes_per_packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Raw;

    /// DCN with a threshold of 3 packets.
    fn dcn(p: f64) -> Dcn {
        let raw = [("threshold".to_string(), Raw::Number(3.0))];
        let params = Params::check(FIELDS, &raw).unwrap();
        let mut dcn = Dcn::new(&params, PiLaw::new(1e-3, 9e-4, 0.0));
        dcn.law.p = p;
        dcn
    }

    fn arrive(dcn: &mut Dcn, flow: u64, rng: &mut Rng) -> Verdict {
        let ecn = packet::Ecn::Ect0;
        let packet = Packet {
            id: 0,
            flow,
            bytes: 1000,
            ecn,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        dcn.on_arrival(&packet, Backlog::default(), Instant::ZERO, rng)
    }

    #[test]
    fn only_promoted_flows_are_dropped() {
        let mut rng = Rng::named(1, "dcn");
        let untouched = rng.clone();
        let mut dcn = dcn(1.0);
        for _ in 0..3 {
            assert_eq!(arrive(&mut dcn, 1, &mut rng), Verdict::Pass);
        }
        assert_eq!(arrive(&mut dcn, 2, &mut rng), Verdict::Pass);
        assert_eq!(rng, untouched, "no draw for a flow that is not in the table");
        assert_eq!(arrive(&mut dcn, 1, &mut rng), Verdict::Drop(DropReason::Early));
    }

    #[test]
    fn a_promoted_flow_is_dropped_with_p() {
        let mut rng = Rng::named(1, "dcn");
        let mut dcn = dcn(0.2);
        for _ in 0..3 {
            arrive(&mut dcn, 1, &mut rng);
        }
        for _ in 0..100 {
            let drops = rng.clone().uniform() < 0.2;
            assert_eq!(arrive(&mut dcn, 1, &mut rng) != Verdict::Pass, drops);
        }
    }

    #[test]
    fn weights() {
        assert_eq!(Weight::Uniform.of(0.2, 40, 9), 0.2);
        assert_eq!(Weight::Bytes { mean: 500.0 }.of(0.2, 1000, 9), 0.4);
        assert!((Weight::Count { threshold: 3.0 }.of(0.2, 40, 6) - 0.6).abs() < 1e-12);
    }

    #[test]
    fn flows_age_while_the_queue_is_below_its_target() {
        // Threshold and decrement are 3: one ageing ends a promotion.
        for (queue, ages) in [(49, true), (50, false), (51, false)] {
            let raw = [
                ("threshold".to_string(), Raw::Number(3.0)),
                ("q_ref".to_string(), Raw::Number(50.0)),
                ("age_below_target".to_string(), Raw::Bool(true)),
            ];
            let params = Params::check(FIELDS, &raw).unwrap();
            let mut dcn = Dcn::new(&params, PiLaw::new(1e-3, 9e-4, 50.0));
            dcn.ageing = Ticker::every(Duration::from_nanos(1));
            let mut rng = Rng::named(1, "dcn");
            (0..3).for_each(|_| {
                arrive(&mut dcn, 1, &mut rng);
            });
            assert_eq!(dcn.flows.fast(), 1);
            let backlog = Backlog { packets: queue, bytes: 0 };
            dcn.on_tick(backlog, Instant::ZERO, &mut rng);
            assert_eq!(dcn.flows.fast() == 0, ages, "{queue} packets");
        }
    }
}
