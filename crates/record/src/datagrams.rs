//! Datagrams: how many were sent and lost, and how long the others took.

use std::ops::Range;

use packet::{Duration, Instant};

use crate::distances::Distances;
use crate::measure::{AS_MS, BARE, Measure, SHARE, Unit, real, whole};
use crate::quantile::rank;
use crate::sample::{Keep, Sample};
use crate::{Column, LogHistogram, PerSecond, Summary, Table, Window};

/// Delay written in the log for a lost datagram.
const LOST: u64 = u64::MAX;
/// Delay written in the log for a datagram still in flight at the end.
const ON_ITS_WAY: u64 = u64::MAX - 1;

/// One sender's measured datagrams: those sent within the window.
#[derive(Clone, Debug, Default)]
struct Stream {
    group: u16,
    user: u32,
    back: bool,
    sent: u64,
    /// One-way delays, ns.
    delays: Sample,
    last_delay: Option<u64>,
    /// Sequence number of the last datagram lost.
    last_lost: Option<u64>,
    lost: u64,
    /// Distances from one loss to the next, in packets (1: neighbours).
    distances: Distances,
    /// Sum of the absolute differences of consecutive delays, ns, and their number.
    jitter: (u64, u64),
    /// Distribution of the absolute differences of consecutive delays.
    differences: Differences,
    /// Jitter as RFC 3550 smooths it, ns, and its sum over the arrivals.
    smoothed: (f64, f64),
}

/// A histogram of differences between delays, exact within 0.2 %.
type Differences = LogHistogram<8, 0>;

/// The log of all datagrams. A datagram counts if it was sent in the measured interval.
#[derive(Clone, Debug)]
pub struct Datagrams {
    window: Window,
    deadline: Duration,
    /// Names of the groups of the scenario, in order.
    groups: Vec<String>,
    streams: Vec<Stream>,
    log: Option<Log>,
    keep: Keep,
    /// For each group: datagrams that arrived in each second and the sum of their delays, ns. Empty
    /// unless the run is observed.
    arriving: Vec<PerSecond<2>>,
}

#[derive(Clone, Debug, Default)]
struct Log {
    stream: Vec<u32>,
    sent: Vec<u64>,
    delay: Vec<u64>,
    /// For each stream, the rows of its datagrams by their numbers.
    rows: Vec<Vec<u32>>,
}

impl Datagrams {
    /// An empty log of a scenario with these groups; `log` keeps a row of every datagram. A
    /// datagram is in time if its one-way delay is at most `deadline`.
    pub fn new(window: Window, deadline: Duration, groups: Vec<String>, log: bool) -> Self {
        let (streams, arriving) = (Vec::new(), Vec::new());
        let log = log.then(Log::default);
        Datagrams { window, deadline, groups, streams, log, keep: Keep::Everything, arriving }
    }

    /// The log for an observed run: it also records the delays of every second, and keeps no more
    /// delays than `keep` allows.
    pub fn watched(self, keep: Keep) -> Self {
        let arriving = vec![PerSecond::default(); self.groups.len()];
        Datagrams { keep, arriving, ..self }
    }

    /// Adds a stream of `user` (numbered over all groups) in the group with index `group`; `back`
    /// if the user's peer sends it. Returns the stream's number: streams are numbered in the order
    /// of their first datagrams, which differs from seed to seed.
    pub fn stream(&mut self, group: u16, user: u32, back: bool) -> u32 {
        let delays = Sample::new(self.keep, &[self.deadline.nanos()]);
        let distances = Distances::new(self.keep);
        let rest = Stream::default();
        self.streams.push(Stream { group, user, back, delays, distances, ..rest });
        if let Some(log) = &mut self.log {
            log.rows.push(Vec::new());
        }
        (self.streams.len() - 1) as u32
    }

    /// Records that datagram `number` (0, 1, …) of `stream` leaves its sender.
    pub fn sent(&mut self, stream: u32, number: u64, now: Instant) {
        if let Some(log) = &mut self.log {
            debug_assert_eq!(log.rows[stream as usize].len() as u64, number);
            let row = u32::try_from(log.sent.len()).expect("fewer than 2^32 datagrams");
            log.rows[stream as usize].push(row);
            log.stream.push(stream);
            log.sent.push(now.nanos());
            log.delay.push(ON_ITS_WAY);
        }
        self.streams[stream as usize].sent += u64::from(self.window.contains(now));
    }

