//! Whether a call of a user's discipline has come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count that is odd while a call lasts. The thread that owns a clock reads it now and then: if
/// an odd number does not change for long, a call does not come back.
///
/// One thread makes the calls, another reads; a count that is a little old does no harm.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// A call begins or ends.
    #[inline]
    pub fn beat(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The count.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
