//! What a part of a run and the router say to each other, in messages over a pair of local sockets
//! that keeps their bounds (`SOCK_SEQPACKET`), made before the part is started.
//!
//! A part says [`Message::Ready`] when it can be reached (its servers listen), the router answers
//! [`Message::Begin`] with the instant that is the run's time zero. From then on the part announces
//! each connection *before* it calls `connect`, and each stream before its first datagram: its
//! first packet then finds the announcement with the router, however late that reads it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use packet::Duration;

/// TCP's and UDP's numbers in IP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Protocol {
    /// A connection.
    Tcp = 6,
    /// A stream of datagrams, or two that belong together, there and back.
    Udp = 17,
}

/// A connection or stream that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its protocol.
    pub protocol: Protocol,
    /// Who opens it: the local address of the socket that connects or sends.
    pub opener: SocketAddr,
    /// Whom it is opened to.
    pub acceptor: SocketAddr,
    /// Place of its group in the scenario.
    pub group: u16,
    /// The user or flow that opens it, counted over all groups as the simulator does.
    pub source: u32,
    /// Round-trip propagation time, drawn by the opener.
    pub round_trip: Duration,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// From a part: it can be reached.
    Ready,
    /// To a part: the run's time zero, in nanoseconds of `CLOCK_MONOTONIC`.
    Begin(u64),
    /// From a part: a connection or stream is about to begin.
    Announce(Announcement),
}

/// Bytes of the longest message.
pub const LONGEST: usize = 52;

const READY: u8 = 1;
const BEGIN: u8 = 2;
const ANNOUNCE: u8 = 3;

impl Message {
    /// Its bytes, and how many they are.
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

    /// The message that these bytes are; `None` if they are none.
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

/// An address takes 18 bytes; one of IPv4 is written as one of IPv6 (RFC 4291 section 2.5.5.2).
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
