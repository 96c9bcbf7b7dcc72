//! `wifi = { rates = […], … }` of a link: the radio channel of an access point and its stations.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{Duration, Rate, units};
use serde_json::{Map, Value as Json, json};
use testvec::parameters;

use crate::error::ScenarioError;
use crate::port::{AirtimeLimits, Timing, Turns, WifiSettings};
use crate::scenario::channel::{Channel, Kind as ChannelKind};
use crate::scenario::section::Section;
use crate::topology::Direction;

/// The Wi-Fi channel of a link, as a scenario describes it.
#[derive(Clone, Debug)]
pub struct Wifi {
    rates: Vec<Rate>,
    params: Params,
}

/// The entry of Wi-Fi in the list of channels.
pub(super) const KIND: ChannelKind = ChannelKind {
    name: "wifi",
    structure: STRUCTURE,
    fields: FIELDS,
    required: &["rates"],
    read: |path, json| Ok(Channel::Wifi(Wifi::read(path, json)?)),
};

const STRUCTURE: &[[&str; 4]] = &[[
    "rates",
    "list of rates",
    "required",
    "Rate of the physical layer of each station: client machine 0 has the first one, and so on, from the beginning again where there are more machines.",
]];

const fn micros(name: &'static str, us: f64) -> Field {
    Field::new(
        name,
        Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: true },
        Value::Real(us * 1e-6),
    )
}

const ANOMALY: &str =
    "Høiland-Jørgensen et al., Ending the Anomaly (USENIX ATC 2017), section 3.1 (recalled)";

