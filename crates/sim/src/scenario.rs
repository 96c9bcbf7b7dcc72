//! What one run is, as data: read from JSON, checked, and written back with every default.

use aqm::Line;
use packet::params::{Params, unknown};
use packet::{Duration, Rate};
use serde_json::{Map, Value as Json, json};
use trial::parameters;

use crate::error::ScenarioError;
use crate::reader::Section;
use crate::schema;
use crate::topology::Side;

/// A discipline by name, with its checked parameters.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The entry in the registry.
    pub entry: &'static aqm::Entry,
    /// Its parameters.
    pub params: Params,
}

/// One link: a line and a queue in each direction.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name; its ports are called `<name>.forward` and `<name>.reverse`.
    pub name: String,
    /// Rate, delay, framing.
    pub params: Params,
    /// The queue of the direction servers → clients.
    pub forward: Queue,
    /// The queue of the direction clients → servers.
    pub reverse: Queue,
}

impl Link {
    /// Line rate from the servers to the clients.
    pub fn rate(&self) -> Rate {
        self.params.rate("rate")
    }
    /// Line rate in one direction, `forward` or `reverse`.
    pub fn rate_of(&self, direction: &str) -> Rate {
        let own = direction == "reverse" && self.params.given("reverse_rate");
        self.params.rate(if own { "reverse_rate" } else { "rate" })
    }
}

/// Round-trip propagation times.
#[derive(Clone, Debug)]
pub enum Rtt {
    /// One value for all.
    Constant(Duration),
    /// Values that users or flows take in turn.
    List(Vec<Duration>),
    /// [`TCPEVAL_MS`], drawn for each connection.
    Tcpeval,
    /// A range, see [`schema::RTT`].
    Range(Params),
}

/// A group of users or flows.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Name of its random streams.
    pub name: String,
    /// The application.
    pub entry: &'static traffic::Entry,
    /// The application's parameters.
    pub app: Params,
    /// How many, on which side; see [`schema::TRAFFIC`].
    pub params: Params,
    /// The TCP profile.
    pub profile: &'static tcp::Entry,
    /// The profile's parameters.
    pub tcp: Params,
    /// Names of the links it crosses, in order from the servers to the clients.
    pub via: Vec<String>,
    /// Its round-trip times, where they are not the network's.
    pub rtt: Option<Rtt>,
}

impl Traffic {
    /// Number of users or flows, unless a load still has to be calibrated.
    pub fn members(&self) -> Option<u32> {
        if self.entry.is_open_loop() {
            return self.app.given(traffic::registry::RATE).then_some(1);
        }
        match self.params.whole_or("users", 0) {
            0 => None,
            n => Some(n as u32),
        }
    }
    /// On which side they sit.
    pub fn side(&self) -> Side {
        let clients = if self.params.given("side") {
            self.params.choice("side") == "clients"
        } else {
            self.entry.fetches
        };
        if clients { Side::Clients } else { Side::Servers }
    }
    /// The direction in which most of its data goes.
    fn direction(&self) -> &'static str {
        // Who fetches gets data to its own side, who sends gives it to the other.
        if (self.side() == Side::Clients) == self.entry.fetches { "forward" } else { "reverse" }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Duration, warm-up, seed, engine.
    pub params: Params,
    /// Machines.
    pub network: Params,
    /// Round-trip times.
    pub rtt: Rtt,
    /// Links in order from the servers to the clients.
    pub links: Vec<Link>,
    /// Groups of users and flows.
    pub traffic: Vec<Traffic>,
    /// What is recorded.
    pub record: Params,
    /// Ports whose queue samples are kept, by name; the first is the studied one.
    pub queues: Vec<String>,
}

