//! `aqmlab._core`: the functions that Python calls, with plain data as arguments and results. The
//! interpreter lock is released during a run, so threads can use every core.

mod control;
mod discipline;
mod fault;
mod live;
mod registry;
mod world;

use std::sync::{Arc, Mutex};

use control::{Ack, CongestionWindow, LostSegment};
use discipline::{Packet, Queue};
use fault::{DisciplineError, Fault, guarded};
use packet::Duration;
use packet::units::Unit;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use record::Table;
use registry::Registry;
use sim::{Capture, CapturedAt, Run, Scenario};
use world::World;

create_exception!(_core, ScenarioError, PyValueError, "A mistake in a scenario: one sentence.");
create_exception!(_core, CaptureError, PyValueError, "A file that is no capture: one sentence.");
create_exception!(_core, Cancelled, PyException, "The progress function answered False.");

/// The registry of disciplines and controls that a user supplied; None for the built-in ones only.
type HandedIn<'a> = Option<PyRef<'a, Registry>>;

fn read(json: &str, registry: &HandedIn) -> PyResult<Scenario> {
    let (queues, controls) =
        (Registry::of(registry.as_deref()), Registry::controls_of(registry.as_deref()));
    Scenario::read_with(json, &queues, &controls).map_err(|e| ScenarioError::new_err(e.0))
}

/// Converts a table for Python, column by column: of a long table only one column is in memory
/// twice.
fn table<'py>(py: Python<'py>, table: Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyList::empty(py);
    for (name, column) in table.columns {
        let (dtype, bytes) = column.into_bytes();
        let bytes = PyBytes::new(py, &bytes);
        columns.append(PyTuple::new(
            py,
            [
                name.into_pyobject(py)?.into_any(),
                dtype.into_pyobject(py)?.into_any(),
                bytes.into_any(),
            ],
        )?)?;
    }
    let out = PyDict::new(py);
    out.set_item("columns", columns)?;
    out.set_item("every_s", table.every_s)?;
    Ok(out)
}

/// The first exception that a Python callback raised during a run.
type Raised = Arc<Mutex<Option<PyErr>>>;

fn first(raised: &Raised) -> std::sync::MutexGuard<'_, Option<PyErr>> {
    raised.lock().expect("nobody panics while holding it")
}

/// A capture of the packets at these ports (by default both directions of the first link), on
/// arrival or on departure. `write` gets the bytes of the file. Nothing more is written after it
/// has raised.
fn capture((write, ports, on_arrival): (Py<PyAny>, Vec<String>, bool), raised: &Raised) -> Capture {
    let raised = Arc::clone(raised);
    let sink = Box::new(move |bytes: &[u8]| {
        let mut raised = first(&raised);
        if raised.is_none() {
            *raised = Python::attach(|py| write.call1(py, (PyBytes::new(py, bytes),)).err());
        }
    });
    let at = if on_arrival { CapturedAt::Arrival } else { CapturedAt::Departure };
    Capture { ports, at, sink }
}

/// Runs to the end, unless `progress` returns False or a callback raises. `watch` is called with
/// snapshots of the run as JSON.
fn complete(
    py: Python<'_>,
    run: Run,
    progress: Option<&Py<PyAny>>,
    watch: Option<&Py<PyAny>>,
    raised: &Raised,
) -> Option<sim::Outcome> {
    py.detach(|| {
        run.complete(&mut |run: &mut Run| {
            let at = run.now().secs_f64();
            let shown = watch.map_or(Ok(()), |watch| {
                let look = run.snapshot().to_string();
                Python::attach(|py| watch.call1(py, (look,)).map(drop))
            });
            let reported = |progress: &Py<PyAny>| {
                Python::attach(|py| progress.call1(py, (at,))?.is_truthy(py))
            };
            let answer = shown.and_then(|()| progress.map_or(Ok(true), reported));
            let mut raised = first(raised);
            let going_on = answer.unwrap_or_else(|error| {
                raised.get_or_insert(error);
                false
            });
            going_on && raised.is_none()
        })
    })
}

