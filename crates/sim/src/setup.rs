//! Builds the world of a scenario: ports, routes, machines, and groups of users and senders.

mod channel;
mod effects;
mod memory;
mod places;
mod preview;
mod resolved;
mod round_trips;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use aqm::{Built, HASH_SEED_FIELD};
use packet::params::Value;
use packet::{Duration, Framing, Instant, Rate, Rng};
use record::{Keep, Meter, MeterSettings, Window};

use crate::error::ScenarioError;
use crate::memory::{construct, free_bytes};
use crate::port::{ExplicitPort, FoldedPort, Medium, Port, Unlimited, Wire};
use crate::recorder::Recorder;
use crate::scenario::{Link, Queue, Scenario, Traffic};
use crate::topology::{DelayClocks, Direction, Machines, Side};
use crate::watch::Watch;
use crate::world::{Group, Network, Scripts, World};

use places::{Places, Ports};
pub use preview::{capacities, estimate};
pub use resolved::resolve;
use round_trips::round_trips;

/// The parts of a scenario's world, for the driver that moves packets through it.
pub struct Parts {
    /// Ports, and the propagation delays behind them.
    pub network: Network,
    /// Names of the ports.
    pub names: Vec<String>,
    /// Routes, which are lists of port indices; groups refer to them by index.
    pub routes: Vec<Vec<u32>>,
    /// Groups, each with the population that creates its users or senders.
    pub groups: Vec<(Group, traffic::Population)>,
}

/// The parts of a scenario in which every port works event by event, for a driver that has packets
/// of its own (a live run).
///
/// # Errors
/// A sentence, if parameters contradict each other or a load was not calibrated into users.
pub fn parts(scenario: &Scenario) -> Result<Parts, ScenarioError> {
    assemble(scenario, &scenario.port_names(), None).map_err(ScenarioError::on_one_line)
}

/// The world of a scenario before its first event, and the names of its ports. Ports in `captured`
/// show their packets; `watch` selects what an observer may read during the run.
///
/// # Errors
/// A sentence, if parameters contradict each other or a load was not calibrated into users.
pub(crate) fn world(
    scenario: &Scenario,
    captured: &[String],
    watch: Option<&Watch>,
) -> Result<(World, Vec<String>), ScenarioError> {
    scenario.check_memory(free_bytes())?;
    let Parts { network, names, routes, groups } = assemble(scenario, captured, watch)?;
    let mut populated = Vec::new();
    for (group, population) in groups {
        let sources = population.sources();
        let apps = population.all().ok_or_else(|| too_many(&group.name, sources))?;
        populated.push((group, sources, apps));
    }
    let seed = scenario.params.whole("seed");
    let sources = populated.iter().map(|&(_, sources, _)| sources as usize);
    let recorder = Recorder::new(scenario, sources, watch.map(|watch| watch.keep));
    let machines = |side| scenario.network.whole(side) as u32;
    let machines = Machines::new(seed, machines("clients"), machines("servers"));
    let mut world = World::new(network, routes, machines, Scripts::new(scenario), recorder);
    for (group, sources, apps) in populated {
        world.add_group(group, seed, sources, apps);
    }
    Ok((world, names))
}

/// As [`parts`], for a simulation: disciplines that allow it compute departures at arrival.
///
/// # Errors
/// As [`parts`].
pub fn simulated_parts(scenario: &Scenario) -> Result<Parts, ScenarioError> {
    assemble(scenario, &[], None).map_err(ScenarioError::on_one_line)
}

fn assemble(
    scenario: &Scenario,
    captured: &[String],
    watch: Option<&Watch>,
) -> Result<Parts, ScenarioError> {
    let seed = scenario.params.whole("seed");
    let mut builder = Builder::new(scenario, captured, watch, seed);
    let both = |direction, b: &mut Builder| -> Result<Vec<Places>, ScenarioError> {
        scenario.links.iter().enumerate().map(|(i, l)| b.places(i, l, direction)).collect()
    };
    let (clients, servers) =
        (scenario.network.whole("clients") as u32, scenario.network.whole("servers") as u32);
    let mut ports = Ports {
        forward: both(Direction::Forward, &mut builder)?,
        reverse: both(Direction::Reverse, &mut builder)?,
        clients: Vec::new(),
        servers: Vec::new(),
        homes: clients,
    };
    if scenario.network.given("access_rate") {
        let rate = scenario.network.rate("access_rate");
        ports.clients = (0..clients).map(|i| builder.access_port("client", i, rate)).collect();
        ports.servers = (0..servers).map(|i| builder.access_port("server", i, rate)).collect();
    }
    let mut groups = Vec::new();
    for group in &scenario.traffic {
        groups.push(set_up_group(scenario, group, &ports, &mut builder)?);
    }
    for (i, leader) in scenario.leaders().into_iter().enumerate() {
        if let (Some(Ok(leader)), Some(after)) = (leader, &scenario.traffic[i].start_after) {
            groups[leader].0.dependents.push((i as u16, after.delay));
        }
    }
    let mut all = scenario.links.iter().flat_map(|link| &link.effects);
    let discard =
        all.any(|effect| effect.entry.discarded).then(|| builder.effect_port(effects::discard()));
    let Builder { ports, names, routes, .. } = builder;
    let delays = DelayClocks::new(seed, clients, scenario.network.time("delay_tick"));
    let network = Network::new(ports, delays, discard);
    Ok(Parts { network, names, routes, groups })
}

