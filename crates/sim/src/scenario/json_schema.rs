//! The JSON schema (draft 2020-12) of scenario files, for editors that complete and check them. It
//! is made from the tables that the checks of scenarios read. Quantities are text whose unit a
//! pattern matches; dependencies between fields are left to the checks.

use packet::About;
use packet::params::{Field, Kind, Value};
use packet::units::Unit;
use serde_json::{Map, Value as Json, json};
use traffic::distribution::shipped;

use super::channel::CHANNELS;
use super::{access, end_system, schema};
use crate::effect::EFFECTS;

/// The schema of a scenario. Its `$defs` are for formats that build on it (experiments): there
/// `scenario` requires no key, since missing ones may come from elsewhere.
pub fn json_schema() -> Json {
    let scenario = table(schema::SCENARIO_STRUCTURE, &[schema::SCENARIO]);
    // Properties are repeated and not referenced: editors do not know `unevaluatedProperties`.
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of aqmlab",
        "type": "object",
        "properties": scenario["properties"],
        "required": ["duration", "link", "traffic"],
        "additionalProperties": false,
        "$defs": {
            "scenario": scenario,
            "network": table(schema::NETWORK_STRUCTURE, &[schema::NETWORK]),
            "record": table(schema::RECORD_STRUCTURE, &[schema::RECORD]),
            "link": table(schema::LINK_STRUCTURE, &[schema::LINK]),
            "rtt": any([
                reference("time"),
                list(reference("time")),
                json!({"const": schema::TCPEVAL}),
                table(&[], &[schema::RTT]),
            ]),
            "effect": effects(),
            "trace": any([
                json!({"const": "none"}),
                trace_file(),
                table(&[], &[schema::TRACE]),
            ]),
            "script": table(schema::SCRIPT_STRUCTURE, &[schema::SCRIPT]),
            "start_after": table(schema::START_AFTER_STRUCTURE, &[schema::START_AFTER]),
            "numbers": any([count(), list(count())]),
            "steps": list(json!({
                "type": "array", "prefixItems": [reference("time"), reference("rate")],
                "minItems": 2, "items": false,
            })),
            "distribution": distribution(),
            "congestion": variants("name", tcp::controls().map(parts), &[]),
            "number": quantity(Unit::None, ""),
            "packets": quantity(Unit::Packets, ""),
            "bytes": quantity(Unit::Bytes, ""),
            "count": quantity(Unit::Count, ""),
            "time": quantity(Unit::Time, "A time."),
            "rate": quantity(Unit::Rate, "A rate."),
            "queue": variants("aqm", aqm::ALGORITHMS.iter().map(|e| parts(&e.about)), &[]),
            "tcp": variants("profile", tcp::PROFILES.iter().map(|e| parts(&e.about)), end_system::ALIASES),
            "traffic": one_of(traffic::APPS.iter().map(application)),
        },
    });
    for kind in CHANNELS {
        let own = properties(kind.structure, &[kind.fields]);
        schema["$defs"][kind.name] = object(own, kind.required);
    }
    schema
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn any(of: impl Into<Vec<Json>>) -> Json {
    json!({"anyOf": of.into()})
}

fn one_of(of: impl Iterator<Item = Json>) -> Json {
    json!({"oneOf": of.collect::<Vec<Json>>()})
}

fn list(of: Json) -> Json {
    json!({"type": "array", "items": of})
}

fn text(name: &str) -> (String, Json) {
    (name.to_owned(), json!({"type": "string"}))
}

fn count() -> Json {
    json!({"type": "integer", "minimum": 1})
}

