//! Reads the header fields that the router needs: source, destination, length, DSCP and ECN field,
//! and the TCP header. Also makes the changes to a packet in flight: a CE mark, with the IPv4
//! checksum updated, and a corrupted bit.
//!
//! The crate `capture` has another parser, which extracts all that an analysis of connections
//! needs; this one runs for every packet of a live run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use capture::flags;
use packet::{Ecn, TcpHeader};

/// IP protocol numbers of TCP and UDP.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// IPv6 extension headers that are skipped: hop-by-hop options, routing, destination options.
const EXTENSIONS: [u8; 3] = [0, 43, 60];

/// Header fields of a packet that the router uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// IP length in bytes.
    pub bytes: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Protocol number of the transport.
    pub protocol: u8,
    /// Address and port of the sender. Ports are 0 in fragments and in protocols without ports.
    pub from: SocketAddr,
    /// Address and port of the receiver.
    pub to: SocketAddr,
    /// The TCP segment, if the packet carries one.
    pub segment: Option<Segment>,
}

/// Fields of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The flags as bits of [`capture::flags`].
    pub flags: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// The fields that an ACK filter reads.
    pub queue_header: TcpHeader,
}

impl Segment {
    /// Whether the segment has any of these flags.
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    /// The sequence number after the segment's last; SYN and FIN take one each (RFC 9293 section
    /// 3.4).
    pub fn end(&self) -> u32 {
        let ends = [flags::SYN, flags::FIN].iter().filter(|&&flag| self.has(flag)).count() as u32;
        self.seq.wrapping_add(self.payload).wrapping_add(ends)
    }
}

/// Fields of an IP header.
struct Ip {
    bytes: usize,
    class: u8,
    protocol: u8,
    from: IpAddr,
    to: IpAddr,
    /// Offset of the transport header in bytes; `None` in a fragment.
    above: Option<usize>,
}

impl Facts {
    /// Parses a packet; `None` if it is not a complete IPv4 or IPv6 packet.
    pub fn read(packet: &[u8]) -> Option<Facts> {
        let ip = match packet.first()? >> 4 {
            4 => four(packet)?,
            6 => six(packet)?,
            _ => return None,
        };
        let above = ip.above.and_then(|at| packet.get(at..ip.bytes)).unwrap_or(&[]);
        let ported = matches!(ip.protocol, TCP | UDP);
        let ports = above.get(..4).filter(|_| ported).unwrap_or(&[0; 4]);
        Some(Facts {
            bytes: ip.bytes as u32,
            ecn: Ecn::of_traffic_class(ip.class),
            dscp: ip.class >> 2,
            protocol: ip.protocol,
            from: SocketAddr::new(ip.from, u16::from_be_bytes([ports[0], ports[1]])),
            to: SocketAddr::new(ip.to, u16::from_be_bytes([ports[2], ports[3]])),
            segment: if ip.protocol == TCP { segment(above) } else { None },
        })
    }
}

