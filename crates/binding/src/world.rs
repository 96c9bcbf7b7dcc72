//! A simulation that Python advances step by step, for reinforcement-learning environments.

use std::sync::{Mutex, MutexGuard, PoisonError};

use packet::Duration;
use pyo3::prelude::*;
use sim::{Run, Scenario};

use crate::ScenarioError;
use crate::fault::guarded;
use crate::registry::Registry;

/// A simulation that Python advances in steps; between them it reads a port and changes parameters
/// (see `sim::Run::set`).
#[pyclass]
pub struct World(Mutex<Run>);

impl World {
    /// Locks the run, also after a panic of a user's code.
    fn run(&self) -> MutexGuard<'_, Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl World {
    /// Sets up the run of a scenario (JSON), which may use the discipline `agent` and those of the
    /// registry. A user's code runs in this process.
    #[new]
    #[pyo3(signature = (scenario_json, registry = None))]
    fn new(scenario_json: &str, registry: Option<&Registry>) -> PyResult<Self> {
        guarded(|| {
            let queues = Registry::with_agent(registry).map_err(ScenarioError::new_err)?;
            let controls = Registry::controls_of(registry);
            let scenario = Scenario::read_with(scenario_json, &queues, &controls);
            let run = scenario.and_then(Run::new).map_err(|e| ScenarioError::new_err(e.0))?;
            Ok(World(Mutex::new(run)))
        })
    }

    /// Advances the run by `seconds`, at most to its end, and reports on `port` since the last
    /// call: whether the run is over, packets and bytes waiting, packets that arrived, packets that
    /// left, their bytes, the sum of the seconds that they had waited, packets dropped and marked.
    fn advance(&self, py: Python<'_>, seconds: f64, port: &str) -> PyResult<(bool, [f64; 8])> {
        let moved = || {
            let mut run = self.run();
            let until = run.now() + Duration::from_secs_f64(seconds);
            run.advance(until);
            let over = run.now() >= run.end();
            run.port_snapshot(port).map(|sight| (over, sight.numbers()))
        };
        guarded(|| py.detach(moved).map_err(|e| ScenarioError::new_err(e.0)))
    }

    /// Changes a parameter of the discipline of `port`, from now on.
    fn set(&self, port: &str, name: &str, value: f64) -> PyResult<()> {
        guarded(|| {
            let mut run = self.run();
            run.set(port, name, value).map_err(|e| ScenarioError::new_err(e.0))
        })
    }

    /// Simulated time in seconds, and number of events served.
    fn now(&self) -> (f64, u64) {
        let run = self.run();
        (run.now().secs_f64(), run.events())
    }
}