/// Runs a scenario (JSON) and returns {"summary": JSON, "tables": {name: {"columns": [(name, dtype,
/// bytes)], "every_s": (start, step) or None}}, "groups": names}. `progress(simulated_s)` is called
/// about 200 times; if it returns False, the run ends with Cancelled. `pcap` is (write, names of
/// ports, whether on arrival): `write(bytes)` gets a capture file piece by piece. `watch` is (look,
/// seconds of a bin): `look(JSON)` gets a snapshot as often as `progress` is called. A run is
/// captured or observed, not both. Scenarios of this and the functions below may also use the
/// disciplines of `registry`.
#[pyfunction]
#[pyo3(signature = (scenario_json, progress=None, pcap=None, watch=None, registry=None))]
fn run<'py>(
    py: Python<'py>,
    scenario_json: &str,
    progress: Option<Py<PyAny>>,
    pcap: Option<(Py<PyAny>, Vec<String>, bool)>,
    watch: Option<(Py<PyAny>, f64)>,
    registry: HandedIn,
) -> PyResult<Bound<'py, PyDict>> {
    let raised = Raised::default();
    let outcome = guarded(|| {
        let scenario = read(scenario_json, &registry)?;
        let run = match (pcap, &watch) {
            (Some(pcap), _) => Run::capturing(scenario, capture(pcap, &raised)),
            (None, Some((_, bin_s))) => Run::watched(scenario, Duration::from_secs_f64(*bin_s)),
            (None, None) => Run::new(scenario),
        };
        let run = run.map_err(|e| ScenarioError::new_err(e.0))?;
        let watch = watch.as_ref().map(|(look, _)| look);
        Ok(complete(py, run, progress.as_ref(), watch, &raised))
    })?;
    if let Some(error) = first(&raised).take() {
        return Err(error);
    }
    let outcome = outcome.ok_or_else(|| Cancelled::new_err("the run was cancelled"))?;
    handed_out(py, outcome)
}

/// Converts the outcome of a run into a Python dictionary; see [`run`].
fn handed_out(py: Python<'_>, outcome: sim::Outcome) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for t in outcome.tables {
        tables.set_item(t.name, table(py, t)?)?;
    }
    let out = PyDict::new(py);
    out.set_item("summary", sim::summary_json(&outcome.summary).to_string())?;
    out.set_item("tables", tables)?;
    out.set_item("groups", outcome.groups)?;
    Ok(out)
}

/// The scenario as JSON with every default filled in. Raises ScenarioError with one sentence.
#[pyfunction]
#[pyo3(signature = (scenario_json, registry=None))]
fn check(scenario_json: &str, registry: HandedIn) -> PyResult<String> {
    guarded(|| {
        let scenario = read(scenario_json, &registry)?;
        scenario.check_parameters().map_err(|e| ScenarioError::new_err(e.0))?;
        Ok(scenario.to_json().to_string())
    })
}

/// Expected IP bytes/s for each user of the group with an offered load; None without such a group.
#[pyfunction]
#[pyo3(signature = (scenario_json, registry=None))]
fn estimate(scenario_json: &str, registry: HandedIn) -> PyResult<Option<f64>> {
    guarded(|| {
        sim::estimate(&read(scenario_json, &registry)?).map_err(|e| ScenarioError::new_err(e.0))
    })
}

/// Least memory that a run of the scenario needs, and free memory of the system (None if unknown),
/// in bytes.
#[pyfunction]
#[pyo3(signature = (scenario_json, registry=None))]
fn memory(scenario_json: &str, registry: HandedIn) -> PyResult<(u64, Option<u64>)> {
    guarded(|| Ok((read(scenario_json, &registry)?.least_bytes(), sim::free_bytes())))
}

