//! Queueing theory: both forms of a port against exact results for memoryless arrivals.
//!
//! Each law is judged on 24 independent replications: the exact value must lie in the interval
//! of the 99.9 % Student-t confidence (t = 3.768 with 23 degrees of freedom). With the eight
//! checks of this file the chance of a false alarm for a new seed is below 1 %; the seed is
//! fixed, so a failure means that the code changed.

use aqm::Line;
use aqmlab_sim::port::{ExplicitPort, FoldedPort, Offered, Wire};
use packet::params::{Params, Raw};
use packet::{Duration, Ecn, Framing, Instant, Packet, Rate, Rng};
use record::{Kind, Meter, MeterSettings, PacketClass, Summary, Window};

const DATA: PacketClass = PacketClass::new(Kind::Data, false);
const REPLICATIONS: usize = 24;
const T_999: f64 = 3.768;
/// Bytes per mean packet: large, so that rounding sizes to bytes is nothing.
const MEAN_BYTES: f64 = 1_000_000.0;
/// Service rate of 1,000 mean packets per second.
const RATE: u64 = 8_000_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    Exponential,
    Constant,
}

struct Load {
    utilisation: f64,
    sizes: Sizes,
    /// Room for waiting packets.
    room: f64,
}

fn gate(room: f64) -> aqm::Built {
    let entry = aqm::find("droptail").unwrap();
    let params = Params::check(entry.about.fields, &[("limit".into(), Raw::Number(room))]).unwrap();
    (entry.build)(&params, &Line::of(Rate::from_bits_per_s(RATE))).unwrap()
}

fn meter(window: Window) -> Meter {
    Meter::new(MeterSettings { delays: true, ..MeterSettings::counts(window) })
}

/// Length of a run, simulated seconds, a tenth of it warm-up: `make validate`, whose build is
/// optimised, runs longer, so that its intervals are narrower.
const SECONDS: f64 = if cfg!(debug_assertions) { 160.0 } else { 400.0 };

/// Runs `SECONDS` and summarises what follows the warm-up.
fn simulate(load: &Load, seed: u64, explicit: bool) -> Summary {
    let [from, to] = [SECONDS / 10.0, SECONDS].map(Instant::from_secs_f64);
    let window = Window { from, to };
    let wire = Wire::new(Rate::from_bits_per_s(RATE), Framing::NONE);
    let mut rng = Rng::indexed(seed, "theory", 0);
    let mut at = 0.0;
    let mut packets = std::iter::from_fn(|| {
        at += rng.exponential(1e-3 / load.utilisation);
        let bytes = match load.sizes {
            Sizes::Exponential => rng.exponential(MEAN_BYTES).max(1.0),
            Sizes::Constant => MEAN_BYTES,
        };
        let arrived = Instant::from_secs_f64(at);
        (arrived <= window.to).then_some(Packet {
            id: 0,
            flow: 0,
            bytes: bytes as u32,
            ecn: Ecn::NotEct,
            arrived,
            header: Default::default(),
        })
    });
    let mut summary = Summary::default();
    let queue_rng = Rng::named(1, "queue");
    if explicit {
        let discipline = gate(load.room).into_discipline();
        let mut port = ExplicitPort::new(discipline, wire, queue_rng, meter(window));
        let mut free_at = None;
        for packet in packets {
            while let Some(at) = free_at.filter(|at| *at <= packet.arrived) {
                free_at = port.finish_transmission(at, &mut |_| {}).1;
            }
            let began = port.offer(packet, None, DATA, &mut |_| {});
            free_at = began.or(free_at);
        }
        port.meter_mut().finish();
        port.meter().summarise(&mut summary);
    } else {
        let aqm::Built::Gate(gate) = gate(load.room) else { panic!("drop-tail is a gate") };
        let mut port = FoldedPort::new(gate, wire, queue_rng, meter(window));
        for mut packet in packets.by_ref() {
            port.offer(&mut packet, DATA);
        }
        port.advance(window.to);
        port.meter_mut().finish();
        port.meter().summarise(&mut summary);
    }
    summary
}

