//! Slab of the sockets that a program waits for; epoll events carry the handle of a slot.

use std::os::fd::OwnedFd;

use super::acceptor::Acceptor;
use super::connection::Opener;

/// What a file descriptor belongs to.
pub(super) enum Slot {
    /// A listening socket, and the index of the group that it serves.
    Listener(OwnedFd, u16),
    /// A UDP socket, and the index of its group.
    Datagrams(OwnedFd, u16),
    /// The channel to the partner program, the process of users on the other side of the links.
    Partner,
    /// A connection that an application of this side has opened.
    Opener(Box<Opener>),
    /// A connection that an application of the other side has opened.
    Acceptor(Box<Acceptor>),
}

impl Slot {
    /// The slot's socket; `None` for the partner's channel.
    pub fn socket(&self) -> Option<&OwnedFd> {
        match self {
            Slot::Listener(socket, _) | Slot::Datagrams(socket, _) => Some(socket),
            Slot::Opener(of) => Some(&of.pipe.socket),
            Slot::Acceptor(of) => Some(&of.pipe.socket),
            Slot::Partner => None,
        }
    }
}

/// Handle of a slot: its index, and its generation in the upper half, which shows events of an
/// earlier use.
pub(super) type Place = u64;

/// The slab of slots; each holds a socket of a program of users, or stands for the channel to its
/// partner program.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<(u32, Option<Slot>)>,
    free: Vec<u32>,
}

impl Slots {
    /// Stores a slot. Returns its handle.
    pub fn place(&mut self, slot: Slot) -> Place {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let (generation, place) = &mut self.slots[index as usize];
        *place = Some(slot);
        u64::from(*generation) << 32 | u64::from(index)
    }

    /// The slot of a handle; `None` if it was freed.
    pub fn at(&mut self, place: Place) -> Option<&mut Slot> {
        let (generation, slot) = self.slots.get_mut(place as u32 as usize)?;
        if u64::from(*generation) == place >> 32 { slot.as_mut() } else { None }
    }

    /// Frees a slot: its index may be used again, with the next generation.
    pub fn free(&mut self, place: Place) {
        let (generation, slot) = &mut self.slots[place as u32 as usize];
        *slot = None;
        *generation += 1;
        self.free.push(place as u32);
    }

    /// All slots in use.
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
