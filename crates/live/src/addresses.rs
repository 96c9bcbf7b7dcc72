//! The addresses of machines, as in the captures of simulated runs: clients in 10.0.0.0/9, servers
//! in 10.128.0.0/9, machines numbered from 1. A machine has [`LANES`] addresses, because some runs
//! need more ports than one address has. IPv6 has the numbers of IPv4 below a unique local prefix
//! (RFC 4193).
//!
//! The addresses are not configured one by one: a local route makes the whole prefix of a side
//! local to its namespace.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sim::topology::Side;

/// Number of addresses of each machine.
pub const LANES: u8 = 128;

/// Length of the prefix of a side in bits, by [`Family`].
pub const PREFIX_BITS: [u8; 2] = [9, 64];

/// The /48 prefix of all our IPv6 addresses: fd00::/8 and the 40-bit global ID "qmlab" in ASCII.
const UNIQUE_LOCAL: [u16; 3] = [0xfd71, 0x6d6c, 0x6162];

/// An address family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Both address families.
    pub const ALL: [Family; 2] = [Family::V4, Family::V6];
}

/// The index of a side: clients 0, servers 1.
pub const fn index(side: Side) -> u8 {
    match side {
        Side::Clients => 0,
        Side::Servers => 1,
    }
}

/// The side with this index.
pub const fn side(index: u8) -> Side {
    if index == 0 { Side::Clients } else { Side::Servers }
}

/// The address of a machine on side `of` with the number `lane` (below [`LANES`]).
pub fn address(family: Family, of: Side, machine: u16, lane: u8) -> IpAddr {
    debug_assert!(lane < LANES);
    let [high, low] = machine.wrapping_add(1).to_be_bytes();
    match family {
        Family::V4 => Ipv4Addr::new(10, index(of) << 7 | lane, high, low).into(),
        Family::V6 => {
            let [a, b, c] = UNIQUE_LOCAL;
            let machine = machine.wrapping_add(1);
            Ipv6Addr::new(a, b, c, index(of).into(), 0, 0, lane.into(), machine).into()
        }
    }
}

/// The prefix of a side: its address and its length in bits.
pub fn prefix(family: Family, of: Side) -> (IpAddr, u8) {
    let first = address(family, of, u16::MAX, 0);
    (first, PREFIX_BITS[family as usize])
}

/// The side and the number of the machine that has this address; `None` for a foreign address.
pub fn machine(address: IpAddr) -> Option<(Side, u16)> {
    match address {
        IpAddr::V4(v4) => {
            let [ten, half, high, low] = v4.octets();
            let number = u16::from_be_bytes([high, low]);
            (ten == 10).then(|| (side(half >> 7), number.wrapping_sub(1)))
        }
        IpAddr::V6(v6) => {
            let parts = v6.segments();
            let ours = parts[..3] == UNIQUE_LOCAL && parts[3] < 2;
            ours.then(|| (side(parts[3] as u8), parts[7].wrapping_sub(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_their_machines() {
        for family in Family::ALL {
            for of in [Side::Clients, Side::Servers] {
                for (number, lane) in [(0, 0), (6, 127), (65_534, 3)] {
                    let address = address(family, of, number, lane);
                    assert_eq!(machine(address), Some((of, number)));
                }
            }
        }
        assert_eq!(address(Family::V4, Side::Clients, 6, 0).to_string(), "10.0.0.7");
        assert_eq!(address(Family::V4, Side::Servers, 0, 127).to_string(), "10.255.0.1");
        assert_eq!(address(Family::V6, Side::Servers, 0, 2).to_string(), "fd71:6d6c:6162:1::2:1");
        assert_eq!(machine("192.168.1.1".parse().expect("an address")), None);
    }

    #[test]
    fn a_prefix_holds_its_side() {
        let of = |family, side| {
            let (first, bits) = prefix(family, side);
            format!("{first}/{bits}")
        };
        assert_eq!(of(Family::V4, Side::Clients), "10.0.0.0/9");
        assert_eq!(of(Family::V4, Side::Servers), "10.128.0.0/9");
        assert_eq!(of(Family::V6, Side::Servers), "fd71:6d6c:6162:1::/64");
    }
}
