//! One queue as an embedding program uses it: its clock, its events, its counts.

use std::collections::VecDeque;

use aqm::{Cx, Discipline};
use packet::{Backlog, DropReason, Event, Instant, Packet, Rate, Rng};
use serde_json::Value as Json;

/// Largest packet in bytes.
pub const MAX_PACKET_BYTES: u32 = 1 << 24;
/// Fastest line in bit/s.
pub const MAX_BITS_PER_S: u64 = 1_000_000_000_000;
/// How long a queue may live, in nanoseconds (146 years), so that no sum of times overflows.
const LIFETIME: u64 = 1 << 62;

/// What a call cannot be carried out with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The time lies before that of an earlier call, or more than 146 years after the first.
    Time,
    /// A size is zero or too large.
    Argument,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The packet, with the ECN field with which it leaves.
    pub id: u32,
    /// Its IP length.
    pub bytes: u32,
    /// The ECN field with which it leaves.
    pub ecn: packet::Ecn,
    /// Nanoseconds in the queue.
    pub waited_ns: u64,
}

/// What happened in a queue so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that arrived, and their bytes.
    pub arrived: (u64, u64),
    /// Packets that were accepted, some of them to be dropped later.
    pub queued: u64,
    /// Packets that were marked "congestion experienced".
    pub marked: u64,
    /// Packets that were dropped, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Packets that left, and their bytes.
    pub sent: (u64, u64),
}

/// Position of a cause in [`DropReason::ALL`].
pub fn cause(why: DropReason) -> usize {
    DropReason::ALL.iter().position(|one| *one == why).expect("DropReason::ALL has every cause")
}

/// A queue discipline with its random stream. Runs the discipline's periodic updates itself,
/// before whatever happens at the same time.
pub struct Queue {
    discipline: Box<dyn Discipline>,
    rng: Rng,
    /// The caller's time at which the discipline's is zero.
    start: u64,
    /// The discipline's time.
    now: Instant,
    /// The line is idle because nothing could be sent; it calls the discipline again only if
    /// something waits.
    resting: bool,
    events: VecDeque<Event>,
    counts: Counts,
}

impl Queue {
    /// The discipline called `name` with `parameters` (JSON of a table, as in a scenario) before a
    /// line of `bits_per_s`. Draws from the stream "draws" of `seed`, as a trial of that seed
    /// does. `now_ns` is the caller's time.
    ///
    /// # Errors
    /// One sentence that names what is wrong and the remedy.
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

    /// A queue that `discipline` holds, drawing from `rng`.
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

    /// Runs every update that is due at `now_ns` or before.
    ///
    /// # Errors
    /// The time is not possible.
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

    /// Takes in a packet; its `arrived` is set here.
    ///
    /// # Errors
    /// The time or the packet's size is not possible.
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

    /// The packet to send, when the line is free. If there is none, the line is idle; further calls
    /// reach the discipline only if something waits.
    ///
    /// # Errors
    /// The time is not possible.
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

    /// When [`Queue::tick`] has something to do next, in the caller's time.
    pub fn next_tick(&self) -> Option<u64> {
        self.discipline.next_tick().map(|at| at.nanos().saturating_add(self.start))
    }
    /// The oldest event that has not been taken.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// Events that have not been taken.
    pub fn events(&self) -> usize {
        self.events.len()
    }
    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }
    /// What happened so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
    /// Inner state by name.
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
