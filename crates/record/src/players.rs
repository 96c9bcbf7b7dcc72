//! Video players: start-up, stalls and bit rates of each viewer.

use std::slice;

use packet::Duration;
use packet::report::ViewerReport;

use crate::measure::{BARE, BITS_PER_S, Measure, SECONDS, SHARE, Unit, real, whole};
use crate::reported::Reported;
use crate::{Column, Summary, Table, quantile};

/// The report of one viewer.
type Viewer = Reported<ViewerReport>;

impl Viewer {
    fn played_s(&self) -> f64 {
        self.seen.iter().map(|(_, time)| time.secs_f64()).sum()
    }

    fn bits(&self) -> f64 {
        self.seen.iter().map(|&(rate, time)| rate as f64 * time.secs_f64()).sum()
    }
}

/// The recorder of all viewers.
#[derive(Clone, Debug, Default)]
pub struct Players {
    viewers: Vec<Viewer>,
}

impl Players {
    /// Adds the report of a viewer, `user` of `group`.
    pub fn add(&mut self, group: u16, user: u32, report: ViewerReport) {
        self.viewers.push(Reported { group, user, report });
    }

    /// Writes the measures of all viewers together and, where there are several groups, of each
    /// group; `groups` are their names. Writes nothing without a viewer.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        out.write_rows("video_", MEASURES, &self.viewers, |viewer| viewer.group, groups);
    }

    /// Two tables: a row for each viewer, and a row for each bit rate of each viewer; none without
    /// a viewer.
    pub fn tables(&self) -> Vec<Table> {
        if self.viewers.is_empty() {
            return Vec::new();
        }
        let table = |name, columns: Vec<(&str, Column)>| {
            let columns = columns.into_iter().map(|(name, c)| (name.to_owned(), c)).collect();
            Table { name, columns, every_s: None }
        };
        vec![table("players", self.rows()), table("player_rates", self.rates())]
    }

    fn rows(&self) -> Vec<(&'static str, Column)> {
        let viewers = &self.viewers;
        let real = |of: &dyn Fn(&Viewer) -> f64| Column::F64(viewers.iter().map(of).collect());
        let whole = |of: &dyn Fn(&Viewer) -> u64| Column::U64(viewers.iter().map(of).collect());
        vec![
            ("group", Column::U16(viewers.iter().map(|v| v.group).collect())),
            ("user", Column::U32(viewers.iter().map(|v| v.user).collect())),
            ("startup_s", real(&|v| v.startup.map_or(f64::NAN, Duration::secs_f64))),
            ("segments", whole(&|v| v.segments)),
            ("played_s", real(&Viewer::played_s)),
            ("stalls", whole(&|v| v.stalls)),
            ("stalled_s", real(&|v| v.stalled.secs_f64())),
            ("rebuffer_ratio", real(&|v| rebuffer_ratio(slice::from_ref(v)))),
            ("switches", whole(&|v| v.switches)),
            ("bitrate_mean_bits_per_s", real(&|v| bitrate_mean(slice::from_ref(v)))),
        ]
    }

    fn rates(&self) -> Vec<(&'static str, Column)> {
        let (mut groups, mut users) = (Vec::new(), Vec::new());
        let (mut rates, mut shares) = (Vec::new(), Vec::new());
        for viewer in &self.viewers {
            for &(rate, time) in &viewer.seen {
                groups.push(viewer.group);
                users.push(viewer.user);
                rates.push(rate);
                shares.push(time.secs_f64() / viewer.played_s());
            }
        }
        vec![
            ("group", Column::U16(groups)),
            ("user", Column::U32(users)),
            ("rate_bits_per_s", Column::U64(rates)),
            ("share", Column::F64(shares)),
        ]
    }
}

