//! AVQ: its clocks, and the utilisation at which marks begin.

use aqmlab_aqm::Admission::Marked;
use packet::{Ecn, Rng};

use super::RATE;
use super::{Bench, Pairs};

#[test]
fn the_clocks_start_at_the_first_arrival() {
    for profile in ["paper", "ns2"] {
        let pairs: Pairs = &[("profile", profile), ("units", "packet")];
        let mut avq = Bench::new("avq", pairs, 1);
        avq.now = 1_000_000_000_000;
        avq.arrive(0, 1000, Ecn::NotEct);
        let expected = 0.8 * RATE as f64 - 0.15 * 8000.0;
        assert!((avq.gauge("virtual_capacity") - expected).abs() < 1e-3, "{profile}");
    }
}

/// Share of packets that AVQ marks if ECN-capable packets of 1000 bytes arrive at `share` of the
/// line's rate.
fn marked(share: f64) -> f64 {
    let mut avq = Bench::new("avq", &[("ecn", "true"), ("limit", "20")], 1);
    let mut rng = Rng::named(4, "arrivals");
    let mut marks = 0;
    for n in 0..300_000 {
        avq.now += rng.exponential(800_000.0 / share) as u64;
        let said = avq.arrive(0, 1000, Ecn::Ect0);
        marks += u32::from(n >= 100_000 && matches!(said, Marked(_)));
    }
    f64::from(marks) / 200_000.0
}

#[test]
fn the_wished_utilisation_is_where_marks_begin() {
    // At a load above gamma the virtual capacity falls until most packets are marked; at a lower
    // load it rises to the line's rate.
    assert!(marked(0.9) < 0.01, "{}", marked(0.9));
    assert!(marked(1.03) > 0.5, "{}", marked(1.03));
}
