//! Conversion of parameters between JSON and the registry's tables.

use aqm::{Discipline, Entry, Line, Registry};
use packet::Rate;
use packet::params::{BadParams, Field, Kind, Params, Raw, Value, unknown};
use packet::units::Unit;
use serde_json::{Map, Value as Json, json};

/// Converts a JSON value into a raw parameter value.
pub fn raw(json: &Json) -> Raw {
    match json {
        Json::Bool(v) => Raw::Bool(*v),
        Json::Number(v) => Raw::Number(v.as_f64().unwrap_or(f64::NAN)),
        Json::String(v) => Raw::Text(v.clone()),
        Json::Null => Raw::Other("nothing"),
        Json::Array(items) => Raw::List(items.iter().map(raw).collect()),
        Json::Object(fields) => {
            Raw::Table(fields.iter().map(|(name, value)| (name.clone(), raw(value))).collect())
        }
    }
}

/// Converts a raw parameter value into JSON.
pub(crate) fn unread(raw: &Raw) -> Json {
    match raw {
        Raw::Bool(v) => json!(v),
        Raw::Number(v) => json!(v),
        Raw::Text(v) => json!(v),
        Raw::List(items) => items.iter().map(unread).collect(),
        Raw::Table(fields) => {
            Json::Object(fields.iter().map(|(name, raw)| (name.clone(), unread(raw))).collect())
        }
        Raw::Other(_) => Json::Null,
    }
}

/// Every set parameter as JSON that reads back to the same value.
pub fn write(params: &Params) -> Map<String, Json> {
    let mut object = write_values(params.iter());
    for (field, value) in params.iter() {
        if let Value::Written(_) = value {
            let written = params.distribution(field.name).map_or(Json::Null, unread);
            object.insert(field.name.to_owned(), written);
        } else if let Some(own) = params.variant_table(field.name) {
            let mut table = write(own);
            table.insert("name".to_owned(), json!(value.to_string()));
            object.insert(field.name.to_owned(), Json::Object(table));
        }
    }
    object
}

/// Every set value as JSON that reads back to the same value; distributions are left out.
pub fn write_values(
    values: impl IntoIterator<Item = (&'static Field, Value)>,
) -> Map<String, Json> {
    let mut object = Map::new();
    for (field, value) in values {
        let json = match value {
            Value::Unset | Value::Written(_) => continue,
            Value::Switch(v) => json!(v),
            Value::Whole(v) => json!(v),
            Value::Choice(v) => json!(v),
            Value::Real(v) => match field.kind {
                Kind::Real { unit: Unit::Time, .. } => json!(format!("{v} s")),
                Kind::Real { unit: Unit::Rate, .. } => json!(format!("{v} bit/s")),
                _ => json!(v),
            },
        };
        object.insert(field.name.to_owned(), json);
    }
    object
}

/// The registry's entry called `name`.
///
/// # Errors
/// A sentence with the nearest known name, if the registry has no such discipline.
pub fn find(name: &str, registry: &Registry) -> Result<&'static Entry, String> {
    let known = || unknown("discipline", name, &registry.names());
    registry.find(name).ok_or_else(|| format!("discipline: {}", known()))
}

/// Constructs the built-in discipline called `name`; see [`construct`].
///
/// # Errors
/// One sentence, if the name is unknown or [`construct`] fails.
pub fn build(name: &str, parameters: &Json, rate: Rate) -> Result<Box<dyn Discipline>, String> {
    construct(find(name, &Registry::ours())?, parameters, rate)
}

/// Constructs a discipline for a line of `rate`. `parameters` is a JSON object as in a scenario;
/// null or empty for the defaults.
///
/// # Errors
/// One sentence that begins with the path `parameters.<field>`, if a parameter is unknown, out of
/// range, or contradicts another.
pub fn construct(
    entry: &Entry,
    parameters: &Json,
    rate: Rate,
) -> Result<Box<dyn Discipline>, String> {
    let written: Vec<(String, Raw)> = match parameters {
        Json::Null => Vec::new(),
        Json::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), raw(v))).collect(),
        other => return Err(format!("parameters: must be a table, not {other}")),
    };
    let at = |bad: BadParams| format!("parameters.{}: {}", bad.field, bad.why);
    let params = Params::check(entry.about.fields, &written).map_err(at)?;
    let built = entry.construct(&params, &Line::of(rate)).map_err(at)?;
    Ok(built.into_discipline())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_to_the_same_parameters() {
        for entry in aqm::ALGORITHMS {
            let params = Params::defaults(entry.about.fields);
            for (name, json) in write(&params) {
                let field = entry.about.fields.iter().find(|f| f.name == name).unwrap();
                assert_eq!(
                    field.read(&raw(&json)),
                    Ok(params.value(&name)),
                    "{}",
                    entry.about.name
                );
            }
        }
    }

    #[test]
    fn every_mistake_is_one_sentence_with_its_path() {
        let rate = Rate::from_bits_per_s(1_000_000);
        let why = |name: &str, parameters| build(name, &parameters, rate).err().unwrap();
        let [first, ..] = aqm::ALGORITHMS else { unreachable!() };
        assert!(why("no such", json!({})).starts_with("discipline: unknown discipline"));
        let sentence = why(first.about.name, json!({"limitt": 3}));
        assert!(sentence.starts_with("parameters.limitt: unknown field"), "{sentence}");
        assert!(sentence.contains("did you mean \"limit\"?"), "{sentence}");
        let sentence = why(first.about.name, json!({"limit": 0.5}));
        assert_eq!(sentence, "parameters.limit: 0.5 is not a whole number between 1 and 100000000");
        assert_eq!(why(first.about.name, json!([1])), "parameters: must be a table, not [1]");
    }
}
