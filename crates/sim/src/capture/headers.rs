//! The bytes of a capture file: its header, and a record for each packet with synthesised IPv4,
//! TCP and UDP headers. Payload is not stored; checksums are those of a payload of zeros.
//!
//! The file format is that of draft-ietf-opsawg-pcap with nanosecond time stamps, link type "raw".

use packet::{Ecn, Instant};
use tcp::Flags;

use super::names::{DISCARD, HTTP, address, number, own_port};
use super::options::Options;
use crate::world::Group;
use crate::world::connection::{ACCEPTOR, OPENER};
use crate::world::forwarding::InFlight;

/// The file begins so: time stamps in nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
/// Packets begin with their IP header.
const LINKTYPE_RAW: u32 = 101;
const SNAP_LENGTH: u32 = 65_535;

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The largest window without scaling, and the largest shift (RFC 7323 section 2.3).
const MOST_WINDOW: u64 = 65_535;
const MOST_SHIFT: u8 = 14;

/// The header's bits of the flags of a segment.
const BITS: [(Flags, u16); 6] = [
    (Flags::FIN, 0x001),
    (Flags::SYN, 0x002),
    (Flags::ACK, 0x010),
    (Flags::ECE, 0x040),
    (Flags::CWR, 0x080),
    (Flags::AE, 0x100),
];

/// The file's header.
pub(super) fn file() -> Vec<u8> {
    let mut out = MAGIC.to_le_bytes().to_vec();
    out.extend(2u16.to_le_bytes()); // version 2.4
    out.extend(4u16.to_le_bytes());
    out.extend([0; 8]); // time zone, accuracy
    out.extend(SNAP_LENGTH.to_le_bytes());
    out.extend(LINKTYPE_RAW.to_le_bytes());
    out
}

/// One packet of a group's connection or stream, seen at `now`.
pub(super) fn record(out: &mut Vec<u8>, now: Instant, inflight: &InFlight, group: &Group) {
    let start = out.len();
    let (seconds, rest) = (now.nanos() / 1_000_000_000, now.nanos() % 1_000_000_000);
    out.extend((seconds as u32).to_le_bytes());
    out.extend((rest as u32).to_le_bytes());
    out.extend([0; 8]); // lengths, below
    let packet = out.len();
    let payload = if inflight.is_datagram() {
        datagram(out, inflight, group)
    } else {
        segment(out, inflight, group)
    };
    let stored = out.len() - packet;
    // What fills up a packet is no payload: it follows the IP packet, as padding does.
    let full = (stored as u32 + payload).max(inflight.ip_bytes());
    out[start + 8..start + 12].copy_from_slice(&(stored as u32).to_le_bytes());
    out[start + 12..start + 16].copy_from_slice(&full.to_le_bytes());
}

/// The end that sends, the opener first.
fn sender(inflight: &InFlight) -> usize {
    usize::from(1 - inflight.to)
}

/// Addresses of source and destination.
fn addresses(inflight: &InFlight, group: &Group) -> [[u8; 4]; 2] {
    let opener = group.side;
    let (from, to) = match sender(inflight) {
        OPENER => (opener, opener.other()),
        _ => (opener.other(), opener),
    };
    let header = inflight.header();
    [
        address(from, header.source, inflight.serial),
        address(to, header.destination, inflight.serial),
    ]
}

/// Appends the IP header of a packet with `length` bytes after it.
fn ip(out: &mut Vec<u8>, inflight: &InFlight, group: &Group, protocol: u8, length: u32) {
    let ecn = match inflight.segment.ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    };
    let start = out.len();
    let total = (IP_HEADER as u32 + length) as u16;
    out.extend([0x45, inflight.header().dscp << 2 | ecn]);
    out.extend(total.to_be_bytes());
    // Never fragmented, so that the identification means nothing (RFC 6864); 64 hops left.
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend(addresses(inflight, group).as_flattened());
    let sum = checksum(&[&out[start..]]);
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

/// Appends the headers of a datagram; its payload's length.
fn datagram(out: &mut Vec<u8>, inflight: &InFlight, group: &Group) -> u32 {
    let payload = inflight.segment.len;
    let length = UDP_HEADER as u32 + payload;
    ip(out, inflight, group, UDP, length);
    let start = out.len();
    out.extend(own_port(inflight.serial).to_be_bytes());
    out.extend(DISCARD.to_be_bytes());
    out.extend((length as u16).to_be_bytes());
    out.extend([0; 2]);
    let sum = transport_checksum(&out[start..], addresses(inflight, group), UDP, length);
    // A sum of 0 would say that there is none (RFC 768).
    let sum = if sum == 0 { u16::MAX } else { sum };
    out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    payload
}

/// Appends the headers of a segment; its payload's length.
fn segment(out: &mut Vec<u8>, inflight: &InFlight, group: &Group) -> u32 {
    let (segment, from) = (&inflight.segment, sender(inflight));
    let serial = inflight.serial;
    let acknowledged = number(serial, 1 - from, segment.ack);
    let window = group.profile.window();
    let scale = (window > MOST_WINDOW).then(|| shift(window));
    let options = Options::of(segment, group.profile.mss(), scale, acknowledged);
    let header = TCP_HEADER + options.as_slice().len();
    let length = header as u32 + segment.len;
    ip(out, inflight, group, TCP, length);
    let start = out.len();
    let mut ports = [own_port(serial), HTTP];
    if from == ACCEPTOR {
        ports.reverse();
    }
    out.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    out.extend(number(serial, from, segment.seq).to_be_bytes());
    let acknowledges = segment.flags.has(Flags::ACK);
    out.extend(if acknowledges { acknowledged } else { 0 }.to_be_bytes());
    out.extend(((header as u16 / 4) << 12 | bits(segment.flags)).to_be_bytes());
    let scaled = if segment.flags.has(Flags::SYN) { None } else { scale };
    out.extend(window_field(window, scaled).to_be_bytes());
    out.extend([0; 4]); // checksum, urgent pointer
    out.extend(options.as_slice());
    let sum = transport_checksum(&out[start..], addresses(inflight, group), TCP, length);
    out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    segment.len
}

fn bits(flags: Flags) -> u16 {
    BITS.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, bit)| bit).sum()
}

/// By how many bits windows of this size are shifted: not at all if they fit.
fn shift(window: u64) -> u8 {
    (0..MOST_SHIFT).find(|&shift| window.div_ceil(1 << shift) <= MOST_WINDOW).unwrap_or(MOST_SHIFT)
}

/// The window field: rounded up, so that nothing sent lies beyond it.
fn window_field(window: u64, scale: Option<u8>) -> u16 {
    window.div_ceil(1 << scale.unwrap_or(0)).min(MOST_WINDOW) as u16
}

/// The sum of 16-bit words in ones' complement, and its complement (RFC 1071).
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

/// Over header and pseudo-header (RFC 9293 section 3.1, RFC 768); a payload of zeros adds nothing.
fn transport_checksum(header: &[u8], addresses: [[u8; 4]; 2], protocol: u8, length: u32) -> u16 {
    let rest = [0, protocol, (length >> 8) as u8, length as u8];
    checksum(&[addresses.as_flattened(), &rest, header])
}
