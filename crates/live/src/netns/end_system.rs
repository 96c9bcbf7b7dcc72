//! What a namespace is set to before anything runs in it.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use sim::Scenario;

use super::Metrics;
use crate::fault::Fault;
use crate::users::end_system::{settings, socket_options};

/// Settings of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndSystem {
    /// Names below `/proc/sys/net/ipv4`, and values.
    pub sysctls: BTreeMap<&'static str, String>,
    /// Metrics of the routes between the sides.
    pub metrics: Metrics,
    /// What the kernel cannot imitate of the scenario's end systems, a sentence each.
    pub missing: Vec<String>,
}

impl EndSystem {
    /// What namespaces have to be set to for a scenario's end systems.
    ///
    /// # Errors
    /// A sentence, if its groups cannot have one kernel together.
    pub fn of(scenario: &Scenario) -> Result<EndSystem, Fault> {
        let of = settings(scenario).map_err(Fault)?;
        let first = scenario.traffic.first().map(|group| {
            let profile = group.end_system().map_err(|error| Fault(error.to_string()))?;
            Ok(socket_options(group, &profile).congestion)
        });
        Ok(EndSystem {
            sysctls: of.sysctls,
            metrics: Metrics {
                initial_window: of.initial_window.unwrap_or(0),
                quick_acknowledgements: of.quick_acks,
                congestion: first.transpose()?,
            },
            missing: of.missing,
        })
    }

    /// Sets the calling thread's namespace.
    ///
    /// # Errors
    /// A sentence that names what the kernel refuses.
    pub fn apply(&self) -> Result<(), Fault> {
        for (name, value) in &self.sysctls {
            let set = set(&format!("net/ipv4/{name}"), value);
            // What an older kernel has not got, it does not do either.
            let refused = set.err().filter(|error| error.kind() != ErrorKind::NotFound);
            if let Some(error) = refused {
                return Err(Fault(format!(
                    "the kernel does not take {name} = {value} ({error}); choose another TCP profile for this scenario"
                )));
            }
        }
        Ok(())
    }
}

/// Sets what a kernel may lack: where it does, there is nothing to set.
pub fn set_if_there(settings: &[(&str, &str)]) {
    for (name, value) in settings {
        let _ = set(name, value);
    }
}

fn set(name: &str, value: &str) -> std::io::Result<()> {
    std::fs::write(format!("/proc/sys/{name}"), value)
}
