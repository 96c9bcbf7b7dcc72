//! The folded form of a port: departures are known at arrival.

use std::collections::VecDeque;

use aqm::{Admission, Gate};
use packet::{Backlog, Instant, Packet, Rng};
use record::{Capacity, Meter, Nature};

use super::Wire;

/// What becomes of a packet offered to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It will have left the line at this time, marked or not (folded ports).
    Leaves {
        /// End of its transmission.
        at: Instant,
        /// Whether the queue marked it.
        marked: bool,
    },
    /// It was dropped.
    Dropped,
    /// The port keeps it and will say when it leaves (explicit ports).
    Kept,
}

/// A packet waiting at a folded port.
#[derive(Clone, Copy)]
struct Waiting {
    start: Instant,
    finish: Instant,
    arrived: Instant,
    flow: u64,
    bytes: u32,
}

/// The folded form.
pub struct FoldedPort {
    gate: Box<dyn Gate>,
    wire: Wire,
    rng: Rng,
    meter: Meter,
    ring: VecDeque<Waiting>,
    pub(super) backlog: Backlog,
    busy_until: Instant,
    /// Whether the gate knows that the line is idle.
    pub(super) idle: bool,
    /// When the gate's next update is due: asked after each update, not for each packet.
    next_tick: Instant,
}

impl FoldedPort {
    /// An idle port.
    pub fn new(gate: Box<dyn Gate>, wire: Wire, rng: Rng, meter: Meter) -> Self {
        FoldedPort {
            next_tick: gate.next_tick().unwrap_or(Instant::NEVER),
            gate,
            wire,
            rng,
            meter,
            ring: VecDeque::new(),
            backlog: Backlog::default(),
            busy_until: Instant::ZERO,
            idle: true,
        }
    }

    /// A packet arrives at `packet.arrived`.
    #[inline]
    pub fn offer(&mut self, packet: &mut Packet, nature: Nature) -> Offered {
        let now = packet.arrived;
        self.advance(now);
        self.meter.arrival(now, packet.bytes, nature);
        let marked = match self.gate.admit(packet, self.backlog, now, &mut self.rng) {
            Admission::Dropped(why) => {
                self.meter.dropped(now, packet.bytes, why);
                self.meter.refused(now);
                return Offered::Dropped;
            }
            Admission::Marked(why) => {
                self.meter.marked(now, why);
                true
            }
            Admission::Queued => false,
        };
        self.meter.admitted(now);
        let start = now.max(self.busy_until);
        let finish = self.wire.end_of(start, packet.bytes, self.idle);
        if self.idle {
            self.idle = false;
            self.meter.started(start, finish, now, packet.bytes, packet.flow);
        } else {
            let Packet { flow, bytes, .. } = *packet;
            self.ring.push_back(Waiting { start, finish, arrived: now, flow, bytes });
            self.backlog.packets += 1;
            self.backlog.bytes += u64::from(bytes);
            self.meter.queue(now, self.backlog);
        }
        self.busy_until = finish;
        Offered::Leaves { at: finish, marked }
    }

    /// Serves what began before or at `now`, and the ticks due by then.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        while let Some(&next) = self.ring.front() {
            if next.start > now {
                break;
            }
            self.tick(next.start);
            self.ring.pop_front();
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(next.bytes);
            self.meter.started(next.start, next.finish, next.arrived, next.bytes, next.flow);
            self.meter.queue(next.start, self.backlog);
        }
        if !self.idle && self.busy_until <= now {
            self.tick(self.busy_until);
            self.idle = true;
            self.gate.on_idle(self.busy_until);
        }
        self.tick(now);
    }

    /// Runs the discipline's updates due at or before `now`.
    #[inline]
    fn tick(&mut self, now: Instant) {
        while self.next_tick <= now {
            self.gate.on_tick(self.backlog, self.next_tick, &mut self.rng);
            self.next_tick = self.gate.next_tick().unwrap_or(Instant::NEVER);
        }
    }

    /// The meter.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// What the line offered in the measured interval.
    pub fn capacity(&mut self) -> Capacity {
        self.wire.capacity()
    }
    /// The meter, to finish it or to tell it what the port does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
}
