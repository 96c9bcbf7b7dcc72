//! What a live run is to be, as data.

use std::path::PathBuf;

use packet::Instant;
use serde_json::Value;
use sim::Scenario;

use crate::fault::Fault;
use crate::netns::end_system::EndSystem;
use crate::parts::Part;

/// What a live run is to be.
pub struct Spec {
    /// The scenario, its loads calibrated into users.
    pub scenario: Scenario,
    /// The specification as it was written.
    written: Value,
    /// A program that does nothing and does not end: the first process of the programs' namespace.
    pub holder: Part,
    /// Programs that are there before the run begins: users, and servers of one's own.
    pub parts: Vec<Part>,
    /// Programs that are started when it begins.
    pub commands: Vec<Part>,
    /// Files in which programs of users write down what they measure.
    pub facts: Vec<PathBuf>,
    /// What the namespaces are set to.
    pub end_system: EndSystem,
    /// A capture of what leaves the links.
    pub pcap: Option<PathBuf>,
    /// Arrivals of each port that are replayed after the run.
    pub logged: usize,
}

impl Spec {
    /// Reads a specification: `scenario`, `holder`, `parts`, `commands`, `facts`, `pcap`, `logged`.
    ///
    /// # Errors
    /// A sentence, of the scenario or of what is missing.
    pub fn from_json(text: &str) -> Result<Spec, Fault> {
        let json: Value = serde_json::from_str(text).map_err(|e| Fault(format!("no JSON: {e}")))?;
        let scenario =
            Scenario::from_json(&json["scenario"].to_string()).map_err(|e| Fault(e.0))?;
        let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
        let parts = |key: &str| list(key).iter().map(Part::read).collect::<Result<Vec<_>, _>>();
        let path = |value: &Value| value.as_str().map(PathBuf::from);
        Ok(Spec {
            holder: Part::read(&json["holder"])?,
            parts: parts("parts")?,
            commands: parts("commands")?,
            facts: list("facts").iter().filter_map(path).collect(),
            end_system: EndSystem::of(&scenario)?,
            pcap: path(&json["pcap"]),
            logged: json["logged"].as_u64().unwrap_or(0) as usize,
            written: json["scenario"].clone(),
            scenario,
        })
    }

    /// The scenario of a run that ended before its time: shorter, and without a warm-up if that was
    /// not over.
    ///
    /// # Errors
    /// None that was not found before.
    pub(super) fn until(&self, end: Instant) -> Result<Scenario, Fault> {
        let mut shorter = self.written.clone();
        shorter["duration"] = format!("{} s", end.secs_f64()).into();
        if self.scenario.params.real("warmup") >= end.secs_f64() {
            shorter["warmup"] = "0 s".into();
        }
        Scenario::from_json(&shorter.to_string()).map_err(|e| Fault(e.0))
    }
}
