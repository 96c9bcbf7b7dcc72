//! What CAKE promises: the shaper's rate, and the shares of hosts, flows and tins.

use packet::{Ack, Ecn, Header, Instant, Packet};

use super::super::Pairs;
use super::super::line::{Did, RATE};
use super::rig::Rig;

pub const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// A flow that always has `window` packets in the queue, however many are lost.
#[derive(Clone, Copy)]
pub struct Sender {
    source: u16,
    destination: u16,
    dscp: u8,
    bytes: u32,
    window: u32,
}

/// A sender with a source and a destination of its own.
pub const fn sender(host: u16) -> Sender {
    Sender { source: host, destination: 1000 + host, dscp: 0, bytes: 1500, window: 20 }
}

/// A line with senders that keep it busy, and packets that come now and then.
pub struct Line {
    rig: Rig,
    senders: Vec<Sender>,
    now: u64,
    /// Sender and time of arrival in ns of each packet offered, by the packet's id.
    packets: Vec<(usize, u64)>,
    /// Bytes sent by each sender.
    pub sent: Vec<u64>,
    /// Beginning in ns and size in bytes of every transmission.
    log: Vec<(u64, u32)>,
    /// Longest sojourn time of a guest's packet, in ns.
    longest_stay: u64,
    dropped: u64,
}

impl Line {
    pub fn new(pairs: Pairs, senders: &[Sender]) -> Self {
        let mut line = Line {
            rig: Rig::new(pairs, 1),
            senders: senders.to_vec(),
            now: 0,
            packets: Vec::new(),
            sent: vec![0; senders.len()],
            log: Vec::new(),
            longest_stay: 0,
            dropped: 0,
        };
        for (which, sender) in senders.iter().enumerate() {
            (0..sender.window).for_each(|_| line.send(which, *sender));
        }
        line
    }

    fn send(&mut self, which: usize, sender: Sender) {
        let Sender { source, destination, dscp, bytes, .. } = sender;
        let id = self.packets.len() as u32;
        self.packets.push((which, self.now));
        let header = Header { dscp, ack: Ack::No, source, destination };
        let arrived = Instant::from_nanos(self.now);
        let flow = which as u64;
        let packet = Packet { id, flow, bytes, ecn: Ecn::NotEct, arrived, header };
        let did = self.rig.enqueue(packet, None);
        self.refill(&did);
    }

    fn refill(&mut self, did: &[Did]) {
        for what in did {
            let id = match what {
                Did::Drop(id, _) => {
                    self.dropped += 1;
                    id
                }
                Did::Send(id, _) => id,
                _ => continue,
            };
            let (which, _) = self.packets[*id as usize];
            if let Some(sender) = self.senders.get(which).copied() {
                self.send(which, sender);
            }
        }
    }

    /// Runs until `end`, in ns. A `guest` is a further sender and the time between its packets in
    /// ns.
    pub fn run(&mut self, end: u64, guest: Option<(Sender, u64)>) {
        let mut next_guest = guest.map_or(u64::MAX, |(_, every)| self.now + every);
        while self.now < end {
            if next_guest <= self.now {
                let (guest, every) = guest.expect("one comes");
                self.send(self.senders.len(), guest);
                next_guest += every;
            }
            let (packet, did) = self.rig.dequeue(self.now);
            let began = self.now;
            match packet {
                Some(packet) => {
                    self.log.push((began, packet.bytes));
                    let (which, arrived) = self.packets[packet.id as usize];
                    match self.sent.get_mut(which) {
                        Some(sent) => *sent += u64::from(packet.bytes),
                        None => self.longest_stay = self.longest_stay.max(began - arrived),
                    }
                    self.now += u64::from(packet.bytes) * 8 * S / RATE;
                }
                None => {
                    let wake = self.rig.next_tick().unwrap_or(end);
                    assert!(wake > self.now, "asked in vain");
                    self.now = wake;
                    self.rig.tick(wake);
                }
            }
            self.refill(&did);
        }
    }

    /// Each sender's share of all bytes sent.
    pub fn parts(&self) -> Vec<f64> {
        let all: u64 = self.sent.iter().sum();
        self.sent.iter().map(|sent| *sent as f64 / all as f64).collect()
    }
}

#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

