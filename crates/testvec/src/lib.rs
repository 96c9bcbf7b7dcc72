//! One discipline with a line, without end systems: its calls, its random draws and its decisions
//! are recorded, so that another implementation can be compared with it.
//!
//! Reading order: [`Trial`] (drives a discipline and records every [`Call`]), [`traffic`] (random
//! packets that exercise a discipline's branches), [`Case`] (the description of a trial),
//! [`document`] (the file format, see `vectors/README.md`), [`suite`] (the cases of a registry
//! entry), [`coverage`] (the behaviours that a case shows), [`laws`] and [`random_calls`]
//! (properties of every discipline), [`check`] (all checks of one discipline). [`parameters`]
//! converts parameters between JSON and the registry's tables, for scenarios too.

pub mod case;
pub mod check;
pub mod coverage;
pub mod document;
mod driver;
pub mod laws;
pub mod parameters;
pub mod random_calls;
pub mod suite;
pub mod traffic;
mod words;

pub use case::Case;
pub use driver::{Call, MAX_CALLS, Trial, What};
pub use parameters::build;
pub use words::{packet, packet_json};

/// Carries out the trial that `request` (JSON) describes. Returns a [`document`] of that one case.
///
/// # Errors
/// One sentence that names the key at fault and the remedy.
pub fn answer(request: &str, registry: &aqm::Registry) -> Result<String, String> {
    let json =
        serde_json::from_str(request).map_err(|e| format!("the request is not JSON: {e}"))?;
    let case = Case::read(&json, registry)?;
    let run = case.run()?;
    Ok(document::write(case.entry, &[(case, run)]))
}
