//! Reads scenarios from JSON; every mistake is reported in one sentence with the path of the field.

use std::collections::{BTreeSet, HashMap, HashSet};

use aqm::Registry;
use packet::params::{Params, unknown};
use serde_json::{Value as Json, json};
use tcp::Controls;

use super::{
    Channel, Link, Queue, Rtt, Scenario, StartAfter, Traffic, changes, effects, end_system,
    queue_limit, script,
};
use crate::error::ScenarioError;
use crate::scenario::access;
use crate::scenario::channel::CHANNELS;
use crate::scenario::schema;
use crate::scenario::section::Section;
use crate::topology::Direction;

/// Reads a scenario, without checking whether its parts fit together.
pub(super) fn scenario(
    text: &str,
    registry: &Registry,
    controls: &Controls,
) -> Result<Scenario, ScenarioError> {
    let json: Json = serde_json::from_str(text)
        .map_err(|e| ScenarioError(format!("the scenario is not valid JSON: {e}")))?;
    let mut top = Section::of("", &json)?;
    let name = top.text("name")?.unwrap_or_else(|| "scenario".to_owned());
    let (network, rtt) = read_network(top.take("network"))?;
    let links = top.list("link")?.iter().enumerate().map(|(i, l)| read_link(i, l, registry));
    let links = links.collect::<Result<Vec<Link>, _>>()?;
    let known = Links::of(&links);
    let traffic =
        top.list("traffic")?.iter().enumerate().map(|(i, t)| read_traffic(i, t, &known, controls));
    let traffic = traffic.collect::<Result<Vec<Traffic>, _>>()?;
    let studied = traffic.first().map_or(Direction::Forward, Traffic::direction);
    let (record, queues) = read_record(top.take("record"))?;
    let params = top.rest(schema::SCENARIO, &["name", "network", "link", "traffic", "record"])?;
    let read = Scenario { name, params, network, rtt, links, traffic, record, queues };
    with_queues(read, studied)
}

fn read_network(json: Option<&Json>) -> Result<(Params, Rtt), ScenarioError> {
    let empty = json!({});
    let mut section = Section::of("network", json.unwrap_or(&empty))?;
    let rtt = match section.take("rtt") {
        None => Rtt::Range(Params::defaults(schema::RTT)),
        Some(json) => read_rtt("network.rtt", json)?,
    };
    Ok((section.rest(schema::NETWORK, &["rtt"])?, rtt))
}

fn read_rtt(path: &str, json: &Json) -> Result<Rtt, ScenarioError> {
    let time = |text: &str| {
        packet::units::duration(text).map_err(|why| ScenarioError(format!("{path}: {why}")))
    };
    match json {
        Json::String(text) if text == schema::TCPEVAL => Ok(Rtt::Tcpeval),
        Json::String(text) => Ok(Rtt::Constant(time(text)?)),
        Json::Array(items) if items.is_empty() => Err(ScenarioError(format!(
            "{path}: the list is empty; write for example [\"10 ms\", \"200 ms\"]"
        ))),
        Json::Array(items) => {
            let text = |item: &Json| match item.as_str() {
                Some(text) => time(text),
                None => Err(ScenarioError(format!("{path}: {item} has no unit; write \"10 ms\""))),
            };
            Ok(Rtt::List(items.iter().map(text).collect::<Result<_, _>>()?))
        }
        other => {
            let params = Section::of(path, other)?.rest(schema::RTT, &[])?;
            if params.real("min") > params.real("max") {
                return Err(ScenarioError(format!(
                    "{path}: min ({} s) is larger than max ({} s)",
                    params.real("min"),
                    params.real("max"),
                )));
            }
            Ok(Rtt::Range(params))
        }
    }
}

/// Keys of a link that are not parameters.
const LINK_TABLES: &[&str] = &[
    "name",
    "access",
    "forward",
    "reverse",
    "effects",
    "rate_steps",
    "rate_repeat",
    "rate_trace",
    "reverse_rate_steps",
    "reverse_rate_repeat",
    "reverse_rate_trace",
];

