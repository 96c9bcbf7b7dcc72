//! One queue per flow, served by deficit round robin from one shared buffer.
//!
//! Deficit round robin: M. Shreedhar, G. Varghese, *Efficient Fair Queuing Using Deficit
//! Round-Robin*, SIGCOMM 1995. Choice of the victim: B. Suter, T. V. Lakshman, D. Stiliadis,
//! A. Choudhury, INFOCOM 1998.

use alloc::vec::Vec;

use packet::{Backlog, DropReason, Event, Packet, Rng};

use super::flows::hash;
use super::pool::{Pool, Queue};
use crate::flow_table::FlowTable;
use crate::{Cx, Discipline};

const NONE: u32 = u32::MAX;

/// Which packet is dropped when the buffer is over-full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// A packet of the longest queue (LQD).
    Longest,
    /// A packet of the queue that a register of one entry holds to be the longest (ALQD).
    Registered,
    /// A packet of a queue above its equal share, chosen uniformly (RND).
    Random,
    Arrival,
}

/// Assignment of flows to queues.
pub(crate) enum Flows {
    Each(FlowTable<u32>),
    Hashed { seed: u64 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// Size of the buffer, in packets or bytes.
    pub limit: u64,
    /// Whether the buffer is measured in bytes, not packets.
    pub in_bytes: bool,
    /// Choice of the packet to drop when the buffer is over-full.
    pub victim: Victim,
    /// Whether the victim queue drops from its head, not from its tail.
    pub front: bool,
}

struct Flow {
    id: u64,
    queue: Queue,
    deficit: u64,
    /// Whether the queue has got its quantum for the current turn.
    credited: bool,
    next: u32,
    prev: u32,
}

impl Flow {
    const fn new() -> Self {
        let queue = Queue::new();
        Flow { id: 0, queue, deficit: 0, credited: false, next: NONE, prev: NONE }
    }
}

/// Deficit round robin over queues that share a buffer, as the module describes.
pub(crate) struct Rounds {
    pool: Pool,
    which: Flows,
    flows: Vec<Flow>,
    /// Indices of the entries of `flows` that no flow uses.
    vacant: Vec<u32>,
    /// Ends of the list of flows with packets, which is in the order of service.
    first: u32,
    last: u32,
    active: u32,
    quantum: u64,
    buffer: Buffer,
    /// ALQD's register: the index of the longest queue, and its length when it was last recorded.
    register: (u32, u64),
    total: Backlog,
}

impl Rounds {
    /// A discipline in which every flow has a queue of its own.
    pub fn per_flow(quantum: u64, buffer: Buffer) -> Self {
        Rounds::new(Flows::Each(FlowTable::growing()), Vec::new(), quantum, buffer)
    }

    /// A discipline in which flows share `queues` queues by a hash.
    pub fn hashed(queues: usize, seed: u64, quantum: u64, buffer: Buffer) -> Self {
        let flows = (0..queues).map(|_| Flow::new()).collect();
        Rounds::new(Flows::Hashed { seed }, flows, quantum, buffer)
    }

    fn new(which: Flows, flows: Vec<Flow>, quantum: u64, buffer: Buffer) -> Self {
        Rounds {
            pool: Pool::default(),
            which,
            flows,
            vacant: Vec::new(),
            first: NONE,
            last: NONE,
            active: 0,
            quantum,
            buffer,
            register: (NONE, 0),
            total: Backlog::default(),
        }
    }

    /// Index in `flows` of the queue of `flow`, which gets one if it has none.
    fn entry(&mut self, flow: u64) -> u32 {
        match &mut self.which {
            Flows::Hashed { seed } => (hash(flow, *seed) % self.flows.len() as u64) as u32,
            Flows::Each(index) => index.get(flow).unwrap_or_else(|| {
                let entry = self.vacant.pop().unwrap_or_else(|| {
                    self.flows.push(Flow::new());
                    self.flows.len() as u32 - 1
                });
                self.flows[entry as usize].id = flow;
                index.insert(flow, entry);
                entry
            }),
        }
    }

    fn flow(&mut self, entry: u32) -> &mut Flow {
        &mut self.flows[entry as usize]
    }

    fn append(&mut self, entry: u32) {
        let last = self.last;
        let flow = self.flow(entry);
        (flow.prev, flow.next) = (last, NONE);
        match last {
            NONE => self.first = entry,
            last => self.flow(last).next = entry,
        }
        self.last = entry;
        self.active += 1;
    }

    fn unlink(&mut self, entry: u32) {
        let flow = self.flow(entry);
        let (prev, next) = (flow.prev, flow.next);
        flow.credited = false;
        match prev {
            NONE => self.first = next,
            prev => self.flow(prev).next = next,
        }
        match next {
            NONE => self.last = prev,
            next => self.flow(next).prev = prev,
        }
        self.active -= 1;
    }