/// Schema of a table that has these keys and no others.
fn object(properties: Map<String, Json>, required: &[&str]) -> Json {
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

fn table(structural: &[[&str; 4]], fields: &[&[Field]]) -> Json {
    object(properties(structural, fields), &[])
}

fn properties(structural: &[[&str; 4]], fields: &[&[Field]]) -> Map<String, Json> {
    let structural = structural.iter().flat_map(|[names, _, _, meaning]| {
        names.split(", ").map(|name| (name.to_owned(), described(structure(name), meaning)))
    });
    structural.chain(fields.iter().copied().flatten().map(property)).collect()
}

fn described(mut of: Json, meaning: &str) -> Json {
    of["description"] = json!(meaning);
    of
}

/// Schema of the value of a key that is not a parameter, in any section.
fn structure(name: &str) -> Json {
    match name {
        "name" | "group" => text(name).1,
        "kind" => text(name).1,
        "direction" => json!({"enum": super::effects::DIRECTIONS}),
        "network" | "record" | "rtt" | "tcp" | "start_after" => reference(name),
        "link" | "traffic" | "script" => list(reference(name)),
        "forward" | "reverse" => reference("queue"),
        "drop" | "mark" | "sent" => reference("numbers"),
        // `flows` is another word for users or, in a rule of a script, the numbers of users.
        "flows" => any([reference("count"), reference("numbers")]),
        "via" | "queues" => list(text(name).1),
        "effects" => list(reference("effect")),
        _ if CHANNELS.iter().any(|kind| kind.name == name) => reference(name),
        "rates" => list(reference("rate")),
        "quality" => list(json!({"type": "number"})),
        "access" => json!({"enum": access::names()}),
        "app" => {
            json!({"enum": traffic::APPS.iter().map(|app| app.about.name).collect::<Vec<_>>()})
        }
        "rate_steps" | "reverse_rate_steps" => reference("steps"),
        "rate_repeat" | "reverse_rate_repeat" => reference("time"),
        "rate_trace" | "reverse_rate_trace" => reference("trace"),
        other => unreachable!("a test covers every structural field, also for {other}"),
    }
}

/// Name and schema of a parameter.
fn property(field: &Field) -> (String, Json) {
    let of = match field.kind {
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Choice(names) => json!({"enum": names}),
        Kind::Variant(known) if names(known.iter().copied()).eq(names(tcp::controls())) => {
            reference("congestion")
        }
        Kind::Variant(known) => variants("name", known.iter().copied().map(parts), &[]),
        Kind::Whole { unit, min, max } => {
            any([json!({"type": "integer", "minimum": min, "maximum": max}), in_units(unit)])
        }
        Kind::Real { unit, min, max, open } => real(unit, (min, max), open),
        Kind::Distribution { unit } => {
            any([json!({"type": "number"}), in_units(unit), reference("distribution")])
        }
        Kind::File => {
            any([text("file").1, object(Map::from_iter([text("file"), text("text")]), &["file"])])
        }
    };
    let mut of = described(of, field.meaning);
    if let Some(default) = default(field) {
        of["default"] = default;
    }
    (field.name.to_owned(), of)
}

fn names(known: impl Iterator<Item = &'static About>) -> impl Iterator<Item = &'static str> {
    known.map(|about| about.name)
}

fn parts(about: &'static About) -> (&'static str, &'static str, &'static [Field]) {
    (about.name, about.summary, about.fields)
}

fn real(unit: Unit, (min, max): (f64, f64), open: bool) -> Json {
    if !unit.may_be_bare() {
        return quantity(unit, "");
    }
    let mut number = json!({"type": "number"});
    number[if open { "exclusiveMinimum" } else { "minimum" }] = json!(min);
    if max < 1e300 {
        number["maximum"] = json!(max);
    }
    any([number, in_units(unit)])
}

/// Reference to the definition of quantities of this kind.
fn in_units(unit: Unit) -> Json {
    reference(if unit == Unit::None { "number" } else { unit.name() })
}

/// Schema of a number with a unit of this kind, as text.
fn quantity(unit: Unit, meaning: &str) -> Json {
    let units: Vec<&str> = unit.written().collect();
    let pattern = format!(r"^\s*[-+0-9.][-+0-9.eE/]*\s*({})\s*$", units.join("|"));
    let of = json!({"type": "string", "pattern": pattern});
    if meaning.is_empty() {
        of
    } else {
        described(of, &format!("{meaning} Write {}.", unit.example()))
    }
}

/// Schema of a distribution: the name of a shipped table, or a table with the fields of its kind.
fn distribution() -> Json {
    let names = schema::DISTRIBUTION_STRUCTURE.iter().map(|row| row[0]);
    let kinds: Vec<&str> = names.filter(|name| !name.contains(['(', ','])).collect();
    let shipped: Vec<&str> = shipped::TABLES.iter().map(|each| each.name).collect();
    any([
        json!({"enum": shipped}),
        json!({"type": "object", "properties": {"dist": {"enum": kinds}}, "required": ["dist"]}),
    ])
}

fn default(field: &Field) -> Option<Json> {
    let with_unit = |v: f64| match field.kind {
        Kind::Real { unit, .. } if !unit.may_be_bare() => json!(format!("{v}{}", unit.suffix())),
        _ => json!(v),
    };
    match field.default {
        Value::Unset | Value::Written(_) => None,
        Value::Switch(v) => Some(json!(v)),
        Value::Whole(v) => Some(json!(v)),
        Value::Real(v) => Some(with_unit(v)),
        Value::Choice(v) => Some(json!(v)),
    }
}

/// Schema of a choice among variants: a bare name, or a table with the name under `key` and the
/// variant's own fields; `aliases` are other names of some fields.
fn variants<'a>(
    key: &str,
    known: impl Iterator<Item = (&'a str, &'a str, &'a [Field])> + Clone,
    aliases: &[(&str, &str)],
) -> Json {
    let names: Vec<&str> = known.clone().map(|(name, ..)| name).collect();
    let tables = known.map(|(name, summary, fields)| {
        let mut own = properties(&[], &[fields]);
        for (alias, of) in aliases {
            if let Some(meant) = own.get(*of).cloned() {
                own.insert((*alias).to_owned(), meant);
            }
        }
        own.insert(key.to_owned(), json!({"const": name}));
        described(object(own, &[key]), summary)
    });
    one_of(std::iter::once(json!({"enum": names})).chain(tables))
}

/// Schema of a trace or a recorded line in a file.
fn trace_file() -> Json {
    let mut own = properties(&[], &[schema::TRACE_FILE]);
    own.extend([text("file"), text("text")]);
    object(own, &[])
}

/// Schema of one effect of a link: its kind alone, or a table with its parameters and its tables.
fn effects() -> Json {
    let names: Vec<&str> = EFFECTS.iter().map(|entry| entry.about.name).collect();
    let tables = EFFECTS.iter().map(|entry| {
        let mut own = properties(schema::EFFECT_STRUCTURE, &[entry.about.fields]);
        own.insert("kind".to_owned(), json!({"const": entry.about.name}));
        for table in entry.tables {
            let value = match table.unit {
                Unit::None => any([json!({"type": "number"}), in_units(Unit::None)]),
                unit => in_units(unit),
            };
            let pair = json!({
                "type": "array", "prefixItems": [reference("time"), value], "minItems": 2,
                "items": false,
            });
            let file = object(Map::from_iter([text("file"), text("text")]), &["file"]);
            own.insert(table.name.to_owned(), described(any([list(pair), file]), table.meaning));
        }
        described(object(own, &["kind"]), entry.about.summary)
    });
    one_of(std::iter::once(json!({"enum": names})).chain(tables))
}

fn application(of: &traffic::Entry) -> Json {
    let mut own = properties(schema::TRAFFIC_STRUCTURE, &[schema::TRAFFIC, of.about.fields]);
    own.insert("app".to_owned(), json!({"const": of.about.name}));
    described(object(own, &["app"]), of.about.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let all = json_schema();
        for found in all.to_string().split("\"#/$defs/").skip(1) {
            let name = found.split('"').next().expect("it ends");
            assert!(all["$defs"].get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_discipline_profile_and_application_has_its_own_table() {
        let all = json_schema();
        let tables = |name: &str| all["$defs"][name]["oneOf"].as_array().unwrap().len();
        assert_eq!(tables("queue"), aqm::ALGORITHMS.len() + 1);
        assert_eq!(tables("tcp"), tcp::PROFILES.len() + 1);
        assert_eq!(tables("traffic"), traffic::APPS.len());
        assert_eq!(tables("effect"), EFFECTS.len() + 1);
        let mut queues = all["$defs"]["queue"]["oneOf"].as_array().unwrap().iter();
        let red = queues.rfind(|one| one["properties"]["aqm"]["const"] == "red").unwrap();
        assert_eq!(red["properties"]["max_p"]["anyOf"][0]["maximum"], 1.0);
    }

    /// The schema of the table of a variant.
    fn variant<'a>(all: &'a Json, kind: &str, key: &str, name: &str) -> &'a Json {
        let mut tables = all["$defs"][kind]["oneOf"].as_array().unwrap().iter();
        tables.find(|one| one["properties"][key]["const"] == name).unwrap()
    }

    #[test]
    fn structural_keys_hold_text_lists_and_tables() {
        let all = json_schema();
        let top = &all["properties"];
        assert_eq!(top["name"]["type"], "string");
        assert_eq!(top["network"]["$ref"], "#/$defs/network");
        assert_eq!(top["link"]["type"], "array");
        assert_eq!(top["link"]["items"]["$ref"], "#/$defs/link");
        let whole = json!({"type": "integer", "minimum": 1});
        let several = json!({"type": "array", "items": whole});
        assert_eq!(all["$defs"]["numbers"], json!({"anyOf": [whole, several]}));
        let network = &all["$defs"]["network"];
        assert_eq!(
            [&network["type"], &network["additionalProperties"]],
            [&json!("object"), &json!(false)]
        );
        assert!(network["properties"]["clients"].is_object());
        let trace = all["$defs"]["trace"]["anyOf"][1]["properties"].as_object().unwrap();
        assert!(trace.keys().eq(["bytes", "file", "text"]));
    }

    #[test]
    fn applications_have_their_own_keys_and_those_of_all_groups() {
        let all = json_schema();
        let bulk = variant(&all, "traffic", "app", "bulk");
        assert_eq!(bulk["required"], json!(["app"]));
        for key in ["users", "tcp", "bytes"] {
            assert!(bulk["properties"][key].is_object(), "{key}");
        }
        assert!(!bulk["description"].as_str().unwrap().is_empty());
    }

    #[test]
    fn congestion_of_tcp_is_described_once_and_other_variants_where_they_stand() {
        let all = json_schema();
        let linux = &variant(&all, "tcp", "profile", "linux")["properties"]["congestion"];
        assert_eq!(linux["$ref"], "#/$defs/congestion");
        let rtc = &variant(&all, "traffic", "app", "rtc-video")["properties"]["congestion"];
        let names = rtc["oneOf"][0]["enum"].as_array().unwrap();
        assert!(names.contains(&json!("gcc")) && !names.contains(&json!("cubic")), "{names:?}");
    }

    #[test]
    fn quantities_have_units_and_defaults_are_as_one_writes_them() {
        let all = json_schema();
        let pattern = all["$defs"]["time"]["pattern"].as_str().unwrap();
        assert!(pattern.contains("|ms|") || pattern.contains("(ms|"), "{pattern}");
        let network = &all["$defs"]["network"]["properties"];
        assert_eq!(network["clients"]["anyOf"][1]["$ref"], "#/$defs/count");
        assert_eq!(network["clients"]["default"], 7);
        assert_eq!(network["delay_tick"]["default"], "0 s");
        let avq = &variant(&all, "queue", "aqm", "avq")["properties"];
        assert_eq!(avq["gamma"]["anyOf"][1]["$ref"], "#/$defs/number");
        assert_eq!(avq["gamma"]["default"], 0.98);
        let distribution = &all["$defs"]["distribution"]["anyOf"];
        let kinds = distribution[1]["properties"]["dist"]["enum"].as_array().unwrap();
        assert!(kinds.contains(&json!("exponential")), "{kinds:?}");
    }
}
