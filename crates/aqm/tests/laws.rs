//! Laws that every discipline obeys, over the whole registry: a newcomer is under test the minute
//! it is listed.

use std::collections::{HashMap, VecDeque};

use aqmlab_aqm::{ALGORITHMS, Admission, Built, Cx, Discipline, Entry, Line};
use packet::params::{Kind, Params, Raw};
use packet::{Ack, Backlog, Ecn, Event, Header, Instant, Packet, Rate, Rng};

const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

type Written = Vec<(String, Raw)>;

/// Parameter sets read from the entry's own table: its defaults, every choice, every switch under
/// every choice, each with ECN on where there is such a switch, and small limits.
fn sets(entry: &Entry) -> Vec<Written> {
    let has = |name: &str| entry.about.fields.iter().any(|f| f.name == name);
    let mut choices: Vec<Written> = vec![vec![]];
    for field in entry.about.fields {
        if let Kind::Choice(names) = field.kind {
            let choice = |name: &&str| vec![(field.name.to_string(), Raw::Text(name.to_string()))];
            choices.extend(names.iter().map(choice));
        }
    }
    let mut variations: Vec<Written> = vec![vec![]];
    for field in entry.about.fields {
        if let Kind::Switch = field.kind {
            let switch = |on| vec![(field.name.to_string(), Raw::Bool(on))];
            variations.extend([switch(false), switch(true)]);
        }
    }
    let bytes = [1.0, 1500.0, 9000.0];
    for (name, limits) in
        [("limit", [1.0, 2.0, 9.0]), ("limit_bytes", bytes), ("memory_limit", bytes)]
    {
        if has(name) {
            variations.extend(limits.map(|n| vec![(name.to_string(), Raw::Number(n))]));
        }
    }
    if has("rate") {
        variations.push(vec![("rate".to_string(), Raw::Text("4 Mbit/s".to_string()))]);
    }
    let mut sets = Vec::new();
    for choice in &choices {
        for variation in &variations {
            let mut set = [choice.clone(), variation.clone()].concat();
            if has("ecn") && variation.iter().all(|(name, _)| name != "ecn") {
                set.push(("ecn".to_string(), Raw::Bool(true)));
            }
            sets.push(set);
        }
    }
    sets
}

/// Every discipline under every one of its sets that it accepts.
fn everything() -> Vec<(&'static Entry, Written)> {
    let mut all = Vec::new();
    for entry in ALGORITHMS {
        let accepted: Vec<_> = sets(entry)
            .into_iter()
            .filter(|set| {
                let params =
                    Params::check(entry.about.fields, set).expect("the table's own values");
                (entry.build)(&params, &LINE).is_ok()
            })
            .map(|set| (entry, set))
            .collect();
        assert!(!accepted.is_empty(), "{} accepts nothing", entry.about.name);
        all.extend(accepted);
    }
    all
}

fn build(entry: &Entry, set: &Written) -> Built {
    let params = Params::check(entry.about.fields, set).unwrap();
    (entry.build)(&params, &LINE).unwrap()
}

/// Linux's heavy-hitter filter moves a flow to another queue once it is one, and back when it is
/// forgotten, while packets of it wait (sch_hhf; its evict_timeout "should be large enough to avoid
/// reordering").
fn reorders(entry: &Entry) -> bool {
    entry.about.name == "hhf"
}

/// What the driver sees of a discipline.
#[derive(Debug, PartialEq)]
enum Seen {
    /// The discipline said so.
    Told(Event),
    /// A packet went to the line.
    Sent(u32, Ecn),
}

/// A discipline before a line, with everything the laws need to know.
struct Rig {
    discipline: Box<dyn Discipline>,
    rng: Rng,
    busy_until: Option<u64>,
    /// What waits by our own account, as (flow, bytes, ECN field), by handle.
    waiting: HashMap<u32, (u64, u32, Ecn)>,
    /// Their bytes.
    bytes: u64,
    /// Handles of each flow in the order of acceptance.
    order: HashMap<u64, VecDeque<u32>>,
    offered: u64,
    sent: u64,
    dropped: u64,
    marked: u64,
    /// Everything that happened, with its time since the start.
    log: Vec<(u64, Seen)>,
    start: u64,
    /// Whether a flow's packets may overtake each other; see [`reorders`].
    reorders: bool,
}

