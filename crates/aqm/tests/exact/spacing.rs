//! Gaps between the signals of RED at a constant p_b of 1/20.

use aqmlab_aqm::Admission;
use packet::Ecn;

use super::{Bench, Pairs, close};

/// The gaps between marks over `packets` arrivals at an average of 10 between thresholds of 5
/// and 15 with max_p = 1/10.
fn gaps(profile: &str, more: Pairs, packets: u32) -> Vec<u32> {
    let mut pairs = vec![
        ("profile", profile),
        ("min_th", "5"),
        ("max_th", "15"),
        ("max_p", "0.1"),
        ("w_q", "1"),
        ("mean_packet_bytes", "1000"),
        ("limit", "100"),
        ("ecn", "true"),
    ];
    pairs.extend(more);
    let mut red = Bench::new("red", &pairs, 11);
    let (mut gaps, mut last) = (Vec::new(), 0);
    for n in 1..=packets {
        match red.arrive(10, 1000, Ecn::Ect0) {
            Admission::Queued => {}
            Admission::Marked(_) => {
                gaps.push(n - last);
                last = n;
            }
            Admission::Dropped(why) => panic!("dropped: {why:?}"),
        }
    }
    gaps.remove(0); // entering the band is not a gap
    gaps
}

/// Profile and its switches, the support of the gaps, and the fraction of marks.
type Case = (&'static str, Pairs<'static>, u32, u32, f64);

const CASES: [Case; 8] = [
    ("fj93", &[], 1, 19, 0.1000),
    ("linux", &[], 1, 20, 0.0952),
    ("altq", &[], 1, 39, 0.0500),
    ("ns2", &[], 20, 39, 0.0339),
    ("ns2", &[("wait", "false")], 1, 19, 0.1000),
    ("ns2-fixed", &[], 20, 39, 0.0339),
    ("ns3", &[], 20, 39, 0.0339),
    ("ns3", &[("wait", "false")], 1, 19, 0.1000),
];

/// Over 10^6 packets the fraction of marks has a standard error of at most 1.7e-4 (fj93), so the
/// bound of 5e-4 gives a false alarm in 300 seeds at worst; the seed is fixed.
#[test]
fn mark_fractions() {
    for (profile, more, _, _, fraction) in CASES {
        let found = gaps(profile, more, 1_000_000).len() as f64 / 1e6;
        close(found, fraction, 0.0005);
    }
}

/// Every gap of the support is equally likely, and no other occurs. Each cell may be five standard
/// errors off: a false alarm in about 10^4 seeds over all cells of all cases; the seed is fixed.
#[test]
fn gaps_are_uniform() {
    for (profile, more, from, to, _) in CASES {
        let gaps = gaps(profile, more, 1_000_000);
        let expected = gaps.len() as f64 / f64::from(to - from + 1);
        for gap in 1..=60 {
            let found = gaps.iter().filter(|g| **g == gap).count() as f64;
            if (from..=to).contains(&gap) {
                assert!(
                    (found - expected).abs() < 5.0 * expected.sqrt(),
                    "{profile} {more:?}: gap {gap} occurs {found} times, not {expected}"
                );
            } else {
                // Linux divides integers: R exceeds 1/p_b in 6 draws of a million.
                let stray = if profile == "linux" && gap == to + 1 { 8.0 } else { 0.0 };
                assert!(found <= stray, "{profile} {more:?}: gap {gap} occurs {found} times");
            }
        }
    }
}
