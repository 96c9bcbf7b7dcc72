//! PI2: the fixed point of its queueing delay.

use super::RATE;
use super::closed_loop::mean_delay;
use super::{Pairs, build};

const NUMBERS: Pairs = &[
    ("target", "15 ms"),
    ("t_update", "16 ms"),
    ("alpha", "0.16"),
    ("beta", "3.2"),
    ("limit", "150"),
];

#[test]
fn k_without_ecn_is_refused() {
    let why = build("pi2", &[("k", "2")], RATE).err().unwrap().to_string();
    assert!(why.starts_with("k: 2 has no effect"), "{why}");
}

/// The mean delay of a closed loop lies within 10 % of the target.
#[test]
fn the_delay_rests_at_its_target() {
    let delay = mean_delay("pi2", &[]);
    assert!((delay / 0.020 - 1.0).abs() < 0.1, "{delay}");
    let delay = mean_delay("pi2", &NUMBERS[..4]);
    assert!((delay / 0.015 - 1.0).abs() < 0.1, "{delay}");
}
