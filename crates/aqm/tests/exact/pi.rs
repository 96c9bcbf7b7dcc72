//! PI: the published gains as parameters, and the queue's resting point.

use aqmlab_aqm::Admission;
use packet::{DropReason, Ecn, Instant};

use super::{Bench, Pairs, build, close};

fn p_after(pairs: Pairs, queues: &[u32]) -> f64 {
    let mut bench = Bench::new("pi", pairs, 1);
    for queue in queues {
        let due = bench.gate.next_tick().unwrap();
        let backlog = packet::Backlog { packets: *queue, bytes: u64::from(*queue) * 250 };
        bench.gate.on_tick(backlog, due, &mut bench.rng);
    }
    bench.gauge("p")
}

#[test]
fn gains_are_the_published_ones_or_designed() {
    // p after a queue of 300: 1.822e-5 (300 - 200) - 1.816e-5 (0 - 200); then one of 250.
    let first = 1.822e-5 * 100.0 + 1.816e-5 * 200.0;
    let published = [("q_ref", "200")];
    close(p_after(&published, &[300]), first, 1e-12);
    close(p_after(&published, &[300, 250]), first + 1.822e-5 * 50.0 - 1.816e-5 * 100.0, 1e-12);
    // In bytes, 300 packets of 250 bytes are 150 mean packets of 500.
    close(
        p_after(&[("q_ref", "100"), ("queue_in_bytes", "true")], &[300]),
        1.822e-5 * 50.0 + 1.816e-5 * 100.0,
        1e-12,
    );
    // 10 Mbit/s of 500-byte packets: C = 2500. One tick from rest at q = q_ref gives b q_ref.
    let designed =
        [("n_min", "60"), ("r_max", "246 ms"), ("T", "1/160 s"), ("q_ref", "100"), ("limit", "9")];
    let b = aqmlab_aqm::design_pi(60.0, 2500.0, 0.246, 1.0 / 160.0).b;
    close(p_after(&designed, &[100]), b * 100.0, 1e-12);
}

#[test]
fn a_full_buffer_draws_nothing_and_marks_nothing() {
    let mut bench = Bench::new("pi", &[("limit", "5"), ("ecn", "true")], 3);
    bench.gate.on_tick(
        packet::Backlog { packets: 90_000, bytes: 0 },
        Instant::ZERO,
        &mut bench.rng,
    );
    assert_eq!(bench.gauge("p"), 1.0);
    let before = bench.rng.clone();
    assert_eq!(bench.arrive(5, 1000, Ecn::Ect0), Admission::Dropped(DropReason::Overflow));
    assert_eq!(bench.rng, before);
    assert_eq!(bench.arrive(4, 1000, Ecn::Ect0), Admission::Marked(DropReason::Early));
    assert_eq!(bench.arrive(4, 1000, Ecn::NotEct), Admission::Dropped(DropReason::Early));
}

#[test]
fn contradictions_are_refused_with_their_reason() {
    let refusal = |pairs: Pairs| build("pi", pairs, 10_000_000).err().unwrap().to_string();
    let why = refusal(&[("a", "1e-5"), ("b", "1e-5")]);
    assert!(why.starts_with("b: 0.00001 is not below a = 0.00001"), "{why}");
    assert!(refusal(&[("n_min", "60")]).contains("needs r_max"));
    assert!(refusal(&[("r_max", "1 s")]).contains("needs n_min"));
    let design = [("n_min", "60"), ("r_max", "1 s"), ("a", "1e-5")];
    assert!(refusal(&design).starts_with("a: 0.00001 contradicts n_min"));
    let slow = [("n_min", "60"), ("r_max", "10 ms"), ("T", "1 s")];
    assert!(refusal(&slow).starts_with("T: 1 s is too long"), "{}", refusal(&slow));
    // Almost no flows with a long round-trip time give gains that are too large to compute with.
    let long = [("n_min", "1e-9"), ("r_max", "1000 s"), ("T", "1 us")];
    assert!(refusal(&long).contains("write a and b in their place"), "{}", refusal(&long));
    assert!(refusal(&[("mean_packet_bytes", "1000")]).contains("has no effect"));
}

/// A fluid load of 1000 (1 - 5 p) packets per second is served at 800 per second: the queue settles
/// at q_ref, and p at 0.04.
#[test]
fn the_queue_rests_at_its_target() {
    let pairs =
        [("a", "2e-4"), ("b", "1.98e-4"), ("q_ref", "50"), ("limit", "1000"), ("T", "5 ms")];
    let mut bench = Bench::new("pi", &pairs, 1);
    let (mut queue, mut sum, mut ticks) = (0.0f64, 0.0, 0);
    for step in 0..200_000u64 {
        let due = bench.gate.next_tick().unwrap();
        let backlog = packet::Backlog { packets: queue as u32, bytes: 0 };
        bench.gate.on_tick(backlog, due, &mut bench.rng);
        // Arrivals fall with p, and equal the 800 packets/s of the line at p = 0.04.
        let arrivals = 1000.0 * (1.0 - 5.0 * bench.gauge("p"));
        queue = (queue + 0.005 * (arrivals - 800.0)).max(0.0);
        if step >= 100_000 {
            sum += queue;
            ticks += 1;
        }
    }
    close(sum / f64::from(ticks), 50.0, 1.0);
    close(bench.gauge("p"), 0.04, 0.002);
}

#[test]
fn controllers_spare_a_queue_of_one_packet_if_they_are_altqs() {
    let full: [(&str, Pairs); 3] = [
        ("pi", &[("limit", "900")]),
        ("rem", &[("limit", "900"), ("gamma", "1000")]),
        ("dcn", &[("limit", "900"), ("threshold", "1")]),
    ];
    for (name, pairs) in full {
        for (spares, least) in [("false", 0), ("true", 2)] {
            let all = [pairs, &[("spare_short_queue", spares)]].concat();
            let mut bench = Bench::new(name, &all, 3);
            // DCN never drops the first packet of a flow, so one arrives before.
            bench.arrive(0, 1000, Ecn::NotEct);
            let due = bench.gate.next_tick().unwrap();
            let backlog = packet::Backlog { packets: 90_000, bytes: 90_000_000 };
            bench.gate.on_tick(backlog, due, &mut bench.rng);
            assert!(bench.gauge("p") > 0.999);
            for waiting in 0..4 {
                let dropped = bench.arrive(waiting, 1000, Ecn::NotEct) != Admission::Queued;
                assert_eq!(dropped, waiting >= least, "{name}: {waiting} waiting");
            }
        }
    }
}
