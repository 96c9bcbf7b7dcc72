//! Whose packets they are, for traces and captures of packets.

use packet::Packet;
use record::{PacketClass, Who};

/// Group and member behind every connection and stream, by serial number: a connection's place
/// may belong to another while its last packets are on their way. Kept only where packets are
/// traced or captured.
#[derive(Debug)]
pub(crate) struct Owners(Option<Vec<(u16, u32)>>);

impl Owners {
    /// None so far.
    pub fn new(kept: bool) -> Self {
        Owners(kept.then(Vec::new))
    }

    /// The next serial number goes to a connection or stream of `member`.
    #[inline]
    pub fn next(&mut self, group: u16, member: u32) {
        if let Some(owners) = &mut self.0 {
            owners.push((group, member));
        }
    }

    pub fn who(&self, packet: &Packet, class: PacketClass) -> Who {
        // The flow number ends with the direction.
        let (group, user) = self.of((packet.flow >> 1) as u32);
        Who { class, group, user, bytes: packet.bytes }
    }

    /// Group and member behind a serial number.
    pub fn of(&self, serial: u32) -> (u16, u32) {
        let owners = self.0.as_ref().expect("owners are kept where packets are looked at");
        owners[serial as usize]
    }
}
