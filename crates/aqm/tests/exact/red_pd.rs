//! RED-PD with one unresponsive flow, and parameters that contradict each other.

use super::{Pairs, build};

const RATE: u64 = 10_000_000;

#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("red_pd", &[]);
    assert!(small > 0.9, "{small}");
    // The flow's P_f is raised up to threefold and lowered by small steps: it overshoots.
    assert!(heavy > 0.4 && heavy < 0.75, "{heavy}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let refusal = |pairs: Pairs| build("red_pd", pairs, RATE).err().unwrap().to_string();
    assert!(refusal(&[("min_th", "40")]).starts_with("min_th: 40 is not below max_th = 33"));
    assert!(refusal(&[("K", "6")]).starts_with("K: 6 is more than N = 5"));
}
