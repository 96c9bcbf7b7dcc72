//! SFQ as the kernel has it (`net/sched/sch_sfq.c` of Linux 6.12 and 7.3).
//!
//! How it differs: a queue may overdraw its turn by one packet, so that a short packet takes the
//! next one along; of equally long queues, the one that reached its length last drops a packet; the
//! number of queues, and of places in each, is fixed. With `perturb` the hash is drawn anew now and then, and what
//! waits goes to the queues that it now belongs to.

use alloc::vec;
use alloc::vec::Vec;

use packet::{Backlog, DropReason, Duration, Event, Instant, Packet};

use super::early::Early;
use crate::algorithms::family::Law;
use crate::shells::bypass::Bypass;
use crate::shells::flows::hash;
use crate::shells::pool::{Pool, Queue};
use crate::{Cx, Discipline};

const NONE: u32 = u32::MAX;

/// The kernel's numbers, packets and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub limit: u32,
    /// Limit of one queue in packets (`depth`).
    pub depth: u32,
    /// Queues with packets (`flows`), no more than `limit`.
    pub flows: u32,
    pub quantum: i64,
    /// The longest queue loses its first packet.
    pub front: bool,
    pub seed: u64,
    /// How often the hash is drawn anew, if it is.
    pub perturb: Option<Duration>,
    /// RED in every queue, and whether it marks.
    pub early: Option<(Law, bool)>,
}

/// A queue's links.
#[derive(Clone, Copy, Debug)]
struct Links {
    next: u32,
    prev: u32,
}

const UNLINKED: Links = Links { next: NONE, prev: NONE };

struct Slot {
    queue: Queue,
    /// Bytes that it may still send in this turn; below zero what it overdrew (`allot`).
    allot: i64,
    /// The next one to have its turn, in a circle.
    next: u32,
    /// Links to the other queues of equal length (`dep`).
    peers: Links,
    /// The kernel's place for it while it holds packets, by which a new hash goes through them.
    place: u32,
}

/// See the module.
pub(super) struct Sfq {
    settings: Settings,
    bypass: Bypass,
    pool: Pool,
    slots: Vec<Slot>,
    /// The last one of the circle of turns; none where all is empty.
    tail: u32,
    active: u32,
    /// For each length the queue that came to it last, and the greatest length (`cur_depth`).
    of_length: Vec<u32>,
    longest: u32,
    total: Backlog,
    early: Option<Early>,
    /// Places of the kernel that are free, the next one last (`dep[0]`); and when the hash is drawn anew. Neither
    /// without `perturb`.
    free: Vec<u32>,
    redraw_at: Option<Instant>,
}

impl Sfq {
    pub fn new(queues: usize, settings: Settings, bypass: Bypass) -> Self {
        let slot =
            || Slot { queue: Queue::new(), allot: 0, next: NONE, peers: UNLINKED, place: NONE };
        let places = if settings.perturb.is_some() { settings.flows } else { 0 };
        Sfq {
            settings,
            bypass,
            early: settings.early.map(|(law, ecn)| Early::new(law, ecn, queues)),
            free: (0..places).collect(),
            redraw_at: settings.perturb.map(|span| Instant::ZERO + span),
            pool: Pool::default(),
            slots: (0..queues).map(|_| slot()).collect(),
            tail: NONE,
            active: 0,
            of_length: vec![NONE; settings.depth.min(settings.limit + 1) as usize + 1],
            longest: 0,
            total: Backlog::default(),
        }
    }

    fn slot(&mut self, at: u32) -> &mut Slot {
        &mut self.slots[at as usize]
    }

    fn length(&self, at: u32) -> u32 {
        self.slots[at as usize].queue.backlog().packets
    }

    /// `sfq_link`: the queue has come to its length.
    fn link(&mut self, at: u32) {
        let length = self.length(at) as usize;
        if length == 0 {
            return;
        }
        let next = core::mem::replace(&mut self.of_length[length], at);
        self.slot(at).peers = Links { next, prev: NONE };
        if next != NONE {
            self.slot(next).peers.prev = at;
        }
        self.longest = self.longest.max(length as u32);
    }

    /// `sfq_unlink`: it is to leave this length.
    fn unlink(&mut self, at: u32, length: u32) {
        if length == 0 {
            return;
        }
        let Links { next, prev } = self.slots[at as usize].peers;
        match prev {
            NONE => self.of_length[length as usize] = next,
            prev => self.slot(prev).peers.next = next,
        }
        if next != NONE {
            self.slot(next).peers.prev = prev;
        }
        // Nothing else is so long: what this one comes to is.
        if self.longest == length && self.of_length[length as usize] == NONE {
            self.longest -= 1;
        }
    }

    fn push(&mut self, at: u32, packet: Packet) {
        let length = self.length(at);
        self.unlink(at, length);
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        self.pool.push(&mut self.slots[at as usize].queue, packet);
        self.link(at);
    }