    /// Records that datagram `number`, sent at `sent`, reaches its receiver.
    pub fn received(&mut self, stream: u32, number: u64, sent: Instant, now: Instant) {
        let delay = now.since(sent).nanos();
        self.note(stream, number, delay);
        let stream = &mut self.streams[stream as usize];
        if let Some(group) = self.arriving.get_mut(usize::from(stream.group)) {
            group.add_all(now, [1, delay]);
        }
        if !self.window.contains(sent) {
            return;
        }
        if let Some(before) = stream.last_delay.replace(delay) {
            stream.jitter.0 += before.abs_diff(delay);
            stream.jitter.1 += 1;
            let difference = before.abs_diff(delay);
            stream.differences.add(difference);
            // RFC 3550 section 6.4.1: J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16.
            stream.smoothed.0 += (difference as f64 - stream.smoothed.0) / 16.0;
            stream.smoothed.1 += stream.smoothed.0;
        }
        stream.delays.add(delay);
    }

    /// Records that datagram `number`, sent at `sent`, was dropped.
    pub fn lost(&mut self, stream: u32, number: u64, sent: Instant) {
        self.note(stream, number, LOST);
        if !self.window.contains(sent) {
            return;
        }
        let stream = &mut self.streams[stream as usize];
        stream.lost += 1;
        // A queue may drop a flow's packets in any order; a distance is a difference of numbers.
        if let Some(before) = stream.last_lost.replace(number) {
            stream.distances.add(number.abs_diff(before));
        }
    }

    fn note(&mut self, stream: u32, number: u64, delay: u64) {
        if let Some(log) = &mut self.log {
            let row = log.rows[stream as usize][number as usize];
            log.delay[row as usize] = delay;
        }
    }

    /// Mean one-way delay in each of these seconds, in seconds; NaN where no datagram arrived. The
    /// column is called `<group>.delay_mean_s`, for each group that sends datagrams.
    pub fn per_second(&self, seconds: Range<usize>) -> Vec<(String, Column)> {
        let mean = |[n, ns]: [u64; 2]| ns as f64 / 1e9 / n as f64;
        let groups = (0..).zip(self.groups.iter().zip(&self.arriving));
        let sending = groups.filter(|(i, _)| self.streams.iter().any(|s| s.group == *i));
        let column = |of: &PerSecond<2>| seconds.clone().map(|s| mean(of.row(s))).collect();
        let named = |(_, (name, of)): (u16, (&String, _))| {
            (format!("{name}.delay_mean_s"), Column::F64(column(of)))
        };
        sending.map(named).collect()
    }

    /// Discards the series of the seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.arriving.iter_mut().for_each(|series| series.forget_before(second));
    }

    /// Whether a row of every datagram is kept, in the order of sending.
    pub fn logs(&self) -> bool {
        self.log.is_some()
    }

    /// Whether there is any stream.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Writes the measures of the measured interval for each traffic group that has sent.
    pub fn summarise(&mut self, out: &mut Summary) {
        let mut groups = Summary::default();
        for (index, name) in self.groups.iter().enumerate() {
            let of_group = self.streams.iter_mut().filter(|s| usize::from(s.group) == index);
            let mut sources: Vec<&mut Stream> = of_group.collect();
            if !sources.is_empty() {
                groups.group(name, Together::figures(&mut sources, self.deadline));
            }
        }
        out.group("datagrams", groups);
    }

    /// A table with one row for each stream.
    pub fn table(&mut self) -> Table {
        let row = |stream| Together::figures(&mut [stream], self.deadline);
        let rows: Vec<Summary> = self.streams.iter_mut().map(row).collect();
        let count =
            |of: &dyn Fn(&Stream) -> u64| Column::U64(self.streams.iter().map(of).collect());
        let groups = self.streams.iter().map(|s| s.group).collect();
        let mut columns = vec![
            ("group".to_owned(), Column::U16(groups)),
            ("user".to_owned(), Column::U32(self.streams.iter().map(|s| s.user).collect())),
            ("back".to_owned(), Column::U8(self.streams.iter().map(|s| s.back.into()).collect())),
            ("sent".to_owned(), count(&|s| s.sent)),
            ("received".to_owned(), count(&|s| s.delays.count())),
            ("lost".to_owned(), count(&|s| s.lost)),
        ];
        for name in FIGURES {
            let each = rows.iter().map(|figures| figures.number(name)).collect();
            columns.push((name.to_owned(), Column::F64(each)));
        }
        Table { name: "streams", columns, every_s: None }
    }

    /// The log of every datagram, if it was kept. A lost datagram has the largest possible delay,
    /// one in flight at the end the largest but one.
    pub fn into_log(self) -> Option<Table> {
        let log = self.log?;
        let columns = vec![
            ("stream".to_owned(), Column::U32(log.stream)),
            ("sent_ns".to_owned(), Column::U64(log.sent)),
            ("delay_ns".to_owned(), Column::U64(log.delay)),
        ];
        Some(Table { name: "datagrams", columns, every_s: None })
    }
}

