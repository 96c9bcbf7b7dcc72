//! The system calls that have no safe form: the only `unsafe` of this crate.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, LinkNameSpaceType, UnshareFlags, move_into_link_name_space,
    set_capabilities, set_no_new_privs,
};

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
    Ok(unsafe { rustix::thread::unshare_unsafe(flags)? })
}

/// A program that is started in a network namespace, without any capability, and does not outlive the
/// thread that starts it. It inherits `keep`, under that number.
pub fn confine(command: &mut Command, namespace: &OwnedFd, keep: Option<&OwnedFd>) {
    let (namespace, keep) = (namespace.as_raw_fd(), keep.map(AsRawFd::as_raw_fd));
    // SAFETY: between fork and exec only system calls are made, none of which allocates.
    unsafe { command.pre_exec(move || enter(namespace, keep)) };
}

fn enter(namespace: RawFd, keep: Option<RawFd>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // SAFETY: both are open in the parent for as long as it starts programs.
    let borrow = |fd| unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    move_into_link_name_space(borrow(namespace), Some(LinkNameSpaceType::Network))?;
    if let Some(keep) = keep {
        fcntl_setfd(borrow(keep).as_fd(), FdFlags::empty())?;
    }
    drop_capabilities()
}

/// From here on this thread, and what it starts, can do no more than any user, whoever it runs as.
///
/// # Errors
/// As the kernel says.
pub fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    // A program that is executed by root would get all of them back.
    set_no_new_privs(true)?;
    rustix::thread::set_capabilities_secure_bits(
        rustix::thread::CapabilitiesSecureBits::NO_ROOT
            | rustix::thread::CapabilitiesSecureBits::NO_ROOT_LOCKED,
    )?;
    Ok(set_capabilities(None, sets)?)
}
