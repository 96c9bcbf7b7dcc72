//! Moves packets through the effects of links.

use std::collections::HashMap;

use packet::{Instant, Packet};

use super::in_flight::InFlight;
use super::{Event, World, event_order};
use crate::effect::{Fate, Passing};
use crate::port::Port;

/// Why a packet has another route than its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Odd {
    /// The packet was corrupted: its host discards it.
    Corrupted,
    /// The packet is the copy of a segment, which TCP receives.
    Copy,
    /// The packet is the copy of a datagram, which its receiver discards.
    DiscardedCopy,
}

/// Routes of packets that were corrupted or copied: those of their flows under other indices, by
/// which such packets are recognised.
#[derive(Default)]
pub(super) struct OddRoutes {
    known: HashMap<(u32, Odd), u32>,
    odd: HashMap<u32, Odd>,
}

impl OddRoutes {
    /// Whether packets of this route are copies, whose drops do not count as losses.
    pub(super) fn is_copy(&self, route: u32) -> bool {
        matches!(self.odd.get(&route), Some(Odd::Copy | Odd::DiscardedCopy))
    }
}

impl World {
    /// A packet reaches an effect.
    #[cold]
    pub(super) fn pass_effect(&mut self, packet: &Packet, port: u32) {
        let (id, now) = (packet.id, packet.arrived);
        let Port::Effect(place) = self.network.port(port) else { return };
        let mut passing = Passing::new(now, packet.bytes, packet.ecn);
        place.pass(id, &mut passing);
        let inflight = &mut self.in_flight[id];
        inflight.set_ecn(passing.ecn);
        match passing.fate {
            Fate::Lost => return self.lose(id, now),
            Fate::Held(_, until) => {
                self.events.schedule(until, event_order::tick(port), Event::Release(port));
            }
            Fate::GoesOn => self.go_on(id, passing.at),
            Fate::Corrupted => {
                self.detour(id, Odd::Corrupted);
                self.go_on(id, passing.at);
            }
            Fate::Copied => {
                let copied = *inflight;
                let copy = self.in_flight.place(InFlight::default);
                self.in_flight[copy] = copied;
                self.recorder.copied(&copied);
                let odd = if copied.is_datagram() { Odd::DiscardedCopy } else { Odd::Copy };
                if !matches!(self.odd_routes.odd.get(&copied.route), Some(Odd::Corrupted)) {
                    self.detour(copy, odd);
                }
                self.go_on(id, passing.at);
                self.go_on(copy, passing.at);
            }
        }
        self.after_effect(port);
    }

    /// Moves on the packets that an effect has released.
    fn after_effect(&mut self, port: u32) {
        loop {
            let Port::Effect(place) = self.network.port(port) else { return };
            let Some(id) = place.take_released() else { return };
            self.go_on(id, self.now);
        }
    }

    /// The longest time has passed for which an effect may hold a packet back.
    #[cold]
    pub(super) fn release(&mut self, port: u32) {
        if let Port::Effect(place) = self.network.port(port) {
            place.release(self.now);
        }
        self.after_effect(port);
    }

    /// A packet leaves an effect at `at`.
    fn go_on(&mut self, id: u32, at: Instant) {
        if at == self.now {
            return self.forward(id);
        }
        let inflight = &self.in_flight[id];
        if usize::from(inflight.hop) == self.routes[inflight.route as usize].len() {
            return self.arrive(id, at);
        }
        let key = event_order::arrival(inflight.about());
        self.events.schedule(at, key, Event::Arrive(id));
    }

    /// A packet is lost at an effect, or discarded by its host.
    fn lose(&mut self, id: u32, now: Instant) {
        debug_assert_eq!(now, self.now);
        self.drop_packet(id);
    }

    /// Gives a packet a copy of its route whose index says why the packet is unusual. The route of
    /// a packet that its host discards ends in the element that drops it.
    fn detour(&mut self, id: u32, odd: Odd) {
        let route = self.in_flight[id].route;
        let known = self.odd_routes.known.get(&(route, odd)).copied();
        let detour = known.unwrap_or_else(|| {
            let mut ports = self.routes[route as usize].clone();
            if odd != Odd::Copy {
                ports.extend(self.network.discard());
            }
            self.routes.push(ports);
            let new = (self.routes.len() - 1) as u32;
            self.odd_routes.known.insert((route, odd), new);
            self.odd_routes.odd.insert(new, odd);
            new
        });
        self.in_flight[id].route = detour;
    }
}
