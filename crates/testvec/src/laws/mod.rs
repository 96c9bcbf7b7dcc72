//! Property tests of disciplines: laws on losses, order, marks, random seeds and time that every
//! discipline must obey, ours and those of users.
//!
//! A law is a function that panics if the law is broken; a user's discipline that fails panics too.
//! [`Law::check`] turns either panic into a sentence.

mod rig;

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use aqm::{Admission, Built, Entry, Failed, Gate};
use packet::params::{Kind, Params, Raw};
use packet::{Backlog, Ecn, Instant, Packet, Rng};

pub use rig::Written;
use rig::{LINE, Rig, Seen, build, packets};

/// Number of random packets in a run.
const PACKETS: u32 = 3_000;

/// One law.
pub struct Law {
    /// Name of the law.
    pub name: &'static str,
    /// The property that it requires, in words.
    pub says: &'static str,
    hold: fn(&Entry, &Written) -> Tally,
}

/// Numbers of marks and of drops in the runs that a law examined.
pub type Tally = [u64; 2];

/// All laws.
pub const LAWS: &[Law] = &[
    Law {
        name: "conservation",
        says: "every packet is sent or dropped once, a flow's in order, marked only if ECN-capable, \
               and the backlog is true",
        hold: conservation,
    },
    Law { name: "seed", says: "the same seed gives the same run", hold: seed },
    Law { name: "clock", says: "only differences of time matter", hold: clock },
    Law {
        name: "rest",
        says: "a long idle time makes it as good as new: a lone packet passes as it does at first",
        hold: rest,
    },
    Law { name: "drain", says: "a full queue drains to nothing", hold: drain },
    Law { name: "alone", says: "a judge decides alike before a queue and alone", hold: alone },
    Law { name: "gauges", says: "gauges are finite and keep their names", hold: gauges },
];

impl Law {
    /// Checks the law for a discipline with one of its [`sets`] of parameters.
    ///
    /// # Errors
    /// How the law is broken.
    pub fn check(&self, entry: &Entry, set: &Written) -> Result<Tally, String> {
        caught(|| (self.hold)(entry, set))
    }
}

/// The result of `work`, or, if it panics, the panic's message as a sentence.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| sentence(&*panic))
}

