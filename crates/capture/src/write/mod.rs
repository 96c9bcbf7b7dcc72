//! Captures as files: the header of a pcap file, and a record for each packet with its IPv4, TCP or
//! UDP headers. Payload is not stored; checksums are those of a payload of zeros.
//!
//! The file format is that of draft-ietf-opsawg-pcap with nanosecond time stamps, link type "raw".

mod options;

pub use options::TcpOptions;

use crate::container::{LINKTYPE_RAW, NANOSECONDS};
use crate::headers::{IP_HEADER, TCP, TCP_HEADER, UDP, UDP_HEADER};

const SNAP_LENGTH: u32 = 65_535;

/// A packet to be written.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Time of the packet by the file's clock, nanoseconds.
    pub at_ns: u64,
    /// IPv4 addresses of source and destination.
    pub addresses: [[u8; 4]; 2],
    /// Differentiated services code point and ECN: the second byte of the IP header.
    pub traffic_class: u8,
    /// Length of the packet, bytes; what exceeds headers and payload counts as padding.
    pub bytes: u32,
    /// The transport header that the packet carries.
    pub transport: Transport<'a>,
    /// Bytes of payload.
    pub payload: u32,
}

/// A transport header.
#[derive(Debug)]
pub enum Transport<'a> {
    /// A UDP header.
    Udp {
        /// Source and destination ports.
        ports: [u16; 2],
    },
    /// A TCP header.
    Tcp(TcpHeader<'a>),
}

/// A TCP header (RFC 9293 section 3.1).
#[derive(Debug)]
pub struct TcpHeader<'a> {
    /// Source and destination ports.
    pub ports: [u16; 2],
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number; 0 without one.
    pub ack: u32,
    /// The flags, as in [`flags`](crate::flags); the lower twelve bits of their 16-bit word.
    pub flags: u16,
    /// The window field.
    pub window: u16,
    /// Options, padded to whole words of 32 bits.
    pub options: &'a TcpOptions,
}

/// The header of a pcap file.
pub fn file() -> Vec<u8> {
    let mut out = NANOSECONDS.to_le_bytes().to_vec();
    out.extend(2u16.to_le_bytes()); // version 2.4
    out.extend(4u16.to_le_bytes());
    out.extend([0; 8]); // time zone, accuracy
    out.extend(SNAP_LENGTH.to_le_bytes());
    out.extend(LINKTYPE_RAW.to_le_bytes());
    out
}

/// Appends the record of one packet.
pub fn record(out: &mut Vec<u8>, packet: &Packet) {
    let start = out.len();
    let (seconds, rest) = (packet.at_ns / 1_000_000_000, packet.at_ns % 1_000_000_000);
    out.extend((seconds as u32).to_le_bytes());
    out.extend((rest as u32).to_le_bytes());
    out.extend([0; 8]); // the two lengths are filled in below
    let headers = out.len();
    match &packet.transport {
        Transport::Udp { ports } => datagram(out, packet, *ports),
        Transport::Tcp(header) => segment(out, packet, header),
    }
    let stored = (out.len() - headers) as u32;
    let full = (stored + packet.payload).max(packet.bytes);
    put(out, start + 8, stored.to_le_bytes());
    put(out, start + 12, full.to_le_bytes());
}

/// Appends the record of a packet given byte by byte, at `at_ns` nanoseconds of the file's clock.
pub fn whole(out: &mut Vec<u8>, at_ns: u64, packet: &[u8]) {
    out.extend(((at_ns / 1_000_000_000) as u32).to_le_bytes());
    out.extend(((at_ns % 1_000_000_000) as u32).to_le_bytes());
    out.extend([(packet.len() as u32).to_le_bytes(); 2].as_flattened());
    out.extend(packet);
}

fn put<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) {
    out[at..at + N].copy_from_slice(&bytes);
}

/// Appends the IP header of a packet with `length` bytes after it.
fn ip(out: &mut Vec<u8>, packet: &Packet, protocol: u8, length: u32) {
    let start = out.len();
    let total = (IP_HEADER as u32 + length) as u16;
    out.extend([0x45, packet.traffic_class]);
    out.extend(total.to_be_bytes());
    // Never fragmented, so that the identification means nothing (RFC 6864); 64 hops left.
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend(packet.addresses.as_flattened());
    let sum = checksum(&[&out[start..]]);
    put(out, start + 10, sum.to_be_bytes());
}

fn datagram(out: &mut Vec<u8>, packet: &Packet, ports: [u16; 2]) {
    let length = UDP_HEADER as u32 + packet.payload;
    ip(out, packet, UDP, length);
    let start = out.len();
    out.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    out.extend((length as u16).to_be_bytes());
    out.extend([0; 2]);
    let sum = transport_checksum(&out[start..], packet.addresses, UDP, length);
    // A checksum of 0 would mean that there is none (RFC 768).
    put(out, start + 6, if sum == 0 { u16::MAX } else { sum }.to_be_bytes());
}

