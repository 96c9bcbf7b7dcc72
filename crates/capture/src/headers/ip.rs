//! Reads the headers of IPv4 (RFC 791) and IPv6 (RFC 8200), up to the protocol above.

use super::{Address, Content, IP_HEADER, Packet, Segment, TCP, UDP, tcp};
use crate::bytes::be16;

/// Extension headers of IPv6 that the reader skips.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const EXTENSIONS: usize = 16;
/// Longest packet that is accepted where its header gives no length, bytes: twice the most that
/// Linux hands to a network card (`GSO_MAX_SIZE`, 524,280 B). The length in the record may be 4 GB,
/// more than half of TCP's sequence space.
const LONGEST: usize = 1 << 20;

/// The content of an IP packet: its protocol, the captured bytes, and their full length.
struct Above<'a> {
    protocol: u8,
    from: Address,
    to: Address,
    data: &'a [u8],
    length: usize,
    ecn: u8,
    id: u16,
}

/// Reads a packet whose IP header starts at `data`; it was `length` bytes long on the link, which
/// may include padding. With `version` 0 the header's own version counts.
pub fn read(data: &[u8], length: usize, version: u8) -> Packet {
    let own = data.first().map_or(0, |b| b >> 4);
    let version = if version == 0 { own } else { version };
    let packet = |content, ip_bytes| Packet { content, version, ip_bytes, stations: None };
    if data.is_empty() {
        return packet(Content::Short, 0);
    }
    if own != version || !matches!(version, 4 | 6) {
        return packet(Content::Malformed, 0);
    }
    let read = if version == 4 { four(data, length) } else { six(data, length) };
    match read {
        Ok((above, ip_bytes)) => packet(content(&above), ip_bytes as u32),
        Err(content) => packet(content, length.min(65_535) as u32),
    }
}

fn content(above: &Above<'_>) -> Content {
    match above.protocol {
        TCP => match tcp::read(above.data, above.length, above.from, above.to) {
            Content::Tcp(segment) => {
                Content::Tcp(Segment { ecn: above.ecn, id: above.id, ..segment })
            }
            other => other,
        },
        UDP => {
            let port = |at| be16(above.data, at) == Some(443);
            Content::Udp { quic: port(0) || port(2) }
        }
        _ => Content::Other,
    }
}

fn four(data: &[u8], length: usize) -> Result<(Above<'_>, usize), Content> {
    let head = data.get(..IP_HEADER).ok_or(Content::Short)?;
    let header = usize::from(head[0] & 15) * 4;
    let mut total = usize::from(u16::from_be_bytes([head[2], head[3]]));
    if total == 0 {
        total = length; // captured before the network card cut it (segmentation offload)
    }
    if header < IP_HEADER || total < header || total > length.min(LONGEST) {
        return Err(Content::Malformed);
    }
    // A fragment: more follow (MF is set), or its offset is not 0.
    if u16::from_be_bytes([head[6], head[7]]) & 0x3fff != 0 {
        return Err(Content::Fragment);
    }
    let mapped = |at: usize| {
        let mut address = [0; 16];
        address[10..12].fill(0xff);
        address[12..].copy_from_slice(&head[at..at + 4]);
        address
    };
    let end = total.min(data.len());
    let above = data.get(header..end).ok_or(Content::Short)?;
    let (from, to) = (mapped(12), mapped(16));
    let id = u16::from_be_bytes([head[4], head[5]]);
    let (protocol, ecn, length) = (head[9], head[1] & 3, total - header);
    Ok((Above { protocol, from, to, data: above, length, ecn, id }, total))
}

fn six(data: &[u8], length: usize) -> Result<(Above<'_>, usize), Content> {
    let head = data.get(..40).ok_or(Content::Short)?;
    let payload = usize::from(u16::from_be_bytes([head[4], head[5]]));
    // A length of 0: a jumbogram, or captured before the network card cut it.
    let total = if payload == 0 { length } else { 40 + payload };
    if total > length.min(LONGEST) || total < 40 {
        return Err(Content::Malformed);
    }
    let data = &data[..total.min(data.len())];
    let address = |at: usize| -> Address { head[at..at + 16].try_into().unwrap_or([0; 16]) };
    let (mut protocol, mut at) = (head[6], 40);
    for _ in 0..EXTENSIONS {
        let part = |offset: usize| data.get(at + offset).copied().ok_or(Content::Short);
        let size = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => (usize::from(part(1)?) + 1) * 8,
            AUTHENTICATION => (usize::from(part(1)?) + 2) * 4,
            FRAGMENT => {
                let place = be16(data, at + 2).ok_or(Content::Short)?;
                if place & 0xfff9 != 0 {
                    return Err(Content::Fragment);
                }
                8 // the only fragment of its packet (RFC 6946)
            }
            _ => {
                if at > total {
                    return Err(Content::Malformed);
                }
                let above = data.get(at..).ok_or(Content::Short)?;
                let (from, to) = (address(8), address(24));
                let (ecn, length) = (data[1] >> 4 & 3, total - at);
                let above = Above { protocol, from, to, data: above, length, ecn, id: 0 };
                return Ok((above, total));
            }
        };
        protocol = part(0)?;
        at += size;
    }
    Err(Content::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP segment in a packet whose length field is 0 (segmentation offload).
    fn offloaded(version: u8) -> Vec<u8> {
        let mut data = vec![0; if version == 4 { 40 } else { 60 }];
        let tcp = data.len() - 20;
        data[0] = if version == 4 { 0x45 } else { 0x60 };
        data[if version == 4 { 9 } else { 6 }] = TCP;
        data[tcp + 12] = 0x50;
        data
    }

    #[test]
    fn a_record_is_believed_up_to_what_a_network_card_is_given() {
        for version in [4, 6] {
            let data = offloaded(version);
            for length in [524_280, LONGEST] {
                let packet = read(&data, length, 0);
                let Content::Tcp(segment) = packet.content else { panic!("{packet:?}") };
                assert_eq!(segment.payload as usize, length - data.len());
                assert_eq!(packet.ip_bytes as usize, length);
            }
            for length in [LONGEST + 1, 1 << 31, u32::MAX as usize] {
                let packet = read(&data, length, 0);
                assert!(matches!(packet.content, Content::Malformed), "{packet:?}");
                assert!(packet.ip_bytes <= 65_535);
            }
        }
    }
}
