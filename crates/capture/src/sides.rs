//! Finds the side of the link on which a packet was sent.
//!
//! The user may name the addresses of one side. Otherwise the file may say whether the capturing
//! machine sent the packet. Otherwise, on Ethernet, the first TCP packet names two stations: on a
//! link between two routers, or at a host, every packet comes from or goes to one of them. On a
//! switch's mirror port other stations appear, and their packets have no side.

use crate::container::Frame;
use crate::headers::{Address, Packet, Segment, Station};

/// An address prefix. An IPv4 address is mapped into IPv6, so its first 96 bits are those of
/// `::ffff:0:0`.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// Any address with this prefix.
    pub address: [u8; 16],
    /// Length of the prefix, at most 128 bits.
    pub bits: u8,
}

impl Prefix {
    fn holds(self, address: Address) -> bool {
        let shift = 128 - u32::from(self.bits.min(128));
        let differing = u128::from_be_bytes(self.address) ^ u128::from_be_bytes(address);
        differing.checked_shr(shift).unwrap_or(0) == 0
    }
}

/// Finds the sides of packets. Side 0 is that of the addresses that the user named, or else that of
/// the sender of the first TCP packet.
pub struct Sides {
    inside: Vec<Prefix>,
    stations: Option<(Station, Station)>,
    outbound: Option<bool>,
}

impl Sides {
    /// Side 0 is that of the addresses `inside`; if there are none, the first packet decides.
    pub fn new(inside: Vec<Prefix>) -> Self {
        Sides { inside, stations: None, outbound: None }
    }

    /// The side of the packet's sender; none if it is unknown.
    pub fn of(&mut self, frame: &Frame<'_>, packet: &Packet, segment: &Segment) -> Option<u8> {
        if !self.inside.is_empty() {
            let inside = |address| self.inside.iter().any(|prefix| prefix.holds(address));
            return match (inside(segment.from.0), inside(segment.to.0)) {
                (true, false) => Some(0),
                (false, true) => Some(1),
                _ => None,
            };
        }
        if let Some(outbound) = frame.outbound.or_else(|| cooked(frame)) {
            let first = *self.outbound.get_or_insert(outbound);
            return Some(u8::from(outbound != first));
        }
        let (from, to) = packet.stations?;
        let (zero, one) = *self.stations.get_or_insert((from, to));
        if from == zero || to == one {
            Some(0)
        } else if from == one || to == zero {
            Some(1)
        } else {
            None
        }
    }
}

/// Whether the capturing host sent a packet, by the packet type of a Linux "cooked" link: 4 is
/// "sent by us", 0 "to us".
fn cooked(frame: &Frame<'_>) -> Option<bool> {
    let kind = match frame.link {
        113 => *frame.data.get(1)?,
        276 => *frame.data.get(10)?,
        _ => return None,
    };
    match kind {
        0 => Some(false),
        4 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_holds_what_begins_with_its_bits() {
        let mut address = [0; 16];
        address[0] = 0x20;
        let prefix = |bits| Prefix { address, bits };
        let mut other = address;
        other[1] = 1;
        assert!(prefix(15).holds(other) && !prefix(16).holds(other));
        assert!(prefix(0).holds([0xff; 16]));
        assert!(prefix(128).holds(address) && !prefix(128).holds(other));
    }
}
