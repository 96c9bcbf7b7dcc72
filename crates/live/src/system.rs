//! The system calls that have no safe form: the only `unsafe` of this crate.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use rustix::process::{Pid, Signal, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, configure_capability_in_ambient_set,
    set_capabilities, set_no_new_privs,
};

use crate::fault::{Fault, doing};

/// The request that makes a file of `/dev/net/tun` a device (`linux/if_tun.h`).
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const TUNSETIFF: Opcode = opcode::write::<i32>(b'T', 202);
/// Packets of IP without a link header (IFF_TUN), nothing in front of them (IFF_NO_PI).
const TUN: u16 = 0x0001 | 0x1000;

/// Opens a TUN device of this name in the calling thread's network namespace.
///
/// # Errors
/// As the kernel says: no `/dev/net/tun`, or no right to it.
pub fn open_tun(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    let mut request = InterfaceRequest { name: [0; 16], flags: TUN, rest: [0; 22] };
    let length = name.len().min(15);
    request.name[..length].copy_from_slice(&name.as_bytes()[..length]);
    // SAFETY: the request is the `struct ifreq` of 40 bytes that TUNSETIFF reads and writes.
    unsafe { ioctl(&device, Setter::<TUNSETIFF, InterfaceRequest>::new(request))? };
    Ok(device)
}

/// The calling thread gets namespaces of its own.
///
/// # Errors
/// As the kernel says: above all that the process may not.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: only CLONE_FILES would take open files from under other threads.
    unsafe { rustix::thread::unshare_unsafe(flags) }?;
    Ok(())
}

/// How the kernel shares processors out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// As it does for everybody.
    Ordinary,
    /// Before everybody who is ordinary or below this priority (`SCHED_FIFO`).
    RealTime(u8),
}

/// Schedules a process of one thread, or the calling thread, so. Its children are ordinary.
///
/// # Errors
/// As the kernel says: above all that the caller may not.
pub fn schedule(process: Option<Pid>, how: Scheduling) -> io::Result<()> {
    let (policy, priority) = match how {
        Scheduling::Ordinary => (libc::SCHED_OTHER, 0),
        Scheduling::RealTime(priority) => (libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority),
    };
    let wanted = libc::sched_param { sched_priority: priority.into() };
    let number = process.map_or(0, Pid::as_raw_pid);
    // SAFETY: the kernel reads the parameter and keeps nothing of it.
    let answer = unsafe { libc::sched_setscheduler(number, policy, &raw const wanted) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The environment variable with the number of the process that started a supervisor.
pub const PARENT: &str = "AQMLAB_LIVE_PARENT";

/// The kernel ends this process when the one that started it ends, however that comes about. To be called from the
/// process's first thread, and again after it has got new capabilities, which takes the order back (`prctl(2)`).
///
/// # Errors
/// A sentence, if it has ended already.
pub fn end_with_parent() -> Result<(), Fault> {
    let Some(parent) = std::env::var(PARENT).ok().and_then(|number| number.parse().ok()) else {
        return Ok(());
    };
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(doing("watch who started this"))?;
    let now = rustix::process::getppid().map(Pid::as_raw_pid);
    let gone = || Fault("the command that started this run has ended".into());
    if now == Some(parent) { Ok(()) } else { Err(gone()) }
}

/// What is started with `command` has no capability but `able`, does not outlive the calling thread, and
/// inherits these files under their numbers.
pub fn confine(command: &mut Command, files: Vec<RawFd>, able: CapabilitySet) {
    // SAFETY: between fork and exec only system calls are made, none of which allocates.
    unsafe { command.pre_exec(move || bind(&files, able)) };
}

fn bind(files: &[RawFd], able: CapabilitySet) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    for &file in files {
        // SAFETY: it is open in the parent for as long as that starts programs.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        fcntl_setfd(file, FdFlags::empty())?;
    }
    keep_capabilities(able)
}

/// The file whose number an environment variable holds, one that [`confine`] let through. Call it
/// once.
pub fn inherited(variable: &str) -> Option<OwnedFd> {
    let number: RawFd = std::env::var(variable).ok()?.parse().ok()?;
    // Numbers 0 to 2 are the standard streams, which are not ours to close.
    let number = Some(number).filter(|&number| number > 2)?;
    // SAFETY: the parent process opened it for us alone; nothing else in this process knows the
    // number.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_getfd(&file).ok()?;
    Some(file)
}

/// A process that may not make namespaces gets a user namespace in which it may. It has to be the only
/// thread of its process then. Users and groups keep their numbers, and so files their owners.
///
/// # Errors
/// A sentence, if the kernel does not allow that either.
pub fn gain_capabilities() -> Result<(), Fault> {
    end_with_parent()?;
    let held =
        rustix::thread::capabilities(None).map_err(doing("read our capabilities"))?.effective;
    if held.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN) {
        return Ok(());
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    // With a network of its own, to which a thread that enters another may come back.
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET).map_err(|error| {
        Fault(format!("a live run needs namespaces, and this user may not make any ({error}): start it as root, or have root allow user namespaces (sysctl user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0)"))
    })?;
    let (user, group) = (user.as_raw(), group.as_raw());
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (name, map) in maps {
        std::fs::write(format!("/proc/self/{name}"), map).map_err(doing("map users"))?;
    }
    end_with_parent()
}

/// From here on this thread, and what it starts, has no capabilities but `able`, whatever its user
/// is.
///
/// # Errors
/// As the kernel says.
pub fn keep_capabilities(able: CapabilitySet) -> io::Result<()> {
    // A program that is executed by root would get all of them back.
    set_no_new_privs(true)?;
    set_capabilities(None, CapabilitySets { effective: able, permitted: able, inheritable: able })?;
    // And one that is executed by a user would lose them.
    able.iter().try_for_each(|one| Ok(configure_capability_in_ambient_set(one, true)?))
}
