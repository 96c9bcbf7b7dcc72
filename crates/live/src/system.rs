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

/// The `struct ifreq` with which TUNSETIFF makes a file of `/dev/net/tun` a device
/// (`linux/if_tun.h`).
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const TUNSETIFF: Opcode = opcode::write::<i32>(b'T', 202);
/// Flags of a device: IP packets without a link header (IFF_TUN), with nothing before them
/// (IFF_NO_PI).
const TUN: u16 = 0x0001 | 0x1000;

/// Opens a TUN device of this name in the calling thread's network namespace.
///
/// # Errors
/// The kernel's error: no `/dev/net/tun`, or no permission.
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

/// Gives the calling thread new namespaces (unshare(2)).
///
/// # Errors
/// The kernel's error, in most cases that the process lacks the privilege.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: only CLONE_FILES would invalidate file descriptors of other threads.
    unsafe { rustix::thread::unshare_unsafe(flags) }?;
    Ok(())
}

/// A scheduling policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// The default policy (`SCHED_OTHER`).
    Ordinary,
    /// Real-time scheduling with this priority (`SCHED_FIFO`): before all ordinary programs and
    /// those of lower priority.
    RealTime(u8),
}

/// Sets the policy of a single-threaded process, or of the calling thread if `None`. Its children
/// get the default policy.
///
/// # Errors
/// The kernel's error, in most cases that the caller lacks the privilege.
pub fn schedule(process: Option<Pid>, how: Scheduling) -> io::Result<()> {
    let (policy, priority) = match how {
        Scheduling::Ordinary => (libc::SCHED_OTHER, 0),
        Scheduling::RealTime(priority) => (libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority),
    };
    let wanted = libc::sched_param { sched_priority: priority.into() };
    let number = process.map_or(0, Pid::as_raw_pid);
    // SAFETY: the kernel reads the parameter during the call and keeps no pointer to it.
    let answer = unsafe { libc::sched_setscheduler(number, policy, &raw const wanted) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Environment variable with the process identifier of the command that started this supervisor.
pub const PARENT: &str = "AQMLAB_LIVE_PARENT";

/// Makes the kernel kill this process when its parent ends for whatever reason. Call it from the
/// process's first thread, and again after a change of capabilities, which clears the setting
/// (prctl(2)).
///
/// # Errors
/// A sentence, if the parent has ended already.
pub fn end_with_parent() -> Result<(), Fault> {
    let Some(parent) = std::env::var(PARENT).ok().and_then(|number| number.parse().ok()) else {
        return Ok(());
    };
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(doing("watch who started this"))?;
    let now = rustix::process::getppid().map(Pid::as_raw_pid);
    let gone = || Fault("the command that started this run has ended".into());
    if now == Some(parent) { Ok(()) } else { Err(gone()) }
}

/// Sets up `command`: the process has only the capabilities `able`, does not outlive the calling
/// thread, and inherits these file descriptors under their numbers.
pub fn confine(command: &mut Command, files: Vec<RawFd>, able: CapabilitySet) {
    // SAFETY: between fork and exec only system calls are made, none of which allocates.
    unsafe { command.pre_exec(move || bind(&files, able)) };
}

fn bind(files: &[RawFd], able: CapabilitySet) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    for &file in files {
        // SAFETY: the parent keeps the file open while it starts programs.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        fcntl_setfd(file, FdFlags::empty())?;
    }
    keep_capabilities(able)
}

/// The file whose descriptor an environment variable holds, inherited through [`confine`]. Call it
/// once for each variable.
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

/// Gives a process that may not make namespaces a user namespace in which it may. The process must
/// have a single thread. User and group keep their numbers, so that files keep their owners.
///
/// # Errors
/// A sentence, if the kernel does not allow a user namespace either.
pub fn gain_capabilities() -> Result<(), Fault> {
    end_with_parent()?;
    let held =
        rustix::thread::capabilities(None).map_err(doing("read our capabilities"))?.effective;
    if held.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN) {
        return Ok(());
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    // With a network namespace of its own: a thread that has entered another may come back only to
    // one that belongs to this user namespace.
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

/// Drops all capabilities but `able`, for this thread and all processes that it starts, also as
/// root.
///
/// # Errors
/// The kernel's error.
pub fn keep_capabilities(able: CapabilitySet) -> io::Result<()> {
    // Without this, a program executed by root would get all capabilities back.
    set_no_new_privs(true)?;
    set_capabilities(None, CapabilitySets { effective: able, permitted: able, inheritable: able })?;
    // Without this, a program executed by an ordinary user would lose them.
    able.iter().try_for_each(|one| Ok(configure_capability_in_ambient_set(one, true)?))
}
