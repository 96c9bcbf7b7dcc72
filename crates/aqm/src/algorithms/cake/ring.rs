//! Lists of queues as rings: the first queue goes to the end by a step of the beginning.

use alloc::{vec, vec::Vec};

/// No queue.
const NONE: u32 = u32::MAX;

/// The neighbours of each queue on its list; a queue is on one list at most.
pub(super) struct Links(Vec<(u32, u32)>);

impl Links {
    /// Of `queues` queues on no list.
    pub fn new(queues: usize) -> Self {
        Links(vec![(NONE, NONE); queues])
    }

    /// The queue after `queue`, the first one after the last.
    #[inline]
    pub fn next(&self, queue: u32) -> u32 {
        self.0[queue as usize].0
    }
}

/// A list.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    first: u32,
    len: usize,
}

impl Ring {
    /// Nobody.
    pub const EMPTY: Ring = Ring { first: NONE, len: 0 };

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The first queue.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.len > 0).then_some(self.first)
    }

    /// Puts `queue`, which is on no list, at the end.
    pub fn push(&mut self, links: &mut Links, queue: u32) {
        if self.len == 0 {
            links.0[queue as usize] = (queue, queue);
            self.first = queue;
        } else {
            let (first, last) = (self.first, links.0[self.first as usize].1);
            links.0[queue as usize] = (first, last);
            links.0[last as usize].0 = queue;
            links.0[first as usize].1 = queue;
        }
        self.len += 1;
    }

    /// Takes `queue`, which is on this list, from it.
    pub fn remove(&mut self, links: &mut Links, queue: u32) {
        let (next, prev) = links.0[queue as usize];
        links.0[prev as usize].0 = next;
        links.0[next as usize].1 = prev;
        if self.first == queue {
            self.first = next;
        }
        self.len -= 1;
    }

    /// Lets `queue`, which is on this list, be the first; those before it go to the end in their
    /// order.
    #[inline]
    pub const fn begin_at(&mut self, queue: u32) {
        self.first = queue;
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
        let mut links = Links::new(12);
        let mut rings = [Ring::EMPTY, Ring::EMPTY];
        let mut lists = [VecDeque::new(), VecDeque::new()];
        for _ in 0..20_000 {
            let (which, queue) = (rng.below(2) as usize, rng.below(12) as u32);
            let (ring, list) = (&mut rings[which], &mut lists[which]);
            if let Some(at) = list.iter().position(|other| *other == queue) {
                if rng.below(3) == 0 {
                    ring.begin_at(queue);
                    list.rotate_left(at);
                } else {
                    ring.remove(&mut links, queue);
                    list.remove(at);
                }
            } else if !lists[1 - which].contains(&queue) {
                ring.push(&mut links, queue);
                lists[which].push_back(queue);
            }
            for (ring, list) in rings.iter().zip(&lists) {
                assert_eq!((ring.first(), ring.len()), (list.front().copied(), list.len()));
                let mut at = ring.first;
                for queue in list {
                    assert_eq!(at, *queue);
                    at = links.next(at);
                }
            }
        }
    }
}
