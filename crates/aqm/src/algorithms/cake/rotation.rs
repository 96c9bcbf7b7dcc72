//! The queues of one tin in turn: DRR++ with sparse, bulk and decaying queues, and turns that
//! are smaller where a host has many bulk queues.

use alloc::{vec, vec::Vec};

use packet::Packet;

use super::hosts::{Hosts, Isolation, destination_tag, source_tag, ways};
use super::ring::{Links, Ring};

/// What a queue counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// It is on no list.
    Idle,
    /// It has not used up its first turn.
    Sparse,
    /// It used its turn up and is empty: it takes turns, but is counted as sparse.
    SparseWait,
    /// It takes turns.
    Bulk,
    /// It is empty, and its law has yet to come to rest.
    Decaying,
}

/// A queue as the rotation knows it.
#[derive(Clone, Debug)]
struct Turn {
    /// What it may still send, in 2^-16 bytes.
    deficit: i64,
    /// Places of its hosts.
    source: u16,
    destination: u16,
    set: Set,
}

/// A byte of deficit.
const BYTE: i64 = 1 << 16;

/// See the module.
pub(super) struct Rotation {
    turns: Vec<Turn>,
    links: Links,
    /// Whose queue it is, or last was.
    tags: Vec<u32>,
    new: Ring,
    old: Ring,
    decaying: Ring,
    sparse: u32,
    bulk: u32,
    isolation: Isolation,
    sources: Hosts,
    destinations: Hosts,
    /// A turn in 2^-16 bytes, by how many bulk queues the busier host has.
    shares: Vec<u32>,
    seed: u64,
}

impl Rotation {
    /// Idle `queues`, a multiple of [`super::hosts::WAYS`], with turns of `quantum` bytes.
    pub fn new(queues: usize, quantum: u32, isolation: Isolation, seed: u64) -> Self {
        let share = |load: u32| (quantum << 16) / load.max(1);
        let idle = Turn { deficit: 0, source: 0, destination: 0, set: Set::Idle };
        Rotation {
            turns: vec![idle; queues],
            links: Links::new(queues),
            tags: vec![0; queues],
            new: Ring::EMPTY,
            old: Ring::EMPTY,
            decaying: Ring::EMPTY,
            sparse: 0,
            bulk: 0,
            isolation,
            sources: Hosts::new(queues),
            destinations: Hosts::new(queues),
            shares: (0..=queues as u32).map(share).collect(),
            seed,
        }
    }

    /// Queues that have packets, or have not yet been found empty.
    #[inline]
    pub const fn busy(&self) -> u32 {
        self.sparse + self.bulk
    }
    /// Queues that take turns.
    pub const fn bulk(&self) -> u32 {
        self.bulk
    }
    /// Queues that are served first.
    pub const fn sparse(&self) -> u32 {
        self.sparse
    }
    /// Empty queues that are kept in mind.
    pub const fn decaying(&self) -> usize {
        self.decaying.len()
    }

    /// The queue for `packet`.
    #[inline]
    pub fn place(&mut self, packet: &Packet) -> usize {
        let Some(tag) = self.isolation.tag(packet, self.seed) else { return 0 };
        let direct = tag as usize % self.turns.len();
        if self.tags[direct] == tag && self.turns[direct].set != Set::Idle {
            return direct;
        }
        self.search(tag, packet)
    }

    fn search(&mut self, tag: u32, packet: &Packet) -> usize {
        let queues = self.turns.len();
        if let Some(queue) = ways(tag, queues).find(|queue| self.tags[*queue] == tag) {
            if self.turns[queue].set == Set::Idle {
                self.take_hosts(queue, packet);
            }
            return queue;
        }
        let free = ways(tag, queues).find(|queue| self.turns[*queue].set == Set::Idle);
        // No room: it shares the queue it would have had, which is henceforth called its own.
        let queue = free.unwrap_or(tag as usize % queues);
        self.tags[queue] = tag;
        let is_bulk = self.turns[queue].set == Set::Bulk;
        if is_bulk {
            self.uncount(queue);
        }
        self.take_hosts(queue, packet);
        if is_bulk {
            self.count(queue);
        }
        queue
    }

    fn take_hosts(&mut self, queue: usize, packet: &Packet) {
        if self.isolation.shares_source() {
            self.turns[queue].source = self.sources.place(source_tag(packet, self.seed));
        }
        if self.isolation.shares_destination() {
            let tag = destination_tag(packet, self.seed);
            self.turns[queue].destination = self.destinations.place(tag);
        }
    }

