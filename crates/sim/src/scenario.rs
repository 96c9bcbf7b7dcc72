//! The description of one run as data: read from JSON (`read`), checked, and written back with
//! every default (`write`).

pub mod access;
mod changes;
pub mod channel;
pub mod effects;
mod end_system;
pub mod framing;
mod json_schema;
mod queue_limit;
mod read;
pub mod recording;
pub mod schema;
mod script;
mod section;
mod sizes;
mod trace_shown;
mod write;

use std::collections::{BTreeMap, HashSet};

use aqm::{Line, Registry};
use packet::params::{Params, unknown};
use packet::{Duration, Framing, Rate};
use serde_json::Value as Json;

pub use changes::Changes;
pub use channel::Channel;
pub use effects::Effect;
pub use end_system::OwnControl;
pub use json_schema::json_schema;
pub use script::Rule;
pub use trace_shown::trace_shown;

use crate::error::ScenarioError;
use crate::topology::{Direction, Side};

/// A discipline by name, with its checked parameters.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The discipline's entry in the registry.
    pub entry: &'static aqm::Entry,
    /// Parameters of the discipline.
    pub params: Params,
    /// How the scenario names the discipline: by name or, if a user supplied it, by a table with
    /// its source.
    pub as_written: Json,
}

/// One link: a line and a queue in each direction.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name of the link; its ports are called `<name>.forward` and `<name>.reverse`.
    pub name: String,
    /// Name of the kind of access (see [`crate::scenario::access::ACCESS`]) from which the other
    /// fields take their defaults, if the scenario gives one.
    pub access: Option<&'static str>,
    /// Parameters of the link: rate, delay, framing and others.
    pub params: Params,
    /// Changes of the rate over time, forward and reverse; `None` for a constant rate.
    pub changes: [Option<Changes>; 2],
    /// Effects on packets other than queueing, in the order in which they act.
    pub effects: Vec<Effect>,
    /// The channel (such as Wi-Fi) that the link uses instead of a wire.
    pub channel: Option<Channel>,
    /// The queues, forward and reverse.
    pub queues: [Queue; 2],
}

impl Link {
    /// The name of the port of one direction.
    pub fn port(&self, direction: Direction) -> String {
        format!("{}.{direction}", self.name)
    }
    /// Number of client machines that share a copy of this link, if it has copies.
    pub fn clients_per_link(&self) -> Option<u32> {
        let given = self.params.given(schema::CLIENTS_PER_LINK);
        given.then(|| self.params.whole(schema::CLIENTS_PER_LINK) as u32)
    }
    /// A copy of this link by its number, from 0: `<name>.<number>`.
    #[must_use]
    pub fn copy(&self, number: u32) -> Link {
        Link { name: format!("{}.{number}", self.name), ..self.clone() }
    }
    /// The queue of one direction.
    pub fn queue(&self, direction: Direction) -> &Queue {
        &self.queues[direction as usize]
    }
    /// Line rate in one direction. If it changes, this is the nominal rate, which disciplines use.
    pub fn rate_of(&self, direction: Direction) -> Rate {
        rate_of(&self.params, direction)
    }
    /// Changes of the rate over time in one direction.
    pub fn changes_of(&self, direction: Direction) -> Option<&Changes> {
        self.changes[direction as usize].as_ref()
    }
    /// Link-layer overhead of an IP packet on the wire.
    pub fn framing(&self) -> Framing {
        let named = framing::find(self.params.choice("framing")).expect("a name of the list");
        Framing { overhead: named.overhead + self.params.whole("framing_bytes"), ..named }
    }
    /// The line in one direction as disciplines know it: its rate, and the header bytes that count.
    pub fn line(&self, direction: Direction) -> Line {
        line_of(&self.params, direction)
    }
}

fn rate_of(link: &Params, direction: Direction) -> Rate {
    let own = direction == Direction::Reverse && link.given("reverse_rate");
    link.rate(if own { "reverse_rate" } else { "rate" })
}

fn line_of(link: &Params, direction: Direction) -> Line {
    let header_bytes = link.whole("header_bytes") as u32;
    Line { rate: rate_of(link, direction), header_bytes }
}

/// Round-trip propagation times.
#[derive(Clone, Debug)]
pub enum Rtt {
    /// One round-trip time for all connections.
    Constant(Duration),
    /// Round-trip times that the users or flows of each group take in turn, each group from the
    /// first.
    List(Vec<Duration>),
    /// One of [`TCPEVAL_MS`](crate::topology::TCPEVAL_MS), drawn for each connection.
    Tcpeval,
    /// A range of round-trip times, see [`crate::scenario::schema::RTT`].
    Range(Params),
}

