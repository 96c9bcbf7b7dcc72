//! Kinds of access: typical links of a household or of a mobile user, as data (`data/access.json`).
//! A scenario that names one (`access = "cable"`) gets its values for every field that the scenario
//! does not give. Of a queue, the access gives the limit, `limit_bytes`, which a queue without a
//! limit inherits. Numbers without a source are our own choice: those of a plausible line, not of
//! a measured one.

use std::sync::LazyLock;

use packet::About;
use packet::params::unknown;
use packet::units::{self, Unit};
use serde_json::{Map, Value as Json, json};

use crate::error::ScenarioError;
use crate::scenario::channel::CHANNELS;
use crate::scenario::schema::DEFAULT_QUEUE;
use crate::topology::Direction;

/// A kind of access.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Description of the kind of access; its fields are those of a link.
    pub about: About,
    settings: Vec<Setting>,
}

/// One field of a link and its value.
#[derive(Clone, Debug)]
struct Setting {
    name: &'static str,
    value: Json,
    /// For a queue: bytes that may wait; a discipline of another kind inherits this limit.
    room: Option<u64>,
    meaning: &'static str,
    source: &'static str,
}

/// All kinds of access, in the order of the documentation.
pub static ACCESS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let kinds: Vec<Json> =
        serde_json::from_str(include_str!("../../data/access.json")).expect("a test reads it");
    kinds.iter().map(Entry::read).collect()
});

/// Names of all kinds of access.
pub fn names() -> Vec<&'static str> {
    ACCESS.iter().map(|entry| entry.about.name).collect()
}

/// A text of the data file, which is read once in a process and never freed.
fn text(of: &Json, key: &str) -> &'static str {
    of[key].as_str().unwrap_or_else(|| panic!("{key} is missing in {of}")).to_owned().leak()
}

impl Setting {
    fn read(of: &Json) -> Setting {
        let mut value = of["value"].clone();
        let name = text(of, "name");
        let mut room = None;
        if Direction::BOTH.iter().any(|direction| direction.name() == name) {
            room = value["limit_bytes"].as_u64();
            match value.get("aqm") {
                None => value["aqm"] = json!(DEFAULT_QUEUE),
                // The discipline counts its limit in a unit of its own, see `queue_limit`.
                Some(_) => drop(value.as_object_mut().and_then(|own| own.remove("limit_bytes"))),
            }
        }
        Setting { name, value, room, meaning: text(of, "meaning"), source: text(of, "source") }
    }
}

impl Entry {
    fn read(of: &Json) -> Entry {
        let about = About {
            name: text(of, "name"),
            summary: text(of, "summary"),
            year: of["year"].as_u64().and_then(|year| year.try_into().ok()).expect("a year"),
            source: text(of, "source"),
            deviations: text(of, "deviations"),
            fields: &[],
        };
        let settings = of["fields"].as_array().expect("a list of fields");
        Entry { about, settings: settings.iter().map(Setting::read).collect() }
    }

    /// The fields of this access as JSON, for listing and describing.
    pub fn fields(&self) -> Json {
        let field = |s: &Setting| {
            json!({
                "name": s.name, "type": "", "default": s.value, "meaning": s.meaning,
                "source": s.source, "unit": "", "min": null, "max": null, "choices": null,
            })
        };
        self.settings.iter().map(field).collect()
    }

    fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The steps of an access's rate, multiplied by the ratio of the rate that the link gives to
    /// the access's own, so that the line's mean rate is the given one. `None` for another field,
    /// or if the link gives no rate.
    fn about_rate(&self, setting: &Setting, given: &Map<String, Json>) -> Option<Json> {
        let name = format!("{}rate", setting.name.strip_suffix("rate_steps")?);
        let bits = |json: &Json| units::parse(json.as_str()?, Unit::Rate).ok();
        let times = bits(given.get(&name)?)? / bits(&self.setting(&name)?.value)?;
        let row =
            |row: &Json| Some(json!([row[0], format!("{:.0} bit/s", bits(&row[1])? * times)]));
        setting.value.as_array()?.iter().map(row).collect()
    }
}

/// Refuses a bare `rate` for a radio channel: the channel's rate follows from its own table, so
/// that `rate` would change only what disciplines assume.
fn refuse_bare_rate(
    path: &str,
    entry: &Entry,
    given: &Map<String, Json>,
) -> Result<(), ScenarioError> {
    let Some((channel, write)) = RADIO.iter().find(|(name, _)| entry.setting(name).is_some())
    else {
        return Ok(());
    };
    let changes = given.keys().any(|name| {
        matches!(name.strip_prefix("reverse_").unwrap_or(name), "rate_steps" | "rate_trace")
    });
    match ["rate", "reverse_rate"].iter().find(|name| given.contains_key(**name)) {
        Some(rate) if !given.contains_key(*channel) && !changes => Err(ScenarioError(format!(
            "{path}.{rate}: what access \"{}\" carries follows from its channel, and {rate} is only \
             what disciplines assume; leave it out, or write for example {channel} = {{ {write} }} as well",
            entry.about.name
        ))),
        _ => Ok(()),
    }
}

/// Channels whose rate follows from their own fields, and a field that changes it.
const RADIO: [(&str, &str); 2] =
    [("wifi", "rates = [\"20 Mbit/s\", \"20 Mbit/s\", \"2 Mbit/s\"]"), ("cell", "blocks = 25")];

