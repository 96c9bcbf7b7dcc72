//! An average above max_th that outlives the queue falls while the line idles, however close
//! together the arrivals are that are dropped meanwhile.

use aqmlab_aqm::Admission::Dropped;
use packet::DropReason::Forced;
use packet::{Ecn, Instant};

use super::{Bench, Pairs, close};

/// Disciplines that read the idle time as the 1993 paper does, with thresholds of 5 and 15 packets
/// and a weight of 1/512.
const PAPERS: [(&str, Pairs); 4] = [
    ("red", &[("w_q", "1/512")]),
    ("ared", &[("w_q", "1/512"), ("min_th", "5"), ("max_th", "15"), ("gentle", "false")]),
    ("feng_red", &[("w_q", "1/512")]),
    ("wred", &[("min_th", "5"), ("max_th", "15")]),
];

/// Checks that the average falls by (1 - w_q) in each packet time of 0.8 ms, with arrivals every
/// `gap` ns at an idle line.
fn falls(name: &str, pairs: Pairs, gap: u64) {
    let mut bench = Bench::new(name, pairs, 1);
    bench.now = 1;
    for _ in 0..1_000 {
        bench.arrive(30, 1000, Ecn::NotEct);
    }
    bench.gate.on_idle(Instant::from_nanos(bench.now));
    let (start, high) = (bench.now, bench.gauge("avg"));
    for arrival in 1..1_000_000 {
        bench.now = start + arrival * gap;
        let said = bench.arrive(0, 1000, Ecn::NotEct);
        let packets = (bench.now - start) / 800_000;
        let expected = high * (511.0f64 / 512.0).powi(packets as i32);
        close(bench.gauge("avg"), expected, 1e-9);
        assert_eq!(said == Dropped(Forced), expected > 15.0, "{name}: {said:?} at {expected}");
        if expected < 15.0 {
            return;
        }
    }
    panic!("{name} never passes a packet again");
}

#[test]
fn a_dropped_arrival_costs_the_average_none_of_the_idle_time() {
    for (name, pairs) in PAPERS {
        // Half a packet time, just less than one, a little more than one, and a small fraction.
        for gap in [400_000, 799_999, 900_000, 1_009] {
            falls(name, pairs, gap);
        }
    }
}