/// The resolved topology of a scenario as JSON: its links, ports, sides, directions and paths; see
/// `sim::resolve`.
#[pyfunction]
#[pyo3(signature = (scenario_json, registry=None))]
fn resolve(scenario_json: &str, registry: HandedIn) -> PyResult<String> {
    let resolved = || {
        let (queues, controls) =
            (Registry::of(registry.as_deref()), Registry::controls_of(registry.as_deref()));
        sim::resolve(scenario_json, &queues, &controls).map(|v| v.to_string())
    };
    guarded(|| resolved().map_err(|e| ScenarioError::new_err(e.0)))
}

/// Every discipline, TCP profile, application and scenario section, as JSON.
#[pyfunction]
fn catalogue() -> String {
    sim::catalogue().to_string()
}

/// The JSON schema (draft 2020-12) of scenario files.
#[pyfunction]
fn schema() -> String {
    sim::json_schema().to_string()
}

/// Carries out one trial (JSON): a discipline with a line, without end systems. Returns a test
/// vector (JSON) of that one case. Raises ScenarioError with one sentence.
#[pyfunction(name = "trial")]
fn answer(py: Python<'_>, request_json: &str) -> PyResult<String> {
    guarded(|| {
        py.detach(|| testvec::answer(request_json, &aqm::Registry::ours()))
            .map_err(ScenarioError::new_err)
    })
}

/// Mean, quantiles and curve of each random variable of a traffic model, as JSON.
#[pyfunction]
fn variables(model: &str) -> PyResult<String> {
    let found = || sim::variables(model).map(|v| v.to_string());
    guarded(|| found().map_err(|e| ScenarioError::new_err(e.0)))
}

/// Mean, quantiles and curve, as JSON, of one distribution in the format of the shipped tables.
#[pyfunction]
fn table_of(name: &str, text: &str, unit: &str) -> PyResult<String> {
    let described = || sim::table(name, text, unit).map(|v| v.to_string());
    guarded(|| described().map_err(|e| ScenarioError::new_err(e.0)))
}

/// Content of a traffic trace as JSON (`sim::trace_shown`). Raises ScenarioError.
#[pyfunction]
fn trace_shown(text: &str) -> PyResult<String> {
    let shown = || sim::trace_shown(text).map(|v| v.to_string());
    guarded(|| shown().map_err(|e| ScenarioError::new_err(e.0)))
}

/// Parses a quantity (`"20 ms"`) into base units; `unit` is `time`, `rate` or another unit name of
/// the catalogue. Raises ScenarioError with one sentence.
#[pyfunction]
fn quantity(text: &str, unit: &str) -> PyResult<f64> {
    guarded(|| {
        let of = Unit::named(unit).ok_or_else(|| {
            ScenarioError::new_err(format!("there is no kind of quantity \"{unit}\""))
        })?;
        packet::units::parse(text, of).map_err(ScenarioError::new_err)
    })
}

/// Panics, for tests of what a user sees after a fault of the simulator.
#[pyfunction]
fn fail(why: &str) -> PyResult<()> {
    guarded(|| panic!("{why}"))
}

/// File names and texts of the interfaces for disciplines and congestion controls in C and Rust.
#[pyfunction]
fn interfaces() -> [(&'static str, String); 4] {
    // A user's project has the types of disciplines (`types.rs` here) in aqmlab_plugin.rs.
    let control = plugin::RUST_CONTROL_INTERFACE.replace("super::types", "super::aqmlab_plugin");
    [
        ("aqmlab_plugin.h", plugin::C_HEADER.to_owned()),
        ("aqmlab_plugin.rs", plugin::RUST_INTERFACE.to_owned()),
        ("aqmlab_control.h", plugin::C_CONTROL_HEADER.to_owned()),
        ("aqmlab_control.rs", control),
    ]
}

/// Version, build (a hash of the simulator's sources), commit and build profile, as JSON.
#[pyfunction]
fn version() -> String {
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "build": env!("AQMLAB_BUILD"),
        "commit": option_env!("AQMLAB_COMMIT").unwrap_or("unknown"),
        "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
    })
    .to_string()
}

