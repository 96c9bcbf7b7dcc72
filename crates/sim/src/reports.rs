//! What applications say of themselves at the end of the run, put on record.

use packet::Instant;
use record::e_model::Impairment;
use record::{Calls, Listener, Players, Summary, Table, Viewer};
use traffic::{Listening, Report, Viewing};

use crate::world::World;

/// Every application's report.
#[derive(Default)]
pub(crate) struct Reports {
    calls: Calls,
    players: Players,
}

impl Reports {
    /// Asks every application of a world that has ended at `now`.
    pub fn ask(world: &mut World, now: Instant) -> Reports {
        let mut reports = Reports::default();
        for (user, member) in world.members.iter_mut().enumerate() {
            let (group, user) = (member.group, user as u32);
            match member.app.report(now) {
                None => {}
                Some(Report::Call(heard)) => {
                    let listeners: Vec<Listener> = heard.iter().map(listener).collect();
                    reports.calls.add(group, user, &listeners);
                }
                Some(Report::Viewing(viewing)) => reports.players.add(viewer(group, user, viewing)),
            }
        }
        reports
    }

    /// Their figures.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        self.calls.summarise(groups, out);
        self.players.summarise(groups, out);
    }

    /// Their tables.
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
