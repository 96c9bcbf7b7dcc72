//! AFD: fairness between unequal senders.

use std::collections::BTreeMap;

use aqmlab_aqm::Admission;
use packet::{Backlog, Ecn, Instant, Packet, Rng};

use super::RATE;
use super::{Pairs, build, gate};

/// Four senders that do not respond, at 4, 2, 1 and 1/2 times the fair quarter of the line: the
/// first three must get between 0.8 and 1.25 of an equal share of what the last one leaves, and
/// the last one nearly all that it sends. (Max-min: 7/24 of the line each, and 1/8.)
#[test]
fn unresponsive_senders_get_equal_shares() {
    let mut afd = gate("afd", &[("limit", "500"), ("m_fair_min", "1")]);
    let mut rng = Rng::named(1, "afd");
    let mut traffic = Rng::named(1, "senders");
    let rates = [4.0, 2.0, 1.0, 0.5]; // in units of 312.5 packets/s; the line sends 1250
    let (mut waiting, mut now, mut free) = (0u32, 0u64, 0u64);
    let mut passed: BTreeMap<u64, u32> = BTreeMap::new();
    let mut offered: BTreeMap<u64, u32> = BTreeMap::new();
    while now < 200_000_000_000 {
        now += traffic.exponential(1e9 / (7.5 * 312.5)) as u64;
        let mut pick = traffic.uniform() * 7.5;
        let flow = rates.iter().position(|rate| {
            pick -= rate;
            pick < 0.0
        });
        let flow = flow.unwrap_or(3) as u64;
        loop {
            let tick = afd.next_tick().unwrap();
            if waiting > 0 && free <= now && free < tick.nanos() {
                waiting -= 1;
                free += 800_000;
            } else if tick.nanos() <= now {
                afd.on_tick(Backlog { packets: waiting, bytes: 0 }, tick, &mut rng);
            } else {
                break;
            }
        }
        let at = Instant::from_nanos(now);
        let mut packet = Packet {
            id: 0,
            flow,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: at,
            header: Default::default(),
        };
        let backlog = Backlog { packets: waiting, bytes: 0 };
        let counts = now > 50_000_000_000;
        *offered.entry(flow).or_default() += u32::from(counts);
        if afd.admit(&mut packet, backlog, at, &mut rng) == Admission::Queued {
            *passed.entry(flow).or_default() += u32::from(counts);
            if waiting == 0 && free <= now {
                free = now + 800_000;
            } else {
                waiting += 1;
            }
        }
    }
    let total: u32 = passed.values().sum();
    let thin = f64::from(passed[&3]) / f64::from(offered[&3]);
    assert!(thin > 0.95, "the slow sender keeps {thin} of its packets");
    let equal = f64::from(total - passed[&3]) / 3.0;
    for flow in 0..3 {
        let share = f64::from(passed[&flow]) / equal;
        assert!((0.8..1.25).contains(&share), "sender {flow} gets {share} of an equal share");
    }
}

#[test]
fn contradictions_are_refused() {
    let refusal = |pairs: Pairs| build("afd", pairs, RATE).err().unwrap().to_string();
    assert!(refusal(&[("b", "5")]).starts_with("b: the least fair share, m_fair_min = 10"));
    assert!(refusal(&[("m_fair_min", "501")]).starts_with("m_fair_min: "));
    assert!(refusal(&[("alpha", "1.8")]).starts_with("alpha: beta = 1.8 is not above"));
}
