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
use crate::priority::Precedence;
use crate::router::Router;
use crate::system;

/// Before something is due the loop no longer sleeps: waking takes that long.
const SPIN: Duration = Duration::from_micros(60);
/// How often programs are looked after.
const LOOK: Duration = Duration::from_millis(20);
/// Over what time the router's load is judged.
const JUDGED: Duration = Duration::from_millis(1_000);
/// How long programs may take to begin, and to end after the run.
const TO_BEGIN: Wall = Wall::from_secs(60);
const TO_END: Duration = Duration::from_millis(30_000);
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
    let mut precedence = Precedence::ask();
    running.iter().filter(|part| part.control.is_some()).for_each(|p| precedence.give(p.process()));
    let begin = monotonic_ns() + NOTICE_NS;
    running.iter().try_for_each(|part| part.begin(begin))?;
    let cpu = thread_cpu();
    let mut drive = Drive {
        bridge,
        running,
        clock: Clock::new(begin),
        gaps: LogHistogram::default(),
        precedence,
        load: Load { at: Instant::ZERO, used: cpu },
    };
    let whole = Instant::ZERO + spec.scenario.params.time("duration");
    let end = drive.until(whole, Drive::look_after)?;
    let busy = thread_cpu();
    let ended = if end < whole { drive.stop() } else { drive.wait(end) };
    drive.precedence.end();
    let counters = [clients.counters()?, servers.counters()?];
    system::keep_capabilities(CapabilitySet::empty()).map_err(doing("drop capabilities"))?;
    let busy = Duration::from_nanos(busy.nanos() - cpu.nanos());
    let finished = ended.and_then(|()| report::finish(spec, drive, end, counters, busy));
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

/// What the router had used of its processor, and when.
struct Load {
    at: Instant,
    used: Duration,
}

impl Load {
    /// At `now`: once in [`JUDGED`] the share since the last time.
    fn share(&mut self, now: Instant) -> Option<f64> {
        let span = now.since(self.at);
        if span < JUDGED {
            return None;
        }
        let before = std::mem::replace(self, Load { at: now, used: thread_cpu() });
        let used = Duration::from_nanos(self.used.nanos() - before.used.nanos());
        Some(used.secs_f64() / span.secs_f64())
    }
}

/// A run under way.
struct Drive {
    bridge: Bridge<Tun>,
    running: Vec<Running>,
    clock: Clock,
    gaps: LogHistogram,
    precedence: Precedence,
    load: Load,
}

impl Drive {
    /// Moves packets until `end`, or until it is `over`. Returns when.
    fn until(
        &mut self,
        end: Instant,
        over: fn(&mut Drive) -> Result<bool, Fault>,
    ) -> Result<Instant, Fault> {
        let mut look = Instant::ZERO;
        // When it was to look next.
        let mut wanted = self.clock.now();
        loop {
            let now = self.clock.now();
            self.gaps.add(now.since(wanted).nanos());
            if now >= end {
                return Ok(end);
            }
            if now >= look {
                look = now + LOOK;
                if let Some(share) = self.load.share(now) {
                    self.precedence.watch(share, now.secs_f64());
                }
                if over(self)? {
                    return Ok(now);
                }
            }
            wanted = now;
            let more = self.turn()?;
            let due = self.bridge.next().unwrap_or(end).min(end).min(look);
            let now = self.clock.now();
            let rest = due.since(now);
            if !more && rest > SPIN {
                let rest = Duration::from_nanos(rest.nanos() - SPIN.nanos());
                self.gaps.add(now.since(wanted).nanos());
                self.sleep(rest)?;
                // Woken by a packet, as late as that can be told: not later than it wanted.
                wanted = (now + rest).min(self.clock.now());
            }
        }
    }

    /// Programs of users end by themselves, packets still moving; all others are ended.
    fn wait(&mut self, end: Instant) -> Result<(), Fault> {
        self.until(end + TO_END, Drive::have_ended)?;
        let failed = self.running.iter().find_map(Running::failure);
        self.stop()?;
        failed.map_or(Ok(()), Err)
    }

    fn have_ended(&mut self) -> Result<bool, Fault> {
        // What they still announce is read, or every wait would end at once.
        self.look_after()?;
        let mut users = self.running.iter_mut().filter(|part| part.control.is_some());
        users.try_fold(true, |all, part| Ok(part.has_ended()? && all))
    }

    fn stop(&mut self) -> Result<(), Fault> {
        for part in &mut self.running {
            part.has_ended()?;
            part.stop();
        }
        Ok(())
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

    /// Waits for packets, words or the time.
    fn sleep(&self, most: Duration) -> Result<(), Fault> {
        let [clients, servers] = self.bridge.devices();
        let mut files =
            vec![PollFd::new(clients, PollFlags::IN), PollFd::new(servers, PollFlags::IN)];
        let words = self.running.iter().filter(|part| part.code.is_none());
        files.extend(words.filter_map(|p| Some(PollFd::new(p.control.as_ref()?, PollFlags::IN))));
        match poll(&mut files, Some(&timespec(most))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
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
