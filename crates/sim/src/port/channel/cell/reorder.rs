//! Delivery of blocks in order, as RLC and PDCP deliver packets.

use std::collections::VecDeque;

use packet::Packet;

/// The blocks sent, from the first one that has not arrived.
#[derive(Default)]
pub(super) struct Arrived {
    /// The packets of each block, once the block has arrived.
    blocks: VecDeque<Option<Vec<Packet>>>,
    first: u64,
}

impl Arrived {
    /// Adds the next block, and returns its number.
    pub fn next(&mut self) -> u64 {
        self.blocks.push_back(None);
        self.first + self.blocks.len() as u64 - 1
    }

    /// A block has arrived with these packets, or is lost if there are none.
    pub fn set(&mut self, number: u64, packets: Vec<Packet>) {
        self.blocks[(number - self.first) as usize] = Some(packets);
    }

    /// Removes the first block if it has arrived, and returns its packets.
    pub fn next_whole(&mut self) -> Option<Vec<Packet>> {
        self.blocks.front()?.as_ref()?;
        self.first += 1;
        self.blocks.pop_front().flatten()
    }
}
