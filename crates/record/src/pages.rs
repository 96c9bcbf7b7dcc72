//! Web pages and their load times, until all files of a page have arrived.

use packet::Instant;

use crate::measure::{Measure, PAYLOAD, SECONDS, Unit, real, whole};
use crate::times::Times;
use crate::{Column, Keep, Summary, Table, Window};

/// A page whose files have all arrived, or of which a file was given up.
#[derive(Clone, Copy, Debug)]
pub struct PageLoad {
    /// When the first request of the page was made: `connect()`, or the write on a connection
    /// already open.
    pub began: Instant,
    /// When the last byte of the page's last file had arrived in order, or the last file was given
    /// up.
    pub ended: Instant,
    /// Number of files, the main document included.
    pub objects: u32,
    /// Payload bytes of the requested replies.
    pub bytes: u64,
    /// The user who fetched the page, numbered over all groups of the scenario.
    pub user: u32,
    /// Index of the user's group in the scenario.
    pub group: u16,
    /// Whether one of the page's files was given up.
    pub failed: bool,
}

/// Settings of the log of web pages.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// The measured interval.
    pub window: Window,
    /// Whether a row is kept for every page, and not only statistics.
    pub log: bool,
    /// Names of the groups of the scenario, in order.
    pub groups: Vec<String>,
    /// Whether all load times are kept, or a bounded number.
    pub keep: Keep,
}

/// Load times of the pages of one group, or of all groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    begun: u64,
    ended: u64,
    objects: u64,
    bytes: u64,
    times: Times,
}

/// The log of all pages.
#[derive(Clone, Debug)]
pub struct Pages {
    window: Window,
    names: Vec<String>,
    /// Load times by group; pages begun and ended are counted over the whole run.
    loads: Vec<Loads>,
    log: Option<Vec<PageLoad>>,
}

impl Loads {
    fn new(keep: Keep) -> Self {
        Loads { times: Times::new(keep), ..Loads::default() }
    }

    fn extend(&mut self, more: &Loads) {
        self.begun += more.begun;
        self.ended += more.ended;
        self.objects += more.objects;
        self.bytes += more.bytes;
        self.times.extend(&more.times);
    }
}

const PAGES: Unit = Unit::of("pages");
const fn quantile(
    name: &'static str,
    title: &'static str,
    read: fn(&Loads) -> f64,
) -> Measure<Loads> {
    let meaning = "quantile of all, failed ones taken as infinite: null where it falls among these, \
                   or without pages";
    real(name, SECONDS, title, read, meaning)
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Loads>] = &[
    whole("pages", PAGES, "pages", |p: &Loads| p.times.count(),
        "that ended, failed ones included; all of pages only where users fetch some, see table \
         `pages`").by_group(),
    whole("pages_failed", PAGES, "failed pages", |p: &Loads| p.times.failed(),
        "of these, of which a file was given up").by_group(),
    whole("pages_open_at_end", PAGES, "pages under way", |p: &Loads| p.begun - p.ended,
        "begun and not over when the run ended").whole_run().by_group(),
    real("page_objects_mean", Unit::of("files").digits(1), "files of a page, mean",
        |p: &Loads| p.objects as f64 / p.times.count() as f64, "of these pages").by_group(),
    real("page_bytes_mean", PAYLOAD, "bytes of a page, mean",
        |p: &Loads| p.bytes as f64 / p.times.count() as f64, "of these pages").by_group(),
    real("page_load_mean_s", SECONDS, "page load, mean", |p: &Loads| p.times.mean_s(),
        "mean page load time of pages that did not fail; null without any").by_group(),
    quantile("page_load_p50_s", "page load, median", |p| p.times.percentile_s(50)).by_group(),
    quantile("page_load_p90_s", "page load, 90 %", |p| p.times.percentile_s(90)).by_group(),
    quantile("page_load_p95_s", "page load, 95 %", |p| p.times.percentile_s(95)).by_group(),
    quantile("page_load_p99_s", "page load, 99 %", |p| p.times.percentile_s(99)).by_group(),
];

impl Pages {
    /// An empty log.
    pub fn new(settings: PageSettings) -> Self {
        Pages {
            window: settings.window,
            loads: vec![Loads::new(settings.keep); settings.groups.len()],
            names: settings.groups,
            log: settings.log.then(Vec::new),
        }
    }

    /// Counts a page of which a user of `group` has requested the first file.
    pub fn begun(&mut self, group: u16) {
        self.loads[usize::from(group)].begun += 1;
    }

    /// Adds a page that has arrived whole or was given up.
    pub fn ended(&mut self, page: PageLoad) {
        let loads = &mut self.loads[usize::from(page.group)];
        loads.ended += 1;
        if self.window.contains(page.ended) {
            loads.objects += u64::from(page.objects);
            loads.bytes += page.bytes;
            loads.times.add(page.ended.since(page.began).nanos(), page.failed);
        }
        if let Some(log) = &mut self.log {
            log.push(page);
        }
    }

