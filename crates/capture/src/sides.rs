//! On which side of the link a packet was sent.
//!
//! The file may say whether the capturing machine sent it. Else, on Ethernet, the first TCP packet
//! names two stations: on a link between two routers, or at a host, every packet comes from or goes
//! to one of them. On a switch's mirror port others appear, and their packets have no side.

use crate::container::Frame;
use crate::headers::{Packet, Station};

/// Side 0 is that of the sender of the first TCP packet.
#[derive(Default)]
pub struct Sides {
    stations: Option<(Station, Station)>,
    outbound: Option<bool>,
}

impl Sides {
    /// The sender's side.
    pub fn of(&mut self, frame: &Frame<'_>, packet: &Packet) -> Option<u8> {
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

/// Linux "cooked" links say it in a field of the packet: 4 is "sent by us", 0 "to us".
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
