//! HHF, Linux's heavy-hitter filter (T. Lam, N. Dukkipati, `sch_hhf`, Linux 3.14, 2013), after the
//! multi-stage filter of C. Estan and G. Varghese, *New Directions in Traffic Measurement and
//! Accounting*, SIGCOMM 2002.
//!
//! The idea in five lines. Two queues, one for the few flows that send much and one for all others,
//! which has twice the weight and goes first when it was empty. A flow's bytes are added to one
//! counter in each of four arrays; a flow all of whose counters have passed a threshold since they
//! were last cleared is a heavy hitter, is noted in a table and counted no more. One that has been
//! silent for a second is forgotten. A full buffer drops from the heavy hitters' head.

use alloc::{boxed::Box, collections::VecDeque, vec, vec::Vec};

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Backlog, DropReason, Duration, Event, Instant, Packet};

use crate::buffer::{LIMIT, TIME};
use crate::shells::flows::{HASH_SEED, hash, hash_seed};
use crate::shells::pool::{Pool, Queue};
use crate::{Built, Cx, Discipline, Entry, Line, PerFlowState};

/// Entry of this discipline in the registry: its description, parameters and constructor.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "hhf",
        summary: "Two queues: one for the flows that send much, one with more weight for all \
                  others.",
        year: 2013,
        source: "read: Linux 6.12 sch_hhf; the filter: Estan and Varghese, SIGCOMM 2002",
        deviations: "Time is counted in nanoseconds, not in ticks of the kernel's clock (1 to 10 \
                     ms). Flows are hashed by a seeded 64-bit mix, of which 32 bits are used \
                     (Linux: siphash). Sizes are IP lengths, and so is what admit_bytes counts.",
        fields: FIELDS,
    },
    per_flow: PerFlowState::State,
    tables: &[],
    ecn: "never marks",
    units: "bytes; the limit in packets",
    build: &build,
};

const FIELDS: &[Field] = &[
    Field::new("limit", LIMIT, Value::Whole(1000))
        .meaning("Packets that may wait in both queues.")
        .source("read: Linux"),
    Field::new("quantum", Kind::whole(Unit::Bytes, 256, 1_000_000), Value::Whole(1514))
        .meaning(
            "Bytes that the heavy hitters may send in each turn; the others non_hh_weight times as \
             many.",
        )
        .source("read: Linux psched_mtu on Ethernet, at least 256"),
    Field::new(
        "hh_limit",
        Kind::whole(Unit::Count, 0, 2 * PLACES as u64),
        Value::Whole(2 * PLACES as u64),
    )
    .meaning("Most heavy hitters known at a time; more of them count as others.")
    .source("read: Linux"),
    Field::new("reset_timeout", TIME, Value::Real(0.04))
        .meaning("Time after which the counters are cleared.")
        .source("read: Linux"),
    Field::new("admit_bytes", Kind::whole(Unit::Bytes, 0, 1 << 31), Value::Whole(131_072))
        .meaning("Bytes within reset_timeout above which a flow is a heavy hitter.")
        .source("read: Linux: with 40 ms, 26 Mbit/s"),
    Field::new("evict_timeout", TIME, Value::Real(1.0))
        .meaning("Silence after which a heavy hitter is forgotten.")
        .source("read: Linux"),
    Field::new("non_hh_weight", Kind::whole(Unit::Count, 1, 1000), Value::Whole(2))
        .meaning("Weight of the flows that are no heavy hitters, theirs being 1.")
        .source("read: Linux"),
    HASH_SEED,
];

/// Number of hash bits that choose a counter, and a list in the table of heavy hitters.
const BITS: u32 = 10;
/// Number of counters in each array, and of lists in the table of heavy hitters.
const PLACES: usize = 1 << BITS;
const ARRAYS: usize = 4;

/// The multi-stage filter: byte counters of the flows that are no heavy hitters.
struct Filter {
    counters: Vec<[u32; ARRAYS]>,
    cleared: Instant,
    reset_timeout: Duration,
    admit_bytes: u32,
}

impl Filter {
    /// Index of a flow's counter in each of the four arrays: three 10-bit parts of the hash, and
    /// the exclusive or of these with its remaining two bits.
    fn places(hash: u32) -> [usize; ARRAYS] {
        let part = |n: u32| (hash >> (n * BITS)) as usize & (PLACES - 1);
        let rest = (hash >> (3 * BITS)) as usize;
        [part(0), part(1), part(2), part(0) ^ part(1) ^ part(2) ^ rest]
    }

    fn clear_if_due(&mut self, now: Instant) {
        if self.cleared + self.reset_timeout < now {
            self.counters.fill([0; ARRAYS]);
            self.cleared = now;
        }
    }

    /// The smallest of a flow's counters, with the `bytes` of an arrival added.
    fn least(&self, places: [usize; ARRAYS], bytes: u32) -> u32 {
        let counters = places.iter().enumerate().map(|(array, at)| self.counters[*at][array]);
        counters.min().unwrap_or(0).saturating_add(bytes)
    }