    /// Writes the measures of pages that ended in the measured interval, if any group fetches
    /// pages. Measures of single groups go with the group's other measures, if `out` has any.
    pub fn summarise(&mut self, out: &mut Summary) {
        let mut all = Loads::default();
        for (loads, name) in self.loads.iter_mut().zip(&self.names).filter(|(l, _)| l.begun > 0) {
            loads.times.sort();
            all.extend(loads);
            let group = out.group_mut("by_group").and_then(|groups| groups.group_mut(name));
            if let Some(group) = group {
                group.write_group(MEASURES, loads);
            }
        }
        if all.begun > 0 {
            all.times.sort();
            out.write(MEASURES, &all);
        }
    }

    /// A table with a row for every page of the whole run, if rows were kept and there are any.
    pub fn into_log(self) -> Option<Table> {
        let log = self.log.filter(|log| !log.is_empty())?;
        let u64s = |of: fn(&PageLoad) -> u64| Column::U64(log.iter().map(of).collect());
        let u32s = |of: fn(&PageLoad) -> u32| Column::U32(log.iter().map(of).collect());
        let columns = [
            ("end_ns", u64s(|p| p.ended.nanos())),
            ("duration_ns", u64s(|p| p.ended.since(p.began).nanos())),
            ("objects", u32s(|p| p.objects)),
            ("bytes", u64s(|p| p.bytes)),
            ("user", u32s(|p| p.user)),
            ("group", Column::U16(log.iter().map(|p| p.group).collect())),
            ("failed", Column::U8(log.iter().map(|p| u8::from(p.failed)).collect())),
        ];
        let columns = columns.into_iter().map(|(n, c)| (n.to_owned(), c)).collect();
        Some(Table { name: "pages", columns, every_s: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// A log whose measured interval lasts from 1 s to 10 s.
    fn log_of(groups: &[&str], log: bool) -> Pages {
        let window = Window { from: at(1_000), to: at(10_000) };
        let groups = groups.iter().map(|&name| name.to_owned()).collect();
        Pages::new(PageSettings { window, log, groups, keep: Keep::Everything })
    }

    fn page(began: u64, ended: u64, group: u16, failed: bool) -> PageLoad {
        let (began, ended) = (at(began), at(ended));
        PageLoad { began, ended, objects: 3, bytes: 9_000, user: 7, group, failed }
    }

    fn summary(pages: &mut Pages) -> Summary {
        let mut out = Summary::default();
        pages.summarise(&mut out);
        out
    }

    #[test]
    fn pages_count_where_they_end_and_failed_ones_are_the_slowest() {
        let mut log = log_of(&["web"], true);
        for page in [
            page(0, 999, 0, false), // in the warm-up
            page(0, 1_500, 0, false),
            page(2_000, 2_500, 0, false),
            page(2_000, 9_000, 0, true),
        ] {
            log.begun(0);
            log.ended(page);
        }
        log.begun(0); // not complete at the end
        let s = summary(&mut log);
        let counts = ["pages", "pages_failed", "pages_open_at_end"].map(|n| s.number(n));
        assert_eq!(counts, [3.0, 1.0, 1.0]);
        assert_eq!((s.number("page_objects_mean"), s.number("page_bytes_mean")), (3.0, 9_000.0));
        assert_eq!((s.number("page_load_mean_s"), s.number("page_load_p50_s")), (1.0, 1.5));
        assert_eq!(s.number("page_load_p95_s"), f64::INFINITY);
        let table = log.into_log().unwrap();
        let column = |name: &str| table.columns.iter().find(|(n, _)| n == name).unwrap().1.clone();
        assert_eq!(column("failed"), Column::U8(vec![0, 0, 0, 1]));
        let ms = [999, 1_500, 500, 7_000].map(|ms: u64| ms * 1_000_000);
        assert_eq!(column("duration_ns"), Column::U64(ms.to_vec()));
    }

    #[test]
    fn groups_are_distinguished_where_the_summary_does() {
        let mut log = log_of(&["near", "bulk", "far"], false);
        for (group, ended) in [(0, 1_200), (2, 2_500), (2, 1_900)] {
            log.begun(group);
            log.ended(page(1_000, ended, group, false));
        }
        let mut out = Summary::default();
        let mut groups = Summary::default();
        groups.group("near", Summary::default());
        groups.group("far", Summary::default());
        out.group("by_group", groups);
        log.summarise(&mut out);
        let Some(Figure::Group(groups)) = out.get("by_group") else { panic!() };
        assert_eq!(groups.0.len(), 2, "who fetches no pages has no figures");
        let Some(Figure::Group(far)) = groups.get("far") else { panic!() };
        assert_eq!((far.number("pages"), far.number("page_load_p99_s")), (2.0, 1.5));
        assert_eq!((out.number("pages"), out.number("page_load_p50_s")), (3.0, 0.9));
        assert!(log.into_log().is_none(), "no rows were requested");
    }

    #[test]
    fn a_run_without_pages_says_nothing_of_them() {
        let mut log = log_of(&["bulk"], true);
        assert_eq!(summary(&mut log).0.len(), 0);
        assert!(log.into_log().is_none());
    }
}
