//! The description of one trial, read from JSON.

use aqm::{Entry, Registry};
use packet::params::unknown;
use packet::{Instant, Packet, Rate, Rng};
use serde_json::{Map, Value as Json, json};

use crate::traffic::{Traffic, arrivals};
use crate::{Trial, parameters, words};

/// The description of a trial: a discipline with its parameters, a line, a seed and the arrivals.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case shows, in a few words.
    pub title: String,
    /// The discipline.
    pub entry: &'static Entry,
    /// Parameters of the discipline as a user writes them.
    pub parameters: Map<String, Json>,
    /// Rate of the line.
    pub rate: Rate,
    /// Seed of the random stream, and of the packets if they are random.
    pub seed: u64,
    /// The packets that arrive.
    pub arrivals: Arrivals,
}

/// The packets that arrive.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Random packets.
    Random(Traffic),
    /// The listed packets, in order of arrival time.
    Listed(Vec<Packet>),
}

const KEYS: [&str; 10] = [
    "title",
    "discipline",
    "parameters",
    "line_bits_per_s",
    "seed",
    "packets",
    "flows",
    "load",
    "headers",
    "arrivals",
];

impl Case {
    /// Reads a case for a discipline of the registry. Defaults of missing keys: parameters {},
    /// line_bits_per_s 10000000, seed 1, packets 60, flows 7, load 1, headers false. The last four
    /// describe the random packets that arrive if there is no list `arrivals` of {"at_ns",
    /// "packet"}.
    ///
    /// # Errors
    /// One sentence that names the key at fault and the remedy.
    pub fn read(json: &Json, registry: &Registry) -> Result<Self, String> {
        let object = json.as_object().ok_or("the request must be a table")?;
        let name = object.get("discipline").and_then(Json::as_str);
        let entry = name.map(|name| parameters::find(name, registry)).transpose()?;
        Case::of(entry, object)
    }

    /// Reads a case for this discipline.
    pub(crate) fn of(
        entry: Option<&'static Entry>,
        object: &Map<String, Json>,
    ) -> Result<Self, String> {
        if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("{key}: {}", unknown("key", key, &KEYS)));
        }
        let entry = entry.ok_or("discipline: missing; name one as text")?;
        let parameters = match object.get("parameters") {
            None => Map::new(),
            Some(Json::Object(parameters)) => parameters.clone(),
            Some(other) => return Err(format!("parameters: must be a table, not {other}")),
        };
        let whole = |key: &str, default: u64, min: u64, max: u64| match object.get(key) {
            None => Ok(default),
            Some(v) => v
                .as_u64()
                .filter(|v| (min..=max).contains(v))
                .ok_or_else(|| format!("{key}: {v} is not a whole number from {min} to {max}")),
        };
        let rate = whole("line_bits_per_s", 10_000_000, 1_000, 1_000_000_000_000)?;
        let listed = object.get("arrivals").map(listed).transpose()?;
        let random = Traffic {
            packets: whole("packets", 60, 1, 200_000)? as u32,
            flows: whole("flows", 7, 1, u64::from(u32::MAX))?,
            load: load(object.get("load"))?,
            headers: match object.get("headers") {
                None => false,
                Some(Json::Bool(v)) => *v,
                Some(other) => return Err(format!("headers: {other} is neither true nor false")),
            },
        };
        let drawn = ["packets", "flows", "load", "headers"];
        if let Some(key) = drawn.iter().find(|k| listed.is_some() && object.contains_key(**k)) {
            return Err(format!("{key}: says how packets are drawn, but arrivals lists them"));
        }
        Ok(Case {
            title: object.get("title").and_then(Json::as_str).unwrap_or("a trial").to_owned(),
            entry,
            parameters,
            rate: Rate::from_bits_per_s(rate),
            seed: whole("seed", 1, 0, u64::MAX)?,
            arrivals: listed.map_or(Arrivals::Random(random), Arrivals::Listed),
        })
    }

    /// The random stream that the discipline draws from.
    pub fn stream(&self) -> Rng {
        Rng::named(self.seed, "draws")
    }

    /// Carries out the trial until no packet waits.
    ///
    /// # Errors
    /// One sentence, if the discipline refuses its parameters or the trial does not end.
    pub fn run(&self) -> Result<Trial, String> {
        let parameters = json!(self.parameters);
        let discipline = parameters::construct(self.entry, &parameters, self.rate)?;
        let mut trial = Trial::new(discipline, self.rate, self.stream());
        let packets = match &self.arrivals {
            Arrivals::Random(traffic) => arrivals(*traffic, self.rate, self.seed),
            Arrivals::Listed(packets) => packets.clone(),
        };
        for packet in packets {
            trial.arrive(packet)?;
        }
        trial.finish()?;
        Ok(trial)
    }
}

fn load(json: Option<&Json>) -> Result<f64, String> {
    let Some(json) = json else { return Ok(1.0) };
    let fits = |v: &f64| (0.001..=1000.0).contains(v);
    json.as_f64()
        .filter(fits)
        .ok_or_else(|| format!("load: {json} is not a number from 0.001 to 1000"))
}

fn listed(json: &Json) -> Result<Vec<Packet>, String> {
    let items = json.as_array().ok_or("arrivals: must be a list of {\"at_ns\", \"packet\"}")?;
    let mut packets = Vec::with_capacity(items.len());
    let (mut last, mut ids) = (0, std::collections::HashSet::new());
    for (i, item) in items.iter().enumerate() {
        let at = format!("arrivals.{i}");
        let object = item.as_object().ok_or_else(|| format!("{at}: must be a table"))?;
        if let Some(key) = object.keys().find(|k| *k != "at_ns" && *k != "packet") {
            return Err(format!("{at}.{key}: {}", unknown("key", key, &["at_ns", "packet"])));
        }
        let now = object.get("at_ns").and_then(Json::as_u64).filter(|now| *now >= last);
        last = now.ok_or_else(|| {
            format!("{at}.at_ns: must be a whole number of nanoseconds, at least {last}")
        })?;
        let packet = object.get("packet").unwrap_or(&Json::Null);
        let path = format!("{at}.packet");
        let packet = words::packet(packet, &path, i as u32, Instant::from_nanos(last))?;
        if !ids.insert(packet.id) {
            return Err(format!("{path}.id: {} comes twice; ids are unique", packet.id));
        }
        packets.push(packet);
    }
    Ok(packets)
}
