//! A run that its caller steers: observed and changed between slices of its time.

use packet::DropReason;

use crate::error::ScenarioError;
use crate::run::Run;
use crate::world::World;

/// What crossed one port since the last look, and what waits there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortSnapshot {
    /// Packets and bytes waiting now.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: u64,
    /// Packets that came in.
    pub arrivals: u64,
    /// Packets whose transmission began (one that ends in a later second is counted there), their IP
    /// bytes, and how long they had waited, s.
    pub departures: u64,
    /// Bytes that left.
    pub departure_bytes: u64,
    /// Time that the packets that left had waited, in total.
    pub waited_s: f64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
}

impl PortSnapshot {
    /// Its fields in order.
    pub fn numbers(&self) -> [f64; 8] {
        let PortSnapshot {
            packets,
            bytes,
            arrivals,
            departures,
            departure_bytes,
            waited_s,
            drops,
            marks,
        } = *self;
        let [packets, bytes, arrivals, departures, departure_bytes, drops, marks] =
            [packets, bytes, arrivals, departures, departure_bytes, drops, marks].map(|n| n as f64);
        [packets, bytes, arrivals, departures, departure_bytes, waited_s, drops, marks]
    }
}

/// Counts from the begin of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrivals: u64,
    departures: [u64; 3],
    drops: u64,
    marks: u64,
}

/// A port that is looked at: what was seen, and what whole seconds that are over hold.
#[derive(Clone, Debug)]
pub(crate) struct PortObserver {
    place: usize,
    second: usize,
    over: Counts,
    seen: Counts,
}

impl Counts {
    fn add(&mut self, world: &mut World, place: usize, second: usize) {
        let row = world.port(place).meter().second(second);
        let sum = |causes: [u64; DropReason::ALL.len()]| causes.iter().sum::<u64>();
        for (all, of) in self.departures.iter_mut().zip(row.departures) {
            *all += of;
        }
        self.drops += sum(row.drops);
        self.marks += sum(row.marks);
    }
}

impl PortObserver {
    fn snapshot(&mut self, world: &mut World) -> PortSnapshot {
        let (now, place) = (world.now(), self.place);
        world.port(place).settle(now);
        let second = (now.nanos() / 1_000_000_000) as usize;
        for over in std::mem::replace(&mut self.second, second)..second {
            self.over.add(world, place, over);
        }
        let mut all = self.over;
        all.add(world, place, second);
        let meter = world.port(place).meter();
        all.arrivals = meter.totals().arrived.0;
        let (backlog, seen) = (meter.backlog(), std::mem::replace(&mut self.seen, all));
        let [departures, departure_bytes, waited_ns] =
            [0, 1, 2].map(|i| all.departures[i] - seen.departures[i]);
        PortSnapshot {
            packets: u64::from(backlog.packets),
            bytes: backlog.bytes,
            arrivals: all.arrivals - seen.arrivals,
            departures,
            departure_bytes,
            waited_s: waited_ns as f64 / 1e9,
            drops: all.drops - seen.drops,
            marks: all.marks - seen.marks,
        }
    }
}

impl Run {
    /// What has crossed a port (`<link>.forward`, `<link>.reverse`) since the last look at it, and
    /// what waits there. Looking changes nothing of a run.
    ///
    /// # Errors
    /// If there is no such port.
    pub fn port_snapshot(&mut self, port: &str) -> Result<PortSnapshot, ScenarioError> {
        let place = self.place(port)?;
        let known = self.observers.iter().position(|observers| observers.place == place);
        let which = known.unwrap_or_else(|| {
            let (over, seen) = (Counts::default(), Counts::default());
            self.observers.push(PortObserver { place, second: 0, over, seen });
            self.observers.len() - 1
        });
        Ok(self.observers[which].snapshot(&mut self.world))
    }

    /// Changes a parameter of the discipline of a port, between two slices of the run's time, for
    /// all later arrivals. State (averages, counts, what waits) stays. Two runs with equal changes
    /// at equal instants are equal to the bit.
    ///
    /// # Errors
    /// If there is no such port, or its discipline has no parameter of this name that can be changed
    /// while it works, or not to this value.
    pub fn set(&mut self, port: &str, name: &str, value: f64) -> Result<(), ScenarioError> {
        let (place, now) = (self.place(port)?, self.world.now());
        if self.world.port(place).set(now, name, value) {
            return Ok(());
        }
        Err(ScenarioError(format!(
            "{port}: its discipline cannot change {name} to {value} while it works; change p of agent, \
             max_p of red (profiles of the paper and of ns) or target of pie, within their ranges"
        )))
    }

    fn place(&self, port: &str) -> Result<usize, ScenarioError> {
        let found = self.ports.iter().position(|name| name == port);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.ports.iter().map(String::as_str).collect();
            ScenarioError(packet::params::unknown("port", port, &known)).on_one_line()
        })
    }
}
