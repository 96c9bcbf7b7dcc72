//! What applications say of themselves at the end of the run, put on record.

use record::e_model::Impairment;
use record::{Calls, Listener, Players, Summary, Table, Viewer};
use traffic::{Listening, Report, Viewing};

/// Every application's report.
#[derive(Default)]
pub struct Reports {
    calls: Calls,
    players: Players,
}

impl Reports {
    /// What applications say, each of a group and user.
    pub fn new(reports: impl Iterator<Item = (u16, u32, Report)>) -> Reports {
        let mut all = Reports::default();
        for (group, user, report) in reports {
            match report {
                Report::Call(heard) => {
                    let listeners: Vec<Listener> = heard.iter().map(listener).collect();
                    all.calls.add(group, user, &listeners);
                }
                Report::Viewing(viewing) => all.players.add(viewer(group, user, viewing)),
            }
        }
        all
    }

    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        self.calls.summarise(groups, out);
        self.players.summarise(groups, out);
    }

    pub fn tables(&self) -> Vec<Table> {
        self.calls.table().into_iter().chain(self.players.tables()).collect()
    }
}

fn listener(heard: &Listening) -> Listener {
    let Listening { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec } = *heard;
    let codec = Impairment { equipment: codec.0, robustness: codec.1 };
    Listener { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec }
}

fn viewer(group: u16, user: u32, viewing: Viewing) -> Viewer {
    let Viewing { startup, stalls, stalled, switches, segments, seen } = viewing;
    Viewer { group, user, startup, stalls, stalled, switches, segments, seen }
}
