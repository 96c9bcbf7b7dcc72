//! How a user's discipline ends a run: a call that cannot go on unwinds to the caller that began
//! the run.

use std::panic;

pub use aqm::Failed;

/// Ends the run by unwinding with [`Failed`]; no hook is called and nothing printed. The caller
/// that supplied the discipline catches it. In WebAssembly, which does not unwind, the hook gets
/// [`Failed`] before the module traps.
pub fn fail(sentence: impl Into<String>) -> ! {
    let failed = Failed(sentence.into());
    if cfg!(target_family = "wasm") {
        panic::panic_any(failed)
    }
    panic::resume_unwind(Box::new(failed))
}
