//! Turns a fault of the simulator (a Rust panic) into a Python exception with one sentence.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(_core, Fault, PyException, "A fault of the simulator: one sentence.");
create_exception!(_core, DisciplineError, PyException, "A user's discipline failed: one sentence.");

const REPORT: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

thread_local! {
    /// Source file and line of this thread's last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs a panic hook that prints nothing, as the caller gets panics as exceptions.
pub fn keep_quiet() {
    panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|kept| kept.replace(place));
    }));
}

/// Returns the result of `work`; turns a panic into a [`Fault`], or into a [`DisciplineError`] if a
/// user's discipline has failed.
///
/// A panicking call drops its own data. A Python object that it was changing must not be used
/// again.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        match panic.downcast_ref::<plugin::Failed>() {
            Some(failed) => Err(DisciplineError::new_err(failed.0.clone())),
            None => Err(Fault::new_err(sentence(&*panic))),
        }
    })
}

fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let said = text.unwrap_or("no reason given").split_whitespace().collect::<Vec<_>>().join(" ");
    let place = PLACE.with(RefCell::take);
    format!(
        "the simulator failed ({said}, {place}), which is a fault of aqmlab and not of the \
         scenario: please report it with the scenario and this line (build {}) at {REPORT}",
        env!("AQMLAB_BUILD"),
    )
}
