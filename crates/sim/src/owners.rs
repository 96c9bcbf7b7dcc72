//! Whose packets they are, for traces of packets.

use packet::Packet;
use record::{Nature, Who};

/// Group and member behind every connection and stream, by serial number: a connection's place
/// may belong to another while its last packets are on their way. Kept only where packets are
/// traced.
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

    /// Whose packet it is.
    pub fn who(&self, packet: &Packet, nature: Nature) -> Who {
        let owners = self.0.as_ref().expect("owners are kept where packets are traced");
        // The flow number ends with the direction.
        let (group, user) = owners[(packet.flow >> 1) as usize];
        Who { nature, group, user, bytes: packet.bytes }
    }
}
