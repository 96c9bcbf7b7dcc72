//! Steering of a run: its caller reads ports and changes parameters between slices of simulated
//! time.

use packet::DropReason;

use crate::error::ScenarioError;
use crate::run::Run;
use crate::world::World;

/// Packets that crossed one port since its last snapshot, and those that wait there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortSnapshot {
    /// Packets waiting now.
    pub packets: u64,
    /// IP bytes waiting now.
    pub bytes: u64,
    /// Packets that arrived since the last snapshot.
    pub arrivals: u64,
    /// Packets whose transmission began since the last snapshot; a transmission that ends in a
    /// later second counts in that second.
    pub departures: u64,
    /// IP bytes of these departures.
    pub departure_bytes: u64,
    /// Sum of the queueing delays of these departures, s.
    pub waited_s: f64,
    /// Packets dropped since the last snapshot.
    pub drops: u64,
    /// Packets marked since the last snapshot.
    pub marks: u64,
}

impl PortSnapshot {
    /// The fields of the snapshot as numbers, in order.
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

/// Counters of a port since the begin of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrivals: u64,
    departures: [u64; 3],
    drops: u64,
    marks: u64,
}

/// The observer of a port: its counters at the last snapshot (`seen`), and those of all whole
/// seconds that are over (`over`).
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
    /// Packets that have crossed a port (`<link>.forward`, `<link>.reverse`) since its last
    /// snapshot, and those that wait there. Reading does not change the run.
    ///
    /// # Errors
    /// If no port has this name.
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

    /// Changes a parameter of a port's discipline between two slices of simulated time, for all
    /// later arrivals. The discipline's state (averages, counters, waiting packets) is kept. Two
    /// runs with equal changes at equal instants are equal to the bit.
    ///
    /// # Errors
    /// If no port has this name, or if its discipline cannot change a parameter of this name, or
    /// not to this value, during a run.
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
