//! Distances: announced ones, those of who announces nothing, and where they lie.

use std::net::SocketAddr;

use aqmlab_live::addresses::{Family, address};
use aqmlab_live::control::{Announcement, Protocol};
use aqmlab_live::header::{Facts, Segment};
use aqmlab_live::router::{Departed, Router};
use capture::flags;
use packet::{Duration, Ecn, Instant};
use serde_json::{Value, json};
use sim::topology::Side;

use crate::simulated::scenario;

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

fn end(side: Side, port: u16) -> SocketAddr {
    SocketAddr::new(address(Family::V4, side, 2, 0), port)
}

/// A packet of 1,000 bytes that `from` sends.
fn packet(protocol: Protocol, from: Side, client_port: u16) -> Facts {
    let ends = [end(Side::Clients, client_port), end(Side::Servers, 80)];
    let [from, to] = if from == Side::Clients { ends } else { [ends[1], ends[0]] };
    let segment = Segment {
        seq: 1,
        ack: 1,
        flags: flags::ACK,
        payload: 960,
        queue_header: packet::TcpHeader::default(),
    };
    Facts {
        bytes: 1_000,
        ecn: Ecn::NotEct,
        dscp: 0,
        protocol: protocol as u8,
        from,
        to,
        segment: (protocol == Protocol::Tcp).then_some(segment),
    }
}

fn announcement(protocol: Protocol, client_port: u16, ms: u64) -> Announcement {
    Announcement {
        protocol,
        opener: end(Side::Clients, client_port),
        acceptor: end(Side::Servers, 80),
        group: 0,
        source: 0,
        round_trip: Duration::from_millis(ms),
    }
}

fn line(rtt: Value) -> Value {
    json!({
        "duration": "10 s", "network": {"rtt": rtt},
        // 1,000 bytes take a millisecond; 2 ms of propagation behind the port.
        "link": [{"rate": "8 Mbit/s", "delay": "2 ms"}],
        "traffic": [{"app": "bulk", "flows": 1}],
    })
}

/// When each packet of a millisecond apart is delivered, in microseconds.
fn delivered(router: &mut Router, packets: &[(Side, Facts)]) -> Vec<u64> {
    let mut done = Vec::new();
    for (id, (from, facts)) in (0..).zip(packets) {
        router.arrive(at(u64::from(id) * 1_000), id, *from, facts);
    }
    router.advance(at(5_000_000));
    router.take_done(&mut done);
    let mut times = vec![0; packets.len()];
    for done in done {
        let Departed::Delivered { id, at, .. } = done else { panic!("a packet was lost") };
        times[id as usize] = at.nanos() / 1_000;
    }
    times
}

#[test]
fn a_connection_s_whole_round_trip_lies_before_the_client() {
    let mut router = Router::new(&scenario(&line(json!("50 ms"))), 0).expect("a router");
    router.announce(&announcement(Protocol::Tcp, 4_000, 100));
    let tcp = |from| (from, packet(Protocol::Tcp, from, 4_000));
    let times = delivered(&mut router, &[tcp(Side::Clients), tcp(Side::Servers)]);
    assert_eq!(times, [3_000, 1_000 + 3_000 + 100_000]);
}

#[test]
fn half_of_it_lies_on_either_way_of_datagrams() {
    let mut router = Router::new(&scenario(&line(json!("50 ms"))), 0).expect("a router");
    router.announce(&announcement(Protocol::Udp, 4_000, 100));
    let udp = |from| (from, packet(Protocol::Udp, from, 4_000));
    let times = delivered(&mut router, &[udp(Side::Clients), udp(Side::Servers)]);
    assert_eq!(times, [3_000 + 50_000, 1_000 + 3_000 + 50_000]);
}

#[test]
fn who_announces_nothing_has_the_scenario_s_distance() {
    let mut router = Router::new(&scenario(&line(json!("50 ms"))), 0).expect("a router");
    let times = delivered(&mut router, &[(Side::Servers, packet(Protocol::Tcp, Side::Servers, 9))]);
    assert_eq!(times, [3_000 + 50_000]);
    // By pairs of machines it is the pair's, whoever sends first.
    let pairs = line(json!({"min": "10 ms", "max": "90 ms"}));
    let of = |from| {
        let mut router = Router::new(&scenario(&pairs), 0).expect("a router");
        let other = (Side::Servers, packet(Protocol::Tcp, Side::Servers, 9));
        delivered(&mut router, &[(from, packet(Protocol::Tcp, from, 9)), other])[1]
    };
    assert_eq!(of(Side::Clients), of(Side::Servers));
}

#[test]
fn a_port_that_is_used_again_has_its_new_distance() {
    let mut router = Router::new(&scenario(&line(json!("50 ms"))), 0).expect("a router");
    let tcp = (Side::Servers, packet(Protocol::Tcp, Side::Servers, 4_000));
    router.announce(&announcement(Protocol::Tcp, 4_000, 100));
    assert_eq!(delivered(&mut router, &[tcp]), [103_000]);
    router.announce(&announcement(Protocol::Tcp, 4_000, 20));
    assert!(router.knows(tcp.0, &tcp.1));
    router.arrive(at(6_000_000), 9, tcp.0, &tcp.1);
    router.advance(at(9_000_000));
    let mut done = Vec::new();
    router.take_done(&mut done);
    let Some(Departed::Delivered { at, .. }) = done.pop() else { panic!("it was lost") };
    assert_eq!(at.nanos(), 6_023_000_000);
    assert_eq!(router.flows(), 1);
}

#[test]
fn what_only_a_simulation_can_have_is_refused_in_a_sentence() {
    let mut json = line(json!("50 ms"));
    json["traffic"][0]["script"] = json!([{"drop": [15]}]);
    let Err(refused) = Router::new(&scenario(&json), 0) else { panic!("it was accepted") };
    assert!(refused.0.contains("bulk0.script"), "{}", refused.0);
}