fn segment(out: &mut Vec<u8>, packet: &Packet, of: &TcpHeader) {
    let header = TCP_HEADER + of.options.as_slice().len();
    let length = header as u32 + packet.payload;
    ip(out, packet, TCP, length);
    let start = out.len();
    out.extend(of.ports.iter().flat_map(|port| port.to_be_bytes()));
    out.extend(of.seq.to_be_bytes());
    out.extend(of.ack.to_be_bytes());
    out.extend(((header as u16 / 4) << 12 | of.flags).to_be_bytes());
    out.extend(of.window.to_be_bytes());
    out.extend([0; 4]); // checksum, urgent pointer
    out.extend(of.options.as_slice());
    let sum = transport_checksum(&out[start..], packet.addresses, TCP, length);
    put(out, start + 16, sum.to_be_bytes());
}

/// The complement of the ones' complement sum of 16-bit words (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u32 = 0;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The checksum over header and pseudo-header (RFC 9293 section 3.1, RFC 768); a payload of zeros
/// adds nothing.
fn transport_checksum(header: &[u8], addresses: [[u8; 4]; 2], protocol: u8, length: u32) -> u16 {
    let rest = [0, protocol, (length >> 8) as u8, length as u8];
    checksum(&[addresses.as_flattened(), &rest, header])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Container;
    use crate::flags::{ACK, AE, SYN};
    use crate::headers::{self, Content};

    /// Writes one packet, and reads its time and headers back with this crate's reader.
    fn read_back(packet: &Packet) -> (i64, headers::Packet) {
        let (mut bytes, mut found) = (file(), None);
        record(&mut bytes, packet);
        let mut container = Container::new();
        container
            .feed(&bytes, &mut |frame| found = Some((frame.at_ns, headers::read(&frame))))
            .unwrap();
        assert_eq!(container.end(), Ok(None));
        found.expect("one packet")
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut options = TcpOptions::default();
        options.mss(1_460);
        options.sack_permitted();
        options.window_scale(7);
        options.timestamps(1, 2);
        let header = TcpHeader {
            ports: [1_025, 80],
            seq: 7,
            ack: 9,
            flags: SYN | ACK | AE,
            window: 1_000,
            options: &options,
        };
        let (addresses, at_ns) = ([[10, 0, 0, 1], [10, 128, 0, 2]], 3_000_000_004);
        let transport = Transport::Tcp(header);
        let packet =
            Packet { at_ns, addresses, traffic_class: 2, bytes: 100, transport, payload: 20 };
        let (at, read) = read_back(&packet);
        let Content::Tcp(segment) = read.content else { panic!("{read:?}") };
        assert_eq!((at, read.version, read.ip_bytes), (3_000_000_004, 4, 20 + 20 + 24 + 20));
        assert_eq!([segment.from.1, segment.to.1], [1_025, 80]);
        assert_eq!((segment.from.0[12..].to_vec(), segment.payload), (vec![10, 0, 0, 1], 20));
        assert_eq!((segment.seq, segment.ack, segment.window), (7, 9, 1_000));
        assert!(segment.has(headers::SYN) && segment.has(headers::ACK));
        let offers = headers::Options {
            mss: Some(1_460),
            window_shift: Some(7),
            sack: true,
            timestamps: true,
        };
        assert_eq!(segment.options, offers);
    }

    #[test]
    fn a_datagram_reads_back() {
        let transport = Transport::Udp { ports: [5_000, 443] };
        let packet = Packet {
            at_ns: 0,
            addresses: [[1; 4]; 2],
            traffic_class: 0,
            bytes: 128,
            transport,
            payload: 100,
        };
        let (_, read) = read_back(&packet);
        assert!(matches!(read.content, Content::Udp { quic: true }), "{read:?}");
        assert_eq!(read.ip_bytes, 128);
    }

    #[test]
    fn a_header_sums_to_nothing_with_its_checksum() {
        let mut bytes = Vec::new();
        let transport = Transport::Udp { ports: [1, 2] };
        let packet = Packet {
            at_ns: 0,
            addresses: [[9; 4], [8; 4]],
            traffic_class: 0,
            bytes: 28,
            transport,
            payload: 0,
        };
        record(&mut bytes, &packet);
        assert_eq!(checksum(&[&bytes[16..36]]), 0, "IP");
        let udp = [&[9, 9, 9, 9, 8, 8, 8, 8, 0, UDP, 0, 8], &bytes[36..44]].concat();
        assert_eq!(checksum(&[&udp]), 0, "UDP with its pseudo-header");
    }
}
