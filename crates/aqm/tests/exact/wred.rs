//! Weighted RED: its published numbers.

use aqmlab_aqm::Admission::{Dropped, Marked, Queued};
use packet::DropReason::{Early, Forced};
use packet::{Ecn, Instant};

use super::RATE;
use super::{Bench, Pairs, build, close};

#[test]
fn the_average() {
    let mut wred = Bench::new("wred", &[("n", "1"), ("limit", "4000")], 1);
    wred.arrive(0, 1000, Ecn::NotEct);
    wred.arrive(20, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.0, 0.0);
    let mut wred = Bench::new("wred", &[("limit", "4000")], 1);
    wred.arrive(0, 1000, Ecn::NotEct);
    wred.arrive(5120, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.0, 0.0);
    wred.arrive(20, 1000, Ecn::NotEct);
    close(wred.gauge("avg"), 10.01953125, 1e-12);
    // The line idles for a hundred packet times.
    let before = wred.gauge("avg");
    wred.gate.on_idle(Instant::from_nanos(20_000_000));
    wred.now = 100_000_000;
    wred.arrive(0, 1000, Ecn::NotEct);
    close(wred.gauge("avg") / before * 10.0, 8.224205, 1e-6);
}

#[test]
fn at_and_above_max_th() {
    let at = |queue: u32, max: &str| {
        let pairs: Pairs = &[("n", "1"), ("ecn", "true"), ("limit", "4000"), ("max_th", max)];
        let mut wred = Bench::new("wred", pairs, 1);
        wred.arrive(0, 1000, Ecn::Ect0);
        for _ in 0..60 {
            wred.arrive(queue, 1000, Ecn::Ect0); // the average converges exactly
        }
        let mut marks = 0u32;
        for _ in 0..10_000 {
            match wred.arrive(queue, 1000, Ecn::Ect0) {
                Dropped(Forced) => return None,
                Marked(Early) => marks += 1,
                Queued => {}
                other => panic!("{other:?}"),
            }
        }
        Some(marks)
    };
    // 1000 of 10^4 at p = 0.1: five standard deviations are 150.
    assert!(at(40, "40").unwrap().abs_diff(1000) < 150);
    assert_eq!(at(40, "39.99"), None, "dropped although ECN-capable");
}

#[test]
fn classes_are_counted_from_the_first() {
    let why = build("wred", &[("classes", "3"), ("first_class", "7")], RATE).err().unwrap();
    assert!(why.to_string().starts_with("classes: 3 is too many from first_class = 7"), "{why}");
    assert!(build("wred", &[("classes", "2"), ("first_class", "7")], RATE).is_ok());
    let why = build("wred", &[("period", "1 ms")], RATE).err().unwrap();
    assert!(why.to_string().contains("no effect"), "{why}");
}
