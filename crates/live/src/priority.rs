//! Scheduling priority: a packet is forwarded when it is due only if the router runs then.
//!
//! Real-time scheduling (`SCHED_FIFO`, sched(7)) needs root or a limit (`ulimit -r`); without it a
//! run uses ordinary scheduling and reports so. Three things keep the machine usable: the
//! priorities are the lowest there are, the kernel leaves a twentieth of each processor to other
//! programs, and a router that is [overloaded](OVERLOAD) returns to ordinary scheduling. The kernel
//! ends a program that by a defect never sleeps (`ENDLESS_US`).

use std::io;
use std::num::NonZeroU64;

use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::system::{Scheduling, schedule};

/// The router's `SCHED_FIFO` priority: above the users' programs, below all other real-time
/// programs.
const ROUTER: u8 = 2;
/// The priority of the users' programs, if they are real-time programs.
const USERS: u8 = 1;
/// Share of a processor above which the router is overloaded. The kernel reserves 0.05 for other
/// programs (`sched_rt_runtime_us`), so more than 0.95 is not available.
pub const OVERLOAD: f64 = 0.94;
/// Processor time without sleeping after which the kernel ends a real-time program, microseconds.
const ENDLESS_US: u64 = 3_000_000;
/// Timer slack in ns: how much later than requested the kernel may wake a thread to wake several at
/// once (prctl(2)).
const SLACK_NS: u64 = 1;

/// The priorities and limits that the calling process has obtained.
#[derive(Debug, Default)]
pub struct Precedence {
    real_time: bool,
    users: bool,
    locked: bool,
    refused: Option<String>,
    given_up: Option<String>,
}

impl Precedence {
    /// Requests real-time priority, locked memory and exact wake-ups from the kernel. What is
    /// refused is kept for [`Precedence::account`].
    pub fn ask() -> Precedence {
        wake_in_time();
        raise(Resource::Rtprio);
        let limit =
            Rlimit { current: Some(ENDLESS_US), maximum: getrlimit(Resource::Rttime).maximum };
        // Without this limit the kernel still reserves a share for other programs.
        let _ = setrlimit(Resource::Rttime, limit);
        let requested = schedule(None, Scheduling::RealTime(ROUTER));
        if requested.is_err() {
            // A low nice value is the best substitute for real-time priority; the kernel may refuse
            // it too.
            let _ = rustix::process::nice(-15);
        }
        Precedence {
            real_time: requested.is_ok(),
            // Locks the pages that exist now. Later pages could not be locked once capabilities are
            // gone.
            locked: mlockall(MlockAllFlags::CURRENT).is_ok(),
            refused: requested.err().map(|error| error.to_string()),
            ..Precedence::default()
        }
    }

    /// Gives a program of users its priority, below the router's.
    pub fn give(&mut self, program: Pid) {
        if self.real_time {
            self.users = schedule(Some(program), Scheduling::RealTime(USERS)).is_ok();
        }
    }

    /// Gives up the router's real-time priority if its recent `share` of a processor is above
    /// [`OVERLOAD`]. `at_s` is the time of the run in seconds.
    pub fn watch(&mut self, share: f64, at_s: f64) {
        if self.real_time && self.given_up.is_none() && share > OVERLOAD {
            let ordinary = schedule(None, Scheduling::Ordinary).is_ok();
            let percent = share * 100.0;
            self.given_up = ordinary.then(|| format!("after {at_s:.1} s the router needed {percent:.0} % of a core and gave its real-time priority up: use a faster machine or a slower line"));
        }
    }

    /// Returns to ordinary scheduling and unlocks the memory, after the run's last packet.
    pub fn end(&self) {
        let _ = schedule(None, Scheduling::Ordinary);
        let _ = munlockall();
    }

    /// A sentence for the run's report, if the priority was given up.
    pub fn doubt(&self) -> Option<String> {
        self.given_up.clone()
    }

    /// The run's scheduling as JSON: `real_time` and `users_real_time`, the priorities of the
    /// router and of the users' programs (`null` for ordinary scheduling); `locked_memory`; and
    /// `refused`, the kernel's reason against real-time scheduling.
    pub fn account(&self) -> Value {
        json!({
            "real_time": self.real_time.then_some(ROUTER),
            "users_real_time": self.users.then_some(USERS),
            "locked_memory": self.locked,
            "refused": self.refused,
        })
    }
}

/// Makes the kernel wake the calling thread at the time it requests, without the usual slack.
pub fn wake_in_time() {
    // Kernels that refuse this have the usual slack of 50 us.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(SLACK_NS));
}

/// Raises the limit of a resource as far as this process may.
pub fn raise(resource: Resource) {
    let limit = getrlimit(resource);
    // An error is ignored: the calls that need the resource will report it.
    let _ = setrlimit(resource, Rlimit { current: limit.maximum, ..limit });
}

/// Whether real-time scheduling is available; tried on the calling thread and then undone.
///
/// # Errors
/// The kernel's error.
pub fn try_real_time() -> io::Result<()> {
    raise(Resource::Rtprio);
    schedule(None, Scheduling::RealTime(ROUTER))?;
    schedule(None, Scheduling::Ordinary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overloaded_router_gives_its_priority_up_once_and_says_so() {
        let mut precedence = Precedence { real_time: true, ..Precedence::default() };
        precedence.watch(OVERLOAD, 1.0);
        assert_eq!(precedence.doubt(), None);
        precedence.watch(0.97, 2.0);
        precedence.watch(0.99, 3.0);
        let said = precedence.doubt().expect("a sentence");
        assert!(said.starts_with("after 2.0 s the router needed 97 %"), "{said}");
        assert_eq!(precedence.account()["real_time"], 2);
    }

    #[test]
    fn who_has_no_real_time_scheduling_has_none_to_give_up() {
        let mut precedence = Precedence::default();
        precedence.watch(1.0, 1.0);
        assert_eq!(precedence.doubt(), None);
        assert_eq!(precedence.account()["real_time"], Value::Null);
    }
}
