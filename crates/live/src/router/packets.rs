//! The packets on their way: those that came, by handles of the driver, and copies, by handles of the router.

use super::InFlight;

/// Handles from here on are those of copies.
const COPIES: u32 = 1 << 31;

/// Whether a handle is that of a copy, which the router gave out.
pub fn is_copy(handle: u32) -> bool {
    handle >= COPIES
}

/// The number of a packet within the router, even of one that came and odd of a copy: ports keep tables by it, so that it
/// must be small.
pub(super) fn number(handle: u32) -> u32 {
    handle.rotate_left(1)
}

/// The handle of a packet, by its number.
pub(super) fn handle(number: u32) -> u32 {
    number.rotate_right(1)
}

/// Packets on their way, by number.
#[derive(Default)]
pub(super) struct Packets {
    all: Vec<Option<InFlight>>,
    /// Numbers of copies that are free, and how many were given out.
    free: Vec<u32>,
    copies: u32,
}

impl Packets {
    /// A packet is on its way from now on.
    pub fn place(&mut self, number: u32, packet: InFlight) {
        let place = number as usize;
        if self.all.len() <= place {
            self.all.resize(place + 1, None);
        }
        assert!(self.all[place].is_none(), "a packet comes once");
        self.all[place] = Some(packet);
    }

    /// A copy of a packet is on its way from now on; its number.
    pub fn copy(&mut self, number: u32) -> u32 {
        let copied = *self.of(number);
        let copy = self.free.pop().unwrap_or_else(|| {
            self.copies += 1;
            2 * self.copies - 1
        });
        self.place(copy, copied);
        copy
    }

    /// A packet, which is on its way.
    pub fn of(&mut self, number: u32) -> &mut InFlight {
        self.all[number as usize].as_mut().expect("a packet on its way")
    }

    /// A packet, which is on its way no longer.
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
