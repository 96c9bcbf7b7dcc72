//! The results of a router whose run is over.

use sim::{Ended, Network, Outcome, Recorder, Reports, Scenario};

use super::log::Log;

/// A router whose run is over.
pub struct Finished {
    pub(super) network: Network,
    pub(super) names: Vec<String>,
    pub(super) logs: Vec<Log>,
}

impl Finished {
    /// The queue ports' names, each with the log of its first arrivals.
    pub fn logs(&self) -> impl Iterator<Item = (&str, &Log)> {
        let all = self.names.iter().map(String::as_str).zip(&self.logs).zip(self.network.ports());
        all.filter(|(_, port)| port.queue_meter().is_some()).map(|(named, _)| named)
    }

    /// The outcome of the run: measurements of the ports, and those of the users from `recorder`.
    pub fn outcome(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        reported: UserReports,
    ) -> Outcome {
        let UserReports { reports, users, open_requests } = reported;
        let names = self.names.iter().map(String::as_str);
        let all = names.zip(self.network.ports());
        let ports = all.clone().filter_map(|(name, port)| Some((name, port.queue_meter()?)));
        // The simulator has a port at which hosts discard packets with wrong checksums. Here the
        // kernel discards them, so the port's counts say nothing.
        let discard = self.network.discard().map(|port| port as usize);
        let effects = all.enumerate().filter(|(place, _)| Some(*place) != discard);
        let effects = effects.filter_map(|(_, (name, port))| Some((name, *port.effect_counts()?)));
        let (ports, effects) = (ports.collect(), effects.collect());
        recorder.outcome(&Ended {
            scenario,
            ports,
            effects,
            channels: Vec::new(),
            reports,
            users,
            events: 0,
            open_requests,
        })
    }

    /// The outcome with measurements of the ports only.
    pub fn of_ports(&self, scenario: &Scenario) -> Outcome {
        let nobody = scenario.traffic.iter().map(|_| 0);
        self.outcome(scenario, Recorder::new(scenario, nobody, None), UserReports::default())
    }
}

/// What users reported besides the recorder's measurements.
#[derive(Default)]
pub struct UserReports {
    /// The applications' own reports.
    pub reports: Reports,
    /// Number of sources of all groups.
    pub users: usize,
    /// Number of requests without a complete reply at the end.
    pub open_requests: u64,
}
