//! The bytes of packets that are in the router, by handle.

use std::collections::HashMap;

use super::ROOM;
use crate::router::is_copy;

/// A buffer with the bytes of a packet, and the packet's length in bytes.
pub(super) type Body = (Box<[u8; ROOM]>, usize);

/// A slab of packet buffers, with a list of free handles. Buffers of copies are in a
/// map, since the router allocates their handles.
#[derive(Default)]
pub(super) struct Bodies {
    own: Vec<Body>,
    free: Vec<u32>,
    copies: HashMap<u32, Body>,
}

impl Bodies {
    /// Allocates a handle with a buffer for a packet.
    pub fn handle(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.own.push((Box::new([0; ROOM]), 0));
            (self.own.len() - 1) as u32
        })
    }

    /// The buffer and the length of a packet.
    pub fn of(&mut self, id: u32) -> &mut Body {
        match is_copy(id) {
            true => self.copies.get_mut(&id).expect("a copy on its way"),
            false => &mut self.own[id as usize],
        }
    }

    /// Stores the bytes of packet `id` for its copy, too.
    pub fn copy(&mut self, id: u32, copy: u32) {
        let body = self.of(id).clone();
        self.copies.insert(copy, body);
    }

    /// Frees the handle of a packet that has left the router.
    pub fn release(&mut self, id: u32) {
        match is_copy(id) {
            true => drop(self.copies.remove(&id)),
            false => self.free.push(id),
        }
    }
}
