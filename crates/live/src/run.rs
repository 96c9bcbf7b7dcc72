//! A live run from its namespaces to its outcome.

mod report;
mod spec;

use std::time::Duration as Wall;

use packet::{Duration, Instant};
use record::LogHistogram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::{CapabilitySet, UnshareFlags};
use sim::Outcome;
use sim::topology::Side;

pub use self::report::Honesty;
pub use self::spec::Spec;
use crate::bridge::Bridge;
use crate::clock::{Clock, monotonic_ns, thread_cpu, timespec};
use crate::control::Message;
use crate::device::Tun;
use crate::fault::{Fault, doing};
use crate::netns::Namespace;
use crate::parts::{self, Running};
use crate::router::Router;
use crate::system;

/// Before something is due the loop no longer sleeps: waking takes that long.
const SPIN: Duration = Duration::from_micros(60);
/// How often programs are looked after.
const LOOK: Duration = Duration::from_millis(20);
/// How long programs may take to begin, and to end after the run.
const TO_BEGIN: Wall = Wall::from_secs(60);
const TO_END: Wall = Wall::from_secs(30);
/// Between the word to begin and the begin.
const NOTICE_NS: u64 = 5_000_000;

/// Runs a specification.
///
/// # Errors
/// A sentence: what is missing, what a program said, or what the kernel refuses.
pub fn run(spec: &Spec) -> Result<(Outcome, Honesty), Fault> {
    let router = Router::new(&spec.scenario, spec.logged).map_err(|e| Fault(e.0))?;
    system::gain_capabilities()?;
    let system = &spec.end_system;
    let (clients, client_device) = Namespace::create(Side::Clients, system)?;
    let (servers, server_device) = Namespace::create(Side::Servers, system)?;
    let devices = [client_device, server_device].map(Tun::new);
    let mut holder = hold_programs(spec, &clients)?;
    let mut running = parts::start(&spec.parts, [&clients, &servers])?;
    for part in running.iter_mut().filter(|part| part.control.is_some()) {
        part.wait_until_ready(TO_BEGIN)?;
    }
    running.extend(parts::start(&spec.commands, [&clients, &servers])?);
    let bridge = Bridge::new(router, devices, spec.tap()?);
    prefer_this_thread();
    let begin = monotonic_ns() + NOTICE_NS;
    running.iter().try_for_each(|part| part.begin(begin))?;
    let cpu = thread_cpu();
    let mut drive =
        Drive { bridge, running, clock: Clock::new(begin), gaps: LogHistogram::default() };
    let end = drive.until(Instant::ZERO + spec.scenario.params.time("duration"))?;
    let busy = thread_cpu();
    let counters = [clients.counters()?, servers.counters()?];
    system::keep_capabilities(CapabilitySet::empty()).map_err(doing("drop capabilities"))?;
    let busy = Duration::from_nanos(busy.nanos() - cpu.nanos());
    let finished = report::finish(spec, drive, end, counters, busy);
    holder.stop();
    finished
}

/// From here on programs are started in a PID namespace whose first process is this one: with it, which
/// ends with us, all of them end, also those that programs have started and nobody knows of. (No thread
/// can be started any more.)
fn hold_programs(spec: &Spec, namespace: &Namespace) -> Result<Running, Fault> {
    system::unshare(UnshareFlags::NEWPID).map_err(doing("make a namespace of processes"))?;
    parts::start_one(&spec.holder, namespace, None)
}

/// A little more often at the processor than others, where that is allowed.
fn prefer_this_thread() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1_000));
    let _ = rustix::process::nice(-15);
}

/// A run under way.
struct Drive {
    bridge: Bridge<Tun>,
    running: Vec<Running>,
    clock: Clock,
    gaps: LogHistogram,
}

impl Drive {
    /// Moves packets until `end`, or until a program is over with which the run ends. Returns when.
    fn until(&mut self, end: Instant) -> Result<Instant, Fault> {
        let mut look = Instant::ZERO;
        let mut before = self.clock.now();
        loop {
            let now = self.clock.now();
            self.gaps.add(now.since(before).nanos());
            if now >= end {
                return Ok(end);
            }
            if now >= look {
                look = now + LOOK;
                if self.look_after()? {
                    return Ok(now);
                }
            }
            let more = self.turn()?;
            let due = self.bridge.next().unwrap_or(end).min(end).min(look);
            before = self.clock.now();
            let rest = due.since(before);
            if !more && rest > SPIN {
                let rest = Duration::from_nanos(rest.nanos() - SPIN.nanos());
                if self.sleep(rest)? {
                    // Nothing came, so it should have woken then.
                    before += rest;
                } else {
                    before = self.clock.now();
                }
            }
        }
    }

    fn turn(&mut self) -> Result<bool, Fault> {
        let (clock, running) = (self.clock, &self.running);
        let mut announced = |router: &mut Router| {
            for part in running {
                while let Some(Message::Announce(of)) = part.heard() {
                    router.announce(&of);
                }
            }
        };
        self.bridge.turn(&mut || clock.now(), &mut announced).map_err(doing("move a packet"))
    }

    /// Waits for packets, words or the time. Whether it was the time.
    fn sleep(&self, most: Duration) -> Result<bool, Fault> {
        let [clients, servers] = self.bridge.devices();
        let mut files =
            vec![PollFd::new(clients, PollFlags::IN), PollFd::new(servers, PollFlags::IN)];
        let words = self.running.iter().filter(|part| part.code.is_none());
        files.extend(words.filter_map(|p| Some(PollFd::new(p.control.as_ref()?, PollFlags::IN))));
        match poll(&mut files, Some(&timespec(most))) {
            Ok(ready) => Ok(ready == 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(doing("wait for packets")(error)),
        }
    }

    /// Hears what programs announce and whether they still run. Whether the run is over.
    fn look_after(&mut self) -> Result<bool, Fault> {
        let mut over = false;
        for part in &mut self.running {
            while let Some(Message::Announce(of)) = part.heard() {
                self.bridge.announce(&of);
            }
            if part.has_ended()? {
                if let Some(failure) = part.failure() {
                    return Err(failure);
                }
                over |= part.part.ends_run;
            }
        }
        Ok(over)
    }
}
