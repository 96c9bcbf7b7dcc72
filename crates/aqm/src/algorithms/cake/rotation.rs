//! The order in which a tin's queues are served: DRR++ with sparse, bulk and decaying queues, and
//! turns that are smaller where a host has many bulk queues.

use alloc::{vec, vec::Vec};

use packet::Packet;

use super::dither::{Dither, added};
use super::hosts::{Hosts, Isolation, destination_tag, source_tag, ways};
use super::ring::{Node, Ring};

/// How the scheduler treats a flow's queue (sch_cake's `set`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Idle,
    /// The queue has not used up its first turn.
    Sparse,
    /// The queue used up its first turn and is empty: it takes turns, but still counts as sparse.
    SparseWait,
    /// The queue takes turns with the other bulk queues.
    Bulk,
    /// The queue is empty, and its AQM state has yet to come to rest.
    Decaying,
}

/// The scheduler's state of a queue.
#[derive(Clone, Debug)]
struct Turn {
    /// Bytes that the queue may still send, in units of 2^-16 byte.
    deficit: i64,
    /// Size of a turn in 2^-16 bytes, valid while no host's number of bulk queues changes.
    share: u32,
    /// Slot of the queue's source host in `sources`.
    source: u16,
    /// Slot of the queue's destination host in `destinations`.
    destination: u16,
    set: Set,
}

/// One byte in units of a deficit.
pub(super) const BYTE: i64 = 1 << 16;

/// The scheduler of a tin's queues.
pub(super) struct Rotation {
    turns: Vec<Node<Turn>>,
    /// Hash tag of the flow or host that each queue belongs to, or last did.
    tags: Vec<u32>,
    new: Ring,
    /// The queues that take turns, in the order of service: from index `begin` to the end, then
    /// from the start.
    old: Vec<u32>,
    begin: usize,
    decaying: Ring,
    sparse: u32,
    bulk: u32,
    isolation: Isolation,
    sources: Hosts,
    destinations: Hosts,
    /// Size of a turn in 2^-16 bytes, by the number of bulk queues of the busier host.
    shares: Vec<u32>,
    /// Whether a host's number of bulk queues has changed since the turns of `old` were computed.
    stale: bool,
    seed: u64,
    dither: Option<Dither>,
}

/// Sizes of a turn of `quantum` bytes, in 2^-16 bytes, by the number of bulk queues of the busier
/// host.
fn shares(queues: usize, quantum: u32) -> Vec<u32> {
    (0..=queues as u32).map(|load| (quantum << 16) / load.max(1)).collect()
}

impl Rotation {
    /// A scheduler of `queues` idle queues, a multiple of [`super::hosts::WAYS`], with turns of
    /// `quantum` bytes.
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

    /// This scheduler with turns of whole bytes, rounded at random.
    pub fn dithered(self) -> Self {
        let dither = Some(Dither::new(self.seed));
        Rotation { dither, ..self }
    }

    /// Changes the turns to `quantum` bytes.
    pub fn set_quantum(&mut self, quantum: u32) {
        if self.shares[1] != quantum << 16 {
            self.shares = shares(self.turns.len(), quantum);
            self.stale = true;
        }
    }

    /// Number of queues that have packets, or have not yet been found empty.
    #[inline]
    pub const fn busy(&self) -> u32 {
        self.sparse + self.bulk
    }
    /// Number of queues that take turns.
    pub const fn bulk(&self) -> u32 {
        self.bulk
    }
    /// Number of queues that are served before those that take turns.
    pub const fn sparse(&self) -> u32 {
        self.sparse
    }
    /// Number of empty queues whose AQM state has yet to come to rest.
    pub const fn decaying(&self) -> usize {
        self.decaying.len()
    }

    /// All queues on a list; the AQM state of any other queue is at rest.
    pub fn listed(&self) -> impl Iterator<Item = usize> {
        let rings = [&self.new, &self.decaying];
        let queues = rings.into_iter().flat_map(|ring| ring.queues(&self.turns));
        queues.chain(self.old.iter().copied()).map(|queue| queue as usize)
    }

    /// Index of the queue for `packet`.
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
        // No queue is free: the packet shares the queue its tag hashes to, which takes over the
        // tag.
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

    /// Counts a bulk queue for its hosts.
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

    /// Computes a queue's turn: the quantum divided by the number of bulk queues of its busier
    /// host.
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

    /// The next queue to serve; `holds` returns whether a queue has packets. A decaying queue is
    /// tried only in the `first` call of a dequeue, or if there are no others.
    #[inline]
    pub fn next(&mut self, first: &mut bool, holds: impl Fn(usize) -> bool) -> Option<usize> {
        if core::mem::take(first) && !self.decaying.is_empty() {
            // This queue was found empty within its turn, and has sent nothing since.
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

    /// The next queue among those that take turns.
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

    /// Takes the first of the queues that take turns from their list.
    fn leave_old(&mut self) {
        self.old.remove(self.begin);
        if self.begin == self.old.len() {
            self.begin = 0;
        }
    }

    /// Adds `queue` to those that take turns, behind all others.
    fn join_old(&mut self, queue: u32) {
        self.old.insert(self.begin, queue);
        self.begin += 1;
        if self.begin == self.old.len() {
            self.begin = 0;
        }
    }

    /// Moves a queue that used up its first turn to those that take turns.
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

    /// Charges `queue` for `bytes` that it sent or that were dropped.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        self.turns[queue].value.deficit -= bytes as i64 * BYTE;
    }

    /// Records that `queue`, the next to serve, is empty; `rests` is whether its AQM state is at
    /// rest.
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

/// Gives `queues` their turns up to the first that may send. Returns the index of that one.
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
        // `cake_hash`: a queue with an equal tag keeps its slot. If it is idle, its hosts are
        // looked up.
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
