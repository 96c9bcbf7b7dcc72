//! What can be computed from a scenario before it runs: contradictions, and the load that its users
//! will request.

use serde_json::Value as Json;

use super::{build_queue, effects, population, wire};
use crate::error::ScenarioError;
use crate::scenario::{Changes, Link, Scenario, Traffic};
use crate::topology::Direction;

/// Refuses HTTP/3 over an end system without streams: its replies are streams of QUIC.
pub(super) fn check_streams(
    group: &Traffic,
    population: &traffic::Population,
    profile: &tcp::Profile,
) -> Result<(), ScenarioError> {
    if population.needs_streams() && !profile.has_streams() {
        return Err(ScenarioError(format!(
            "traffic {}: http = \"http3\" needs the streams of QUIC, which tcp = \"{}\" has not; write tcp = \"quic\" or \
             http = \"http2\"",
            group.name,
            profile.name()
        )));
    }
    Ok(())
}

impl Scenario {
    /// Checks what the fields alone do not show: parameters that contradict each other.
    ///
    /// # Errors
    /// One sentence that names the field and the remedy.
    pub fn check_parameters(&self) -> Result<(), ScenarioError> {
        self.check_parts().map_err(ScenarioError::on_one_line)
    }

    /// The scenario as JSON with every default filled in, also those that depend on others or on a
    /// line's rate; reading it gives the same scenario as this one.
    pub fn to_json(&self) -> Json {
        for group in &self.traffic {
            // Both calls record which parameters have no effect. Parameters that they refuse are
            // written as the user gave them.
            let _ = population(self, group, 1);
            let _ = group.end_system();
        }
        self.written()
    }

    fn check_parts(&self) -> Result<(), ScenarioError> {
        for (i, link) in self.links.iter().enumerate() {
            for direction in Direction::BOTH {
                build_queue(i, link, direction, link.queue(direction))?;
                effects::build(0, i, link, direction)?;
            }
        }
        for group in &self.traffic {
            let population = population(self, group, group.sources().unwrap_or(1))?;
            check_streams(group, &population, &group.end_system()?)?;
        }
        Ok(())
    }
}

/// IP bytes per user and second that the group given by a load is expected to request: the first
/// guess of a calibration.
///
/// # Errors
/// As [`Run::new`](crate::Run::new).
pub fn estimate(scenario: &Scenario) -> Result<Option<f64>, ScenarioError> {
    match scenario.traffic.iter().find(|t| t.params.given("load")) {
        None => Ok(None),
        Some(group) => population(scenario, group, 1)
            .map(|population| population.ip_bytes_per_source_s())
            .map_err(ScenarioError::on_one_line),
    }
}

impl Scenario {
    /// IP bytes per source and second that a group is expected to request, where that is known.
    pub(crate) fn ip_bytes_per_source_s(&self, group: &Traffic) -> Option<f64> {
        population(self, group, 1).ok()?.ip_bytes_per_source_s()
    }
}

/// Mean capacity of each link's ports in the measured interval, bit/s, by port; a load is a share
/// of it. For a rate that is drawn by the seed it is the nominal rate, which all seeds share.
pub fn capacities(scenario: &Scenario) -> Vec<(String, f64)> {
    let of = |link: &Link, direction: Direction| {
        let drawn = link.changes_of(direction).is_some_and(Changes::is_drawn);
        let mean = match drawn {
            true => link.rate_of(direction).bits_per_s() as f64,
            false => wire(scenario, link, direction).capacity().mean_bits_per_s,
        };
        (link.port(direction), mean)
    };
    let both = |link: &Link| Direction::BOTH.map(|direction| of(link, direction));
    scenario.links.iter().flat_map(both).collect()
}
