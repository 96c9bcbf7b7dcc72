//! All registries as JSON, for listing, describing and documentation.

use packet::About;
use packet::params::{Field, Kind, Value, unknown};
use packet::units::Unit;
use record::{Description, Listed};
use serde_json::{Value as Json, json};
use traffic::distribution::{Distribution, Summary};

use crate::effect;
use crate::error::ScenarioError;
use crate::recorder;
use crate::scenario::channel::CHANNELS;
use crate::scenario::{access, schema};

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
        Kind::Variant(known) => {
            set("type", json!("choice"));
            set("choices", known.iter().map(|about| json!(about.name)).collect());
        }
        Kind::Distribution { unit } => {
            set("type", json!("distribution"));
            set("unit", json!(unit.name()));
        }
        Kind::File => set("type", json!("file")),
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
        Value::Written(_) => Json::Null,
    }
}

fn fields(fields: &[Field]) -> Json {
    fields.iter().map(field).collect()
}

/// The description of a registry's entry as JSON.
fn about(of: &About) -> Json {
    json!({
        "name": of.name, "summary": of.summary, "year": of.year, "source": of.source,
        "deviations": of.deviations, "fields": fields(of.fields),
    })
}

/// A queue discipline's entry of the catalogue.
pub fn discipline(of: &aqm::Entry) -> Json {
    let mut out = about(&of.about);
    out["ecn"] = json!(of.ecn);
    out["units"] = json!(of.units);
    out
}

/// A congestion control's entry of the catalogue.
pub fn congestion_control(of: &About) -> Json {
    about(of)
}

macro_rules! entry {
    ($e:expr) => {
        json!({
            "name": $e.name, "summary": $e.summary, "year": $e.year, "source": $e.source,
            "deviations": $e.deviations, "fields": fields($e.fields),
        })
    };
}

fn application(of: &traffic::Entry) -> Json {
    let mut out = about(&of.about);
    out["models"] = models(of.about.name);
    out["open_loop"] = json!(of.is_open_loop());
    out["noun"] = json!(of.noun);
    out["fetches"] = json!(of.fetches);
    out["datagrams"] = json!(of.datagrams);
    out
}

fn kind_of_access(of: &access::Entry) -> Json {
    let mut out = about(&of.about);
    out["fields"] = of.fields();
    out
}

/// A link effect's entry of the catalogue; its tables come before its other parameters.
fn effect(of: &effect::Entry) -> Json {
    let mut out = about(&of.about);
    let table = |t: &effect::Table| structure(t.name, "list of pairs or file", "", t.meaning);
    let tables = of.tables.iter().map(table);
    out["fields"] = tables.chain(of.about.fields.iter().map(field)).collect();
    out["acts"] = json!(of.acts);
    out
}

/// A field that is not a parameter: a name, a list or a table of its own.
fn structure(name: &str, kind: &str, default: &str, meaning: &str) -> Json {
    json!({
        "name": name, "type": kind, "default": default, "meaning": meaning, "source": "",
        "unit": "", "min": null, "max": null, "choices": null,
    })
}

/// The fields of a scenario's section: first those that are not parameters, then the parameters.
fn section(structural: &[[&str; 4]], table: &[Field]) -> Json {
    let structural = structural.iter().map(|[n, k, d, m]| structure(n, k, d, m));
    structural.chain(table.iter().map(field)).collect()
}

/// A measure's entry of the catalogue. `name` is the measure's name in a summary with its usual
/// prefix, such as `tcp_rtt_`; `also` lists the measure's name with every other prefix.
fn measure(listed: &Listed) -> Json {
    let Description { name, title, unit, meaning, whole_run, .. } = listed.about;
    let mut names = listed.places.iter().map(|place| format!("{place}{name}"));
    json!({
        "name": names.next(), "also": names.collect::<Vec<_>>(), "title": title, "summary": meaning,
        "unit": unit.name, "shown": unit.shown, "scale": unit.scale, "digits": unit.digits,
        "interval": if whole_run { "whole run" } else { "measured" },
    })
}

