//! Calls of a queue discipline that is a Python object.
//!
//! The interpreter's lock is held during its calls only. It can reach the simulator only through
//! the objects here: the time and the random state are copied into them before a call and back
//! after it.

mod roles;
mod seen;

use aqm::Line;
use packet::params::{BadParams, Params, Value};
use packet::{Backlog, Duration, Instant, Rng};
use plugin::{Pulse, fail};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub use roles::{OwnHolder, OwnJudge};
pub use seen::{Packet, Queue};

/// Makes the Python objects of a discipline by calling `make`; `explain` turns an exception that
/// they raise into a sentence for the user.
pub struct Maker {
    name: &'static str,
    make: Py<PyAny>,
    explain: Py<PyAny>,
    pulse: Pulse,
}

impl Maker {
    pub fn new(name: &'static str, make: Py<PyAny>, explain: Py<PyAny>, pulse: Pulse) -> Self {
        Maker { name, make, explain, pulse }
    }
}

/// The sentence that `explain` returns for an exception.
pub fn sentence(py: Python<'_>, explain: &Py<PyAny>, error: &PyErr) -> String {
    // The exception's value has the traceback, from which `explain` gets the line number in the
    // user's file.
    let value = error.clone_ref(py).into_value(py);
    let reported = explain.call1(py, (value,));
    reported.and_then(|reported| reported.extract(py)).unwrap_or_else(|_| error.to_string())
}

/// The Python object of one queue, and its methods.
struct Own {
    name: &'static str,
    explain: Py<PyAny>,
    object: Py<PyAny>,
    queue: Py<Queue>,
    pulse: Pulse,
    /// Interval of periodic ticks, if the discipline has any.
    period: Option<Duration>,
    next_tick: Option<Instant>,
    tick: Option<Py<PyAny>>,
    gauges: Vec<&'static str>,
}

/// The values of parameters as a Python dictionary; None for unset ones.
pub fn written(py: Python<'_>, params: &Params) -> PyResult<Py<PyDict>> {
    let values = PyDict::new(py);
    for (field, value) in params.iter() {
        match value {
            Value::Switch(v) => values.set_item(field.name, v)?,
            Value::Whole(v) => values.set_item(field.name, v)?,
            Value::Real(v) => values.set_item(field.name, v)?,
            Value::Choice(v) => values.set_item(field.name, v)?,
            Value::Unset | Value::Written(_) => values.set_item(field.name, py.None())?,
        }
    }
    Ok(values.unbind())
}

impl Own {
    fn new(
        maker: &Maker,
        params: &Params,
        line: &Line,
        waits: Option<Vec<bool>>,
    ) -> Result<Self, BadParams> {
        maker.pulse.beat();
        let made = Python::attach(|py| {
            let made = Own::made(py, maker, params, line, waits);
            made.map_err(|error| sentence(py, &maker.explain, &error))
        });
        maker.pulse.beat();
        made.map_err(|why| BadParams::new("aqm", why))
    }

    fn made(
        py: Python<'_>,
        maker: &Maker,
        params: &Params,
        line: &Line,
        waits: Option<Vec<bool>>,
    ) -> PyResult<Self> {
        let values = written(py, params)?;
        let object = maker.make.call1(py, (values, line.rate.bits_per_s(), line.header_bytes))?;
        let period: Option<f64> = object.getattr(py, intern!(py, "period"))?.extract(py)?;
        let period = match period {
            Some(s) if !(1e-9..1e9).contains(&s) => {
                return Err(PyValueError::new_err(format!(
                    "period is {s}: give seconds from 1e-9 to 1e9"
                )));
            }
            period => period.map(Duration::from_secs_f64),
        };
        let names: Vec<String> = object.getattr(py, intern!(py, "gauges"))?.extract(py)?;
        let queue = Queue {
            now_ns: 0,
            packets: 0,
            bytes: 0,
            rng: Rng::from_state(0),
            next_tick: None,
            waits,
            done: Vec::new(),
        };
        Ok(Own {
            name: maker.name,
            explain: maker.explain.clone_ref(py),
            tick: object.getattr(py, intern!(py, "tick")).ok(),
            queue: Py::new(py, queue)?,
            pulse: maker.pulse.clone(),
            next_tick: period.map(|period| Instant::ZERO + period),
            period,
            gauges: names.iter().map(|name| plugin::text(name)).collect(),
            object,
        })
    }

    fn method(&self, name: &str) -> Option<Py<PyAny>> {
        Python::attach(|py| self.object.getattr(py, name).ok())
    }

    /// Calls the object with the present time, backlog and random state.
    fn ask<T>(
        &mut self,
        now: Instant,
        backlog: Backlog,
        rng: &mut Rng,
        call: impl FnOnce(Python<'_>, &Py<Queue>) -> PyResult<T>,
    ) -> T {
        self.pulse.beat();
        let answer = Python::attach(|py| {
            {
                let mut queue = self.queue.borrow_mut(py);
                queue.now_ns = now.nanos();
                queue.packets = backlog.packets;
                queue.bytes = backlog.bytes;
                queue.rng = rng.clone();
            }
            let answer = call(py, &self.queue).map_err(|error| sentence(py, &self.explain, &error));
            let mut queue = self.queue.borrow_mut(py);
            rng.clone_from(&queue.rng);
            if let Some(at) = queue.next_tick.take() {
                self.next_tick = Some(Instant::from_nanos(at));
            }
            answer
        });
        self.pulse.beat();
        answer.unwrap_or_else(|why| fail(why))
    }

    fn tick(&mut self, backlog: Backlog, now: Instant, rng: &mut Rng) {
        self.next_tick = match (self.next_tick, self.period) {
            (Some(due), Some(period)) => Some(due + period),
            _ => None,
        };
        let Some(tick) = self.tick.take() else { return };
        self.ask(now, backlog, rng, |py, queue| tick.call1(py, (queue,)).map(drop));
        self.tick = Some(tick);
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if self.gauges.is_empty() {
            return;
        }
        self.pulse.beat();
        let read = Python::attach(|py| {
            let read = |name: &&str| self.object.getattr(py, *name)?.extract::<f64>(py);
            self.gauges.iter().map(read).collect::<PyResult<Vec<f64>>>()
        });
        self.pulse.beat();
        match read {
            Ok(values) => self.gauges.iter().zip(values).for_each(|(name, v)| show(name, v)),
            Err(error) => fail(format!("{}: a gauge is no number: {error}", self.name)),
        }
    }
}