/// The start of a group, relative to that of another group.
#[derive(Clone, Debug)]
pub struct StartAfter {
    /// Name of the other group.
    pub group: String,
    /// Time from the other group's start to the start of this one.
    pub delay: Duration,
}

/// A group of users or flows.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Name of the group, with which the names of its streams of random numbers begin.
    pub name: String,
    /// The application.
    pub entry: &'static traffic::Entry,
    /// The application's parameters.
    pub app: Params,
    /// Parameters of the group: number of users, side and others; see
    /// [`crate::scenario::schema::TRAFFIC`].
    pub params: Params,
    /// The TCP profile.
    pub profile: &'static tcp::Entry,
    /// The profile's parameters.
    pub tcp: Params,
    /// The group's congestion control, if a user supplied it.
    pub own_control: OwnControl,
    /// Indices of the links that the group crosses, in order from the servers to the clients.
    pub via: Vec<usize>,
    /// Round-trip times of the group, if they differ from the network's.
    pub rtt: Option<Rtt>,
    /// Rules that drop or mark packets by their numbers.
    pub script: Vec<Rule>,
    /// The other group after whose start this group starts; `None` for a start with the run.
    pub start_after: Option<StartAfter>,
}

impl Traffic {
    /// Number of users or flows, unless a load still has to be calibrated.
    pub fn sources(&self) -> Option<u32> {
        if self.entry.is_open_loop() {
            let recorded = self.entry.is_recorded() && !self.params.given("load");
            return (recorded || self.app.given(traffic::RATE)).then_some(1);
        }
        match self.params.whole_or("users", 0) {
            0 => None,
            n => Some(n as u32),
        }
    }
    /// Side of the links on which the users or senders are.
    pub fn side(&self) -> Side {
        let clients = if self.params.given("side") {
            self.params.choice("side") == "clients"
        } else {
            self.entry.fetches
        };
        if clients { Side::Clients } else { Side::Servers }
    }
    /// The direction in which most of the group's data goes.
    pub fn direction(&self) -> Direction {
        Direction::from(self.data_from())
    }
    /// The side that sends most of the group's data.
    pub fn data_from(&self) -> Side {
        // A fetching application receives data on its own side; a sending one sends to the other
        // side.
        if self.entry.fetches { self.side().other() } else { self.side() }
    }
}

/// The description of one run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Parameters of the run: duration, warm-up, seed, engine.
    pub params: Params,
    /// Parameters of the network: machines, their access lines and clocks.
    pub network: Params,
    /// Round-trip propagation times.
    pub rtt: Rtt,
    /// Links in order from the servers to the clients.
    pub links: Vec<Link>,
    /// Groups of users and flows.
    pub traffic: Vec<Traffic>,
    /// Parameters of recording: which tables and samples are kept.
    pub record: Params,
    /// Ports whose queue samples are kept, by name; the first is the studied one.
    pub queues: Vec<String>,
}