    /// Raises the flow's counters that are smaller to `least` (conservative update).
    fn raise(&mut self, places: [usize; ARRAYS], least: u32) {
        for (array, at) in places.into_iter().enumerate() {
            let counter = &mut self.counters[at][array];
            *counter = (*counter).max(least);
        }
    }
}

#[derive(Clone, Copy)]
struct Hitter {
    hash: u32,
    last_sent: Instant,
    next: Option<u16>,
}

/// The table of heavy hitters, in lists by hash. A search removes the expired entries that it
/// passes, but the last entry of a list stays there to be reused.
struct Hitters {
    lists: Vec<Option<u16>>,
    entries: Vec<Hitter>,
    free: Vec<u16>,
    limit: usize,
    evict_timeout: Duration,
}

impl Hitters {
    fn new(limit: usize, evict_timeout: Duration) -> Self {
        let (entries, free) = (Vec::with_capacity(limit), Vec::with_capacity(limit));
        Hitters { lists: vec![None; PLACES], entries, free, limit, evict_timeout }
    }

    fn list(hash: u32) -> usize {
        hash as usize & (PLACES - 1)
    }

    fn expired(&self, entry: u16, now: Instant) -> bool {
        self.entries[usize::from(entry)].last_sent + self.evict_timeout < now
    }

    fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether the flow is in the table and has not expired; if so, it sent last at `now`.
    fn refresh(&mut self, hash: u32, now: Instant) -> bool {
        let list = Self::list(hash);
        let (mut before, mut at) = (None, self.lists[list]);
        while let Some(entry) = at {
            let Hitter { hash: other, next, .. } = self.entries[usize::from(entry)];
            if self.expired(entry, now) {
                if next.is_none() {
                    return false;
                }
                self.unlink(list, before, next);
                self.free.push(entry);
            } else if other == hash {
                self.entries[usize::from(entry)].last_sent = now;
                return true;
            } else {
                before = Some(entry);
            }
            at = next;
        }
        false
    }

    fn unlink(&mut self, list: usize, before: Option<u16>, next: Option<u16>) {
        match before {
            None => self.lists[list] = next,
            Some(before) => self.entries[usize::from(before)].next = next,
        }
    }

    /// Enters a flow, over an expired entry of its list if there is one; false if there is no room.
    fn note(&mut self, hash: u32, now: Instant) -> bool {
        let list = Self::list(hash);
        let (mut last, mut at) = (None, self.lists[list]);
        while let Some(entry) = at {
            let known = &mut self.entries[usize::from(entry)];
            if known.last_sent + self.evict_timeout < now {
                (known.hash, known.last_sent) = (hash, now);
                return true;
            }
            (last, at) = (Some(entry), known.next);
        }
        if self.len() >= self.limit {
            return false;
        }
        let hitter = Hitter { hash, last_sent: now, next: None };
        let entry = match self.free.pop() {
            Some(entry) => {
                self.entries[usize::from(entry)] = hitter;
                entry
            }
            None => {
                self.entries.push(hitter);
                (self.entries.len() - 1) as u16
            }
        };
        self.unlink(list, last, Some(entry));
        true
    }
}

/// Index of the heavy hitters' queue; [`OTHERS`] is that of all other flows.
const HEAVY: usize = 0;
const OTHERS: usize = 1;

/// A queue and its state in the deficit round robin.
struct Bucket {
    queue: Queue,
    deficit: i64,
    quantum: i64,
    listed: bool,
}

/// The heavy-hitter filter, as the module's documentation describes it.
struct Hhf {
    seed: u64,
    limit: u32,
    filter: Filter,
    hitters: Hitters,
    pool: Pool,
    buckets: [Bucket; 2],
    /// Indices of the new queues: they were empty, and are served before those of `old`.
    new: VecDeque<usize>,
    /// Indices of the other queues that hold packets, served after those of `new`.
    old: VecDeque<usize>,
}

fn build(params: &Params, _line: &Line) -> Result<Built, BadParams> {
    let bucket = |weight: u64| Bucket {
        queue: Queue::new(),
        deficit: 0,
        quantum: (weight * params.whole("quantum")) as i64,
        listed: false,
    };
    Ok(Built::Discipline(Box::new(Hhf {
        seed: hash_seed(params),
        limit: params.whole("limit") as u32,
        filter: Filter {
            counters: vec![[0; ARRAYS]; PLACES],
            cleared: Instant::ZERO,
            reset_timeout: params.time("reset_timeout"),
            admit_bytes: params.whole("admit_bytes") as u32,
        },
        hitters: Hitters::new(params.whole("hh_limit") as usize, params.time("evict_timeout")),
        pool: Pool::default(),
        buckets: [bucket(1), bucket(params.whole("non_hh_weight"))],
        new: VecDeque::with_capacity(2),
        old: VecDeque::with_capacity(2),
    })))
}

