//! A world that Python moves: what environments for learning are made of.

use std::sync::Mutex;

use packet::Duration;
use pyo3::prelude::*;
use sim::{Run, Scenario};

use crate::ScenarioError;
use crate::fault::guarded;

/// A world that is moved in slices, looked at and changed between them; see `sim::Run::set`.
#[pyclass]
pub struct World(Mutex<Run>);

#[pymethods]
impl World {
    /// Sets a scenario (JSON) up, which may name the discipline `agent`.
    #[new]
    fn new(scenario_json: &str) -> PyResult<Self> {
        guarded(|| {
            let registry = aqm::Registry::with(&[&aqm::AGENT]).expect("its name is free");
            let scenario = Scenario::read(scenario_json, &registry);
            let run = scenario.and_then(Run::new).map_err(|e| ScenarioError::new_err(e.0))?;
            Ok(World(Mutex::new(run)))
        })
    }

    /// Advances the run by `seconds`, at most to its end, and reports on `port` since the last
    /// call: whether the run is over, packets and bytes waiting, packets that arrived, packets that
    /// left, their bytes, the sum of the seconds that they had waited, packets dropped and marked.
    fn advance(&self, py: Python<'_>, seconds: f64, port: &str) -> PyResult<(bool, [f64; 8])> {
        let moved = || {
            let mut run = self.0.lock().expect("nobody panics while holding it");
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
            let mut run = self.0.lock().expect("nobody panics while holding it");
            run.set(port, name, value).map_err(|e| ScenarioError::new_err(e.0))
        })
    }

    /// Seconds of the world's time, and events served.
    fn now(&self) -> (f64, u64) {
        let run = self.0.lock().expect("nobody panics while holding it");
        (run.now().secs_f64(), run.events())
    }
}
