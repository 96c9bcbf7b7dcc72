//! Where machines are: their addresses, and the ports of programs.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use sim::topology::Side;

use crate::addresses::{self, Family};

/// The first port at which groups are served; those below are the system's.
const SERVED: u16 = 2_000;
/// The first port of those who open.
const OPENING: u16 = 10_000;

/// Addresses of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// In namespaces of their own, IPv4.
    Namespaces,
    /// In namespaces of their own, IPv6.
    Namespaces6,
    /// All in 127.`n`.0.0/16 of the own namespace, without a network between them.
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

    /// Where a group is served at a machine.
    pub fn served(self, side: Side, machine: u32, pair: u8, group: u16) -> SocketAddr {
        SocketAddr::new(self.machine(side, machine, pair), SERVED + group)
    }

    /// Any address of the family, with the port at which a group is served: all machines at once.
    pub fn listening(self, group: u16) -> SocketAddr {
        match self {
            Places::Namespaces6 => SocketAddr::new([0_u16; 8].into(), SERVED + group),
            _ => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), SERVED + group),
        }
    }
}

/// Ports of openers, one after the other at each address: a port is used again as late as can be, so
/// that no connection meets an earlier one that still lingers in TIME_WAIT.
#[derive(Debug, Default)]
pub struct Ports {
    next: HashMap<IpAddr, u16>,
}

impl Ports {
    /// How many an address has.
    pub const ALL: u16 = u16::MAX - OPENING + 1;

    /// The next port of an address.
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
