//! What there is: every registry as JSON, for listing, describing and documentation.

use packet::params::{Field, Kind, Value};
use serde_json::{Value as Json, json};

use crate::schema;

fn field(field: &Field) -> Json {
    let mut out = json!({
        "name": field.name,
        "meaning": field.meaning,
        "source": field.source,
        "default": default(field.default),
        "unit": "", "min": null, "max": null, "choices": null,
    });
    let mut set = |name: &str, value: Json| out[name] = value;
    match field.kind {
        Kind::Switch => set("type", json!("switch")),
        Kind::Choice(names) => {
            set("type", json!("choice"));
            set("choices", json!(names));
        }
        Kind::Whole { unit, min, max } => {
            set("type", json!("whole"));
            set("unit", json!(unit.name()));
            set("min", json!(min));
            set("max", json!(max));
        }
        Kind::Real { unit, min, max, open } => {
            set("type", json!("real"));
            set("unit", json!(unit.name()));
            set("min", json!(min));
            set("max", if max >= 1e300 { Json::Null } else { json!(max) });
            set("min_excluded", json!(open));
        }
    }
    out
}

fn default(value: Value) -> Json {
    match value {
        Value::Unset => Json::Null,
        Value::Switch(v) => json!(v),
        Value::Whole(v) => json!(v),
        Value::Real(v) => json!(v),
        Value::Choice(v) => json!(v),
    }
}

fn fields(fields: &[Field]) -> Json {
    fields.iter().map(field).collect()
}

macro_rules! entry {
    ($e:expr $(, $extra:ident)*) => {
        json!({
            "name": $e.name, "summary": $e.summary, "year": $e.year, "source": $e.source,
            "deviations": $e.deviations, "fields": fields($e.fields),
            $(stringify!($extra): $e.$extra,)*
        })
    };
}

/// A field that is not a number: a name, a list or a table of its own.
fn structure(name: &str, kind: &str, default: &str, meaning: &str) -> Json {
    json!({
        "name": name, "type": kind, "default": default, "meaning": meaning, "source": "",
        "unit": "", "min": null, "max": null, "choices": null,
    })
}

/// A section: its structural fields, then those of its table.
fn section(structural: &[[&str; 4]], table: &[Field]) -> Json {
    let structural = structural.iter().map(|[n, k, d, m]| structure(n, k, d, m));
    structural.chain(table.iter().map(field)).collect()
}

/// Every discipline, TCP profile and application, and the sections of a scenario.
pub fn catalogue() -> Json {
    json!({
        "aqm": aqm::ALGORITHMS.iter().map(|e| entry!(e, ecn, units)).collect::<Vec<Json>>(),
        "tcp": tcp::PROFILES.iter().map(|e| entry!(e)).collect::<Vec<Json>>(),
        "traffic": traffic::APPS.iter().map(|e| entry!(e)).collect::<Vec<Json>>(),
        "scenario": {
            "": section(schema::SCENARIO_STRUCTURE, schema::SCENARIO),
            "network": section(schema::NETWORK_STRUCTURE, schema::NETWORK),
            "network.rtt": fields(schema::RTT),
            "link": section(schema::LINK_STRUCTURE, schema::LINK),
            "traffic": section(schema::TRAFFIC_STRUCTURE, schema::TRAFFIC),
            "record": section(schema::RECORD_STRUCTURE, schema::RECORD),
        },
    })
}