impl Rig {
    fn new(entry: &Entry, set: &Written, start: u64, seed: u64) -> Self {
        Rig {
            discipline: build(entry, set).into_discipline(),
            reorders: reorders(entry),
            rng: Rng::named(seed, "laws"),
            busy_until: None,
            waiting: HashMap::new(),
            bytes: 0,
            order: HashMap::new(),
            offered: 0,
            sent: 0,
            dropped: 0,
            marked: 0,
            log: Vec::new(),
            start,
        }
    }

    fn call(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> Option<Packet>,
    ) -> Option<Packet> {
        let mut events = Vec::new();
        let mut out = |event| events.push(event);
        let at = Instant::from_nanos(now);
        let mut cx = Cx { now: at, rng: &mut self.rng, out: &mut out };
        let packet = act(&mut *self.discipline, &mut cx);
        for event in events {
            self.note(now, event);
        }
        packet
    }

    fn note(&mut self, now: u64, event: Event) {
        let mut shown = event.clone();
        if let Event::Dropped { packet, .. } = &mut shown {
            packet.arrived = Instant::from_nanos(packet.arrived.nanos() - self.start);
        }
        self.log.push((now - self.start, Seen::Told(shown)));
        match event {
            Event::Queued { id } => assert!(self.waiting.contains_key(&id), "queued {id} twice"),
            Event::Marked { id, .. } => {
                self.marked += 1;
                let (_, _, ecn) = self.waiting.get_mut(&id).expect("marks what waits");
                assert!(ecn.can_be_marked(), "packet {id} is not ECN-capable");
                *ecn = Ecn::Ce;
            }
            Event::Dropped { packet, .. } => {
                self.dropped += 1;
                let (flow, bytes, _) = self.waiting.remove(&packet.id).expect("dropped twice");
                assert_eq!((flow, bytes), (packet.flow, packet.bytes));
                self.bytes -= u64::from(bytes);
                self.order.get_mut(&flow).unwrap().retain(|id| *id != packet.id);
            }
        }
    }

    /// The account and the discipline's own agree.
    fn balance(&self) {
        let backlog = Backlog { packets: self.waiting.len() as u32, bytes: self.bytes };
        assert_eq!(self.discipline.backlog(), backlog);
        assert_eq!(self.offered, self.sent + self.dropped + u64::from(backlog.packets));
    }

    fn arrive(&mut self, packet: Packet, now: u64) {
        self.advance(now);
        self.offered += 1;
        self.waiting.insert(packet.id, (packet.flow, packet.bytes, packet.ecn));
        self.bytes += u64::from(packet.bytes);
        self.order.entry(packet.flow).or_default().push_back(packet.id);
        self.call(now, |discipline, cx| {
            discipline.enqueue(packet, cx);
            None
        });
        self.balance();
        if self.busy_until.is_none() {
            self.send(now);
        }
    }

    fn send(&mut self, now: u64) {
        let packet = self.call(now, |discipline, cx| discipline.dequeue(cx));
        self.busy_until = packet.map(|packet| {
            self.sent += 1;
            self.log.push((now - self.start, Seen::Sent(packet.id, packet.ecn)));
            let account = self.waiting.remove(&packet.id).expect("sent what never came");
            assert_eq!(account, (packet.flow, packet.bytes, packet.ecn), "changed on the way");
            self.bytes -= u64::from(packet.bytes);
            let order = self.order.get_mut(&packet.flow).unwrap();
            let place = order.iter().position(|id| *id == packet.id).expect("it came");
            order.remove(place);
            assert!(place == 0 || self.reorders, "flow {} out of order", packet.flow);
            now + LINE.rate.time_for(u64::from(packet.bytes)).nanos()
        });
        self.balance();
    }

    /// Until nothing waits and nothing is sent; a shaper is asked when it wants to be.
    fn drain(&mut self) {
        let waits = |rig: &Self| rig.discipline.backlog().packets > 0;
        while let Some(next) = self.busy_until.or_else(|| {
            waits(self).then(|| self.discipline.next_tick().expect("a queue at rest").nanos())
        }) {
            self.advance(next);
        }
    }