fn four(packet: &[u8]) -> Option<Ip> {
    let head = packet.get(..20)?;
    let bytes = usize::from(u16::from_be_bytes([head[2], head[3]]));
    let header = usize::from(head[0] & 15) * 4;
    if header < 20 || bytes < header || bytes > packet.len() {
        return None;
    }
    // Only the first fragment has the transport header: with its ports it would be another flow
    // than the others.
    let whole = u16::from_be_bytes([head[6], head[7]]) & 0x3fff == 0;
    let address = |at: usize| Ipv4Addr::from([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    Some(Ip {
        bytes,
        class: head[1],
        protocol: head[9],
        from: address(12).into(),
        to: address(16).into(),
        above: whole.then_some(header),
    })
}

fn six(packet: &[u8]) -> Option<Ip> {
    let head = packet.get(..40)?;
    let bytes = 40 + usize::from(u16::from_be_bytes([head[4], head[5]]));
    if bytes > packet.len() {
        return None;
    }
    let (mut protocol, mut at) = (head[6], 40);
    while EXTENSIONS.contains(&protocol) {
        let extension = packet.get(at..at + 2)?;
        protocol = extension[0];
        at += (usize::from(extension[1]) + 1) * 8;
    }
    let address = |at: usize| -> Option<IpAddr> {
        let octets: [u8; 16] = head[at..at + 16].try_into().ok()?;
        Some(Ipv6Addr::from(octets).into())
    };
    Some(Ip {
        bytes,
        class: head[0] << 4 | head[1] >> 4,
        protocol,
        from: address(8)?,
        to: address(24)?,
        above: (at <= bytes).then_some(at),
    })
}

fn segment(data: &[u8]) -> Option<Segment> {
    let head = data.get(..20)?;
    let header = usize::from(head[12] >> 4) * 4;
    let options = data.get(20..header)?;
    let payload = (data.len() - header) as u32;
    let flags = u16::from_be_bytes([head[12], head[13]]) & 0x1ff;
    let ack = number(head, 8);
    let queue_header = queue_header(options, ack, flags, payload);
    Some(Segment { seq: number(head, 4), ack, flags, payload, queue_header })
}

/// The 32-bit number at offset `at`. Panics if the bytes end before it.
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The fields that an ACK filter reads, from the header and its options. A malformed option ends
/// the list, as in Linux.
fn queue_header(mut options: &[u8], ack: u32, flags: u16, payload: u32) -> TcpHeader {
    let has = |flag: u16| flags & flag != 0;
    let mut header = TcpHeader {
        ack,
        acks: has(flags::ACK),
        opens: has(flags::SYN),
        ece: has(flags::ECE),
        cwr: has(flags::CWR),
        other_flags: has(!(flags::ACK | flags::ECE | flags::CWR)),
        payload,
        ..TcpHeader::default()
    };
    while let [kind, rest @ ..] = options {
        match (*kind, rest.first().map(|&length| usize::from(length))) {
            (0, _) => break,
            (1, _) => options = rest,
            (kind, Some(length)) if (2..=options.len()).contains(&length) => {
                read_option(&mut header, kind, &options[2..length]);
                options = &options[length..];
            }
            _ => break,
        }
    }
    header
}

/// Reads one option: SACK (RFC 2018), timestamps (RFC 7323), MD5 (RFC 2385), or any other kind.
fn read_option(header: &mut TcpHeader, kind: u8, body: &[u8]) {
    match (kind, body.len()) {
        (5, bytes) if bytes % 8 == 0 => {
            body.chunks(8).for_each(|block| header.sack.push(number(block, 0), number(block, 4)));
        }
        (8, 8) => header.stamps = Some((number(body, 0), number(body, 4))),
        (19, _) => {}
        _ => header.other_options = true,
    }
}

/// Sets CE in the ECN field. The IPv4 header checksum is updated incrementally (RFC 1624,
/// equation 3); an IPv6 header has none.
pub fn mark(packet: &mut [u8]) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => {
            let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
            let (old, sum) = (word(packet, 0), word(packet, 10));
            packet[1] |= 3;
            let new = word(packet, 0);
            let mended = !add(add(!sum, !old), new);
            packet[10..12].copy_from_slice(&mended.to_be_bytes());
        }
        Some(6) if packet.len() >= 2 => packet[1] |= 3 << 4,
        _ => {}
    }
}

/// Corrupts a packet: inverts its last bit, which is payload or, without payload, transport header.
/// The checksum of TCP, UDP or ICMP detects every single wrong bit (RFC 1071), so that the
/// receiver discards the packet.
pub fn corrupt(packet: &mut [u8]) {
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
    }
}

