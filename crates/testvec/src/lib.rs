//! One discipline before a line, without end systems: its calls, its random draws and its
//! decisions, recorded so that another implementation can be compared with it.
//!
//! Reading order: [`Trial`] (drives a discipline and records every [`Call`]), [`traffic`] (random
//! packets that visit a discipline's branches), [`Case`] (one trial as data), [`document`] (the
//! format, which `vectors/README.md` explains), [`suite`] (the cases of a registry entry),
//! [`coverage`] (what a case shows), [`laws`] and [`random_calls`] (what holds for every discipline),
//! [`check`] (all of it, of one). [`parameters`] between JSON and the registry's tables serve
//! scenarios too.

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

/// Carries out the trial that `request` (JSON) describes and answers with a [`document`] of that
/// one case.
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
