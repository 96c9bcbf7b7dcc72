//! A world moved to its end, and what was measured of it as tables and a summary.

use std::collections::{HashMap, HashSet};

use packet::params::unknown;
use packet::{Duration, Instant};
use record::{Figure, Fingerprint, Meter, Summary, Table, Window};

use crate::capture::{Capture, Tap};
use crate::error::ScenarioError;
use crate::reports::Reports;
use crate::scenario::Scenario;
use crate::setup;
use crate::watch::{Watch, Watcher};
use crate::world::World;

/// What a run hands out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The figures of the measured interval.
    pub summary: Summary,
    /// The recorded rows. Where they belong to a group, its place in `groups` is in `group`.
    pub tables: Vec<Table>,
    /// Names of the traffic groups, in the order of the scenario.
    pub groups: Vec<String>,
}

/// A scenario set up and ready to move.
pub struct Run {
    scenario: Scenario,
    world: World,
    ports: Vec<String>,
    window: Window,
    /// Whether the measured interval has begun.
    measuring: bool,
    /// Only of a run that is watched.
    watcher: Option<Watcher>,
}

impl Run {
    /// Sets a scenario up.
    ///
    /// # Errors
    /// A sentence, if parameters contradict each other or a load was not calibrated into users.
    pub fn new(scenario: Scenario) -> Result<Run, ScenarioError> {
        let (world, ports) =
            setup::world(&scenario, &[], None).map_err(ScenarioError::on_one_line)?;
        Ok(Run::started(scenario, world, ports))
    }

    /// As [`Run::new`], with a capture of what crosses ports. Nothing of the run's outcome changes
    /// but `events`: these ports are simulated event by event.
    ///
    /// # Errors
    /// As [`Run::new`], and if there is no such port.
    pub fn capturing(scenario: Scenario, capture: Capture) -> Result<Run, ScenarioError> {
        let Capture { ports: mut captured, at, sink } = capture;
        if captured.is_empty() {
            let first = &scenario.links[0].name; // a scenario has one
            captured = vec![format!("{first}.forward"), format!("{first}.reverse")];
        }
        let (mut world, ports) =
            setup::world(&scenario, &captured, None).map_err(ScenarioError::on_one_line)?;
        let known: HashSet<&String> = ports.iter().collect();
        if let Some(name) = captured.iter().find(|name| !known.contains(name)) {
            let of_links = ports.iter().map(String::as_str).filter(|n| !n.starts_with("access"));
            let why = unknown("port", name, &of_links.collect::<Vec<_>>());
            return Err(ScenarioError(format!("capture: {why}")).on_one_line());
        }
        let captured: HashSet<&String> = captured.iter().collect();
        let tapped = ports.iter().map(|name| captured.contains(name)).collect();
        world.capture(Tap::new(tapped, at, sink));
        Ok(Run::started(scenario, world, ports))
    }

