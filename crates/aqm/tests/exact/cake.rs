//! CAKE compared with a second transcription, packet by packet and random draw by draw.

mod device_queues;
mod headers;
mod model;
mod rig;
mod shares;

use packet::{Ack, Ecn, Header, Instant, Packet, Rng, TcpHeader};

use super::line::{Did, RATE, Seen};
use headers::Headers;
use model::{BASE, Cake, Conf, SEED};
use rig::Rig;

/// Random packets of flows in all tins, of which some send acknowledgements, in phases of overload,
/// moderate and sparse load with idle gaps.
struct Traffic {
    rng: Rng,
    now: u64,
    id: u32,
    mean_gap: f64,
    /// Mean gap between packets at which the slower of shaper and line is just busy, in ns.
    unit: f64,
    /// One flow in this number sends acknowledgements.
    flows_per_ack: u64,
    /// The source of TCP headers, if packets have them.
    headers: Option<Headers>,
}

const DSCPS: [u8; 12] = [0, 0, 0, 0, 46, 8, 0, 16, 34, 2, 48, 1];

impl Traffic {
    fn next(&mut self) -> (Packet, Option<TcpHeader>) {
        let rng = &mut self.rng;
        if rng.below(1200) == 0 {
            self.mean_gap = [0.3, 0.7, 0.9, 1.1, 4.0][rng.below(5) as usize] * self.unit;
        }
        let mut gap = rng.exponential(self.mean_gap) as u64;
        if rng.below(2400) == 0 {
            gap += [3_000_000, 80_000_000, 2_000_000_000][rng.below(3) as usize];
        }
        self.now += gap;
        self.id += 1;
        let flow = rng.below(20).min(rng.below(20));
        let acknowledges = flow % self.flows_per_ack == 1;
        let size =
            if acknowledges { 40 } else { [64, 552, 1000, 1500, 1500][rng.below(5) as usize] };
        let ack = match rng.below(10) {
            _ if !acknowledges => Ack::No,
            0 => Ack::No,
            1 => Ack::Needed,
            _ => Ack::Newer,
        };
        let header = Header {
            dscp: DSCPS[flow as usize % 12],
            ack,
            source: (flow as u16 / 3) % 5,
            destination: flow as u16 % 7,
        };
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
        let arrived = Instant::from_nanos(self.now);
        // Packets of every ninth flow come without a TCP header.
        let known = self.headers.as_mut().filter(|_| !flow.is_multiple_of(9));
        let tcp = known.map(|headers| headers.next(flow, size, rng));
        (Packet { id: self.id, flow, bytes: size, ecn, arrived, header }, tcp)
    }
}

fn compare(conf: Conf, seed: u64, packets: u32) -> Seen {
    let text = |n: u64| n.to_string();
    let rate = format!("{} bit/s", conf.rate);
    let (queues, seed_text) = (text(conf.queues as u64), text(SEED));
    let (overhead, mpu, memory) = (text(conf.overhead), text(conf.mpu), text(conf.memory));
    let switch = |on: bool| if on { "true" } else { "false" };
    let mut pairs = vec![
        ("tins", conf.tins),
        ("isolation", conf.isolation),
        ("ingress", switch(conf.ingress)),
        ("ack_filter", conf.ack_filter),
        ("ecn", switch(conf.ecn)),
        ("overhead", &overhead),
        ("mpu", &mpu),
        ("framing", conf.framing),
        ("queues", &queues),
        ("hash_seed", &seed_text),
    ];
    if conf.rate > 0 {
        pairs.push(("rate", &rate));
    }
    if conf.memory > 0 {
        pairs.push(("memory_limit", &memory));
    }
    let mut rig = Rig::new(&pairs, seed);
    let mut model = Cake::new(conf);
    let mut rng = Rng::named(seed, "draws");
    // `mean` is about the mean packet size in bytes.
    let (flows_per_ack, mean) = if conf.ack_filter == "no" { (4, 640.0) } else { (2, 300.0) };
    let slowest = if conf.rate > 0 { conf.rate.min(RATE) } else { RATE };
    let unit = mean * 8e9 / slowest as f64;
    let mut traffic = Traffic {
        rng: Rng::named(seed, "trace"),
        now: 0,
        id: 0,
        mean_gap: unit,
        unit,
        flows_per_ack,
        headers: conf.headers.then(Headers::default),
    };
    let mut busy_until: Option<u64> = None;
    let mut seen = Seen::default();
    for n in 0..packets {
        let (p, header) = traffic.next();
        let mut arrival = Some(p);
        while let Some(p) = &arrival {
            assert_eq!(rig.next_tick(), model.watchdog, "{conf:?}, packet {n}");
            let tick = model.watchdog.unwrap_or(u64::MAX);
            let free = busy_until.unwrap_or(u64::MAX);
            let now = tick.min(free).min(p.arrived.nanos());
            if tick == now {
                rig.tick(now);
                model.watchdog = None;
            } else if free == now {
                busy_until = None;
            } else {
                let p = arrival.take().expect("it is there");
                let mut expected = Vec::new();
                model.enqueue(p.clone(), header.as_ref(), &mut expected);
                let did = rig.enqueue(p, header.as_ref());
                assert_eq!(did, expected, "{conf:?}, seed {seed}, packet {n}");
                seen.count(&did);
            }
            if busy_until.is_none() {
                let mut expected = Vec::new();
                let sent = model.dequeue(now, &mut rng, &mut expected);
                if let Some(p) = &sent {
                    expected.push(Did::Send(p.id, p.ecn));
                }
                let (_, did) = rig.dequeue(now);
                assert_eq!(did, expected, "{conf:?}, seed {seed}, packet {n}, {now} ns");
                seen.count(&did);
                busy_until =
                    sent.map(|p| now + (u64::from(p.bytes) * 8_000_000_000).div_ceil(RATE));
            }
            for (gauge, value) in model.shows() {
                assert_eq!(rig.gauge(gauge), value, "{gauge}: {conf:?}, packet {n}");
            }
        }
    }
    assert_eq!(rig.rng, rng, "{conf:?}: a different number of draws");
    seen
}

