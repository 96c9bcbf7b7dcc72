//! How an error in a user's discipline ends a run: the call unwinds to the caller that began the
//! run.

use std::panic;

pub use aqm::Failed;

/// Ends the run by unwinding with [`Failed`], without calling the panic hook or printing. The
/// caller that supplied the discipline catches it. In WebAssembly, which does not unwind, the panic
/// hook gets [`Failed`] before the module traps.
pub fn fail(sentence: impl Into<String>) -> ! {
    let failed = Failed(sentence.into());
    if cfg!(target_family = "wasm") {
        panic::panic_any(failed)
    }
    panic::resume_unwind(Box::new(failed))
}
