//! The folded form of a port: departures are known at arrival.

use std::collections::VecDeque;

use aqm::{Admission, Gate};
use packet::{Backlog, Instant, Packet, Rng};
use record::{Capacity, DelayClass, Meter, PacketClass};

use super::Wire;

/// The result of offering a packet to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The packet will have left the line at this time, marked or not (folded ports).
    Leaves {
        /// End of the packet's transmission.
        at: Instant,
        /// Whether the queue marked the packet.
        marked: bool,
    },
    /// The packet was dropped.
    Dropped,
    /// The port keeps the packet, and reports its departure later (explicit ports).
    Kept,
}

/// A packet waiting at a folded port. Its transmission begins when that of the packet before it ends.
#[derive(Clone, Copy)]
struct Waiting {
    finish: Instant,
    arrived: Instant,
    flow: u64,
    bytes: u32,
    class: DelayClass,
}

impl Waiting {
    /// Records that the packet's transmission begins at `start`.
    #[inline(always)]
    fn leaves(&self, start: Instant, meter: &mut Meter) {
        meter.started(start, self.finish, self.arrived, self.bytes, self.flow, self.class);
    }
}

/// A device that takes more packets than the one being transmitted.
struct Device {
    /// End of the transmission of each packet in the device.
    ends: VecDeque<Instant>,
    places: usize,
}

impl Device {
    fn has_room(&self) -> bool {
        self.ends.len() < self.places
    }
}

/// A port in the folded form.
pub struct FoldedPort {
    gate: Box<dyn Gate>,
    wire: Wire,
    rng: Rng,
    meter: Meter,
    ring: VecDeque<Waiting>,
    pub(super) backlog: Backlog,
    busy_until: Instant,
    /// End of the transmission that is under way; [`Instant::NEVER`] if there is none, or if the
    /// device holds several packets.
    ends: Instant,
    /// The device, if it holds several packets; without it, packets leave the queue when their
    /// transmission begins.
    device: Option<Box<Device>>,
    /// Whether the gate knows that the line is idle, or that the device would take a packet.
    pub(super) idle: bool,
    /// When the gate's next update is due: read after each update, not for each packet.
    next_tick: Instant,
}

impl FoldedPort {
    /// An idle port.
    pub fn new(gate: Box<dyn Gate>, wire: Wire, rng: Rng, meter: Meter) -> Self {
        let device = |places| Box::new(Device { ends: VecDeque::with_capacity(places), places });
        FoldedPort {
            device: (wire.ring() > 1).then(|| device(wire.ring())),
            next_tick: gate.next_tick().unwrap_or(Instant::NEVER),
            gate,
            wire,
            rng,
            meter,
            ring: VecDeque::new(),
            backlog: Backlog::default(),
            busy_until: Instant::ZERO,
            ends: Instant::NEVER,
            idle: true,
        }
    }

    /// A packet arrives at `packet.arrived`. Returns when it will have left the line, or that it
    /// was dropped.
    // Inlined where packets are sent: calling a function of this size costs a tenth of its work.
    #[inline(always)]
    pub fn offer(&mut self, packet: &mut Packet, class: PacketClass) -> Offered {
        let (now, bytes) = (packet.arrived, packet.bytes);
        self.advance(now);
        self.meter.arrival(now, bytes, class);
        let delay_class = DelayClass::new(class, packet.ecn);
        packet.bytes += self.wire.header();
        let marked = match self.gate.admit(packet, self.counted(), now, &mut self.rng) {
            Admission::Dropped(why) => {
                self.meter.dropped(now, now, bytes, why);
                self.meter.dropped_on_arrival(now);
                return Offered::Dropped;
            }
            Admission::Marked(why) => {
                let counts = self.meter.measures(now);
                self.meter.marked(now, why, counts);
                true
            }
            Admission::Queued => false,
        };
        self.meter.admitted(now);
        let start = now.max(self.busy_until);
        let rests = self.idle && start == now;
        let finish = self.wire.end_of(start, bytes, rests);
        if self.idle {
            self.idle = false;
            if rests {
                self.meter.started_at_once(now, finish, bytes, packet.flow, delay_class);
            } else {
                self.meter.started_later(start, finish, now, bytes, packet.flow, delay_class);
            }
            self.hand_over(now, finish);
        } else {
            let (flow, class) = (packet.flow, delay_class);
            self.ring.push_back(Waiting { finish, arrived: now, flow, bytes, class });
            self.backlog.packets += 1;
            self.backlog.bytes += u64::from(bytes);
            self.meter.queue_grew(now, self.backlog);
        }
        self.busy_until = finish;
        Offered::Leaves { at: finish, marked }
    }

