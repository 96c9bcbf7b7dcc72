//! SFQ as the kernel has it (`net/sched/sch_sfq.c` of Linux 6.12 and 7.3).
//!
//! Differences from profile `paper`: a queue may overdraw its turn by one packet, so that a short
//! packet takes the next one along; of equally long queues, the one that reached its length last
//! drops a packet; the number of queues that hold packets, and of packets in each, is limited.
//! With `perturb` the hash's seed is drawn anew now and then, and the packets that wait move to the
//! queues of the new hash.

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

/// Parameters of the kernel's SFQ, in packets and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub limit: u32,
    /// Limit of one queue in packets (`depth`).
    pub depth: u32,
    /// Largest number of queues that hold packets (`flows`), no more than `limit`.
    pub flows: u32,
    pub quantum: i64,
    /// Whether the longest queue loses its first packet, and not its last.
    pub front: bool,
    pub seed: u64,
    /// Time between two draws of the hash's seed; none if it never changes.
    pub perturb: Option<Duration>,
    /// RED's parameters for every queue, if there is one, and whether it may mark.
    pub early: Option<(Law, bool)>,
}

/// A queue's links in a doubly linked list: indices of queues.
#[derive(Clone, Copy, Debug)]
struct Links {
    next: u32,
    prev: u32,
}

const UNLINKED: Links = Links { next: NONE, prev: NONE };

struct Slot {
    queue: Queue,
    /// Bytes that the queue may still send in this turn; below zero, those overdrawn (`allot`).
    allot: i64,
    /// Index of the queue whose turn is next, in a circle.
    next: u32,
    /// Links to the other queues of equal length (`dep`).
    peers: Links,
    /// The kernel's slot number while the queue holds packets; a rehash visits queues in its order.
    place: u32,
}

/// The kernel's SFQ, as the module's documentation describes it.
pub(super) struct Sfq {
    settings: Settings,
    bypass: Bypass,
    pool: Pool,
    slots: Vec<Slot>,
    /// Index of the last queue in the circle of turns; `NONE` if nothing waits.
    tail: u32,
    active: u32,
    /// For each length in packets the queue that reached it last, and the greatest length of all
    /// (`cur_depth`).
    of_length: Vec<u32>,
    longest: u32,
    total: Backlog,
    early: Option<Early>,
    /// Free slot numbers of the kernel, the next one to use last (`dep[0]`), and when the hash's
    /// seed is drawn anew. Both are unused without `perturb`.
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

    /// `sfq_link`: enters queue `at` in the list of its new length.
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

    /// `sfq_unlink`: removes queue `at` from the list of `length`, before its length changes.
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
        // No other queue is as long. If this one grows, `link` raises the greatest length again.
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

    /// Drops the first packet of queue `at` and appends `packet`. The length stays, and with it
    /// the queue's position among equally long ones.
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

    /// Puts queue `at`, which has just got its first packet, at the end of the circle.
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

    /// Removes the first queue of the circle, which is empty.
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

    /// Frees the kernel's slot number of an empty queue: it is the next to be used.
    fn freed(&mut self, at: u32) {
        if self.settings.perturb.is_some() {
            self.free.push(self.slots[at as usize].place);
        }
    }

    /// `sfq_drop`: the longest queue loses a packet. It has two or more, since at most `limit`
    /// queues hold packets.
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

    /// `sfq_enqueue` before the packet is queued. Returns why its queue must lose a packet, if it
    /// must.
    fn congested(&mut self, at: u32, packet: &mut Packet, cx: &mut Cx) -> Option<DropReason> {
        let Sfq { settings, pool, slots, early, .. } = self;
        let queue = &slots[at as usize].queue;
        let early = early.as_mut().and_then(|early| {
            let queue = (&mut *pool, queue, settings.front);
            early.judge(at, packet, queue, cx.rng, cx.out)
        });
        early.or((queue.backlog().packets >= settings.depth).then_some(DropReason::Overflow))
    }

    /// `sfq_rehash`: takes all packets out, in the order of slot numbers, and puts each into the
    /// queue of its flow by the new hash.
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
