//! The meaning of a scenario with all defaults resolved: links and their ports, and the side, the
//! direction and the path of every group. Other code need not know the defaults.

use aqm::Registry;
use packet::params::Params;
use serde_json::{Value as Json, json};

use super::preview::capacities;
use crate::error::ScenarioError;
use crate::scenario::{Link, Scenario, Traffic};
use crate::topology::Direction;

/// The resolved meaning of a scenario (JSON), as JSON:
///
/// * `links`: `name`, `access` (or null), `delay_s`, `table` (as written, with the values of its
///   access) and for `forward` and `reverse` `port`, `rate_bits_per_s` (nominal) and
///   `mean_bits_per_s` (offered in the measured interval: what a load is a share of);
/// * `machines`: numbers of `clients` and `servers`, `access_bits_per_s` of their own lines or null;
/// * `groups`: `name`, `app`, `noun` (a source, several), `fetches`, `datagrams`, `open_loop`,
///   `tcp` (profile or null), `side`, `machines` (of that side), `direction` of most of its data,
///   `links` (indices; a load is a share of the capacity that the first one has in that direction);
/// * `queues`: the recorded ports, the studied one first.
///
/// # Errors
/// As [`Scenario::read`].
pub fn resolve(
    text: &str,
    registry: &Registry,
    controls: &tcp::Controls,
) -> Result<Json, ScenarioError> {
    let scenario = Scenario::read_with(text, registry, controls)?;
    let written: Json = serde_json::from_str(text).expect("it was read");
    let mut means = capacities(&scenario).into_iter().map(|(_, mean)| mean);
    let mut links = Vec::new();
    for (link, written) in
        scenario.links.iter().zip(written["link"].as_array().into_iter().flatten())
    {
        links.push(link_json(link, written, &mut means)?);
    }
    Ok(json!({
        "links": links,
        "machines": machines(&scenario.network),
        "groups": scenario.traffic.iter().map(|t| group(t, &scenario)).collect::<Vec<Json>>(),
        "queues": scenario.queues,
    }))
}

fn link_json(
    link: &Link,
    written: &Json,
    means: &mut impl Iterator<Item = f64>,
) -> Result<Json, ScenarioError> {
    let (_, table) = crate::scenario::access::expand("link", written)?;
    let mut out = json!({
        "name": link.name,
        "access": link.access,
        "delay_s": link.params.real("delay"),
        "table": table,
    });
    for direction in Direction::BOTH {
        out[direction.name()] = json!({
            "port": link.port(direction),
            "rate_bits_per_s": link.rate_of(direction).bits_per_s(),
            "mean_bits_per_s": means.next(),
        });
    }
    Ok(out)
}

fn machines(network: &Params) -> Json {
    let access = network.given("access_rate").then(|| network.rate("access_rate").bits_per_s());
    json!({
        "clients": network.whole("clients"),
        "servers": network.whole("servers"),
        "access_bits_per_s": access,
    })
}

fn group(of: &Traffic, scenario: &Scenario) -> Json {
    let entry = of.entry;
    let side = of.side().name();
    json!({
        "name": of.name,
        "app": entry.about.name,
        "noun": entry.noun,
        "fetches": entry.fetches,
        "datagrams": entry.datagrams,
        "open_loop": entry.is_open_loop(),
        "tcp": (!entry.datagrams).then_some(of.profile.about.name),
        "side": side,
        "machines": scenario.network.whole(side),
        "direction": of.direction().name(),
        "links": of.via,
    })
}
