//! From a scenario to a world, and from a world to tables.

use std::sync::Arc;

use aqm::{Built, Line};
use packet::{Duration, Instant, Rate, Rng};
use record::{Datagrams, Figure, Meter, MeterSettings, Requests, Summary, Table, Window};

use crate::error::ScenarioError;
use crate::port::{ExplicitPort, FoldedPort, Framing, Port, Unlimited, Wire};
use crate::scenario::{Link, Queue, Rtt, Scenario, Traffic};
use crate::topology::{Machines, RoundTrips, Side, TCPEVAL_MS};
use crate::world::{Group, World};

/// What a run hands out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The figures of the measured interval.
    pub summary: Summary,
    /// The recorded rows.
    pub tables: Vec<Table>,
}

/// A scenario set up and ready to move.
pub struct Run {
    scenario: Scenario,
    world: World,
    ports: Vec<String>,
    window: Window,
    /// Whether the measured interval has begun.
    measuring: bool,
}

fn window(scenario: &Scenario) -> Window {
    let end = Instant::ZERO + scenario.params.time("duration");
    Window { from: Instant::ZERO + scenario.params.time("warmup"), to: end }
}

/// Puts ports together under their names.
struct Builder<'a> {
    scenario: &'a Scenario,
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
        })
    }

    fn port(&mut self, name: String, wire: Wire, delay: Duration, built: Built) -> u16 {
        let rng = Rng::named(self.seed, &format!("port.{name}"));
        let meter = self.meter(&name);
        let folded = self.scenario.params.choice("engine") == "folded";
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
        let framing = match link.params.choice("framing") {
            "ethernet" => Framing::Ethernet,
            _ => Framing::None,
        };
        let wire = Wire::new(link.rate_of(direction), framing);
        let queue: &Queue = if direction == "forward" { &link.forward } else { &link.reverse };
        let name = format!("{}.{direction}", link.name);
        let built = build_queue(index, link, direction, queue)?;
        Ok(self.port(name, wire, link.params.time("delay"), built))
    }

    /// A machine's own line towards the links: nothing is lost there.
    fn access_port(&mut self, side: &str, machine: u32, rate: Rate) -> u16 {
        let wire = Wire::new(rate, Framing::None);
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

impl Run {
    /// Sets a scenario up.
    ///
    /// # Errors
    /// A sentence, if parameters contradict each other or a load was not calibrated into users.
    pub fn new(scenario: Scenario) -> Result<Run, ScenarioError> {
        let window = window(&scenario);
        let seed = scenario.params.whole("seed");
        let mut builder = Builder {
            scenario: &scenario,
            seed,
            ports: Vec::new(),
            names: Vec::new(),
            routes: Vec::new(),
        };
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
            groups.push(set_up_group(&scenario, group, &ports, &mut builder)?);
        }
        let Builder { ports, names, routes, .. } = builder;
        let requests = Requests::new(window, scenario.record.switch("responses"));
        let machines = Machines::new(seed, clients, servers);
        let record = &scenario.record;
        let datagrams = Datagrams::new(window, record.time("deadline"), record.switch("datagrams"));
        let mut world = World::new(ports, routes, machines, requests, datagrams, window);
        for (group, population) in groups {
            let apps = (0..population.members()).map(|i| population.member(i)).collect();
            world.add_group(group, seed, apps);
        }
        world.delay_tick = scenario.network.time("delay_tick");
        world.start();
        Ok(Run { world, ports: names, window, measuring: false, scenario })
    }

    /// Moves to `until` (at most the end of the run).
    pub fn advance(&mut self, until: Instant) {
        if !self.measuring && until >= self.window.from {
            self.world.run_until(self.window.from);
            self.world.begin_measuring();
            self.measuring = true;
        }
        self.world.run_until(until.min(self.window.to));
    }

    /// Runs to the end, telling `progress` the simulated time now and then; stops without a
    /// result when it answers `false`.
    pub fn complete(mut self, progress: &mut dyn FnMut(Instant) -> bool) -> Option<Outcome> {
        const STEPS: u64 = 200;
        let end = self.window.to.nanos();
        for step in 1..=STEPS {
            let until = u128::from(end) * u128::from(step) / u128::from(STEPS);
            let until = Instant::from_nanos(until as u64);
            self.advance(until);
            if !progress(until) {
                return None;
            }
        }
        Some(self.outcome())
    }

    /// Ends the run and gathers what was measured.
    pub fn outcome(mut self) -> Outcome {
        self.world.finish();
        let summary = self.summary();
        let mut tables = self.port_tables();
        let World { requests, datagrams, flows, transfers, .. } = self.world;
        tables.extend(flows.table(self.window.seconds()));
        tables.push(requests.histogram());
        tables.push(requests.by_size());
        tables.extend(requests.into_log());
        if !datagrams.is_empty() {
            tables.push(datagrams.table());
            tables.extend(datagrams.into_log());
        }
        tables.extend(transfers.into_log());
        Outcome { summary, tables }
    }

    fn index(&self, name: &str) -> usize {
        let found = self.ports.iter().position(|p| p == name);
        found.expect("record.queues was checked against the links")
    }

    fn meter(&self, index: usize) -> &Meter {
        self.world.ports[index].meter()
    }

    fn summary(&mut self) -> Summary {
        let studied = self.index(&self.scenario.queues[0]);
        let mut summary = Summary::default();
        self.meter(studied).summarise(&mut summary);
        let open = self.world.open_requests();
        self.world.requests.summarise(open, &mut summary);
        self.world.flows.summarise(self.window.seconds(), &mut summary);
        summary.real("simulated_s", self.window.to.secs_f64());
        summary.real("measured_s", self.window.seconds());
        summary.whole("users", self.world.members.len() as u64);
        summary.whole("data_packets", self.meter(studied).data_packets());
        summary.whole("data_packets_sent", self.world.data_sent);
        summary.whole("events", self.world.agenda.served());
        summary.text("studied_port", self.scenario.queues[0].clone());
        if !self.world.datagrams.is_empty() {
            self.world.datagrams.summarise(&mut summary);
        }
        let mut ports = Summary::default();
        for (i, name) in self.ports.iter().enumerate().filter(|(_, n)| !n.starts_with("access")) {
            let mut port = Summary::default();
            self.meter(i).summarise(&mut port);
            ports.group(name, port);
        }
        summary.group("ports", ports);
        let transfers = self.scenario.traffic.iter().enumerate().filter_map(|(i, group)| {
            let figures = self.world.transfers.summarise(i as u16)?;
            Some((group.name.clone(), Figure::Group(figures)))
        });
        let transfers = Summary(transfers.collect());
        if !transfers.0.is_empty() {
            summary.group("transfers", transfers);
        }
        summary.text("fingerprint", format!("{:016x}", self.fingerprint()));
        summary
    }

    /// A hash over every departure at every port and every request: equal for equal runs,
    /// whatever the engine, the machine or the number of threads.
    fn fingerprint(&self) -> u64 {
        let parts = (0..self.ports.len()).map(|i| self.meter(i).fingerprint());
        let parts = parts.chain([self.world.requests.fingerprint()]);
        parts.chain(self.world.transfers.fingerprint()).fold(0, |hash: u64, part| {
            (hash.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
        })
    }

    fn port_tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if self.scenario.record.switch("samples") {
            let trace = |name: &String| (name.clone(), self.meter(self.index(name)).trace());
            let columns = self.scenario.queues.iter().map(trace).collect();
            let step = self.scenario.record.real("queue_every");
            tables.push(Table { name: "queue", columns, every_s: Some((0.0, step)) });
        }
        // A last, partial second has a row too.
        let seconds = self.window.to.nanos().div_ceil(1_000_000_000) as usize;
        let mut columns = Vec::new();
        for (i, name) in self.ports.iter().enumerate().filter(|(_, n)| !n.starts_with("access")) {
            columns.extend(self.meter(i).per_second(name, seconds));
        }
        columns.extend(self.world.requests.per_second(seconds));
        tables.push(Table { name: "seconds", columns, every_s: Some((0.0, 1.0)) });
        tables
    }
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

/// IP bytes per user and second that the group given by a load is expected to ask for: the
/// first guess of a calibration.
///
/// # Errors
/// As [`Run::new`].
pub fn estimate(scenario: &Scenario) -> Result<Option<f64>, ScenarioError> {
    match scenario.traffic.iter().find(|t| t.params.given("load")) {
        None => Ok(None),
        Some(group) => Ok(population(scenario, group, 1)?.ip_bytes_per_member_s()),
    }
}

/// Runs a scenario from beginning to end.
///
/// # Errors
/// As [`Run::new`].
pub fn run(scenario: Scenario) -> Result<Outcome, ScenarioError> {
    let outcome = Run::new(scenario)?.complete(&mut |_| true);
    Ok(outcome.expect("nobody asked it to stop"))
}

/// A summary as JSON. What JSON cannot say (the response time of a failed request) is null.
pub fn summary_json(summary: &Summary) -> serde_json::Value {
    let pairs = summary.0.iter().map(|(name, figure)| {
        let value = match figure {
            Figure::Whole(v) => serde_json::json!(v),
            Figure::Real(v) => serde_json::json!(v),
            Figure::Text(v) => serde_json::json!(v),
            Figure::Group(v) => summary_json(v),
        };
        (name.clone(), value)
    });
    serde_json::Value::Object(pairs.collect())
}
