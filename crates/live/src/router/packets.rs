//! The packets in the router: received ones with handles of the driver, copies with handles of the
//! router.

use super::InFlight;

/// Handles from this value on are those of copies that the router made.
const COPIES: u32 = 1 << 31;

/// Whether a handle is that of a copy that the router made; otherwise the driver received the
/// packet.
pub fn is_copy(handle: u32) -> bool {
    handle >= COPIES
}

/// The number within the router of the packet with this handle: even for received packets, odd for
/// copies. Ports use it as an index in their tables, so it must be small.
pub(super) fn number(handle: u32) -> u32 {
    handle.rotate_left(1)
}

/// The handle of the packet with this number.
pub(super) fn handle(number: u32) -> u32 {
    number.rotate_right(1)
}

/// A slab of the packets in the router, by number.
#[derive(Default)]
pub(super) struct Packets {
    all: Vec<Option<InFlight>>,
    /// Numbers of copies that are free.
    free: Vec<u32>,
    /// How many numbers of copies exist.
    copies: u32,
}

impl Packets {
    /// Inserts a packet under its number.
    pub fn place(&mut self, number: u32, packet: InFlight) {
        let place = number as usize;
        if self.all.len() <= place {
            self.all.resize(place + 1, None);
        }
        assert!(self.all[place].is_none(), "a packet comes once");
        self.all[place] = Some(packet);
    }

    /// Inserts a copy of a packet. Returns the copy's number.
    pub fn copy(&mut self, number: u32) -> u32 {
        let copied = *self.of(number);
        let copy = self.free.pop().unwrap_or_else(|| {
            self.copies += 1;
            2 * self.copies - 1
        });
        self.place(copy, copied);
        copy
    }

    /// The packet with this number. Panics if there is none.
    pub fn of(&mut self, number: u32) -> &mut InFlight {
        self.all[number as usize].as_mut().expect("a packet on its way")
    }

    /// Removes the packet with this number. Panics if there is none.
    pub fn take(&mut self, number: u32) -> InFlight {
        let packet = self.all[number as usize].take().expect("a packet on its way");
        if is_copy(handle(number)) {
            self.free.push(number);
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_small_and_lead_back_to_handles() {
        for (of, small) in [(0, 0), (7, 14), (COPIES, 1), (COPIES | 7, 15)] {
            assert_eq!((number(of), handle(small)), (small, of));
        }
        assert!(is_copy(handle(1)) && !is_copy(handle(2)));
    }
}
