//! What applications say of themselves at the end of the run, put on record.

use record::e_model::Impairment;
use record::{
    Calls, Listener, Ping, Pings, Players, Summary, Table, VideoCallViewer, VideoCalls, Viewer,
};
use traffic::{ListenerReport, PingReport, Report, VideoCallReport, ViewerReport};

/// Every application's report.
#[derive(Default)]
pub struct Reports {
    calls: Calls,
    video_calls: VideoCalls,
    players: Players,
    pings: Pings,
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
                Report::VideoCall(watching) => {
                    let watchers = watching.into_iter().map(|w| watcher(group, user, w));
                    watchers.for_each(|watcher| all.video_calls.add(watcher));
                }
                Report::Viewing(viewing) => all.players.add(viewer(group, user, viewing)),
                Report::Ping(PingReport { sent, round_trips, measured_from }) => {
                    all.pings.add(Ping { group, user, sent, round_trips, measured_from });
                }
            }
        }
        all
    }

    /// Adds what groups report to a summary.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        self.calls.summarise(groups, out);
        self.players.summarise(groups, out);
        self.video_calls.summarise(groups, out);
        self.pings.summarise(groups, out);
    }

    /// The tables that groups report.
    pub fn tables(&self) -> Vec<Table> {
        let calls = self.calls.table().into_iter().chain(self.video_calls.table());
        calls.chain(self.players.tables()).chain(self.pings.table()).collect()
    }
}

fn listener(heard: &ListenerReport) -> Listener {
    let ListenerReport { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec } = *heard;
    let codec = Impairment { equipment: codec.0, robustness: codec.1 };
    Listener { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec }
}

fn viewer(group: u16, user: u32, viewing: ViewerReport) -> Viewer {
    let ViewerReport { startup, stalls, stalled, switches, segments, seen } = viewing;
    Viewer { group, user, startup, stalls, stalled, switches, segments, seen }
}

fn watcher(group: u16, user: u32, watching: VideoCallReport) -> VideoCallViewer {
    let VideoCallReport { back, seconds, frames, frames_lost, delays, freezes, .. } = watching;
    let VideoCallReport { frozen_s, sent_bytes, received_bytes, received, lost, marked, .. } =
        watching;
    VideoCallViewer {
        group,
        user,
        back,
        seconds,
        frames,
        frames_lost,
        delays,
        freezes,
        frozen_s,
        sent_bytes,
        received_bytes,
        received,
        lost,
        marked,
    }
}
