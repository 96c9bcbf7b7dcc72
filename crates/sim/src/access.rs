//! Kinds of access: what a link is like at somebody's home or under the way. Each is data; a
//! scenario that names one (`access = "cable"`) gets its values for every field that it does not
//! give itself. Numbers without a source are constructed: they are of a plausible line, not of a
//! measured one.

mod adsl;
mod cable;
mod dsl;
mod leo;
mod lte;
mod satellite;
mod tcpeval_access;
mod tcpeval_datacentre;
mod tcpeval_dialup;
mod tcpeval_satellite;
mod tcpeval_transoceanic;

use packet::params::unknown;
use serde_json::{Map, Value as Json, json};

use crate::error::ScenarioError;
use crate::schema::DEFAULT_QUEUE;
use crate::topology::Direction;

/// A kind of access.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Year of the technology or of the source.
    pub year: u16,
    /// Where it comes from.
    pub source: &'static str,
    /// What of the real thing is not there.
    pub deviations: &'static str,
    /// Fields of a link.
    pub settings: &'static [Setting],
}

/// One field of a link and its value.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The field.
    pub name: &'static str,
    /// Its value: text, or JSON where it begins with a bracket. Of a queue its room, `limit_bytes`,
    /// which a queue inherits that a scenario writes without a limit.
    pub value: &'static str,
    /// Why it is so.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// All kinds of access. A new one adds its line here.
pub static ACCESS: &[Entry] = &[
    cable::ENTRY,
    dsl::ENTRY,
    adsl::ENTRY,
    lte::ENTRY,
    satellite::ENTRY,
    leo::ENTRY,
    tcpeval_access::ENTRY,
    tcpeval_datacentre::ENTRY,
    tcpeval_transoceanic::ENTRY,
    tcpeval_satellite::ENTRY,
    tcpeval_dialup::ENTRY,
];

/// The names of all of them.
pub fn names() -> Vec<&'static str> {
    ACCESS.iter().map(|entry| entry.name).collect()
}

const fn setting(
    name: &'static str,
    value: &'static str,
    meaning: &'static str,
    source: &'static str,
) -> Setting {
    Setting { name, value, meaning, source }
}

impl Setting {
    fn json(&self) -> Json {
        let mut value = match self.value.starts_with(['{', '[']) {
            true => serde_json::from_str(self.value).expect("a test reads every value"),
            false => json!(self.value),
        };
        if matches!(self.name, "forward" | "reverse") {
            value["aqm"] = json!(DEFAULT_QUEUE);
        }
        value
    }
}

impl Entry {
    /// Itself for listing and describing.
    pub fn describe(&self) -> Json {
        let field = |s: &Setting| {
            json!({
                "name": s.name, "type": "", "default": s.json(), "meaning": s.meaning,
                "source": s.source, "unit": "", "min": null, "max": null, "choices": null,
            })
        };
        json!({
            "name": self.name, "summary": self.summary, "year": self.year, "source": self.source,
            "deviations": self.deviations,
            "fields": self.settings.iter().map(field).collect::<Vec<Json>>(),
        })
    }
}

/// The table of a link with the values of its access put in, and the access.
///
/// # Errors
/// The table is none, or there is no such access.
pub(crate) fn expand(
    path: &str,
    json: &Json,
) -> Result<(Option<&'static str>, Map<String, Json>), ScenarioError> {
    let Some(mut table) = json.as_object().cloned() else {
        return Err(ScenarioError(format!("{path}: must be a table, not {json}")));
    };
    let Some(asked) = table.remove("access") else { return Ok((None, table)) };
    let names = names();
    let name = asked.as_str().ok_or_else(|| {
        ScenarioError(format!(
            "{path}.access: {asked} is no name; choose one of {}",
            names.join(", ")
        ))
    })?;
    let entry = ACCESS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| {
        ScenarioError(format!("{path}.access: {}", unknown("access", name, &names)))
    })?;
    let given = table.clone();
    for setting in entry.settings.iter().filter(|s| !is_replaced(s.name, &given)) {
        table.insert(setting.name.to_owned(), setting.json());
    }
    Ok((Some(entry.name), table))
}

/// Bytes that may wait in one direction of an access.
pub(crate) fn limit_bytes(access: &str, direction: Direction) -> Option<u64> {
    let entry = ACCESS.iter().find(|entry| entry.name == access)?;
    let setting = entry.settings.iter().find(|setting| setting.name == direction.name())?;
    setting.json()["limit_bytes"].as_u64()
}

/// Whether what the user gave leaves no room for this field: another way to say how the rate of
/// that direction changes replaces the access's, and its rate unless that is the middle of a walk.
fn is_replaced(name: &str, given: &Map<String, Json>) -> bool {
    if given.contains_key(name) {
        return true;
    }
    let (prefix, bare) = match name.strip_prefix("reverse_") {
        Some(bare) => ("reverse_", bare),
        None => ("", name),
    };
    let trace = given.get(&format!("{prefix}rate_trace"));
    let steps = given.contains_key(&format!("{prefix}rate_steps"));
    match bare {
        "rate_steps" | "rate_repeat" | "rate_trace" => trace.is_some() || steps,
        "rate" => steps || trace.is_some_and(|t| t.is_object() && t.get("model").is_none()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(json: Json) -> Json {
        Json::Object(expand("link.0", &json).unwrap().1)
    }

    #[test]
    fn every_value_can_be_read_and_has_a_source() {
        for entry in ACCESS {
            for setting in entry.settings {
                setting.json();
                assert!(!setting.source.is_empty(), "{}.{}", entry.name, setting.name);
            }
            let names: Vec<&str> = entry.settings.iter().map(|s| s.name).collect();
            for needed in ["rate", "reverse_rate", "delay", "forward", "reverse"] {
                assert!(names.contains(&needed), "{} has no {needed}", entry.name);
            }
        }
    }

    #[test]
    fn what_is_given_stays() {
        let link = expanded(json!({"access": "cable", "rate": "7 Mbit/s", "forward": "codel"}));
        assert_eq!([&link["rate"], &link["forward"]], ["7 Mbit/s", "codel"]);
        assert_eq!([&link["reverse_rate"], &link["framing"]], ["10 Mbit/s", "docsis"]);
    }

    #[test]
    fn another_way_to_change_the_rate_replaces_the_access_s() {
        let steps = json!([["0 s", "1 Mbit/s"]]);
        let link = expanded(json!({"access": "lte", "rate_steps": steps}));
        assert_eq!([&link["rate_trace"], &link["rate"]], [&Json::Null, &Json::Null]);
        assert!(link["reverse_rate_trace"].is_object(), "the other direction keeps its own");
        let link = expanded(json!({"access": "lte", "rate_trace": {"model": "sprout"}}));
        assert_eq!(link["rate"], "12 Mbit/s", "the middle of the walk");
        let link = expanded(json!({"access": "lte", "rate_trace": "none"}));
        assert_eq!(link["rate"], "12 Mbit/s");
    }
}
