//! Where events wait: in blocks of eight, side by side in the order in which they came.
//!
//! With millions of users a slot of the wheel holds hundreds of events, and they are in no cache when
//! it comes under way. They come from memory a block at a time, and the next block while this one is
//! worked off.

use super::NONE;

/// Events of a block: four cache lines of the world's.
const BLOCK: u32 = 8;

/// An event that waits; the world's is half a cache line, and never lies in two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Node<E> {
    pub at: u64,
    pub order: u64,
    pub event: E,
    /// In the first node of a block: index of the next block, in a list of events or in the list of
    /// free blocks.
    next: u32,
}

/// Events in the order in which they came: from the first of a block to the last of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub head: u32,
    pub tail: u32,
}

impl List {
    pub const EMPTY: List = List { head: NONE, tail: NONE };

    /// Whether its events lie in one block.
    #[inline]
    pub fn is_short(self) -> bool {
        block(self.head) == block(self.tail)
    }
}

/// The first node of the block that one lies in.
#[inline]
fn block(index: u32) -> u32 {
    index / BLOCK * BLOCK
}

/// Whether a node is the last of its block. ([`NONE`], behind which another begins, is one.)
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

    /// Makes a free block; what its nodes hold does not matter.
    // Out of line, as a panic is: the way to a free block keeps its registers.
    #[cold]
    #[inline(never)]
    pub fn grow(&mut self, event: E) {
        self.free = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events ahead");
        for _ in 0..BLOCK {
            prefetch::push(&mut self.nodes, Node { at: 0, order: 0, event, next: NONE });
        }
    }

    /// Puts an event down behind the last of a list, or as the first of one ([`NONE`]); its place. There
    /// must be a free block.
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

    /// The node behind one in a list.
    #[inline]
    pub fn behind(&self, index: u32) -> u32 {
        if is_last(index) { self[block(index)].next } else { index + 1 }
    }

    /// The nodes of a short list.
    #[inline]
    pub fn short(&self, list: List) -> &[Node<E>] {
        &self.nodes[list.head as usize..=list.tail as usize]
    }

    /// The block that begins with this node is free.
    #[inline]
    pub fn free(&mut self, first: u32) {
        self[first].next = std::mem::replace(&mut self.free, first);
    }

    /// If this is the first node of a block, the block is free.
    #[inline]
    pub fn free_if_first(&mut self, index: u32) {
        if index == block(index) {
            self.free(index);
        }
    }

    /// Takes the first event out of a list that is in no slot any more. A block is free when its last is taken.
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

    /// The second block of a list is fetched into the caches.
    #[inline]
    fn fetch_behind(&self, list: List) {
        if !list.is_short() {
            let next = self[list.head].next as usize;
            prefetch::prefetch(&self.nodes[next..next + BLOCK as usize]);
        }
    }

    /// The event in a place, if there is such a place.
    #[inline]
    pub fn event(&self, index: u32) -> Option<E> {
        Some(self.nodes.get(index as usize)?.event)
    }

    /// A place is fetched into the caches, if there is such a place.
    #[inline]
    pub fn fetch(&self, index: u32) {
        if let Some(node) = self.nodes.get(index as usize) {
            prefetch::prefetch(node);
        }
    }

    /// Places there are.
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
