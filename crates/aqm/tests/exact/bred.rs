//! BRED with one unresponsive flow.

#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("bred", &[]);
    assert!(small > 0.98, "{small}");
    super::close(heavy, 0.75, 0.02);
}