#[test]
fn the_rate_is_met_to_a_packet() {
    // Bytes on the link of packets of 1500 and of 400 bytes.
    for (framing, sizes) in [("none", [1500, 400]), ("atm", [1696, 477]), ("ptm", [1524, 407])] {
        let small = Sender { bytes: 400, ..sender(2) };
        let pairs = [("rate", "7 Mbit/s"), ("framing", framing)];
        let mut line = Line::new(&pairs, &[sender(1), small]);
        line.run(100 * S, None);
        let mut bits = 0;
        for (began, bytes) in &line.log {
            // When a packet begins, the bits sent before are what the rate allows until then, less
            // at most one packet: the line could not dequeue while it was busy.
            let allowed = (began * 7 / 1000) as i64;
            let behind = allowed - bits;
            assert!((-1..8 * 1700).contains(&behind), "{behind} bits at {began} ns");
            bits += 8 * if *bytes == 1500 { sizes[0] } else { sizes[1] };
        }
        near(bits as f64 / 100.0, 7e6, 140.0);
    }
}

#[test]
fn an_idle_time_is_not_saved_for_a_burst() {
    // The target is so long that the last packet of a burst meets it too.
    let mut line = Line::new(&[("rate", "4 Mbit/s"), ("target", "40 ms")], &[]);
    for burst in 1..4 {
        line.now = burst * S;
        (0..10).for_each(|_| line.send(0, sender(1)));
        line.log.clear();
        line.run(burst * S + 40 * MS, None);
        let began: Vec<u64> = line.log.iter().map(|(began, _)| began - burst * S).collect();
        assert_eq!(began, (0..10).map(|n| 3 * MS * n).collect::<Vec<_>>());
    }
}

#[test]
fn hosts_share_before_flows_do() {
    // Host 1 has eight flows to eight other hosts; host 2 has one flow.
    let senders: Vec<Sender> =
        (0..9).map(|n| Sender { source: if n < 8 { 1 } else { 2 }, ..sender(n) }).collect();
    let turned: Vec<Sender> = senders
        .iter()
        .map(|s| Sender { source: s.destination, destination: s.source, ..*s })
        .collect();
    for rate in ["100 Mbit/s", "6 Mbit/s"] {
        let lone = |isolation, senders: &[Sender]| {
            let mut line = Line::new(&[("rate", rate), ("isolation", isolation)], senders);
            line.run(60 * S, None);
            let parts = line.parts();
            let (least, most) = parts[..8]
                .iter()
                .fold((1.0f64, 0.0f64), |(least, most), part| (least.min(*part), most.max(*part)));
            near(least, most, 0.002); // the eight are equal among themselves
            parts[8]
        };
        near(lone("triple-isolate", &senders), 0.5, 0.01);
        near(lone("triple-isolate", &turned), 0.5, 0.01);
        near(lone("dual-srchost", &senders), 0.5, 0.01);
        near(lone("dual-srchost", &turned), 1.0 / 9.0, 0.005);
        near(lone("dual-dsthost", &turned), 0.5, 0.01);
        near(lone("flows", &senders), 1.0 / 9.0, 0.005);
    }
}

#[test]
fn queues_by_host_give_hosts_equal_shares() {
    let senders: Vec<Sender> =
        (0..4).map(|n| Sender { source: if n < 3 { 1 } else { 2 }, ..sender(n) }).collect();
    for (isolation, lone) in [("srchost", 0.5), ("dsthost", 0.25), ("hosts", 0.25)] {
        let mut line = Line::new(&[("isolation", isolation)], &senders);
        line.run(30 * S, None);
        near(line.parts()[3], lone, 0.01);
    }
}

#[test]
fn flows_share_by_bytes() {
    let senders = [300, 600, 1500].map(|bytes| Sender { bytes, ..sender(bytes as u16) });
    let mut line = Line::new(&[], &senders);
    line.run(30 * S, None);
    line.parts().iter().for_each(|part| near(*part, 1.0 / 3.0, 0.005));
}

