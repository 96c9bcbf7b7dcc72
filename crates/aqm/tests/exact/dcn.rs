//! DCN: parameters that contradict each other are refused.

use super::RATE;
use super::{Pairs, build};

#[test]
fn contradictions_are_refused() {
    let refusal = |pairs: Pairs| build("dcn", pairs, RATE).err().unwrap().to_string();
    assert!(refusal(&[("a", "1e-6")]).starts_with("b: 0.00001816 is not below a = 0.000001"));
    assert!(refusal(&[("mean_packet_bytes", "900")]).contains("has no effect"));
}
