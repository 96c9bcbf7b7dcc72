//! System calls and kernel counters of connections and namespaces that `rustix` does not have.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use packet::Ecn;
use rustix::io::Errno;

use super::facts::Fact;

/// Some fields of a socket's `struct tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Both directions are closed and all is acknowledged (state TCP_CLOSE).
    pub closed: bool,
    /// Number of segments retransmitted: SYN, FIN, or with payload.
    pub resent: u32,
    /// Number of segments with payload sent.
    pub data_segments: u32,
    /// Payload bytes retransmitted.
    pub resent_bytes: u64,
}

/// Offsets in `struct tcp_info` (include/uapi/linux/tcp.h), which only ever grows at its end.
const TOTAL_RETRANS: usize = 100;
const DATA_SEGS_OUT: usize = 156;
const BYTES_RETRANS: usize = 208;
const LENGTH: usize = 216;

/// Value TCP_CLOSE of `tcpi_state`, the first byte of the structure.
const CLOSE: u8 = 7;

/// Reads a socket's TCP_INFO; all fields are 0 if the call fails.
pub fn tcp_info(socket: impl AsFd) -> TcpInfo {
    let mut info = [0_u8; LENGTH];
    let mut length = LENGTH as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the length of `info`, and the file
    // descriptor is borrowed for the call.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return TcpInfo::default();
    }
    let four = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().expect("four bytes"));
    let eight = |at: usize| u64::from_ne_bytes(info[at..at + 8].try_into().expect("eight bytes"));
    TcpInfo {
        closed: info[0] == CLOSE,
        resent: four(TOTAL_RETRANS),
        data_segments: four(DATA_SEGS_OUT),
        resent_bytes: eight(BYTES_RETRANS),
    }
}

/// Number of bytes written to a TCP socket that are not acknowledged; a FIN counts as one. 0 if the
/// call fails.
pub fn unacknowledged(socket: impl AsFd) -> u64 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ (TIOCOUTQ) writes one int, and the file descriptor is borrowed for the call.
    #[allow(unsafe_code)]
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { u64::from(bytes.unsigned_abs()) } else { 0 }
}

/// Receives a datagram into `into`. Returns its length in bytes and the ECN field of its header
/// (`IP_RECVTOS`, `IPV6_RECVTCLASS`; Not-ECT if the socket does not have this option).
///
/// # Errors
/// The kernel's error; `AGAIN` if no datagram waits.
pub fn receive(socket: &OwnedFd, into: &mut [u8]) -> Result<(usize, Ecn), Errno> {
    // Room for a control message with one int, aligned as the kernel requires.
    let mut control = [0_u64; 8];
    let mut place = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all zeros is a valid `msghdr`, without address, buffers and control messages.
    #[allow(unsafe_code)]
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut place;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to `place` and `control`, which have the given lengths and live
    // during the call.
    #[allow(unsafe_code)]
    let bytes = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let Ok(bytes) = usize::try_from(bytes) else {
        let error = io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    };
    // SAFETY: the kernel has filled the first `msg_controllen` bytes of `control`.
    #[allow(unsafe_code)]
    let message = unsafe { libc::CMSG_FIRSTHDR(&raw const header).as_ref() };
    let Some(message) = message else { return Ok((bytes, Ecn::NotEct)) };
    // The traffic class is a byte in IPv4 and an int in IPv6.
    let six = message.cmsg_level == libc::IPPROTO_IPV6;
    // SAFETY: the only control message that was requested has a byte or an int after its header.
    #[allow(unsafe_code)]
    let class = unsafe {
        let data = libc::CMSG_DATA(message);
        if six { data.cast::<libc::c_int>().read_unaligned() as u8 } else { data.read() }
    };
    Ok((bytes, Ecn::of_traffic_class(class)))
}

/// Sets a TCP socket option whose value is one int.
///
/// # Errors
/// The kernel's error.
pub fn set_tcp_option(
    socket: impl AsFd,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the kernel reads one int, and the file descriptor is borrowed for the call.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// TCP counters of a network namespace since it was made (`/proc/net/netstat`, `/proc/net/snmp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    /// Number of retransmission timers that expired.
    pub timeouts: u64,
    /// Number of recoveries that acknowledgements started, with SACK or without.
    pub fast_retransmits: u64,
    /// Number of timeouts found spurious.
    pub spurious_timeouts: u64,
    /// Number of segments retransmitted.
    pub retransmitted: u64,
}

impl TcpCounters {
    /// Reads the counters of this thread's network namespace; all are 0 if the kernel shows none.
    pub fn read() -> TcpCounters {
        let text = |name: &str| {
            fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default()
        };
        TcpCounters::parse(&text("netstat"), &text("snmp"))
    }

    /// The counters as a fact for the log.
    pub fn fact(self) -> Fact {
        let TcpCounters { timeouts, fast_retransmits, spurious_timeouts, retransmitted } = self;
        Fact::Kernel { timeouts, fast_retransmits, spurious_timeouts, retransmitted }
    }

    fn parse(netstat: &str, snmp: &str) -> TcpCounters {
        let of = |name: &str| counter(netstat, "TcpExt:", name);
        TcpCounters {
            timeouts: of("TCPTimeouts"),
            fast_retransmits: of("TCPRenoRecovery") + of("TCPSackRecovery"),
            spurious_timeouts: of("TCPSpuriousRTOs"),
            retransmitted: counter(snmp, "Tcp:", "RetransSegs"),
        }
    }
}

impl std::ops::Sub for TcpCounters {
    type Output = TcpCounters;

    fn sub(self, before: TcpCounters) -> TcpCounters {
        TcpCounters {
            timeouts: self.timeouts - before.timeouts,
            fast_retransmits: self.fast_retransmits - before.fast_retransmits,
            spurious_timeouts: self.spurious_timeouts - before.spurious_timeouts,
            retransmitted: self.retransmitted - before.retransmitted,
        }
    }
}

/// Reads a counter from a file that has two lines for each group: names, then numbers.
fn counter(text: &str, group: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.split(' ').next() == Some(group));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let place = names.split(' ').position(|each| each == name);
    place.and_then(|place| numbers.split(' ').nth(place)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let netstat = "TcpExt: A TCPTimeouts TCPSackRecovery TCPSpuriousRTOs TCPRenoRecovery\n\
                       TcpExt: 9 7 4 1 2\nIpExt: TCPTimeouts\nIpExt: 5\n";
        let read = TcpCounters::parse(netstat, "Tcp: RetransSegs\nTcp: 11\n");
        let (timeouts, retransmitted) = (7, 11);
        let expected =
            TcpCounters { timeouts, fast_retransmits: 6, spurious_timeouts: 1, retransmitted };
        assert_eq!(read, expected);
        assert_eq!(read - read, TcpCounters::default());
        assert_eq!(TcpCounters::parse("", ""), TcpCounters::default());
    }
}
