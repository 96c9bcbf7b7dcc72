//! The effects of a link (`effects = [{ kind = "loss", share = 0.01 }]`), as a scenario describes
//! them.

use std::collections::BTreeMap;

use packet::params::Params;
use packet::units::{self, Unit};
use packet::{Rate, Rng};
use serde_json::{Map, Value as Json, json};
use testvec::parameters;

use super::recording::Recording;
use crate::effect::timed::Timed;
use crate::effect::{self, Built, Entry, Given, Table};
use crate::error::ScenarioError;
use crate::scenario::section::Section;
use crate::topology::Direction;

/// Keys that effects of all kinds have.
const COMMON: &[&str] = &["kind", "direction"];
/// The directions in which an effect may act.
pub(crate) const DIRECTIONS: [&str; 3] = ["both", "forward", "reverse"];
/// Largest number of rows of a table.
const MOST_ROWS: usize = 1_000_000;

/// An effect of a link, with its checked parameters.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Kind of the effect.
    pub entry: &'static Entry,
    /// Parameters of the effect.
    pub params: Params,
    /// Tables of the effect, by their names.
    pub tables: BTreeMap<&'static str, Timed>,
    /// The only direction in which it acts, if it does not act in both.
    pub only: Option<Direction>,
}

impl Effect {
    /// An effect of a kind that has one table, with its other parameters at their defaults.
    pub(super) fn of_table(kind: &str, values: Timed, only: Direction) -> Effect {
        let entry = effect::find(kind).expect("a kind of the list");
        let tables = BTreeMap::from([(entry.tables[0].name, values)]);
        Effect { entry, params: Params::defaults(entry.about.fields), tables, only: Some(only) }
    }

    /// Whether the effect acts in this direction.
    pub fn acts_on(&self, direction: Direction) -> bool {
        self.only.is_none_or(|only| only == direction)
    }

    /// Builds the effect for a line of this nominal rate.
    ///
    /// # Errors
    /// A sentence, without the path of the effect.
    pub fn build(&self, rate: Rate, rng: Rng) -> Result<Built, packet::params::BadParams> {
        (self.entry.build)(&Given { params: &self.params, tables: &self.tables, rate, rng })
    }

    pub(super) fn write(&self) -> Json {
        let mut object: Map<String, Json> = parameters::write(&self.params);
        object.insert("kind".into(), json!(self.entry.about.name));
        object.insert("direction".into(), json!(self.only.map_or("both", Direction::name)));
        for table in self.entry.tables {
            let Some(timed) = self.tables.get(table.name) else { continue };
            let pairs = timed.starts.iter().zip(&timed.values);
            let row = |(start, value): (&u64, &f64)| {
                let time = format!("{} s", *start as f64 / 1e9);
                match table.unit {
                    Unit::None => json!([time, value]),
                    unit => json!([time, format!("{value}{}", unit.suffix())]),
                }
            };
            object.insert(table.name.into(), pairs.map(row).collect());
            if let Some(period) = timed.period {
                object.insert("repeat".into(), json!(format!("{} s", period as f64 / 1e9)));
            }
        }
        Json::Object(object)
    }
}

/// Reads the list `effects` of a link.
pub(super) fn read(path: &str, json: Option<&Json>) -> Result<Vec<Effect>, ScenarioError> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let list = json.as_array().ok_or_else(|| {
        ScenarioError(format!(
            "{path}: must be a list of tables; write for example [{{ kind = \"loss\", share = 0.01 }}]"
        ))
    })?;
    list.iter().enumerate().map(|(i, one)| read_one(&format!("{path}.{i}"), one)).collect()
}

