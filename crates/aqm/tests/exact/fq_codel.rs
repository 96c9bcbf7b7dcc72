//! FQ-CoDel: the worked examples.

use packet::{DropReason, Ecn};

use super::line::{Did, P, Product};

fn fill(product: &mut Product, flow: u64, packets: u32, size: u64, t: u64) -> Vec<Did> {
    let mut dropped = Vec::new();
    for n in 0..packets {
        let id = 1000 * flow as u32 + n;
        let did = product.enqueue(P { id, flow, size, ecn: Ecn::NotEct, t });
        dropped.extend(did.into_iter().filter(|did| matches!(did, Did::Drop(..))));
    }
    dropped
}

#[test]
fn an_emptied_new_queue_becomes_an_old_one() {
    let lists = |profile| {
        let mut product = Product::new("fq_codel", &[("profile", profile), ("quantum", "1514")], 1);
        fill(&mut product, 1, 1, 1500, 0);
        assert_eq!((product.gauge("new_flows"), product.gauge("old_flows")), (1.0, 0.0));
        // The packet is sent; with the 14 bytes left of its quantum the queue stays first.
        assert!(product.dequeue(0).0.is_some());
        assert_eq!((product.gauge("new_flows"), product.gauge("old_flows")), (1.0, 0.0));
        fill(&mut product, 2, 2, 1500, 0);
        assert!(product.dequeue(0).0.is_some());
        (product.gauge("new_flows"), product.gauge("old_flows"))
    };
    assert_eq!(lists("rfc8290"), (1.0, 1.0));
    assert_eq!(lists("ns3"), (1.0, 1.0));
    assert_eq!(lists("linux"), (1.0, 0.0), "nobody to wait for");
}

#[test]
fn the_fattest_queue_loses_half_or_a_batch() {
    for (packets, lost) in [(100, 50), (200, 64)] {
        let limit = packets.to_string();
        let mut product = Product::new("fq_codel", &[("limit", &limit)], 1);
        assert!(fill(&mut product, 1, packets, 1500, 0).is_empty());
        let dropped = fill(&mut product, 2, 1, 1500, 0);
        assert_eq!(dropped.len(), lost, "{packets} packets of 1500 bytes");
        assert_eq!(dropped[0], Did::Drop(1000, DropReason::Overflow), "from the head");
    }
}

#[test]
fn old_queues_take_turns_by_bytes() {
    let mut product = Product::new("fq_codel", &[("quantum", "1514")], 1);
    fill(&mut product, 1, 30, 1500, 0);
    fill(&mut product, 2, 60, 500, 0);
    let mut served = String::new();
    for _ in 0..60 {
        served.push(if product.dequeue(0).0.unwrap().flow == 1 { 'A' } else { 'B' });
    }
    // Two new queues with a quantum each are served as two old ones would be.
    let (a, b) = (served.matches('A').count() * 1500, served.matches('B').count() * 500);
    assert!(a.abs_diff(b) <= 1514 + 1500, "{served}");
    assert!(served.starts_with("AABBBBABBB"), "{served}");
}

#[test]
fn a_sparse_flow_goes_first() {
    let mut product = Product::new("fq_codel", &[], 1);
    fill(&mut product, 1, 50, 1500, 0);
    for _ in 0..5 {
        product.dequeue(0);
    }
    fill(&mut product, 2, 1, 100, 0);
    assert_eq!(product.dequeue(0).0.unwrap().flow, 2);
}
