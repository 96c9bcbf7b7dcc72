//! What can go wrong in a live run, in a sentence.

use std::fmt::Display;

/// Why a live run cannot be, or has failed: a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The sentence of an error of the system while it was to do something.
pub fn doing<E: Display>(what: &'static str) -> impl Fn(E) -> Fault {
    move |error| {
        Fault(format!(
            "the system would not {what} ({error}): `aqmlab live --check` shows what a live run needs"
        ))
    }
}
