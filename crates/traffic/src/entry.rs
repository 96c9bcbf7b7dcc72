//! The registry's entry for an application: its description, and how the sources of a traffic group
//! are made.

use std::fmt;

use packet::params::{BadParams, Kind, Params};
use packet::{About, Instant, Rng};

use crate::{App, Paced};

/// The entry for one kind of application.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Description and parameters.
    pub about: About,
    /// Singular and plural of what a source is called; [`USERS`] by default.
    pub noun: [&'static str; 2],
    /// Whether the application fetches data to its own side; otherwise it sends data to the other
    /// side. This decides where its sources are if the scenario does not say: fetchers on the
    /// clients' side, senders on the servers'.
    pub fetches: bool,
    /// Whether the application sends datagrams instead of using TCP.
    pub datagrams: bool,
    /// Builds the sources of a group.
    pub build: fn(&Params, &Group) -> Result<Population, BadParams>,
}

/// Nouns of sources that are users of the application.
pub const USERS: [&str; 2] = ["user", "users"];

impl Entry {
    /// Whether the application is an open loop: its size is a rate of connections (its field
    /// [`RATE`]), whatever the network does, and not a number of sources.
    pub fn is_open_loop(&self) -> bool {
        self.about.fields.iter().any(|field| field.name == RATE)
    }

    /// Whether the application replays a recording, which has a rate of its own.
    pub fn is_recorded(&self) -> bool {
        self.about.fields.iter().any(|field| matches!(field.kind, Kind::File))
    }
}

/// Name of the field that holds the size of an application without sources.
pub const RATE: &str = "connections_per_s";

/// A traffic group: the names of its streams of random numbers, and the machines of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Seed of the run.
    pub seed: u64,
    /// The group's name, with which the names of its streams of random numbers begin
    /// (`<name>.think`).
    pub name: String,
    /// Number of machines on the other side.
    pub peers: u32,
    /// Number of users or flows in the group.
    pub sources: u32,
    /// Number of machines on the group's own side. Source `i` is on machine `i % machines`.
    pub machines: u32,
}

impl Group {
    /// Returns an error if a side has no machine; `who` names what needs one.
    pub(crate) fn need_machines(&self, who: &str) -> Result<(), BadParams> {
        for (field, count) in [("peers", self.peers), ("machines", self.machines)] {
            if count == 0 {
                let why = format!("{who} need a machine on each side; give it at least 1");
                return Err(BadParams::new(field, why));
            }
        }
        Ok(())
    }

    /// The machine that source `index` sends to. Sources go round robin over the machines of their
    /// own side and over the peers; each time both rounds close together the peers are shifted by
    /// one, so that every pair gets its share.
    pub(crate) fn peer_of(&self, index: u32) -> u32 {
        let [index, machines, peers] = [index, self.machines, self.peers].map(u64::from);
        let both = machines / gcd(machines, peers) * peers;
        ((index + index / both) % peers) as u32
    }

    /// The stream of random numbers for one variable of source `index`.
    pub(crate) fn stream(&self, variable: &str, index: u32) -> Rng {
        Rng::indexed(self.seed, &format!("{}.{variable}", self.name), u64::from(index))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The sources of a group, made one by one or all at once.
pub struct Population {
    sources: u32,
    make: Box<dyn Make + Send + Sync>,
    ip_bytes_per_source_s: Option<f64>,
    needs_streams: bool,
}

/// Sources of one kind in one piece of memory, found by their numbers; a scenario may have
/// millions.
pub trait Sources: Send {
    /// Source `i`.
    ///
    /// # Panics
    /// If there are fewer sources.
    fn at(&mut self, i: u32) -> &mut dyn App;
    /// [`App::paced`] of source `i`.
    ///
    /// # Panics
    /// If there are fewer sources.
    fn paced(&mut self, i: u32, now: Instant) -> Option<Paced>;
}

impl<A: App> Sources for Vec<A> {
    fn at(&mut self, i: u32) -> &mut dyn App {
        &mut self[i as usize]
    }

    fn paced(&mut self, i: u32, now: Instant) -> Option<Paced> {
        self[i as usize].paced(now)
    }
}

/// Makes the sources of one kind, singly or all together.
trait Make {
    fn one(&self, i: u32) -> Box<dyn App>;
    fn all(&self, sources: u32) -> Option<Box<dyn Sources>>;
}

impl<A: App + 'static, F: Fn(u32) -> A> Make for F {
    fn one(&self, i: u32) -> Box<dyn App> {
        Box::new(self(i))
    }

    fn all(&self, sources: u32) -> Option<Box<dyn Sources>> {
        let mut all = Vec::new();
        all.try_reserve_exact(sources as usize).ok()?;
        prefetch::huge_pages(&all);
        all.extend((0..sources).map(self));
        Some(Box::new(all))
    }
}

impl Population {
    /// A population of `sources`; `make` makes the source with a given number.
    pub fn new<A: App + 'static>(
        sources: u32,
        make: impl Fn(u32) -> A + Send + Sync + 'static,
    ) -> Self {
        Population {
            sources,
            make: Box::new(make),
            ip_bytes_per_source_s: None,
            needs_streams: false,
        }
    }

    /// This population, with connections that carry independent streams if `needed`.
    #[must_use]
    pub fn over_streams(mut self, needed: bool) -> Self {
        self.needs_streams = needed;
        self
    }

    /// Whether the connections need independent streams, which TCP does not have.
    pub fn needs_streams(&self) -> bool {
        self.needs_streams
    }

    /// This population, where each source is expected to request this many IP bytes per second.
    #[must_use]
    pub fn requesting(mut self, ip_bytes_per_source_s: f64) -> Self {
        self.ip_bytes_per_source_s = Some(ip_bytes_per_source_s);
        self
    }

    /// Number of sources.
    pub fn sources(&self) -> u32 {
        self.sources
    }

    /// Source `i`, in its state at the beginning of a run. It does not depend on how many others
    /// there are.
    pub fn source(&self, i: u32) -> Box<dyn App> {
        self.make.one(i)
    }

    /// All sources in their state at the beginning of a run; `None` if there is not enough memory.
    pub fn all(&self) -> Option<Box<dyn Sources>> {
        self.make.all(self.sources)
    }

    /// IP bytes, without framing, that one source (of an open-loop application, one connection per
    /// second) is expected to cause per second from the other side to its own on an uncongested
    /// network: a first estimate for calibration. `None` if the network alone decides.
    pub fn ip_bytes_per_source_s(&self) -> Option<f64> {
        self.ip_bytes_per_source_s
    }
}

impl fmt::Debug for Population {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Population")
            .field("sources", &self.sources)
            .field("ip_bytes_per_source_s", &self.ip_bytes_per_source_s)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_machines_gets_its_share() {
        for (machines, peers) in [(1, 1), (4, 4), (7, 4), (6, 4), (2, 8), (8, 2), (5, 1)] {
            let mut flows = vec![0; (machines * peers) as usize];
            let group = Group { seed: 1, name: String::new(), peers, sources: 0, machines };
            for i in 0..3 * machines * peers {
                flows[(i % machines * peers + group.peer_of(i)) as usize] += 1;
            }
            assert!(flows.iter().all(|&n| n == 3), "{machines} x {peers}: {flows:?}");
        }
    }
}