    /// As [`Run::new`], for whoever looks into the run while it goes on: [`Run::look`]. The least and
    /// the largest sample of queues and gauges are shown of every `bin`. Nothing of the run's
    /// outcome changes but `events`: the watched ports are simulated event by event.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn watched(scenario: Scenario, bin: Duration) -> Result<Run, ScenarioError> {
        let watch = Watch::new(bin, &scenario.queues);
        let (world, ports) =
            setup::world(&scenario, &[], Some(&watch)).map_err(ScenarioError::on_one_line)?;
        let watcher = Some(Watcher::new(watch.ports, &ports));
        Ok(Run { watcher, ..Run::started(scenario, world, ports) })
    }

    fn started(scenario: Scenario, mut world: World, ports: Vec<String>) -> Run {
        world.start();
        let window = setup::window(&scenario);
        Run { world, ports, window, measuring: false, scenario, watcher: None }
    }

    /// What has happened at the studied ports and to requests since the last look, as JSON; null if
    /// the run is not [`Run::watched`].
    pub fn look(&mut self) -> serde_json::Value {
        let over = self.world.now >= self.window.to;
        let look = |watcher: &mut Watcher| watcher.look(&mut self.world, over);
        self.watcher.as_mut().map_or(serde_json::Value::Null, look)
    }

    /// What has happened to packets since the last look, [`PACKET_NUMBERS`](crate::PACKET_NUMBERS)
    /// numbers for each event; the newest some thousand of each port.
    pub fn look_at_packets(&mut self, out: &mut Vec<f64>) {
        if let Some(watcher) = &mut self.watcher {
            watcher.packets(&mut self.world, out);
        }
    }

    /// Whether packets are to be seen from now on; they are until somebody says otherwise.
    pub fn watch_packets(&mut self, on: bool) {
        if let Some(watcher) = &mut self.watcher {
            watcher.watch_packets(&mut self.world, on);
        }
    }

    /// How far the run has come.
    pub fn now(&self) -> Instant {
        self.world.now
    }

    /// Events served so far.
    pub fn events(&self) -> u64 {
        self.world.agenda.served()
    }

    /// When it ends.
    pub fn end(&self) -> Instant {
        self.window.to
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
        let reports = Reports::ask(&mut self.world, self.window.to);
        let summary = self.summary(&reports);
        let mut tables = self.port_tables();
        let World { requests, pages, datagrams, flows, transfers, sources, .. } = self.world;
        tables.extend(flows.table(self.window.seconds()));
        tables.extend(sources.map(|sources| sources.table(self.window.seconds())));
        tables.push(requests.histogram());
        tables.push(requests.by_size());
        tables.extend(requests.into_log());
        tables.extend(pages.into_log());
        if !datagrams.is_empty() {
            tables.push(datagrams.table());
            tables.extend(datagrams.into_log());
        }
        tables.extend(transfers.into_log());
        tables.extend(reports.tables());
        Outcome { summary, tables, groups: setup::group_names(&self.scenario) }
    }

    /// Meters of the ports in `record.queues`.
    fn studied(&self) -> Vec<(&str, &Meter)> {
        let places: HashMap<&str, usize> =
            self.ports.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let of = |name: &str| {
            let place = places.get(name);
            self.meter(*place.expect("record.queues was checked against the links"))
        };
        self.scenario.queues.iter().map(|name| (name.as_str(), of(name))).collect()
    }

    fn meter(&self, index: usize) -> &Meter {
        self.world.ports[index].meter()
    }

    fn summary(&mut self, reports: &Reports) -> Summary {
        let (_, studied) = self.studied()[0];
        let mut summary = Summary::default();
        studied.summarise(&mut summary);
        let data_packets = studied.data_packets();
        let open = self.world.open_requests();
        self.world.requests.summarise(open, &mut summary);
        self.world.pages.summarise(&mut summary);
        self.world.flows.summarise(self.window.seconds(), &mut summary);
        self.world.losses.summarise(&mut summary);
        if let Some(scripts) = &self.world.scripts {
            scripts.summarise(&mut summary);
        }
        self.world.concurrency.summarise(&mut summary);
        if let Some(sources) = &self.world.sources {
            sources.summarise(self.window.seconds(), &mut summary);
        }
        summary.real("simulated_s", self.window.to.secs_f64());
        summary.real("measured_s", self.window.seconds());
        summary.whole("users", self.world.members.len() as u64);
        summary.whole("data_packets", data_packets);
        summary.whole("data_packets_sent", self.world.data_sent);
        summary.whole("events", self.world.agenda.served());
        summary.text("studied_port", self.scenario.queues[0].clone());
        if !self.world.datagrams.is_empty() {
            self.world.datagrams.summarise(&mut summary);
        }
        let groups: Vec<&str> = self.scenario.traffic.iter().map(|g| g.name.as_str()).collect();
        reports.summarise(&groups, &mut summary);
        let mut ports = Summary::default();
        for (i, name) in self.ports.iter().enumerate().filter(|(_, n)| !n.starts_with("access")) {
            let mut port = Summary::default();
            self.meter(i).summarise(&mut port);
            ports.group(name, port);
        }
        summary.group("ports", ports);
        let transfers = self.scenario.traffic.iter().enumerate().filter_map(|(i, group)| {
            let index = u16::try_from(i).expect("a scenario has few enough groups");
            let figures = self.world.transfers.summarise(index)?;
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
        let mut all = Fingerprint::default();
        parts.chain(self.world.transfers.fingerprint()).for_each(|part| all.add(part));
        all.value()
    }

    fn port_tables(&self) -> Vec<Table> {
        let (mut tables, studied) = (Vec::new(), self.studied());
        if self.scenario.record.switch("samples") {
            let columns = studied.iter().flat_map(|(name, meter)| meter.samples(name)).collect();
            let step = self.scenario.record.real("queue_every");
            tables.push(Table { name: "queue", columns, every_s: Some((0.0, step)) });
        }
        tables.extend(Meter::trace(studied.iter().map(|(_, meter)| *meter)));
        // A last, partial second has a row too.
        let seconds = self.window.to.nanos().div_ceil(1_000_000_000) as usize;
        let mut columns = Vec::new();
        for (i, name) in self.ports.iter().enumerate().filter(|(_, n)| !n.starts_with("access")) {
            columns.extend(self.meter(i).per_second(name, seconds));
        }
        columns.extend(self.world.requests.per_second(seconds));
        columns.extend(self.world.goodput.iter().flat_map(|goodput| goodput.per_second(seconds)));
        tables.push(Table { name: "seconds", columns, every_s: Some((0.0, 1.0)) });
        tables
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
