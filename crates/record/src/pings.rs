//! Echo requests: round-trip times as ping and irtt measure them.

use packet::report::PingReport;
use packet::{Duration, Instant};

use crate::measure::{AS_MS, Measure, SHARE, Unit, real, whole};
use crate::reported::Reported;
use crate::waits::{Spread, Waits};
use crate::{Column, Summary, Table};

/// The report of one sender of echo requests.
type Ping = Reported<PingReport>;

impl Ping {
    fn measured(&self) -> &[Option<Duration>] {
        &self.round_trips[self.measured_from..]
    }
}

/// The recorder of all senders of echo requests.
#[derive(Clone, Debug, Default)]
pub struct Pings {
    senders: Vec<Ping>,
}

impl Pings {
    /// Adds the report of a sender, `user` of `group`.
    pub fn add(&mut self, group: u16, user: u32, report: PingReport) {
        self.senders.push(Reported { group, user, report });
    }

    /// Writes the measures of each group that sent echo requests; `groups` are the names of all
    /// groups.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        let mut all = Summary::default();
        for (index, name) in (0..).zip(groups) {
            let own: Vec<&Ping> = self.senders.iter().filter(|of| of.group == index).collect();
            if !own.is_empty() {
                let mut group = Summary::default();
                group.write(MEASURES, &Together::of(&own));
                all.group(name, group);
            }
        }
        if !all.0.is_empty() {
            out.group("ping", all);
        }
    }

    /// A table with a row for each request of the whole run; none without a sender.
    pub fn table(&self) -> Option<Table> {
        let rows = || {
            self.senders
                .iter()
                .flat_map(|of| of.sent.iter().zip(&of.round_trips).map(move |row| (of, row)))
        };
        let rtt = |(_, (_, trip)): (&Ping, (&Instant, &Option<Duration>))| {
            trip.map_or(f64::NAN, Duration::secs_f64)
        };
        let columns = vec![
            ("group".to_owned(), Column::U16(rows().map(|(of, _)| of.group).collect())),
            ("user".to_owned(), Column::U32(rows().map(|(of, _)| of.user).collect())),
            ("sent_ns".to_owned(), Column::U64(rows().map(|(_, (at, _))| at.nanos()).collect())),
            ("rtt_s".to_owned(), Column::F64(rows().map(rtt).collect())),
        ];
        (!self.senders.is_empty()).then_some(Table { name: "pings", columns, every_s: None })
    }
}

/// The senders of a group together.
#[derive(Debug, Default)]
pub(crate) struct Together {
    sent: u64,
    trips: Spread,
    shortest: Option<Duration>,
    /// Sum of the absolute differences of consecutive answers' round-trip times, ns, and their
    /// number.
    differences: (u64, u64),
}

impl Together {
    fn of(senders: &[&Ping]) -> Together {
        let (mut all, mut trips) = (Together::default(), Waits::default());
        for ping in senders {
            all.sent += ping.measured().len() as u64;
            let answers: Vec<Duration> = ping.measured().iter().flatten().copied().collect();
            answers.iter().for_each(|trip| trips.add(trip.nanos()));
            all.shortest = all.shortest.into_iter().chain(answers.iter().copied()).min();
            for pair in answers.windows(2) {
                all.differences.0 += pair[0].nanos().abs_diff(pair[1].nanos());
                all.differences.1 += 1;
            }
        }
        let shortest_s = all.shortest.map_or(0.0, Duration::secs_f64);
        all.trips = Spread::of(&[&trips]).not_below(shortest_s);
        all
    }

    fn unanswered(&self) -> f64 {
        (self.sent - self.trips.count) as f64 / self.sent as f64
    }

    fn jitter_s(&self) -> f64 {
        self.differences.0 as f64 / 1e9 / self.differences.1 as f64
    }
}

const REQUESTS: Unit = Unit::of("requests");
const QUANTILE: &str = "quantile of the round-trip time of echo requests, within 0.8 %";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Together>] = &[
    whole("sent", REQUESTS, "echo requests", |p: &Together| p.sent, "of a group of pings"),
    real("unanswered_share", SHARE.digits(2), "unanswered", Together::unanswered,
        "of these, without an answer: lost there or back, or on the way when the run ends"),
    real("rtt_min_s", AS_MS.digits(1), "round trip, least", |p| p.shortest.map_or(f64::NAN, Duration::secs_f64),
        "shortest round-trip time"),
    real("rtt_mean_s", AS_MS.digits(1), "round trip, mean", |p| p.trips.mean_s, "mean round-trip time"),
    real("rtt_p50_s", AS_MS.digits(1), "round trip, median", |p| p.trips.quantiles_s[0], QUANTILE),
    real("rtt_p90_s", AS_MS.digits(1), "round trip, 90 %", |p| p.trips.quantiles_s[1], QUANTILE),
    real("rtt_p95_s", AS_MS.digits(1), "round trip, 95 %", |p| p.trips.quantiles_s[2], QUANTILE),
    real("rtt_p99_s", AS_MS.digits(1), "round trip, 99 %", |p| p.trips.quantiles_s[3], QUANTILE),
    real("rtt_p99_9_s", AS_MS.digits(1), "round trip, 99.9 %", |p| p.trips.quantiles_s[4], QUANTILE),
    real("rtt_max_s", AS_MS.digits(1), "round trip, longest", |p| p.trips.longest_s, "longest round-trip time"),
    real("jitter_mean_s", AS_MS.digits(1), "round trip, jitter", Together::jitter_s,
        "mean difference of the round-trip times of consecutive answers"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_the_measured_interval_by_hand() {
        let ms = |n: u64| Some(Duration::from_millis(n));
        let sent = (0..4).map(|n| Instant::from_nanos(n * 200_000_000)).collect();
        let round_trips = vec![ms(900), ms(10), None, ms(30)];
        let mut pings = Pings::default();
        pings.add(1, 7, PingReport { sent, round_trips, measured_from: 1 });
        let mut out = Summary::default();
        pings.summarise(&["web", "ping"], &mut out);
        let Some(crate::Figure::Group(all)) = out.get("ping") else { panic!() };
        let Some(crate::Figure::Group(of)) = all.get("ping") else { panic!() };
        assert!(all.get("web").is_none());
        assert_eq!((of.number("sent"), of.number("rtt_mean_s")), (3.0, 0.02));
        assert_eq!((of.number("rtt_min_s"), of.number("rtt_max_s")), (0.01, 0.03));
        assert_eq!(of.number("jitter_mean_s"), 0.02);
        assert!((of.number("unanswered_share") - 1.0 / 3.0).abs() < 1e-12);
        let table = pings.table().unwrap();
        let Column::F64(rtt) = &table.columns[3].1 else { panic!() };
        assert!(rtt[0] == 0.9 && rtt[2].is_nan(), "the whole run is in the table");
    }
}
