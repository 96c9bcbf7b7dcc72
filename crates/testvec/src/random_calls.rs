//! Turns bytes into a discipline, its parameters and a sequence of calls. The bytes are from a
//! fuzzer (`fuzz/`), or pseudo-random in the tests of `crates/aqm` and in [`crate::check`].
//!
//! The calls include some that only a careless driver would make: packet sizes from 0 to 64 KiB,
//! pauses from 0 to years, dequeues from an empty queue or while the line would be busy, updates
//! that are on time, late or left out. After each call the counts of packets and bytes must be
//! right.

use std::collections::{HashMap, VecDeque};

use aqm::{Cx, Discipline, Entry, Line};
use packet::params::{Field, Kind, Params, Raw};
use packet::units::Unit;
use packet::{Ack, Backlog, Ecn, Event, Header, Instant, Packet, Rate, Rng};

/// Latest time of a call: about 146 years in nanoseconds, so that no sum of times overflows.
const LAST: u64 = u64::MAX / 4;
/// Parameters above this number are drawn rarely, because some are sizes of tables in memory.
const LARGE: u64 = 65_536;
/// Largest number of periodic updates that the test makes in a row when several are due.
const CATCH_UP: u32 = 64;

/// A source of bytes; it gives zeros after the end of the data.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
    fn below(&mut self, n: usize) -> usize {
        let high = if n > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (high + usize::from(self.byte())) % n
    }
    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

fn whole(bytes: &mut Bytes, min: u64, max: u64) -> u64 {
    let value = match bytes.below(8) {
        0 => min,
        1 => max,
        2 => min.saturating_add(1),
        3 => max - 1,
        4 => bytes.word() >> bytes.below(64),
        _ => min.saturating_add(u64::from(bytes.byte())),
    };
    // A scenario's numbers are f64, which represents whole numbers exactly up to 2^53.
    let value = value.clamp(min, max.min(1 << 53));
    if value > LARGE && bytes.byte() != 255 { LARGE.clamp(min, max) } else { value }
}

/// A number within the range of a field. Its absolute value is 0 or at least `least`.
fn real(bytes: &mut Bytes, (min, max, open): (f64, f64, bool), least: f64) -> f64 {
    let unit = f64::from(bytes.byte()) / 255.0;
    let value = match bytes.below(8) {
        0 => min,
        1 => max,
        2 => least,
        3 => 1e-9 * unit,
        4 => 1e3 * unit,
        5 => unit / 100.0,
        _ => unit,
    };
    let value = value.clamp(min, max);
    let value = if open && value <= min { min + f64::EPSILON * min.abs().max(1e-3) } else { value };
    if value != 0.0 && value.abs() < least { least } else { value }
}

/// A value in the range of a field.
fn value(bytes: &mut Bytes, field: &Field) -> Raw {
    match field.kind {
        Kind::Switch => Raw::Bool(bytes.byte() % 2 == 1),
        Kind::Choice(names) => Raw::Text(bytes.pick(names).to_string()),
        Kind::Variant(_) | Kind::Distribution { .. } | Kind::File => {
            unreachable!("no discipline draws from a distribution or reads a file")
        }
        Kind::Whole { min, max, .. } => Raw::Number(whole(bytes, min, max) as f64),
        Kind::Real { unit, min, max, open } => {
            let value = real(bytes, (min, max, open), unit.least());
            match unit {
                Unit::Time => Raw::Text(format!("{value:e} s")),
                Unit::Rate => Raw::Text(format!("{value:e} bit/s")),
                _ => Raw::Number(value),
            }
        }
    }
}

