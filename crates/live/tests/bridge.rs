//! The router between two devices in memory, with a clock that the test turns.

use aqmlab_live::addresses::{Family, address};
use aqmlab_live::bridge::Bridge;
use aqmlab_live::device::Memory;
use aqmlab_live::header::Facts;
use aqmlab_live::router::Router;
use packet::{Ecn, Instant};
use serde_json::{Value, json};
use sim::topology::Side;

use crate::simulated::scenario;

/// A datagram of 1,000 bytes from a side to the other; `number` is in its first byte of payload.
pub fn datagram(from: Side, ecn: u8, number: u8) -> Vec<u8> {
    let mut packet = vec![0x45, ecn, 3, 232, 0, 0, 0x40, 0, 64, 17, 0, 0];
    for side in [from, from.other()] {
        let std::net::IpAddr::V4(v4) = address(Family::V4, side, 0, 0) else { unreachable!() };
        packet.extend(v4.octets());
    }
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend([0, 9, 0, 9, 3, 212, 0, 0, number]);
    packet.resize(1_000, 0);
    packet
}

fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

/// 8 Mbit/s (a packet of 1,000 bytes takes a millisecond), no distance.
fn bridge(queue: Value) -> Bridge<Memory> {
    bridge_of(json!([{"rate": "8 Mbit/s", "forward": queue}]))
}

fn bridge_of(links: Value) -> Bridge<Memory> {
    let scenario = scenario(&json!({
        "duration": "10 s", "network": {"rtt": "0 s"},
        "link": links,
        "traffic": [{"app": "bulk", "flows": 1}],
    }));
    Bridge::new(Router::new(&scenario, 0).expect("a router"), Default::default(), None)
}

fn turn(bridge: &mut Bridge<Memory>, at_us: u64) {
    let now = Instant::from_nanos(at_us * 1_000);
    bridge.turn(&mut || now, &mut |_| {}).expect("a device");
}

const SERVERS: usize = 1;
const CLIENTS: usize = 0;

fn numbers(sent: &[Vec<u8>]) -> Vec<u8> {
    sent.iter().map(|packet| packet[28]).collect()
}

#[test]
fn packets_leave_when_the_line_has_sent_them_however_late_it_is_looked_at() {
    let mut bridge = bridge(json!("droptail"));
    for number in 0..3 {
        bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, number));
    }
    turn(&mut bridge, 100);
    assert_eq!(bridge.next(), Some(Instant::from_nanos(1_100_000)));
    turn(&mut bridge, 1_099);
    assert!(bridge.devices()[CLIENTS].outgoing.is_empty());
    turn(&mut bridge, 1_100);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0]);
    // The next look comes 3 ms late: the link has gone on meanwhile.
    turn(&mut bridge, 6_100);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0, 1, 2]);
    assert!((bridge.lateness().longest_s() - 0.004).abs() < 1e-9);
    assert_eq!((bridge.account().received, bridge.account().sent), (3, 3));
}

#[test]
fn what_becomes_due_while_packets_are_taken_leaves_with_that_look() {
    let mut bridge = bridge(json!("droptail"));
    bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, 0));
    turn(&mut bridge, 0);
    // Each time that the clock is read 300 us are over: the first packet is due within this look.
    bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, 1));
    let mut now_us = 500;
    let mut clock = || {
        now_us += 300;
        Instant::from_nanos(now_us * 1_000)
    };
    bridge.turn(&mut clock, &mut |_| {}).expect("a device");
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0]);
}

#[test]
fn a_line_that_was_looked_at_late_is_not_faster_afterwards() {
    let mut bridge = bridge(json!("droptail"));
    bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, 0));
    turn(&mut bridge, 0);
    turn(&mut bridge, 5_000);
    for number in 1..3 {
        bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, number));
    }
    turn(&mut bridge, 5_000);
    turn(&mut bridge, 6_999);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0, 1]);
    turn(&mut bridge, 7_000);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0, 1, 2]);
}

