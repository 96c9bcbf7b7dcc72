//! Reads descriptions in JSON, from languages with a runtime of their own (Python).

use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use serde_json::Value as Json;

use tcp::{ControlFlags, EcnMode};

use crate::control::ControlDescription;
use crate::description::{Description, Judging, text};

impl Description {
    /// Reads the description of a discipline: {"name", "summary", "source", "judges", "fields"},
    /// where "judges" is true if it only admits packets. A field has "name", "meaning", "source",
    /// "type" (switch, choice, whole or real), "unit", "default" (in base units; null for none),
    /// and by its type "min", "max", "min_excluded" and "choices".
    ///
    /// # Errors
    /// A sentence on what is wrong with the description.
    pub fn read(json: &str) -> Result<Self, String> {
        let json: Json =
            serde_json::from_str(json).map_err(|why| format!("its description: {why}"))?;
        let fields = json["fields"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(Description {
            name: word(&json, "name"),
            summary: word(&json, "summary"),
            source: word(&json, "source"),
            fields: fields.iter().map(field).collect::<Result<_, _>>()?,
            judging: if json["judges"] == true { Judging::Admits } else { Judging::Holds },
        })
    }
}

impl ControlDescription {
    /// Reads the description of a congestion control: {"name", "summary", "source", "fields",
    /// "own_window", "own_marks", "paced", "rates", "ecn"}. Fields are as in [`Description::read`];
    /// `ecn` is classic, dctcp or l4s.
    ///
    /// # Errors
    /// A sentence on what is wrong with the description.
    pub fn read(json: &str) -> Result<Self, String> {
        let json: Json =
            serde_json::from_str(json).map_err(|why| format!("its description: {why}"))?;
        let fields = json["fields"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(ControlDescription {
            name: word(&json, "name"),
            summary: word(&json, "summary"),
            source: word(&json, "source"),
            fields: fields.iter().map(field).collect::<Result<_, _>>()?,
            flags: ControlFlags {
                own_window: json["own_window"] == true,
                joins_recoveries: false,
                own_marks: json["own_marks"] == true,
                paced: json["paced"] == true,
                rates: json["rates"] == true,
                ecn: match json["ecn"].as_str() {
                    Some("classic") => EcnMode::Classic,
                    Some("dctcp") => EcnMode::Dctcp,
                    Some("l4s") => EcnMode::Scalable,
                    _ => {
                        return Err(format!(
                            "its ecn is {}: write classic, dctcp or l4s",
                            json["ecn"]
                        ));
                    }
                },
            },
        })
    }
}

fn word(json: &Json, key: &str) -> &'static str {
    text(json[key].as_str().unwrap_or_default())
}

fn field(json: &Json) -> Result<Field, String> {
    let name = word(json, "name");
    let unit = Unit::named(word(json, "unit"))
        .ok_or_else(|| format!("its parameter {name} has an unknown unit, {}", json["unit"]))?;
    let default = &json["default"];
    let number = |key: &str, otherwise: f64| json[key].as_f64().unwrap_or(otherwise);
    let least = if unit == Unit::None { f64::MIN } else { 0.0 };
    let (kind, value) = match json["type"].as_str().unwrap_or_default() {
        "switch" => (Kind::Switch, default.as_bool().map(Value::Switch)),
        "choice" => {
            let names = json["choices"].as_array().map_or(&[][..], Vec::as_slice);
            let names: Vec<&str> = names.iter().filter_map(Json::as_str).map(text).collect();
            let names: &'static [&'static str] = Vec::leak(names);
            let usual = names.iter().find(|name| default == *name);
            (Kind::Choice(names), usual.map(|name| Value::Choice(name)))
        }
        "whole" => {
            let (min, max) = (number("min", 0.0).max(0.0), number("max", unit.most().min(1e15)));
            let usual = default.as_u64().map(Value::Whole);
            (Kind::whole(unit, min as u64, max as u64), usual)
        }
        "real" => {
            let (min, max) = (number("min", least), number("max", unit.most()));
            let open = json["min_excluded"] == true;
            (Kind::Real { unit, min, max, open }, default.as_f64().map(Value::Real))
        }
        other => return Err(format!("its parameter {name} is of an unknown type, {other:?}")),
    };
    if value.is_none() && !default.is_null() {
        return Err(format!("the default of its parameter {name}, {default}, is not of its type"));
    }
    let (meaning, source) = (word(json, "meaning"), word(json, "source"));
    Ok(Field::new(name, kind, value.unwrap_or(Value::Unset)).meaning(meaning).source(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_parameter_is_read() {
        let read = Description::read(
            r#"{"name": "mine", "summary": "s", "source": "", "judges": true, "fields": [
                {"name": "target", "meaning": "m", "source": "s", "type": "real", "unit": "time",
                 "default": 0.005, "min": 0, "min_excluded": true, "max": 1},
                {"name": "n", "type": "whole", "unit": "packets", "default": 3},
                {"name": "on", "type": "switch", "unit": "", "default": true},
                {"name": "how", "type": "choice", "unit": "", "default": "b", "choices": ["a", "b"]},
                {"name": "free", "type": "real", "unit": "", "default": null}]}"#,
        )
        .unwrap();
        let defaults: Vec<Value> = read.fields.iter().map(|field| field.default).collect();
        let (whole, on) = (Value::Whole(3), Value::Switch(true));
        assert_eq!(defaults, [Value::Real(0.005), whole, on, Value::Choice("b"), Value::Unset]);
        assert_eq!(read.judging, Judging::Admits);
        let wrong = r#"{"fields": [{"name": "n", "type": "whole", "unit": "", "default": 0.5}]}"#;
        let why = Description::read(wrong).unwrap_err();
        assert_eq!(why, "the default of its parameter n, 0.5, is not of its type");
    }
}
