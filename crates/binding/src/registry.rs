//! The disciplines that a user supplies, in addition to ours.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aqm::Entry;
use plugin::{Description, Held, Judging, Pulse, library};
use pyo3::prelude::*;

use crate::ScenarioError;
use crate::discipline::{Maker, OwnHolder, OwnJudge};
use crate::fault::guarded;

/// Names of disciplines: ours, and those that are added.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Registry {
    own: Mutex<Vec<&'static Entry>>,
    pulse: Pulse,
}

impl Registry {
    fn own(&self) -> MutexGuard<'_, Vec<&'static Entry>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of `registry`, or ours alone.
    pub fn of(registry: Option<&Registry>) -> aqm::Registry {
        let own = registry.map(|registry| registry.own().clone()).unwrap_or_default();
        aqm::Registry::with(&own).expect("each name was free when it was added")
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

    /// Adds a discipline in Python. `make(values, bits_per_s, header_bytes)` answers with one
    /// queue's object, `explain(exception)` with a sentence. Raises ScenarioError with one sentence.
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

    /// Adds the discipline of a shared library. Raises ScenarioError with one sentence.
    /// Other threads of the interpreter run meanwhile: what a library does when it is opened may not return.
    fn add_library(&self, py: Python<'_>, path: PathBuf) -> PyResult<&'static str> {
        guarded(|| self.add(py.detach(|| library::load(&path, &self.pulse))))
    }

    /// A discipline as the catalogue has it, as JSON; None if there is none of that name.
    fn describe(&self, name: &str) -> Option<String> {
        Registry::of(Some(self)).find(name).map(|entry| sim::discipline(entry).to_string())
    }

    /// Checks a discipline, ours or a user's: the report as JSON. `notify(what)` is called before
    /// each step.
    fn check_aqm(&self, py: Python<'_>, name: &str, notify: Py<PyAny>) -> PyResult<String> {
        let registry = Registry::of(Some(self));
        let entry = testvec::parameters::find(name, &registry).map_err(ScenarioError::new_err)?;
        let mut notify = |what: &str| {
            // A callback that fails loses its progress report; the result comes at the end.
            let _ = Python::attach(|py| notify.call1(py, (what,)));
        };
        guarded(|| Ok(py.detach(|| testvec::check::check(entry, &mut notify)).to_string()))
    }

    /// A count that is odd while a call of a user's discipline lasts.
    fn pulse(&self) -> u64 {
        self.pulse.count()
    }
}