    /// Moves a packet whose transmission ends at `finish` to the device, which has room for it. If
    /// the device has room for yet another packet, the queue is found empty.
    #[inline]
    fn hand_over(&mut self, now: Instant, finish: Instant) {
        if let Some(device) = &mut self.device {
            device.ends.push_back(finish);
            if device.has_room() {
                self.idle = true;
                self.gate.on_idle(now);
            }
        } else {
            self.ends = finish;
        }
    }

    /// As [`FoldedPort::advance`] behind a device that holds several packets: each transmission that
    /// ends makes room for the next one that waits.
    #[cold]
    fn advance_device(&mut self, now: Instant) {
        loop {
            let device = self.device.as_mut().expect("called only on a port with a device");
            let Some(&end) = device.ends.front().filter(|end| **end <= now) else { break };
            let was_full = !device.has_room();
            let last = device.ends.back().copied();
            device.ends.pop_front();
            if !was_full {
                continue; // the queue was found empty when the device got room
            }
            self.tick(end);
            let Some(next) = self.ring.pop_front() else {
                self.idle = true;
                self.gate.on_idle(end);
                continue;
            };
            let start = last.unwrap_or(end);
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(next.bytes);
            next.leaves(start, &mut self.meter);
            self.meter.queue(end, self.backlog);
            self.hand_over(end, next.finish);
        }
        self.tick(now);
    }

    /// Serves the transmissions that began up to `now`, and the updates due by then.
    // Inlined, since it runs for each packet and a call would cost as much as its usual work.
    #[inline(always)]
    pub fn advance(&mut self, now: Instant) {
        if self.device.is_some() {
            return self.advance_device(now);
        }
        while self.ends <= now {
            let at = self.ends;
            self.tick(at);
            let Some(next) = self.ring.pop_front() else {
                (self.idle, self.ends) = (true, Instant::NEVER);
                self.gate.on_idle(at);
                break;
            };
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(next.bytes);
            self.ends = next.finish;
            next.leaves(at, &mut self.meter);
            self.meter.queue_shrank(at, self.backlog);
        }
        self.tick(now);
    }

    /// Changes a parameter of the gate (the discipline) at `now`. Returns whether the gate can.
    pub fn set(&mut self, now: Instant, name: &str, value: f64) -> bool {
        self.advance(now);
        let known = self.gate.set(name, value);
        self.next_tick = self.gate.next_tick().unwrap_or(Instant::NEVER);
        known
    }

    /// Runs the discipline's updates due at or before `now`.
    #[inline]
    fn tick(&mut self, now: Instant) {
        while self.next_tick <= now {
            self.gate.on_tick(self.counted(), self.next_tick, &mut self.rng);
            self.next_tick = self.gate.next_tick().unwrap_or(Instant::NEVER);
        }
    }

    /// The backlog, in the bytes that the gate counts.
    #[inline]
    fn counted(&self) -> Backlog {
        self.wire.counted(self.backlog)
    }
    /// The meter that counts the port's packets.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
    /// Capacity of the line in the measured interval.
    pub fn capacity(&mut self) -> Capacity {
        self.wire.capacity()
    }
    /// The meter, to finish it, or to record what the port itself does not know.
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
}
