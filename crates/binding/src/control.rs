//! Calls of a congestion control that is a Python object. It can reach the simulator only through
//! the objects that are passed to its methods.

mod seen;

use std::sync::Arc;

use packet::params::Params;
use plugin::control::{Begin, Calls, Happened};
use plugin::control_types::{ControlAck, ControlLost, ControlWindow};
use pyo3::intern;
use pyo3::prelude::*;

use crate::discipline::{sentence, written};
pub use seen::{Ack, CongestionWindow, LostSegment};

/// Makes the Python objects of a congestion control by calling `make`; `explain` turns an exception
/// that they raise into a sentence for the user.
pub struct ControlMaker {
    make: Py<PyAny>,
    explain: Py<PyAny>,
}

impl ControlMaker {
    pub fn new(make: Py<PyAny>, explain: Py<PyAny>) -> Self {
        ControlMaker { make, explain }
    }

    /// A factory of connections' objects, with the values of these parameters.
    pub fn settle(&self, params: &Params) -> Arc<Begin> {
        let (make, explain, values) = Python::attach(|py| {
            let values = written(py, params).map(Py::into_any).map_err(|error| error.to_string());
            (self.make.clone_ref(py), self.explain.clone_ref(py), values)
        });
        Arc::new(move || {
            let values = values.as_ref().map_err(Clone::clone)?;
            Python::attach(|py| {
                let made = OwnControl::made(py, &make, &explain, values);
                made.map_err(|error| sentence(py, &explain, &error))
            })
            .map(|own| Box::new(own) as Box<dyn Calls>)
        })
    }
}

/// The Python object of one connection, its methods, and the objects passed to them.
struct OwnControl {
    explain: Py<PyAny>,
    object: Py<PyAny>,
    window: Py<CongestionWindow>,
    ack: Py<Ack>,
    on_ack: Py<PyAny>,
    on_lost: Option<Py<PyAny>>,
    gauges: Vec<&'static str>,
}

impl OwnControl {
    fn made(
        py: Python<'_>,
        make: &Py<PyAny>,
        explain: &Py<PyAny>,
        values: &Py<PyAny>,
    ) -> PyResult<Self> {
        let object = make.call1(py, (values,))?;
        let names: Vec<String> = object.getattr(py, intern!(py, "gauges"))?.extract(py)?;
        Ok(OwnControl {
            explain: explain.clone_ref(py),
            window: Py::new(py, CongestionWindow::default())?,
            ack: Py::new(py, Ack::default())?,
            on_ack: object.getattr(py, intern!(py, "on_ack"))?,
            on_lost: object.getattr(py, intern!(py, "on_lost")).ok(),
            gauges: names.iter().map(|name| plugin::text(name)).collect(),
            object,
        })
    }

    /// Calls the object with the current window, and copies back the window that it has set.
    #[inline]
    fn call(
        &self,
        window: &mut ControlWindow,
        call: impl FnOnce(Python<'_>, &Py<CongestionWindow>) -> PyResult<()>,
    ) -> Result<(), String> {
        Python::attach(|py| {
            self.window.borrow_mut(py).0 = *window;
            let done = call(py, &self.window);
            *window = self.window.borrow(py).0;
            done.map_err(|error| sentence(py, &self.explain, &error))
        })
    }
}

impl Calls for OwnControl {
    fn on(&mut self, what: Happened, window: &mut ControlWindow) -> Result<(), String> {
        self.call(window, |py, shown| {
            let method = self.object.getattr(py, what.call()).ok();
            match (method, what) {
                (None, _) => Ok(()),
                (Some(method), Happened::AppLimited(idle)) => {
                    method.call1(py, (shown, idle.secs_f64())).map(drop)
                }
                (Some(method), _) => method.call1(py, (shown,)).map(drop),
            }
        })
    }

    fn on_ack(&mut self, window: &mut ControlWindow, ack: &ControlAck) -> Result<(), String> {
        self.call(window, |py, shown| {
            self.ack.borrow_mut(py).0 = *ack;
            self.on_ack.call1(py, (shown, &self.ack)).map(drop)
        })
    }

    fn on_lost(&mut self, window: &ControlWindow, lost: &ControlLost) -> Result<(), String> {
        let Some(on_lost) = &self.on_lost else { return Ok(()) };
        let mut unchanged = *window;
        self.call(&mut unchanged, |py, shown| {
            on_lost.call1(py, (shown, Py::new(py, LostSegment(*lost))?)).map(drop)
        })
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) -> Result<(), String> {
        if self.gauges.is_empty() {
            return Ok(());
        }
        let read = Python::attach(|py| {
            let read = |name: &&str| self.object.getattr(py, *name)?.extract::<f64>(py);
            self.gauges.iter().map(read).collect::<PyResult<Vec<f64>>>()
        });
        let values = read.map_err(|error| format!("a gauge is no number: {error}"))?;
        self.gauges.iter().zip(values).for_each(|(name, value)| show(name, value));
        Ok(())
    }
}