/// Names of the traffic models of an application.
fn models(app: &str) -> Json {
    traffic::MODELS.iter().filter(|model| model.app == app).map(|model| json!(model.name)).collect()
}

/// A distribution in numbers, and as a curve of values with the share of draws at or below each.
/// Infinite numbers are null.
fn variable(name: &str, unit: Unit, of: &dyn Distribution) -> Json {
    let summary = Summary::of(of);
    json!({
        "name": name,
        "unit": unit.name(),
        "mean": summary.mean,
        "sd": summary.sd,
        "capped_mean": if unit == Unit::Bytes { json!(summary.capped_mean) } else { Json::Null },
        "quantiles": summary.quantiles,
        "curve": Summary::curve(of),
    })
}

/// Descriptions of the random variables of a traffic model.
///
/// # Errors
/// If no model has this name.
pub fn variables(model: &str) -> Result<Json, ScenarioError> {
    let Some(found) = traffic::model(model) else {
        let known: Vec<&str> = traffic::MODELS.iter().map(|model| model.name).collect();
        return Err(ScenarioError(unknown("model", model, &known)));
    };
    let of = |v: &traffic::Variable| variable(v.name, v.unit, v.distribution.as_ref());
    Ok((found.variables)().iter().map(of).collect())
}

/// Description of a distribution in the format of the shipped tables; `unit` is a name of the
/// catalogue, or empty.
///
/// # Errors
/// A sentence: what is wrong with the table, and where.
pub fn table(name: &str, text: &str, unit: &str) -> Result<Json, ScenarioError> {
    let of = traffic::distribution::parse(text).map_err(|why| ScenarioError(why.to_string()))?;
    let units = [Unit::Bytes, Unit::Time, Unit::Count];
    let unit = units.into_iter().find(|known| known.name() == unit).unwrap_or(Unit::None);
    Ok(variable(name, unit, of.as_ref()))
}

/// Every discipline, TCP profile, congestion control and application, and the sections of a scenario.
pub fn catalogue() -> Json {
    let mut all = json!({
        "aqm": aqm::ALGORITHMS.iter().map(discipline).collect::<Vec<Json>>(),
        "tcp": tcp::PROFILES.iter().map(|e| entry!(e.about)).collect::<Vec<Json>>(),
        "congestion": tcp::controls().map(|about| entry!(about)).collect::<Vec<Json>>(),
        "traffic": traffic::APPS.iter().map(application).collect::<Vec<Json>>(),
        "access": access::ACCESS.iter().map(kind_of_access).collect::<Vec<Json>>(),
        "effects": effect::EFFECTS.iter().map(effect).collect::<Vec<Json>>(),
        "measures": recorder::measures().iter().map(measure).collect::<Vec<Json>>(),
        "scenario": {
            "": section(schema::SCENARIO_STRUCTURE, schema::SCENARIO),
            "network": section(schema::NETWORK_STRUCTURE, schema::NETWORK),
            "network.rtt": fields(schema::RTT),
            "link": section(schema::LINK_STRUCTURE, schema::LINK),
            "effect": section(schema::EFFECT_STRUCTURE, &[]),
            "trace": fields(schema::TRACE),
            "traffic": section(schema::TRAFFIC_STRUCTURE, schema::TRAFFIC),
            "script": section(schema::SCRIPT_STRUCTURE, schema::SCRIPT),
            "start_after": section(schema::START_AFTER_STRUCTURE, schema::START_AFTER),
            "distribution": section(schema::DISTRIBUTION_STRUCTURE, &[]),
            "record": section(schema::RECORD_STRUCTURE, schema::RECORD),
        },
    });
    for kind in CHANNELS {
        all["scenario"][kind.name] = section(kind.structure, kind.fields);
    }
    all
}
