//! The ports of a radio channel.

use std::sync::{Arc, Mutex};

use packet::Rng;

use super::{Builder, build_queue};
use crate::error::ScenarioError;
use crate::port::{Medium, Port, WifiPort};
use crate::scenario::Link;
use crate::topology::Direction;

impl Builder<'_> {
    /// One direction of a link that is a radio channel, which the other direction shares.
    pub(super) fn wifi_port(
        &mut self,
        index: usize,
        link: &Link,
        direction: Direction,
    ) -> Result<u32, ScenarioError> {
        let wifi = link.wifi.as_ref().expect("called only of a radio channel");
        let (window, name) = (self.scenario.window(), link.port(direction));
        let medium = || Arc::new(Mutex::new(Medium::new(wifi.timing(), wifi.stations(), window)));
        let medium = Arc::clone(self.channels.entry(link.name.clone()).or_insert_with(medium));
        let queue = |station: usize| {
            let queue = self.hashed(&format!("{name}.{station}"), link.queue(direction));
            Ok(build_queue(index, link, direction, &queue)?.into_discipline())
        };
        let queues = (0..wifi.disciplines(direction)).map(queue).collect::<Result<_, _>>()?;
        let (rng, meter) =
            (Rng::named(self.seed, &format!("port.{name}")), self.meter(&name, true));
        let rate = link.rate_of(direction);
        let port = WifiPort::new(wifi.settings(direction), medium, queues, rate, rng, meter);
        self.ports.push((Port::Wifi(Box::new(port)), link.params.time("delay")));
        self.names.push(name);
        Ok((self.ports.len() - 1) as u32)
    }
}
