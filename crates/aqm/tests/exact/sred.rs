//! SRED: its estimate of the number of flows, and one heavy flow.

use packet::{Ecn, Rng};

use super::{Bench, close};

#[test]
fn the_estimate_is_the_number_of_flows() {
    for flows in [10, 100] {
        let mut bench = Bench::new("sred", &[], 1);
        let mut traffic = Rng::named(1, "flows");
        let (mut sum, rounds) = (0.0, 400_000);
        for n in 0..rounds {
            let mut packet = super::packet(1000, Ecn::NotEct);
            packet.flow = traffic.below(flows);
            let now = packet.arrived;
            bench.gate.admit(&mut packet, packet::Backlog::default(), now, &mut bench.rng);
            sum += if n >= rounds / 2 { bench.gauge("P") } else { 0.0 };
        }
        // P remembers about 4000 arrivals, and the mean is over 50 times as many: a tenth is more
        // than five standard errors.
        let found = sum / f64::from(rounds / 2);
        close(found * flows as f64, 1.0, 0.1);
    }
}

/// Most hits are packets of the heavy flow, so the full form drops more of these; the simple form
/// does not.
#[test]
fn the_full_form_hits_the_heavy_flow() {
    let small = |form| {
        let pairs = [("form", form), ("p_max", "0.5"), ("many_flows", "1.5"), ("limit", "300")];
        super::unfair::run("sred", &pairs).0
    };
    let (simple, full) = (small("simple"), small("full"));
    close(simple, 1.0 / 2.25, 0.03);
    assert!(full > simple + 0.15, "{full}");
}