fn read_link(index: usize, json: &Json, registry: &Registry) -> Result<Link, ScenarioError> {
    let path = format!("link.{index}");
    let (access, mut table) = access::expand(&path, json)?;
    let (changes, recorded) = changes::take(&path, &mut table)?;
    let json = Json::Object(table);
    let mut section = Section::of(&path, &json)?;
    let default_name = if index == 0 { "bottleneck".to_owned() } else { format!("link{index}") };
    let name = section.text("name")?.unwrap_or(default_name);
    let queues = Direction::BOTH.map(|direction| (direction, section.take(direction.name())));
    let mut effects = effects::read(&format!("{path}.effects"), section.take("effects"))?;
    effects.extend(recorded);
    let channel = Channel::take(&path, &mut section, changes.iter().any(Option::is_some))?;
    let known: Vec<&str> =
        LINK_TABLES.iter().copied().chain(CHANNELS.iter().map(|kind| kind.name)).collect();
    let params = section.rest(schema::LINK, &known)?;
    if !params.given("rate") {
        return Err(ScenarioError(format!(
            "{path}.rate: missing; write for example rate = \"10 Mbit/s\""
        )));
    }
    let [forward, reverse] = queues.map(|(direction, json)| {
        let line = super::line_of(&params, direction);
        let path = format!("{path}.{direction}");
        let read = |json: Option<&Json>| read_queue(&path, json, registry);
        queue_limit::read(read, &path, json, (access, direction), &line)
    });
    Ok(Link { name, access, changes, effects, channel, queues: [forward?, reverse?], params })
}

struct Links<'a> {
    names: Vec<&'a str>,
    /// Index of each link by its name; of equal names, which are refused later, the first link's.
    places: HashMap<&'a str, usize>,
}

impl<'a> Links<'a> {
    fn of(links: &'a [Link]) -> Self {
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let places = names.iter().enumerate().rev().map(|(place, name)| (*name, place)).collect();
        Links { names, places }
    }
}

/// Reads a queue: the name of its discipline, or a table with parameters. A discipline that a user
/// supplied is given by a table of its own, with its name and its source.
fn read_queue(
    path: &str,
    json: Option<&Json>,
    registry: &Registry,
) -> Result<Queue, ScenarioError> {
    let default = json!(schema::DEFAULT_QUEUE);
    let mut json = json.unwrap_or(&default).clone();
    let as_written = json.get("aqm").filter(|as_written| as_written.is_object()).cloned();
    if let Some(as_written) = &as_written {
        json["aqm"] = as_written["name"].clone();
    }
    let (name, section) = Section::variant(path, &json, "aqm", &registry.names())?;
    let entry = registry.find(&name).expect("the name was checked against the registry");
    let params = section.rest(entry.about.fields, &["aqm"])?;
    Ok(Queue { entry, params, as_written: as_written.unwrap_or_else(|| json!(name)) })
}

fn read_traffic(
    index: usize,
    json: &Json,
    links: &Links,
    controls: &Controls,
) -> Result<Traffic, ScenarioError> {
    let path = format!("traffic.{index}");
    let names: Vec<&str> = traffic::APPS.iter().map(|e| e.about.name).collect();
    let (app_name, mut section) = Section::variant(&path, json, "app", &names)?;
    let entry = traffic::find(&app_name).expect("the name was checked against the registry");
    let name = section.text("name")?.unwrap_or_else(|| format!("{app_name}{index}"));
    let tcp_path = format!("{path}.tcp");
    let given = section.take("tcp");
    if given.is_some() && entry.datagrams {
        return Err(ScenarioError(format!(
            "{tcp_path}: {app_name} sends datagrams, which have no TCP; leave it out"
        )));
    }
    let (profile, tcp, own_control) = end_system::read(&tcp_path, given, controls)?;
    let via = read_via(&path, section.take("via"), links)?;
    section.rename("flows", "users")?;
    let users_word = section.written("users");
    let rtt = section.take("rtt").map(|json| read_rtt(&format!("{path}.rtt"), json)).transpose()?;
    let script = script::read(&format!("{path}.script"), section.take("script"))?;
    let start_after = read_start_after(&path, section.take("start_after"))?;
    let own = ["app", "name", "tcp", "via", "rtt", "script", "start_after", "flows"];
    let (params, app) = section.split(schema::TRAFFIC, entry.about.fields, &own)?;
    let users = match entry.is_open_loop() {
        true => Some(0),
        false => params.given("users").then(|| params.whole("users")),
    };
    script::check(&path, &script, users)?;
    let group = Traffic {
        name,
        entry,
        app,
        params,
        profile,
        tcp,
        own_control,
        via,
        rtt,
        script,
        start_after,
    };
    if entry.is_open_loop() {
        check_rate(&path, &users_word, entry, &group.params, &group.app)?;
        return Ok(group);
    }
    match (group.params.given("users"), group.params.given("load")) {
        (true, true) => Err(ScenarioError(format!(
            "{path}: gives both {users_word} and a load; a load is calibrated into users, so give one of them"
        ))),
        (false, false) => Err(ScenarioError(format!(
            "{path}: gives neither users nor a load; write for example load = \"98%\""
        ))),
        _ => Ok(group),
    }
}

