//! Sockets as the programs of users need them: they never block, and are closed when a program ends.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{
    AddressFamily, Shutdown, SocketFlags, SocketType, bind, connect, listen, shutdown, socket_with,
};

use super::end_system::SocketOptions;
use super::places::Ports;

/// Connections that may wait for `accept`.
const BACKLOG: i32 = 4_096;

fn new(at: SocketAddr, kind: SocketType) -> io::Result<OwnedFd> {
    let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    Ok(socket_with(family, kind, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// What a socket sends has this traffic class from here on: DSCP and, of datagrams, the ECN field (of
/// connections the kernel has its own).
///
/// # Errors
/// The kernel's.
pub fn set_class(socket: &OwnedFd, at: SocketAddr, class: u8) -> io::Result<()> {
    match at {
        SocketAddr::V4(_) => sockopt::set_ip_tos(socket, class)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_tclass(socket, class.into())?,
    }
    Ok(())
}

/// Sets the option by which a socket reports the traffic class of what it receives.
fn report_class(socket: &OwnedFd, at: SocketAddr) -> io::Result<()> {
    match at {
        SocketAddr::V4(_) => sockopt::set_ip_recvtos(socket, true)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_recvtclass(socket, true)?,
    }
    Ok(())
}

/// A listener of TCP at `at`, whose connections have these options.
///
/// # Errors
/// The kernel's.
pub fn listener(at: SocketAddr, options: &SocketOptions, dscp: u8) -> io::Result<OwnedFd> {
    let socket = new(at, SocketType::STREAM)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    options.set(&socket)?;
    set_class(&socket, at, dscp << 2)?;
    bind(&socket, &at)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// A socket of UDP at `at`.
///
/// # Errors
/// The kernel's.
pub fn datagrams(at: SocketAddr, dscp: u8) -> io::Result<OwnedFd> {
    let socket = new(at, SocketType::DGRAM)?;
    set_class(&socket, at, dscp << 2)?;
    report_class(&socket, at)?;
    bind(&socket, &at)?;
    Ok(socket)
}

/// Binds a new socket to the next free port of an address.
fn bind_next(
    ports: &mut Ports,
    at: std::net::IpAddr,
    make: impl Fn(SocketAddr) -> io::Result<OwnedFd>,
) -> io::Result<(OwnedFd, SocketAddr)> {
    for _ in 0..Ports::ALL {
        let own = ports.next(at);
        match make(own) {
            Err(taken) if taken.raw_os_error() == Some(Errno::ADDRINUSE.raw_os_error()) => {}
            made => return Ok((made?, own)),
        }
    }
    Err(io::Error::other(format!("{at}: every port is taken; open fewer connections at once")))
}

/// A socket of UDP at a port of its own.
///
/// # Errors
/// The kernel's.
pub fn sender(
    ports: &mut Ports,
    at: std::net::IpAddr,
    dscp: u8,
) -> io::Result<(OwnedFd, SocketAddr)> {
    bind_next(ports, at, |own| datagrams(own, dscp))
}

/// A socket of TCP at a port of its own, about to connect.
///
/// # Errors
/// The kernel's.
pub fn opener(
    ports: &mut Ports,
    at: std::net::IpAddr,
    options: &SocketOptions,
    dscp: u8,
) -> io::Result<(OwnedFd, SocketAddr)> {
    bind_next(ports, at, |own| {
        let socket = new(own, SocketType::STREAM)?;
        options.set(&socket)?;
        set_class(&socket, own, dscp << 2)?;
        bind(&socket, &own)?;
        Ok(socket)
    })
}

/// Begins to connect.
///
/// # Errors
/// The kernel's.
pub fn begin_connect(socket: &OwnedFd, to: SocketAddr) -> io::Result<()> {
    match connect(socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Nothing more will be written.
pub fn end_writing(socket: impl AsFd) {
    // It fails only on a connection that has failed, which the next event reports.
    let _ = shutdown(socket, Shutdown::Write);
}
