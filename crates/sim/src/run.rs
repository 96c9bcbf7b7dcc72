//! A run: the simulation of a scenario from its begin to its end.

use std::collections::HashSet;

use packet::params::unknown;
use packet::{Duration, Instant};
use record::{Keep, Window};

use crate::capture::{Capture, Tap};
use crate::error::ScenarioError;
use crate::recorder::Outcome;
use crate::scenario::Scenario;
use crate::setup;
use crate::steer::PortObserver;
use crate::watch::{Observer, Watch};
use crate::world::World;

/// A scenario that is set up and ready to run.
pub struct Run {
    scenario: Scenario,
    pub(crate) world: World,
    pub(crate) ports: Vec<String>,
    window: Window,
    /// Whether the measured interval has begun.
    measuring: bool,
    /// The observer of a watched run; `None` in other runs.
    observer: Option<Observer>,
    /// Observers of the ports that were read by name.
    pub(crate) observers: Vec<PortObserver>,
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

    /// As [`Run::new`], with a capture of the packets that cross ports. Of the outcome only
    /// `events` changes, because these ports are simulated event by event.
    ///
    /// # Errors
    /// As [`Run::new`], and if a named port does not exist.
    pub fn capturing(scenario: Scenario, capture: Capture) -> Result<Run, ScenarioError> {
        let Capture { ports: mut captured, at, sink } = capture;
        if captured.is_empty() {
            let first = &scenario.links[0].name; // a scenario has a link
            captured = vec![format!("{first}.forward"), format!("{first}.reverse")];
        }
        let (mut world, ports) =
            setup::world(&scenario, &captured, None).map_err(ScenarioError::on_one_line)?;
        let known: HashSet<&String> = ports.iter().collect();
        if let Some(name) = captured.iter().find(|name| !known.contains(name)) {
            let machines = ["access.client", "access.server"]; // the machines' own lines
            let of_links = ports.iter().map(String::as_str);
            let of_links = of_links.filter(|name| !machines.iter().any(|m| name.starts_with(m)));
            let why = unknown("port", name, &of_links.collect::<Vec<_>>());
            return Err(ScenarioError(format!("capture: {why}")).on_one_line());
        }
        let captured: HashSet<&String> = captured.iter().collect();
        let tapped = ports.iter().map(|name| captured.contains(name)).collect();
        world.capture(Tap::new(tapped, at, sink));
        Ok(Run::started(scenario, world, ports))
    }

