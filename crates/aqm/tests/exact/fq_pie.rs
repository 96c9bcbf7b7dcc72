//! FQ-PIE: a full buffer.

use packet::{DropReason, Ecn};

use super::line::{Did, P, Product};

#[test]
fn a_full_buffer_refuses_a_new_flow_or_cuts_the_fattest() {
    let lost = |overload| {
        let mut product = Product::new("fq_pie", &[("limit", "20"), ("overload", overload)], 1);
        let mut lost = Vec::new();
        for id in 0..21 {
            let flow = u64::from(id == 20);
            let did = product.enqueue(P { id, flow, size: 1500, ecn: Ecn::NotEct, t: 0 });
            lost.extend(did.iter().filter_map(|did| match did {
                Did::Drop(id, why) => Some((*id, *why)),
                _ => None,
            }));
        }
        lost
    };
    assert_eq!(lost("arrival"), [(20, DropReason::Overflow)]);
    let heads: Vec<_> = (0..10).map(|id| (id, DropReason::Overflow)).collect();
    assert_eq!(lost("fattest"), heads);
}
