//! REM: ns-2's limit, which holds one packet less, and the price.

use aqmlab_aqm::Admission;
use packet::{Backlog, DropReason, Ecn, Rng};

use super::{Bench, Pairs, gate, packet};

#[test]
fn ns2_holds_one_packet_less() {
    let fits = |pairs: Pairs, packets, bytes| {
        let mut rng = Rng::named(1, "rem");
        let backlog = Backlog { packets, bytes };
        let now = packet::Instant::ZERO;
        let said = gate("rem", pairs).admit(&mut packet(1000, Ecn::Ect0), backlog, now, &mut rng);
        said == Admission::Queued
    };
    let ns2 = ("profile", "ns2");
    assert!(fits(&[("limit", "3")], 2, 0) && !fits(&[("limit", "3")], 3, 0));
    assert!(fits(&[ns2, ("limit", "3")], 1, 0) && !fits(&[ns2, ("limit", "3")], 2, 0));
    let bytes = [ns2, ("limit", "3"), ("queue_in_bytes", "true")];
    assert!(fits(&bytes, 1, 1999) && !fits(&bytes, 1, 2000));
    let both = [ns2, ("limit", "3"), ("limit_bytes", "9000")];
    assert!(fits(&both, 1, 7999) && !fits(&both, 2, 0) && !fits(&both, 1, 8000));
    let given = [ns2, ("limit_bytes", "3000")];
    assert!(fits(&given, 1, 1999) && !fits(&given, 1, 2000));
}

/// A full queue at its target refuses twice the packets that the line could send. Refused packets
/// count as arrivals, so the price rises at every update.
#[test]
fn refused_packets_raise_the_price() {
    let mut bench = Bench::new("rem", &[("limit", "20"), ("b_star", "20")], 1);
    for _ in 0..100 {
        for _ in 0..5 {
            let said = bench.arrive(20, 1000, Ecn::NotEct);
            assert_eq!(said, Admission::Dropped(DropReason::Overflow));
        }
        let due = bench.gate.next_tick().unwrap();
        let backlog = Backlog { packets: 20, bytes: 20_000 };
        bench.gate.on_tick(backlog, due, &mut bench.rng);
    }
    // The line sends c = 2.5 packets in 2 ms and 5 arrive; a queue at its target adds nothing.
    super::close(bench.gauge("price"), 100.0 * 0.001 * 2.5, 1e-9);
}