    /// As [`Run::new`], for a run that is observed while it goes on: [`Run::snapshot`] shows the
    /// smallest and the largest sample of queues and gauges in every `bin`. Of the outcome only
    /// `events` changes, because the observed ports are simulated event by event.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn watched(scenario: Scenario, bin: Duration) -> Result<Run, ScenarioError> {
        Run::observed(scenario, bin, Keep::Everything)
    }

    /// As [`Run::watched`], in memory that does not grow with simulated time as long as snapshots
    /// are taken ([`Keep::Bounded`]). The fingerprint is equal to that of [`Run::watched`]; the
    /// outcome has no tables, and quantiles of many values are within 0.2 %.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn watched_bounded(scenario: Scenario, bin: Duration) -> Result<Run, ScenarioError> {
        Run::observed(scenario, bin, Keep::Bounded)
    }

    fn observed(scenario: Scenario, bin: Duration, keep: Keep) -> Result<Run, ScenarioError> {
        let watch = Watch::new(bin, keep, &scenario.queues);
        let (world, ports) =
            setup::world(&scenario, &[], Some(&watch)).map_err(ScenarioError::on_one_line)?;
        let observer = Some(Observer::new(watch, &ports, scenario.group_names()));
        Ok(Run { observer, ..Run::started(scenario, world, ports) })
    }

    fn started(scenario: Scenario, mut world: World, ports: Vec<String>) -> Run {
        world.start();
        let window = scenario.window();
        Run {
            world,
            ports,
            window,
            measuring: false,
            scenario,
            observer: None,
            observers: Vec::new(),
        }
    }

    /// What has happened at the studied ports and to requests since the last snapshot, as JSON;
    /// null if the run is not [`Run::watched`].
    pub fn snapshot(&mut self) -> serde_json::Value {
        let over = self.world.now() >= self.window.to;
        let snapshot = |observer: &mut Observer| observer.snapshot(&mut self.world, over);
        self.observer.as_mut().map_or(serde_json::Value::Null, snapshot)
    }

    /// Appends the packet events since the last call to `out`, with
    /// [`PACKET_NUMBERS`](crate::PACKET_NUMBERS) numbers for each event; only the newest few
    /// thousand of each port are kept.
    pub fn packet_snapshot(&mut self, out: &mut Vec<f64>) {
        if let Some(observer) = &mut self.observer {
            observer.packets(&mut self.world, out);
        }
    }

    /// Switches the packet trace for the observer on or off; it is on at first.
    pub fn watch_packets(&mut self, on: bool) {
        if let Some(observer) = &mut self.observer {
            observer.watch_packets(&mut self.world, on);
        }
    }

    /// Simulated time up to which the run has come.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// Number of events served so far.
    pub fn events(&self) -> u64 {
        self.world.events_served()
    }

    /// Simulated time at which the run ends.
    pub fn end(&self) -> Instant {
        self.window.to
    }

    /// Simulates up to `until`, at most to the end of the run.
    pub fn advance(&mut self, until: Instant) {
        if !self.measuring && until >= self.window.from {
            self.move_to(self.window.from);
            self.world.begin_measuring();
            self.measuring = true;
            self.observer.iter_mut().for_each(Observer::begin_measuring);
        }
        self.move_to(until.min(self.window.to));
    }

    fn move_to(&mut self, until: Instant) {
        while let Some(due) = self.world.controls_due().filter(|due| *due <= until) {
            self.go_to(due);
            self.world.sample_controls();
        }
        self.go_to(until);
    }

    fn go_to(&mut self, until: Instant) {
        if let Some(observer) = &mut self.observer {
            observer.follow(&mut self.world, until);
        }
        self.world.run_until(until);
    }

    /// Runs to the end. Calls `progress` after each of 200 equal steps, and stops without a result
    /// if that returns `false`.
    pub fn complete(mut self, progress: &mut dyn FnMut(&mut Run) -> bool) -> Option<Outcome> {
        const STEPS: u64 = 200;
        let end = self.window.to.nanos();
        for step in 1..=STEPS {
            let until = u128::from(end) * u128::from(step) / u128::from(STEPS);
            let until = Instant::from_nanos(until as u64);
            self.advance(until);
            if !progress(&mut self) {
                return None;
            }
        }
        Some(self.outcome())
    }

    /// Ends the run and returns its measurements.
    pub fn outcome(self) -> Outcome {
        self.world.outcome(self.window.to, &self.scenario, &self.ports)
    }
}

/// Runs a scenario from beginning to end.
///
/// # Errors
/// As [`Run::new`].
pub fn run(scenario: Scenario) -> Result<Outcome, ScenarioError> {
    let outcome = Run::new(scenario)?.complete(&mut |_| true);
    Ok(outcome.expect("it was not stopped"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fingerprint of a run with all kinds of events, which prefetches data of future events
    /// once it has `from` connections.
    fn fingerprint(from: usize, profile: &str) -> String {
        let text = format!(
            r#"{{"duration": "20 s", "seed": 3,
            "link": [{{"rate": "3 Mbit/s", "forward": {{"aqm": "codel"}}}}],
            "traffic": [
                {{"app": "web", "users": 400, "start": "stationary", "service": "0.1 s", "tcp": {{"profile": "{profile}"}}}},
                {{"app": "bulk", "flows": 5, "tcp": {{"profile": "{profile}"}}}},
                {{"app": "cbr", "flows": 2, "rate": "50 kbit/s", "packet": 500}}]}}"#
        );
        let mut run = Run::new(Scenario::from_json(&text).unwrap()).unwrap();
        run.world.look_ahead_from(from);
        let outcome = run.complete(&mut |_| true).unwrap();
        crate::summary_json(&outcome.summary)["fingerprint"].to_string()
    }

    #[test]
    fn looking_ahead_changes_nothing() {
        for profile in ["plain", "freebsd-2.2.8", "linux"] {
            assert_eq!(fingerprint(0, profile), fingerprint(usize::MAX, profile), "{profile}");
        }
    }
}
