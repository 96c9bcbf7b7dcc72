//! Assignment of packets to queues, and the number of bulk queues of each host.

use alloc::{vec, vec::Vec};

use packet::Packet;

use crate::shells::flows::hash;

/// Number of slots in a set, any of which may hold a tag that hashes to the set.
pub(super) const WAYS: usize = 8;

/// How packets are separated into queues, and queues into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Isolation {
    /// Whether each flow has a queue.
    flows: bool,
    /// Whether queues, or with `flows` the shares of the rate, are separated by source host.
    source: bool,
    destination: bool,
}

impl Isolation {
    /// The isolation called `name`.
    pub fn named(name: &str) -> Self {
        let (flows, source, destination) = match name {
            "flowblind" => (false, false, false),
            "srchost" => (false, true, false),
            "dsthost" => (false, false, true),
            "hosts" => (false, true, true),
            "flows" => (true, false, false),
            "dual-srchost" => (true, true, false),
            "dual-dsthost" => (true, false, true),
            _ => (true, true, true),
        };
        Isolation { flows, source, destination }
    }

    /// Whether all queues of a source host together get one share.
    pub const fn shares_source(self) -> bool {
        self.flows && self.source
    }
    /// Whether all queues of a destination host together get one share.
    pub const fn shares_destination(self) -> bool {
        self.flows && self.destination
    }

    /// Hash tag of the queue for `packet`; `None` if all packets share one queue.
    #[inline]
    pub fn tag(self, packet: &Packet, seed: u64) -> Option<u32> {
        if self.flows {
            return Some(hash(packet.flow, seed) as u32);
        }
        if !self.source && !self.destination {
            return None;
        }
        let source = if self.source { source_tag(packet, seed) } else { 0 };
        let destination = if self.destination { destination_tag(packet, seed) } else { 0 };
        Some(source ^ destination)
    }
}

/// Hash tag of the host that sent `packet`.
pub(super) fn source_tag(packet: &Packet, seed: u64) -> u32 {
    hash(u64::from(packet.header.source), seed.wrapping_add(1)) as u32
}

/// Hash tag of the host to which `packet` goes.
pub(super) fn destination_tag(packet: &Packet, seed: u64) -> u32 {
    hash(u64::from(packet.header.destination), seed.wrapping_add(2)) as u32
}

/// Indices of the slots of a set, in the order in which they are searched for `tag`: from the slot
/// it hashes to.
pub(super) fn ways(tag: u32, places: usize) -> impl Iterator<Item = usize> {
    let direct = tag as usize % places;
    let set = direct - direct % WAYS;
    (0..WAYS).map(move |way| set + (direct + way) % WAYS)
}

/// Hosts of one direction (sources or destinations), and the number of bulk queues of each.
pub(super) struct Hosts {
    tags: Vec<u32>,
    bulk: Vec<u16>,
}

impl Hosts {
    /// A table with `places` slots, without bulk queues.
    pub fn new(places: usize) -> Self {
        Hosts { tags: vec![0; places], bulk: vec![0; places] }
    }

    /// Index of the slot of the host with `tag`: its present one; otherwise one without bulk
    /// queues; otherwise the one that its tag hashes to, which it then shares.
    pub fn place(&mut self, tag: u32) -> u16 {
        let places = self.tags.len();
        let known = ways(tag, places).find(|place| self.tags[*place] == tag);
        let place = known
            .or_else(|| ways(tag, places).find(|place| self.bulk[*place] == 0))
            .unwrap_or(tag as usize % places);
        self.tags[place] = tag;
        place as u16
    }

    /// Number of bulk queues of the host in slot `place`.
    #[inline]
    pub fn load(&self, place: u16) -> u16 {
        self.bulk[usize::from(place)]
    }

    /// One more queue of the host has become bulk.
    pub fn add(&mut self, place: u16) {
        self.bulk[usize::from(place)] += 1;
    }

    /// One queue of the host is no longer bulk.
    pub fn remove(&mut self, place: u16) {
        self.bulk[usize::from(place)] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_searched_from_its_own_place() {
        let found: Vec<_> = ways(21, 32).collect();
        assert_eq!(found, [21, 22, 23, 16, 17, 18, 19, 20]);
        assert_eq!(ways(32 + 7, 32).next(), Some(7));
    }

    #[test]
    fn hosts_find_room_and_share_where_there_is_none() {
        let mut hosts = Hosts::new(8);
        let places: Vec<u16> = (1..=8).map(|host| hosts.place(8 * host + 3)).collect();
        assert_eq!(places, [3; 8], "an idle host gives its place away");
        for host in 1..=8 {
            let place = hosts.place(8 * host + 3);
            hosts.add(place);
            assert_eq!(u32::from(place), (host + 2) % 8);
        }
        assert_eq!(hosts.place(8 * 4 + 3), 6, "known");
        let crowded = hosts.place(8 * 9 + 3);
        hosts.add(crowded);
        assert_eq!((crowded, hosts.load(3)), (3, 2), "shared");
        hosts.remove(6);
        assert_eq!(hosts.place(8 * 10 + 3), 6);
    }

    #[test]
    fn the_names_say_whose_packets_are_kept_apart() {
        let shares = |name| {
            let isolation = Isolation::named(name);
            (isolation.flows, isolation.shares_source(), isolation.shares_destination())
        };
        for (name, expected) in [
            ("flowblind", (false, false, false)),
            ("srchost", (false, false, false)),
            ("hosts", (false, false, false)),
            ("flows", (true, false, false)),
            ("dual-srchost", (true, true, false)),
            ("dual-dsthost", (true, false, true)),
            ("triple-isolate", (true, true, true)),
        ] {
            assert_eq!(shares(name), expected, "{name}");
        }
        let header = packet::Header { source: 1, destination: 2, ..Default::default() };
        let packet = Packet {
            id: 0,
            flow: 7,
            bytes: 100,
            ecn: packet::Ecn::NotEct,
            arrived: packet::Instant::ZERO,
            header,
        };
        let tag = |name| Isolation::named(name).tag(&packet, 5);
        let (source, destination) = (source_tag(&packet, 5), destination_tag(&packet, 5));
        assert_eq!(tag("srchost"), Some(source));
        assert_eq!(tag("dsthost"), Some(destination));
        assert_eq!(tag("hosts"), Some(source ^ destination));
        assert_eq!((tag("flowblind"), tag("flows")), (None, Some(hash(7, 5) as u32)));
    }
}
