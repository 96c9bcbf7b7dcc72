//! CHOKe: published probabilities.

use aqmlab_aqm::{Cx, Discipline};
use packet::{DropReason, Ecn, Event, Instant, Packet, Rng};

use super::{Pairs, build, close};

/// The line's rate in bit/s.
const RATE: u64 = 10_000_000;

fn choke(pairs: Pairs) -> Box<dyn Discipline> {
    build("choke", pairs, RATE).unwrap_or_else(|why| panic!("{why}")).into_discipline()
}

fn refusal(pairs: Pairs) -> String {
    build("choke", pairs, RATE).err().unwrap_or_else(|| panic!("{pairs:?}")).to_string()
}

fn gauge(choke: &dyn Discipline, name: &str) -> f64 {
    let mut found = f64::NAN;
    choke.gauges(&mut |gauge, value| {
        if gauge == name {
            found = value;
        }
    });
    found
}

fn enqueue(choke: &mut dyn Discipline, packet: Packet, rng: &mut Rng) -> Vec<Event> {
    let mut heard = Vec::new();
    let mut out = |event| heard.push(event);
    let now = packet.arrived;
    choke.enqueue(packet, &mut Cx { now, rng, out: &mut out });
    heard
}

fn packet(id: u32, flow: u64, ecn: Ecn) -> Packet {
    Packet { id, flow, bytes: 1000, ecn, arrived: Instant::ZERO, header: Default::default() }
}

/// Events of an arrival of `flow` that finds ten packets, three of them of flow 7, and an average
/// of 10; and p_b after it.
fn eleventh(pairs: Pairs, flow: u64, ecn: Ecn, rng: &mut Rng) -> (Vec<Event>, f64) {
    let pairs = [&[("w_q", "1")], pairs].concat();
    let mut choke = choke(&pairs);
    for id in 0..10 {
        let flow = if id % 4 == 1 { 7 } else { 100 + u64::from(id) };
        let heard = enqueue(&mut *choke, packet(id, flow, Ecn::NotEct), rng);
        assert_eq!(heard, [Event::Queued { id }], "up to min_th everything passes");
    }
    let heard = enqueue(&mut *choke, packet(10, flow, ecn), rng);
    (heard, gauge(&*choke, "p_b"))
}

/// Shares of trials in which both packets are dropped, only the arrival is, and it is admitted.
fn shares(pairs: Pairs, flow: u64) -> [f64; 3] {
    // Five standard errors of 40 000 trials are at most 0.0125.
    let mut rng = Rng::named(1, "shares");
    let mut seen = [0u32; 3];
    for _ in 0..40_000 {
        match &eleventh(pairs, flow, Ecn::NotEct, &mut rng).0[..] {
            [Event::Dropped { packet: victim, .. }, Event::Dropped { packet, .. }] => {
                assert_eq!((victim.flow, packet.id), (7, 10));
                assert!(victim.id < 10);
                seen[0] += 1;
            }
            [Event::Dropped { packet, .. }] => {
                assert_eq!(packet.id, 10);
                seen[1] += 1;
            }
            [Event::Queued { id: 10 }] => seen[2] += 1,
            other => panic!("{other:?}"),
        }
    }
    seen.map(|n| f64::from(n) / 40_000.0)
}

#[test]
fn published_probabilities() {
    // Three of ten waiting packets match; p_b = 0.1 (10 - 9)/(11 - 9) = 0.05, and count is 0.
    let [both, arrival, admitted] =
        shares(&[("min_th", "9"), ("max_th", "11"), ("max_p", "0.1")], 7);
    close(both, 0.3, 0.0125);
    close(arrival, 0.7 * 0.05, 0.006);
    close(admitted, 0.665, 0.0125);
    // In Linux the first packet in the band draws R and passes.
    let linux = [("profile", "linux"), ("min_th", "9"), ("max_th", "11"), ("max_p", "0.1")];
    let [both, arrival, _] = shares(&linux, 7);
    close(both, 0.3, 0.0125);
    assert_eq!(arrival, 0.0);
}

#[test]
fn an_average_of_max_th_is_tested_and_one_above_it_is_certain() {
    let mut rng = Rng::named(2, "edges");
    let edge = [("min_th", "9"), ("max_th", "10"), ("max_p", "0.1")];
    assert_eq!(eleventh(&edge, 8, Ecn::NotEct, &mut rng).1, 0.1);
    let [both, arrival, _] = shares(&edge, 8);
    assert_eq!(both, 0.0);
    close(arrival, 0.1, 0.0075);
    let above = [("min_th", "9"), ("max_th", "9.9"), ("limit", "1000")];
    let only_the_arrival = |heard: &[Event]| matches!(heard, [Event::Dropped { packet, why: DropReason::Forced }] if packet.id == 10);
    let (heard, p_b) = eleventh(&above, 8, Ecn::NotEct, &mut rng);
    assert!(only_the_arrival(&heard) && p_b == 1.0, "{heard:?}");
    let ecn = [&above[..], &[("ecn", "true")]].concat();
    let marked = [Event::Marked { id: 10, why: DropReason::Forced }, Event::Queued { id: 10 }];
    assert_eq!(eleventh(&ecn, 8, Ecn::Ect0, &mut rng).0, marked);
    assert!(only_the_arrival(&eleventh(&ecn, 8, Ecn::NotEct, &mut rng).0));
    let hard = [&ecn[..], &[("harddrop", "true")]].concat();
    assert!(only_the_arrival(&eleventh(&hard, 8, Ecn::Ect0, &mut rng).0));
}

#[test]
fn up_to_min_th_nothing_is_drawn() {
    for profile in ["paper", "linux"] {
        let pairs = [("profile", profile), ("min_th", "10"), ("max_th", "12")];
        let mut rng = Rng::named(3, "calm");
        let (heard, _) = eleventh(&pairs, 7, Ecn::NotEct, &mut rng);
        assert_eq!(heard, [Event::Queued { id: 10 }]);
        assert_eq!(rng, Rng::named(3, "calm"));
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    assert!(refusal(&[("min_th", "300")]).starts_with("min_th: 300 is not below max_th = 200"));
    let linux = ("profile", "linux");
    assert!(refusal(&[linux, ("limit", "131072")]).contains("at most 131071 places"));
    assert!(refusal(&[linux, ("min_th", "4.5")]).contains("write 4 or 5"));
    assert!(refusal(&[linux, ("w_q", "0.002")]).contains("power of two"));
    let wide = [linux, ("min_th", "5000"), ("max_th", "9000"), ("w_q", "1/1048576")];
    assert!(refusal(&wide).contains("must be below 4096"));
}

#[test]
fn a_flow_that_does_not_yield_loses_more_than_its_share() {
    // Its arrivals match its own packets in the queue, and both are dropped.
    let (small, heavy) = super::unfair::run("choke", &[]);
    assert!(small > 0.95, "{small}");
    close(heavy, 0.75, 0.02);
}
