//! The run's time, from one clock that all processes of the machine share.

use packet::Instant;
use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Reads `CLOCK_MONOTONIC` as time since the run began.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begin: u64,
}

/// The reading of `CLOCK_MONOTONIC`, ns.
pub fn monotonic_ns() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec.unsigned_abs() * SECOND + tv_nsec.unsigned_abs()
}

impl Clock {
    /// The clock of a run that begins when `CLOCK_MONOTONIC` reads `begin` nanoseconds.
    pub fn new(begin: u64) -> Self {
        Clock { begin }
    }

    /// Time since the run began; zero before that.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(monotonic_ns().saturating_sub(self.begin))
    }

    /// Time from now until an instant; zero if it is past.
    pub fn until(&self, at: Instant) -> Timespec {
        let left = (self.begin.saturating_add(at.nanos())).saturating_sub(monotonic_ns());
        Timespec { tv_sec: (left / SECOND) as i64, tv_nsec: (left % SECOND) as i64 }
    }

    /// Sleeps until the run begins.
    pub fn sleep_until_begin(&self) {
        let begin = Timespec {
            tv_sec: (self.begin / SECOND) as i64,
            tv_nsec: (self.begin % SECOND) as i64,
        };
        // A signal ends the sleep early; nothing else can fail.
        while clock_nanosleep_absolute(SleepClock::Monotonic, &begin).is_err() {}
    }
}
