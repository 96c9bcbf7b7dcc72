//! The router's future events in the simulator's order: by time, then by the order within one
//! instant.
//!
//! It is not the simulator's event queue: a driver with a clock reads when the next event is due,
//! which a radix heap cannot say without advancing to it, and packets arrive at unforeseen times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use packet::Instant;
use sim::event_queue::{Priority, order};

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A packet reaches the next port of its route.
    Arrive(u32),
    /// A port finishes a transmission.
    Finish(u32),
    /// A port's discipline has scheduled a tick.
    Tick(u32),
    /// A packet has its distance behind it.
    Deliver(u32),
    /// An effect has held a packet for as long as it may.
    Release(u32),
}

/// Events to come. Those equal in time and order are served first come, first served.
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

    /// A transmission of `port` will end.
    pub fn departure(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Departure, u64::from(port)), Event::Finish(port));
    }

    /// The discipline of `port` will be called.
    pub fn tick(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Tick, u64::from(port)), Event::Tick(port));
    }

    /// The effect at `port` lets a packet go on that it has held.
    pub fn release(&mut self, at: Instant, port: u32) {
        self.schedule(at, order(Priority::Tick, u64::from(port)), Event::Release(port));
    }

    /// A packet of `flow` will arrive somewhere.
    pub fn arrival(&mut self, at: Instant, flow: u64, event: Event) {
        self.schedule(at, order(Priority::Arrival, flow), event);
    }

    /// The first event up to and including `until`.
    pub fn next(&mut self, until: Instant) -> Option<(Instant, Event)> {
        self.first().filter(|first| *first <= until)?;
        self.events.pop().map(|Reverse((at, _, _, event))| (at, event))
    }

    /// When the first event is due.
    pub fn first(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }
}
