//! Errors of a live run, each a sentence for the user.

use std::fmt::Display;

/// Why a live run cannot start, or has failed: a sentence that also says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Turns an error of a system call into a sentence; `what` names the action that failed.
pub fn doing<E: Display>(what: &'static str) -> impl Fn(E) -> Fault {
    move |error| {
        Fault(format!(
            "the system would not {what} ({error}): `aqmlab live --check` shows what a live run needs"
        ))
    }
}
