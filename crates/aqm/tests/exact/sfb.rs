//! SFB: what its filter does to flows.

use packet::{Ecn, Rng};

use super::{build, close};

/// Shares of ECN-capable packets that are dropped, marked and passed if their bins have
/// probability `p`.
fn fates(profile: &str, p: f64) -> [f64; 3] {
    // The filter has one bin. Two packets wait in it for ever, and d1 = p raises its probability
    // from 0 to p at the third arrival.
    let step = p.to_string();
    let mut rng = Rng::named(1, "fates");
    let mut seen = [0u32; 3];
    for _ in 0..20_000 {
        let pairs = [
            ("profile", profile),
            ("L", "1"),
            ("N", "1"),
            ("bin_size", if profile == "paper" { "1" } else { "2" }),
            ("d1", &step),
        ];
        let mut sfb = build("sfb", &pairs, 10_000_000).ok().unwrap().into_discipline();
        let mut heard = Vec::new();
        for id in 0..3 {
            let mut packet = super::packet(1000, Ecn::Ect0);
            packet.id = id;
            let mut out = |event| heard.push(event);
            let now = packet::Instant::ZERO;
            sfb.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
        }
        seen[match &heard[2..] {
            [packet::Event::Dropped { .. }] => 0,
            [packet::Event::Marked { .. }, _] => 1,
            _ => 2,
        }] += 1;
    }
    seen.map(|n| f64::from(n) / 20_000.0)
}

#[test]
fn above_one_half_some_are_dropped() {
    // p_min = 0.6: r < 0.2 drops, r < 0.6 marks. Five standard errors are at most 0.018.
    for profile in ["lab", "linux"] {
        let [dropped, marked, passed] = fates(profile, 0.6);
        close(dropped, 0.2, 0.018);
        close(marked, 0.4, 0.018);
        close(passed, 0.4, 0.018);
        assert_eq!(fates(profile, 0.4)[0], 0.0);
    }
    let [dropped, marked, _] = fates("paper", 0.6);
    assert_eq!(dropped, 0.0);
    close(marked, 0.6, 0.018);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let refusal = |pairs| build("sfb", pairs, 10_000_000).err().unwrap().to_string();
    assert!(refusal(&[("rehash_interval", "30 s")]).starts_with("warmup_time: 60 s is longer"));
    assert!(refusal(&[("L", "16"), ("N", "23")]).contains("72.4 bits of hash"));
}

/// The heavy flow gets less than what the others leave, since a bin lowers its probability only
/// when it is empty.
#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("sfb", &[]);
    assert!(small > 0.98, "{small}");
    close(heavy, 0.69, 0.03);
}

/// Profile `paper` does not drop ECN-capable packets early. A flow that ignores marks raises its
/// probability to 1, and the penalty box holds it to its rate.
#[test]
fn a_flow_that_ignores_marks_is_held_to_the_penalty_rate() {
    // The flow's one bin never empties, since no packet leaves.
    let pairs = [("profile", "paper"), ("d1", "0.01"), ("limit", "1000000"), ("L", "1")];
    let mut sfb = build("sfb", &pairs, 10_000_000).ok().unwrap().into_discipline();
    let mut rng = Rng::named(1, "box");
    let (mut queued, mut dropped) = (0, 0);
    for id in 0..100_000u64 {
        let now = packet::Instant::from_nanos(id * 1_000_000);
        let packet = packet::Packet { id: id as u32, ..super::packet(1000, Ecn::Ect0) };
        let mut out = |event: packet::Event| match event {
            packet::Event::Dropped { .. } => dropped += 1,
            packet::Event::Queued { .. } => queued += 1,
            packet::Event::Marked { .. } => {}
        };
        sfb.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
    }
    // The 121st arrival is the first in the box: 20 tokens and 10 a second for 99.88 s.
    assert_eq!(queued, 120 + 20 + 998);
    assert_eq!(queued + dropped, 100_000);
}