fn too_many(group: &str, sources: u32) -> ScenarioError {
    ScenarioError(format!(
        "traffic {group}: {sources} users or flows do not fit into memory; give fewer"
    ))
}

impl Scenario {
    /// The measured interval.
    pub fn window(&self) -> Window {
        let end = Instant::ZERO + self.params.time("duration");
        Window { from: Instant::ZERO + self.params.time("warmup"), to: end }
    }

    /// Whether any group has a script, which drops or marks packets by their numbers.
    pub(crate) fn has_scripts(&self) -> bool {
        self.traffic.iter().any(|group| !group.script.is_empty())
    }

    /// Names of the groups, in order.
    pub fn group_names(&self) -> Vec<String> {
        self.traffic.iter().map(|group| group.name.clone()).collect()
    }
}

/// Builds the ports and routes of a scenario.
struct Builder<'a> {
    scenario: &'a Scenario,
    captured: HashSet<&'a str>,
    sampled: HashSet<&'a str>,
    /// Names of the ports that belong to copies of links.
    copied: HashSet<String>,
    watch: Option<&'a Watch>,
    /// Radio channels by the names of their links.
    mediums: HashMap<String, Arc<Mutex<Medium>>>,
    seed: u64,
    ports: Vec<(Port, Duration)>,
    names: Vec<String>,
    routes: Vec<Vec<u32>>,
    /// Index of every route in `routes`.
    known: HashMap<Vec<u32>, u32>,
}

impl<'a> Builder<'a> {
    fn new(
        scenario: &'a Scenario,
        captured: &'a [String],
        watch: Option<&'a Watch>,
        seed: u64,
    ) -> Self {
        let (captured, sampled) = (captured.iter(), scenario.queues.iter());
        let (ports, names, routes, known, mediums) = Default::default();
        Builder {
            scenario,
            captured: captured.map(String::as_str).collect(),
            sampled: sampled.map(String::as_str).collect(),
            copied: scenario.copied_ports().collect(),
            watch,
            mediums,
            seed,
            ports,
            names,
            routes,
            known,
        }
    }

    /// The meter of a port; `delays` says whether it keeps the distribution of queueing delays.
    fn meter(&self, name: &str, delays: bool) -> Meter {
        let record = &self.scenario.record;
        let sampled = self.sampled.contains(name);
        let rows = self.watch.is_none_or(|watch| watch.keep == Keep::Everything);
        let watch = self.watch.filter(|watch| watch.ports.iter().any(|port| port == name));
        Meter::new(MeterSettings {
            window: self.scenario.window(),
            sample_every: sampled.then(|| record.time("queue_every")),
            keep_samples: rows && record.switch("samples"),
            gauges: record.switch("gauges"),
            trace: rows && sampled && record.switch("trace"),
            delays,
            seconds: !self.copied.contains(name),
            watch: watch.map(|watch| watch.settings),
        })
    }

    fn port(
        &mut self,
        meter: Meter,
        name: String,
        wire: Wire,
        delay: Duration,
        built: Built,
    ) -> u32 {
        let rng = Rng::named(self.seed, &format!("port.{name}"));
        let watched = meter.watches() || self.captured.contains(name.as_str());
        let folded = self.scenario.params.choice("engine") == "folded" && !watched;
        let port = match built {
            Built::Gate(gate) if folded => {
                Port::Folded(Box::new(FoldedPort::new(gate, wire, rng, meter)))
            }
            built => Port::Explicit(Box::new(ExplicitPort::new(
                built.into_discipline(),
                wire,
                rng,
                meter,
            ))),
        };
        self.ports.push((port, delay));
        self.names.push(name);
        (self.ports.len() - 1) as u32
    }

    /// Indices of the effects and ports in one direction of a link, for each of its copies.
    fn places(
        &mut self,
        index: usize,
        link: &Link,
        direction: Direction,
    ) -> Result<Places, ScenarioError> {
        let Some(clients) = link.clients_per_link() else {
            return Ok(Places::Shared(self.link_ports(index, link, direction)?));
        };
        let copies = 0..self.scenario.copies(link);
        let of = |copy| self.link_ports(index, &link.copy(copy), direction);
        Ok(Places::PerClients { clients, copies: copies.map(of).collect::<Result<_, _>>()? })
    }

    /// Indices of the elements that a packet passes on a link: effects before the queue, the queue
    /// with its line, effects behind them.
    fn link_ports(
        &mut self,
        index: usize,
        link: &Link,
        direction: Direction,
    ) -> Result<Vec<u32>, ScenarioError> {
        let effects = effects::build(self.seed, index, link, direction)?;
        if let Some(channel) = link.channel.as_ref().filter(|channel| channel.is_of(direction)) {
            let port = self.channel_port(index, link, direction, channel)?;
            return Ok(effects.around(port, self));
        }
        let wire = wire(self.scenario, link, direction);
        let name = link.port(direction);
        let queue = self.hashed(&name, link.queue(direction));
        let built = build_queue(index, link, direction, &queue)?;
        let meter = self.meter(&name, true);
        let port = self.port(meter, name, wire, link.params.time("delay"), built);
        Ok(effects.around(port, self))
    }

