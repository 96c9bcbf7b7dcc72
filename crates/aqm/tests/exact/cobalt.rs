//! COBALT: the last packet of a queue, slow lines, and reciprocal roots.

use packet::{Ecn, Rng};

use super::line::{Did, P, Product};

fn one(id: u32, t: u64, ecn: Ecn) -> P {
    P { id, flow: 0, size: 1500, ecn, t }
}

#[test]
fn the_last_packet_is_delivered_except_in_ns3() {
    for (profile, sent) in [("linux", Some(1)), ("ns3", None)] {
        let pairs = [("profile", profile), ("limit", "1"), ("p_inc", "1")];
        let mut product = Product::new("cobalt", &pairs, 1);
        product.enqueue(one(1, 0, Ecn::NotEct));
        product.enqueue(one(2, 10_000_000, Ecn::NotEct));
        assert_eq!(product.gauge("p_drop"), 1.0);
        let (delivered, did) = product.dequeue(200_000_000);
        assert_eq!((delivered.map(|p| p.id), did.len()), (sent, 1), "certain to be dropped");
    }
}

#[test]
fn a_last_packet_that_the_coin_would_drop_is_still_marked() {
    let pairs = [("limit", "1"), ("p_inc", "1"), ("ecn", "true")];
    let mut product = Product::new("cobalt", &pairs, 1);
    product.enqueue(one(1, 0, Ecn::Ect0));
    product.enqueue(one(2, 1, Ecn::Ect0)); // it overflows: a signal is due from now on
    let (sent, did) = product.dequeue(200_000_000);
    assert_eq!(sent.unwrap().ecn, Ecn::Ce);
    assert_eq!(did[0], Did::Mark(1));
    // The control law counts a drop: the time of its next signal, long past, goes on catching up.
    for (id, at) in [(3, 210_000_000), (4, 221_000_000)] {
        product.enqueue(one(id, at - 6_000_000, Ecn::Ect0));
        assert_eq!(product.dequeue(at).1[0], Did::Mark(id));
    }
    assert_eq!(product.gauge("count"), 4.0);
}

/// Number of drops among 20 000 packets of 1500 bytes that arrive at random, at 0.7 of the rate
/// of a line of 2 Mbit/s: they wait for 7 ms on average, and the line is often idle.
fn drops_at_moderate_load(pairs: super::Pairs) -> usize {
    let mut product = Product::at_rate("cobalt", pairs, 1, 2_000_000);
    let mut rng = Rng::named(1, "moderate load");
    let (mut now, mut free, mut dropped) = (0, 0, 0);
    for id in 0..20_000 {
        now += rng.exponential(6e6 / 0.7) as u64;
        let waits = |product: &Product| product.discipline.backlog().packets > 0;
        while free <= now && waits(&product) {
            let (_, did) = product.dequeue(free);
            dropped += did.iter().filter(|did| matches!(did, Did::Drop(..))).count();
            free += 6_000_000;
            if !waits(&product) && free <= now {
                product.dequeue(free); // finds the queue empty
            }
        }
        free = free.max(now);
        product.enqueue(one(id, now, Ecn::NotEct));
    }
    dropped
}

#[test]
fn a_slow_line_is_not_starved_unless_unguarded() {
    let guarded = drops_at_moderate_load(&[]);
    let unguarded = [("profile", "ns3"), ("mtu", "0")];
    let unguarded = unguarded.map(|pair| drops_at_moderate_load(&[pair]));
    assert!(guarded < 30 && unguarded.iter().all(|n| *n > 100), "{guarded} {unguarded:?}");
}

/// sch_cake's and ns-3's reciprocal root in 32 bits: 15 accurate values, then one Newton step for
/// each step of the count.
fn newton(root: u32, count: u64) -> u32 {
    let square = (u64::from(root) * u64::from(root)) >> 32;
    let value = ((3 << 32) - count * square) >> 2;
    ((value * u64::from(root)) >> 31) as u32
}

#[test]
fn exact_roots_are_those_of_the_programs() {
    let mut cache = [u32::MAX; 16];
    for count in 1..16u64 {
        let mut root = cache[count as usize - 1];
        for _ in 0..8 {
            root = newton(root, count);
        }
        cache[count as usize] = root;
    }
    cache[1] = u32::MAX;
    let error = |root: u32, count: u64| {
        let wait = f64::from(root) / 4_294_967_296.0;
        (wait * (count as f64).sqrt() - 1.0).abs()
    };
    let worst = (1..16).map(|count| error(cache[count as usize], count)).fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst}");
    // The count rises to ten thousand signals and falls again.
    let (mut root, mut worst) = (cache[15], 0f64);
    for count in (16..10_000).chain((16..10_000).rev()) {
        root = newton(root, count);
        worst = worst.max(error(root, count));
    }
    assert!((0.001..0.005).contains(&worst), "{worst}");
}
