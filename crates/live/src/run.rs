//! Carries out a live run, from making its namespaces to its outcome.

mod capture;
pub mod drive;
mod programs;
mod report;
mod spec;

use std::time::Duration as Wall;

use packet::{Duration, Instant};
use rustix::thread::{CapabilitySet, UnshareFlags};
use sim::Outcome;
use sim::topology::Side;

use self::capture::Capture;
use self::drive::{Around, Drive};
use self::programs::Programs;
pub use self::report::Honesty;
pub use self::spec::Spec;
use crate::bridge::Bridge;
use crate::clock::{Clock, monotonic_ns, thread_cpu};
use crate::device::Tun;
use crate::fault::{Fault, doing};
use crate::netns::Namespace;
use crate::parts::{self, Running};
use crate::priority::Precedence;
use crate::router::Router;
use crate::system;

/// How long programs of users may take until their servers listen.
const TO_BEGIN: Wall = Wall::from_secs(60);
/// Time from sending [`Message::Begin`](crate::control::Message::Begin) to the run's time zero, ns.
const NOTICE_NS: u64 = 5_000_000;

/// Carries out the live run that `spec` specifies.
///
/// # Errors
/// A sentence: what is missing, why a program failed, or what the kernel refuses.
pub fn run(spec: &Spec) -> Result<(Outcome, Honesty), Fault> {
    system::end_with_parent()?;
    let router = Router::new(&spec.scenario, spec.logged).map_err(|e| Fault(e.0))?;
    system::gain_capabilities()?;
    let system = &spec.end_system;
    let (clients, client_device) = Namespace::create(Side::Clients, system)?;
    let (servers, server_device) = Namespace::create(Side::Servers, system)?;
    let devices = [client_device, server_device].map(Tun::new);
    let holder = hold_programs(spec, &clients)?;
    let mut running = parts::start(&spec.parts, [&clients, &servers])?;
    for part in running.iter_mut().filter(|part| part.control.is_some()) {
        part.wait_until_ready(TO_BEGIN)?;
    }
    running.extend(parts::start(&spec.commands, [&clients, &servers])?);
    let capture = spec.pcap.as_deref().map(Capture::create).transpose()?;
    let bridge = Bridge::new(router, devices, capture.as_ref().map(Capture::tap));
    let mut precedence = Precedence::ask();
    running.iter().filter(|part| part.control.is_some()).for_each(|p| precedence.give(p.process()));
    let begin = monotonic_ns() + NOTICE_NS;
    running.iter().try_for_each(|part| part.begin(begin))?;
    let cpu = thread_cpu();
    let programs = Programs { clock: Clock::new(begin), holder, running, capture };
    let mut drive = Drive::new(bridge, programs, precedence);
    let whole = Instant::ZERO + spec.scenario.params.time("duration");
    let end = drive.run(whole)?;
    let busy = thread_cpu();
    let ended = if end < whole { drive.programs.stop() } else { drive.wait(end) };
    drive.precedence.end();
    let counters = [clients.counters()?, servers.counters()?];
    system::keep_capabilities(CapabilitySet::empty()).map_err(doing("drop capabilities"))?;
    let busy = Duration::from_nanos(busy.nanos() - cpu.nanos());
    let captured = drive.programs.capture.as_ref().map_or(Ok(()), Capture::finish);
    ended.and(captured).and_then(|()| report::finish(spec, drive, end, counters, busy))
}

/// Makes a PID namespace for all further programs, and starts its first process, the holder. When
/// this process ends, the holder ends, and with it the kernel ends all processes of the namespace,
/// also those that programs have started. (This process cannot start threads any more.)
fn hold_programs(spec: &Spec, namespace: &Namespace) -> Result<Running, Fault> {
    system::unshare(UnshareFlags::NEWPID).map_err(doing("make a namespace of processes"))?;
    parts::start_one(&spec.holder, namespace, None)
}
