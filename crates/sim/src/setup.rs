//! From a scenario to a world at rest: ports, routes, machines, and groups of users and senders.

use std::sync::Arc;

use aqm::{Built, Line};
use packet::{Duration, Framing, Instant, Rate, Rng};
use record::{
    Datagrams, Goodput, Meter, MeterSettings, PageSettings, Pages, RequestSettings, Requests,
    Sources, Window,
};

use crate::error::ScenarioError;
use crate::port::{ExplicitPort, FoldedPort, Port, Unlimited, Wire};
use crate::scenario::{Changes, Link, Queue, Rtt, Scenario, Traffic};
use crate::topology::{Machines, RoundTrips, Side, TCPEVAL_MS};
use crate::world::{Group, World};

/// The world of a scenario before its first event, and the names of its ports. Those called
/// `captured` show their packets.
///
/// # Errors
/// A sentence, if parameters contradict each other or a load was not calibrated into users.
pub(crate) fn world(
    scenario: &Scenario,
    captured: &[String],
) -> Result<(World, Vec<String>), ScenarioError> {
    let window = window(scenario);
    let seed = scenario.params.whole("seed");
    let (ports, names, routes) = Default::default();
    let mut builder = Builder { scenario, captured, seed, ports, names, routes };
    let both = |direction: &str, b: &mut Builder| -> Result<Vec<u16>, ScenarioError> {
        scenario.links.iter().enumerate().map(|(i, l)| b.link_port(i, l, direction)).collect()
    };
    let mut ports = Ports {
        forward: both("forward", &mut builder)?,
        reverse: both("reverse", &mut builder)?,
        clients: Vec::new(),
        servers: Vec::new(),
    };
    let (clients, servers) =
        (scenario.network.whole("clients") as u32, scenario.network.whole("servers") as u32);
    if scenario.network.given("access_rate") {
        let rate = scenario.network.rate("access_rate");
        ports.clients = (0..clients).map(|i| builder.access_port("client", i, rate)).collect();
        ports.servers = (0..servers).map(|i| builder.access_port("server", i, rate)).collect();
    }
    let mut groups = Vec::new();
    for group in &scenario.traffic {
        groups.push(set_up_group(scenario, group, &ports, &mut builder)?);
    }
    let Builder { ports, names, routes, .. } = builder;
    let requests = requests(scenario);
    let machines = Machines::new(seed, clients, servers);
    let record = &scenario.record;
    let datagrams = Datagrams::new(window, record.time("deadline"), record.switch("datagrams"));
    let pages = pages(scenario);
    let mut world = World::new(ports, routes, machines, requests, pages, datagrams, window);
    for (group, population) in groups {
        let apps = (0..population.members()).map(|i| population.member(i)).collect();
        world.add_group(group, seed, apps);
    }
    world.sources = record.switch("sources").then(|| sources(scenario, &world));
    world.goodput = record
        .switch("goodput")
        .then(|| Goodput::new(scenario.traffic.iter().map(|group| group.name.clone())));
    world.delay_tick = scenario.network.time("delay_tick");
    Ok((world, names))
}

fn requests(scenario: &Scenario) -> Requests {
    let name = |group: &Traffic| group.entry.fetches.then(|| group.name.clone());
    Requests::new(RequestSettings {
        window: window(scenario),
        log: scenario.record.switch("responses"),
        groups: scenario.traffic.iter().map(name).collect(),
        by_group: scenario.record.switch("by_group"),
    })
}

fn pages(scenario: &Scenario) -> Pages {
    Pages::new(PageSettings {
        window: window(scenario),
        log: scenario.record.switch("pages"),
        groups: scenario.traffic.iter().map(|group| group.name.clone()).collect(),
    })
}

fn sources(scenario: &Scenario, world: &World) -> Sources {
    let mut sources = Sources::default();
    for member in &world.members {
        let asks = scenario.traffic[usize::from(member.group)].entry.fetches;
        sources.add(member.group, asks);
    }
    sources
}

/// The measured interval.
pub(crate) fn window(scenario: &Scenario) -> Window {
    let end = Instant::ZERO + scenario.params.time("duration");
    Window { from: Instant::ZERO + scenario.params.time("warmup"), to: end }
}

/// Puts ports together under their names.
struct Builder<'a> {
    scenario: &'a Scenario,
    captured: &'a [String],
    seed: u64,
    ports: Vec<(Port, Duration)>,
    names: Vec<String>,
    routes: Vec<Vec<u16>>,
}

