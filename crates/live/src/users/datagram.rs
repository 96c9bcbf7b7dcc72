//! Datagrams: the header that identifies them, and a socket that sends each with its ECN field.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use packet::Ecn;
use rustix::net::{SendFlags, sendto};

use super::facts::ConnectionId;
use super::sockets;

/// Length in bytes of the header in a datagram's payload; also the shortest payload that is sent.
pub const LEAST: usize = 12;

/// Flag in the header: the application that owns the stream is notified of the arrival.
const NOTIFIES: u32 = 1 << 31;

/// The header of a datagram, at the start of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The stream that the datagram belongs to.
    pub stream: ConnectionId,
    /// Number of datagrams that were sent in the stream before this one.
    pub number: u64,
    /// Whether the application that owns the stream is notified of the arrival.
    pub notifies: bool,
}

impl Name {
    fn encode(self) -> [u8; LEAST] {
        let mut out = [0; LEAST];
        out[..8].copy_from_slice(&self.stream.to_le_bytes());
        // 2^31 datagrams at a thousand a second are a month.
        let number = self.number as u32 | if self.notifies { NOTIFIES } else { 0 };
        out[8..].copy_from_slice(&number.to_le_bytes());
        out
    }

    /// Decodes the header of a payload; `None` if the payload is too short for one.
    pub fn decode(bytes: &[u8]) -> Option<Name> {
        let stream = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let number = u32::from_le_bytes(bytes.get(8..LEAST)?.try_into().ok()?);
        Some(Name {
            stream,
            number: u64::from(number & !NOTIFIES),
            notifies: number & NOTIFIES != 0,
        })
    }
}

/// A socket that sends datagrams.
#[derive(Debug)]
pub struct Sender {
    socket: OwnedFd,
    at: SocketAddr,
    dscp: u8,
    /// ECN field that the socket currently sends.
    ecn: Ecn,
}

impl Sender {
    /// A sender for a socket bound to `at`, with this DSCP.
    pub fn new(socket: OwnedFd, at: SocketAddr, dscp: u8) -> Sender {
        Sender { socket, at, dscp, ecn: Ecn::NotEct }
    }

    /// Sends a datagram of `bytes` bytes. A datagram that the kernel does not take counts as sent
    /// and lost.
    ///
    /// # Errors
    /// If the kernel does not take the ECN field.
    pub fn send(&mut self, name: Name, bytes: u32, ecn: Ecn, to: SocketAddr) -> io::Result<()> {
        if ecn != self.ecn {
            sockets::set_class(&self.socket, self.at, self.dscp << 2 | ecn.code_point())?;
            self.ecn = ecn;
        }
        let mut payload = vec![0; LEAST.max(bytes as usize)];
        payload[..LEAST].copy_from_slice(&name.encode());
        let _ = sendto(&self.socket, &payload, SendFlags::DONTWAIT, &to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel;
    use super::*;

    #[test]
    fn datagrams_carry_their_names() {
        for (number, notifies) in [(0, false), (70_000, true)] {
            let name = Name { stream: 1 << 62 | 9, number, notifies };
            assert_eq!(Name::decode(&name.encode()), Some(name));
        }
        assert_eq!(Name::decode(&[0; LEAST - 1]), None);
    }

    #[test]
    fn each_datagram_has_its_own_ecn_field() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let at: SocketAddr = loopback.parse().expect("an address");
            // Skips IPv6 on a machine without it.
            let Ok(receiver) = sockets::datagrams(at, 0) else { continue };
            let to = rustix::net::getsockname(&receiver).expect("a name");
            let to = SocketAddr::try_from(to).expect("an address");
            let socket = sockets::datagrams(at, 46).expect("a socket");
            let mut sender = Sender::new(socket, at, 46);
            let fields = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::Ect1, Ecn::NotEct];
            let mut into = [0; 64];
            for (number, ecn) in (0..).zip(fields) {
                let name = Name { stream: 1, number, notifies: false };
                sender.send(name, 20, ecn, to).expect("sent");
                let (bytes, seen) = kernel::receive(&receiver, &mut into).expect("received");
                assert_eq!((bytes, seen), (20, ecn));
                assert_eq!(Name::decode(&into), Some(name));
            }
        }
    }
}
