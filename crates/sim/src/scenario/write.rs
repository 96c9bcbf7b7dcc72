//! Scenarios as JSON, with every default filled in.

use aqm::Line;
use packet::Duration;
use serde_json::{Map, Value as Json, json};
use trial::parameters;

use super::{Changes, Link, Queue, Rtt, Scenario, Traffic};

impl Scenario {
    /// The scenario as JSON with every default filled in, also those that depend on others or on a
    /// line's rate; reading it gives the same scenario.
    pub fn to_json(&self) -> Json {
        let mut top = parameters::write(&self.params);
        top.insert("name".into(), json!(self.name));
        let mut network = parameters::write(&self.network);
        network.insert("rtt".into(), rtt_json(&self.rtt));
        top.insert("network".into(), Json::Object(network));
        top.insert("link".into(), self.links.iter().map(link_json).collect());
        top.insert("traffic".into(), self.traffic.iter().map(traffic_json).collect());
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
        Rtt::Tcpeval => json!(crate::schema::TCPEVAL),
        Rtt::Range(params) => Json::Object(parameters::write(params)),
    }
}

/// With the values that its constructor takes on this line; as written if it refuses them.
fn queue_json(queue: &Queue, line: &Line) -> Json {
    let object = match queue.entry.effective(&queue.params, line) {
        Ok(values) => parameters::write_values(values),
        Err(_) => parameters::write(&queue.params),
    };
    named("aqm", queue.entry.name, object)
}

fn link_json(link: &Link) -> Json {
    let mut object = parameters::write(&link.params);
    object.insert("name".into(), json!(link.name));
    for (direction, queue) in [("forward", &link.forward), ("reverse", &link.reverse)] {
        let line = Line { rate: link.rate_of(direction) };
        object.insert(direction.into(), queue_json(queue, &line));
    }
    if let Some(access) = link.access {
        object.insert("access".into(), json!(access));
    }
    // A reverse direction of which nothing is said follows the forward one.
    let separate = link.params.given("reverse_rate");
    for (changes, prefix) in link.changes.iter().zip(["", "reverse_"]) {
        match changes {
            _ if !prefix.is_empty() && !separate => {}
            Some(changes) => changes.write(prefix, &mut object),
            None if link.access.is_some() => Changes::write_none(prefix, &mut object),
            None => {}
        }
    }
    Json::Object(object)
}

fn traffic_json(traffic: &Traffic) -> Json {
    let mut object: Map<String, Json> = parameters::write(&traffic.params);
    object.extend(parameters::write(&traffic.app));
    object.insert("name".into(), json!(traffic.name));
    object.insert("app".into(), json!(traffic.entry.name));
    if !traffic.entry.datagrams {
        let tcp = named("profile", traffic.profile.name, parameters::write(&traffic.tcp));
        object.insert("tcp".into(), tcp);
    }
    object.insert("via".into(), json!(traffic.via));
    if let Some(rtt) = &traffic.rtt {
        object.insert("rtt".into(), rtt_json(rtt));
    }
    Json::Object(object)
}
