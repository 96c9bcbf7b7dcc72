//! One queue for an embedding program: a discipline with its clock, events and counts.

use std::collections::VecDeque;

use aqm::{Cx, Discipline};
use packet::{Backlog, DropReason, Event, Instant, Packet, Rate, Rng};
use serde_json::Value as Json;

/// Largest size of a packet in bytes.
pub const MAX_PACKET_BYTES: u32 = 1 << 24;
/// Highest rate of a line in bit/s.
pub const MAX_BITS_PER_S: u64 = 1_000_000_000_000;
/// How long a queue may live, in nanoseconds (146 years), so that no sum of times overflows.
const LIFETIME: u64 = 1 << 62;

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The time is before that of an earlier call, or more than 146 years after creation.
    Time,
    /// A size is zero or too large.
    Argument,
}

/// A packet that was dequeued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The caller's number of the packet.
    pub id: u32,
    /// IP length in bytes.
    pub bytes: u32,
    /// The packet's ECN field as it leaves the queue, CE if it was marked.
    pub ecn: packet::Ecn,
    /// Time that the packet spent in the queue, ns.
    pub waited_ns: u64,
}

/// Counts of a queue since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of packets that arrived, and their bytes.
    pub arrived: (u64, u64),
    /// Number of packets that were accepted; some of them may have been dropped later.
    pub queued: u64,
    /// Number of packets that were marked CE.
    pub marked: u64,
    /// Number of packets that were dropped, by reason, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Bytes of all dropped packets.
    pub dropped_bytes: u64,
    /// Number of packets that were dequeued, and their bytes.
    pub sent: (u64, u64),
}

/// Index of a reason in [`DropReason::ALL`].
pub fn cause(why: DropReason) -> usize {
    DropReason::ALL.iter().position(|one| *one == why).expect("DropReason::ALL has every cause")
}

/// A queue discipline with its random stream. A call with a time first runs the discipline's
/// periodic updates that are due.
pub struct Queue {
    discipline: Box<dyn Discipline>,
    rng: Rng,
    /// The caller's time of the queue's creation, ns; the discipline's time zero.
    start: u64,
    /// Time of the latest call, since the creation.
    now: Instant,
    /// Whether the last dequeue returned no packet. Then the discipline's dequeue is called again
    /// only if packets wait.
    resting: bool,
    events: VecDeque<Event>,
    counts: Counts,
}

impl Queue {
    /// A queue with the discipline called `name`, for a line of `bits_per_s`. `parameters` is a
    /// JSON object, as a scenario has it. Random numbers are from the stream "draws" of `seed`, as
    /// in a trial with that seed. `now_ns` is the caller's present time.
    ///
    /// # Errors
    /// A sentence on what is wrong, and the remedy.
    pub fn new(
        name: &str,
        parameters: &str,
        bits_per_s: u64,
        seed: u64,
        now_ns: u64,
    ) -> Result<Self, String> {
        if !(1..=MAX_BITS_PER_S).contains(&bits_per_s) {
            return Err(format!(
                "line rate: {bits_per_s} is out of range: it must lie between 1 and \
                 {MAX_BITS_PER_S} bit/s"
            ));
        }
        let parameters: Json = serde_json::from_str(parameters).map_err(|e| {
            format!("parameters: not JSON, write for example {{\"limit\": 60}}: {e}")
        })?;
        let rate = Rate::from_bits_per_s(bits_per_s);
        let discipline = testvec::build(name, &parameters, rate)?;
        Ok(Queue::around(discipline, Rng::named(seed, "draws"), now_ns))
    }

    /// A queue with this discipline, whose random numbers are from `rng`.
    pub fn around(discipline: Box<dyn Discipline>, rng: Rng, now_ns: u64) -> Self {
        Queue {
            discipline,
            rng,
            start: now_ns,
            now: Instant::ZERO,
            resting: true,
            events: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Runs all periodic updates that are due by `now_ns`.
    ///
    /// # Errors
    /// If the time is out of range.
    pub fn tick(&mut self, now_ns: u64) -> Result<(), Misuse> {
        let now = now_ns.checked_sub(self.start).map(Instant::from_nanos).ok_or(Misuse::Time)?;
        if now < self.now || now.nanos() > LIFETIME {
            return Err(Misuse::Time);
        }
        while let Some(due) = self.discipline.next_tick().filter(|due| *due <= now) {
            self.now = due.max(self.now);
            self.call(|discipline, cx| discipline.on_tick(cx));
        }
        self.now = now;
        Ok(())
    }

    /// Offers a packet to the discipline. Sets the packet's `arrived`.
    ///
    /// # Errors
    /// If the time or the packet's size is out of range.
    pub fn enqueue(&mut self, mut packet: Packet, now_ns: u64) -> Result<(), Misuse> {
        if !(1..=MAX_PACKET_BYTES).contains(&packet.bytes) {
            return Err(Misuse::Argument);
        }
        self.tick(now_ns)?;
        packet.arrived = self.now;
        self.counts.arrived.0 += 1;
        self.counts.arrived.1 += u64::from(packet.bytes);
        self.call(|discipline, cx| discipline.enqueue(packet, cx));
        Ok(())
    }

    /// Dequeues the next packet to send; call it when the line is free. `None`: the line is idle.
    ///
    /// # Errors
    /// If the time is out of range.
    pub fn dequeue(&mut self, now_ns: u64) -> Result<Option<Sent>, Misuse> {
        self.tick(now_ns)?;
        if self.resting && self.backlog().packets == 0 {
            return Ok(None);
        }
        let sent = self.call(|discipline, cx| discipline.dequeue(cx));
        self.resting = sent.is_none();
        Ok(sent.map(|packet| {
            self.counts.sent.0 += 1;
            self.counts.sent.1 += u64::from(packet.bytes);
            let waited_ns = self.now.since(packet.arrived).nanos();
            Sent { id: packet.id, bytes: packet.bytes, ecn: packet.ecn, waited_ns }
        }))
    }

    fn call<T>(&mut self, ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T) -> T {
        let (events, counts) = (&mut self.events, &mut self.counts);
        let mut out = |event: Event| {
            counts.note(&event);
            events.push_back(event);
        };
        ask(&mut *self.discipline, &mut Cx { now: self.now, rng: &mut self.rng, out: &mut out })
    }

    /// Time of the next periodic update, in the caller's time (ns).
    pub fn next_tick(&self) -> Option<u64> {
        self.discipline.next_tick().map(|at| at.nanos().saturating_add(self.start))
    }
    /// Takes the oldest event that has not been taken.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// Number of events that have not been taken.
    pub fn events(&self) -> usize {
        self.events.len()
    }
    /// Packets and bytes that wait.
    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }
    /// Counts of the queue since its creation.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
    /// Names and values of the discipline's gauges.
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        let mut gauges = Vec::new();
        self.discipline.gauges(&mut |name, value| gauges.push((name, value)));
        gauges
    }
}

impl Counts {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Queued { .. } => self.queued += 1,
            Event::Marked { .. } => self.marked += 1,
            Event::Dropped { packet, why } => {
                self.dropped[cause(*why)] += 1;
                self.dropped_bytes += u64::from(packet.bytes);
            }
        }
    }
}
