use packet::{Ecn, Header};
use record::{MeterSettings, Window};

use super::*;

/// A discipline whose next update is set from outside and moves on by a step with each update; a
/// packet that is queued moves it to 5 ms.
struct Clocked {
    next_ms: u64,
    step_ms: u64,
}

impl Discipline for Clocked {
    fn enqueue(&mut self, _packet: Packet, _cx: &mut Cx) {
        self.next_ms = 5;
    }
    fn dequeue(&mut self, _cx: &mut Cx) -> Option<Packet> {
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
    fn next_tick(&self) -> Option<Instant> {
        (self.next_ms > 0).then(|| at(self.next_ms))
    }
    fn on_tick(&mut self, _cx: &mut Cx) {
        self.next_ms += self.step_ms;
    }
    fn set(&mut self, _name: &str, value: f64) -> bool {
        self.next_ms = value as u64;
        true
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn clocked(next_ms: u64) -> Box<dyn Discipline> {
    Box::new(Clocked { next_ms, step_ms: 30 })
}

#[test]
fn the_next_update_is_the_first_that_a_discipline_wants() {
    let mut queues = Queues::new(vec![clocked(30), clocked(10), clocked(20)], 3, None);
    let window = Window { from: at(0), to: at(1_000) };
    let (mut rng, mut meter) = (Rng::named(1, "port"), Meter::new(MeterSettings::counts(window)));
    let mut lost = |_: Packet| {};
    assert_eq!(queues.next_tick(), Some(at(10)));
    assert!(!queues.tick(at(9), &mut rng, &mut meter, &mut lost));
    // The second discipline's update moves to 40 ms: now the third discipline is next, then the
    // first.
    assert!(queues.tick(at(10), &mut rng, &mut meter, &mut lost));
    assert_eq!(queues.next_tick(), Some(at(20)));
    assert!(queues.tick(at(20), &mut rng, &mut meter, &mut lost));
    assert_eq!(queues.next_tick(), Some(at(30)));
    // A packet makes a discipline need an earlier update.
    let (header, arrived) = (Header::default(), at(21));
    let packet = Packet { flow: 0, id: 1, bytes: 1_500, header, ecn: Ecn::NotEct, arrived };
    queues.put(1, packet, at(21), &mut rng, &mut meter, &mut lost);
    assert_eq!(queues.next_tick(), Some(at(5)));
    // Setting a parameter moves the update of all disciplines, to earlier or later.
    assert!(queues.set("any", 3.0));
    assert_eq!(queues.next_tick(), Some(at(3)));
    assert!(queues.set("any", 70.0));
    assert_eq!(queues.next_tick(), Some(at(70)));
    assert!(queues.set("any", 0.0));
    assert_eq!(queues.next_tick(), None);
}
