//! CoDel: the control law on worked examples.

use packet::{DropReason, Ecn};

use super::line::{Did, P, Product};
use super::{Pairs, build};

/// Times of drops in ms, with packets of 1000 bytes at a line that dequeues every `step_us` us.
fn drops(pairs: Pairs, step_us: u64, until_ms: u64) -> Vec<f64> {
    let mut product = Product::new("codel", pairs, 1);
    let mut found = Vec::new();
    let mut id = 0;
    let mut arrive = |product: &mut Product, t| {
        id += 1;
        product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t });
    };
    // A standing queue, so that the sojourn time of every packet is above the target.
    for _ in 0..900 {
        arrive(&mut product, 0);
    }
    let mut now = 6_000_000;
    while now < until_ms * 1_000_000 {
        let (_, did) = product.dequeue(now);
        for what in did {
            match what {
                Did::Drop(_, DropReason::Early) => found.push(now as f64 / 1e6),
                Did::Drop(..) => panic!("{what:?}"),
                _ => {}
            }
            arrive(&mut product, 0);
        }
        now += step_us * 1000;
    }
    found
}

#[test]
fn a_standing_queue_is_signalled_by_the_control_law() {
    let exact = drops(&[("limit", "100000")], 10, 500);
    let first = exact[0];
    assert!((first - 106.0).abs() < 0.02, "{exact:?}");
    for (found, expected) in exact.iter().zip([0.0, 100.0, 170.71, 228.45, 278.45]) {
        assert!((found - first - expected).abs() < 0.03, "{exact:?}");
    }
    let linux = drops(&[("limit", "100000"), ("profile", "linux")], 10, 500);
    let first = linux[0];
    for (found, expected) in linux.iter().zip([0.0, 100.0, 150.0, 206.25, 255.03, 299.18, 339.59]) {
        assert!((found - first - expected).abs() < 0.03, "{linux:?}");
    }
}

#[test]
fn little_that_waits_long_is_left_alone() {
    // Every packet has waited for 10 ms and leaves one of 1500 bytes behind.
    let acts = |profile| {
        let mut product = Product::new("codel", &[("profile", profile)], 1);
        for (n, t) in [(0, 0), (1, 0)] {
            product.enqueue(P { id: n, flow: 0, size: 1500, ecn: Ecn::NotEct, t });
        }
        let mut dropped = 0;
        for n in 2..60 {
            let now = u64::from(n) * 10_000_000;
            let (_, did) = product.dequeue(now);
            dropped += did.iter().filter(|d| matches!(d, Did::Drop(..))).count();
            while product.discipline.backlog().packets < 2 {
                product.enqueue(P {
                    id: n,
                    flow: 0,
                    size: 1500,
                    ecn: Ecn::NotEct,
                    t: now - 10_000_000,
                });
            }
        }
        dropped
    };
    assert_eq!(acts("rfc8289"), 0);
    assert_eq!(acts("linux"), 0);
    assert_eq!(acts("ns2"), 0);
    assert!(acts("ns3") > 0, "1500 bytes are enough for ns-3");
}

#[test]
fn exactly_one_interval_is_enough_but_not_for_linux() {
    // Linux and ns-3 count units of 1,024 ns: a sojourn time is above the target from unit 4,882
    // on, and a signal needs a unit more than an interval of 97,656 units.
    let last_unit = (4_882 + 97_656) * 1_024 + 1_023;
    for (profile, at, drops) in [
        ("rfc8289", 105_000_000, 1),
        ("rfc8289", 104_999_999, 0),
        ("ns2", 105_000_000, 1),
        ("linux", last_unit, 0),
        ("linux", last_unit + 1, 1),
        ("ns3", last_unit, 0),
        ("ns3", last_unit + 1, 1),
    ] {
        let mut product = Product::new("codel", &[("profile", profile)], 1);
        for id in 0..20 {
            product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t: 0 });
        }
        let mut dropped = |ns: u64| {
            let (_, did) = product.dequeue(ns);
            did.iter().filter(|d| matches!(d, Did::Drop(..))).count()
        };
        assert_eq!((dropped(5_000_000), dropped(at)), (0, drops), "{profile}, {at} ns");
    }
}

/// ns-3's test of the basic drop: 20 packets at once, dequeues at 10, 210, 210 and 420 ms.
#[test]
fn ns3_basic_drop() {
    let mut product = Product::new("codel", &[("profile", "ns3")], 1);
    for id in 0..20 {
        product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t: 0 });
    }
    let mut dropped = |ms: u64| {
        let (_, did) = product.dequeue(ms * 1_000_000);
        did.iter().filter(|d| matches!(d, Did::Drop(..))).count()
    };
    assert_eq!((dropped(10), dropped(210), dropped(210)), (0, 1, 0));
    assert!(dropped(420) >= 1);
}

#[test]
fn what_ns2_cannot_do_is_refused() {
    for (field, value) in [("ecn", "true"), ("ce_threshold", "1 ms"), ("mtu", "1500")] {
        let Err(why) = build("codel", &[("profile", "ns2"), (field, value)], 10_000_000) else {
            panic!("{field} accepted")
        };
        let why = why.to_string();
        assert!(why.starts_with(field) && why.contains("\"ns2\""), "{why}");
    }
}