fn read_one(path: &str, json: &Json) -> Result<Effect, ScenarioError> {
    let names: Vec<&str> = effect::EFFECTS.iter().map(|entry| entry.about.name).collect();
    let (kind, mut section) = Section::variant(path, json, "kind", &names)?;
    let entry = effect::find(&kind).expect("the name was checked against the list");
    let direction = section.text("direction")?.unwrap_or_else(|| DIRECTIONS[0].to_owned());
    let only = match direction.as_str() {
        "both" => None,
        "forward" => Some(Direction::Forward),
        "reverse" => Some(Direction::Reverse),
        other => {
            return Err(ScenarioError(format!(
                "{path}.direction: {}",
                packet::params::unknown("direction", other, &DIRECTIONS)
            )));
        }
    };
    let mut read_tables = Vec::new();
    for table in entry.tables {
        if let Some(json) = section.take(table.name) {
            read_tables.push((table, read_table(&format!("{path}.{}", table.name), table, json)?));
        }
    }
    let also = entry.tables.iter().map(|table| table.name);
    let also: Vec<&str> = also.chain(COMMON.iter().copied()).collect();
    let params = section.rest(entry.about.fields, &also)?;
    let repeats = entry.about.fields.iter().any(|field| field.name == "repeat");
    let period = (repeats && params.given("repeat")).then(|| params.time("repeat").nanos());
    let mut tables = BTreeMap::new();
    for (table, timed) in read_tables {
        let timed = timed.repeated(period);
        let timed = timed.map_err(|why| ScenarioError(format!("{path}.{}: {why}", table.name)))?;
        tables.insert(table.name, timed);
    }
    let read = Effect { entry, params, tables, only };
    // The parameters are checked against each other here, with the line's rate later.
    let some_rate = Rate::from_bits_per_s(1_000_000_000_000);
    read.build(some_rate, Rng::named(0, ""))
        .map_err(|bad| ScenarioError(format!("{path}.{bad}")))?;
    Ok(read)
}

/// Reads a table: a list of pairs, or the column of a file.
fn read_table(path: &str, table: &Table, json: &Json) -> Result<Timed, ScenarioError> {
    let wrong = |why: String| ScenarioError(format!("{path}: {why}"));
    if json.is_object() {
        let mut section = Section::of(path, json)?;
        let file = section.text("file")?;
        let text = section.text("text")?.ok_or_else(|| wrong(super::recording::NO_TEXT.into()))?;
        section.rest(&[], &["file", "text"])?;
        let path = super::recording::place(path, file.as_deref());
        let wrong = |why: String| ScenarioError(format!("{path}: {why}"));
        let recording = Recording::parse(&text).map_err(wrong)?;
        return recording.column(table.column).map_err(wrong);
    }
    let example = match table.unit {
        Unit::None => "[[\"0 s\", 0], [\"15 s\", 0.02]]",
        _ => "[[\"0 s\", \"20 ms\"], [\"15 s\", \"35 ms\"]]",
    };
    let shape = || wrong(format!("must be a list of pairs; write for example {example}"));
    let rows = json.as_array().ok_or_else(shape)?;
    if rows.len() > MOST_ROWS {
        return Err(wrong(format!("{} rows are too many; at most {MOST_ROWS}", rows.len())));
    }
    let mut read = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let [time, value] = row.as_array().map(Vec::as_slice).unwrap_or(&[]) else {
            return Err(shape());
        };
        let at = format!("{path}.{i}");
        let time = quantity(&at, time, Unit::Time, 1e6)?;
        let value = quantity(&at, value, table.unit, table.most)?;
        read.push(((time * 1e9 + 0.5) as u64, value));
    }
    Timed::new(&read, None).map_err(wrong)
}

/// Reads a number with a unit, or a bare one where the unit allows it.
pub(super) fn quantity(at: &str, json: &Json, unit: Unit, most: f64) -> Result<f64, ScenarioError> {
    let value = match (json.as_f64(), json.as_str()) {
        (Some(bare), _) if unit.may_be_bare() => bare,
        (_, Some(text)) => {
            units::parse(text, unit).map_err(|why| ScenarioError(format!("{at}: {why}")))?
        }
        _ => {
            let why = format!("{at}: {json} has no unit; write {}", unit.example());
            return Err(ScenarioError(why));
        }
    };
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    let suffix = unit.suffix();
    Err(ScenarioError(format!("{at}: {json} is not between 0{suffix} and {most}{suffix}")))
}
