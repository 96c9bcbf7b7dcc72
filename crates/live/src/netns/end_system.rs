//! Kernel settings of a namespace, made before any program runs in it.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use sim::Scenario;

use super::Metrics;
use crate::fault::Fault;
use crate::users::end_system::{settings, socket_options};

/// Kernel settings of a namespace for a scenario's end systems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndSystem {
    /// Values of sysctls, by the name below `/proc/sys/net/ipv4`.
    pub sysctls: BTreeMap<&'static str, String>,
    /// Metrics of the routes between the sides.
    pub metrics: Metrics,
    /// Properties of the scenario's end systems that the kernel cannot imitate, a sentence each.
    pub missing: Vec<String>,
}

impl EndSystem {
    /// The settings that a scenario's end systems need.
    ///
    /// # Errors
    /// A sentence, if the scenario's groups need different settings of one kernel.
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

    /// Applies the settings to the calling thread's namespace.
    ///
    /// # Errors
    /// A sentence with the setting that the kernel refuses.
    pub fn apply(&self) -> Result<(), Fault> {
        for (name, value) in &self.sysctls {
            let set = set(&format!("net/ipv4/{name}"), value);
            // An older kernel without the sysctl does not have the feature either.
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

/// Writes sysctls (paths below `/proc/sys`) that some kernels lack; errors are ignored.
pub fn set_if_there(settings: &[(&str, &str)]) {
    for (name, value) in settings {
        let _ = set(name, value);
    }
}

fn set(name: &str, value: &str) -> std::io::Result<()> {
    std::fs::write(format!("/proc/sys/{name}"), value)
}