/// A quantity that theory gives exactly: its name, its value, and the figure of a run that measures
/// it.
type Known = (&'static str, f64, fn(&Summary) -> f64);

/// Asserts that the replications of each figure agree with its exact value.
fn agrees(load: &Load, known: &[Known]) {
    let runs: Vec<Summary> =
        (0..REPLICATIONS).map(|r| simulate(load, 1_000 + r as u64, r % 2 == 0)).collect();
    for &(what, exact, figure) in known {
        agrees_with(&runs.iter().map(figure).collect::<Vec<f64>>(), what, exact);
    }
}

fn agrees_with(values: &[f64], what: &str, exact: f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = T_999 * (variance / n).sqrt();
    assert!((mean - exact).abs() <= half, "{what}: measured {mean} ± {half}, theory {exact}");
    // An interval that says nothing would agree with anything.
    assert!(half < 0.1 * exact, "{what}: the interval ± {half} is too wide around {exact}");
}

/// Mean number in the system: those waiting and the one in service.
fn in_system(s: &Summary) -> f64 {
    s.number("queue_time_mean_packets") + s.number("utilisation")
}

const UNLIMITED: f64 = 1e6;

#[test]
fn m_m_1_number_in_system() {
    let load = Load { utilisation: 0.8, sizes: Sizes::Exponential, room: UNLIMITED };
    agrees(&load, &[("M/M/1 N at 0.8", 4.0, in_system)]);
    let load = Load { utilisation: 0.9, ..load };
    agrees(&load, &[("M/M/1 N at 0.9", 9.0, in_system)]);
}

#[test]
fn m_d_1_waiting_time() {
    let load = Load { utilisation: 0.9, sizes: Sizes::Constant, room: UNLIMITED };
    // Wq = rho / (2 mu (1 - rho)), N = rho + rho^2 / (2 (1 - rho)).
    let waiting = 0.9 / (2.0 * 1_000.0 * 0.1);
    agrees(
        &load,
        &[("M/D/1 Wq", waiting, |s| s.number("queue_delay_mean_s")), ("M/D/1 N", 4.95, in_system)],
    );
}

#[test]
fn m_m_1_k_loss() {
    for (utilisation, k, exact) in
        [(0.9, 10.0, 0.05081), (0.98, 30.0, 0.02344), (1.1, 30.0, 0.09591)]
    {
        // K counts the packet in service, a queue's limit does not.
        let load = Load { utilisation, sizes: Sizes::Exponential, room: k - 1.0 };
        agrees(&load, &[("M/M/1/K loss", exact, |s| s.number("drop_rate"))]);
    }
}

#[test]
fn m_d_1_k_loss() {
    let load = Load { utilisation: 0.9, sizes: Sizes::Constant, room: 9.0 };
    agrees(&load, &[("M/D/1/10 loss", 0.01663, |s| s.number("drop_rate"))]);
}

#[test]
fn little_holds_to_rounding_in_every_run() {
    // The sum of waiting times of a run that ends empty equals the integral of the queue.
    let load = Load { utilisation: 0.7, sizes: Sizes::Exponential, room: 20.0 };
    for explicit in [false, true] {
        let s = simulate(&load, 5, explicit);
        let by_waiting = s.number("queue_delay_mean_s") * s.number("departures");
        let by_queue = s.number("queue_time_mean_packets") * (0.9 * SECONDS);
        // Packets that straddle the ends of the window account for the rest: at most the room
        // times the longest wait, a few hundred milliseconds against some hundred seconds.
        assert!((by_waiting - by_queue).abs() / by_queue < 1e-3, "{by_waiting} against {by_queue}");
    }
}

#[test]
fn the_line_rests_only_when_nothing_waits() {
    // Work conservation: serve random packets back to back, and compare with Lindley's
    // recursion written out here.
    let Built { mut port, mut rng } = built();
    let mut wire = Wire::new(Rate::from_bits_per_s(RATE), Framing::NONE);
    let mut free = Instant::ZERO;
    let mut now = Instant::ZERO;
    for _ in 0..20_000 {
        now += Duration::from_nanos(rng.below(2_000_000));
        let bytes = 1 + rng.below(2_000_000) as u32;
        let mut packet = Packet {
            id: 0,
            flow: 0,
            bytes,
            ecn: Ecn::NotEct,
            arrived: now,
            header: Default::default(),
        };
        let Offered::Leaves { at, .. } = port.offer(&mut packet, DATA) else { panic!("no room") };
        free = wire.end_of(free.max(now), bytes, false);
        assert_eq!(at, free);
    }
}

struct Built {
    port: FoldedPort,
    rng: Rng,
}

fn built() -> Built {
    let window = Window { from: Instant::ZERO, to: Instant::from_secs_f64(1e6) };
    let wire = Wire::new(Rate::from_bits_per_s(RATE), Framing::NONE);
    let aqm::Built::Gate(gate) = gate(UNLIMITED) else { panic!("drop-tail is a gate") };
    let port = FoldedPort::new(gate, wire, Rng::named(1, "q"), meter(window));
    Built { port, rng: Rng::named(9, "work") }
}