impl Builder<'_> {
    fn meter(&self, name: &str) -> Meter {
        let record = &self.scenario.record;
        let sampled = self.scenario.queues.iter().any(|q| q == name);
        Meter::new(MeterSettings {
            window: window(self.scenario),
            sample_every: sampled.then(|| record.time("queue_every")),
            keep_samples: record.switch("samples"),
            gauges: record.switch("gauges"),
            trace: sampled && record.switch("trace"),
        })
    }

    fn port(&mut self, name: String, wire: Wire, delay: Duration, built: Built) -> u16 {
        let rng = Rng::named(self.seed, &format!("port.{name}"));
        let meter = self.meter(&name);
        let watched = meter.watches() || self.captured.contains(&name);
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
        (self.ports.len() - 1) as u16
    }

    fn link_port(
        &mut self,
        index: usize,
        link: &Link,
        direction: &str,
    ) -> Result<u16, ScenarioError> {
        let wire = wire(self.scenario, link, direction);
        let queue: &Queue = if direction == "forward" { &link.forward } else { &link.reverse };
        let name = format!("{}.{direction}", link.name);
        let built = build_queue(index, link, direction, queue)?;
        Ok(self.port(name, wire, link.params.time("delay"), built))
    }

    /// A machine's own line towards the links: nothing is lost there.
    fn access_port(&mut self, side: &str, machine: u32, rate: Rate) -> u16 {
        let wire = Wire::new(rate, Framing::NONE);
        self.port(
            format!("access.{side}{machine}"),
            wire,
            Duration::ZERO,
            Built::Gate(Box::new(Unlimited)),
        )
    }

    fn route(&mut self, ports: Vec<u16>) -> u16 {
        let known = self.routes.iter().position(|r| *r == ports);
        known.unwrap_or_else(|| {
            self.routes.push(ports);
            self.routes.len() - 1
        }) as u16
    }
}

/// The line of a link's direction.
fn wire(scenario: &Scenario, link: &Link, direction: &str) -> Wire {
    let (rate, framing) = (link.rate_of(direction), link.framing());
    match link.changes_of(direction) {
        None => Wire::new(rate, framing),
        Some(changes) => {
            let stream = format!("link.{}.{direction}.rate", link.name);
            let rng = Rng::named(scenario.params.whole("seed"), &stream);
            Wire::changing(changes.capacity(rate, rng, window(scenario)), framing)
        }
    }
}

/// Ports of the links in both directions, and of the machines of both sides.
struct Ports {
    forward: Vec<u16>,
    reverse: Vec<u16>,
    clients: Vec<u16>,
    servers: Vec<u16>,
}

impl Ports {
    /// Routes by sending machine of what `side` sends over the links `via`.
    fn routes(&self, from: Side, via: &[usize], builder: &mut Builder) -> Vec<u16> {
        let (access, links): (&[u16], Vec<u16>) = match from {
            Side::Servers => (&self.servers, via.iter().map(|&i| self.forward[i]).collect()),
            Side::Clients => (&self.clients, via.iter().rev().map(|&i| self.reverse[i]).collect()),
        };
        if access.is_empty() {
            return vec![builder.route(links)];
        }
        let with_access = |&first: &u16| {
            let mut ports = vec![first];
            ports.extend(&links);
            builder.route(ports)
        };
        access.iter().map(with_access).collect()
    }
}

fn round_trips(scenario: &Scenario, group: &Traffic, members: u32) -> RoundTrips {
    let params = match group.rtt.as_ref().unwrap_or(&scenario.rtt) {
        Rtt::Constant(time) => return RoundTrips::Constant(*time),
        // An open-loop model has no users who could take them in turn.
        Rtt::List(times) if group.entry.is_open_loop() => return RoundTrips::OneOf(times.clone()),
        Rtt::List(times) => return RoundTrips::Members(times.clone()),
        Rtt::Tcpeval => {
            return RoundTrips::OneOf(TCPEVAL_MS.map(Duration::from_millis).to_vec());
        }
        Rtt::Range(params) => params,
    };
    let (min, max) = (params.time("min"), params.time("max"));
    let mut rng = Rng::named(scenario.params.whole("seed"), "network.rtt");
    let (clients, servers) =
        (scenario.network.whole("clients") as u32, scenario.network.whole("servers") as u32);
    match params.choice("draw") {
        "pair" => {
            let table = RoundTrips::stratified(min, max, clients * servers, &mut rng);
            match group.side() {
                Side::Clients => RoundTrips::Pairs { table, peers: servers },
                // The same pair of machines has the same distance whoever opens.
                Side::Servers => {
                    let pair = |s: u32, c: u32| table[(c * servers + s) as usize];
                    let swapped = (0..servers).flat_map(|s| (0..clients).map(move |c| pair(s, c)));
                    RoundTrips::Pairs { table: swapped.collect(), peers: clients }
                }
            }
        }
        "member" => RoundTrips::Members(RoundTrips::stratified(min, max, members, &mut rng)),
        _ => RoundTrips::Connections { min, max },
    }
}

