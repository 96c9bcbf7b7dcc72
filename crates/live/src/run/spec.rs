//! The specification of a live run.

use std::path::PathBuf;

use packet::Instant;
use serde_json::Value;
use sim::Scenario;

use crate::fault::Fault;
use crate::netns::end_system::EndSystem;
use crate::parts::Part;

/// The specification of a live run.
pub struct Spec {
    /// The scenario. Offered loads have been calibrated into numbers of users.
    pub scenario: Scenario,
    /// The scenario's JSON.
    written: Value,
    /// A program that does nothing and does not end: the first process of the programs' PID
    /// namespace.
    pub holder: Part,
    /// Programs started before the run begins: programs of users, and servers that the caller
    /// provides.
    pub parts: Vec<Part>,
    /// Commands that are started when the run begins.
    pub commands: Vec<Part>,
    /// Files in which programs of users write their measurements.
    pub facts: Vec<PathBuf>,
    /// Kernel settings of the namespaces.
    pub end_system: EndSystem,
    /// File for a capture of the packets that leave the links.
    pub pcap: Option<PathBuf>,
    /// Number of arrivals at each port that are logged, and replayed after the run.
    pub logged: usize,
}

impl Spec {
    /// Reads a specification: `scenario`, `holder`, `parts`, `commands`, `facts`, `pcap`, `logged`.
    ///
    /// # Errors
    /// A sentence, if the scenario is wrong or a field is missing.
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

    /// The scenario of a run that was cut short at `end`: with that duration, and without the
    /// warm-up if it was not over.
    ///
    /// # Errors
    /// Those of reading a scenario; none is expected, since the scenario of full duration was read.
    pub(super) fn until(&self, end: Instant) -> Result<Scenario, Fault> {
        let mut shorter = self.written.clone();
        shorter["duration"] = format!("{} s", end.secs_f64()).into();
        if self.scenario.params.real("warmup") >= end.secs_f64() {
            shorter["warmup"] = "0 s".into();
        }
        Scenario::from_json(&shorter.to_string()).map_err(|e| Fault(e.0))
    }
}
