//! The format `aqmlab vectors 1`: trials as JSON, one call per line. `vectors/README.md` explains
//! every key.

use std::fmt::Write;

use aqm::Entry;
use packet::{Ecn, Event, Packet};
use serde_json::{Value as Json, json};

use crate::words::{ecn_name, packet_json};
use crate::{Call, Case, Trial, What};

/// The value of the key `format`.
pub const FORMAT: &str = "aqmlab vectors 1";

type Pairs = Vec<(&'static str, String)>;

/// A JSON object with keys in the order of `pairs`, whose values are JSON already.
fn table(pairs: &[(&'static str, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// The shortest decimal that reads back to `v`.
fn number(v: f64) -> String {
    assert!(v.is_finite(), "JSON has no {v}");
    json!(v).to_string()
}

fn state(gauges: &[(&'static str, f64)]) -> String {
    table(&gauges.iter().map(|(name, v)| (*name, number(*v))).collect::<Pairs>())
}

fn event(event: &Event) -> String {
    match event {
        Event::Queued { id } => format!("[\"queued\", {id}]"),
        Event::Marked { id, why } => format!("[\"marked\", {id}, \"{}\"]", why.name()),
        Event::Dropped { packet, why } => {
            format!("[\"dropped\", {}, \"{}\"]", packet.id, why.name())
        }
    }
}

fn sent(packet: &Packet) -> String {
    let mut pairs = vec![("id", packet.id.to_string())];
    if packet.ecn != Ecn::NotEct {
        pairs.push(("ecn", json!(ecn_name(packet.ecn)).to_string()));
    }
    table(&pairs)
}

/// A call as one line of JSON.
pub fn call(call: &Call) -> String {
    let word = format!("\"{}\"", call.what.word());
    let mut pairs = vec![("at_ns", call.at.nanos().to_string()), ("call", word)];
    match &call.what {
        What::Enqueue(packet) => {
            let keys = packet_json(packet).into_iter().map(|(k, v)| (k, v.to_string()));
            pairs.push(("packet", table(&keys.collect::<Pairs>())));
        }
        What::Dequeue(packet) => {
            pairs.push(("sent", packet.as_ref().map_or("null".into(), sent)));
        }
        What::Tick => {}
    }
    if !call.draws.is_empty() {
        pairs.push(("draws", list(call.draws.iter().map(|u| number(*u)))));
    }
    if !call.events.is_empty() {
        pairs.push(("events", list(call.events.iter().map(event))));
    }
    if !call.state.is_empty() {
        pairs.push(("state", state(&call.state)));
    }
    table(&pairs)
}

/// The whole document of a discipline: its cases with the calls of their trials.
pub fn write(entry: &Entry, cases: &[(Case, Trial)]) -> String {
    let mut text = String::from("{\n");
    for (key, value) in
        [("format", FORMAT), ("discipline", entry.about.name), ("source", entry.about.source)]
    {
        writeln!(text, "\"{key}\": {},", json!(value)).expect("memory");
    }
    let cases = cases.iter().map(|(case, trial)| one(case, trial));
    let cases = cases.collect::<Vec<_>>().join(",\n");
    write!(text, "\"cases\": [\n{cases}\n]}}\n").expect("memory");
    text
}

fn one(case: &Case, trial: &Trial) -> String {
    let parameters: Vec<String> =
        case.parameters.iter().map(|(k, v)| format!("{}: {v}", json!(k))).collect();
    let mut text = format!(
        "{{\"title\": {},\n\"parameters\": {{{}}},\n",
        json!(case.title),
        parameters.join(", ")
    );
    let rate = case.rate.bits_per_s();
    writeln!(text, "\"line_bits_per_s\": {rate}, \"seed\": {},", case.seed).expect("memory");
    if !trial.first_state().is_empty() {
        writeln!(text, "\"state\": {},", state(trial.first_state())).expect("memory");
    }
    let calls: Vec<String> = trial.calls().iter().map(call).collect();
    write!(text, "\"calls\": [\n{}\n]}}", calls.join(",\n")).expect("memory");
    text
}

/// Reads a document.
///
/// # Errors
/// A sentence, if the text is not JSON or not of this format.
pub fn read(text: &str) -> Result<Json, String> {
    let json: Json = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
    match json["format"].as_str() {
        Some(FORMAT) => Ok(json),
        other => Err(format!("the format is {other:?}, not \"{FORMAT}\"")),
    }
}
