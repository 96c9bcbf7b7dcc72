//! The end systems of a traffic group: which profile, and with which parameters.

use packet::params::{Field, Kind, Params, nearest};
use serde_json::{Map, Value as Json, json};

use tcp::Controls;

use crate::error::ScenarioError;
use crate::scenario::section::Section;

/// The congestion controls that a group's end systems may choose, and the source of the chosen one
/// if a user supplied it.
#[derive(Clone, Debug)]
pub struct OwnControl {
    /// The congestion controls that may be chosen.
    pub controls: Controls,
    /// The table, with its source, that stands for the name of a control that a user supplied.
    pub as_written: Option<Json>,
}

impl OwnControl {
    /// Writes the source of a user's own control in place of its name.
    pub(super) fn write(&self, tcp: &mut Map<String, Json>) {
        let Some(program) = &self.as_written else { return };
        match tcp.get_mut(CONTROL) {
            Some(Json::Object(table)) => drop(table.insert("name".into(), program.clone())),
            Some(name) => *name = json!({"name": program}),
            None => {}
        }
    }
}

/// The parameter by which profiles offer congestion controls.
const CONTROL: &str = "congestion";

/// Aliases for parameters of a profile.
pub(super) const ALIASES: &[(&str, &str)] = &[("window", "window_bytes"), ("min_rto", "rto_min")];

/// Reads the end system of a group from `given` at `path`: its profile and the profile's
/// parameters.
pub(super) fn read(
    path: &str,
    given: Option<&Json>,
    controls: &Controls,
) -> Result<(&'static tcp::Entry, Params, OwnControl), ScenarioError> {
    let mut json = given.cloned().unwrap_or_else(|| json!("plain"));
    let as_written = take_program(&mut json);
    let json = &json;
    if let Some(why) = mistaken(json) {
        return Err(ScenarioError(format!("{path}{why}")));
    }
    if let Some(why) = moved_to_ns3(json) {
        return Err(ScenarioError(format!("{path}{why}")));
    }
    let (name, mut section) = Section::variant(path, json, "profile", &profiles())?;
    let profile = tcp::find(&name).expect("the name was checked against the registry");
    for (alias, name) in ALIASES {
        section.rename(alias, name)?;
    }
    let params = section.rest(controls.fields(profile), &["profile"])?;
    Ok((profile, params, OwnControl { controls: controls.clone(), as_written }))
}

/// Takes out the table, with name and source, by which a user's own congestion control is given,
/// and puts the name of the control in its place.
fn take_program(json: &mut Json) -> Option<Json> {
    let name = json.get_mut(CONTROL)?.get_mut("name").filter(|name| name.is_object())?;
    let own = name["name"].clone();
    Some(std::mem::replace(name, own))
}

/// Switches that `plain` had until version 0.2, and that are now rules of the profile `ns3`.
const RULES_OF_NS3: &[&str] =
    &["sack_growth", "partial_ack", "impatient", "backoff_ends", "ack_first"];

/// The remedy for a switch that `plain` no longer has; the text continues a path.
fn moved_to_ns3(json: &Json) -> Option<String> {
    let profile = json.as_str().or(json["profile"].as_str()).unwrap_or("plain");
    let given = RULES_OF_NS3.iter().find(|field| !json[**field].is_null());
    let field = given.or((json["ecn_cut"] == "ns3").then_some(&"ecn_cut"))?;
    (profile == "plain").then(|| {
        format!(
            ".{field}: what ns-3 does here is a rule of profile \"ns3\" now; write profile = \"ns3\", or \
             leave {field} out to follow the RFCs"
        )
    })
}

fn profiles() -> Vec<&'static str> {
    tcp::PROFILES.iter().map(|entry| entry.about.name).collect()
}

/// The line to write instead of a congestion control given as a profile, or of a profile given as a
/// congestion control; the text continues a path.
fn mistaken(json: &Json) -> Option<String> {
    let profile = json.as_str().or(json["profile"].as_str());
    let control = json[CONTROL].as_str().or(json[CONTROL]["name"].as_str());
    match (profile, control) {
        (Some(name), _) if tcp::find(name).is_none() => no_profile(name),
        (Some(_), Some(name)) if tcp::find(name).is_some() => Some(format!(
            ".{CONTROL}: \"{name}\" is a profile, not a congestion control; write tcp = \"{name}\""
        )),
        (None, Some(name)) => Some(format!(": profile is missing; write {}", line_for(name)?)),
        _ => None,
    }
}

/// The line to write instead of an unknown profile, if its name resembles something else.
fn no_profile(name: &str) -> Option<String> {
    let controls: Vec<&str> = tcp::controls().map(|about| about.name).collect();
    if controls.contains(&name) {
        let line = line_for(name)?;
        return Some(format!(
            ".profile: \"{name}\" is a congestion control, not a profile; write {line}"
        ));
    }
    if let Some((entry, field)) = offering(name) {
        let (field, line) = (field.name, line(entry, field.name, name));
        return Some(format!(
            ".profile: \"{name}\" is a value of {field}, not a profile; write {line}"
        ));
    }
    let meant = nearest(name, &[profiles(), controls.clone()].concat())?;
    let line = controls.contains(&meant).then(|| line_for(meant))??;
    Some(format!(
        ".profile: \"{name}\" is no profile; for the congestion control {meant} write {line}"
    ))
}

/// The line that chooses a congestion control, or the one with the most similar name, with the
/// newest profile.
fn line_for(control: &str) -> Option<String> {
    let names: Vec<&str> = tcp::controls().map(|about| about.name).collect();
    let known = names.contains(&control);
    let meant = if known { control } else { nearest(control, &names)? };
    Some(line(tcp::PROFILES.last()?, CONTROL, meant))
}

fn line(entry: &tcp::Entry, field: &str, value: &str) -> String {
    format!("tcp = {{ profile = \"{}\", {field} = \"{value}\" }}", entry.about.name)
}

/// The newest profile with a parameter that can be `value`, and that parameter.
fn offering(value: &str) -> Option<(&'static tcp::Entry, &'static Field)> {
    let has = |field: &&Field| matches!(field.kind, Kind::Choice(all) if all.contains(&value));
    let of = |entry: &'static tcp::Entry| Some((entry, entry.about.fields.iter().find(has)?));
    tcp::PROFILES.iter().rev().find_map(of)
}
