//! Link layers: Ethernet with VLAN tags, MPLS and PPPoE; Linux "cooked"; loopback; PPP; raw IP.

use super::Content;
use crate::bytes::{be16, be32};
use crate::container::LINKTYPE_RAW;

/// A link-layer (MAC) address.
pub type Station = [u8; 6];

/// What the link layer of a packet shows: position of the IP header, IP version, link addresses.
pub struct Link {
    pub ip_at: usize,
    /// IP version, 4 or 6; 0 if the link layer does not have it and IP's first bits decide.
    pub version: u8,
    pub stations: Option<(Station, Station)>,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Most VLAN tags or MPLS labels in a packet; one with more is malformed.
const TAGS: usize = 8;

/// Finds the IP header in a packet of link type `kind` (the registry of tcpdump.org).
pub fn read(kind: u32, data: &[u8]) -> Result<Link, Content> {
    match kind {
        0 | 108 => loopback(data),
        1 => ethernet(data),
        9 | 50 => ppp(data),
        12 | 14 | LINKTYPE_RAW => Ok(at(0, 0)),
        113 => typed(data, 14, 16),
        228 => Ok(at(0, 4)),
        229 => Ok(at(0, 6)),
        276 => typed(data, 0, 20),
        _ => Err(Content::UnknownLink),
    }
}

fn at(ip_at: usize, version: u8) -> Link {
    Link { ip_at, version, stations: None }
}

/// BSD's loopback: the address family in the byte order of the capturing machine. IPv6 is 24, 28 or
/// 30, and 10 on Linux.
fn loopback(data: &[u8]) -> Result<Link, Content> {
    let family = be32(data, 0).ok_or(Content::Short)?;
    match family.min(family.swap_bytes()) {
        2 => Ok(at(4, 4)),
        10 | 24 | 28 | 30 => Ok(at(4, 6)),
        _ => Err(Content::NotIp),
    }
}

fn ethernet(data: &[u8]) -> Result<Link, Content> {
    let station = |from: usize| -> Option<Station> { data.get(from..from + 6)?.try_into().ok() };
    let stations = station(6).zip(station(0));
    Ok(Link { stations, ..typed(data, 12, 14)? })
}

/// Reads the EtherType at `type_at`, whose content begins at `next`; skips VLAN tags.
fn typed(data: &[u8], type_at: usize, next: usize) -> Result<Link, Content> {
    let (mut type_at, mut next) = (type_at, next);
    for _ in 0..TAGS {
        match be16(data, type_at).ok_or(Content::Short)? {
            IPV4 => return Ok(at(next, 4)),
            IPV6 => return Ok(at(next, 6)),
            // VLAN tags: 802.1Q, 802.1ad and its predecessors.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                type_at = next + 2;
                next += 4;
            }
            0x8847 | 0x8848 => return mpls(data, next),
            0x8864 => return of_ppp(be16(data, next + 6), next + 8),
            _ => return Err(Content::NotIp),
        }
    }
    Err(Content::Malformed)
}

/// Skips MPLS labels down to the bottom of the stack.
fn mpls(data: &[u8], first: usize) -> Result<Link, Content> {
    for label in 0..TAGS {
        let place = first + 4 * label;
        if be32(data, place).ok_or(Content::Short)? & 0x100 != 0 {
            // MPLS does not name the protocol; if it is IP, its first four bits are its version.
            return match data.get(place + 4).ok_or(Content::Short)? >> 4 {
                version @ (4 | 6) => Ok(at(place + 4, version)),
                _ => Err(Content::NotIp),
            };
        }
    }
    Err(Content::Malformed)
}

/// PPP with or without the address and control bytes of HDLC.
fn ppp(data: &[u8]) -> Result<Link, Content> {
    let skip = if data.starts_with(&[0xff, 0x03]) { 2 } else { 0 };
    of_ppp(be16(data, skip), skip + 2)
}

fn of_ppp(protocol: Option<u16>, next: usize) -> Result<Link, Content> {
    match protocol.ok_or(Content::Short)? {
        0x0021 => Ok(at(next, 4)),
        0x0057 => Ok(at(next, 6)),
        _ => Err(Content::NotIp),
    }
}
