//! The clock of a live run: the only module of the router that reads the system's time.

use packet::{Duration, Instant};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The reading of `CLOCK_MONOTONIC`, ns.
pub fn monotonic_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// Processor time that the calling thread has used.
pub fn thread_cpu() -> Duration {
    Duration::from_nanos(ns(clock_gettime(ClockId::ThreadCPUTime)))
}

fn ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reads `CLOCK_MONOTONIC` as time since the begin of a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begin_ns: u64,
}

impl Clock {
    /// The clock of a run that begins when `CLOCK_MONOTONIC` reads `begin_ns`; zero before that.
    pub fn new(begin_ns: u64) -> Clock {
        Clock { begin_ns }
    }

    /// The present time, since the run began.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(monotonic_ns().saturating_sub(self.begin_ns))
    }
}

/// A duration as a `struct timespec` for system calls.
pub fn timespec(span: Duration) -> Timespec {
    Timespec {
        tv_sec: (span.nanos() / 1_000_000_000) as i64,
        tv_nsec: (span.nanos() % 1_000_000_000) as _,
    }
}
