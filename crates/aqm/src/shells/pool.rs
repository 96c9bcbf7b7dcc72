//! Packets of many queues in one block of memory: no allocation once the block has grown to the
//! largest backlog, however many queues come and go.

use alloc::vec::Vec;

use packet::{Backlog, Packet};

const NONE: u32 = u32::MAX;

struct Node {
    packet: Option<Packet>,
    next: u32,
    prev: u32,
}

/// A block of memory that any number of [`Queue`]s share for their packets.
#[derive(Default)]
pub(crate) struct Pool {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

/// A queue whose packets lie in a [`Pool`]; it must always be used with that pool.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

impl Queue {
    /// An empty queue.
    pub const fn new() -> Self {
        Queue { head: NONE, tail: NONE, backlog: Backlog { packets: 0, bytes: 0 } }
    }

    #[inline]
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Whether the queue is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }
}

impl Pool {
    /// Puts `packet` at the tail of `queue`.
    pub fn push(&mut self, queue: &mut Queue, packet: Packet) {
        queue.backlog.packets += 1;
        queue.backlog.bytes += u64::from(packet.bytes);
        let node = Node { packet: Some(packet), next: NONE, prev: queue.tail };
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                // All nodes may become free; the room for them is reserved now, so that nothing
                // grows then.
                self.free.reserve(self.nodes.capacity());
                (self.nodes.len() - 1) as u32
            }
        };
        match queue.tail {
            NONE => queue.head = index,
            tail => self.nodes[tail as usize].next = index,
        }
        queue.tail = index;
    }

    /// The packet at the head of `queue`.
    #[inline]
    pub fn head(&self, queue: &Queue) -> Option<&Packet> {
        self.nodes.get(queue.head as usize)?.packet.as_ref()
    }

    /// The packet at the head of `queue`, to be modified; its size must not change.
    pub fn head_mut(&mut self, queue: &Queue) -> Option<&mut Packet> {
        self.nodes.get_mut(queue.head as usize)?.packet.as_mut()
    }

    /// The packet at the tail of `queue`.
    pub fn tail(&self, queue: &Queue) -> Option<&Packet> {
        self.nodes.get(queue.tail as usize)?.packet.as_ref()
    }

    /// Index of the packet at the tail of `queue`, valid until the packet leaves.
    pub fn tail_place(&self, queue: &Queue) -> Option<u32> {
        (queue.tail != NONE).then_some(queue.tail)
    }

    /// Takes the packet at the head of `queue`.
    pub fn pop(&mut self, queue: &mut Queue) -> Option<Packet> {
        let index = queue.head;
        let node = self.nodes.get_mut(index as usize)?;
        let packet = node.packet.take()?;
        queue.head = node.next;
        match queue.head {
            NONE => queue.tail = NONE,
            head => self.nodes[head as usize].prev = NONE,
        }
        self.release(queue, index, &packet);
        Some(packet)
    }

    /// Takes the packet at the tail of `queue`.
    pub fn pop_tail(&mut self, queue: &mut Queue) -> Option<Packet> {
        let index = queue.tail;
        let node = self.nodes.get_mut(index as usize)?;
        let packet = node.packet.take()?;
        queue.tail = node.prev;
        match queue.tail {
            NONE => queue.head = NONE,
            tail => self.nodes[tail as usize].next = NONE,
        }
        self.release(queue, index, &packet);
        Some(packet)
    }

    /// The packets of `queue` from its head, each with its index.
    pub fn iter(&self, queue: &Queue) -> impl Iterator<Item = (u32, &Packet)> {
        let mut place = queue.head;
        core::iter::from_fn(move || {
            let node = self.nodes.get(place as usize)?;
            let found = (place, node.packet.as_ref()?);
            place = node.next;
            Some(found)
        })
    }

    /// Takes the packet with index `place`, which must be in `queue`.
    pub fn remove(&mut self, queue: &mut Queue, place: u32) -> Option<Packet> {
        let node = self.nodes.get_mut(place as usize)?;
        let packet = node.packet.take()?;
        let (prev, next) = (node.prev, node.next);
        match prev {
            NONE => queue.head = next,
            prev => self.nodes[prev as usize].next = next,
        }
        match next {
            NONE => queue.tail = prev,
            next => self.nodes[next as usize].prev = prev,
        }
        self.release(queue, place, &packet);
        Some(packet)
    }

    fn release(&mut self, queue: &mut Queue, index: u32, packet: &Packet) {
        queue.backlog.packets -= 1;
        queue.backlog.bytes -= u64::from(packet.bytes);
        self.free.push(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use packet::{Ecn, Instant, Rng};

    fn packet(id: u32, bytes: u32) -> Packet {
        Packet {
            id,
            flow: 0,
            bytes,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        }
    }

    #[test]
    fn queues_in_a_pool_behave_as_queues_of_their_own() {
        let mut rng = Rng::named(1, "pool");
        let mut pool = Pool::default();
        let mut ours = [const { Queue::new() }; 5];
        let mut theirs = [const { VecDeque::<Packet>::new() }; 5];
        for id in 0..20_000 {
            let which = rng.below(5) as usize;
            let (queue, model) = (&mut ours[which], &mut theirs[which]);
            match rng.below(if id / 1000 % 2 == 0 { 3 } else { 8 }) {
                0 => assert_eq!(pool.pop(queue), model.pop_front()),
                1 => assert_eq!(pool.pop_tail(queue), model.pop_back()),
                2 if id % 2000 > 1000 => assert_eq!(pool.pop(queue), model.pop_front()),
                3 if !model.is_empty() => {
                    let nth = rng.below(model.len() as u64) as usize;
                    let (place, _) = pool.iter(queue).nth(nth).unwrap();
                    assert_eq!(pool.remove(queue, place), model.remove(nth));
                }
                _ => {
                    let new = packet(id, rng.below(1500) as u32);
                    pool.push(queue, new.clone());
                    model.push_back(new);
                }
            }
            assert_eq!(pool.head(queue), model.front());
            assert!(pool.iter(queue).map(|(_, p)| p).eq(model.iter()));
            let bytes = model.iter().map(|p| u64::from(p.bytes)).sum();
            assert_eq!(queue.backlog(), Backlog { packets: model.len() as u32, bytes });
            assert_eq!(queue.is_empty(), model.is_empty());
        }
        let held: usize = theirs.iter().map(VecDeque::len).sum();
        assert!(held > 20, "{held}");
        assert_eq!(pool.nodes.len() - pool.free.len(), held, "no node is lost");
    }

    #[test]
    fn memory_is_used_again() {
        let mut pool = Pool::default();
        let mut queue = Queue::new();
        for id in 0..1000 {
            pool.push(&mut queue, packet(id, 100));
            pool.push(&mut queue, packet(id, 100));
            pool.pop(&mut queue);
            pool.pop_tail(&mut queue);
        }
        assert_eq!(pool.nodes.len(), 2);
    }
}