    fn advance(&mut self, now: u64) {
        loop {
            let tick = self.discipline.next_tick().map(Instant::nanos).filter(|t| *t <= now);
            let free = self.busy_until.filter(|end| *end <= now);
            match (tick, free) {
                (Some(tick), free) if free.is_none_or(|end| tick <= end) => {
                    self.call(tick, |discipline, cx| {
                        discipline.on_tick(cx);
                        None
                    });
                    // A shaper let the line rest and has asked to be asked again.
                    if self.busy_until.is_none() && self.discipline.backlog().packets > 0 {
                        self.send(tick);
                    }
                }
                (_, Some(end)) => self.send(end),
                _ => return,
            }
        }
    }
}

/// Random packets of seven flows: one byte, ordinary and jumbo; bursts, gaps and idle times.
fn packets(seed: u64, count: u32, start: u64) -> Vec<(u64, Packet)> {
    let mut rng = Rng::named(seed, "packets");
    let mut now = start;
    let mut mean_gap = 6e5;
    let mut next = |id| {
        if rng.below(100) == 0 {
            mean_gap = [1e4, 3e5, 8e5, 3e6, 2e8][rng.below(5) as usize];
        }
        now += rng.exponential(mean_gap) as u64;
        let bytes = [1, 40, 552, 1500, 1500, 1500, 9000, 65_535][rng.below(8) as usize];
        let (flow, which) = (rng.below(7), rng.below(2) as usize);
        // A flow is classic or scalable: a dual queue may overtake within a mixture.
        let classic = [Ecn::NotEct, Ecn::Ect0];
        let ecn = if flow % 2 == 0 { classic } else { [Ecn::Ect1, Ecn::Ce] }[which];
        let arrived = Instant::from_nanos(now);
        // Best effort, voice and background; two hosts and three; small packets acknowledge.
        let header = Header {
            dscp: [0, 46, 8][flow as usize % 3],
            ack: if bytes == 40 { Ack::Newer } else { Ack::No },
            source: flow as u16 % 2,
            destination: flow as u16 % 3,
        };
        (now, Packet { id, flow, bytes, ecn, arrived, header })
    };
    (0..count).map(&mut next).collect()
}

/// The time of the first periodic update, which is counted from the creation at time zero.
fn first_tick(entry: &Entry, set: &Written) -> Option<u64> {
    build(entry, set).into_discipline().next_tick().map(Instant::nanos)
}

fn run(entry: &Entry, set: &Written, seed: u64, start: u64) -> Rig {
    let mut rig = Rig::new(entry, set, start, seed);
    for (now, packet) in packets(seed, 3000, start) {
        rig.arrive(packet, now);
    }
    rig
}

#[test]
fn nothing_is_lost_reordered_or_wrongly_marked() {
    let (mut marked, mut dropped) = (0, 0);
    for (entry, set) in everything() {
        for seed in 0..3 {
            let mut rig = run(entry, &set, seed, 0); // the rig checks after every step
            rig.drain(); // the largest buffers still hold much of the trace at its end
            assert_eq!(rig.sent + rig.dropped, 3000, "{} {set:?}", entry.about.name);
            marked += rig.marked;
            dropped += rig.dropped;
        }
    }
    assert!(marked > 1000 && dropped > 1000, "{marked} marks, {dropped} drops: a vacuous law");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for (entry, set) in everything() {
        let log = run(entry, &set, 5, 0).log;
        assert_eq!(log, run(entry, &set, 5, 0).log, "{} {set:?}", entry.about.name);
    }
}

#[test]
fn only_differences_of_time_matter() {
    for (entry, set) in everything() {
        // Periodic updates begin at the creation, so with them both runs start at whole periods,
        // and after a rest, which they all must be run through. 5040 first updates are whole
        // periods also where the first update is late (half a second, in periods of 15 ms).
        let (early, late) = match first_tick(entry, &set) {
            None => (0, 9_000_000_000_000_000_000),
            Some(tick) => (5_040 * tick, 50_400 * tick),
        };
        let log = run(entry, &set, 5, early).log;
        let late = run(entry, &set, 5, late).log;
        assert_eq!(log, late, "{} {set:?}: a clock far from zero", entry.about.name);
    }
}

/// ns-3's COBALT drops even the only packet, with a probability that outlasts an idle time.
fn remembers(entry: &Entry, set: &Written) -> bool {
    entry.about.name == "cobalt" && set.iter().any(|(_, value)| *value == Raw::Text("ns3".into()))
}

