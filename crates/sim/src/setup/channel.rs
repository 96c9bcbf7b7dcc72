//! Ports of links that are channels (Wi-Fi, DOCSIS, cellular) and not wires.

use std::sync::{Arc, Mutex};

use aqm::Discipline;
use packet::Rng;

use super::{Builder, build_queue};
use crate::error::ScenarioError;
use crate::port::{self, CellPort, DocsisPort, Medium, Port, WifiPort};
use crate::scenario::{Channel, Link};
use crate::topology::Direction;

impl Builder<'_> {
    /// Adds the port of one direction of a link that is a channel. Returns its index.
    pub(super) fn channel_port(
        &mut self,
        index: usize,
        link: &Link,
        direction: Direction,
        channel: &Channel,
    ) -> Result<u32, ScenarioError> {
        let name = link.port(direction);
        let (rng, meter) =
            (Rng::named(self.seed, &format!("port.{name}")), self.meter(&name, true));
        let rate = link.rate_of(direction);
        let queues = |count: usize| self.queues(index, link, direction, count);
        let port: Box<dyn port::Channel> = match channel {
            Channel::Wifi(wifi) => {
                let queues = queues(wifi.disciplines(direction))?;
                // Both directions contend for one radio channel.
                let window = self.scenario.window();
                let new =
                    || Arc::new(Mutex::new(Medium::new(wifi.timing(), wifi.stations(), window)));
                let medium = Arc::clone(self.mediums.entry(link.name.clone()).or_insert_with(new));
                Box::new(WifiPort::new(wifi.settings(direction), medium, queues, rate, rng, meter))
            }
            Channel::Cell(cell) => {
                let queues = queues(cell.ues())?;
                Box::new(CellPort::new(cell.settings(direction), queues, rate, rng, meter))
            }
            Channel::Docsis(docsis) => {
                let queue = queues(1)?.swap_remove(0);
                let settings = docsis.settings(rate, link.framing());
                Box::new(DocsisPort::new(settings, queue, rng, meter))
            }
        };
        self.ports.push((Port::Channel(port), link.params.time("delay")));
        self.names.push(name);
        Ok((self.ports.len() - 1) as u32)
    }

    /// The disciplines of a channel's port, each with a hash seed of its own.
    fn queues(
        &self,
        index: usize,
        link: &Link,
        direction: Direction,
        count: usize,
    ) -> Result<Vec<Box<dyn Discipline>>, ScenarioError> {
        let name = link.port(direction);
        let queue = |number: usize| {
            let queue = self.hashed(&format!("{name}.{number}"), link.queue(direction));
            Ok(build_queue(index, link, direction, &queue)?.into_discipline())
        };
        (0..count).map(queue).collect()
    }
}
