//! `docsis = { … }` of a link: the upstream of a cable modem, in requests and grants.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Framing, Rate};
use serde_json::Value as Json;
use testvec::parameters;

use crate::error::ScenarioError;
use crate::port::DocsisSettings;
use crate::scenario::channel::{Channel, Kind as ChannelKind};
use crate::scenario::section::Section;

/// The entry of DOCSIS in the list of channels.
pub(super) const KIND: ChannelKind = ChannelKind {
    name: "docsis",
    structure: &[],
    fields: FIELDS,
    required: &[],
    read: |path, json| Ok(Channel::Docsis(Docsis::read(path, json)?)),
};

/// The DOCSIS upstream of a link, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Docsis {
    params: Params,
}

const SPAN: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: true };
const SHARE: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false };
const MODEL: &str = "CableLabs' ns-3 model of DOCSIS 3.1 (docsis-ns3, read)";

const FIELDS: &[Field] = &[
    Field::new("channel", Kind::from(Unit::Rate, 1.0, 1e15), Value::Real(100e6))
        .meaning("Rate of the channel, at which the modem sends in a grant. The link's reverse_rate is the contract's (Maximum Sustained Traffic Rate).")
        .source("constructed: a few SC-QAM channels, or a small OFDMA channel"),
    Field::new("map_interval", Kind::from(Unit::Time, 1e-4, 1.0), Value::Real(2e-3))
        .meaning("Length of a MAP interval.")
        .source(MODEL),
    Field::new("lead", SPAN, Value::Real(1.12e-3))
        .meaning(
            "How long before an interval its MAP is made: 0.2 ms for the CMTS, 0.17 ms of interleaving and symbols downstream, \
             8 km of cable, and 0.76 ms for which the modem must have it before.",
        )
        .source("CableLabs' ns-3 model of DOCSIS 3.1 (docsis-ns3, read): computed from its defaults; DOCSIS 3.1, MULPI, Annex B"),
    Field::new("request", SPAN, Value::Real(0.45e-3))
        .meaning("How long a request takes until the scheduler knows it: three OFDMA frames and 8 km of cable.")
        .source("CableLabs' ns-3 model of DOCSIS 3.1 (docsis-ns3, read): computed from its defaults"),
    Field::new("frame", SPAN, Value::Real(0.138e-3))
        .meaning("Length of an OFDMA frame: a modem fills a grant one frame before it begins, and packets have arrived two frames after their end.")
        .source("CableLabs' ns-3 model of DOCSIS 3.1 (docsis-ns3, read): 6 symbols of 20 us and 2.5 us of prefix, rounded to 138 us"),
    Field::new("burst", Kind::whole(Unit::Bytes, 1, 1_000_000_000), Value::Unset)
        .meaning("Bytes that the contract lets through at once (Maximum Traffic Burst), by default what its rate carries in two MAP intervals, and at least 3,044.")
        .source("DOCSIS 3.1, MULPI, C.2.2.7.4: 3,044 B (recalled); the rest constructed, since it would bound the rate"),
    Field::new("free", Kind::above(Unit::None, 0.0, 1.0), Value::Real(1.0))
        .meaning("The share of the channel that neighbours leave to this modem.")
        .source("constructed: all of it"),
    Field::new("free_varies", SHARE, Value::Real(0.0))
        .meaning("By which share of that it varies from one MAP interval to the next, uniformly and up to the whole channel.")
        .source("constructed: not at all"),
    Field::new("collisions", Kind::Real { unit: Unit::None, min: 0.0, max: 0.9, open: false }, Value::Real(0.0))
        .meaning(
            "The share of requests in contention that meet another modem's: they are retransmitted in one of 1, 2, 4, … later \
             intervals. Piggybacked requests never do.",
        )
        .source("constructed: none, as in docsis-ns3"),
    Field::new("weight", SHARE, Value::Real(230.0 / 256.0))
        .meaning("The share of a MAP's bytes that the low latency service flow gets first, where the discipline has one.")
        .source("CableLabs' ns-3 model of DOCSIS 3.1 (docsis-ns3, read): 230 of 256"),
    Field::new("guaranteed", Kind::from(Unit::Rate, 1.0, 1e15), Value::Unset)
        .meaning(
            "Rate at which the low latency service flow gets grants without requests, at the begin of each MAP interval \
             (Proactive Grant Service).",
        )
        .source("constructed: none"),
    Field::new("frame_header", Kind::whole(Unit::Bytes, 0, 246), Value::Whole(10))
        .meaning("MAC header of each frame in a grant; the contract does not count it.")
        .source(MODEL),
    Field::new("grant_header", Kind::whole(Unit::Bytes, 0, 246), Value::Whole(8))
        .meaning("Segment header of each grant.")
        .source(MODEL),
];

impl Docsis {
    fn read(path: &str, json: &Json) -> Result<Docsis, ScenarioError> {
        let params = Section::of(path, json)?.rest(FIELDS, &[])?;
        if params.time("lead") < params.time("frame") {
            return Err(ScenarioError(format!(
                "{path}.lead: {} s is less than a frame, {} s; a modem fills a grant a frame before it begins",
                params.real("lead"),
                params.real("frame")
            )));
        }
        Ok(Docsis { params })
    }

    /// The description as JSON, in the form in which it is read.
    pub(super) fn write(&self) -> Json {
        Json::Object(parameters::write(&self.params))
    }

    /// The settings from which a port is built.
    pub(crate) fn settings(&self, rate: Rate, framing: Framing) -> DocsisSettings {
        let p = &self.params;
        let two = rate.bytes_per_s() * 2.0 * p.real("map_interval");
        DocsisSettings {
            rate,
            burst: p.whole_or("burst", (two as u64).max(3_044)),
            channel: p.rate("channel"),
            interval: p.time("map_interval"),
            lead: p.time("lead"),
            request: p.time("request"),
            frame: p.time("frame"),
            free: (p.real("free"), p.real("free_varies")),
            collisions: p.real("collisions"),
            weight: p.real("weight"),
            guaranteed: p.given("guaranteed").then(|| p.rate("guaranteed")),
            headers: (p.whole("frame_header"), p.whole("grant_header")),
            framing,
        }
    }
}