impl Hhf {
    /// Index of the queue that an arriving packet joins.
    fn classify(&mut self, packet: &Packet, now: Instant) -> usize {
        self.filter.clear_if_due(now);
        let hash = hash(packet.flow, self.seed) as u32;
        if self.hitters.refresh(hash, now) {
            return HEAVY;
        }
        let places = Filter::places(hash);
        let least = self.filter.least(places, packet.bytes);
        if least > self.filter.admit_bytes {
            // A heavy hitter's bytes, these included, are not counted any more ("shielding").
            return if self.hitters.note(hash, now) { HEAVY } else { OTHERS };
        }
        self.filter.raise(places, least);
        OTHERS
    }

    /// Drops the first packet of the heavy hitters, or of the others if no heavy hitter waits.
    fn drop_one(&mut self, cx: &mut Cx) {
        let victim = if self.buckets[HEAVY].queue.is_empty() { OTHERS } else { HEAVY };
        if let Some(packet) = self.pool.pop(&mut self.buckets[victim].queue) {
            (cx.out)(Event::Dropped { packet, why: DropReason::Overflow });
        }
    }
}

impl Discipline for Hhf {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx) {
        let which = self.classify(&packet, cx.now);
        (cx.out)(Event::Queued { id: packet.id });
        let bucket = &mut self.buckets[which];
        self.pool.push(&mut bucket.queue, packet);
        if !bucket.listed {
            bucket.listed = true;
            bucket.deficit = bucket.quantum;
            // The heavy hitters' queue is never a new one, so it never goes first.
            if which == HEAVY { &mut self.old } else { &mut self.new }.push_back(which);
        }
        if self.backlog().packets > self.limit {
            self.drop_one(cx);
        }
    }

    fn dequeue(&mut self, _cx: &mut Cx) -> Option<Packet> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let which = *list.front()?;
            let bucket = &mut self.buckets[which];
            if bucket.deficit <= 0 {
                bucket.deficit += bucket.quantum;
                list.pop_front();
                self.old.push_back(which);
                continue;
            }
            if let Some(packet) = self.pool.pop(&mut bucket.queue) {
                bucket.deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            // An emptied new queue goes behind the old ones, so that they do not starve.
            if from_new && !self.old.is_empty() {
                self.old.push_back(which);
            } else {
                bucket.listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let [a, b] = [HEAVY, OTHERS].map(|which| self.buckets[which].queue.backlog());
        Backlog { packets: a.packets + b.packets, bytes: a.bytes + b.bytes }
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("heavy_hitters", self.hitters.len() as f64);
        show("heavy_packets", f64::from(self.buckets[HEAVY].queue.backlog().packets));
        show("other_packets", f64::from(self.buckets[OTHERS].queue.backlog().packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_cut_into_three_and_their_exclusive_or() {
        let hash = 0b10_0000000111_0000000101_1000000001;
        assert_eq!(Filter::places(hash), [513, 5, 7, 513 ^ 5 ^ 7 ^ 2]);
    }

    #[test]
    fn the_last_of_a_list_stays_after_its_time_and_is_used_again() {
        let second = |n: u64| Instant::from_nanos(n * 1_000_000_000);
        let mut hitters = Hitters::new(2, Duration::from_millis(500));
        let (a, b, c) = (7, 7 + 1024, 7 + 2048);
        assert!(hitters.note(a, second(1)) && hitters.note(b, second(1)));
        assert!(!hitters.note(c, second(1)), "there is room for two");
        assert!(
            hitters.refresh(a, second(1))
                && hitters.refresh(b, second(1))
                && !hitters.refresh(c, second(1))
        );
        assert!(!hitters.refresh(a, second(2)));
        assert_eq!(hitters.len(), 1, "a has left, b is the last of its list");
        assert!(!hitters.refresh(b, second(2)), "but is known no more");
        assert!(hitters.note(c, second(2)) && hitters.refresh(c, second(2)));
        assert_eq!(hitters.len(), 1);
    }

    #[test]
    fn at_the_very_end_of_its_time_a_flow_is_known_and_a_counter_kept() {
        // Expiry is strict: sch_hhf.c compares times with `hhf_time_before`.
        let half = Instant::from_nanos(500_000_000);
        let later = half + Duration::from_nanos(1);
        let mut hitters = Hitters::new(2, Duration::from_millis(500));
        assert!(hitters.note(7, Instant::ZERO));
        // No entry has expired yet, so another flow of this list gets an entry of its own.
        assert!(hitters.note(7 + 1024, half));
        assert_eq!(hitters.len(), 2);
        assert!(hitters.refresh(7, half) && !hitters.expired(0, half + Duration::from_millis(500)));
        let mut filter = Filter {
            counters: vec![[5; ARRAYS]; PLACES],
            cleared: Instant::ZERO,
            reset_timeout: Duration::from_millis(500),
            admit_bytes: 1,
        };
        filter.clear_if_due(half);
        assert_eq!(filter.least([0; ARRAYS], 0), 5);
        filter.clear_if_due(later);
        assert_eq!((filter.least([0; ARRAYS], 0), filter.cleared), (0, later));
    }
}