/// Parameters of `wifi`.
const FIELDS: &[Field] = &[
    Field::new("stack", Kind::Choice(&["driver", "stations"]), Value::Choice("driver"))
        .meaning(
            "driver: the link's discipline is one queue for all stations, above the driver's FIFOs for each; \
             stations: a discipline for each station, as mac80211's FQ-CoDel for each TID, and none \
             below. Stations have one each for what they send.",
        )
        .source("Ending the Anomaly: Linux before and since 4.9 and 4.10"),
    Field::new("turns", Kind::Choice(&["round-robin", "airtime", "oldest"]), Value::Choice("round-robin"))
        .meaning(
            "How the access point serves the stations: an aggregate each in turn, or so that all get equal \
             airtime, that of what they send counted (deficits, as mac80211 since 4.11), or first the one whose first \
             packet came first; for that it takes a packet of each from its discipline.",
        )
        .source("Ending the Anomaly, section 3.2; oldest: ns-3's FcfsWifiQueueScheduler"),
    Field::new("driver", Kind::whole(Unit::Packets, 1, 100_000), Value::Whole(123))
        .meaning("Packets that the driver takes from the discipline at most (stack = \"driver\").")
        .source("ath9k.h: ATH_MAX_QDEPTH, a quarter of 512 buffers less 5"),
    Field::new("quantum", Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: true }, Value::Real(300e-6))
        .meaning("Airtime of a station in a round (turns = \"airtime\").")
        .source("mac80211's airtime scheduler (recalled)"),
    Field::new("aql", Kind::Switch, Value::Switch(false))
        .meaning(
            "Airtime queue limits (stack = \"stations\"): the driver takes frames of a station from its discipline until they \
             would keep the air busy for aql_low, or for aql_high while all together have less than aql_total.",
        )
        .source("mac80211 since Linux 5.5, with drivers of ath10k and mt76"),
    micros("aql_low", 5_000.0)
        .meaning("Airtime that a station's frames in the driver may always have (aql = true).")
        .source("include/net/cfg80211.h: IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L"),
    micros("aql_high", 12_000.0)
        .meaning("Airtime that they may have while all stations' frames have less than aql_total.")
        .source("include/net/cfg80211.h: IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H"),
    micros("aql_total", 24_000.0)
        .meaning("Airtime of all stations' frames in the driver from which on each has aql_low alone.")
        .source("include/net/cfg80211.h: IEEE80211_AQL_THRESHOLD"),
    Field::new("frames", Kind::whole(Unit::Count, 1, 1_024), Value::Whole(64))
        .meaning("Frames of an aggregate (A-MPDU) at most, those included that wait at the receiver for one that is retransmitted.")
        .source("IEEE 802.11n: window of the block acknowledgement"),
    Field::new("bytes", Kind::whole(Unit::Bytes, 1, 10_000_000), Value::Whole(65_535))
        .meaning("Bytes of an aggregate at most; 802.11ac allows 1,048,575.")
        .source("IEEE 802.11n: maximum A-MPDU length"),
    Field::new("longest", Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: true }, Value::Real(4e-3))
        .meaning("How long an aggregate may take on the air; one frame always may.")
        .source("ath9k: 4 ms, where regulation allows no more (recalled)"),
    Field::new("error", Kind::Real { unit: Unit::None, min: 0.0, max: 0.9, open: false }, Value::Real(0.0))
        .meaning("The share of frames that do not arrive and are retransmitted, each independently.")
        .source("constructed: none"),
    Field::new("tries", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(31))
        .meaning("How often a frame is sent at most; then it is lost.")
        .source("ath9k.h: ATH_MAX_SW_RETRIES is 30; ns-3 gives no frame up that a block acknowledgement covers (IncrementRetryCountUnderBa)"),
    Field::new("point_room", Kind::whole(Unit::Packets, 1, 10_000_000), Value::Unset)
        .meaning(
            "Packets that the access point may have for all its stations, from their arrival until they are acknowledged or given up, \
             those on the air included; what arrives then is dropped before a discipline sees it. Without it disciplines alone drop.",
        )
        .source("ns-3's WifiMacQueue::MaxSize; Linux has no such limit"),
    Field::new("station_room", Kind::whole(Unit::Packets, 1, 10_000_000), Value::Unset)
        .meaning("As point_room, of what each station sends.")
        .source("ns-3's WifiMacQueue::MaxSize"),
    Field::new("missed", Kind::Choice(&["retransmit", "request"]), Value::Choice("retransmit"))
        .meaning(
            "What a sender does whose block acknowledgement has not come, after a collision: it sends the frames again, or first \
             a request for the acknowledgement (BlockAckReq), for which it contends too. A frame that was alone is sent again.",
        )
        .source("ath9k's xmit.c: retransmit; ns-3: UseExplicitBarAfterMissedBlockAck"),
    micros("slot", 9.0).meaning("Slot of the backoff.").source("IEEE 802.11, 5 GHz (OFDM)"),
    micros("idle", 34.0)
        .meaning("How long the channel must be idle before slots count (DIFS; AIFS of another access category).")
        .source("IEEE 802.11: SIFS and two slots"),
    micros("sifs", 16.0).meaning("Between an aggregate and its block acknowledgement.").source("IEEE 802.11, 5 GHz"),
    micros("preamble", 32.0)
        .meaning("Preamble and header of the physical layer before an aggregate; 40 us for 802.11ac.")
        .source(ANOMALY),
    micros("block_ack", 32.0)
        .meaning("The block acknowledgement with its preamble: 32 bytes at 24 Mbit/s.")
        .source("IEEE 802.11: computed"),
    micros("request", 32.0)
        .meaning("The request for a block acknowledgement with its preamble (missed = \"request\"): 24 bytes at 24 Mbit/s.")
        .source("IEEE 802.11: computed"),
    micros("timeout", 45.0)
        .meaning("How long a sender waits for an acknowledgement to begin: SIFS, a slot and a preamble of 20 us.")
        .source("IEEE 802.11-2020, 10.3.2.11"),
    Field::new("cw_min", Kind::whole(Unit::Count, 1, 32_767), Value::Whole(15))
        .meaning("Smallest contention window, slots.")
        .source("IEEE 802.11, best effort"),
    Field::new("cw_max", Kind::whole(Unit::Count, 1, 32_767), Value::Whole(1_023))
        .meaning("Largest contention window, to which collisions double it, slots.")
        .source("IEEE 802.11, best effort"),
    Field::new("retry_limit", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(7))
        .meaning(
            "Transmissions in vain, one after the other, for which a contender's window doubles; after one more it is cw_min again \
             and the count begins anew.",
        )
        .source("IEEE 802.11-2020, 10.23.2.2: QSRC[AC] and dot11ShortRetryLimit"),
];