impl Scenario {
    /// Reads and checks a scenario that uses built-in disciplines only.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn from_json(text: &str) -> Result<Scenario, ScenarioError> {
        Scenario::read(text, &Registry::ours())
    }

    /// Reads (JSON) and checks a scenario that may name any discipline of the registry.
    ///
    /// # Errors
    /// One sentence that names the field by its path, the value, and the remedy.
    pub fn read(text: &str, registry: &Registry) -> Result<Scenario, ScenarioError> {
        Scenario::read_with(text, registry, &tcp::Controls::ours())
    }

    /// As [`Scenario::read`], for a scenario that may also name any of these congestion controls.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_with(
        text: &str,
        registry: &Registry,
        controls: &tcp::Controls,
    ) -> Result<Scenario, ScenarioError> {
        let scenario = read::scenario(text, registry, controls);
        let scenario = scenario.map_err(ScenarioError::on_one_line)?;
        scenario.check().map_err(ScenarioError::on_one_line)?;
        Ok(scenario)
    }

    /// Number of copies of a link: one, or enough for all client machines.
    pub fn copies(&self, link: &Link) -> u32 {
        let clients = self.network.whole("clients") as u32;
        link.clients_per_link().map_or(1, |each| clients.div_ceil(each))
    }

    /// Names of the ports of links' copies, in order.
    pub(crate) fn copied_ports(&self) -> impl Iterator<Item = String> + '_ {
        let copied = self.links.iter().filter(|link| link.clients_per_link().is_some());
        copied.flat_map(|link| {
            (0..self.copies(link)).flat_map(move |copy| {
                Direction::BOTH.map(|direction| format!("{}.{copy}.{direction}", link.name))
            })
        })
    }

    /// Names of all ports of the links.
    pub fn port_names(&self) -> Vec<String> {
        let shared = self.links.iter().filter(|link| link.clients_per_link().is_none());
        let ports = |link: &Link| Direction::BOTH.map(|direction| link.port(direction));
        shared.flat_map(ports).chain(self.copied_ports()).collect()
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
            let mut taken = HashSet::new();
            let twice = names.iter().enumerate().find(|(_, name)| !taken.insert(**name));
            twice.map_or(Ok(()), |(i, name)| {
                Err(ScenarioError(format!(
                    "{kind}.{i}.name: \"{name}\" is taken already; give every {kind} a name of its own"
                )))
            })
        };
        names("link", self.links.iter().map(|l| l.name.as_str()).collect())?;
        names("traffic", self.traffic.iter().map(|t| t.name.as_str()).collect())?;
        self.check_copies()?;
        self.check_starts()?;
        self.check_sizes()?;
        self.check_distances()?;
        Ok(())
    }

    /// Refuses copies of links if machines have access lines of their own.
    fn check_copies(&self) -> Result<(), ScenarioError> {
        let copied = self.links.iter().position(|link| link.clients_per_link().is_some());
        let Some(i) = copied.filter(|_| self.network.given("access_rate")) else { return Ok(()) };
        Err(ScenarioError(format!(
            "link.{i}.{each}: machines with lines of their own (network.access_rate) have no copies of a link; leave access_rate out and add a link with {each} = 1",
            each = schema::CLIENTS_PER_LINK,
        )))
    }

    /// Refuses one round-trip time for each source if a single source stands for all connections.
    fn check_distances(&self) -> Result<(), ScenarioError> {
        for (i, group) in self.traffic.iter().enumerate().filter(|(_, t)| t.entry.is_open_loop()) {
            let (path, rtt) = match &group.rtt {
                Some(own) => (format!("traffic.{i}.rtt"), own),
                None => ("network.rtt".to_owned(), &self.rtt),
            };
            if matches!(rtt, Rtt::Range(rtt) if rtt.choice("draw") == "source") {
                return Err(ScenarioError(format!(
                    "{path}.draw: {} has no users who keep a distance of their own; write draw = \"connection\"",
                    group.entry.about.name
                )));
            }
        }
        Ok(())
    }

    /// For each group, the index of the group after whose start it starts; `Err` has the name that
    /// the scenario gives if no group is called so.
    pub fn leaders(&self) -> Vec<Option<Result<usize, &str>>> {
        let names = self.traffic.iter().enumerate().map(|(i, group)| (group.name.as_str(), i));
        let numbers: BTreeMap<&str, usize> = names.collect();
        let leader = |after: &'_ StartAfter| numbers.get(after.group.as_str()).copied();
        let of = |after| leader(after).ok_or(after.group.as_str());
        self.traffic.iter().map(|group| group.start_after.as_ref().map(of)).collect()
    }

    /// Refuses a start after that of a group that does not exist, or that itself waits for this
    /// one.
    fn check_starts(&self) -> Result<(), ScenarioError> {
        let leaders = self.leaders();
        let path = |i: usize| format!("traffic.{i}.start_after.group");
        let mut starts = vec![false; leaders.len()]; // groups that start at some time
        for i in 0..leaders.len() {
            let mut chain = Vec::new();
            let mut at = i;
            while !std::mem::replace(&mut starts[at], true) {
                chain.push(at);
                match leaders[at] {
                    None => chain.clear(),
                    Some(Ok(leader)) => at = leader,
                    Some(Err(name)) => {
                        let names: Vec<&str> =
                            self.traffic.iter().map(|t| t.name.as_str()).collect();
                        let why = unknown("group", name, &names);
                        return Err(ScenarioError(format!("{}: {why}", path(at))));
                    }
                }
            }
            if chain.contains(&at) {
                let [name, leader] =
                    [at, *chain.last().unwrap_or(&at)].map(|i| &self.traffic[i].name);
                return Err(ScenarioError(format!(
                    "{}: \"{name}\" itself waits for \"{leader}\", so that neither would ever start; let one of them start by itself",
                    path(*chain.last().unwrap_or(&at)),
                )));
            }
        }
        Ok(())
    }
}