const RATES: [u64; 4] = [0, 6_000_000, 1_000_000, 20_000_000];

#[test]
fn both_transcriptions_agree_in_every_isolation() {
    let isolations = [
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ];
    for isolation in isolations {
        for (n, rate) in RATES.into_iter().enumerate() {
            let conf = Conf { isolation, rate, queues: [16, 8, 64, 16][n], ..BASE };
            let seen = compare(conf, n as u64, 8_000);
            assert!(seen.sent > 3000 && seen.marked > 20 && seen.early > 5, "{conf:?} {seen:?}");
        }
    }
}

#[test]
fn both_transcriptions_agree_in_every_scheme_of_tins() {
    for tins in ["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"] {
        for (n, rate) in RATES.into_iter().enumerate() {
            for ecn in [true, false] {
                let conf = Conf { tins, rate, ecn, ..BASE };
                let seen = compare(conf, n as u64, 8_000);
                assert!(seen.sent > 3000 && seen.early > 5, "{conf:?} {seen:?}");
                assert_eq!(seen.marked > 20, ecn, "{conf:?} {seen:?}");
            }
        }
    }
}

#[test]
fn both_transcriptions_agree_in_overload() {
    for (memory, ingress) in
        [(60_000, false), (60_000, true), (15_000, false), (15_000, true), (1_000, true)]
    {
        for (n, rate) in RATES.into_iter().enumerate() {
            for queues in [8, 64] {
                let conf = Conf { memory, ingress, rate, queues, ..BASE };
                let seen = compare(conf, n as u64, 8_000);
                assert!(seen.sent > 1500 && seen.overflow > 150, "{conf:?} {seen:?}");
                assert!(seen.forced > 10 || memory == 1_000, "{conf:?} {seen:?}");
            }
        }
    }
}

#[test]
fn both_transcriptions_agree_on_framing_and_acknowledgements() {
    for (n, rate) in RATES.into_iter().enumerate() {
        for (ack_filter, ingress) in
            [("filter", false), ("filter", true), ("aggressive", false), ("aggressive", true)]
        {
            for (framing, overhead, mpu, headers) in
                [("none", 38, 84, false), ("atm", 40, 0, true), ("ptm", 30, 64, true)]
            {
                let conf =
                    Conf { ack_filter, headers, ingress, rate, framing, overhead, mpu, ..BASE };
                let seen = compare(conf, n as u64, 5_000);
                assert!(seen.sent > 1500 && seen.superseded > 20, "{conf:?} {seen:?}");
            }
        }
    }
}

#[test]
fn both_transcriptions_agree_with_the_number_of_queues_that_the_program_has() {
    let conf = Conf { queues: 1024, rate: 6_000_000, ingress: true, ..BASE };
    let seen = compare(conf, 1, 2_000);
    assert!(seen.sent > 1000 && seen.early > 5, "{seen:?}");
}