/// The measures of viewers; a ratio is the ratio of two sums over the viewers.
#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<[Viewer]>] = &[
    whole("players", Unit::of("viewers"), "video, viewers", |viewers| viewers.len() as u64,
        "rows of `players`; these numbers only with viewers"),
    real("bitrate_mean_bits_per_s", BITS_PER_S, "video, bit rate", bitrate_mean,
        "nominal bit rate, mean over all film seen"),
    whole("stalls", BARE, "video, stalls", |viewers| viewers.iter().map(|v| v.stalls).sum(),
        "times the picture froze, all viewers together"),
    real("rebuffer_ratio", SHARE.digits(2), "video, frozen", rebuffer_ratio,
        "time frozen of the time played or frozen, all viewers together"),
    real("switches_per_min", Unit::of("1/min").digits(2), "video, switches a minute",
        |viewers| 60.0 * sum(viewers, |v| v.switches as f64) / sum(viewers, Viewer::played_s),
        "switches of the bit rate for each minute of film seen"),
    real("startup_p50_s", SECONDS, "video, start-up, median",
        |viewers| startup_s(viewers, 0.5), STARTUP).whole_run(),
    real("startup_p95_s", SECONDS, "video, start-up, 95 %",
        |viewers| startup_s(viewers, 0.95), STARTUP).whole_run(),
];

const STARTUP: &str = "quantile of the start-up delay; null where it falls among viewers whose \
                       picture never moved";

fn sum(viewers: &[Viewer], of: impl Fn(&Viewer) -> f64) -> f64 {
    viewers.iter().map(of).sum()
}

fn bitrate_mean(viewers: &[Viewer]) -> f64 {
    sum(viewers, Viewer::bits) / sum(viewers, Viewer::played_s)
}

fn rebuffer_ratio(viewers: &[Viewer]) -> f64 {
    let stalled = sum(viewers, |v| v.stalled.secs_f64());
    stalled / (sum(viewers, Viewer::played_s) + stalled)
}

/// A quantile of the start-up delay, which is infinite for viewers whose picture never moved.
fn startup_s(viewers: &[Viewer], p: f64) -> f64 {
    let startup = |v: &Viewer| v.startup.map_or(f64::INFINITY, Duration::secs_f64);
    let mut startups: Vec<f64> = viewers.iter().map(startup).collect();
    startups.sort_by(f64::total_cmp);
    quantile(&startups, p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer(startup: Option<u64>, stalled: u64, seen: [u64; 2]) -> ViewerReport {
        let s = Duration::from_secs;
        ViewerReport {
            startup: startup.map(s),
            stalls: stalled.min(1),
            stalled: s(stalled),
            switches: 3,
            segments: 9,
            seen: vec![(1_000, s(seen[0])), (3_000, s(seen[1]))],
        }
    }

    fn three() -> Players {
        let mut players = Players::default();
        players.add(0, 0, viewer(Some(1), 0, [30, 60]));
        players.add(1, 1, viewer(Some(5), 10, [30, 0]));
        players.add(2, 2, viewer(None, 0, [0, 0]));
        players
    }

    #[test]
    fn rows_name_their_viewers_group() {
        let tables = three().tables();
        let column = |table: &Table, name: &str| {
            table.columns.iter().find(|(n, _)| n == name).expect("a column").1.clone()
        };
        assert_eq!(column(&tables[0], "group"), Column::U16(vec![0, 1, 2]));
        assert_eq!(column(&tables[1], "group"), Column::U16(vec![0, 0, 1, 1, 2, 2]));
    }

    #[test]
    fn figures_by_hand() {
        let mut summary = Summary::default();
        three().summarise(&["a", "b", "c"], &mut summary);
        let number = |name: &str| summary.number(&format!("video_{name}"));
        assert_eq!((number("players"), number("stalls")), (3.0, 1.0));
        assert_eq!(number("bitrate_mean_bits_per_s"), (60_000.0 + 180_000.0) / 120.0);
        assert_eq!(number("rebuffer_ratio"), 10.0 / 130.0);
        assert_eq!(number("switches_per_min"), 60.0 * 9.0 / 120.0);
        assert_eq!((number("startup_p50_s"), number("startup_p95_s")), (5.0, f64::INFINITY));
        let Some(crate::Figure::Group(groups)) = summary.get("video_by_group") else { panic!() };
        let Some(crate::Figure::Group(b)) = groups.get("b") else { panic!() };
        assert_eq!(b.number("rebuffer_ratio"), 0.25);
    }

    #[test]
    fn shares_of_the_rates_of_each_viewer() {
        let [players, rates] = &three().tables()[..] else { panic!() };
        assert_eq!((players.name, players.columns[0].1.len()), ("players", 3));
        let Column::F64(shares) = &rates.columns[3].1 else { panic!() };
        assert_eq!(shares[..4], [1.0 / 3.0, 2.0 / 3.0, 1.0, 0.0]);
        assert!(shares[4].is_nan());
        assert!(Players::default().tables().is_empty());
    }
}
