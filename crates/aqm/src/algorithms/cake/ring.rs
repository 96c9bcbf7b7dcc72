//! Circular, doubly linked lists of queues, from which any queue can be removed.

const NONE: u32 = u32::MAX;

/// A queue's value and its neighbours on its list; a queue is on one list at most.
#[derive(Clone, Debug)]
pub(super) struct Node<T> {
    next: u32,
    prev: u32,
    pub value: T,
}

impl<T> Node<T> {
    pub const fn new(value: T) -> Self {
        Node { next: NONE, prev: NONE, value }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Ring {
    first: u32,
    len: usize,
}

impl Ring {
    pub const EMPTY: Ring = Ring { first: NONE, len: 0 };

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The first queue on the list.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.len > 0).then_some(self.first)
    }

    /// The queues on the list, in order.
    pub fn queues<T>(&self, nodes: &[Node<T>]) -> impl Iterator<Item = u32> {
        let next = |queue: &u32| Some(nodes[*queue as usize].next);
        core::iter::successors(self.first(), next).take(self.len)
    }

    /// Puts `queue`, which is on no list, at the end.
    pub fn push<T>(&mut self, nodes: &mut [Node<T>], queue: u32) {
        let (mut next, mut prev) = (queue, queue);
        if self.len == 0 {
            self.first = queue;
        } else {
            let first = &mut nodes[self.first as usize];
            (next, prev) = (self.first, first.prev);
            first.prev = queue;
            nodes[prev as usize].next = queue;
        }
        let node = &mut nodes[queue as usize];
        (node.next, node.prev) = (next, prev);
        self.len += 1;
    }

    /// Takes `queue`, which is on this list, from it.
    pub fn remove<T>(&mut self, nodes: &mut [Node<T>], queue: u32) {
        let Node { next, prev, .. } = nodes[queue as usize];
        nodes[prev as usize].next = next;
        nodes[next as usize].prev = prev;
        if self.first == queue {
            self.first = next;
        }
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use packet::Rng;

    #[test]
    fn rings_are_lists() {
        let mut rng = Rng::named(1, "rings");
        let mut nodes = [const { Node::new(()) }; 12];
        let mut rings = [Ring::EMPTY, Ring::EMPTY];
        let mut lists = [VecDeque::new(), VecDeque::new()];
        for _ in 0..20_000 {
            let (which, queue) = (rng.below(2) as usize, rng.below(12) as u32);
            let (ring, list) = (&mut rings[which], &mut lists[which]);
            if let Some(at) = list.iter().position(|other| *other == queue) {
                ring.remove(&mut nodes, queue);
                list.remove(at);
            } else if !lists[1 - which].contains(&queue) {
                ring.push(&mut nodes, queue);
                lists[which].push_back(queue);
            }
            for (ring, list) in rings.iter().zip(&lists) {
                assert_eq!((ring.first(), ring.len()), (list.front().copied(), list.len()));
                assert!(ring.queues(&nodes).eq(list.iter().copied()));
            }
        }
    }

    #[test]
    fn a_ring_is_empty_without_queues() {
        let (mut nodes, mut ring) = ([Node::new(()), Node::new(())], Ring::EMPTY);
        assert!(ring.is_empty());
        ring.push(&mut nodes, 1);
        assert!(!ring.is_empty());
    }
}
