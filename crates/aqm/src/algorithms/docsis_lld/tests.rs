use packet::{Rate, Rng};

use super::*;
use packet::params::Raw;

fn built(written: &[(&str, Raw)]) -> Box<dyn Discipline> {
    let written: alloc::vec::Vec<_> = written
        .iter()
        .map(|(name, value)| (alloc::string::ToString::to_string(name), value.clone()))
        .collect();
    let params = Params::check(fields::FIELDS, &written).unwrap();
    build(&params, &Line::of(Rate::from_bits_per_s(10_000_000))).unwrap().into_discipline()
}

/// Offers a packet to the queue. Returns the events.
fn offer(queue: &mut dyn Discipline, ns: u64, flow: u64, ecn: Ecn) -> alloc::vec::Vec<Event> {
    let mut events = alloc::vec::Vec::new();
    let (now, mut rng) = (Instant::from_nanos(ns), Rng::named(1, "lld"));
    let header = Default::default();
    let packet = Packet { id: 1, flow, bytes: 1_250, ecn, arrived: now, header };
    let mut out = |event| events.push(event);
    queue.enqueue(packet, &mut Cx { now, rng: &mut rng, out: &mut out });
    events
}

#[test]
fn the_ramp_begins_two_frames_late_at_the_earliest() {
    // docsis-ns3: from 0.476 to 1 ms; at 10 Mbit/s from 3.2 ms, the time of two frames.
    let [fast, slow] = [100e6, 10e6].map(|rate| Ramp::new(0.001, 524_288e-9, rate / 8.0));
    assert!((fast.start - 475_712e-9).abs() < 1e-12 && (fast.full - 0.001).abs() < 1e-12);
    assert!((slow.start - 0.0032).abs() < 1e-12 && (slow.full - 3_724_288e-9).abs() < 1e-12);
    assert_eq!([fast.of(0.0004), fast.of(0.001)], [0.0, 1.0]);
    assert!((fast.of(475_712e-9 + 131_072e-9) - 0.25).abs() < 1e-9);
}

#[test]
fn a_virtual_queue_drains_at_the_line_s_rate_while_packets_wait_for_grants() {
    let ramp = Ramp::new(0.001, 524_288e-9, 1.25e6);
    let [mut grants, mut bytes] =
        [Some(0.005), None].map(|loop_delay| Low::new(ramp, 1.25e6, 12_500, loop_delay));
    // The line carries a packet of 1,250 B per ms; four packets wait for a grant.
    let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
    for n in 0..200 {
        let delay = grants.arrival(1_250, 5_000, ms(n));
        assert!((delay - 0.001).abs() < 1e-9, "{delay}");
        assert!((bytes.arrival(1_250, 5_000, ms(n)) - 0.005).abs() < 1e-9);
    }
    // 10,000 B take 8 ms, 3 ms longer than the wait for grants: the average approaches that.
    for n in 200..1_000 {
        grants.arrival(1_250, 10_000, ms(n));
    }
    assert!((grants.delay - 0.004).abs() < 2e-4, "{}", grants.delay);
    grants.was_not_queued(1_250);
    assert!(grants.delay < 0.0032);
}

#[test]
fn a_flow_is_sent_away_when_its_score_and_the_delay_are_high() {
    let mut own = Protection::new(0.001, 0.004, 0);
    let at = Instant::from_nanos(1_000_000_000);
    // 1,500 B marked with certainty give a score of 2.86 ms.
    assert!(!own.sanctions(7, 1_500, 1.0, 0.001, at), "not above the critical delay");
    assert!(own.sanctions(7, 1_500, 1.0, 0.0011, at), "5.7 ms at 1.1 ms");
    assert!(!own.sanctions(8, 1_500, 0.5, 0.0011, at), "1.4 ms of another flow");
    assert!(own.sanctions(8, 1_500, 0.5, 0.0015, at), "2.86 ms at 1.5 ms: above 4 ms ms");
    // Scores age at 2^19 B/s.
    let later = at + Duration::from_millis(6);
    assert!(!own.sanctions(7, 1_500, 0.0, 0.0011, later));
    assert_eq!(own.sanctioned, 2);
}

#[test]
fn packets_go_to_their_service_flows() {
    let mut queue = built(&[]);
    for (flow, ecn) in [(1, Ecn::NotEct), (2, Ecn::Ect0), (3, Ecn::Ect1), (4, Ecn::Ce)] {
        assert!(matches!(offer(queue.as_mut(), 0, flow, ecn)[0], Event::Queued { .. }));
    }
    assert_eq!([0, 1].map(|flow| queue.flow_backlog(flow).packets), [2, 2]);
    let mut rng = Rng::named(1, "lld");
    let mut take = |flow| {
        let mut out = |_| {};
        let mut cx = Cx { now: Instant::ZERO, rng: &mut rng, out: &mut out };
        queue.dequeue_flow(flow, &mut cx).map(|packet| packet.flow)
    };
    assert_eq!([take(1), take(1), take(1), take(0)], [Some(3), Some(4), None, Some(1)]);
}

/// A flow that sends at three times the line's rate is marked, then redirected to the classic
/// queue; without protection it fills the low-latency buffer.
#[test]
fn protection_keeps_the_queue_short() {
    let flood = |protection: bool| {
        let mut queue = built(&[
            ("protection", Raw::Bool(protection)),
            ("estimator", Raw::Text("backlog".into())),
        ]);
        (0..30).for_each(|n| drop(offer(queue.as_mut(), n * 333_333, 5, Ecn::Ect1)));
        [0, 1].map(|flow| queue.flow_backlog(flow).packets)
    };
    let [open, protected] = [flood(false), flood(true)];
    assert_eq!(open, [0, 9], "10 ms and no more");
    assert!(protected[1] < 6 && protected[0] > 20, "{protected:?}");
}
