//! Where machines are: their addresses, and the ports of programs.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use sim::topology::Side;

use crate::addresses::{self, Family};

/// First port at which groups are served; lower ports belong to the system.
const SERVED: u16 = 2_000;
/// First local port of connections and streams that are opened.
const OPENING: u16 = 10_000;

/// How machines are given addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// Each machine's address is in a namespace of its side, IPv4.
    Namespaces,
    /// Each machine's address is in a namespace of its side, IPv6.
    Namespaces6,
    /// All machines are in 127.`n`.0.0/16 of the current namespace, without a network between them.
    Loopback(u8),
}

impl Places {
    /// The address of a machine, for the programs of one pair (see [`addresses::LANES`]).
    pub fn machine(self, side: Side, machine: u32, pair: u8) -> IpAddr {
        let number = machine as u16;
        match self {
            Places::Namespaces => addresses::address(Family::V4, side, number, pair),
            Places::Namespaces6 => addresses::address(Family::V6, side, number, pair),
            Places::Loopback(net) => {
                let [high, low] = (number + 1).to_be_bytes();
                Ipv4Addr::new(127, net, addresses::index(side) << 7 | high, low).into()
            }
        }
    }

    /// The address and port at which a machine serves a group.
    pub fn served(self, side: Side, machine: u32, pair: u8, group: u16) -> SocketAddr {
        SocketAddr::new(self.machine(side, machine, pair), SERVED + group)
    }

    /// The unspecified address of the family with the port of a group: it listens on all machines
    /// at once.
    pub fn listening(self, group: u16) -> SocketAddr {
        match self {
            Places::Namespaces6 => SocketAddr::new([0_u16; 8].into(), SERVED + group),
            _ => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), SERVED + group),
        }
    }
}

/// Local ports for opening connections, in turn at each address: a port is reused as late as
/// possible, so that no connection meets an earlier one in TIME_WAIT.
#[derive(Debug, Default)]
pub struct Ports {
    next: HashMap<IpAddr, u16>,
}

impl Ports {
    /// Number of local ports for opening connections at each address.
    pub const ALL: u16 = u16::MAX - OPENING + 1;

    /// The next local port of an address.
    pub fn next(&mut self, at: IpAddr) -> SocketAddr {
        let next = self.next.entry(at).or_insert(OPENING);
        let port = *next;
        *next = port.checked_add(1).unwrap_or(OPENING);
        SocketAddr::new(at, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_again_as_late_as_can_be() {
        let (mut ports, at) = (Ports::default(), IpAddr::from([10, 0, 0, 1]));
        let first = ports.next(at);
        assert_eq!(first.port(), OPENING);
        assert_eq!(ports.next(IpAddr::from([10, 0, 0, 2])).port(), OPENING, "each by itself");
        let all: Vec<u16> = (1..Ports::ALL).map(|_| ports.next(at).port()).collect();
        assert_eq!(all.last(), Some(&u16::MAX));
        assert_eq!(ports.next(at), first);
    }
}