fn read_start_after(path: &str, json: Option<&Json>) -> Result<Option<StartAfter>, ScenarioError> {
    let Some(json) = json else { return Ok(None) };
    let path = format!("{path}.start_after");
    let mut section = Section::of(&path, json)?;
    let group = section.text("group")?.ok_or_else(|| {
        ScenarioError(format!("{path}.group: missing; name the group that starts before"))
    })?;
    let delay = section.rest(schema::START_AFTER, &["group"])?.time("delay");
    Ok(Some(StartAfter { group, delay }))
}

/// Checks that an application without users is given by its rate or by a load.
fn check_rate(
    path: &str,
    users_word: &str,
    entry: &traffic::Entry,
    params: &Params,
    app: &Params,
) -> Result<(), ScenarioError> {
    let (name, rate) = (entry.about.name, traffic::RATE);
    if params.given("users") {
        return Err(ScenarioError(format!(
            "{path}.{users_word}: {name} has no users or flows; give {rate} or a load"
        )));
    }
    match (app.given(rate), params.given("load")) {
        (true, true) => Err(ScenarioError(format!(
            "{path}: gives both {rate} and a load, which is turned into it; give one of them"
        ))),
        (false, false) if !entry.is_recorded() => Err(ScenarioError(format!(
            "{path}: gives neither {rate} nor a load; write for example load = \"98%\""
        ))),
        _ => Ok(()),
    }
}

/// Indices of the links that a group crosses.
fn read_via(path: &str, json: Option<&Json>, links: &Links) -> Result<Vec<usize>, ScenarioError> {
    let Some(json) = json else { return Ok((0..links.names.len()).collect()) };
    let wrong = || ScenarioError(format!("{path}.via: must be a list of link names"));
    let place = |name: &Json| {
        let name = name.as_str().ok_or_else(wrong)?;
        let of_name = || unknown("link", name, &links.names);
        let place = links.places.get(name);
        place.copied().ok_or_else(|| ScenarioError(format!("{path}.via: {}", of_name())))
    };
    let wanted = json.as_array().ok_or_else(wrong)?.iter().map(place);
    // Whatever the order in the file, packets cross links from the servers to the clients.
    Ok(wanted.collect::<Result<BTreeSet<usize>, _>>()?.into_iter().collect())
}

fn read_record(json: Option<&Json>) -> Result<(Params, Vec<String>), ScenarioError> {
    let empty = json!({});
    let mut section = Section::of("record", json.unwrap_or(&empty))?;
    let queues = section.texts("queues")?;
    Ok((section.rest(schema::RECORD, &["queues"])?, queues))
}

/// Completes the scenario with the queues that are recorded: by default the queue of the first link
/// in the direction of the first group's data.
fn with_queues(mut scenario: Scenario, studied: Direction) -> Result<Scenario, ScenarioError> {
    if scenario.queues.is_empty() {
        let first = scenario.links.first().map(|link| match link.clients_per_link() {
            Some(_) => link.copy(0).port(studied),
            None => link.port(studied),
        });
        scenario.queues.extend(first);
    }
    let ports = scenario.port_names();
    let known: HashSet<&str> = ports.iter().map(String::as_str).collect();
    if let Some(name) = scenario.queues.iter().find(|q| !known.contains(q.as_str())) {
        let known: Vec<&str> = ports.iter().map(String::as_str).collect();
        return Err(ScenarioError(format!("record.queues: {}", unknown("port", name, &known))));
    }
    Ok(scenario)
}
