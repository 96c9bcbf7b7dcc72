//! Several CAKEs on one device (`cake_mq`): which queues are active, and the rate of each.

use packet::{Ack, Ecn, Header, Instant, Packet};

use super::rig::Rig;
use super::shares::{Line, S, near, sender};

/// The flow that goes to the second of two device queues; flows 0, 1 and 2 go to the first.
const OTHER: u64 = 3;

fn packet(id: u32, flow: u64, at_us: u64) -> Packet {
    let header = Header { dscp: 0, ack: Ack::No, source: flow as u16, destination: 9 };
    let arrived = Instant::from_nanos(1_000 * at_us);
    Packet { id, flow, bytes: 1_500, ecn: Ecn::NotEct, arrived, header }
}

/// Departure time in µs and flow of each packet, at a device that takes each packet at once.
fn departures(pairs: super::super::Pairs, packets: &[Packet]) -> Vec<(u64, u64)> {
    let patient = [pairs, &[("target", "1 s"), ("interval", "10 s")]].concat();
    let (mut rig, mut left, mut sent) = (Rig::new(&patient, 1), packets.iter(), Vec::new());
    let mut next = left.next();
    let mut now = 0;
    loop {
        while let Some(packet) = next.filter(|packet| packet.arrived.nanos() <= now) {
            rig.enqueue(packet.clone(), None);
            next = left.next();
        }
        while let (Some(packet), _) = rig.dequeue(now) {
            sent.push(((now + 500) / 1_000, packet.flow));
        }
        let arrival = next.map(|packet| packet.arrived.nanos());
        let Some(at) = arrival.into_iter().chain(rig.next_tick()).min() else { return sent };
        now = at;
        rig.tick(now);
    }
}

#[test]
fn a_queue_that_has_sent_since_is_active_once() {
    // cake_dequeue of Linux 7.3: at 4 ms the second queue finds the first one busy and takes half
    // of the rate. At 4.5 ms the first queue sees that the second has sent since 3 ms, and waits
    // 3 ms, as at half the rate. At 7.5 ms the second has sent nothing since 4.5 ms: the rate is
    // whole again.
    let mut packets: Vec<_> = (0..7).map(|id| packet(id, 0, 0)).collect();
    packets.push(packet(7, OTHER, 4_000));
    let own: Vec<_> = [0, 1_500, 3_000].map(|at| (at, 0)).into();
    let then = [(4_000, OTHER), (4_500, 0), (7_500, 0), (9_000, 0), (10_500, 0)];
    assert_eq!(
        departures(&[("rate", "8 Mbit/s"), ("tx_queues", "2")], &packets),
        [own, then.into()].concat()
    );
    // In one device queue the flows take turns at the whole rate.
    let single = departures(&[("rate", "8 Mbit/s")], &packets);
    assert_eq!(single.iter().map(|(at, _)| *at).max(), Some(10_500));
    assert_eq!(single[3], (4_500, OTHER));
}

#[test]
fn queues_look_at_each_other_every_200_us_at_most() {
    // Packets of 1,500 B at 400 Mbit/s leave every 30 µs. The second queue begins at 100 µs and
    // takes half of the rate. The first queue, which counted active queues at 0, goes on at the
    // whole rate until it counts again, at 210 µs.
    let mut packets: Vec<_> = (0..12).map(|id| packet(id, 0, 0)).collect();
    packets.extend((12..27).map(|id| packet(id, OTHER, 100)));
    let sent = departures(&[("rate", "400 Mbit/s"), ("tx_queues", "2")], &packets);
    let of = |flow| sent.iter().filter(move |each| each.1 == flow).map(|each| each.0);
    let first: Vec<_> = of(0).collect();
    assert_eq!(first, [0, 30, 60, 90, 120, 150, 180, 210, 270, 330, 390, 450]);
    // The second queue counts at 100, 340 and 580 µs, when the first is empty but has sent since
    // 340, and at 820.
    let halves = (0..13).map(|n| 100 + 60 * n);
    assert!(of(OTHER).eq(halves.chain([850, 880])), "{:?}", of(OTHER).collect::<Vec<_>>());
}

#[test]
fn device_queues_share_the_rate_before_flows_do() {
    // Flows 0, 1 and 2 are in one queue, 3 alone in another.
    let senders: Vec<_> = (0..4).map(sender).collect();
    let parts = |device: &str| {
        let mut line = Line::new(&[("rate", "8 Mbit/s"), ("tx_queues", device)], &senders);
        line.run(20 * S, None);
        let bytes: u64 = line.sent.iter().sum();
        near(bytes as f64 * 8.0 / 20.0, 8e6, 8e3);
        line.parts()
    };
    parts("1").iter().for_each(|part| near(*part, 0.25, 0.002));
    for (part, expected) in parts("2").iter().zip([1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]) {
        near(*part, expected, 0.002);
    }
}

#[test]
fn without_a_rate_the_device_serves_its_queues_in_turn() {
    let senders: Vec<_> = (0..4).map(sender).collect();
    let mut line = Line::new(&[("tx_queues", "2")], &senders);
    line.run(20 * S, None);
    near(line.parts()[3], 0.5, 0.002);
}