impl Scenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// One sentence that names the field by its path, the value, and the remedy.
    pub fn from_json(text: &str) -> Result<Scenario, ScenarioError> {
        Scenario::read(text).map_err(ScenarioError::on_one_line)
    }

    fn read(text: &str) -> Result<Scenario, ScenarioError> {
        let json: Json = serde_json::from_str(text)
            .map_err(|e| ScenarioError(format!("the scenario is not valid JSON: {e}")))?;
        let mut top = Section::of("", &json)?;
        let name = top.text("name")?.unwrap_or_else(|| "scenario".to_owned());
        let (network, rtt) = read_network(top.take("network"))?;
        let links = top.list("link")?.iter().enumerate().map(|(i, l)| read_link(i, l));
        let links = links.collect::<Result<Vec<Link>, _>>()?;
        let traffic =
            top.list("traffic")?.iter().enumerate().map(|(i, t)| read_traffic(i, t, &links));
        let traffic = traffic.collect::<Result<Vec<Traffic>, _>>()?;
        let studied = traffic.first().map_or("forward", Traffic::direction);
        let (record, queues) = read_record(top.take("record"), &links, studied)?;
        let params =
            top.rest(schema::SCENARIO, &["name", "network", "link", "traffic", "record"])?;
        let scenario = Scenario { name, params, network, rtt, links, traffic, record, queues };
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let fail = |why: &str| Err(ScenarioError(why.to_owned()));
        if !self.params.given("duration") {
            return fail("duration: missing; write for example duration = \"90 min\"");
        }
        if self.params.real("warmup") >= self.params.real("duration") {
            return Err(ScenarioError(format!(
                "warmup: {} s is not shorter than the duration of {} s, so nothing would be measured",
                self.params.real("warmup"),
                self.params.real("duration"),
            )));
        }
        if self.links.is_empty() {
            return fail("link: there is none; add a [[link]] with a rate");
        }
        if self.traffic.is_empty() {
            return fail(
                "traffic: there is none; add a [[traffic]] with app = \"web\" or \"bulk\"",
            );
        }
        let names = |kind: &str, names: Vec<&str>| {
            let twice = names.iter().enumerate().find(|(i, n)| names[..*i].contains(n));
            twice.map_or(Ok(()), |(i, name)| {
                Err(ScenarioError(format!(
                    "{kind}.{i}.name: \"{name}\" is taken already; give every {kind} a name of its own"
                )))
            })
        };
        names("link", self.links.iter().map(|l| l.name.as_str()).collect())?;
        names("traffic", self.traffic.iter().map(|t| t.name.as_str()).collect())?;
        self.check_sizes()?;
        self.check_distances()?;
        Ok(())
    }

    /// Refuses a distance for each member where a single member stands for all connections.
    fn check_distances(&self) -> Result<(), ScenarioError> {
        for (i, group) in self.traffic.iter().enumerate().filter(|(_, t)| t.entry.is_open_loop()) {
            let (path, rtt) = match &group.rtt {
                Some(own) => (format!("traffic.{i}.rtt"), own),
                None => ("network.rtt".to_owned(), &self.rtt),
            };
            if matches!(rtt, Rtt::Range(rtt) if rtt.choice("draw") == "member") {
                return Err(ScenarioError(format!(
                    "{path}.draw: {} has no users who keep a distance of their own; write draw = \"connection\"",
                    group.entry.name
                )));
            }
        }
        Ok(())
    }

    /// Refuses what would not fit into memory or into the numbers that name ports.
    fn check_sizes(&self) -> Result<(), ScenarioError> {
        const MOST_PORTS: u64 = 60_000;
        const MOST_PAIRS: u64 = 10_000_000;
        const MOST_SAMPLES: f64 = 1e8;
        let (clients, servers) = (self.network.whole("clients"), self.network.whole("servers"));
        if self.network.given("access_rate") && clients + servers > MOST_PORTS {
            return Err(ScenarioError(format!(
                "network.access_rate: {} machines with lines of their own are too many; at most {MOST_PORTS}",
                clients + servers
            )));
        }
        let pairs = |rtt: &Rtt| matches!(rtt, Rtt::Range(rtt) if rtt.choice("draw") == "pair");
        let by_pair = self.traffic.iter().any(|t| pairs(t.rtt.as_ref().unwrap_or(&self.rtt)));
        if by_pair && clients * servers > MOST_PAIRS {
            return Err(ScenarioError(format!(
                "network.rtt: {clients} clients and {servers} servers make too many pairs; write draw = \"connection\""
            )));
        }
        let samples = self.params.real("duration") / self.record.real("queue_every");
        if self.record.switch("samples") && samples > MOST_SAMPLES {
            return Err(ScenarioError(format!(
                "record.queue_every: {samples:.0} samples are too many to keep; sample less often or write samples = false"
            )));
        }
        Ok(())
    }

    /// The scenario as JSON with every default filled in, also those that depend on others or on a
    /// line's rate; reading it gives the same scenario.
    pub fn to_json(&self) -> Json {
        let mut top = parameters::write(&self.params);
        top.insert("name".into(), json!(self.name));
        let mut network = parameters::write(&self.network);
        network.insert("rtt".into(), rtt_json(&self.rtt));
        top.insert("network".into(), Json::Object(network));
        top.insert("link".into(), self.links.iter().map(link_json).collect());
        top.insert("traffic".into(), self.traffic.iter().map(traffic_json).collect());
        let mut record = parameters::write(&self.record);
        record.insert("queues".into(), json!(self.queues));
        top.insert("record".into(), Json::Object(record));
        Json::Object(top)
    }
}