#[test]
fn tins_have_their_shares_in_overload() {
    // One sender each of best effort, background and voice.
    let senders = [0, 8, 46].map(|dscp| Sender { dscp, ..sender(u16::from(dscp)) });
    let parts = |pairs: Pairs, senders: &[Sender]| {
        let mut line = Line::new(pairs, senders);
        line.run(60 * S, None);
        line.parts()
    };
    let shaped = parts(&[("rate", "8 Mbit/s")], &senders);
    for (part, expected) in shaped.iter().zip([11.0 / 16.0, 1.0 / 16.0, 1.0 / 4.0]) {
        near(*part, expected, 0.005);
    }
    let in_turns = parts(&[], &senders);
    for (part, expected) in in_turns.iter().zip([1024.0, 64.0, 256.0]) {
        near(*part, expected / 1344.0, 0.005);
    }
    // A share is no limit: tins also get what the others leave unused.
    let alone = parts(&[("rate", "8 Mbit/s")], &senders[1..]);
    near(alone[0] + alone[1], 1.0, 0.0);
    let mut background = Line::new(&[("rate", "8 Mbit/s")], &senders[1..2]);
    background.run(10 * S, None);
    near(background.sent[0] as f64, 10e6, 1500.0);
}

#[test]
fn voice_goes_before_the_others() {
    let crowd: Vec<Sender> =
        (0..20).map(|n| Sender { dscp: if n % 2 == 0 { 0 } else { 8 }, ..sender(n) }).collect();
    let stay = |dscp| {
        let call = Sender { dscp, bytes: 200, ..sender(99) };
        let mut line = Line::new(&[("rate", "8 Mbit/s")], &crowd);
        line.run(S, None); // until every sender has had a first turn
        line.run(20 * S, Some((call, 60 * MS)));
        line.longest_stay
    };
    // A voice packet waits for at most one packet of 1500 bytes at the shaper's rate.
    let voice = stay(46);
    assert!(voice <= 1500 * 8 * S / 8_000_000, "{voice}");
    // An equally sparse background flow waits for its tin, which sends a packet every 24 ms.
    let background = stay(8);
    assert!((5 * voice..40 * MS).contains(&background), "{background}");
}

#[test]
fn a_sparse_flow_waits_for_one_packet_only() {
    let crowd: Vec<Sender> = (0..30).map(sender).collect();
    for rate in ["8 Mbit/s", "100 Mbit/s"] {
        let sparse = Sender { bytes: 100, ..sender(99) };
        let mut line = Line::new(&[("rate", rate)], &crowd);
        line.run(S, None);
        line.run(20 * S, Some((sparse, 25 * MS)));
        let packet = 1500 * 8 * S / 8_000_000;
        assert!(line.longest_stay <= packet, "{rate}: {} ns", line.longest_stay);
    }
}

#[test]
fn charged_drops_take_at_most_a_third() {
    // A flow that sends 6 Mbit/s and ignores its drops loses ever more.
    let sent = |ingress| {
        let pairs = [("rate", "4 Mbit/s"), ("ingress", ingress), ("memory_limit", "30 kB")];
        let mut line = Line::new(&pairs, &[]);
        let mut next = 0;
        while line.now < 40 * S {
            line.send(0, sender(1));
            next += 2 * MS; // a packet of 1500 B every 2 ms: 6 Mbit/s
            line.run(next, None);
        }
        line.log.iter().map(|(_, bytes)| u64::from(*bytes)).sum::<u64>() as f64 * 8.0 / 40.0
    };
    near(sent("false"), 4e6, 2e3);
    let charged = sent("true");
    assert!((4e6 * 2.0 / 3.0 - 2e3..3.6e6).contains(&charged), "{charged}");
}

#[test]
fn a_full_buffer_takes_from_the_longest_queue() {
    let mut rig = Rig::new(&[("memory_limit", "30 kB")], 1);
    let mut lost = Vec::new();
    for id in 0..60u32 {
        // One packet in three is of flow 1 in the voice tin and has half the size.
        let thin = id % 3 == 0;
        let header = Header { dscp: if thin { 46 } else { 0 }, ..Header::default() };
        let (flow, bytes) = (u64::from(thin), if thin { 500 } else { 1000 });
        let arrived = Instant::ZERO;
        let did = rig.enqueue(Packet { id, flow, bytes, ecn: Ecn::Ect0, arrived, header }, None);
        lost.extend(did.into_iter().filter_map(|did| match did {
            Did::Drop(id, _) => Some(id),
            _ => None,
        }));
    }
    // 50 kB arrived; 20 packets were dropped at the head of the larger flow's queue.
    let heads: Vec<u32> = (0..60).filter(|id| id % 3 > 0).take(20).collect();
    assert_eq!(lost, heads);
    assert_eq!(rig.discipline.backlog().bytes, 30_000);
}