/// Addition in ones' complement.
fn add(a: u16, b: u16) -> u16 {
    let (sum, carried) = a.overflowing_add(b);
    sum + u16::from(carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header checksum from scratch (RFC 791).
    fn checksum(header: &[u8]) -> u16 {
        !header.chunks(2).map(|w| u16::from_be_bytes([w[0], w[1]])).fold(0, add)
    }

    fn ipv4(class: u8, identification: u16) -> Vec<u8> {
        let mut packet = vec![0x45, class, 0, 60, 0, 0, 0x40, 0, 64, TCP, 0, 0];
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        packet.extend([10, 128, 0, 1, 10, 0, 0, 7]);
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        // TCP header of 32 bytes: ports, sequence and acknowledgement numbers, ACK and PSH, and as
        // options two NOPs and SACK with one block; then 8 bytes of payload.
        packet.extend([0, 80, 0x9c, 0x40, 0, 0, 1, 0, 0, 0, 2, 0, 0x80, 0x18, 0, 9, 0, 0, 0, 0]);
        packet.extend([1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        packet.extend([7; 8]);
        packet
    }

    #[test]
    fn a_mended_checksum_is_that_of_the_marked_header() {
        // Every value of the identification field, so that every checksum and every carry occurs.
        for identification in 0..=u16::MAX {
            for class in [0, 1, 2, 3, 0xb9] {
                let mut packet = ipv4(class, identification);
                mark(&mut packet);
                assert_eq!(packet[1], class | 3);
                let sum = checksum(&packet[..20]);
                assert!(sum == 0 || sum == 0xffff, "class {class}, {identification}: {sum:x}");
            }
        }
    }

    #[test]
    fn a_checksum_finds_the_wrong_bit_of_whatever_packet() {
        // A payload with each 16-bit word and its checksum, so that the sum over all is zero.
        for word in 0..=u16::MAX {
            let mut payload = word.to_be_bytes().to_vec();
            payload.extend([3, 1]);
            let sum = checksum(&payload);
            payload.extend(sum.to_be_bytes());
            assert_eq!(checksum(&payload), 0);
            corrupt(&mut payload);
            assert_ne!(checksum(&payload), 0, "{word}");
        }
    }

    #[test]
    fn the_headers_say_what_they_say() {
        let facts = Facts::read(&ipv4(0x2a, 1)).expect("a packet");
        assert_eq!((facts.bytes, facts.ecn, facts.dscp), (60, Ecn::Ect0, 10));
        assert_eq!(facts.from, "10.128.0.1:80".parse().expect("an address"));
        assert_eq!(facts.to, "10.0.0.7:40000".parse().expect("an address"));
        let segment = facts.segment.expect("a segment");
        assert_eq!((segment.seq, segment.ack, segment.payload), (256, 512, 8));
        assert_eq!(segment.queue_header.sack.as_slice(), [(1, 2)]);
        assert!(segment.has(flags::ACK) && !segment.has(flags::SYN));
        assert_eq!(segment.end(), 264);
    }

    #[test]
    fn ipv6_is_read_behind_its_extensions_and_marked_without_checksum() {
        let mut packet = vec![0x6b, 0x90, 0, 0, 0, 16, 60, 64];
        packet.extend(Ipv6Addr::new(0xfd71, 0x6d6c, 0x6162, 1, 0, 0, 0, 1).octets());
        packet.extend(Ipv6Addr::new(0xfd71, 0x6d6c, 0x6162, 0, 0, 0, 0, 7).octets());
        packet.extend([UDP, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([0, 9, 0, 53, 0, 8, 0, 0]);
        let facts = Facts::read(&packet).expect("a packet");
        assert_eq!((facts.bytes, facts.ecn, facts.dscp), (56, Ecn::Ect1, 46));
        assert_eq!((facts.from.port(), facts.to.port(), facts.protocol), (9, 53, UDP));
        mark(&mut packet);
        assert_eq!(Facts::read(&packet).map(|f| (f.ecn, f.dscp)), Some((Ecn::Ce, 46)));
    }

    #[test]
    fn what_is_cut_or_no_ip_is_no_packet() {
        let packet = ipv4(0, 7);
        for length in 0..packet.len() {
            assert_eq!(Facts::read(&packet[..length]), None, "{length} bytes");
        }
        assert_eq!(Facts::read(&[0x20; 64]), None);
        let mut fragment = packet;
        fragment[6] = 0x20;
        let facts = Facts::read(&fragment).expect("a packet");
        assert_eq!((facts.from.port(), facts.segment), (0, None));
    }
}
