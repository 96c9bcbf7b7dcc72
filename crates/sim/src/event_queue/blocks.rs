//! Memory of the waiting events: blocks of eight, filled in the order in which events are
//! scheduled.
//!
//! With millions of users a slot of the wheel holds hundreds of events, none of which is in a CPU
//! cache when the slot is served. Blocks let the CPU read eight events at a time, and prefetch the
//! next block while the current one is processed.

use super::NONE;

/// Number of events in a block: four cache lines, as an event of the simulator takes half of one.
const BLOCK: u32 = 8;

/// A waiting event. One of the simulator takes half a cache line, and never straddles two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Node<E> {
    pub at: u64,
    pub order: u64,
    pub event: E,
    /// In the first node of a block: index of the next block's first node, in a list of events or
    /// in the list of free blocks.
    next: u32,
}

/// A list of events in the order in which they came, from the node `head` to the node `tail`.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub head: u32,
    pub tail: u32,
}

impl List {
    pub const EMPTY: List = List { head: NONE, tail: NONE };

    /// Whether the list lies within one block.
    #[inline]
    pub fn is_short(self) -> bool {
        block(self.head) == block(self.tail)
    }
}

/// Index of the first node of the block that contains a node.
#[inline]
fn block(index: u32) -> u32 {
    index / BLOCK * BLOCK
}

/// Whether a node is the last of its block. ([`NONE`] counts as one, so that a new block follows
/// it.)
#[inline]
fn is_last(index: u32) -> bool {
    index % BLOCK == BLOCK - 1
}

/// The memory of all events that wait.
pub(super) struct Blocks<E> {
    nodes: Vec<Node<E>>,
    /// The first free block.
    free: u32,
}

impl<E> Default for Blocks<E> {
    fn default() -> Self {
        Blocks { nodes: Vec::new(), free: NONE }
    }
}

impl<E: Copy> Blocks<E> {
    /// Allocates memory for `events` more events in `lists` lists, each with a partly filled block.
    pub fn reserve(&mut self, events: usize, lists: usize) {
        let begun = lists.min(events) * (BLOCK as usize - 1);
        self.nodes.reserve_exact((events + begun).next_multiple_of(BLOCK as usize));
        prefetch::huge_pages(&self.nodes);
    }

    /// Whether no block is free: one more must be made.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free == NONE
    }

    /// Allocates a free block, whose nodes hold copies of `event` as placeholders.
    // Out of line, so that the common path saves no registers.
    #[cold]
    #[inline(never)]
    pub fn grow(&mut self, event: E) {
        self.free = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events ahead");
        for _ in 0..BLOCK {
            prefetch::push(&mut self.nodes, Node { at: 0, order: 0, event, next: NONE });
        }
    }

    /// Appends an event behind `tail`, the last node of a list, or begins a list if that is
    /// [`NONE`]. Returns the index of the new node. A free block must exist.
    #[inline(always)]
    pub fn put_behind(&mut self, tail: u32, at: u64, order: u64, event: E) -> u32 {
        let mut index = tail.wrapping_add(1);
        if is_last(tail) {
            index = self.free;
            self.free = self[index].next;
            if tail != NONE {
                self[block(tail)].next = index;
            }
        }
        self.put(index, at, order, event);
        index
    }

    #[inline]
    pub fn put(&mut self, index: u32, at: u64, order: u64, event: E) {
        let node = &mut self[index];
        (node.at, node.order, node.event) = (at, order, event);
    }

    /// Index of the node that follows a node in its list.
    #[inline]
    pub fn behind(&self, index: u32) -> u32 {
        if is_last(index) { self[block(index)].next } else { index + 1 }
    }

    /// The nodes of a list that lies within one block.
    #[inline]
    pub fn short(&self, list: List) -> &[Node<E>] {
        &self.nodes[list.head as usize..=list.tail as usize]
    }

    /// Frees the block that begins with this node.
    #[inline]
    pub fn free(&mut self, first: u32) {
        self[first].next = std::mem::replace(&mut self.free, first);
    }

    /// Frees a block if this is its first node.
    #[inline]
    pub fn free_if_first(&mut self, index: u32) {
        if index == block(index) {
            self.free(index);
        }
    }

    /// Removes and returns the first event of a list that belongs to no slot any more. A block is
    /// freed with its last event.
    #[inline]
    pub fn take(&mut self, list: &mut List) -> Option<Node<E>> {
        let index = list.head;
        if index == NONE {
            return None;
        }
        let node = self[index];
        if index == list.tail {
            list.head = NONE;
            self.free(block(index));
        } else if is_last(index) {
            list.head = self[block(index)].next;
            self.free(block(index));
            self.fetch_behind(*list);
        } else {
            list.head = index + 1;
        }
        Some(node)
    }

    /// Prefetches the second block of a list.
    #[inline]
    fn fetch_behind(&self, list: List) {
        if !list.is_short() {
            let next = self[list.head].next as usize;
            prefetch::prefetch(&self.nodes[next..next + BLOCK as usize]);
        }
    }

    /// The event of the node with this index, if the index exists.
    #[inline]
    pub fn event(&self, index: u32) -> Option<E> {
        Some(self.nodes.get(index as usize)?.event)
    }

    /// Prefetches the node with this index, if the index exists.
    #[inline]
    pub fn fetch(&self, index: u32) {
        if let Some(node) = self.nodes.get(index as usize) {
            prefetch::prefetch(node);
        }
    }

    /// Number of nodes, used or free.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.nodes.len()
    }
}

impl<E> std::ops::Index<u32> for Blocks<E> {
    type Output = Node<E>;
    #[inline]
    fn index(&self, index: u32) -> &Node<E> {
        &self.nodes[index as usize]
    }
}

impl<E> std::ops::IndexMut<u32> for Blocks<E> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Node<E> {
        &mut self.nodes[index as usize]
    }
}
