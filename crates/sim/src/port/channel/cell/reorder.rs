//! Blocks that have arrived, in order (RLC and PDCP hand packets on in order).

use std::collections::VecDeque;

use packet::Packet;

/// What arrived of the blocks that were sent, from the first one that has not.
#[derive(Default)]
pub(super) struct Arrived {
    /// The packets of each block, once the block has arrived.
    blocks: VecDeque<Option<Vec<Packet>>>,
    first: u64,
}

impl Arrived {
    /// The number of the next block.
    pub fn next(&mut self) -> u64 {
        self.blocks.push_back(None);
        self.first + self.blocks.len() as u64 - 1
    }

    /// A block has arrived with these packets; with none, if it is lost.
    pub fn set(&mut self, number: u64, packets: Vec<Packet>) {
        self.blocks[(number - self.first) as usize] = Some(packets);
    }

    /// The packets of the first block, if it is there.
    pub fn next_whole(&mut self) -> Option<Vec<Packet>> {
        self.blocks.front()?.as_ref()?;
        self.first += 1;
        self.blocks.pop_front().flatten()
    }
}
