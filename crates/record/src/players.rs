//! Video players: what each viewer saw.

use packet::Duration;

use crate::{Column, Summary, Table, quantile};

/// What one viewer saw in the measured interval.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// His group.
    pub group: u16,
    /// His number over all groups.
    pub user: u32,
    /// From his begin until the picture moved, whenever that was.
    pub startup: Option<Duration>,
    /// Times the picture froze.
    pub stalls: u64,
    /// For how long.
    pub stalled: Duration,
    /// Times the bit rate seen changed.
    pub switches: u64,
    /// Segments fetched.
    pub segments: u64,
    /// Bit rates, bit/s, and how long each was seen.
    pub seen: Vec<(u64, Duration)>,
}

impl Viewer {
    fn played_s(&self) -> f64 {
        self.seen.iter().map(|(_, time)| time.secs_f64()).sum()
    }

    fn bits(&self) -> f64 {
        self.seen.iter().map(|&(rate, time)| rate as f64 * time.secs_f64()).sum()
    }
}

/// Every viewer.
#[derive(Clone, Debug, Default)]
pub struct Players {
    viewers: Vec<Viewer>,
}

impl Players {
    /// Adds a viewer.
    pub fn add(&mut self, viewer: Viewer) {
        self.viewers.push(viewer);
    }

    /// The figures of all viewers together, and, where there are several groups, of each: `groups`
    /// are their names. None without a viewer.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        if self.viewers.is_empty() {
            return;
        }
        let all: Vec<&Viewer> = self.viewers.iter().collect();
        figures(&all, "video_", out);
        let mut by_group = Summary::default();
        for (index, name) in groups.iter().enumerate() {
            let of: Vec<&Viewer> =
                all.iter().copied().filter(|v| usize::from(v.group) == index).collect();
            if !of.is_empty() && of.len() < all.len() {
                let mut group = Summary::default();
                figures(&of, "", &mut group);
                by_group.group(name, group);
            }
        }
        if !by_group.0.is_empty() {
            out.group("video_by_group", by_group);
        }
    }

    /// A row for each viewer, and one for each of a viewer's bit rates; none without a viewer.
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
            ("rebuffer_ratio", real(&|v| figure(v, "rebuffer_ratio"))),
            ("switches", whole(&|v| v.switches)),
            ("bitrate_mean_bits_per_s", real(&|v| figure(v, "bitrate_mean_bits_per_s"))),
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

fn figure(viewer: &Viewer, name: &str) -> f64 {
    let mut out = Summary::default();
    figures(&[viewer], "", &mut out);
    out.number(name)
}

/// Ratios are of sums over the viewers. A viewer whose picture has not moved at all counts in the
/// quantiles of the start-up delay as infinite.
fn figures(viewers: &[&Viewer], prefix: &str, out: &mut Summary) {
    let sum = |of: &dyn Fn(&Viewer) -> f64| viewers.iter().map(|v| of(v)).sum::<f64>();
    let (played, stalled) = (sum(&Viewer::played_s), sum(&|v| v.stalled.secs_f64()));
    let mut startups: Vec<f64> =
        viewers.iter().map(|v| v.startup.map_or(f64::INFINITY, Duration::secs_f64)).collect();
    startups.sort_by(f64::total_cmp);
    out.whole(&format!("{prefix}players"), viewers.len() as u64);
    out.whole(&format!("{prefix}stalls"), viewers.iter().map(|v| v.stalls).sum());
    let mut real = |name: &str, value: f64| out.real(&format!("{prefix}{name}"), value);
    real("bitrate_mean_bits_per_s", sum(&Viewer::bits) / played);
    real("rebuffer_ratio", stalled / (played + stalled));
    real("switches_per_min", 60.0 * sum(&|v| v.switches as f64) / played);
    real("startup_p50_s", quantile(&startups, 0.5));
    real("startup_p95_s", quantile(&startups, 0.95));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer(user: u32, startup: Option<u64>, stalled: u64, seen: [u64; 2]) -> Viewer {
        let s = Duration::from_secs;
        Viewer {
            group: user as u16,
            user,
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
        players.add(viewer(0, Some(1), 0, [30, 60]));
        players.add(viewer(1, Some(5), 10, [30, 0]));
        players.add(viewer(2, None, 0, [0, 0]));
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