    /// A bulk queue counts for its hosts.
    fn count(&mut self, queue: usize) {
        let Turn { source, destination, .. } = self.turns[queue];
        if self.isolation.shares_source() {
            self.sources.add(source);
        }
        if self.isolation.shares_destination() {
            self.destinations.add(destination);
        }
    }

    fn uncount(&mut self, queue: usize) {
        let Turn { source, destination, .. } = self.turns[queue];
        if self.isolation.shares_source() {
            self.sources.remove(source);
        }
        if self.isolation.shares_destination() {
            self.destinations.remove(destination);
        }
    }

    /// A queue's turn: a part of the quantum for each bulk queue of its busier host.
    #[inline]
    fn share(&self, turn: &Turn) -> i64 {
        let load = self.sources.load(turn.source).max(self.destinations.load(turn.destination));
        i64::from(self.shares[usize::from(load)])
    }

    /// A packet has joined `queue`.
    #[inline]
    pub fn arrival(&mut self, queue: usize) {
        match self.turns[queue].set {
            Set::Sparse | Set::Bulk => return,
            Set::SparseWait => {
                self.sparse -= 1;
                self.become_bulk(queue);
                return;
            }
            Set::Decaying => self.decaying.remove(&mut self.links, queue as u32),
            Set::Idle => {}
        }
        self.new.push(&mut self.links, queue as u32);
        self.sparse += 1;
        self.turns[queue].set = Set::Sparse;
        self.turns[queue].deficit = self.share(&self.turns[queue]);
    }

    fn become_bulk(&mut self, queue: usize) {
        self.turns[queue].set = Set::Bulk;
        self.bulk += 1;
        self.count(queue);
    }

    /// The queue whose turn it is, where `holds` says which have packets. A decaying one is only
    /// asked `first`, or if there are no others.
    #[inline]
    pub fn next(&mut self, first: &mut bool, holds: impl Fn(usize) -> bool) -> Option<usize> {
        if core::mem::take(first) && !self.decaying.is_empty() {
            // It was found empty within its turn, and sent nothing since.
            return self.decaying.first().map(|queue| queue as usize);
        }
        while let Some(queue) = self.new.first() {
            let queue = queue as usize;
            if self.turns[queue].deficit > 0 {
                return Some(queue);
            }
            self.end_first_turn(queue, holds(queue));
        }
        self.next_old().or(self.decaying.first()).map(|queue| queue as usize)
    }

    /// The next queue of those that take turns.
    #[inline]
    fn next_old(&mut self) -> Option<u32> {
        let mut queue = self.old.first()?;
        loop {
            let turn = &self.turns[queue as usize];
            if turn.deficit > 0 {
                self.old.begin_at(queue);
                return Some(queue);
            }
            let share = self.share(turn);
            self.turns[queue as usize].deficit += share;
            queue = self.links.next(queue);
        }
    }

    /// A queue that used up its first turn waits for the others.
    fn end_first_turn(&mut self, queue: usize, holds: bool) {
        if holds {
            self.sparse -= 1;
            self.become_bulk(queue);
        } else {
            self.turns[queue].set = Set::SparseWait;
        }
        let share = self.share(&self.turns[queue]);
        self.turns[queue].deficit += share;
        self.new.remove(&mut self.links, queue as u32);
        self.old.push(&mut self.links, queue as u32);
    }

    /// `queue` sent `bytes`, or is charged with them.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        self.turns[queue].deficit -= bytes as i64 * BYTE;
    }

    /// `queue`, the next one, was found empty; `rests` says whether its law does.
    pub fn emptied(&mut self, queue: usize, rests: bool) {
        let set = self.turns[queue].set;
        match set {
            Set::Bulk => {
                self.bulk -= 1;
                self.uncount(queue);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying | Set::Idle => {}
        }
        let from = match set {
            Set::Sparse => &mut self.new,
            Set::Decaying => &mut self.decaying,
            _ => &mut self.old,
        };
        from.remove(&mut self.links, queue as u32);
        if rests {
            self.turns[queue].set = Set::Idle;
        } else {
            self.turns[queue].set = Set::Decaying;
            self.decaying.push(&mut self.links, queue as u32);
        }
    }
}
