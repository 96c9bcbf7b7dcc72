//! A closed loop of a discipline and sources that slow down when they lose a packet.

use aqmlab_aqm::{Cx, Discipline};
use packet::{Ecn, Event, Instant, Packet, Rng};

use super::RATE;
use super::{Pairs, build};

const MS: u64 = 1_000_000;
const SOURCES: u64 = 20;

/// The mean delay, in seconds, of the packets sent in the second half of a minute, where twenty
/// sources with round trips of 100 ms, not counting the queue, share a line of 10 Mbit/s. Each
/// halves its rate at once when it loses a packet, and else adds one packet per round trip.
pub fn mean_delay(name: &str, pairs: Pairs) -> f64 {
    let queue = build(name, pairs, RATE).expect("valid parameters").into_discipline();
    let mut world =
        World { queue, rng: Rng::named(7, "closed loop"), sending_until: None, sum: 0.0, sent: 0 };
    let mut window = vec![10.0f64; SOURCES as usize]; // packets per round trip
    let mut due: Vec<u64> = (0..SOURCES).map(|n| n * MS).collect();
    loop {
        let (source, at) = due.iter().copied().enumerate().min_by_key(|d| d.1).expect("sources");
        if at > 60_000 * MS {
            return world.sum / f64::from(world.sent);
        }
        world.advance(at);
        let lost = world.arrive(source as u64, at);
        let w = &mut window[source];
        *w = if lost { (*w / 2.0).max(1.0) } else { *w + 1.0 / *w };
        due[source] = at + (1e8 / *w * (0.9 + 0.2 * world.rng.uniform())) as u64;
    }
}

struct World {
    queue: Box<dyn Discipline>,
    rng: Rng,
    sending_until: Option<u64>,
    sum: f64,
    sent: u32,
}

impl World {
    /// Calls `act` with the queue at `now`. Returns whether a packet was dropped.
    fn act(&mut self, now: u64, act: impl FnOnce(&mut dyn Discipline, &mut Cx)) -> bool {
        let mut lost = false;
        let mut out = |event| lost |= matches!(event, Event::Dropped { .. });
        let now = Instant::from_nanos(now);
        act(&mut *self.queue, &mut Cx { now, rng: &mut self.rng, out: &mut out });
        lost
    }

    fn advance(&mut self, now: u64) {
        loop {
            let tick = self.queue.next_tick().map_or(u64::MAX, Instant::nanos);
            let end = self.sending_until.unwrap_or(u64::MAX);
            if tick.min(end) > now {
                return;
            }
            if tick <= end {
                self.act(tick, |queue, cx| queue.on_tick(cx));
            } else {
                self.serve(end);
            }
        }
    }

    fn serve(&mut self, now: u64) {
        let mut next = None;
        self.act(now, |queue, cx| next = queue.dequeue(cx));
        self.sending_until = next.as_ref().map(|_| now + 800_000);
        if let Some(packet) = next.filter(|_| now > 30_000 * MS) {
            self.sum += Instant::from_nanos(now).since(packet.arrived).secs_f64();
            self.sent += 1;
        }
    }

    fn arrive(&mut self, flow: u64, now: u64) -> bool {
        let arrived = Instant::from_nanos(now);
        let packet = Packet {
            id: 0,
            flow,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived,
            header: Default::default(),
        };
        let lost = self.act(now, |queue, cx| queue.enqueue(packet, cx));
        if self.sending_until.is_none() {
            self.serve(now);
        }
        lost
    }
}