/// Measures in the row of a stream that are not counts.
const FIGURES: [&str; 6] = [
    "loss_share",
    "delay_mean_s",
    "delay_p50_s",
    "jitter_mean_s",
    "share_in_time",
    "loss_distance_p50",
];

#[derive(Default)]
pub(crate) struct Together {
    sent: u64,
    lost: u64,
    /// One-way delays in ns, sorted.
    delays: Sample,
    /// Delays above the least of their stream, ns, sorted. None for a lone stream that keeps every
    /// delay: there a variation is computed as a delay less the least one.
    variations: Option<Sample>,
    jitter: (u64, u64),
    smoothed: f64,
    differences: Differences,
    distances: Distances,
    deadline: Duration,
}

impl Together {
    /// The measures of some streams together. Sorts the delays of each stream.
    fn figures(streams: &mut [&mut Stream], deadline: Duration) -> Summary {
        let mut all = Together { deadline, ..Together::default() };
        for stream in &mut *streams {
            stream.delays.sort();
            all.sent += stream.sent;
            all.lost += stream.lost;
            all.jitter.0 += stream.jitter.0;
            all.jitter.1 += stream.jitter.1;
            all.smoothed += stream.smoothed.1;
            all.differences.merge(&stream.differences);
            all.distances.merge(&stream.distances);
        }
        all.distances.sort();
        if let [stream] = streams {
            // The stream lends its samples, which may be large, so that they need no copy.
            all.delays = std::mem::take(&mut stream.delays);
            all.variations = all.delays.is_bounded().then(|| all.delays.above_least());
            let summary = all.summary();
            stream.delays = all.delays;
            return summary;
        }
        let mut variations = Sample::default();
        for stream in streams {
            all.delays.merge(&stream.delays);
            variations.merge(&stream.delays.above_least());
        }
        all.delays.sort_merged();
        variations.sort_merged();
        all.variations = Some(variations);
        all.summary()
    }

    /// Number of datagrams that arrived or were lost.
    fn settled(&self) -> f64 {
        (self.delays.count() + self.lost) as f64
    }

    fn delay_mean_s(&self) -> f64 {
        self.delays.sum() as f64 / 1e9 / self.delays.count() as f64
    }

    fn delay_s(&self, p: f64) -> f64 {
        quantile(&self.delays, p) / 1e9
    }

    fn variation_s(&self, p: f64) -> f64 {
        match &self.variations {
            Some(variations) => quantile(variations, p) / 1e9,
            // Delays are whole nanoseconds, so that their difference is exact.
            None => (quantile(&self.delays, p) - quantile(&self.delays, 0.0)) / 1e9,
        }
    }

    fn in_time(&self) -> f64 {
        self.delays.upto(self.deadline.nanos()) as f64
    }

    fn difference_s(&self, p: f64) -> f64 {
        if self.differences.count() == 0 { f64::NAN } else { self.differences.quantile_s(p) }
    }

    fn distance(&self, p: f64) -> f64 {
        match self.distances.count() {
            0 => f64::NAN,
            n => self.distances.ranked(rank(n, p)) as f64,
        }
    }

    fn summary(&self) -> Summary {
        let mut out = Summary::default();
        out.write(MEASURES, self);
        out
    }
}

/// A quantile of a sorted sample; NaN if it is empty.
fn quantile(sample: &Sample, p: f64) -> f64 {
    match sample.count() {
        0 => f64::NAN,
        n => sample.ranked(rank(n, p)) as f64,
    }
}

