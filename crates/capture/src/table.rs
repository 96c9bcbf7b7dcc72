//! The open connections by their ends, those of each stage in order of their last packets.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::connection::{Connection, Stage};
use crate::headers::{Address, Segment};

/// The addresses and ports of a connection's ends, the lesser one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub low: (Address, u16),
    pub high: (Address, u16),
}

impl Hash for Key {
    /// Hashes all bytes at once: field by field costs 250 instructions a packet more.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 36];
        for (part, (address, port)) in bytes.chunks_exact_mut(18).zip([self.low, self.high]) {
            part[..16].copy_from_slice(&address);
            part[16..].copy_from_slice(&port.to_be_bytes());
        }
        state.write(&bytes);
    }
}

impl Key {
    /// The key of a segment, and whether the lesser end sent it.
    pub fn of(segment: &Segment) -> (Self, bool) {
        if segment.from <= segment.to {
            (Key { low: segment.from, high: segment.to }, true)
        } else {
            (Key { low: segment.to, high: segment.from }, false)
        }
    }
}

const NONE: u32 = u32::MAX;

/// An open connection in the table.
pub struct Entry {
    pub key: Key,
    /// Whether the lesser end is the opener.
    pub low_is_opener: bool,
    pub connection: Connection,
    stage: Stage,
    older: u32,
    newer: u32,
}

/// A linked list of entries in order of their last packets.
#[derive(Clone, Copy)]
struct Chain {
    oldest: u32,
    newest: u32,
}

/// The table of open connections. Entries are kept in a slab, where indices are reused.
pub struct Table {
    places: HashMap<Key, u32>,
    entries: Vec<Option<Box<Entry>>>,
    free: Vec<u32>,
    chains: [Chain; 3],
}

/// The order of stages in which connections are evicted to make room for others.
pub const STAGES: [Stage; 3] = [Stage::Closed, Stage::Embryonic, Stage::Established];

fn chain_of(stage: Stage) -> usize {
    STAGES.iter().position(|s| *s == stage).unwrap_or(0)
}

impl Table {
    pub fn new() -> Self {
        let empty = Chain { oldest: NONE, newest: NONE };
        Table { places: HashMap::new(), entries: Vec::new(), free: Vec::new(), chains: [empty; 3] }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn find(&self, key: &Key) -> Option<u32> {
        self.places.get(key).copied()
    }

    pub fn get(&mut self, place: u32) -> Option<&mut Entry> {
        self.entries.get_mut(place as usize)?.as_deref_mut()
    }

    pub fn insert(&mut self, key: Key, low_is_opener: bool, connection: Connection) -> u32 {
        let stage = connection.stage();
        let entry =
            Box::new(Entry { key, low_is_opener, connection, stage, older: NONE, newer: NONE });
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = Some(entry);
                place
            }
            None => {
                self.entries.push(Some(entry));
                self.entries.len() as u32 - 1
            }
        };
        self.places.insert(key, place);
        self.append(place, stage);
        place
    }

    /// Moves an entry to the newest end of the list of its stage.
    pub fn touch(&mut self, place: u32) {
        let Some(entry) = self.get(place) else { return };
        let stage = entry.connection.stage();
        if self.chains[chain_of(stage)].newest != place {
            self.unlink(place);
            self.append(place, stage);
        }
    }

    pub fn remove(&mut self, place: u32) -> Option<Box<Entry>> {
        self.unlink(place);
        let entry = self.entries.get_mut(place as usize)?.take()?;
        self.places.remove(&entry.key);
        self.free.push(place);
        Some(entry)
    }

    /// Index of the connection that has been without packets for longest among those in `stage`,
    /// and the time of its last packet, ns.
    pub fn oldest(&mut self, stage: Stage) -> Option<(u32, i64)> {
        let place = self.chains[chain_of(stage)].oldest;
        self.get(place).map(|entry| (place, entry.connection.last_ns))
    }

    fn append(&mut self, place: u32, stage: Stage) {
        let chain = self.chains[chain_of(stage)];
        let Some(entry) = self.get(place) else { return };
        (entry.stage, entry.older, entry.newer) = (stage, chain.newest, NONE);
        match self.get(chain.newest) {
            Some(last) => last.newer = place,
            None => self.chains[chain_of(stage)].oldest = place,
        }
        self.chains[chain_of(stage)].newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let Some(entry) = self.get(place) else { return };
        let (chain, older, newer) = (chain_of(entry.stage), entry.older, entry.newer);
        match self.get(older) {
            Some(entry) => entry.newer = newer,
            None => self.chains[chain].oldest = newer,
        }
        match self.get(newer) {
            Some(entry) => entry.older = older,
            None => self.chains[chain].newest = older,
        }
    }
}
