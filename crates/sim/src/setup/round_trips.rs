//! The round-trip times of a group.

use packet::{Duration, Rng};

use crate::scenario::{Rtt, Scenario, Traffic};
use crate::topology::{RoundTrips, Side, TCPEVAL_MS};

/// The round-trip times of `group`, or those of the scenario if the group has none of its own.
pub(super) fn round_trips(scenario: &Scenario, group: &Traffic, sources: u32) -> RoundTrips {
    let params = match group.rtt.as_ref().unwrap_or(&scenario.rtt) {
        Rtt::Constant(time) => return RoundTrips::Constant(*time),
        // An open-loop model has no users who could take the round-trip times in turn.
        Rtt::List(times) if group.entry.is_open_loop() => return RoundTrips::OneOf(times.clone()),
        Rtt::List(times) => return RoundTrips::Sources(times.clone()),
        Rtt::Tcpeval => {
            return RoundTrips::OneOf(TCPEVAL_MS.map(Duration::from_millis).to_vec());
        }
        Rtt::Range(params) => params,
    };
    let (min, max) = (params.time("min"), params.time("max"));
    let mut rng = Rng::named(scenario.params.whole("seed"), "network.rtt");
    let (clients, servers) =
        (scenario.network.whole("clients") as u32, scenario.network.whole("servers") as u32);
    match params.choice("draw") {
        "pair" => {
            let table = RoundTrips::stratified(min, max, clients * servers, &mut rng);
            match group.side() {
                Side::Clients => RoundTrips::Pairs { table, peers: servers },
                // A pair of machines has one round-trip time, whichever of them opens.
                Side::Servers => {
                    let pair = |s: u32, c: u32| table[(c * servers + s) as usize];
                    let swapped = (0..servers).flat_map(|s| (0..clients).map(move |c| pair(s, c)));
                    RoundTrips::Pairs { table: swapped.collect(), peers: clients }
                }
            }
        }
        "source" => RoundTrips::Sources(RoundTrips::stratified(min, max, sources, &mut rng)),
        _ => RoundTrips::Connections { min, max },
    }
}
