//! The users to whom packets belong, for packet traces and captures.

use std::collections::BTreeMap;

use record::Keep;

/// Traffic group and source (user or sender) of a packet.
pub(crate) type Owner = (u16, u32);

/// Number of newest connections that are remembered where memory is bounded.
const RECENT: u32 = 65_536;

/// Group and source of every connection and stream, by serial number. The index of a connection
/// does not identify it: another may reuse the slot while the last packets of the first are in
/// flight. Kept only where packets are traced or captured.
#[derive(Debug)]
pub(crate) enum Owners {
    Unknown,
    All(Vec<Owner>),
    Recent(Recent),
}

/// Owners of the newest connections, and of all streams, which are no more than the sources.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    given: u32,
    /// Owners of the latest serial numbers, each at the number's remainder modulo `RECENT`.
    newest: Vec<Owner>,
    streams: BTreeMap<u32, Owner>,
}

impl Owners {
    /// A table without owners; without a `keep` it stays empty.
    pub fn new(keep: Option<Keep>) -> Self {
        match keep {
            None => Owners::Unknown,
            Some(Keep::Everything) => Owners::All(Vec::new()),
            Some(Keep::Bounded) => Owners::Recent(Recent::default()),
        }
    }

    /// Records that the next serial number belongs to a connection of `source`.
    #[inline]
    pub fn connection(&mut self, group: u16, source: u32) {
        match self {
            Owners::Unknown => {}
            Owners::All(owners) => owners.push((group, source)),
            Owners::Recent(recent) => recent.next((group, source)),
        }
    }

    /// Records that the next serial number belongs to a stream of datagrams of `source`.
    pub fn stream(&mut self, group: u16, source: u32) {
        if let Owners::Recent(recent) = self {
            recent.streams.insert(recent.given, (group, source));
        }
        self.connection(group, source);
    }

    /// The owner of a serial number; `None` if the number was never recorded or is forgotten.
    pub fn of(&self, serial: u32) -> Option<Owner> {
        match self {
            Owners::Unknown => None,
            Owners::All(owners) => owners.get(serial as usize).copied(),
            Owners::Recent(recent) => recent.of(serial),
        }
    }
}

impl Recent {
    fn next(&mut self, owner: Owner) {
        match self.newest.get_mut((self.given % RECENT) as usize) {
            Some(place) => *place = owner,
            None => self.newest.push(owner),
        }
        self.given += 1;
    }

    fn of(&self, serial: u32) -> Option<Owner> {
        if self.given - serial <= RECENT {
            return Some(self.newest[(serial % RECENT) as usize]);
        }
        self.streams.get(&serial).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_connections_and_all_streams_are_known() {
        let mut owners = Owners::new(Some(Keep::Bounded));
        owners.stream(3, 7);
        (1..=70_000).for_each(|serial| owners.connection(1, serial));
        assert_eq!(owners.of(70_000), Some((1, 70_000)));
        let oldest = 70_001 - RECENT;
        assert_eq!((owners.of(oldest), owners.of(oldest - 1)), (Some((1, oldest)), None));
        assert_eq!(owners.of(0), Some((3, 7)));
        let Owners::Recent(recent) = owners else { panic!() };
        assert_eq!(recent.newest.len(), RECENT as usize);
    }
}
