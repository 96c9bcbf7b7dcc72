//! Packets at the effects of links, which lose, delay, corrupt or copy packets.

use packet::{Instant, Packet};
use sim::effect::{Fate, Passing};
use sim::port::Port;
use sim::{Scenario, ScenarioError};

use super::log;
use super::packets::handle;
use super::{Departed, Event, Router};

/// Refuses a scenario whose links have a channel (such as Wi-Fi).
pub(super) fn refuse_channels(scenario: &Scenario) -> Result<(), ScenarioError> {
    match scenario.links.iter().position(|link| link.channel.is_some()) {
        Some(i) => Err(ScenarioError(format!(
            "link.{i}: a live run has no channel of this kind yet; give the link a rate alone, or simulate"
        ))),
        None => Ok(()),
    }
}

impl Router {
    /// Passes a packet through the effect at `port`.
    pub(super) fn pass_effect(&mut self, packet: &Packet, port: u32) {
        let (id, now) = (packet.id, packet.arrived);
        let Port::Effect(place) = self.network.port(port) else { return };
        let mut passing = Passing::new(now, packet.bytes, packet.ecn);
        place.pass(id, &mut passing);
        let in_flight = self.in_flight.of(id);
        in_flight.marked |= passing.ecn != in_flight.ecn;
        in_flight.ecn = passing.ecn;
        let row = in_flight.row;
        match passing.fate {
            Fate::Lost => {
                self.in_flight.take(id);
                self.logs[port as usize].became(row, log::Fate::Dropped);
                return self.done.push(Departed::Dropped { id: handle(id) });
            }
            Fate::Held(_, until) => self.future.release(until, port),
            Fate::GoesOn => self.go_on(id, passing.at),
            Fate::Corrupted => {
                in_flight.corrupted = true;
                self.go_on(id, passing.at);
            }
            Fate::Copied => {
                let copy = self.in_flight.copy(id);
                self.done.push(Departed::Copied { id: handle(id), copy: handle(copy) });
                self.go_on(id, passing.at);
                self.go_on(copy, passing.at);
            }
        }
        self.after_effect(port);
    }

    /// Forwards the packets that an effect has released.
    fn after_effect(&mut self, port: u32) {
        loop {
            let Port::Effect(place) = self.network.port(port) else { return };
            let Some(id) = place.take_released() else { return };
            self.go_on(id, self.now);
        }
    }

    /// The hold time of a packet at an effect has expired.
    pub(super) fn release(&mut self, port: u32) {
        if let Port::Effect(place) = self.network.port(port) {
            place.release(self.now);
        }
        self.after_effect(port);
    }

    /// Sends a packet that leaves a port's effect (such as loss, delay or duplication) at time `at`
    /// to the next port of the packet's route, or after the last port to its host.
    fn go_on(&mut self, id: u32, at: Instant) {
        if at == self.now {
            return self.forward(id);
        }
        let in_flight = self.in_flight.of(id);
        let (route, hop, flow) = (in_flight.route, in_flight.hop, in_flight.flow);
        if usize::from(hop) == self.routes[route as usize].len() {
            return self.deliver(id, at);
        }
        self.future.arrival(at, flow, Event::Arrive(id));
    }
}
