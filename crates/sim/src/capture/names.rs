//! Addresses of machines, ports and first sequence numbers of connections in a capture.
//! None is taken from a real network; the scenario alone determines them.

use packet::random::{GOLDEN, mix};

use crate::topology::Side;

/// The smallest port of a connection's opener, above the well-known ports.
const FIRST_PORT: u32 = 1_024;
const PORTS: u32 = 65_536 - FIRST_PORT;
/// The port of every server program over TCP.
pub(super) const HTTP: u16 = 80;
/// The port of servers that accept QUIC connections.
pub(super) const HTTPS: u16 = 443;
/// The port to which datagrams go ("discard", RFC 863).
pub(super) const DISCARD: u16 = 9;

/// The port from which connection or stream `serial` is opened.
pub(super) fn own_port(serial: u32) -> u16 {
    (FIRST_PORT + serial % PORTS) as u16
}

/// The address of a machine in connection `serial`: clients are in 10.0.0.0/9, servers in
/// 10.128.0.0/9, numbered from 1. When the ports are used up every machine gets another address,
/// so that 128 × 64,512 connections differ in address or port.
pub(super) fn address(side: Side, machine: u16, serial: u32) -> [u8; 4] {
    let half = match side {
        Side::Clients => 0,
        Side::Servers => 128,
    };
    let [high, low] = machine.wrapping_add(1).to_be_bytes();
    [10, half + (serial / PORTS % 128) as u8, high, low]
}

/// The sequence number in a header for a number that counts from 0. Initial sequence numbers are a
/// hash, so that numbers wrap now and then as on any network.
pub(super) fn number(serial: u32, end: usize, offset: u64) -> u32 {
    let first = mix((u64::from(serial) << 1 | end as u64).wrapping_add(GOLDEN)) as u32;
    first.wrapping_add(offset as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn connections_of_one_machine_differ_until_the_ports_are_used_up_128_times() {
        let name = |serial| (address(Side::Clients, 6, serial), own_port(serial));
        let step = 1_021; // a prime: every port and address is met
        let serials = (0..128 * PORTS).step_by(step);
        let count = serials.clone().count();
        assert_eq!(serials.map(name).collect::<HashSet<_>>().len(), count);
        assert_eq!(name(0), ([10, 0, 0, 7], 1_024));
        assert_eq!(name(PORTS - 1), ([10, 0, 0, 7], 65_535));
        assert_eq!(name(PORTS), ([10, 1, 0, 7], 1_024));
        assert_eq!(name(128 * PORTS), name(0));
    }

    #[test]
    fn clients_and_servers_never_share_an_address() {
        assert_eq!(address(Side::Servers, 0, 0), [10, 128, 0, 1]);
        assert_eq!(address(Side::Servers, 299, 127 * PORTS), [10, 255, 1, 44]);
        assert_eq!(address(Side::Clients, 299, 127 * PORTS), [10, 127, 1, 44]);
    }

    #[test]
    fn both_ends_begin_at_numbers_of_their_own() {
        let numbers: HashSet<u32> =
            (0..1_000).flat_map(|serial| [0, 1].map(|end| number(serial, end, 0))).collect();
        assert_eq!(numbers.len(), 2_000);
    }
}
