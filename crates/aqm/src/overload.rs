//! The load under which the cost of a packet is measured and allocations are counted.

use alloc::boxed::Box;
use core::hint::black_box;

use packet::params::Params;
use packet::{Ack, Ecn, Event, Header, Instant, Packet, Rate, Rng};

use crate::{Cx, Discipline, Entry, Line};

const FLOWS: u64 = 50;
const BYTES: u32 = 1000;
/// Time between arrivals, in nanoseconds. Eight packets arrive while the line sends seven, so a
/// queue must drop one in eight.
const BETWEEN_ARRIVALS: u64 = 700_000;

/// Fifty flows in a steady overload of a line of 10 Mbit/s: an ECN-capable packet of 1000 bytes
/// every 700 us, of a pseudo-random flow, where the line takes 800 us to send one.
///
/// It has no clock of its own: the caller of [`Overload::run`] measures the time. A packet
/// costs an enqueue, seven eighths of a dequeue, and its part of the periodic updates.
pub struct Overload {
    queue: Box<dyn Discipline>,
    rng: Rng,
    /// Number of packets after which all flows are replaced by new ones.
    lifetime: u32,
    next_id: u32,
    now: u64,
    free: u64,
    dropped: u64,
    marked: u64,
    sent: u64,
}

impl Overload {
    /// The overloaded line, of 10 Mbit/s.
    pub const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

    /// Number of packets after which a queue is in its steady state: it grows by one packet in
    /// eight, and the largest default buffer holds some 15 000.
    pub const WARM_UP: u32 = 160_000;

    /// An overload of `queue`, which is empty.
    pub fn new(queue: Box<dyn Discipline>) -> Self {
        Overload {
            queue,
            rng: Rng::named(1, "overload"),
            lifetime: u32::MAX,
            next_id: 0,
            now: 0,
            free: 0,
            dropped: 0,
            marked: 0,
            sent: 0,
        }
    }

    /// This overload with fifty new flows after every `packets` packets.
    pub fn of_short_flows(self, packets: u32) -> Self {
        Overload { lifetime: packets.max(1), ..self }
    }

    /// An overload of the discipline of `entry` with its defaults; `None` if it refuses them.
    pub fn of_defaults(entry: &Entry) -> Option<Self> {
        let built = (entry.build)(&Params::defaults(entry.about.fields), &Overload::LINE).ok()?;
        Some(Overload::new(built.into_discipline()))
    }

    /// Runs the next `packets` arrivals, and the departures and updates between them.
    pub fn run(&mut self, packets: u32) {
        let Overload { queue, rng, dropped, marked, .. } = self;
        let mut out = |event| match black_box(event) {
            Event::Dropped { .. } => *dropped += 1,
            Event::Marked { .. } => *marked += 1,
            Event::Queued { .. } => {}
        };
        for _ in 0..packets {
            self.now += BETWEEN_ARRIVALS;
            while let Some(due) = queue.next_tick().filter(|due| due.nanos() <= self.now) {
                queue.on_tick(&mut Cx { now: due, rng, out: &mut out });
            }
            let now = Instant::from_nanos(self.now);
            let cx = &mut Cx { now, rng, out: &mut out };
            queue.enqueue(black_box(packet(self.next_id, self.lifetime, now)), cx);
            self.next_id = self.next_id.wrapping_add(1);
            if self.free <= self.now {
                self.sent += u64::from(black_box(queue.dequeue(cx)).is_some());
                self.free += Overload::LINE.rate.time_for(u64::from(BYTES)).nanos();
            }
        }
    }

    /// Packets dropped, marked and sent so far.
    pub const fn happened(&self) -> [u64; 3] {
        [self.dropped, self.marked, self.sent]
    }
}

fn packet(id: u32, lifetime: u32, arrived: Instant) -> Packet {
    let slot = u64::from(id.wrapping_mul(2_654_435_761)) % FLOWS;
    let flow = slot + FLOWS * u64::from(id / lifetime);
    let header = Header { dscp: 0, ack: Ack::No, source: flow as u16, destination: 0 };
    Packet { id, flow, bytes: BYTES, ecn: Ecn::Ect0, arrived, header }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_flows_are_others_after_some_packets() {
        let load = |lifetime| {
            let load = Overload::of_defaults(&crate::AGENT).unwrap();
            load.of_short_flows(lifetime).lifetime
        };
        assert_eq!([load(5), load(0)], [5, 1]);
        let flow = |id| packet(id, 5, Instant::ZERO).flow;
        assert!((0..5).all(|id| flow(id) < FLOWS) && (5..10).all(|id| flow(id) >= FLOWS));
    }
}
