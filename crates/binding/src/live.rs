//! Live runs: each of these functions is all that a process started by `aqmlab live` does.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fault::guarded;

create_exception!(
    _core,
    LiveError,
    PyException,
    "A live run cannot be, or has failed: one sentence."
);

#[cfg(target_os = "linux")]
use ::live as linux;

#[cfg(not(target_os = "linux"))]
mod linux {
    //! Placeholder on systems other than Linux, which lack network namespaces.
    pub(super) const WHY: &str = "live runs need Linux: simulate the scenario here with aqmlab run";
}

/// Carries out a live run, given as JSON (see `live::run::Spec`). Returns a dictionary as `run`
/// does, with the key "live": JSON of the conditions that show how far to trust the run. Raises
/// LiveError with one sentence.
#[cfg(target_os = "linux")]
#[pyfunction]
fn live_run<'py>(py: Python<'py>, spec_json: &str) -> PyResult<Bound<'py, PyDict>> {
    let done = guarded(|| {
        let run = || linux::run::run(&linux::run::Spec::from_json(spec_json)?);
        py.detach(run).map_err(|e| LiveError::new_err(e.0))
    })?;
    let (outcome, honesty) = done;
    let out = crate::handed_out(py, outcome)?;
    out.set_item("live", honesty.0.to_string())?;
    Ok(out)
}

/// Runs a program of users, whose task is given as JSON (see `live::program`). Raises LiveError
/// with one sentence.
#[cfg(target_os = "linux")]
#[pyfunction]
fn live_users(py: Python<'_>, task_json: &str) -> PyResult<()> {
    guarded(|| py.detach(|| linux::program::users(task_json)).map_err(|e| LiveError::new_err(e.0)))
}

/// Checks whether this machine has what a live run needs; the result as JSON (see `live::check`).
#[cfg(target_os = "linux")]
#[pyfunction]
fn live_check(py: Python<'_>) -> PyResult<String> {
    guarded(|| Ok(py.detach(|| linux::check::check().to_string())))
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::*;

    /// Always raises LiveError: this system has no live runs.
    #[pyfunction]
    pub fn live_run(_spec_json: &str) -> PyResult<()> {
        Err(LiveError::new_err(linux::WHY))
    }

    /// Always raises LiveError: this system has no live runs.
    #[pyfunction]
    pub fn live_users(_task_json: &str) -> PyResult<()> {
        Err(LiveError::new_err(linux::WHY))
    }

    /// Always raises LiveError: this system has no live runs.
    #[pyfunction]
    pub fn live_check() -> PyResult<String> {
        Err(LiveError::new_err(linux::WHY))
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::{live_check, live_run, live_users};

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LiveError", module.py().get_type::<LiveError>())?;
    module.add_function(wrap_pyfunction!(live_run, module)?)?;
    module.add_function(wrap_pyfunction!(live_users, module)?)?;
    module.add_function(wrap_pyfunction!(live_check, module)?)
}