fn named(key: &str, name: &str, mut object: Map<String, Json>) -> Json {
    object.insert(key.into(), json!(name));
    Json::Object(object)
}

fn rtt_json(rtt: &Rtt) -> Json {
    let time = |time: &Duration| json!(format!("{} s", time.secs_f64()));
    match rtt {
        Rtt::Constant(one) => time(one),
        Rtt::List(times) => times.iter().map(time).collect(),
        Rtt::Tcpeval => json!(schema::TCPEVAL),
        Rtt::Range(params) => Json::Object(parameters::write(params)),
    }
}

/// With the values that its constructor takes on this line; as written if it refuses them.
fn queue_json(queue: &Queue, line: &Line) -> Json {
    let object = match queue.entry.effective(&queue.params, line) {
        Ok(values) => parameters::write_values(values),
        Err(_) => parameters::write(&queue.params),
    };
    named("aqm", queue.entry.name, object)
}

fn link_json(link: &Link) -> Json {
    let mut object = parameters::write(&link.params);
    object.insert("name".into(), json!(link.name));
    let line = Line { rate: link.rate() };
    object.insert("forward".into(), queue_json(&link.forward, &line));
    object.insert("reverse".into(), queue_json(&link.reverse, &line));
    Json::Object(object)
}

fn traffic_json(traffic: &Traffic) -> Json {
    let mut object: Map<String, Json> = parameters::write(&traffic.params);
    object.extend(parameters::write(&traffic.app));
    object.insert("name".into(), json!(traffic.name));
    object.insert("app".into(), json!(traffic.entry.name));
    object.insert(
        "tcp".into(),
        named("profile", traffic.profile.name, parameters::write(&traffic.tcp)),
    );
    object.insert("via".into(), json!(traffic.via));
    if let Some(rtt) = &traffic.rtt {
        object.insert("rtt".into(), rtt_json(rtt));
    }
    Json::Object(object)
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

fn read_link(index: usize, json: &Json) -> Result<Link, ScenarioError> {
    let path = format!("link.{index}");
    let mut section = Section::of(&path, json)?;
    let default_name = if index == 0 { "bottleneck".to_owned() } else { format!("link{index}") };
    let name = section.text("name")?.unwrap_or(default_name);
    let forward = read_queue(&format!("{path}.forward"), section.take("forward"))?;
    let reverse = read_queue(&format!("{path}.reverse"), section.take("reverse"))?;
    let params = section.rest(schema::LINK, &["name", "forward", "reverse"])?;
    if !params.given("rate") {
        return Err(ScenarioError(format!(
            "{path}.rate: missing; write for example rate = \"10 Mbit/s\""
        )));
    }
    Ok(Link { name, params, forward, reverse })
}

fn read_queue(path: &str, json: Option<&Json>) -> Result<Queue, ScenarioError> {
    let default = json!(schema::DEFAULT_QUEUE);
    let json = json.unwrap_or(&default);
    let names: Vec<&str> = aqm::ALGORITHMS.iter().map(|e| e.name).collect();
    let (name, section) = Section::variant(path, json, "aqm", &names)?;
    let entry = aqm::find(&name).expect("the name was checked against the registry");
    let params = section.rest(entry.fields, &["aqm"])?;
    Ok(Queue { entry, params })
}

fn read_traffic(index: usize, json: &Json, links: &[Link]) -> Result<Traffic, ScenarioError> {
    let path = format!("traffic.{index}");
    let names: Vec<&str> = traffic::APPS.iter().map(|e| e.name).collect();
    let (app_name, mut section) = Section::variant(&path, json, "app", &names)?;
    let entry = traffic::find(&app_name).expect("the name was checked against the registry");
    let name = section.text("name")?.unwrap_or_else(|| format!("{app_name}{index}"));
    let profiles: Vec<&str> = tcp::PROFILES.iter().map(|e| e.name).collect();
    let default_tcp = json!("plain");
    let tcp_json = section.take("tcp").unwrap_or(&default_tcp);
    let tcp_path = format!("{path}.tcp");
    let (profile, mut tcp_section) = Section::variant(&tcp_path, tcp_json, "profile", &profiles)?;
    let profile = tcp::find(&profile).expect("the name was checked against the registry");
    tcp_section.rename("window", "window_bytes")?;
    tcp_section.rename("min_rto", "rto_min")?;
    let tcp = tcp_section.rest(profile.fields, &["profile"])?;
    let via = read_via(&path, section.take("via"), links)?;
    section.rename("flows", "users")?;
    let rtt = section.take("rtt").map(|json| read_rtt(&format!("{path}.rtt"), json)).transpose()?;
    let own = ["app", "name", "tcp", "via", "rtt"];
    let (params, app) = section.split(schema::TRAFFIC, entry.fields, &own)?;
    if entry.is_open_loop() {
        check_rate(&path, entry.name, &params, &app)?;
        return Ok(Traffic { name, entry, app, params, profile, tcp, via, rtt });
    }
    match (params.given("users"), params.given("load")) {
        (true, true) => Err(ScenarioError(format!(
            "{path}: gives both users and a load; a load is calibrated into users, so give one of them"
        ))),
        (false, false) => Err(ScenarioError(format!(
            "{path}: gives neither users nor a load; write for example load = \"98%\""
        ))),
        _ => Ok(Traffic { name, entry, app, params, profile, tcp, via, rtt }),
    }
}

/// An application without users is given by its rate or by a load.
fn check_rate(path: &str, name: &str, params: &Params, app: &Params) -> Result<(), ScenarioError> {
    let rate = traffic::registry::RATE;
    if params.given("users") {
        return Err(ScenarioError(format!(
            "{path}.users: {name} has no users or flows; give {rate} or a load"
        )));
    }
    match (app.given(rate), params.given("load")) {
        (true, true) => Err(ScenarioError(format!(
            "{path}: gives both {rate} and a load, which is turned into it; give one of them"
        ))),
        (false, false) => Err(ScenarioError(format!(
            "{path}: gives neither {rate} nor a load; write for example load = \"98%\""
        ))),
        _ => Ok(()),
    }
}

fn read_via(path: &str, json: Option<&Json>, links: &[Link]) -> Result<Vec<String>, ScenarioError> {
    let all: Vec<&str> = links.iter().map(|l| l.name.as_str()).collect();
    let Some(json) = json else { return Ok(all.iter().map(|n| n.to_string()).collect()) };
    let wrong = || ScenarioError(format!("{path}.via: must be a list of link names"));
    let wanted = json.as_array().ok_or_else(wrong)?;
    for name in wanted {
        let name = name.as_str().ok_or_else(wrong)?;
        if !all.contains(&name) {
            return Err(ScenarioError(format!("{path}.via: {}", unknown("link", name, &all))));
        }
    }
    // Whatever the order in the file, packets cross links from the servers to the clients.
    let wanted = |name: &&str| wanted.iter().any(|w| w.as_str() == Some(name));
    Ok(all.iter().filter(|n| wanted(n)).map(|n| n.to_string()).collect())
}

/// The queues recorded by default: that of the first link in the direction of the first group's
/// data.
fn read_record(
    json: Option<&Json>,
    links: &[Link],
    studied: &str,
) -> Result<(Params, Vec<String>), ScenarioError> {
    let empty = json!({});
    let mut section = Section::of("record", json.unwrap_or(&empty))?;
    let ports: Vec<String> = links
        .iter()
        .flat_map(|l| [format!("{}.forward", l.name), format!("{}.reverse", l.name)])
        .collect();
    let mut queues = section.texts("queues")?;
    if queues.is_empty() {
        queues.extend(links.first().map(|l| format!("{}.{studied}", l.name)));
    }
    let known: Vec<&str> = ports.iter().map(String::as_str).collect();
    if let Some(name) = queues.iter().find(|q| !known.contains(&q.as_str())) {
        return Err(ScenarioError(format!("record.queues: {}", unknown("port", name, &known))));
    }
    Ok((section.rest(schema::RECORD, &["queues"])?, queues))
}