/// Chooses an entry and constructs its discipline with random parameters; `None` if the discipline
/// refuses them with a sentence.
fn choose(
    bytes: &mut Bytes,
    of: &[&'static Entry],
) -> Option<(&'static Entry, Box<dyn Discipline>)> {
    let entry = of[bytes.below(of.len())];
    let mut raw = Vec::<(String, Raw)>::new();
    if bytes.byte() % 2 == 1 && entry.about.fields.iter().any(|field| field.name == "ecn") {
        raw.push(("ecn".to_string(), Raw::Bool(true)));
    }
    for _ in 0..bytes.below(6) {
        let field = &entry.about.fields[bytes.below(entry.about.fields.len())];
        raw.push((field.name.to_string(), value(bytes, field)));
    }
    let rate = bytes.pick(&[10_000_000, 1, 9_600, 1_000_000, 1_000_000_000, 1_000_000_000_000]);
    let params = Params::check(entry.about.fields, &raw);
    let params = params.unwrap_or_else(|why| panic!("{} {raw:?}: {why}", entry.about.name));
    match (entry.build)(&params, &Line::of(Rate::from_bits_per_s(rate))) {
        Ok(built) => Some((entry, built.into_discipline())),
        Err(why) => {
            let why = why.to_string();
            assert!(!why.is_empty() && !why.contains('\n'), "{} {raw:?}: {why}", entry.about.name);
            None
        }
    }
}

/// Packets of one lane must leave in the order of arrival. A lane is a flow with one DSCP and one
/// class of the ECN field, because a discipline may queue those separately.
type Lane = (u64, u8, u8);

fn lane(packet: &Packet) -> Lane {
    let sorted = match packet.ecn {
        Ecn::NotEct => 0,
        Ecn::Ect0 => 1,
        Ecn::Ect1 | Ecn::Ce => 2,
    };
    (packet.flow, sorted, packet.header.dscp)
}

/// A discipline, with the driver's own account of its packets.
struct Books {
    queue: Box<dyn Discipline>,
    rng: Rng,
    now: u64,
    next_id: u32,
    waiting: HashMap<u32, (Packet, Lane)>,
    backlog: Backlog,
    lanes: HashMap<Lane, VecDeque<u32>>,
    queued: Option<u32>,
    /// Whether a flow may move to another queue while packets of it wait. When all eight ways of a
    /// set are taken, CAKE gives one of them to the new flow, as sch_cake does. sch_hhf moves a
    /// flow that becomes a heavy hitter or ceases to be one. Queue protection (RFC 9957) moves
    /// packets of a queue-building flow to the classic queue.
    displaces: bool,
    done: Done,
}

/// Numbers of packets sent, dropped and marked while [`drive`] runs, and a hash of all results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Number of packets sent.
    pub sent: u64,
    /// Number of packets dropped.
    pub dropped: u64,
    /// Number of packets marked.
    pub marked: u64,
    /// Hash of all results: packets, events, gauges and times of updates.
    pub fingerprint: u64,
}

impl Done {
    /// Adds a word to the fingerprint, as in the hash of Fowler, Noll and Vo (FNV-1a) with words in
    /// place of bytes and a rotation.
    fn fold(&mut self, word: u64) {
        self.fingerprint = (self.fingerprint ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(29);
    }
}

impl Books {
    fn call(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> Option<Packet>,
    ) -> Option<Packet> {
        let mut events = Vec::new();
        let mut out = |event| events.push(event);
        let now = Instant::from_nanos(now);
        let packet = act(&mut *self.queue, &mut Cx { now, rng: &mut self.rng, out: &mut out });
        for event in events {
            self.note(event);
        }
        self.done.fold(now.nanos());
        self.done.fold(packet.as_ref().map_or(u64::MAX, |packet| u64::from(packet.id)));
        self.done.fold(self.queue.next_tick().map_or(u64::MAX, Instant::nanos));
        packet
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Queued { id } => {
                self.done.fold(u64::from(id) << 2);
                assert_eq!(self.queued.take(), Some(id), "only an arrival is queued, and once");
            }
            Event::Marked { id, why } => {
                self.done.fold((u64::from(id) << 8 | why as u64) << 2 | 1);
                let (packet, _) = self.waiting.get_mut(&id).expect("what is marked waits");
                assert!(packet.ecn.can_be_marked(), "only ECN-capable packets are marked");
                packet.ecn = Ecn::Ce;
                self.done.marked += 1;
            }
            Event::Dropped { packet, why } => {
                self.done.fold((u64::from(packet.id) << 8 | why as u64) << 2 | 2);
                self.done.dropped += 1;
                let lane = self.leave(&packet);
                let lane = self.lanes.get_mut(&lane).expect("its lane");
                lane.retain(|id| *id != packet.id);
            }
        }
    }

