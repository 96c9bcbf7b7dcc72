//! What one run is, as data: read from JSON (`read`), checked, and written back with every default
//! (`write`).

mod changes;
pub mod framing;
mod read;
mod write;

use packet::params::Params;
use packet::{Duration, Framing, Rate};

pub use changes::Changes;

use crate::error::ScenarioError;
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
    /// The kind of access it is, of [`crate::access::ACCESS`], which the other fields follow.
    pub access: Option<&'static str>,
    /// Rate, delay, framing.
    pub params: Params,
    /// How the rate changes, forward and reverse.
    pub changes: [Option<Changes>; 2],
    /// The queue of the direction servers → clients.
    pub forward: Queue,
    /// The queue of the direction clients → servers.
    pub reverse: Queue,
}

impl Link {
    /// Line rate in one direction, `forward` or `reverse`; the nominal one where it changes, which
    /// disciplines are told.
    pub fn rate_of(&self, direction: &str) -> Rate {
        let own = direction == "reverse" && self.params.given("reverse_rate");
        self.params.rate(if own { "reverse_rate" } else { "rate" })
    }
    /// How the rate changes in one direction.
    pub fn changes_of(&self, direction: &str) -> Option<&Changes> {
        self.changes[usize::from(direction == "reverse")].as_ref()
    }
    /// What surrounds an IP packet on the wire.
    pub fn framing(&self) -> Framing {
        framing::find(self.params.choice("framing")).expect("a name of the list")
    }
}

/// Round-trip propagation times.
#[derive(Clone, Debug)]
pub enum Rtt {
    /// One value for all.
    Constant(Duration),
    /// Values that users or flows take in turn.
    List(Vec<Duration>),
    /// [`TCPEVAL_MS`](crate::topology::TCPEVAL_MS), drawn for each connection.
    Tcpeval,
    /// A range, see [`crate::schema::RTT`].
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
    /// How many, on which side; see [`crate::schema::TRAFFIC`].
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
            let recorded = self.entry.is_recorded() && !self.params.given("load");
            return (recorded || self.app.given(traffic::registry::RATE)).then_some(1);
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
        let scenario = read::scenario(text).map_err(ScenarioError::on_one_line)?;
        scenario.check().map_err(ScenarioError::on_one_line)?;
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
}
