//! The router's future events in the simulator's order: by time, then by the order within one
//! instant.
//!
//! It is not the simulator's event queue, a radix heap: that cannot give the time of its next event
//! without advancing to it. Here packets arrive at unforeseen times before that event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use packet::Instant;
use sim::event_queue::{Priority, order};

/// A future event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A packet reaches the next port of its route.
    Arrive(u32),
    /// A port finishes a transmission.
    Finish(u32),
    /// The periodic update of a port's discipline is due.
    Tick(u32),
    /// A packet has passed the propagation delay behind its last port, and goes to its host.
    Deliver(u32),
    /// The hold time of a packet at an effect expires.
    Release(u32),
}

/// The queue of future events. Events with equal time and order are served in order of scheduling.
#[derive(Default)]
pub struct Future {
    events: BinaryHeap<Reverse<(Instant, u64, u64, Event)>>,
    scheduled: u64,
}

impl Future {
    fn schedule(&mut self, at: Instant, order: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, order, self.scheduled, event)));
    }

    /// Schedules the end of a transmission at `port`.
    pub fn departure(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Departure, u64::from(port)), Event::Finish(port));
    }

    /// Schedules an update of the discipline of `port`.
    pub fn tick(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Tick, u64::from(port)), Event::Tick(port));
    }

    /// Schedules the release of a packet that the effect at `port` holds.
    pub fn release(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Tick, u64::from(port)), Event::Release(port));
    }

    /// Schedules the arrival of a packet of `flow` at a port or its host.
    pub fn arrival(&mut self, at: Instant, flow: u64, event: Event) {
        self.schedule(at, order(Priority::Arrival, flow), event);
    }

    /// Removes the first event if it is due by `until`. Returns its time and the event.
    pub fn next(&mut self, until: Instant) -> Option<(Instant, Event)> {
        self.first().filter(|first| *first <= until)?;
        self.events.pop().map(|Reverse((at, _, _, event))| (at, event))
    }

    /// Time of the first event.
    pub fn first(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }
}
