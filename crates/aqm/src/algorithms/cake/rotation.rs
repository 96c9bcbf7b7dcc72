//! The queues of one tin in turn: DRR++ with sparse, bulk and decaying queues, and turns that
//! are smaller where a host has many bulk queues.

use alloc::{vec, vec::Vec};

use packet::Packet;

use super::dither::{Dither, added};
use super::hosts::{Hosts, Isolation, destination_tag, source_tag, ways};
use super::ring::{Node, Ring};

/// How the scheduler treats a flow's queue (sch_cake's `set`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
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
    /// Its share of the turn, valid if no load has changed since it was computed.
    share: u32,
    /// Places of its hosts.
    source: u16,
    destination: u16,
    set: Set,
}

/// A byte of deficit.
pub(super) const BYTE: i64 = 1 << 16;

/// See the module.
pub(super) struct Rotation {
    turns: Vec<Node<Turn>>,
    /// Whose queue it is, or last was.
    tags: Vec<u32>,
    new: Ring,
    /// The queues that take turns, from the `begin`th to the last and on from the first.
    old: Vec<u32>,
    begin: usize,
    decaying: Ring,
    sparse: u32,
    bulk: u32,
    isolation: Isolation,
    sources: Hosts,
    destinations: Hosts,
    /// A turn in 2^-16 bytes, by how many bulk queues the busier host has.
    shares: Vec<u32>,
    /// Whether a load has changed since the turns of the old list were looked up.
    stale: bool,
    seed: u64,
    dither: Option<Dither>,
}

/// A turn of `quantum` bytes in 2^-16 bytes, by how many bulk queues the busier host has.
fn shares(queues: usize, quantum: u32) -> Vec<u32> {
    (0..=queues as u32).map(|load| (quantum << 16) / load.max(1)).collect()
}

impl Rotation {
    /// Idle `queues`, a multiple of [`super::hosts::WAYS`], with turns of `quantum` bytes.
    pub fn new(queues: usize, quantum: u32, isolation: Isolation, seed: u64) -> Self {
        let idle = Turn { deficit: 0, share: 0, source: 0, destination: 0, set: Set::Idle };
        Rotation {
            turns: vec![Node::new(idle); queues],
            tags: vec![0; queues],
            new: Ring::EMPTY,
            old: Vec::with_capacity(queues),
            begin: 0,
            decaying: Ring::EMPTY,
            sparse: 0,
            bulk: 0,
            isolation,
            sources: Hosts::new(queues),
            destinations: Hosts::new(queues),
            shares: shares(queues, quantum),
            stale: false,
            seed,
            dither: None,
        }
    }

    /// Turns are of whole bytes, rounded at random.
    pub fn dithered(self) -> Self {
        let dither = Some(Dither::new(self.seed));
        Rotation { dither, ..self }
    }

