//! The reports that applications make at the end of a run, with their measures and tables.

use record::{Calls, Pings, Players, Probes, Summary, Table, VideoCalls};
use traffic::Report;

/// The reports of all applications.
#[derive(Default)]
pub struct Reports {
    calls: Calls,
    video_calls: VideoCalls,
    players: Players,
    pings: Pings,
    probes: Probes,
}

impl Reports {
    /// The reports of applications, each with its group and user.
    pub fn new(reports: impl Iterator<Item = (u16, u32, Report)>) -> Reports {
        let mut all = Reports::default();
        for (group, user, report) in reports {
            match report {
                Report::Call(listeners) => all.calls.add(group, user, &listeners),
                Report::VideoCall(viewers) => {
                    for viewer in viewers {
                        all.video_calls.add(group, user, viewer);
                    }
                }
                Report::Viewing(viewer) => all.players.add(group, user, viewer),
                Report::Ping(ping) => all.pings.add(group, user, ping),
                Report::Probes(probes) => all.probes.add(group, user, probes),
            }
        }
        all
    }

    /// Adds the measures of all reports to a summary.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        self.calls.summarise(groups, out);
        self.players.summarise(groups, out);
        self.video_calls.summarise(groups, out);
        self.pings.summarise(groups, out);
    }

    /// The tables of all reports.
    pub fn tables(&self) -> Vec<Table> {
        let calls = self.calls.table().into_iter().chain(self.video_calls.table());
        let probes = self.pings.table().into_iter().chain(self.probes.table());
        calls.chain(self.players.tables()).chain(probes).collect()
    }
}
