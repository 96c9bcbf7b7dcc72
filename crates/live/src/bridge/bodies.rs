//! The bytes of packets on their way, by handle.

use std::collections::HashMap;

use super::ROOM;
use crate::router::is_copy;

/// The bytes of a packet, and how many they are.
pub(super) type Body = (Box<[u8; ROOM]>, usize);

/// The bytes of packets, and handles that are free.
#[derive(Default)]
pub(super) struct Bodies {
    own: Vec<Body>,
    free: Vec<u32>,
    copies: HashMap<u32, Body>,
}

impl Bodies {
    /// A handle with room for a packet.
    pub fn handle(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.own.push((Box::new([0; ROOM]), 0));
            (self.own.len() - 1) as u32
        })
    }

    /// The bytes of a packet.
    pub fn of(&mut self, id: u32) -> &mut Body {
        match is_copy(id) {
            true => self.copies.get_mut(&id).expect("a copy on its way"),
            false => &mut self.own[id as usize],
        }
    }

    /// A packet was copied.
    pub fn copy(&mut self, id: u32, copy: u32) {
        let body = self.of(id).clone();
        self.copies.insert(copy, body);
    }

    /// A packet is on its way no longer.
    pub fn release(&mut self, id: u32) {
        match is_copy(id) {
            true => drop(self.copies.remove(&id)),
            false => self.free.push(id),
        }
    }
}
