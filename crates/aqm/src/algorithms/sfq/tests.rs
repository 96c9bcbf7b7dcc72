use alloc::vec::Vec;

use packet::params::Raw;
use packet::{Ecn, Event, Instant, Packet, Rate, Rng};

use super::*;
use crate::{Cx, Discipline};

/// A queue and the packets that it dropped. A packet's id is 100 times its flow, plus its number
/// within the flow.
struct Trial {
    queue: Box<dyn Discipline>,
    rng: Rng,
    lost: Vec<u32>,
}

impl Trial {
    fn new(profile: &str, settings: &[(&str, f64)]) -> Trial {
        let numbers = settings.iter().map(|(name, value)| match *name {
            "head_drop" | "red_ecn" | "red_harddrop" => ((*name).into(), Raw::Bool(*value > 0.0)),
            "perturb" => ("perturb".into(), Raw::Text(alloc::format!("{value} s"))),
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
        self.comes(id, bytes, Ecn::NotEct);
    }

    /// Lets a packet arrive. Returns the id of the packet that the queue marks, if there is one.
    fn comes(&mut self, id: u32, bytes: u32, ecn: Ecn) -> Option<u32> {
        let packet = Packet {
            id,
            flow: u64::from(id / 100),
            bytes,
            ecn,
            arrived: Instant::ZERO,
            header: Default::default(),
        };
        let (lost, mut marked) = (&mut self.lost, None);
        let mut out = |event: Event| match event {
            Event::Dropped { packet, .. } => lost.push(packet.id),
            Event::Marked { id, .. } => marked = Some(id),
            Event::Queued { .. } => {}
        };
        let mut cx = Cx { now: Instant::ZERO, rng: &mut self.rng, out: &mut out };
        self.queue.enqueue(packet, &mut cx);
        marked
    }

    /// Runs the periodic update, which must be due at `seconds`.
    fn tick(&mut self, seconds: u64) {
        let now = Instant::from_nanos(seconds * 1_000_000_000);
        assert_eq!(self.queue.next_tick(), Some(now));
        let lost = &mut self.lost;
        let mut out = |event: Event| {
            if let Event::Dropped { packet, .. } = event {
                lost.push(packet.id);
            }
        };
        self.queue.on_tick(&mut Cx { now, rng: &mut self.rng, out: &mut out });
    }

    fn arrivals(&mut self, ids: &[u32]) -> Vec<u32> {
        ids.iter().for_each(|&id| self.arrive(id, 1_514));
        core::mem::take(&mut self.lost)
    }

    fn leave_one(&mut self) -> Option<u32> {
        let mut out = |_: Event| {};
        let mut cx = Cx { now: Instant::ZERO, rng: &mut self.rng, out: &mut out };
        self.queue.dequeue(&mut cx).map(|packet| packet.id)
    }

    fn leave(&mut self) -> Vec<u32> {
        core::iter::from_fn(|| self.leave_one()).collect()
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
    // The first turn of 1,514 B sends 1,000 B and, since 514 B are left, 1,514 B more: 1,000 B are
    // overdrawn. The next turn has 514 B, which one packet of 514 B uses up: the packet of 66 B waits
    // for the turn after it.
    let mut trial = Trial::new("linux", &[]);
    trial.arrive(101, 1_000);
    trial.arrivals(&[102]);
    trial.arrive(103, 514);
    trial.arrive(104, 66);
    assert_eq!(trial.arrivals(&[201, 202, 203]), []);
    assert_eq!(trial.leave(), [101, 102, 201, 103, 202, 104, 203]);
}

#[test]
fn in_linux_of_equally_long_queues_the_one_loses_that_came_to_its_length_last() {
    let mut trial = Trial::new("linux", &[("limit", 4.0)]);
    assert_eq!(trial.arrivals(&[101, 102, 201, 202]), []);
    assert_eq!(trial.arrivals(&[301]), [202]);
    // Now flow 1 alone has two packets. Packet 302 makes flow 3's queue as long, then 203 flow 2's:
    // each is dropped, since its queue reached that length last.
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
    // With room for two packets, only two queues may hold any.
    let mut few = Trial::new("linux", &[("limit", 2.0)]);
    assert_eq!(few.arrivals(&[101, 201, 301]), [301]);
}

#[test]
fn in_linux_the_front_of_the_longest_queue_goes_if_set() {
    let settings = [("head_drop", 1.0), ("limit", 4.0), ("depth", 2.0)];
    let mut trial = Trial::new("linux", &settings);
    assert_eq!(trial.arrivals(&[101, 102, 201, 202, 301]), [201]);
    // A full queue drops its first packet for an arrival, and its length stays.
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

/// RED with w_q = 1, so that its average is the backlog; the band is from 1,000 B to 2,000 B.
const RED: [(&str, f64); 4] =
    [("red_min_th", 1.0), ("red_max_th", 2.0), ("red_w_q", 1.0), ("queues", 65_536.0)];

#[test]
fn in_linux_every_queue_may_have_red_of_its_own() {
    // sfq_enqueue: RED does not test a queue's first packet, the first in the band passes, and from
    // max_th on all are dropped.
    let mut trial = Trial::new("linux", &RED);
    for id in [101, 102, 103, 201, 202, 203] {
        trial.arrive(id, 1_000);
    }
    assert_eq!(core::mem::take(&mut trial.lost), [103, 203]);
    assert_eq!(trial.leave(), [101, 102, 201, 202]);
    // A queue that was empty begins with a new state of RED.
    trial.arrive(104, 1_000);
    trial.arrive(105, 1_000);
    assert_eq!(trial.lost, []);
}

#[test]
fn in_linux_red_in_a_queue_marks_its_first_packet_or_what_comes() {
    for (more, first, marked, lost) in [
        (&[("red_ecn", 1.0)][..], Ecn::Ect0, Some(103), None),
        (&[("red_ecn", 1.0), ("head_drop", 1.0)], Ecn::Ect0, Some(101), None),
        (&[("red_ecn", 1.0), ("head_drop", 1.0)], Ecn::NotEct, Some(103), None),
        (&[("red_ecn", 1.0), ("red_harddrop", 1.0)], Ecn::Ect0, None, Some(103)),
        (
            &[("red_ecn", 1.0), ("red_harddrop", 1.0), ("head_drop", 1.0)],
            Ecn::Ect0,
            None,
            Some(101),
        ),
        (&[("head_drop", 1.0)], Ecn::Ect0, None, Some(101)),
    ] {
        let mut trial = Trial::new("linux", &[&RED[..], more].concat());
        trial.comes(101, 1_000, first);
        trial.comes(102, 1_000, Ecn::Ect0);
        assert_eq!(trial.comes(103, 1_000, Ecn::Ect0), marked, "{more:?}");
        assert_eq!(trial.lost, Vec::from_iter(lost), "{more:?}");
        let left = trial.leave();
        assert_eq!(left.len(), 3 - trial.lost.len(), "{more:?}");
    }
}

#[test]
fn in_linux_a_new_hash_takes_every_packet_along() {
    // sfq_rehash visits the kernel's slots from the lowest, and the first queue got the highest.
    let settings = [("perturb", 10.0), ("queues", 65_536.0)];
    let mut trial = Trial::new("linux", &settings);
    assert_eq!(trial.arrivals(&[101, 201, 301, 102, 202]), []);
    trial.tick(10);
    assert_eq!(trial.queue.backlog().packets, 5);
    assert_eq!(trial.leave(), [301, 201, 101, 202, 102]);
    assert_eq!(trial.arrivals(&[101, 201, 102]), []);
    trial.tick(20);
    assert_eq!(trial.lost, []);
    let mut left = trial.leave();
    left.sort_unstable();
    assert_eq!(left, [101, 102, 201]);
    // A slot that becomes free is the next to be used: flow 3 gets the slot of flow 1, which is
    // above that of flow 2.
    let mut trial = Trial::new("linux", &settings);
    trial.arrive(101, 66);
    trial.arrivals(&[201, 202]);
    assert_eq!(trial.leave_one(), Some(101));
    trial.arrivals(&[301]);
    trial.tick(10);
    assert_eq!(trial.leave(), [201, 301, 202]);
    // Six flows share two queues, and each new hash distributes them anew. A queue that would get
    // more than `depth` packets drops the others.
    let narrow = [("perturb", 1.0), ("queues", 2.0), ("depth", 3.0)];
    let mut trial = Trial::new("linux", &narrow);
    let ids = [101, 201, 301, 401, 501, 601];
    trial.arrivals(&ids);
    let mut lost = 0;
    for second in 1..=20 {
        trial.tick(second);
        lost += core::mem::take(&mut trial.lost).len();
        let waiting = trial.queue.backlog().packets;
        assert_eq!(trial.leave().len(), waiting as usize);
        trial.arrivals(&ids);
    }
    assert!(lost > 0, "some draw puts more than three into one");
}

#[test]
fn in_linux_a_queue_that_a_new_hash_fills_forgets_who_had_it_before() {
    // sfq_rehash resets RED's state with red_set_vars. Without that the old average would fall by
    // only an eighth per packet.
    let own = [("red_w_q", 0.125), ("queues", 2.0), ("perturb", 1.0)];
    let mut trial = Trial::new("linux", &[&RED[..2], &own[..]].concat());
    for second in (2..=40).step_by(2) {
        (101..160).for_each(|id| trial.arrive(id, 1_000));
        trial.leave();
        trial.lost.clear();
        trial.tick(second - 1);
        trial.arrive(160, 1_000);
        trial.tick(second);
        trial.arrive(161, 1_000);
        assert_eq!(trial.lost, [], "{second} s");
        assert_eq!(trial.leave(), [160, 161]);
    }
}

#[test]
fn red_in_queues_needs_max_th_and_a_band() {
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let refused = |settings: &[(&str, f64)]| {
        let profile = ("profile".into(), Raw::Text("linux".into()));
        let raw = settings.iter().map(|(name, value)| ((*name).into(), Raw::Number(*value)));
        let params = Params::check(FIELDS, &raw.chain([profile]).collect::<Vec<_>>()).unwrap();
        build(&params, &line).err().map(|bad| bad.to_string()).unwrap_or_default()
    };
    assert!(refused(&[("red_min_th", 3.0)]).contains("needs red_max_th"));
    assert!(
        refused(&[("red_min_th", 3.0), ("red_max_th", 3.0)]).contains("not below red_max_th = 3")
    );
    assert_eq!(refused(&[("red_max_th", 3.0)]), "");
}
