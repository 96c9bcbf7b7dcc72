//! PIE: the expectations of ns-3's test suite, its fixed point, and what the profiles refuse.

use aqmlab_aqm::Admission;
use packet::{DropReason, Ecn, Rng};

use super::RATE;
use super::closed_loop::mean_delay;
use super::{Bench, Pairs, build};

/// Number of drops in 2 s of steady arrivals, 1000 bytes every `gap` ns at a line of 10 Mbit/s,
/// that do not respond to drops.
fn signalled(pairs: Pairs, gap: u64) -> u32 {
    let mut pie = build("pie", pairs, RATE).ok().unwrap().into_discipline();
    let mut rng = Rng::named(1, "ns-3");
    let (mut free, mut drops) = (0u64, 0);
    let mut busy = false;
    for n in 0..2_000_000_000 / gap {
        let now = n * gap;
        let mut out = |event| drops += u32::from(matches!(event, packet::Event::Dropped { .. }));
        loop {
            let tick = pie.next_tick().unwrap().nanos();
            let end = if busy { free } else { u64::MAX };
            if tick > now && end > now {
                break;
            }
            let at = packet::Instant::from_nanos(tick.min(end));
            let mut cx = aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out };
            if tick <= end {
                pie.on_tick(&mut cx);
            } else {
                busy = pie.dequeue(&mut cx).is_some();
                free = end + 800_000;
            }
        }
        let at = packet::Instant::from_nanos(now);
        let mut cx = aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out };
        let ecn = Ecn::NotEct;
        pie.enqueue(
            packet::Packet {
                id: 0,
                flow: 0,
                bytes: 1000,
                ecn,
                arrived: at,
                header: Default::default(),
            },
            &mut cx,
        );
        if !busy {
            busy = pie.dequeue(&mut cx).is_some();
            free = now + 800_000;
        }
    }
    drops
}

/// The order that ns-3's suite expects, with another load: drops at a target of 20 ms; fewer at
/// 80 ms; more at a higher load (in ns-3, with a slower drain); fewer with updates every 90 ms.
#[test]
fn expectations_of_ns3() {
    let base = [("target", "20 ms"), ("t_update", "30 ms"), ("max_burst", "100 ms")];
    let with = |name: &str, value| {
        let mut pairs = base.to_vec();
        pairs.iter_mut().find(|(other, _)| *other == name).unwrap().1 = value;
        pairs
    };
    for measure in ["timestamp", "rate", "line"] {
        let count = |mut pairs: Vec<(&'static str, &'static str)>, gap| {
            pairs.push(("delay", measure));
            signalled(&pairs, gap)
        };
        let drops = count(base.to_vec(), 700_000);
        assert!(drops > 100, "{measure}: {drops}");
        assert!(count(with("target", "80 ms"), 700_000) < drops, "{measure}");
        assert!(count(base.to_vec(), 600_000) > drops, "{measure}");
        assert!(count(with("t_update", "90 ms"), 700_000) < drops, "{measure}");
    }
}

/// The mean delay of a closed loop lies within 10 % of the target.
#[test]
fn the_delay_rests_at_its_target() {
    for profile in ["rfc8033", "linux"] {
        let delay = mean_delay("pie", &[("profile", profile)]);
        assert!((delay / 0.015 - 1.0).abs() < 0.1, "{profile}: {delay}");
    }
}

#[test]
fn the_rfc_drops_where_p_is_not_below_its_threshold() {
    // The delay is the backlog over the line's rate, and a large backlog drives p to 1.
    let pairs = [("ecn", "true"), ("mark_ecnth", "1"), ("max_burst", "0 s"), ("delay", "line")];
    let mut bench = Bench::new("pie", &pairs, 1);
    for _ in 0..100 {
        let due = bench.gate.next_tick().unwrap();
        let backlog = packet::Backlog { packets: 500, bytes: 500_000 };
        bench.gate.on_tick(backlog, due, &mut bench.rng);
    }
    assert_eq!(bench.gauge("p"), 1.0, "capped steps of 2 % have led to 1");
    // p = 1 is not below mark_ecnth = 1: dropped, although marks are allowed.
    assert_eq!(bench.arrive(9, 1000, Ecn::Ect0), Admission::Dropped(DropReason::Early));
}

#[test]
fn what_a_profile_cannot_do_is_refused() {
    let refusal = |pairs: Pairs| build("pie", pairs, RATE).err().unwrap().to_string();
    let docsis = ("profile", "docsis");
    assert_eq!(
        refusal(&[docsis, ("ecn", "true")]),
        "ecn: true is not possible with profile \"docsis\": RFC 8034 drops and never marks; write \
         false or leave it out"
    );
    assert!(refusal(&[docsis, ("delay", "rate")]).starts_with("delay: \"rate\" is not possible"));
    assert!(refusal(&[docsis, ("mark_ecnth", "0.2")]).starts_with("mark_ecnth: 0.2"));
    let linux = [("profile", "linux"), ("delay", "line")];
    assert!(refusal(&linux).starts_with("delay: \"line\" is not possible with profile \"linux\""));
    assert!(refusal(&[("mark_ecnth", "0.2")]).contains("ecn is false"));
}