/// A benchmark of the time per packet: fifty flows in a steady overload of a discipline with its
/// defaults, after a warm-up. Raises ScenarioError if there is no such discipline.
#[pyclass(unsendable)]
struct Overload {
    load: aqm::Overload,
    /// Limit of the time per packet for this discipline, in nanoseconds.
    #[pyo3(get)]
    most_ns: u32,
}

#[pymethods]
impl Overload {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        guarded(|| Overload::of(name))
    }

    /// Simulates the next `packets` arrivals and all events between them.
    fn run(&mut self, packets: u32) -> PyResult<()> {
        guarded(|| {
            self.load.run(packets);
            Ok(())
        })
    }
}

impl Overload {
    fn of(name: &str) -> PyResult<Self> {
        let entry = aqm::find(name).and_then(|e| Some((aqm::Overload::of_defaults(e)?, e)));
        let (mut load, entry) = entry.ok_or_else(|| {
            let why = format!("there is no discipline \"{name}\": `aqmlab list aqm` shows all");
            ScenarioError::new_err(why)
        })?;
        load.run(aqm::Overload::WARM_UP);
        Ok(Overload { load, most_ns: entry.per_flow.most_nanos() })
    }
}

/// Analyses a packet capture, piece by piece; see `capture::Learner`.
#[pyclass]
struct Learner(capture::Learner);

#[pymethods]
impl Learner {
    /// `inside`: prefixes of one side of the link, each as (16 bytes of an IPv6 address, prefix
    /// length).
    #[new]
    fn new(inside: Vec<([u8; 16], u8)>) -> Self {
        let prefix = |(address, bits)| capture::Prefix { address, bits };
        let inside = inside.into_iter().map(prefix).collect();
        Learner(capture::Learner::new(capture::Limits::default(), inside))
    }

    /// Reads the next bytes of the file. Raises CaptureError if they are not of a capture.
    fn feed(&mut self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        guarded(|| py.detach(|| self.0.feed(bytes)).map_err(|e| CaptureError::new_err(e.0)))
    }

    /// Returns the text lines of the connections that ended since the last call; and for each line
    /// three 64-bit little-endian numbers: start in microseconds, serial number, length of the line
    /// in bytes.
    fn take<'py>(&mut self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let (lines, finished) = self.0.take();
        let numbers = finished.iter().flat_map(|f| [f.at_us, f.serial, f.length as u64]);
        let numbers: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        (PyBytes::new(py, &lines), PyBytes::new(py, &numbers))
    }

    /// Ends the file and returns the report of the analysis as JSON. Raises CaptureError if the
    /// file was too short.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        let report =
            guarded(|| py.detach(|| self.0.finish()).map_err(|e| CaptureError::new_err(e.0)))?;
        Ok(report.to_string())
    }
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fault::keep_quiet();
    module.add("DisciplineError", module.py().get_type::<DisciplineError>())?;
    module.add("Fault", module.py().get_type::<Fault>())?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("CaptureError", module.py().get_type::<CaptureError>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add_class::<Overload>()?;
    module.add_class::<Learner>()?;
    module.add_class::<World>()?;
    module.add_class::<Packet>()?;
    module.add_class::<Queue>()?;
    module.add_class::<CongestionWindow>()?;
    module.add_class::<Ack>()?;
    module.add_class::<LostSegment>()?;
    module.add_class::<Registry>()?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(memory, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(answer, module)?)?;
    module.add_function(wrap_pyfunction!(variables, module)?)?;
    module.add_function(wrap_pyfunction!(table_of, module)?)?;
    module.add_function(wrap_pyfunction!(trace_shown, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(fail, module)?)?;
    module.add_function(wrap_pyfunction!(interfaces, module)?)?;
    live::add(module)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