#[test]
fn marked_packets_carry_the_mark_and_a_whole_checksum() {
    let mut bridge =
        bridge(json!({"aqm": "red", "min_th": 1, "max_th": 40, "max_p": 1, "w_q": 1, "ecn": true}));
    for number in 0..30 {
        let ecn = if number % 2 == 0 { 2 } else { 0 };
        bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, ecn, number));
    }
    turn(&mut bridge, 0);
    turn(&mut bridge, 100_000);
    let sent = &bridge.devices()[CLIENTS].outgoing;
    let code = |packet: &Vec<u8>| Facts::read(packet).expect("a packet").ecn;
    let marked: Vec<_> = sent.iter().filter(|packet| code(packet) == Ecn::Ce).collect();
    assert!(!marked.is_empty() && sent.iter().any(|packet| code(packet) == Ecn::NotEct));
    assert!(marked.iter().all(|packet| packet[28] % 2 == 0));
    assert!(sent.iter().all(|packet| matches!(checksum(&packet[..20]), 0 | 0xffff)));
}

#[test]
fn a_copy_leaves_behind_its_packet_and_takes_its_place_in_the_next_queue() {
    let copies = json!([{"kind": "duplicate", "share": 1}]);
    let mut bridge = bridge_of(json!([
        {"rate": "16 Mbit/s", "effects": copies},
        {"rate": "8 Mbit/s", "forward": "droptail"},
    ]));
    for number in 0..2 {
        bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, number));
    }
    turn(&mut bridge, 0);
    // They leave the first link after 0.5 and 1 ms; the second one takes 1 ms for each of four.
    turn(&mut bridge, 2_500);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [0, 0]);
    turn(&mut bridge, 4_500);
    let sent = &bridge.devices()[CLIENTS].outgoing;
    assert_eq!(numbers(sent), [0, 0, 1, 1]);
    assert!(sent.iter().all(|packet| packet[..28] == datagram(Side::Servers, 0, 0)[..28]));
    assert_eq!((bridge.account().received, bridge.account().sent), (2, 4));
    assert_eq!(bridge.next(), None, "nothing is under way");
}

#[test]
fn a_packet_and_its_copy_are_marked_and_corrupted_each_on_its_own() {
    let effects = json!([
        {"kind": "duplicate", "share": 1}, {"kind": "corrupt", "share": 0.5},
        {"kind": "duplicate", "share": 1}, {"kind": "corrupt", "share": 0.5},
    ]);
    let mut bridge = bridge_of(json!([{"rate": "8 Mbit/s", "effects": effects}]));
    for number in 0..50 {
        bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, number));
        turn(&mut bridge, 2_000 * u64::from(number));
    }
    turn(&mut bridge, 200_000);
    let sent = &bridge.devices()[CLIENTS].outgoing;
    assert_eq!(sent.len(), 200);
    let mut corrupted = 0;
    for packet in sent {
        let whole = datagram(Side::Servers, 0, packet[28]);
        let wrong: u32 = packet.iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert!(wrong <= 1, "a packet that was corrupted twice has one wrong bit");
        corrupted += wrong;
    }
    // Of 200 packets 3/4 have met a corruption; two pairs of copies share the first one.
    assert!((120..=180).contains(&corrupted), "{corrupted}");
}

#[test]
fn what_is_not_ours_is_left_out_and_what_finds_no_room_is_counted() {
    let mut bridge = bridge(json!("droptail"));
    let mut multicast = datagram(Side::Servers, 0, 9);
    multicast[16..20].copy_from_slice(&[224, 0, 0, 22]);
    let servers = &mut bridge.devices_mut()[SERVERS];
    servers.incoming.extend([multicast, vec![0x60; 8], datagram(Side::Clients, 0, 9)]);
    servers.incoming.extend([datagram(Side::Servers, 0, 1), datagram(Side::Servers, 0, 2)]);
    bridge.devices_mut()[CLIENTS].refuses = 1;
    turn(&mut bridge, 0);
    turn(&mut bridge, 10_000);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [2]);
    let account = bridge.account();
    assert_eq!((account.foreign, account.received, account.sent, account.refused), (3, 2, 1, 1));
}

#[test]
fn both_ways_have_queues_of_their_own() {
    let mut bridge = bridge(json!("droptail"));
    bridge.devices_mut()[SERVERS].incoming.push_back(datagram(Side::Servers, 0, 1));
    bridge.devices_mut()[CLIENTS].incoming.push_back(datagram(Side::Clients, 0, 2));
    turn(&mut bridge, 0);
    turn(&mut bridge, 1_000);
    assert_eq!(numbers(&bridge.devices()[CLIENTS].outgoing), [1]);
    assert_eq!(numbers(&bridge.devices()[SERVERS].outgoing), [2]);
}