/// The message of a panic. A user's discipline fails with a text of its own.
fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.or_else(|| panic.downcast_ref::<Failed>().map(|failed| failed.0.clone()));
    let said = text.unwrap_or_else(|| "it failed without a word".to_owned());
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Parameter sets derived from the entry's table: the defaults, each choice, each switch combined
/// with each choice, and small limits; with `ecn` on where there is such a switch.
fn suggested(entry: &Entry) -> Vec<Written> {
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
    if has("red_max_th") {
        let red = [("red_max_th", 3.0), ("red_w_q", 0.25), ("red_max_p", 0.5)];
        let red = red.map(|(name, n)| (name.to_string(), Raw::Number(n)));
        variations
            .push(red.into_iter().chain([("red_ecn".to_string(), Raw::Bool(true))]).collect());
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

/// The suggested parameter sets that the discipline accepts.
pub fn sets(entry: &Entry) -> Vec<Written> {
    let accepts = |set: &Written| {
        let params = Params::check(entry.about.fields, set);
        params.is_ok_and(|params| (entry.build)(&params, &LINE).is_ok())
    };
    suggested(entry).into_iter().filter(accepts).collect()
}

/// Time of the first periodic update, in nanoseconds; the discipline is created at time zero.
fn first_tick(entry: &Entry, set: &Written) -> Option<u64> {
    build(entry, set).into_discipline().next_tick().map(Instant::nanos)
}

fn run(entry: &Entry, set: &Written, seed: u64, start: u64) -> Rig {
    let mut rig = Rig::new(entry, set, start, seed);
    for (now, packet) in packets(seed, PACKETS, start) {
        rig.arrive(packet, now);
    }
    rig
}

fn conservation(entry: &Entry, set: &Written) -> Tally {
    let mut tally = [0; 2];
    for seed in 0..3 {
        let mut rig = run(entry, set, seed, 0); // the rig checks after every step
        rig.drain(); // the largest buffers still hold much of the trace at its end
        let left = rig.sent + rig.dropped;
        assert_eq!(left, u64::from(PACKETS), "not every packet was sent or dropped");
        tally[0] += rig.marked;
        tally[1] += rig.dropped;
    }
    tally
}

/// Panics with the first difference, unless both records are equal.
fn same<T: PartialEq + std::fmt::Debug>(one: &[T], other: &[T], when: &str) {
    if let Some(i) = (0..one.len().max(other.len())).find(|i| one.get(*i) != other.get(*i)) {
        panic!("{when}: {:?} in one run and {:?} in the other", one.get(i), other.get(i));
    }
}

fn seed(entry: &Entry, set: &Written) -> Tally {
    let [one, other] = [(); 2].map(|()| run(entry, set, 5, 0).log);
    same(&one, &other, "under one seed");
    [0; 2]
}

/// The start time of a run far from zero, in nanoseconds. For our disciplines it is near the end of
/// the clock's range. A user's discipline may store times as floating-point seconds, which would
/// lose nanoseconds there: its run begins after eleven days.
fn late(entry: &Entry) -> u64 {
    let ours = aqm::find(entry.about.name).is_some();
    if ours { 9_000_000_000_000_000_000 } else { 1_000_000_000_000_000 }
}

fn clock(entry: &Entry, set: &Written) -> Tally {
    // Periodic updates begin at time zero, when the discipline is created. Packets of both runs
    // must start at an equal phase of the updates, so they start after whole numbers of periods.
    // 5040 times the time of the first update is a whole number of periods even if the first update
    // is late (after half a second, with periods of 15 ms).
    let (early, late) = match first_tick(entry, set) {
        None => (0, late(entry)),
        Some(tick) => (5_040 * tick, 50_400 * tick),
    };
    let [early, late] = [early, late].map(|start| run(entry, set, 5, start).log);
    same(&early, &late, "with a clock far from zero");
    [0; 2]
}

/// Whether the discipline keeps state over an idle time by design: ns-3's COBALT keeps its BLUE
/// drop probability, and drops even a single packet.
fn remembers(entry: &Entry, set: &Written) -> bool {
    entry.about.name == "cobalt" && set.iter().any(|(_, value)| *value == Raw::Text("ns3".into()))
}

fn rest(entry: &Entry, set: &Written) -> Tally {
    if remembers(entry, set) {
        return [0; 2];
    }
    let mut used = run(entry, set, 3, 0);
    let mut fresh = Rig::new(entry, set, 0, 3);
    // The pause is a million seconds, or the time of 10,000 periodic updates.
    let pause = first_tick(entry, set).map_or(1_000_000_000_000_000, |tick| 10_000 * tick);
    used.drain();
    let rest = used.log.last().map_or(0, |(at, _)| *at) + pause;
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
    assert_eq!(sent.0, sent.1, "packets sent after a rest, and at first");
    [0; 2]
}

fn drain(entry: &Entry, set: &Written) -> Tally {
    let mut rig = run(entry, set, 9, 0);
    rig.drain();
    assert_eq!(rig.discipline.backlog(), Backlog::default(), "something still waits");
    assert_eq!(rig.offered, rig.sent + rig.dropped);
    [0; 2]
}

/// Drives a gate (an AQM that only admits) as the simulator's folded port does: computes departure
/// times at arrival, and reports an idle time at the arrival that ends it. Returns id, ECN field
/// and start of transmission of each packet (`None` if dropped).
fn folded(mut gate: Box<dyn Gate>, seed: u64) -> Vec<(u32, Ecn, Option<u64>)> {
    let mut rng = Rng::named(seed, "laws");
    let mut queue: VecDeque<(u64, u64)> = VecDeque::new(); // bytes, start of transmission
    let (mut free_at, mut idle_reported) = (0, true);
    let mut log = Vec::new();
    for (now, mut packet) in packets(seed, PACKETS, 0) {
        while queue.front().is_some_and(|(_, start)| *start <= now) {
            queue.pop_front();
        }
        if free_at <= now && !idle_reported {
            gate.on_idle(Instant::from_nanos(free_at));
            idle_reported = true;
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
                idle_reported = false;
                Some(start)
            }
        };
        log.push((packet.id, packet.ecn, departure));
    }
    log
}

fn alone(entry: &Entry, set: &Written) -> Tally {
    let Built::Gate(gate) = build(entry, set) else { return [0; 2] };
    if gate.next_tick().is_some() {
        return [0; 2]; // this law's simplified folded port has no ticks
    }
    let alone = folded(gate, 4);
    let mut rig = run(entry, set, 4, 0);
    rig.advance(u64::MAX / 2);
    let sent = |(id, ecn, start): (u32, Ecn, Option<u64>)| Some((start?, Seen::Sent(id, ecn)));
    let expected: Vec<_> = alone.into_iter().filter_map(sent).collect();
    let of_departures = |(_, what): &(u64, Seen)| matches!(what, Seen::Sent(..));
    let found: Vec<_> = rig.log.into_iter().filter(of_departures).collect();
    same(&found, &expected, "before a queue and alone");
    [0; 2]
}

fn gauges(entry: &Entry, set: &Written) -> Tally {
    let names = |rig: &Rig| {
        let mut names = Vec::new();
        rig.discipline.gauges(&mut |name, value| {
            assert!(value.is_finite(), "gauge {name} is {value}");
            names.push(name);
        });
        names
    };
    let fresh = Rig::new(entry, set, 0, 1);
    assert_eq!(names(&fresh), names(&run(entry, set, 1, 0)), "names of gauges, first and later");
    [0; 2]
}