impl Wifi {
    /// Reads the table `wifi` of a link.
    fn read(path: &str, json: &Json) -> Result<Wifi, ScenarioError> {
        let fail = |why: &str| Err(ScenarioError(format!("{path}.rates: {why}")));
        let mut section = Section::of(path, json)?;
        let written = section.take("rates").cloned();
        let Some(list) = written.as_ref().and_then(Json::as_array).filter(|list| !list.is_empty())
        else {
            return fail("missing; write for example [\"144 Mbit/s\", \"7.2 Mbit/s\"]");
        };
        let rate = |item: &Json| {
            let text = item.as_str().unwrap_or_default();
            units::rate(text).map_err(|why| ScenarioError(format!("{path}.rates: {why}")))
        };
        let rates = list.iter().map(rate).collect::<Result<Vec<Rate>, _>>()?;
        let params = section.rest(FIELDS, &["rates"])?;
        if params.whole("cw_min") > params.whole("cw_max") {
            return Err(ScenarioError(format!(
                "{path}.cw_min: {} is more than cw_max, {}",
                params.whole("cw_min"),
                params.whole("cw_max")
            )));
        }
        if params.switch("aql") && params.choice("stack") == "driver" {
            return Err(ScenarioError(format!(
                "{path}.aql: the stack \"driver\" has a limit of its own; write stack = \"stations\""
            )));
        }
        Ok(Wifi { rates, params })
    }

    /// The description as JSON, in the form in which it is read.
    pub(super) fn write(&self) -> Json {
        let mut object: Map<String, Json> = parameters::write(&self.params);
        let rates = self.rates.iter().map(|rate| json!(format!("{} bit/s", rate.bits_per_s())));
        object.insert("rates".into(), rates.collect());
        Json::Object(object)
    }

    /// Number of stations, over which the client machines are spread.
    pub(crate) fn stations(&self) -> usize {
        self.rates.len()
    }

    /// Number of disciplines in one direction.
    pub(crate) fn disciplines(&self, direction: Direction) -> usize {
        if self.has_driver(direction) { 1 } else { self.rates.len() }
    }

    /// Whether one discipline serves all stations, above a driver's FIFOs.
    fn has_driver(&self, direction: Direction) -> bool {
        direction == Direction::Forward && self.params.choice("stack") == "driver"
    }

    /// The settings from which a port is built.
    pub(crate) fn settings(&self, direction: Direction) -> WifiSettings {
        let p = &self.params;
        let room = if direction == Direction::Forward { "point_room" } else { "station_room" };
        WifiSettings {
            rates: self.rates.clone(),
            access_point: direction == Direction::Forward,
            driver: self.has_driver(direction).then(|| p.whole("driver") as u32),
            room: Some(p.whole(room))
                .filter(|&packets| packets < u64::MAX)
                .map(|packets| packets as u32),
            aql: p.switch("aql").then(|| AirtimeLimits {
                low: p.time("aql_low"),
                high: p.time("aql_high"),
                total: p.time("aql_total"),
            }),
            turns: match p.choice("turns") {
                "airtime" => Turns::Airtime(p.time("quantum")),
                "oldest" => Turns::Oldest,
                _ => Turns::RoundRobin,
            },
            frames: p.whole("frames") as usize,
            bytes: p.whole("bytes"),
            longest: p.time("longest"),
            error: p.real("error"),
            tries: p.whole("tries") as u32,
            requests: p.choice("missed") == "request",
        }
    }

    /// The timing of the channel.
    pub(crate) fn timing(&self) -> Timing {
        let time = |name: &str| -> Duration { self.params.time(name) };
        let slots = |name: &str| self.params.whole(name) as u32;
        Timing {
            slot: time("slot"),
            idle: time("idle"),
            sifs: time("sifs"),
            preamble: time("preamble"),
            block_ack: time("block_ack"),
            request: time("request"),
            timeout: time("timeout"),
            window: (slots("cw_min"), slots("cw_max")),
            retry_limit: slots("retry_limit"),
        }
    }
}