    /// The queue of `port`; unless the scenario gives its hash a seed, each replication draws one.
    fn hashed(&self, port: &str, queue: &Queue) -> Queue {
        if queue.entry.about.fields.iter().all(|field| field.name != HASH_SEED_FIELD) {
            return queue.clone();
        }
        let drawn = Rng::named(self.seed, &format!("port.{port}.hash")).below(1 << 32);
        let params = queue.params.with_default(HASH_SEED_FIELD, Value::Whole(drawn));
        Queue { params, ..queue.clone() }
    }

    /// Adds a machine's own line towards the links, with an unlimited queue.
    fn access_port(&mut self, side: &str, machine: u32, rate: Rate) -> u32 {
        let wire = Wire::new(rate, Framing::NONE);
        let name = format!("access.{side}{machine}");
        let meter = self.meter(&name, false);
        self.port(meter, name, wire, Duration::ZERO, Built::Gate(Box::new(Unlimited)))
    }

    fn route(&mut self, ports: Vec<u32>) -> u32 {
        let routes = &mut self.routes;
        *self.known.entry(ports).or_insert_with_key(|ports| {
            routes.push(ports.clone());
            (routes.len() - 1) as u32
        })
    }
}

/// The line of a link's direction.
pub(crate) fn wire(scenario: &Scenario, link: &Link, direction: Direction) -> Wire {
    let (rate, framing) = (link.rate_of(direction), link.framing());
    let seed = scenario.params.whole("seed");
    let wire = match (effects::gates(seed, link, direction), link.changes_of(direction)) {
        (Some(gates), _) => {
            Wire::changing(gates.capacity(link, direction, scenario.window()), framing)
        }
        (None, None) => Wire::new(rate, framing),
        (None, Some(changes)) => {
            let stream = format!("link.{}.{direction}.rate", link.name);
            let rng = Rng::named(seed, &stream);
            Wire::changing(changes.capacity(rate, rng, scenario.window()), framing)
        }
    };
    wire.counting(link.line(direction).header_bytes).behind_ring(link.params.whole("ring") as usize)
}

fn set_up_group(
    scenario: &Scenario,
    spec: &Traffic,
    ports: &Ports,
    builder: &mut Builder,
) -> Result<(Group, traffic::Population), ScenarioError> {
    let sources = spec.sources().ok_or_else(|| {
        ScenarioError(format!(
            "traffic {}: load has not been calibrated into its size; start the run with the aqmlab command or aqmlab.run, which do so",
            spec.name
        ))
    })?;
    let population = population(scenario, spec, sources)?;
    let profile = spec.end_system()?;
    preview::check_streams(spec, &population, &profile)?;
    let via = &spec.via;
    let side = spec.side();
    let group = Group {
        name: spec.name.clone(),
        side,
        profile: Arc::new(profile),
        routes: [ports.routes(side, via, builder), ports.routes(side.other(), via, builder)],
        round_trips: round_trips(scenario, spec, sources),
        first_member: 0,
        shares_ticks: false,
        waits: spec.start_after.is_some(),
        dependents: Vec::new(),
        dscp: packet::dscp::find(spec.params.choice("dscp")).expect("a name of the list"),
    };
    Ok((group, population))
}

pub(crate) fn population(
    scenario: &Scenario,
    group: &Traffic,
    sources: u32,
) -> Result<traffic::Population, ScenarioError> {
    let network = &scenario.network;
    let (own, peers) = match group.side() {
        Side::Clients => (network.whole("clients"), network.whole("servers")),
        Side::Servers => (network.whole("servers"), network.whole("clients")),
    };
    let settings = traffic::Group {
        seed: scenario.params.whole("seed"),
        name: group.name.clone(),
        peers: peers as u32,
        sources,
        machines: own as u32,
    };
    (group.entry.build)(&group.app, &settings)
        .map_err(|bad| ScenarioError(format!("traffic {}: {bad}", group.name)))
}

pub(crate) fn build_queue(
    index: usize,
    link: &Link,
    direction: Direction,
    queue: &Queue,
) -> Result<Built, ScenarioError> {
    construct(queue, &link.line(direction)).map_err(|bad| {
        ScenarioError(format!("link.{index}.{direction}.{}: {}", bad.field, bad.why))
    })
}

impl Traffic {
    /// The TCP or QUIC profile of the group's end systems, with its parameters.
    ///
    /// # Errors
    /// Parameters of TCP or QUIC that contradict each other.
    pub fn end_system(&self) -> Result<tcp::Profile, ScenarioError> {
        (self.profile.build)(&self.tcp, &self.own_control.controls)
            .map_err(|bad| ScenarioError(format!("traffic {}.tcp: {bad}", self.name)))
    }
}