    /// Turns of `quantum` bytes from now on.
    pub fn set_quantum(&mut self, quantum: u32) {
        if self.shares[1] != quantum << 16 {
            self.shares = shares(self.turns.len(), quantum);
            self.stale = true;
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

    /// All queues on a list: the law of any other is at rest.
    pub fn listed(&self) -> impl Iterator<Item = usize> {
        let rings = [&self.new, &self.decaying];
        let queues = rings.into_iter().flat_map(|ring| ring.queues(&self.turns));
        queues.chain(self.old.iter().copied()).map(|queue| queue as usize)
    }

    /// The queue for `packet`.
    #[inline]
    pub fn place(&mut self, packet: &Packet) -> usize {
        let Some(tag) = self.isolation.tag(packet, self.seed) else { return 0 };
        let direct = (tag % self.turns.len() as u32) as usize;
        if self.tags[direct] == tag && self.turns[direct].value.set != Set::Idle {
            return direct;
        }
        self.search(tag, packet)
    }

    fn search(&mut self, tag: u32, packet: &Packet) -> usize {
        let queues = self.turns.len();
        if let Some(queue) = ways(tag, queues).find(|queue| self.tags[*queue] == tag) {
            if self.turns[queue].value.set == Set::Idle {
                self.take_hosts(queue, packet);
            }
            return queue;
        }
        let free = ways(tag, queues).find(|queue| self.turns[*queue].value.set == Set::Idle);
        // No room: it shares the queue it would have had, which is henceforth called its own.
        let queue = free.unwrap_or(tag as usize % queues);
        self.tags[queue] = tag;
        let is_bulk = self.turns[queue].value.set == Set::Bulk;
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
            self.turns[queue].value.source = self.sources.place(source_tag(packet, self.seed));
        }
        if self.isolation.shares_destination() {
            let tag = destination_tag(packet, self.seed);
            self.turns[queue].value.destination = self.destinations.place(tag);
        }
    }

    /// A bulk queue counts for its hosts.
    fn count(&mut self, queue: usize) {
        self.stale = true;
        let Turn { source, destination, .. } = self.turns[queue].value;
        if self.isolation.shares_source() {
            self.sources.add(source);
        }
        if self.isolation.shares_destination() {
            self.destinations.add(destination);
        }
    }

    fn uncount(&mut self, queue: usize) {
        self.stale = true;
        let Turn { source, destination, .. } = self.turns[queue].value;
        if self.isolation.shares_source() {
            self.sources.remove(source);
        }
        if self.isolation.shares_destination() {
            self.destinations.remove(destination);
        }
    }

    /// Looks a queue's turn up: a part of the quantum for each bulk queue of its busier host.
    #[inline]
    fn share(&mut self, queue: usize) -> u32 {
        let turn = &mut self.turns[queue].value;
        let load = self.sources.load(turn.source).max(self.destinations.load(turn.destination));
        turn.share = self.shares[usize::from(load)];
        turn.share
    }

    /// A packet has joined `queue`.
    #[inline]
    pub fn arrival(&mut self, queue: usize) {
        match self.turns[queue].value.set {
            Set::Sparse | Set::Bulk => return,
            Set::SparseWait => {
                self.sparse -= 1;
                self.become_bulk(queue);
                return;
            }
            Set::Decaying => self.decaying.remove(&mut self.turns, queue as u32),
            Set::Idle => {}
        }
        self.new.push(&mut self.turns, queue as u32);
        self.sparse += 1;
        self.turns[queue].value.set = Set::Sparse;
        let share = self.share(queue);
        self.turns[queue].value.deficit = added(&mut self.dither, share);
    }

    fn become_bulk(&mut self, queue: usize) {
        self.turns[queue].value.set = Set::Bulk;
        self.bulk += 1;
        self.count(queue);
    }

    /// The next queue to serve, where `holds` says which have packets. A decaying queue is tried
    /// only `first`, or if there are no others.
    #[inline]
    pub fn next(&mut self, first: &mut bool, holds: impl Fn(usize) -> bool) -> Option<usize> {
        if core::mem::take(first) && !self.decaying.is_empty() {
            // It was found empty within its turn, and sent nothing since.
            return self.decaying.first().map(|queue| queue as usize);
        }
        while let Some(queue) = self.new.first() {
            let queue = queue as usize;
            if self.turns[queue].value.deficit > 0 {
                return Some(queue);
            }
            self.end_first_turn(queue, holds(queue));
        }
        self.next_old().or(self.decaying.first()).map(|queue| queue as usize)
    }

    /// The next queue of those that take turns.
    #[inline]
    fn next_old(&mut self) -> Option<u32> {
        let first = *self.old.get(self.begin)?;
        if self.turns[first as usize].value.deficit > 0 {
            return Some(first);
        }
        if core::mem::take(&mut self.stale) {
            for at in 0..self.old.len() {
                self.share(self.old[at] as usize);
            }
        }
        loop {
            if let Some(passed) = pass(&mut self.turns, &mut self.dither, &self.old[self.begin..]) {
                self.begin += passed;
                return self.old.get(self.begin).copied();
            }
            if let Some(passed) = pass(&mut self.turns, &mut self.dither, &self.old[..self.begin]) {
                self.begin = passed;
                return self.old.get(passed).copied();
            }
        }
    }

    /// The first of those that take turns leaves them.
    fn leave_old(&mut self) {
        self.old.remove(self.begin);
        if self.begin == self.old.len() {
            self.begin = 0;
        }
    }

    /// `queue` takes turns, after all others.
    fn join_old(&mut self, queue: u32) {
        self.old.insert(self.begin, queue);
        self.begin += 1;
        if self.begin == self.old.len() {
            self.begin = 0;
        }
    }

    /// A queue that used up its first turn waits for the others.
    fn end_first_turn(&mut self, queue: usize, holds: bool) {
        if holds {
            self.sparse -= 1;
            self.become_bulk(queue);
        } else {
            self.turns[queue].value.set = Set::SparseWait;
        }
        let share = self.share(queue);
        self.turns[queue].value.deficit += added(&mut self.dither, share);
        self.new.remove(&mut self.turns, queue as u32);
        self.join_old(queue as u32);
    }

    /// `queue` sent `bytes`, or is charged with them.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        self.turns[queue].value.deficit -= bytes as i64 * BYTE;
    }

    /// `queue`, the next one, was found empty; `rests` says whether its law does.
    pub fn emptied(&mut self, queue: usize, rests: bool) {
        let set = self.turns[queue].value.set;
        match set {
            Set::Bulk => {
                self.bulk -= 1;
                self.uncount(queue);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying | Set::Idle => {}
        }
        match set {
            Set::Sparse => self.new.remove(&mut self.turns, queue as u32),
            Set::Decaying => self.decaying.remove(&mut self.turns, queue as u32),
            _ => self.leave_old(),
        }
        if rests {
            self.turns[queue].value.set = Set::Idle;
        } else {
            self.turns[queue].value.set = Set::Decaying;
            self.decaying.push(&mut self.turns, queue as u32);
        }
    }
}

/// Gives `queues` their turns up to the first that may send, and says which of them that is.
#[inline]
fn pass(turns: &mut [Node<Turn>], dither: &mut Option<Dither>, queues: &[u32]) -> Option<usize> {
    queues.iter().position(|queue| {
        let turn = &mut turns[*queue as usize].value;
        let may = turn.deficit > 0;
        if !may {
            turn.deficit += added(dither, turn.share);
        }
        may
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Ecn, Header, Instant};

    #[test]
    fn a_flow_that_comes_back_to_its_idle_queue_is_counted_for_its_hosts() {
        // `cake_hash`: a queue with an equal tag keeps its place; its hosts are looked up anew.
        let header = Header { source: 3, destination: 4, ..Header::default() };
        let (ecn, arrived) = (Ecn::NotEct, Instant::ZERO);
        let packet = Packet { id: 0, flow: 7, bytes: 1_500, ecn, arrived, header };
        let mut rotation = Rotation::new(64, 1_514, Isolation::named("triple-isolate"), 1);
        let queue = rotation.place(&packet);
        let hosts = |rotation: &Rotation| {
            let Turn { source, destination, .. } = rotation.turns[queue].value;
            (source, destination)
        };
        let found = hosts(&rotation);
        for (set, looked_up) in [(Set::Idle, true), (Set::Sparse, false)] {
            let turn = &mut rotation.turns[queue].value;
            (turn.set, turn.source, turn.destination) = (set, 60, 61);
            assert_eq!(rotation.place(&packet), queue);
            assert_eq!(hosts(&rotation) == found, looked_up, "{set:?}");
        }
    }
}
