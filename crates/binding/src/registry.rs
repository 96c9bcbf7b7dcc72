//! The disciplines and congestion controls that a user supplies, in addition to the built-in ones.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aqm::Entry;
use plugin::control::{self, ControlDescription};
use plugin::{Description, Held, Judging, Pulse, library};
use pyo3::prelude::*;

use tcp::{Controls, OwnControl};

use crate::ScenarioError;
use crate::control::ControlMaker;
use crate::discipline::{Maker, OwnHolder, OwnJudge};
use crate::fault::guarded;

/// A registry of disciplines and congestion controls: the built-in ones, and those that users add.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Registry {
    own: Mutex<Vec<&'static Entry>>,
    controls: Mutex<(Vec<&'static OwnControl>, Controls)>,
    pulse: Pulse,
}

impl Registry {
    fn own(&self) -> MutexGuard<'_, Vec<&'static Entry>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The built-in disciplines, and those of `registry` if given.
    pub fn of(registry: Option<&Registry>) -> aqm::Registry {
        let own = registry.map(|registry| registry.own().clone()).unwrap_or_default();
        aqm::Registry::with(&own).expect("each name was free when it was added")
    }

    /// The disciplines of [`Registry::of`], and the discipline `agent`.
    ///
    /// # Errors
    /// A sentence, if a user's discipline has the name of the agent.
    pub fn with_agent(registry: Option<&Registry>) -> Result<aqm::Registry, String> {
        let mut own = registry.map(|registry| registry.own().clone()).unwrap_or_default();
        own.push(&aqm::AGENT);
        let taken = |name| format!("the discipline {name} is the agent's: give yours another name");
        aqm::Registry::with(&own).map_err(taken)
    }

    /// The built-in congestion controls, and those of `registry` if given.
    pub fn controls_of(registry: Option<&Registry>) -> Controls {
        let of = |registry: &Registry| registry.controls().1.clone();
        registry.map(of).unwrap_or_default()
    }

    fn controls(&self) -> MutexGuard<'_, (Vec<&'static OwnControl>, Controls)> {
        self.controls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_control(&self, control: Result<&'static OwnControl, String>) -> PyResult<&'static str> {
        let control = control.map_err(ScenarioError::new_err)?;
        let mut controls = self.controls();
        let mut own = controls.0.clone();
        own.push(control);
        let all = Controls::with(&own).map_err(|name| {
            let why = format!("there is a congestion control {name} already: give it another name");
            ScenarioError::new_err(why)
        })?;
        *controls = (own, all);
        Ok(control.about.name)
    }

    fn add(&self, entry: Result<&'static Entry, String>) -> PyResult<&'static str> {
        let entry = entry.map_err(ScenarioError::new_err)?;
        let mut own = self.own();
        own.push(entry);
        if let Err(name) = aqm::Registry::with(&own) {
            own.pop();
            let why = format!("there is a discipline {name} already: give it another name");
            return Err(ScenarioError::new_err(why));
        }
        Ok(entry.about.name)
    }
}

#[pymethods]
impl Registry {
    #[new]
    fn new() -> Self {
        Registry::default()
    }

    /// Adds a discipline that is written in Python. `make(values, bits_per_s, header_bytes)`
    /// returns the Python object of one queue; `explain(exception)` returns a sentence on an
    /// exception that the discipline's code raised. Raises ScenarioError if the discipline cannot
    /// be added.
    fn add_python(
        &self,
        description_json: &str,
        make: Py<PyAny>,
        explain: Py<PyAny>,
    ) -> PyResult<&'static str> {
        guarded(|| {
            let description =
                Description::read(description_json).map_err(ScenarioError::new_err)?;
            let maker = Maker::new(description.name, make, explain, self.pulse.clone());
            self.add(match description.judging {
                Judging::Admits => {
                    description.judge(move |params, line| OwnJudge::new(&maker, params, line))
                }
                Judging::Holds => {
                    description.entry(Box::leak(Box::new(move |params: &_, line: &_| {
                        let holder = OwnHolder::new(&maker, params, line)?;
                        let first = holder.first_tick();
                        Ok(aqm::Built::Discipline(Box::new(Held::new(holder, first))))
                    })))
                }
            })
        })
    }

    /// Adds a congestion control that is written in Python. `make(values)` returns the Python
    /// object for one connection, given the parameter values; `explain(exception)` returns a
    /// sentence on an exception that the control's code raised. Raises ScenarioError if the control
    /// cannot be added.
    fn add_python_control(
        &self,
        description_json: &str,
        make: Py<PyAny>,
        explain: Py<PyAny>,
    ) -> PyResult<&'static str> {
        guarded(|| {
            let description =
                ControlDescription::read(description_json).map_err(ScenarioError::new_err)?;
            let maker = ControlMaker::new(make, explain);
            self.add_control(description.control(&self.pulse, move |params| maker.settle(params)))
        })
    }

    /// Adds the discipline or congestion control of a shared library. Raises ScenarioError if it
    /// cannot be added. The interpreter lock is released meanwhile, because the library's
    /// initialization may never return.
    fn add_library(&self, py: Python<'_>, path: PathBuf) -> PyResult<&'static str> {
        guarded(|| match py.detach(|| control::library::load(&path, &self.pulse)) {
            Ok(None) => self.add(py.detach(|| library::load(&path, &self.pulse))),
            Ok(Some(found)) => self.add_control(Ok(found)),
            Err(why) => Err(ScenarioError::new_err(why)),
        })
    }

    /// The catalogue's entry of a discipline or congestion control as JSON, with its `kind` (aqm or
    /// congestion); None if there is none of that name.
    fn describe(&self, name: &str) -> Option<String> {
        let discipline = Registry::of(Some(self)).find(name).map(sim::discipline);
        let found = discipline.map(|found| ("aqm", found)).or_else(|| {
            let controls = Registry::controls_of(Some(self));
            let about = controls.all().find(|about| about.name == name)?;
            Some(("congestion", sim::congestion_control(about)))
        });
        found.map(|(kind, mut found)| {
            found["kind"] = kind.into();
            found.to_string()
        })
    }

    /// Checks a built-in or user-supplied discipline. Returns the report as JSON. `notify(what)` is
    /// called before each step.
    fn check_aqm(&self, py: Python<'_>, name: &str, notify: Py<PyAny>) -> PyResult<String> {
        let registry = Registry::of(Some(self));
        let entry = testvec::parameters::find(name, &registry).map_err(ScenarioError::new_err)?;
        let mut notify = |what: &str| {
            // An exception in the callback is ignored: it only reports progress.
            let _ = Python::attach(|py| notify.call1(py, (what,)));
        };
        guarded(|| Ok(py.detach(|| testvec::check::check(entry, &mut notify)).to_string()))
    }

    /// Checks a built-in or user-supplied congestion control with random calls. Returns the report
    /// as JSON. `notify(what)` is called before each step.
    fn check_control(&self, py: Python<'_>, name: &str, notify: Py<PyAny>) -> PyResult<String> {
        let controls = Registry::controls_of(Some(self));
        let mut notify = |what: &str| {
            // An exception in the callback is ignored: it only reports progress.
            let _ = Python::attach(|py| notify.call1(py, (what,)));
        };
        guarded(|| {
            let report = py.detach(|| control::laws::check(&controls, name, &mut notify));
            report.map(|report| report.to_string()).map_err(ScenarioError::new_err)
        })
    }

    /// A count that is odd while a call of a user's discipline or congestion control lasts. A
    /// watchdog reads it.
    fn pulse(&self) -> u64 {
        self.pulse.count()
    }
}
