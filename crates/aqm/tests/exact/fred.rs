//! FRED: fragile flows pass.

#[test]
fn fragile_flows_pass() {
    let (small, heavy) = super::unfair::run("fred", &[]);
    assert!(small > 0.98, "{small}");
    super::close(heavy, 0.75, 0.02);
}