    fn take(&mut self, at: u32, front: bool) -> Option<Packet> {
        let length = self.length(at);
        self.unlink(at, length);
        let queue = &mut self.slots[at as usize].queue;
        let taken = if front { self.pool.pop(queue) } else { self.pool.pop_tail(queue) };
        self.link(at);
        let packet = taken?;
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// A queue loses its first packet for another; it has not come to its length anew.
    fn replace_first(&mut self, at: u32, packet: Packet, why: DropReason, cx: &mut Cx) {
        let queue = &mut self.slots[at as usize].queue;
        let gone = self.pool.pop(queue);
        self.total.bytes += u64::from(packet.bytes);
        self.pool.push(queue, packet);
        if let Some(packet) = gone {
            self.total.bytes -= u64::from(packet.bytes);
            (cx.out)(Event::Dropped { packet, why });
        }
    }

    /// A queue with its first packet goes to the end of the circle.
    fn join(&mut self, at: u32) {
        let first = match self.tail {
            NONE => at,
            tail => core::mem::replace(&mut self.slot(tail).next, at),
        };
        let quantum = self.settings.quantum;
        let slot = self.slot(at);
        (slot.next, slot.allot) = (first, quantum);
        if let Some(place) = self.free.pop() {
            self.slot(at).place = place;
        }
        self.tail = at;
        self.active += 1;
    }

    /// The first of the circle is empty.
    fn leave(&mut self, first: u32) {
        let next = self.slots[first as usize].next;
        if next == first {
            self.tail = NONE;
        } else {
            let tail = self.tail;
            self.slot(tail).next = next;
        }
        self.freed(first);
        self.active -= 1;
    }

    /// The place of an empty queue is the next to be used.
    fn freed(&mut self, at: u32) {
        if self.settings.perturb.is_some() {
            self.free.push(self.slots[at as usize].place);
        }
    }

    /// `sfq_drop`: the longest queue loses a packet. It has two or more, since no more queues than
    /// `limit` have any.
    fn drop_one(&mut self, cx: &mut Cx) {
        let victim = self.of_length[self.longest as usize];
        if let Some(packet) = self.take(victim, self.settings.front) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
        }
    }
}

impl Sfq {
    fn place_of(&self, flow: u64) -> u32 {
        (hash(flow, self.settings.seed) % self.slots.len() as u64) as u32
    }

    /// `sfq_enqueue` before the packet is taken in: why its queue is to lose a packet, if it is.
    fn congested(&mut self, at: u32, packet: &mut Packet, cx: &mut Cx) -> Option<DropReason> {
        let Sfq { settings, pool, slots, early, .. } = self;
        let queue = &slots[at as usize].queue;
        let early = early.as_mut().and_then(|early| {
            let queue = (&mut *pool, queue, settings.front);
            early.judge(at, packet, queue, cx.rng, cx.out)
        });
        early.or((queue.backlog().packets >= settings.depth).then_some(DropReason::Overflow))
    }

    /// `sfq_rehash`: takes all out, by places, and each goes to the queue of its flow by the hash of now.
    fn rehash(&mut self, cx: &mut Cx) {
        let mut active: Vec<u32> = (0..self.slots.len() as u32).collect();
        active.retain(|&at| self.length(at) > 0);
        active.sort_by_key(|&at| self.slots[at as usize].place);
        let mut waiting = Vec::with_capacity(self.total.packets as usize);
        for at in active {
            while let Some(packet) = self.take(at, true) {
                waiting.push(packet);
            }
            self.freed(at);
        }
        (self.tail, self.active) = (NONE, 0);
        for packet in waiting {
            let at = self.place_of(packet.flow);
            let length = self.length(at);
            if length == 0 && self.active >= self.settings.flows || length >= self.settings.depth {
                (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
                continue;
            }
            let before = self.slots[at as usize].queue.backlog().bytes;
            self.push(at, packet);
            if let Some(early) = &mut self.early {
                if length == 0 {
                    early.begin(at);
                }
                early.sample(at, before);
            }
            if length == 0 {
                self.join(at);
            }
        }
    }
}

impl Discipline for Sfq {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let Some(mut packet) = self.bypass.admit(packet, self.total, cx) else { return };
        let at = self.place_of(packet.flow);
        let length = self.length(at);
        if length == 0 && self.active >= self.settings.flows {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
            return;
        }
        let congested = match (length, &mut self.early) {
            (0, None) => None,
            (0, Some(early)) => {
                early.begin(at);
                None
            }
            _ => self.congested(at, &mut packet, cx),
        };
        match congested {
            Some(why) if !self.settings.front => (cx.out)(Event::Dropped { packet, why }),
            Some(why) => {
                (cx.out)(Event::Queued { id: packet.id });
                self.replace_first(at, packet, why, cx);
            }
            None => {
                (cx.out)(Event::Queued { id: packet.id });
                self.push(at, packet);
                if length == 0 {
                    self.join(at);
                }
                if self.bypass.backlog(self.total).packets > self.settings.limit {
                    self.drop_one(cx);
                }
            }
        }
    }

    fn dequeue(&mut self, _cx: &mut Cx) -> Option<Packet> {
        if let Some(packet) = self.bypass.take() {
            return Some(packet);
        }
        if self.tail == NONE {
            return None;
        }
        let mut first = self.slots[self.tail as usize].next;
        while self.slots[first as usize].allot <= 0 {
            let quantum = self.settings.quantum;
            self.slot(first).allot += quantum;
            self.tail = first;
            first = self.slots[first as usize].next;
        }
        let packet = self.take(first, true)?;
        if self.length(first) == 0 {
            self.leave(first);
        } else {
            self.slot(first).allot -= i64::from(packet.bytes);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.bypass.backlog(self.total)
    }
    fn next_tick(&self) -> Option<Instant> {
        self.redraw_at
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        let Some(span) = self.settings.perturb else { return };
        self.settings.seed = cx.rng.next_u64() >> 11;
        self.redraw_at = Some(cx.now + span);
        self.rehash(cx);
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("active_flows", f64::from(self.active));
    }
}
