//! Detects a call of a user's discipline that does not return.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count that is odd while a call lasts. A watchdog thread reads it from time to time: if an odd
/// count does not change for long, a call does not return.
///
/// One thread makes the calls, another reads; a slightly old count does no harm.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// Counts the begin or the end of a call.
    #[inline]
    pub fn beat(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Number of begins and ends of calls so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