#[test]
fn a_long_idle_time_makes_a_discipline_as_good_as_new() {
    for (entry, set) in everything().into_iter().filter(|(entry, set)| !remembers(entry, set)) {
        let mut used = run(entry, &set, 3, 0);
        let mut fresh = Rig::new(entry, &set, 0, 3);
        // A thousand thousand seconds, or enough periodic updates, from the last departure on.
        let pause = first_tick(entry, &set).map_or(1_000_000_000_000_000, |tick| 10_000 * tick);
        used.drain();
        let rest = used.log.last().unwrap().0 + pause;
        used.advance(rest);
        let packet = Packet {
            id: 1_000_000,
            flow: 0,
            bytes: 500,
            ecn: Ecn::NotEct,
            arrived: Instant::from_nanos(rest),
            header: Default::default(),
        };
        let sent = (used.sent, fresh.sent);
        used.arrive(packet.clone(), rest);
        fresh.arrive(packet, rest);
        let sent = (used.sent - sent.0, fresh.sent - sent.1);
        assert_eq!(sent.0, sent.1, "{} {set:?}", entry.about.name);
    }
}

#[test]
fn a_full_queue_drains_to_nothing() {
    for (entry, set) in everything() {
        let mut rig = run(entry, &set, 9, 0);
        rig.drain();
        assert_eq!(rig.discipline.backlog(), Backlog::default(), "{} {set:?}", entry.about.name);
        assert_eq!(rig.offered, rig.sent + rig.dropped);
    }
}

/// A gate driven as the simulator's folded port does it: departures are computed, an idle time is
/// reported at the arrival that ends it.
fn folded(mut gate: Box<dyn aqmlab_aqm::Gate>, seed: u64) -> Vec<(u32, Ecn, Option<u64>)> {
    let mut rng = Rng::named(seed, "laws");
    let mut queue: VecDeque<(u64, u64)> = VecDeque::new(); // bytes, start of transmission
    let (mut free_at, mut idle_told) = (0, true);
    let mut log = Vec::new();
    for (now, mut packet) in packets(seed, 3000, 0) {
        while queue.front().is_some_and(|(_, start)| *start <= now) {
            queue.pop_front();
        }
        if free_at <= now && !idle_told {
            gate.on_idle(Instant::from_nanos(free_at));
            idle_told = true;
        }
        let bytes = queue.iter().map(|(bytes, _)| bytes).sum();
        let backlog = Backlog { packets: queue.len() as u32, bytes };
        let at = Instant::from_nanos(now);
        let departure = match gate.admit(&mut packet, backlog, at, &mut rng) {
            Admission::Dropped(_) => None,
            _ => {
                let size = u64::from(packet.bytes);
                let start = free_at.max(now);
                if start > now {
                    queue.push_back((size, start));
                }
                free_at = start + LINE.rate.time_for(size).nanos();
                idle_told = false;
                Some(start)
            }
        };
        log.push((packet.id, packet.ecn, departure));
    }
    log
}

#[test]
fn a_gate_decides_alike_in_a_fifo_and_alone() {
    for (entry, set) in everything() {
        let Built::Gate(gate) = build(entry, &set) else { continue };
        if gate.next_tick().is_some() {
            continue; // the folded port runs ticks too; this test does not
        }
        let alone = folded(gate, 4);
        let mut rig = run(entry, &set, 4, 0);
        rig.advance(u64::MAX / 2);
        let sent = |(id, ecn, start): (u32, Ecn, Option<u64>)| Some((start?, Seen::Sent(id, ecn)));
        let expected: Vec<_> = alone.into_iter().filter_map(sent).collect();
        let of_departures = |(_, what): &(u64, Seen)| matches!(what, Seen::Sent(..));
        let found: Vec<_> = rig.log.into_iter().filter(of_departures).collect();
        assert_eq!(found, expected, "{} {set:?}", entry.about.name);
    }
}

#[test]
fn gauges_are_finite_and_keep_their_names() {
    for (entry, set) in everything() {
        let names = |rig: &Rig| {
            let mut names = Vec::new();
            rig.discipline.gauges(&mut |name, value| {
                assert!(value.is_finite(), "{} {set:?}: {name} = {value}", entry.about.name);
                names.push(name);
            });
            names
        };
        let fresh = Rig::new(entry, &set, 0, 1);
        assert_eq!(names(&fresh), names(&run(entry, &set, 1, 0)));
    }
}
