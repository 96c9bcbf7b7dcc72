//! Messages between the router and a program of users. They go over a pair of local sockets that
//! keeps message boundaries (`SOCK_SEQPACKET`), made before the program is started.
//!
//! The program sends [`Message::Ready`] when its servers listen; the router answers with
//! [`Message::Begin`], which holds the run's time zero. From then on the program announces each
//! connection *before* it calls `connect`, and each stream before its first datagram. So the
//! announcement waits in the socket when the router reads the first packet.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use packet::Duration;

/// The transport protocol of a flow, by its number in IP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Protocol {
    /// A TCP connection.
    Tcp = 6,
    /// A stream of datagrams, or a pair of streams, one in each direction.
    Udp = 17,
}

/// A connection or stream that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Transport protocol of the flow.
    pub protocol: Protocol,
    /// Local address and port of the socket that connects or sends first.
    pub opener: SocketAddr,
    /// Address and port that the opener's socket connects or sends to.
    pub acceptor: SocketAddr,
    /// Index of the flow's traffic group in the scenario.
    pub group: u16,
    /// Number of the source that opens the flow, counted over all groups as in the simulator.
    pub source: u32,
    /// Round-trip propagation time of the flow, which the program that opens the flow has drawn
    /// from the scenario's distribution.
    pub round_trip: Duration,
}

/// A message between the router and a program of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A program of users reports to the router that its servers listen.
    Ready,
    /// The router gives a program of users the run's time zero, in nanoseconds of
    /// `CLOCK_MONOTONIC`.
    Begin(u64),
    /// A program of users announces a connection or stream that is about to begin.
    Announce(Announcement),
}

/// Length of the longest message in bytes.
pub const LONGEST: usize = 52;

const READY: u8 = 1;
const BEGIN: u8 = 2;
const ANNOUNCE: u8 = 3;

impl Message {
    /// The encoded message in a buffer, and its length in bytes.
    pub fn encode(&self) -> ([u8; LONGEST], usize) {
        let mut out = [0; LONGEST];
        let length = match self {
            Message::Ready => {
                out[0] = READY;
                1
            }
            Message::Begin(at) => {
                out[0] = BEGIN;
                out[1..9].copy_from_slice(&at.to_le_bytes());
                9
            }
            Message::Announce(of) => {
                out[0] = ANNOUNCE;
                out[1] = of.protocol as u8;
                out[2..4].copy_from_slice(&of.group.to_le_bytes());
                out[4..8].copy_from_slice(&of.source.to_le_bytes());
                out[8..16].copy_from_slice(&of.round_trip.nanos().to_le_bytes());
                put(&mut out[16..34], of.opener);
                put(&mut out[34..52], of.acceptor);
                LONGEST
            }
        };
        (out, length)
    }

    /// Decodes a message; `None` if the bytes are malformed.
    pub fn decode(bytes: &[u8]) -> Option<Message> {
        match (*bytes.first()?, bytes.len()) {
            (READY, 1) => Some(Message::Ready),
            (BEGIN, 9) => Some(Message::Begin(u64::from_le_bytes(bytes[1..9].try_into().ok()?))),
            (ANNOUNCE, LONGEST) => Some(Message::Announce(Announcement {
                protocol: match bytes[1] {
                    6 => Protocol::Tcp,
                    17 => Protocol::Udp,
                    _ => return None,
                },
                group: u16::from_le_bytes(bytes[2..4].try_into().ok()?),
                source: u32::from_le_bytes(bytes[4..8].try_into().ok()?),
                round_trip: Duration::from_nanos(u64::from_le_bytes(bytes[8..16].try_into().ok()?)),
                opener: get(&bytes[16..34])?,
                acceptor: get(&bytes[34..52])?,
            })),
            _ => None,
        }
    }
}

/// Writes address and port in 18 bytes; IPv4 as an IPv4-mapped IPv6 address (RFC 4291 section
/// 2.5.5.2).
fn put(out: &mut [u8], of: SocketAddr) {
    let ip = match of.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    out[..16].copy_from_slice(&ip.octets());
    out[16..].copy_from_slice(&of.port().to_be_bytes());
}

fn get(bytes: &[u8]) -> Option<SocketAddr> {
    let ip: [u8; 16] = bytes[..16].try_into().ok()?;
    let port = u16::from_be_bytes([bytes[16], bytes[17]]);
    Some(SocketAddr::new(Ipv6Addr::from(ip).to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let announcement = |opener: &str, acceptor: &str| Announcement {
            protocol: Protocol::Tcp,
            opener: opener.parse().expect("an address"),
            acceptor: acceptor.parse().expect("an address"),
            group: 3,
            source: 70_000,
            round_trip: Duration::from_millis(79),
        };
        let four = announcement("10.0.0.7:40000", "10.128.0.1:80");
        let six = Announcement {
            protocol: Protocol::Udp,
            ..announcement("[fd71:6d6c:6162::7]:9", "[fd71:6d6c:6162:1::1]:80")
        };
        let all = [
            Message::Ready,
            Message::Begin(u64::MAX - 1),
            Message::Announce(four),
            Message::Announce(six),
        ];
        for message in all {
            let (bytes, length) = message.encode();
            assert_eq!(Message::decode(&bytes[..length]), Some(message));
            assert_eq!(Message::decode(&bytes[..length - 1]), None);
        }
    }
}
