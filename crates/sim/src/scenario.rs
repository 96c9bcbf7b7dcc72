//! What one run is, as data: read from JSON (`read`), checked, and written back with every default
//! (`write`).

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
    /// The entry in the registry.
    pub entry: &'static aqm::Entry,
    /// Its parameters.
    pub params: Params,
    /// How the scenario names the entry: by its name, or, where it is a user's own, by a table with
    /// its source.
    pub as_written: Json,
}

/// One link: a line and a queue in each direction.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name; its ports are called `<name>.forward` and `<name>.reverse`.
    pub name: String,
    /// The kind of access it is, of [`crate::scenario::access::ACCESS`], which the other fields follow.
    pub access: Option<&'static str>,
    /// Rate, delay, framing.
    pub params: Params,
    /// How the rate changes, forward and reverse.
    pub changes: [Option<Changes>; 2],
    /// What it does to packets apart from queueing them, in this order.
    pub effects: Vec<Effect>,
    /// The channel that it is, in place of a wire.
    pub channel: Option<Channel>,
    /// The queues, forward and reverse.
    pub queues: [Queue; 2],
}

impl Link {
    /// The name of the port of one direction.
    pub fn port(&self, direction: Direction) -> String {
        format!("{}.{direction}", self.name)
    }
    /// How many client machines share a copy of this link, if it has copies.
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
    /// Line rate in one direction. Where it changes, the nominal one, which disciplines use.
    pub fn rate_of(&self, direction: Direction) -> Rate {
        rate_of(&self.params, direction)
    }
    /// How the rate changes in one direction.
    pub fn changes_of(&self, direction: Direction) -> Option<&Changes> {
        self.changes[direction as usize].as_ref()
    }
    /// What surrounds an IP packet on the wire.
    pub fn framing(&self) -> Framing {
        let named = framing::find(self.params.choice("framing")).expect("a name of the list");
        Framing { overhead: named.overhead + self.params.whole("framing_bytes"), ..named }
    }
    /// The line in one direction, as disciplines get it.
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
    /// One value for all.
    Constant(Duration),
    /// Values that the users or flows of each group take in turn, each group from the first.
    List(Vec<Duration>),
    /// [`TCPEVAL_MS`](crate::topology::TCPEVAL_MS), drawn for each connection.
    Tcpeval,
    /// A range, see [`crate::scenario::schema::RTT`].
    Range(Params),
}

/// A group's start, said by another group's.
#[derive(Clone, Debug)]
pub struct StartAfter {
    /// Name of the other group.
    pub group: String,
    /// How long after its start.
    pub delay: Duration,
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
    /// How many, on which side; see [`crate::scenario::schema::TRAFFIC`].
    pub params: Params,
    /// The TCP profile.
    pub profile: &'static tcp::Entry,
    /// The profile's parameters.
    pub tcp: Params,
    /// Its congestion control, if that is a user's own.
    pub own_control: OwnControl,
    /// Places of the links it crosses, in order from the servers to the clients.
    pub via: Vec<usize>,
    /// Its round-trip times, where they are not the network's.
    pub rtt: Option<Rtt>,
    /// Packets dropped or marked by their numbers.
    pub script: Vec<Rule>,
    /// After which other group's start it begins; without it at the begin of the run.
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
    pub fn direction(&self) -> Direction {
        Direction::from(self.data_from())
    }
    /// The side that sends most of its data.
    pub fn data_from(&self) -> Side {
        // Who fetches gets data to its own side, who sends gives it to the other.
        if self.entry.fetches { self.side().other() } else { self.side() }
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
    /// Reads and checks a scenario of our own disciplines.
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

    /// As [`Scenario::read`]; it may also name any of these congestion controls.
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

    /// How many copies of a link there are.
    pub fn copies(&self, link: &Link) -> u32 {
        let clients = self.network.whole("clients") as u32;
        link.clients_per_link().map_or(1, |each| clients.div_ceil(each))
    }

    /// Ports of the copies of links, in order.
    pub(crate) fn copied_ports(&self) -> impl Iterator<Item = String> + '_ {
        let copied = self.links.iter().filter(|link| link.clients_per_link().is_some());
        copied.flat_map(|link| {
            (0..self.copies(link)).flat_map(move |copy| {
                Direction::BOTH.map(|direction| format!("{}.{copy}.{direction}", link.name))
            })
        })
    }

    /// Every port of the links.
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

    /// Refuses copies of links before machines that have lines of their own already.
    fn check_copies(&self) -> Result<(), ScenarioError> {
        let copied = self.links.iter().position(|link| link.clients_per_link().is_some());
        let Some(i) = copied.filter(|_| self.network.given("access_rate")) else { return Ok(()) };
        Err(ScenarioError(format!(
            "link.{i}.{each}: machines with lines of their own (network.access_rate) have no copies of a link; leave access_rate out and add a link with {each} = 1",
            each = schema::CLIENTS_PER_LINK,
        )))
    }

    /// Refuses a distance for each source where a single source stands for all connections.
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

    /// For each group the number of the one after whose start it begins, or what it was called where
    /// there is none.
    pub fn leaders(&self) -> Vec<Option<Result<usize, &str>>> {
        let names = self.traffic.iter().enumerate().map(|(i, group)| (group.name.as_str(), i));
        let numbers: BTreeMap<&str, usize> = names.collect();
        let leader = |after: &'_ StartAfter| numbers.get(after.group.as_str()).copied();
        let of = |after| leader(after).ok_or(after.group.as_str());
        self.traffic.iter().map(|group| group.start_after.as_ref().map(of)).collect()
    }

    /// Refuses a start after that of a group that is not there, or that waits for this one.
    fn check_starts(&self) -> Result<(), ScenarioError> {
        let leaders = self.leaders();
        let path = |i: usize| format!("traffic.{i}.start_after.group");
        let mut starts = vec![false; leaders.len()]; // known to start some time
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
