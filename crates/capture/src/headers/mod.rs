//! The headers of a packet, as far as they were captured: link, IP, TCP.

mod ip;
mod link;
mod tcp;

pub use link::Station;

use crate::container::Frame;

/// An IP address; one of version 4 is mapped into version 6 (`::ffff:0:0/96`).
pub type Address = [u8; 16];

/// The bits of a TCP header's flags (RFC 9293 section 3.1; AE is of RFC 9768).
pub mod flags {
    /// The sender will send no more data.
    pub const FIN: u16 = 0x001;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x002;
    /// Reset the connection.
    pub const RST: u16 = 0x004;
    /// Push: the data is delivered without waiting for more.
    pub const PSH: u16 = 0x008;
    /// The acknowledgement number is valid.
    pub const ACK: u16 = 0x010;
    /// ECN echo.
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced.
    pub const CWR: u16 = 0x080;
    /// Accurate ECN, formerly NS.
    pub const AE: u16 = 0x100;
}

pub use flags::{ACK, FIN, RST, SYN};

/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;

/// Bytes of an IPv4 header without options.
pub const IP_HEADER: usize = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: usize = 20;
/// Bytes of a UDP header.
pub const UDP_HEADER: usize = 8;

/// Kind and length of the TCP option for the maximum segment size (RFC 9293 section 3.2).
pub const MSS: [u8; 2] = [2, 4];
/// Kind and length of the window scale option (RFC 7323).
pub const WINDOW_SCALE: [u8; 2] = [3, 3];
/// Kind and length of the option that permits selective acknowledgements (RFC 2018).
pub const SACK_PERMITTED: [u8; 2] = [4, 2];
/// Kind and length of the timestamps option (RFC 7323).
pub const TIMESTAMPS: [u8; 2] = [8, 10];

/// The TCP options that a SYN offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u16>,
    pub window_shift: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub from: (Address, u16),
    pub to: (Address, u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u16,
    pub window: u16,
    /// Bytes of payload, computed from the lengths in the headers.
    pub payload: u32,
    /// TCP options; read only for a segment with SYN.
    pub options: Options,
    /// The ECN field of the IP header (RFC 3168 section 5).
    pub ecn: u8,
    /// Identification field of the IPv4 header; 0 for IPv6.
    pub id: u16,
}

impl Segment {
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }
}

/// Content of a packet, as far as it could be read.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    Tcp(Segment),
    /// A UDP datagram, and whether one of its ports is 443 (QUIC).
    Udp {
        quic: bool,
    },
    /// Another protocol above IP.
    Other,
    /// A part of a fragmented datagram; its TCP header, if it has one, is not read.
    Fragment,
    /// A packet that the capture cut off within its headers.
    Short,
    /// Headers that contradict themselves.
    Malformed,
    NotIp,
    /// A packet on a link of a type that is not supported.
    UnknownLink,
}

/// A packet whose headers have been decoded.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub content: Content,
    /// IP version; 0 for a packet that is not IP.
    pub version: u8,
    /// Bytes from the IP header on; 0 for a packet that is not IP.
    pub ip_bytes: u32,
    /// Link addresses of sender and receiver, where the link has such.
    pub stations: Option<(Station, Station)>,
}

/// Reads a packet's headers.
pub fn read(frame: &Frame<'_>) -> Packet {
    let none = |content| Packet { content, version: 0, ip_bytes: 0, stations: None };
    let link = match link::read(frame.link, frame.data) {
        Ok(link) => link,
        Err(content) => return none(content),
    };
    let Some(data) = frame.data.get(link.ip_at..) else { return none(Content::Short) };
    let length = (frame.length as usize).saturating_sub(link.ip_at);
    Packet { stations: link.stations, ..ip::read(data, length, link.version) }
}