fn set_up_group(
    scenario: &Scenario,
    spec: &Traffic,
    ports: &Ports,
    builder: &mut Builder,
) -> Result<(Group, traffic::Population), ScenarioError> {
    let members = spec.members().ok_or_else(|| {
        ScenarioError(format!(
            "traffic {}: load has not been calibrated into its size; start the run with the aqmlab command or aqmlab.run, which do so",
            spec.name
        ))
    })?;
    let population = population(scenario, spec, members)?;
    let profile = build_profile(spec)?;
    let crosses = |(i, link): (usize, &Link)| spec.via.contains(&link.name).then_some(i);
    let via: Vec<usize> = scenario.links.iter().enumerate().filter_map(crosses).collect();
    let side = spec.side();
    let group = Group {
        name: spec.name.clone(),
        side,
        profile: Arc::new(profile),
        routes: [ports.routes(side, &via, builder), ports.routes(side.other(), &via, builder)],
        round_trips: round_trips(scenario, spec, members),
        dscp: packet::dscp::find(spec.params.choice("dscp")).expect("a name of the list"),
    };
    Ok((group, population))
}

fn population(
    scenario: &Scenario,
    group: &Traffic,
    members: u32,
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
        members,
        machines: own as u32,
    };
    (group.entry.build)(&group.app, &settings)
        .map_err(|bad| ScenarioError(format!("traffic {}: {bad}", group.name)))
}

fn build_queue(
    index: usize,
    link: &Link,
    direction: &str,
    queue: &Queue,
) -> Result<Built, ScenarioError> {
    (queue.entry.build)(&queue.params, &Line { rate: link.rate_of(direction) }).map_err(|bad| {
        ScenarioError(format!("link.{index}.{direction}.{}: {}", bad.field, bad.why))
    })
}

fn build_profile(group: &Traffic) -> Result<tcp::Profile, ScenarioError> {
    (group.profile.build)(&group.tcp)
        .map_err(|bad| ScenarioError(format!("traffic {}.tcp: {bad}", group.name)))
}

impl Scenario {
    /// Checks what the fields alone do not show: parameters that contradict each other.
    ///
    /// # Errors
    /// One sentence that names the field and the remedy.
    pub fn check_parameters(&self) -> Result<(), ScenarioError> {
        for (i, link) in self.links.iter().enumerate() {
            for (direction, queue) in [("forward", &link.forward), ("reverse", &link.reverse)] {
                build_queue(i, link, direction, queue)?;
            }
        }
        for group in &self.traffic {
            population(self, group, group.members().unwrap_or(1))?;
            build_profile(group)?;
        }
        Ok(())
    }
}

/// IP bytes per user and second that the group given by a load is expected to ask for: the
/// first guess of a calibration.
///
/// # Errors
/// As [`Run::new`](crate::Run::new).
pub fn estimate(scenario: &Scenario) -> Result<Option<f64>, ScenarioError> {
    match scenario.traffic.iter().find(|t| t.params.given("load")) {
        None => Ok(None),
        Some(group) => Ok(population(scenario, group, 1)?.ip_bytes_per_member_s()),
    }
}

/// Bits per second that each link's ports offer on average in the measured interval, by port: what
/// a load is a share of. Of a rate drawn by the seed it is the nominal one, which all seeds share.
pub fn capacities(scenario: &Scenario) -> Vec<(String, f64)> {
    let of = |link: &Link, direction: &str| {
        let drawn = link.changes_of(direction).is_some_and(Changes::is_drawn);
        let mean = match drawn {
            true => link.rate_of(direction).bits_per_s() as f64,
            false => wire(scenario, link, direction).capacity().mean_bits_per_s,
        };
        (format!("{}.{direction}", link.name), mean)
    };
    let both = |link: &Link| ["forward", "reverse"].map(|direction| of(link, direction));
    scenario.links.iter().flat_map(both).collect()
}