    /// Removes a packet that has left the queue from the account. Its fields must be unchanged,
    /// except for the ECN field.
    fn leave(&mut self, packet: &Packet) -> Lane {
        let (known, lane) = self.waiting.remove(&packet.id).expect("what leaves was here");
        // The ECN field of a dropped packet may have any value; that of a sent one is checked
        // elsewhere.
        let ecn = known.ecn;
        assert_eq!(Packet { ecn, ..packet.clone() }, known, "a packet was changed");
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.bytes);
        lane
    }

    fn enqueue(&mut self, packet: Packet) {
        let lane = lane(&packet);
        self.waiting.insert(packet.id, (packet.clone(), lane));
        self.lanes.entry(lane).or_default().push_back(packet.id);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.queued = Some(packet.id);
        let id = packet.id;
        self.call(self.now, |queue, cx| {
            queue.enqueue(packet, cx);
            None
        });
        let dropped = !self.waiting.contains_key(&id);
        assert!(self.queued.take().is_none() || dropped, "an arrival is queued or dropped");
    }

    fn dequeue(&mut self) -> bool {
        let Some(packet) = self.call(self.now, |queue, cx| queue.dequeue(cx)) else { return false };
        let ecn = self.waiting[&packet.id].0.ecn;
        assert_eq!(packet.ecn, ecn, "a mark is reported, and stays");
        let lane = self.leave(&packet);
        let line = self.lanes.get_mut(&lane).expect("it came");
        let place = line.iter().position(|id| *id == packet.id).expect("it came");
        line.remove(place);
        assert!(place == 0 || self.displaces, "a flow leaves in the order it came");
        self.done.sent += 1;
        true
    }

    /// Runs the updates that are due, each at its own time, or if `late` all at the current time;
    /// at most [`CATCH_UP`] of them.
    fn tick(&mut self, late: bool) {
        let mut same = 0;
        for _ in 0..CATCH_UP {
            let Some(due) = self.queue.next_tick().filter(|due| due.nanos() <= self.now) else {
                return;
            };
            let at = if late { self.now } else { due.nanos() };
            self.call(at, |queue, cx| {
                queue.on_tick(cx);
                None
            });
            let next = self.queue.next_tick();
            assert!(next.is_none_or(|next| next >= due), "an update goes back in time");
            same = if next == Some(due) { same + 1 } else { 0 };
            assert!(same < 4, "an update is never done");
        }
    }

    fn check(&mut self, entry: &Entry) {
        assert_eq!(
            self.queue.backlog(),
            self.backlog,
            "{}: the backlog is untrue",
            entry.about.name
        );
        self.queue.gauges(&mut |name, value| {
            assert!(value.is_finite(), "{}: {name} = {value}", entry.about.name);
            self.done.fold(value.to_bits());
        });
    }

    fn step(&mut self, bytes: &mut Bytes) {
        let (what, how) = (bytes.byte(), bytes.byte());
        let span = u64::from(bytes.byte());
        let pause = match how >> 4 {
            0..8 => span * 10,
            8..11 => span * 10_000,
            11..14 => span * 1_000_000,
            14 => span << 32,
            _ => span << 48,
        };
        self.now = self.now.saturating_add(pause).min(LAST);
        let careless = how & 15 == 0;
        match what % 8 {
            0..4 => {
                if !careless {
                    self.tick(false);
                }
                let packets = if what >= 224 { 16 } else { 1 };
                for _ in 0..packets {
                    let packet = self.packet(bytes);
                    self.enqueue(packet);
                }
            }
            4..7 => {
                if !careless {
                    self.tick(false);
                }
                for _ in 0..if what >= 224 { 4 } else { 1 } {
                    self.dequeue();
                }
            }
            _ => self.tick(how & 1 == 0),
        }
    }

    fn packet(&mut self, bytes: &mut Bytes) -> Packet {
        let (kind, id) = (bytes.byte(), self.next_id);
        self.next_id += 1;
        let flow = match kind & 7 {
            0 => u64::from(id),
            1 => u64::MAX - u64::from(bytes.byte()),
            n => u64::from(n),
        };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(kind >> 3 & 3)];
        let size = bytes.pick(&[1500, 1000, 40, 1, 0, 9000, 65_535, u32::from(kind)]);
        let ack = [Ack::No, Ack::Needed, Ack::Newer][usize::from(kind >> 5) % 3];
        let dscp = if kind & 128 > 0 { bytes.byte() & 63 } else { 0 };
        let header =
            Header { dscp, ack, source: (flow % 5) as u16, destination: (flow % 3) as u16 };
        Packet { id, flow, bytes: size, ecn, arrived: Instant::from_nanos(self.now), header }
    }

    /// Empties the queue by repeated dequeues and by its scheduled updates.
    fn drain(&mut self, entry: &Entry) {
        let mut waits = 0;
        while self.backlog.packets > 0 {
            let before = self.backlog;
            if self.dequeue() || self.backlog != before {
                waits = 0;
                continue;
            }
            waits += 1;
            let next = self.queue.next_tick().map(Instant::nanos);
            assert!(next.is_some() && waits < 1_000, "{}: a queue at rest", entry.about.name);
            self.now = self.now.max(next.unwrap_or(0)).min(LAST);
            self.tick(true);
        }
    }
}

/// Drives one of these disciplines by the bytes of `data`. Returns its name and the counts, or
/// `None` if the discipline refused its parameters.
///
/// # Panics
/// If the discipline breaks a law.
pub fn drive(data: &[u8], of: &[&'static Entry]) -> Option<(&'static str, Done)> {
    let mut bytes = Bytes(data);
    let (entry, queue) = choose(&mut bytes, of)?;
    let mut books = Books {
        queue,
        rng: Rng::named(u64::from(bytes.byte()), "fuzz"),
        now: 0,
        next_id: 0,
        waiting: HashMap::new(),
        backlog: Backlog::default(),
        lanes: HashMap::new(),
        queued: None,
        displaces: matches!(entry.about.name, "cake" | "hhf" | "docsis_lld"),
        done: Done::default(),
    };
    books.check(entry);
    while !bytes.0.is_empty() {
        books.step(&mut bytes);
        books.check(entry);
    }
    books.drain(entry);
    books.check(entry);
    Some((entry.about.name, books.done))
}
