//! How a user's discipline ends a run: calls of a discipline have no room for an error, because
//! ours have none, so a call that cannot go on unwinds to whoever began the run.

use std::panic;

/// A user's discipline did what ends a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

/// Ends the run by unwinding with [`Failed`]; no hook is called and nothing printed. Whoever hands
/// disciplines in catches it.
pub fn fail(sentence: impl Into<String>) -> ! {
    panic::resume_unwind(Box::new(Failed(sentence.into())))
}
