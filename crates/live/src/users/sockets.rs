//! Makes the sockets of programs of users, all non-blocking and close-on-exec.

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

/// Number of connections that may wait for `accept`.
const BACKLOG: i32 = 4_096;

fn new(at: SocketAddr, kind: SocketType) -> io::Result<OwnedFd> {
    let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    Ok(socket_with(family, kind, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// Sets the traffic class of the packets that a socket sends: the DSCP, and for UDP the ECN field
/// (TCP sets its own).
///
/// # Errors
/// The kernel's error.
pub fn set_class(socket: &OwnedFd, at: SocketAddr, class: u8) -> io::Result<()> {
    match at {
        SocketAddr::V4(_) => sockopt::set_ip_tos(socket, class)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_tclass(socket, class.into())?,
    }
    Ok(())
}

/// Makes a socket report the traffic class of received packets.
fn report_class(socket: &OwnedFd, at: SocketAddr) -> io::Result<()> {
    match at {
        SocketAddr::V4(_) => sockopt::set_ip_recvtos(socket, true)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_recvtclass(socket, true)?,
    }
    Ok(())
}

/// A listening TCP socket at `at`, whose connections have these options.
///
/// # Errors
/// The kernel's error.
pub fn listener(at: SocketAddr, options: &SocketOptions, dscp: u8) -> io::Result<OwnedFd> {
    let socket = new(at, SocketType::STREAM)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    options.set(&socket)?;
    set_class(&socket, at, dscp << 2)?;
    bind(&socket, &at)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// A UDP socket at `at`.
///
/// # Errors
/// The kernel's error.
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

/// A UDP socket at a new local port.
///
/// # Errors
/// The kernel's error.
pub fn sender(
    ports: &mut Ports,
    at: std::net::IpAddr,
    dscp: u8,
) -> io::Result<(OwnedFd, SocketAddr)> {
    bind_next(ports, at, |own| datagrams(own, dscp))
}

/// A TCP socket at a new local port, not connected yet.
///
/// # Errors
/// The kernel's error.
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

/// Starts to connect, without waiting for the handshake.
///
/// # Errors
/// The kernel's error.
pub fn begin_connect(socket: &OwnedFd, to: SocketAddr) -> io::Result<()> {
    match connect(socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Closes the sending direction.
pub fn end_writing(socket: impl AsFd) {
    // The call fails only on a failed connection, which the next event reports.
    let _ = shutdown(socket, Shutdown::Write);
}
