//! The expectations of ns-3's own test suite for RED: 300 arrivals at once, no departures.

use aqmlab_aqm::Admission;
use packet::{Backlog, Ecn};

use super::{Bench, Pairs};

/// Numbers of random drops, certain drops, overflows and marks.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    early: u32,
    forced: u32,
    overflow: u32,
    marks: u32,
}

/// What happens to 300 arrivals of 500 bytes without departures, summed over twenty seeds.
fn burst(base: Pairs, more: Pairs, ecn: Ecn) -> Tally {
    use packet::DropReason::{AckFiltered, Early, Forced, Overflow};
    let mut tally = Tally::default();
    // Later parameters replace earlier ones of the same name.
    let replaced = |name: &str| more.iter().any(|(other, _)| *other == name);
    let kept = base.iter().filter(|(name, _)| !replaced(name));
    let pairs: Vec<_> = [("profile", "ns3")].iter().chain(kept).chain(more).copied().collect();
    for seed in 0..20 {
        let mut red = Bench::new("red", &pairs, seed);
        let mut waiting = 0;
        for _ in 0..300 {
            let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 500 };
            match red.offer(500, ecn, backlog) {
                Admission::Queued => waiting += 1,
                Admission::Marked(_) => {
                    waiting += 1;
                    tally.marks += 1;
                }
                Admission::Dropped(Early) => tally.early += 1,
                Admission::Dropped(Forced) => tally.forced += 1,
                Admission::Dropped(Overflow) => tally.overflow += 1,
                Admission::Dropped(AckFiltered) => panic!("no acknowledgement came"),
            }
        }
    }
    tally
}

const TEST_2: Pairs = &[("min_th", "70"), ("max_th", "150"), ("limit", "300"), ("w_q", "0.002")];

#[test]
fn test_1_first_in_first_out() {
    let pairs = [("profile", "ns3"), ("min_th", "200"), ("max_th", "400"), ("limit", "300")];
    let mut red = Bench::new("red", &pairs, 1);
    for waiting in 0..8 {
        assert_eq!(red.arrive(waiting, 500, Ecn::NotEct), Admission::Queued);
    }
}

#[test]
fn test_2_no_drops() {
    assert_eq!(burst(TEST_2, &[], Ecn::NotEct), Tally::default());
}

#[test]
fn tests_3_to_7_each_change_drops_more() {
    let drops = |more: Pairs| {
        let tally = burst(TEST_2, more, Ecn::NotEct);
        tally.early + tally.forced + tally.overflow
    };
    let heavier = ("w_q", "0.020");
    let test_3 = drops(&[heavier]);
    assert!(test_3 > 0);
    for change in [("max_th", "100"), ("max_p", "1/5"), ("gentle", "false"), ("wait", "false")] {
        let more = drops(&[heavier, change]);
        assert!(more > test_3, "{change:?}: {more} drops, test 3 has {test_3}");
    }
}

#[test]
fn tests_8_to_10_marks_need_the_switch_and_the_packet() {
    let base: Pairs = &[
        ("min_th", "30"),
        ("max_th", "90"),
        ("limit", "300"),
        ("w_q", "0.002"),
        ("max_p", "1/2"),
        ("gentle", "true"),
    ];
    for (ecn, packet) in [("false", Ecn::NotEct), ("false", Ecn::Ect0), ("true", Ecn::NotEct)] {
        let tally = burst(base, &[("ecn", ecn)], packet);
        assert!(tally.early > 0 && tally.marks == 0, "ecn {ecn}, {packet:?}: {tally:?}");
    }
    let tally = burst(base, &[("ecn", "true")], Ecn::Ect0);
    assert!(tally.marks > 0 && tally.early == 0, "{tally:?}");
}
