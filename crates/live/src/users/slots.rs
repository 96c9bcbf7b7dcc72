//! Places of what a program waits for, by which events name it.

use std::os::fd::OwnedFd;

use super::acceptor::Acceptor;
use super::connection::Opener;

/// What a file descriptor is of.
pub(super) enum Slot {
    /// Connections to a group come here.
    Listener(OwnedFd, u16),
    /// Datagrams of a group come here.
    Datagrams(OwnedFd, u16),
    /// The other program speaks.
    Partner,
    /// A connection of an application of this side.
    Opener(Box<Opener>),
    /// A connection of one of the other side.
    Acceptor(Box<Acceptor>),
}

impl Slot {
    /// The socket that is watched.
    pub fn socket(&self) -> Option<&OwnedFd> {
        match self {
            Slot::Listener(socket, _) | Slot::Datagrams(socket, _) => Some(socket),
            Slot::Opener(of) => Some(&of.pipe.socket),
            Slot::Acceptor(of) => Some(&of.pipe.socket),
            Slot::Partner => None,
        }
    }
}

/// The place of a slot, and how often it had been used before: events of an earlier use are known
/// by it.
pub(super) type Place = u64;

/// All places. One that is free is used again.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<(u32, Option<Slot>)>,
    free: Vec<u32>,
}

impl Slots {
    /// A new place.
    pub fn place(&mut self, slot: Slot) -> Place {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let (generation, place) = &mut self.slots[index as usize];
        *place = Some(slot);
        u64::from(*generation) << 32 | u64::from(index)
    }

    /// What is at a place, if it still is.
    pub fn at(&mut self, place: Place) -> Option<&mut Slot> {
        let (generation, slot) = self.slots.get_mut(place as u32 as usize)?;
        if u64::from(*generation) == place >> 32 { slot.as_mut() } else { None }
    }

    /// The place may be used again.
    pub fn free(&mut self, place: Place) {
        let (generation, slot) = &mut self.slots[place as u32 as usize];
        *slot = None;
        *generation += 1;
        self.free.push(place as u32);
    }

    /// What is at all places.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut().filter_map(|(_, slot)| slot.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_used_again_is_another_one() {
        let mut slots = Slots::default();
        let [first, second] = [0, 1].map(|_| slots.place(Slot::Partner));
        slots.free(first);
        let third = slots.place(Slot::Partner);
        assert_ne!(first, third);
        assert_eq!(third as u32, first as u32, "the same memory");
        assert!(slots.at(first).is_none() && slots.at(third).is_some());
        assert_eq!(slots.all().count(), 2);
        assert!(slots.at(second).is_some());
    }
}
