use alloc::vec::Vec;

use packet::params::Raw;
use packet::{Ecn, Event, Instant, Packet, Rate, Rng};

use super::*;
use crate::{Cx, Discipline};

/// A queue, and the packets that it lost; a packet's name is its flow's, times 100, and its number.
struct Trial {
    queue: Box<dyn Discipline>,
    rng: Rng,
    lost: Vec<u32>,
}

impl Trial {
    fn new(profile: &str, settings: &[(&str, f64)]) -> Trial {
        let numbers = settings.iter().map(|(name, value)| match *name {
            "head_drop" => ((*name).into(), Raw::Bool(*value > 0.0)),
            name => (name.into(), Raw::Number(*value)),
        });
        let profile = ("profile".into(), Raw::Text(profile.into()));
        let raw: Vec<_> = numbers.chain([profile]).collect();
        let params = Params::check(FIELDS, &raw).unwrap();
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let queue = build(&params, &line).unwrap().into_discipline();
        Trial { queue, rng: Rng::named(1, "sfq"), lost: Vec::new() }
    }

    fn arrive(&mut self, id: u32, bytes: u32) {
        let packet = Packet {
            id,
            flow: u64::from(id / 100),
            bytes,
            ecn: Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let lost = &mut self.lost;
        let mut out = |event: Event| {
            if let Event::Dropped { packet, .. } = event {
                lost.push(packet.id);
            }
        };
        let mut cx = Cx { now: Instant::ZERO, rng: &mut self.rng, out: &mut out };
        self.queue.enqueue(packet, &mut cx);
    }

    fn arrivals(&mut self, ids: &[u32]) -> Vec<u32> {
        ids.iter().for_each(|&id| self.arrive(id, 1_514));
        core::mem::take(&mut self.lost)
    }

    fn leave(&mut self) -> Vec<u32> {
        let mut left = Vec::new();
        loop {
            let mut out = |_: Event| {};
            let mut cx = Cx { now: Instant::ZERO, rng: &mut self.rng, out: &mut out };
            match self.queue.dequeue(&mut cx) {
                Some(packet) => left.push(packet.id),
                None => return left,
            }
        }
    }
}

#[test]
fn in_linux_a_short_packet_takes_the_next_one_along() {
    for (profile, order) in [("linux", [101, 102, 201, 202]), ("paper", [101, 201, 102, 202])] {
        let mut trial = Trial::new(profile, &[]);
        trial.arrive(101, 66);
        assert_eq!(trial.arrivals(&[102, 201, 202]), []);
        assert_eq!(trial.leave(), order, "{profile}");
    }
}

#[test]
fn in_linux_who_overdrew_has_less_of_its_next_turn() {
    // Of 1,514: 1,000 and, for 514 are left, 1,514; -1,000. The next turn begins with 514: one packet.
    let mut trial = Trial::new("linux", &[]);
    trial.arrive(101, 1_000);
    trial.arrivals(&[102]);
    trial.arrive(103, 500);
    trial.arrive(104, 66);
    assert_eq!(trial.arrivals(&[201, 202, 203]), []);
    assert_eq!(trial.leave(), [101, 102, 201, 103, 104, 202, 203]);
}

#[test]
fn in_linux_of_equally_long_queues_the_one_loses_that_came_to_its_length_last() {
    let mut trial = Trial::new("linux", &[("limit", 4.0)]);
    assert_eq!(trial.arrivals(&[101, 102, 201, 202]), []);
    assert_eq!(trial.arrivals(&[301]), [202]);
    // The first alone is longest; then its own second makes the third queue as long.
    assert_eq!(trial.arrivals(&[302]), [302]);
    assert_eq!(trial.arrivals(&[203]), [203]);
    assert_eq!(trial.queue.backlog().packets, 4);
    assert_eq!(trial.leave(), [101, 201, 301, 102]);
    let mut paper = Trial::new("paper", &[("limit", 4.0)]);
    assert_eq!(paper.arrivals(&[101, 102, 201, 202, 301]), [102]);
}

#[test]
fn in_linux_a_queue_and_the_number_of_queues_have_limits() {
    let mut trial = Trial::new("linux", &[("depth", 2.0), ("flows", 2.0)]);
    assert_eq!(trial.arrivals(&[101, 102, 103, 201, 301]), [103, 301]);
    assert_eq!(trial.leave(), [101, 201, 102]);
    assert_eq!(trial.arrivals(&[301, 401]), []);
    // No more queues than packets may wait.
    let mut few = Trial::new("linux", &[("limit", 2.0)]);
    assert_eq!(few.arrivals(&[101, 201, 301]), [301]);
}

#[test]
fn in_linux_the_front_of_the_longest_queue_goes_if_set() {
    let settings = [("head_drop", 1.0), ("limit", 4.0), ("depth", 2.0)];
    let mut trial = Trial::new("linux", &settings);
    assert_eq!(trial.arrivals(&[101, 102, 201, 202, 301]), [201]);
    // A full queue takes what comes for its first, and has not come to its length anew.
    trial.arrive(103, 100);
    assert_eq!(core::mem::take(&mut trial.lost), [101]);
    assert_eq!(trial.queue.backlog().bytes, 3 * 1_514 + 100);
    assert_eq!(trial.leave(), [102, 202, 301, 103]);
}

#[test]
fn limits_of_linux_are_refused_with_other_turns() {
    let raw = [("depth".into(), Raw::Number(5.0))];
    let params = Params::check(FIELDS, &raw).unwrap();
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let refused = build(&params, &line).err().expect("refused");
    assert!(
        refused.to_string().contains("5 is not possible here: only profile \"linux\""),
        "{refused}"
    );
}
