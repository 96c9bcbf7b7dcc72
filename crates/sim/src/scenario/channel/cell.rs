//! `cell = { … }` of a link: a mobile cell (LTE, 5G), a base station and its UEs.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use serde_json::{Map, Value as Json, json};
use testvec::parameters;

use crate::error::ScenarioError;
use crate::port::{CellSettings, Marking, Quality};
use crate::scenario::channel::{Channel, Kind as ChannelKind};
use crate::scenario::section::Section;
use crate::topology::Direction;

/// The entry of mobile cells in the list of channels.
pub(super) const KIND: ChannelKind = ChannelKind {
    name: "cell",
    structure: STRUCTURE,
    fields: FIELDS,
    required: &[],
    read: |path, json| Ok(Channel::Cell(Cell::read(path, json)?)),
};

/// The mobile cell of a link, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Cell {
    qualities: Vec<f64>,
    params: Params,
}

const STRUCTURE: &[[&str; 4]] = &[[
    "quality",
    "list of numbers",
    "[11, 11, 6]",
    "Mean channel quality of each UE (CQI, 1 to 15): client machine 0 has the first one, and so on, from the beginning again where there are more machines.",
]];

const USUAL: [f64; 3] = [11.0, 11.0, 6.0];
const SPAN: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 10.0, open: true };
const SHARE: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 0.99, open: false };

/// Spectral efficiencies of CQI 1 to 15, bit/s/Hz: 3GPP TS 36.213, table 7.2.3-1 (64QAM), and TS
/// 38.214, table 5.2.2.1-3 (256QAM).
const LTE: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];
const NR: [f64; 15] = [
    0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547,
    6.2266, 6.9141, 7.4063,
];

/// Patterns of slots, with the share of each slot's symbols that is downlink, and the share that is
/// uplink. The special slot S has 10 of 14 symbols down and 2 up.
const DOWN: f64 = 10.0 / 14.0;
const UP: f64 = 2.0 / 14.0;
const PATTERNS: &[(&str, [&[f64]; 2])] = &[
    ("fdd", [&[1.0], &[1.0]]),
    ("DDDSU", [&[1.0, 1.0, 1.0, DOWN, 0.0], &[0.0, 0.0, 0.0, UP, 1.0]]),
    ("DDSU", [&[1.0, 1.0, DOWN, 0.0], &[0.0, 0.0, UP, 1.0]]),
    ("DSUUU", [&[1.0, DOWN, 0.0, 0.0, 0.0], &[0.0, UP, 1.0, 1.0, 1.0]]),
];

const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["nr", "lte"]), Value::Choice("nr"))
        .meaning("nr: 5G at 30 kHz, slots of 0.5 ms, 256QAM; lte: subframes of 1 ms, 64QAM. It sets the defaults of what follows.")
        .source("3GPP TS 38.211, TS 36.211"),
    Field::new("pattern", Kind::Choice(&["fdd", "DDDSU", "DDSU", "DSUUU"]), Value::Unset)
        .meaning("Slots one after another: D down, U up, S with 10 symbols down and 2 up; fdd: both directions have every slot. nr: DDDSU; lte: fdd.")
        .source("constructed: a usual pattern of band n78 (recalled)"),
    Field::new("blocks", Kind::whole(Unit::Count, 1, 1_000), Value::Unset)
        .meaning("Resource blocks of 12 subcarriers. nr: 106 (40 MHz at 30 kHz); lte: 100 (20 MHz).")
        .source("3GPP TS 38.101-1 and TS 36.101 (recalled)"),
    Field::new("layers", Kind::whole(Unit::Count, 1, 8), Value::Whole(2))
        .meaning("Spatial layers downstream; upstream there is one.")
        .source("constructed"),
    Field::new("overhead", SHARE, Value::Unset)
        .meaning("The share of resource elements without data. nr: 0.14; lte: 0.25.")
        .source("nr: TS 38.306, 4.1.2, downstream in FR1 (recalled); lte: constructed"),
    Field::new("error", SHARE, Value::Real(0.1))
        .meaning("The share of blocks that do not arrive at the first try, which link adaptation aims at.")
        .source("3GPP TS 36.213, 7.2.3: a block error rate of 0.1"),
    Field::new("retransmission_error", SHARE, Value::Real(0.01))
        .meaning("The share of those that were retransmitted and do not arrive either.")
        .source("constructed: soft combining leaves few"),
    Field::new("tries", Kind::whole(Unit::Count, 1, 32), Value::Whole(4))
        .meaning("Tries of HARQ, the first one included.")
        .source("constructed: a usual number"),
    Field::new("round", Kind::whole(Unit::Count, 1, 100), Value::Unset)
        .meaning("Slots from a try to the next. nr: 5, the period of DDDSU; lte: 8 ms.")
        .source("lte: TS 36.321 (recalled); nr: constructed"),
    Field::new("rlc", Kind::Choice(&["am", "um"]), Value::Choice("am"))
        .meaning("Whether RLC retransmits what HARQ gave up (am), or loses it (um).")
        .source("3GPP TS 38.322"),
    Field::new("rlc_delay", SPAN, Value::Real(0.04))
        .meaning("am only: from there until it is retransmitted, until a status report has come.")
        .source("constructed"),
    Field::new("processing", SPAN, Value::Unset)
        .meaning("From the end of a slot until its packets are handed on. nr: 1 ms; lte: 3 ms.")
        .source("constructed: decoding and the layers above"),
    Field::new("step", SPAN, Value::Real(0.02))
        .meaning("How often a UE's channel quality may change.")
        .source("constructed: a walk in the street"),
    Field::new("moves", Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false }, Value::Real(0.5))
        .meaning("The probability that it does then, by one CQI.")
        .source("constructed"),
    Field::new("spread", Kind::above(Unit::None, 0.0, 15.0), Value::Real(4.0))
        .meaning("How far from its mean it always turns back, CQI; nearer it does so the more likely the farther it is.")
        .source("constructed"),
    Field::new("fairness", Kind::from(Unit::Count, 2.0, 1e6), Value::Real(200.0))
        .meaning("Slots over which the proportional-fair scheduler averages what a UE got.")
        .source("constructed: 0.1 s of 5G"),
    Field::new("request_period", SPAN, Value::Unset)
        .meaning("Upstream: time between a UE's opportunities for a scheduling request. nr: 5 ms; lte: 10 ms.")
        .source("constructed: usual periods"),
    Field::new("grant_delay", SPAN, Value::Unset)
        .meaning("Upstream: from a request, or a report with what is sent, to the first slot that it is scheduled in. nr: 3 ms; lte: 8 ms.")
        .source("lte: four subframes to the grant and four from it (recalled); nr: constructed"),
    Field::new("marking", Kind::Choice(&["none", "l4span"]), Value::Choice("none"))
        .meaning("Marks that the access network gives before the queue, by L4Span's rule: by the rate at which packets have left, and its error.")
        .source("Wan and Jamieson, L4Span, arXiv 2510.02682, 2025; its program, read"),
    Field::new("marking_threshold", SPAN, Value::Real(0.01))
        .meaning("l4span only: the time in which what waits should leave.")
        .source("L4Span's program, read: 10 ms"),
    Field::new("marking_classic_bytes", Kind::whole(Unit::Bytes, 1, 1_000_000_000), Value::Whole(225_000))
        .meaning("l4span only: bytes of all UEs from which on ECT(0) is marked, each UE's part of them.")
        .source("L4Span's program, read: 150 packets of 1,500 B"),
];