const DATAGRAMS: Unit = Unit::of("datagrams");
const DELAY: &str = "quantile of the one-way delay";
const VARIATION: &str = "quantile of the one-way delays above the least of their stream (PDV of RFC 5481 section 4.2); in \
    bounded runs of more than 4,096 arrivals within 0.2 % of the delay";

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Together>] = &[
    whole("sent", DATAGRAMS, "sent", |s| s.sent,
        "by all senders of a group; all of these only with senders of datagrams"),
    whole("received", DATAGRAMS, "received", |s| s.delays.count(), "of these"),
    whole("lost", DATAGRAMS, "datagrams lost", |s| s.lost,
        "of these; the rest is on its way when the run ends"),
    real("loss_share", SHARE.digits(2), "lost", |s| s.lost as f64 / s.settled(),
        "of those received or lost"),
    real("delay_mean_s", AS_MS, "delay, mean", Together::delay_mean_s,
        "one-way delay: half the round-trip time, links, queues"),
    real("delay_p5_s", AS_MS, "delay, 5 %", |s| s.delay_s(0.05), DELAY),
    real("delay_p25_s", AS_MS, "delay, 25 %", |s| s.delay_s(0.25), DELAY),
    real("delay_p50_s", AS_MS, "delay, median", |s| s.delay_s(0.50), DELAY),
    real("delay_p75_s", AS_MS, "delay, 75 %", |s| s.delay_s(0.75), DELAY),
    real("delay_p90_s", AS_MS, "delay, 90 %", |s| s.delay_s(0.90), DELAY),
    real("delay_p95_s", AS_MS, "delay, 95 %", |s| s.delay_s(0.95), DELAY),
    real("delay_p99_s", AS_MS, "delay, 99 %", |s| s.delay_s(0.99), DELAY),
    real("delay_p99_9_s", AS_MS, "delay, 99.9 %", |s| s.delay_s(0.999), DELAY),
    real("delay_max_s", AS_MS, "delay, longest", |s| s.delay_s(1.0), "longest one-way delay"),
    real("jitter_mean_s", AS_MS.digits(1), "jitter", |s| s.jitter.0 as f64 / 1e9 / s.jitter.1 as f64,
        "mean difference of the delays of consecutive arrivals (D of RFC 3550 section 6.4.1, not \
         smoothed)"),
    real("jitter_smoothed_mean_s", AS_MS.digits(1), "jitter, RFC 3550", |s| s.smoothed / 1e9 / s.jitter.1 as f64,
        "mean over the arrivals of the interarrival jitter J of RFC 3550 section 6.4.1: each difference moves it \
         by a sixteenth"),
    real("delay_difference_p99_s", AS_MS.digits(1), "delay difference, 99 %", |s| s.difference_s(0.99),
        "quantile of the differences of the delays of consecutive arrivals, without sign (IPDV of RFC 5481 \
         section 4.1), within 0.2 %"),
    real("delay_variation_p50_s", AS_MS.digits(1), "delay variation, median", |s| s.variation_s(0.50), VARIATION),
    real("delay_variation_p95_s", AS_MS.digits(1), "delay variation, 95 %", |s| s.variation_s(0.95), VARIATION),
    real("delay_variation_p99_s", AS_MS.digits(1), "delay variation, 99 %", |s| s.variation_s(0.99), VARIATION),
    real("delay_variation_p99_9_s", AS_MS.digits(1), "delay variation, 99.9 %", |s| s.variation_s(0.999), VARIATION),
    real("share_in_time", SHARE, "in time", |s| s.in_time() / s.settled(),
        "received within `record.deadline`, of those received or lost"),
    whole("loss_pairs", BARE, "losses with one before", |s| s.distances.count(),
        "losses but the first of each sender"),
    real("loss_distance_p50", DATAGRAMS, "loss distance, median", |s| s.distance(0.5),
        "median distance from one loss to the next; 1 if neighbours are lost"),
    real("share_neighbours_lost", SHARE, "neighbours lost",
        |s| s.distances.upto(1) as f64 / s.distances.count() as f64,
        "of `loss_pairs`, next to the loss before"),
];

#[cfg(test)]
mod tests;