fn find(name: &str) -> Option<&'static Entry> {
    ACCESS.iter().find(|entry| entry.about.name == name)
}

/// Inserts the values of its access into the table of a link. Returns the name of the access, if
/// there is one, and the table.
///
/// # Errors
/// The value is no table, or no access has that name.
pub(crate) fn expand(
    path: &str,
    json: &Json,
) -> Result<(Option<&'static str>, Map<String, Json>), ScenarioError> {
    let Some(mut table) = json.as_object().cloned() else {
        return Err(ScenarioError(format!("{path}: must be a table, not {json}")));
    };
    let Some(requested) = table.remove("access") else { return Ok((None, table)) };
    let names = names();
    let name = requested.as_str().ok_or_else(|| {
        ScenarioError(format!(
            "{path}.access: {requested} is no name; choose one of {}",
            names.join(", ")
        ))
    })?;
    let entry = find(name).ok_or_else(|| {
        ScenarioError(format!("{path}.access: {}", unknown("access", name, &names)))
    })?;
    let given = table.clone();
    refuse_bare_rate(path, entry, &given)?;
    for setting in entry.settings.iter().filter(|s| !is_replaced(s.name, &given)) {
        let value = entry.about_rate(setting, &given).unwrap_or_else(|| setting.value.clone());
        table.insert(setting.name.to_owned(), value);
    }
    // A channel's table gets a default for each field that it lacks.
    for setting in entry.settings.iter().filter(|setting| is_channel(setting.name)) {
        let own = table.get_mut(setting.name).and_then(Json::as_object_mut);
        if let (Some(own), Json::Object(more)) = (own, &setting.value) {
            for (name, value) in more {
                own.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
    Ok((Some(entry.about.name), table))
}

fn is_channel(name: &str) -> bool {
    CHANNELS.iter().any(|kind| kind.name == name)
}

/// Whether the kind of access called `access` has effects: a link that uses it without effects must
/// then say so.
pub(crate) fn has_effects(access: &str) -> bool {
    find(access).is_some_and(|entry| entry.settings.iter().any(|s| s.name == "effects"))
}

/// Limit of the queue in one direction of an access, bytes.
pub(crate) fn limit_bytes(access: &str, direction: Direction) -> Option<u64> {
    let setting = find(access)?.settings.iter().find(|setting| setting.name == direction.name())?;
    setting.room
}

/// Whether fields that the user gave replace this field of the access. Another description of a
/// direction's changing rate replaces the access's, and also its rate unless that is the nominal
/// rate of a random walk.
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
        // A line whose rate changes is no channel, whichever direction it is.
        channel if is_channel(channel) => {
            ["rate_steps", "rate_trace", "reverse_rate_steps", "reverse_rate_trace"]
                .iter()
                .any(|change| given.contains_key(*change))
        }
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
        for entry in ACCESS.iter() {
            for setting in &entry.settings {
                assert!(!setting.source.is_empty(), "{}.{}", entry.about.name, setting.name);
            }
            let names: Vec<&str> = entry.settings.iter().map(|s| s.name).collect();
            for needed in ["rate", "reverse_rate", "delay", "forward", "reverse"] {
                assert!(names.contains(&needed), "{} has no {needed}", entry.about.name);
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
    fn steps_lie_about_the_rate_that_is_given() {
        let link = expanded(json!({"access": "leo", "rate": "49 Mbit/s"}));
        assert_eq!(link["rate_steps"][0], json!(["0 s", "50000000 bit/s"]));
        assert_eq!(link["rate_steps"][2], json!(["15.05 s", "70000000 bit/s"]));
        assert_eq!(link["reverse_rate_steps"][0], json!(["0 s", "15 Mbit/s"]));
        assert!(link["effects"][0]["steps"].is_array(), "delays stay as they are");
    }

    #[test]
    fn a_rate_that_a_radio_channel_would_ignore_is_refused() {
        let refused = |json: Json| expand("link.0", &json).map(drop).unwrap_err().0;
        let why = refused(json!({"access": "5g", "rate": "50 Mbit/s"}));
        assert!(why.starts_with("link.0.rate: what access \"5g\" carries follows"), "{why}");
        assert!(why.contains("cell = { blocks = "), "{why}");
        let why = refused(json!({"access": "wifi", "reverse_rate": "5 Mbit/s"}));
        assert!(why.contains("wifi = { rates = ["), "{why}");
        expanded(json!({"access": "5g", "rate": "50 Mbit/s", "cell": {"blocks": 25}}));
        expanded(json!({"access": "docsis", "rate": "50 Mbit/s"}));
        expanded(json!({"access": "wifi", "rate": "5 Mbit/s", "rate_trace": "none"}));
    }

    #[test]
    fn of_a_radio_channel_each_field_holds_by_itself() {
        let link = expanded(json!({"access": "wifi", "wifi": {"turns": "round-robin"}}));
        assert_eq!(link["wifi"]["turns"], "round-robin");
        assert_eq!(link["wifi"]["stack"], "stations");
        assert_eq!(link["wifi"]["rates"].as_array().map(Vec::len), Some(3));
        let line = expanded(json!({"access": "wifi", "rate_steps": [["0 s", "1 Mbit/s"]]}));
        assert!(line.get("wifi").is_none(), "a line whose rate changes");
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