impl Cell {
    fn read(path: &str, json: &Json) -> Result<Cell, ScenarioError> {
        let mut section = Section::of(path, json)?;
        let qualities = match section.take("quality") {
            None => USUAL.to_vec(),
            Some(list) => {
                let numbers = list.as_array().filter(|list| !list.is_empty());
                let read = numbers.and_then(|list| {
                    let good = |cqi: &f64| (1.0..=15.0).contains(cqi);
                    list.iter().map(|cqi| cqi.as_f64().filter(good)).collect::<Option<Vec<f64>>>()
                });
                read.ok_or_else(|| {
                    ScenarioError(format!(
                        "{path}.quality: {list} is no list of channel qualities from 1 to 15; write for example [11, 6]"
                    ))
                })?
            }
        };
        Ok(Cell { qualities, params: section.rest(FIELDS, &["quality"])? })
    }

    /// The description as JSON, in the form in which it is read.
    pub(super) fn write(&self) -> Json {
        let mut object: Map<String, Json> = parameters::write(&self.params);
        object.insert("quality".into(), json!(self.qualities));
        Json::Object(object)
    }

    /// Number of UEs, each with a queue in both directions; client machines are spread over them.
    pub(crate) fn ues(&self) -> usize {
        self.qualities.len()
    }

    /// The settings from which a port is built.
    pub(crate) fn settings(&self, direction: Direction) -> CellSettings {
        let p = &self.params;
        let (nr, downlink) = (p.choice("profile") == "nr", direction == Direction::Forward);
        let time = |name: &str, usual: f64| packet::Duration::from_secs_f64(p.real_or(name, usual));
        let pattern = p.choice_or("pattern", if nr { "DDDSU" } else { "fdd" });
        let of = PATTERNS.iter().find(|(name, _)| *name == pattern).expect("one of the choices");
        let blocks = p.whole_or("blocks", if nr { 106 } else { 100 }) as f64;
        let layers = if downlink { p.whole("layers") as f64 } else { 1.0 };
        let overhead = p.real_or("overhead", if nr { 0.14 } else { 0.25 });
        let marking = (p.choice("marking") == "l4span").then(|| Marking {
            threshold: p.time("marking_threshold"),
            classic_bytes: p.whole("marking_classic_bytes") / self.qualities.len() as u64,
            window: 50,
        });
        CellSettings {
            downlink,
            slot: packet::Duration::from_nanos(if nr { 500_000 } else { 1_000_000 }),
            pattern: of.1[direction as usize],
            elements: blocks * 12.0 * 14.0 * layers * (1.0 - overhead),
            qualities: self.qualities.clone(),
            quality: Quality {
                table: if nr { NR } else { LTE },
                step: p.time("step"),
                moves: p.real("moves"),
                spread: p.real("spread"),
            },
            errors: [p.real("error"), p.real("retransmission_error")],
            tries: p.whole("tries") as u32,
            round: p.whole_or("round", if nr { 5 } else { 8 }),
            rlc: (p.choice("rlc") == "am").then(|| p.time("rlc_delay")),
            processing: time("processing", if nr { 0.001 } else { 0.003 }),
            window: p.real("fairness"),
            requests: [
                time("request_period", if nr { 0.005 } else { 0.010 }),
                time("grant_delay", if nr { 0.003 } else { 0.008 }),
            ],
            marking,
        }
    }
}
