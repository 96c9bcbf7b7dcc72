//! Scenarios as JSON, with every default filled in.

use aqm::Line;
use packet::Duration;
use packet::params::{Field, Params, Value};
use serde_json::{Map, Value as Json, json};
use testvec::parameters;

use super::{Changes, Effect, Link, Queue, Rtt, Scenario, Traffic, access};
use crate::topology::Direction;

impl Scenario {
    /// As [`Scenario::to_json`], with the effective values that constructors have recorded so far.
    pub(crate) fn written(&self) -> Json {
        let mut top = parameters::write(&self.params);
        top.insert("name".into(), json!(self.name));
        let mut network = parameters::write(&self.network);
        network.insert("rtt".into(), rtt_json(&self.rtt));
        top.insert("network".into(), Json::Object(network));
        top.insert("link".into(), self.links.iter().map(link_json).collect());
        top.insert(
            "traffic".into(),
            self.traffic.iter().map(|t| traffic_json(t, &self.links)).collect(),
        );
        let mut record = parameters::write(&self.record);
        record.insert("queues".into(), json!(self.queues));
        top.insert("record".into(), Json::Object(record));
        Json::Object(top)
    }
}

fn named(key: &str, name: &str, mut object: Map<String, Json>) -> Json {
    object.insert(key.into(), json!(name));
    Json::Object(object)
}

fn rtt_json(rtt: &Rtt) -> Json {
    let time = |time: &Duration| json!(format!("{} s", time.secs_f64()));
    match rtt {
        Rtt::Constant(one) => time(one),
        Rtt::List(times) => times.iter().map(time).collect(),
        Rtt::Tcpeval => json!(crate::scenario::schema::TCPEVAL),
        Rtt::Range(params) => Json::Object(parameters::write(params)),
    }
}

/// A queue as JSON, with the values that its constructor uses on this line, or as written if the
/// constructor refuses them. A hash seed that the user did not give is left out, because each run
/// draws its own. A value outside its field's range is left out too, because it follows from the
/// others.
fn queue_json(queue: &Queue, line: &Line) -> Json {
    let drawn =
        |name: &str| name == aqm::HASH_SEED_FIELD && !queue.params.given(aqm::HASH_SEED_FIELD);
    let known =
        |(field, value): &(&'static Field, Value)| !drawn(field.name) && field.holds(*value);
    let mut object = match queue.entry.effective(&queue.params, line) {
        Ok(values) => parameters::write_values(values.into_iter().filter(known)),
        Err(_) => parameters::write(&queue.params),
    };
    object.insert("aqm".into(), queue.as_written.clone());
    Json::Object(object)
}

fn link_json(link: &Link) -> Json {
    let mut object = parameters::write(&link.params);
    object.insert("name".into(), json!(link.name));
    for direction in Direction::BOTH {
        let queue = queue_json(link.queue(direction), &link.line(direction));
        object.insert(direction.to_string(), queue);
    }
    if let Some(access) = link.access {
        object.insert("access".into(), json!(access));
    }
    if !link.effects.is_empty() || link.access.is_some_and(access::has_effects) {
        object.insert("effects".into(), link.effects.iter().map(Effect::write).collect());
    }
    if let Some(channel) = &link.channel {
        channel.write(&mut object);
    }
    // Without a reverse rate, the reverse direction follows the forward one.
    let separate = link.params.given("reverse_rate");
    for direction in Direction::BOTH {
        let prefix = direction.prefix();
        match link.changes_of(direction) {
            _ if direction == Direction::Reverse && !separate => {}
            Some(changes) => changes.write(prefix, &mut object),
            None if link.access.is_some() => Changes::write_none(prefix, &mut object),
            None => {}
        }
    }
    Json::Object(object)
}

/// All set parameters except those that, according to a constructor, have no effect next to the
/// others: such a parameter would be refused when it is read.
fn in_effect(params: &Params) -> Map<String, Json> {
    let mut object = parameters::write(params);
    let idle = params.effective().filter(|(_, value)| *value == Value::Unset);
    idle.for_each(|(field, _)| drop(object.remove(field.name)));
    object
}

/// Whether every segment is acknowledged at once. Then `ack_every` is written as 1, whatever its
/// default, because any other number would be refused.
fn never_waits(tcp: &Params) -> bool {
    let has = tcp.iter().any(|(field, _)| field.name == "delayed_ack");
    has && tcp.time("delayed_ack") == Duration::ZERO
}

fn traffic_json(traffic: &Traffic, links: &[Link]) -> Json {
    let mut object: Map<String, Json> = parameters::write(&traffic.params);
    object.extend(in_effect(&traffic.app));
    object.insert("name".into(), json!(traffic.name));
    object.insert("app".into(), json!(traffic.entry.about.name));
    if !traffic.entry.datagrams {
        let mut tcp = in_effect(&traffic.tcp);
        traffic.own_control.write(&mut tcp);
        if never_waits(&traffic.tcp) {
            tcp.insert("ack_every".into(), json!(1));
        }
        object.insert("tcp".into(), named("profile", traffic.profile.about.name, tcp));
    }
    let via = traffic.via.iter().map(|&link| json!(links[link].name)).collect();
    object.insert("via".into(), via);
    if !traffic.script.is_empty() {
        let rules = traffic.script.iter().map(super::Rule::write);
        object.insert("script".into(), rules.collect());
    }
    if let Some(rtt) = &traffic.rtt {
        object.insert("rtt".into(), rtt_json(rtt));
    }
    if let Some(after) = &traffic.start_after {
        let delay = format!("{} s", after.delay.secs_f64());
        object.insert("start_after".into(), json!({"group": after.group, "delay": delay}));
    }
    Json::Object(object)
}