    /// Takes a flow without packets from the list.
    fn leave(&mut self, entry: u32) {
        self.unlink(entry);
        let flow = self.flow(entry);
        flow.deficit = 0;
        let id = flow.id;
        if let Flows::Each(index) = &mut self.which {
            index.remove(id);
            self.vacant.push(entry);
        }
    }

    fn length(&self, entry: u32) -> u64 {
        self.measure(self.flows[entry as usize].queue.backlog())
    }

    fn measure(&self, backlog: Backlog) -> u64 {
        if self.buffer.in_bytes { backlog.bytes } else { u64::from(backlog.packets) }
    }

    /// Updates ALQD's register after a change of the queue of `entry`.
    fn note(&mut self, entry: u32) {
        if self.buffer.victim != Victim::Registered {
            return;
        }
        let length = self.length(entry);
        if entry == self.register.0 {
            self.register = if length == 0 { (NONE, 0) } else { (entry, length) };
        } else if length > self.register.1 {
            self.register = (entry, length);
        }
    }

    fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        let present = |entry: u32| (entry != NONE).then_some(entry);
        core::iter::successors(present(self.first), move |entry| {
            present(self.flows[*entry as usize].next)
        })
    }

    /// The longest queue; among equals the first to be served.
    fn longest(&self) -> u32 {
        let mut longest = (NONE, 0);
        for entry in self.in_order() {
            let length = self.length(entry);
            if length > longest.1 {
                longest = (entry, length);
            }
        }
        longest.0
    }

    fn above_share(&self, entry: u32) -> bool {
        self.length(entry) * u64::from(self.active) > self.buffer.limit
    }

    fn random(&self, rng: &mut Rng) -> u32 {
        let eligible = self.in_order().filter(|entry| self.above_share(*entry)).count();
        let nth = rng.below(eligible as u64) as usize;
        self.in_order().filter(|entry| self.above_share(*entry)).nth(nth).unwrap_or(self.first)
    }

    fn drop_one(&mut self, arrival: u32, cx: &mut Cx) {
        let (victim, front) = match self.buffer.victim {
            Victim::Arrival => (arrival, false),
            Victim::Longest => (self.longest(), self.buffer.front),
            Victim::Random => (self.random(cx.rng), self.buffer.front),
            Victim::Registered if self.register.0 == NONE => (self.longest(), self.buffer.front),
            Victim::Registered => (self.register.0, self.buffer.front),
        };
        let queue = &mut self.flows[victim as usize].queue;
        let gone = if front { self.pool.pop(queue) } else { self.pool.pop_tail(queue) };
        let Some(packet) = gone else { return };
        self.removed(victim, &packet);
        if self.flow(victim).queue.is_empty() {
            self.leave(victim);
        }
        (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
    }

    fn removed(&mut self, entry: u32, packet: &Packet) {
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.bytes);
        self.note(entry);
    }

    fn end_turn(&mut self, entry: u32) {
        self.unlink(entry);
        self.append(entry);
    }

    /// Whether the head of the flow's queue is within its deficit.
    fn affords(&self, entry: u32) -> bool {
        let flow = &self.flows[entry as usize];
        self.pool.head(&flow.queue).is_some_and(|head| u64::from(head.bytes) <= flow.deficit)
    }
}

impl Discipline for Rounds {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let entry = self.entry(packet.flow);
        (cx.out)(Event::Queued { id: packet.id });
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        let flow = &mut self.flows[entry as usize];
        let new = flow.queue.is_empty();
        self.pool.push(&mut flow.queue, packet);
        if new {
            self.append(entry);
        }
        self.note(entry);
        while self.measure(self.total) > self.buffer.limit {
            self.drop_one(entry, cx);
        }
    }

    fn dequeue(&mut self, _cx: &mut Cx) -> Option<Packet> {
        while self.first != NONE {
            let (entry, quantum) = (self.first, self.quantum);
            let flow = self.flow(entry);
            if !flow.credited {
                flow.credited = true;
                flow.deficit += quantum;
            }
            if !self.affords(entry) {
                self.end_turn(entry);
                continue;
            }
            let flow = &mut self.flows[entry as usize];
            let packet = self.pool.pop(&mut flow.queue)?;
            flow.deficit -= u64::from(packet.bytes);
            self.removed(entry, &packet);
            if self.flow(entry).queue.is_empty() {
                self.leave(entry);
            } else if !self.affords(entry) {
                self.end_turn(entry);
            }
            return Some(packet);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("active_flows", f64::from(self.active));
    }
}
