//! Linux's bypass of an empty discipline (`__dev_xmit_skb`), here with a device that is busy.

use packet::{DropReason, Ecn};

use super::line::{Did, P, Product};

/// Flows in the order in which their packets are sent. All packets arrive before one is sent; the
/// first finds the queue empty.
fn served(name: &str, profile: &str, bypass: &str, arrivals: &[(u64, u64)]) -> Vec<u64> {
    let mut product = Product::new(name, &[("profile", profile), ("bypass", bypass)], 1);
    for (id, &(flow, size)) in arrivals.iter().enumerate() {
        product.enqueue(P { id: id as u32, flow, size, ecn: Ecn::NotEct, t: 0 });
    }
    (0..arrivals.len()).map(|_| product.dequeue(0).0.unwrap().flow).collect()
}

#[test]
fn it_goes_before_new_flows_and_moves_no_turn() {
    for (bypass, expected) in [("false", 2), ("true", 1)] {
        let mut product = Product::new("fq_codel", &[("profile", "linux"), ("bypass", bypass)], 1);
        let enqueue = |product: &mut Product, id, flow| {
            product.enqueue(P { id, flow, size: 1514, ecn: Ecn::NotEct, t: 0 })
        };
        enqueue(&mut product, 0, 1);
        enqueue(&mut product, 1, 1);
        assert_eq!((product.dequeue(0).0.unwrap().id, product.dequeue(0).0.unwrap().id), (0, 1));
        // Flow 1 has used its turn and is still on a list: it goes first only by the bypass.
        enqueue(&mut product, 2, 1);
        enqueue(&mut product, 3, 2);
        assert_eq!(product.dequeue(0).0.unwrap().flow, expected, "bypass = {bypass}");
    }
    // Both packets of flow 1 fit in one turn of SFQ, but one that takes the bypass has no turn.
    let arrivals = [(1, 600), (2, 600), (1, 600)];
    assert_eq!(served("sfq", "linux", "false", &arrivals), [1, 1, 2]);
    assert_eq!(served("sfq", "linux", "true", &arrivals), [1, 2, 1]);
}

#[test]
fn it_is_not_judged() {
    let marked = |bypass| {
        let pairs = [("profile", "linux"), ("ce_threshold", "1 us"), ("bypass", bypass)];
        let mut product = Product::new("codel", &pairs, 1);
        for id in 0..2 {
            product.enqueue(P { id, flow: 1, size: 1514, ecn: Ecn::Ect0, t: 0 });
        }
        [0, 1].map(|_| product.dequeue(1_000_000).0.unwrap().ecn == Ecn::Ce)
    };
    assert_eq!(marked("false"), [true, true]);
    assert_eq!(marked("true"), [false, true]);
}

#[test]
fn it_counts_in_the_queue() {
    for (name, limit) in [("codel", "2"), ("fq_codel", "2"), ("sfq", "2")] {
        let pairs = [("profile", "linux"), ("limit", limit), ("bypass", "true")];
        let mut product = Product::new(name, &pairs, 1);
        let mut lost = 0;
        for id in 0..3 {
            assert_eq!(product.discipline.backlog().packets, id, "{name}");
            let did = product.enqueue(P { id, flow: 1, size: 1000, ecn: Ecn::NotEct, t: 0 });
            lost +=
                did.iter().filter(|did| matches!(did, Did::Drop(_, DropReason::Overflow))).count();
        }
        assert_eq!((lost, product.discipline.backlog().bytes), (1, 2000), "{name}");
    }
}
