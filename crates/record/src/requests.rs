//! Every request: when it was answered, how long it took, what was resent for it.

use packet::Instant;

use crate::{Column, Fingerprint, PerSecond, Summary, Table, Window, quantile};

/// What a connection had to send again. Exclusive: a connection is in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Nothing.
    None = 0,
    /// Only SYN or SYN-ACK.
    Syn = 1,
    /// Only bare FINs.
    Fin = 2,
    /// Only segments with payload.
    Data = 3,
    /// More than one kind.
    Combined = 4,
}

impl Class {
    const NAMES: [&'static str; 5] = ["none", "syn", "fin", "data", "combined"];

    /// The class of a connection that resent so many of each kind, both directions together.
    pub fn of(syn: u32, fin: u32, data: u32) -> Class {
        match (syn > 0, fin > 0, data > 0) {
            (false, false, false) => Class::None,
            (true, false, false) => Class::Syn,
            (false, true, false) => Class::Fin,
            (false, false, true) => Class::Data,
            _ => Class::Combined,
        }
    }
}

/// One answered (or failed) request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When its clock started: `connect()`, or the write on a connection already open.
    pub asked: Instant,
    /// When the last byte of the reply had arrived in order, or the connection was given up.
    pub ended: Instant,
    /// Request payload.
    pub request_bytes: u32,
    /// Reply payload.
    pub reply_bytes: u32,
    /// Who asked, numbered over all groups of the scenario.
    pub user: u32,
    /// Given up: counts as "over 3 s" (no other value is known).
    pub failed: bool,
}

#[derive(Clone, Debug, Default)]
struct Log {
    ended: Vec<u64>,
    duration: Vec<u64>,
    request_bytes: Vec<u32>,
    reply_bytes: Vec<u32>,
    user: Vec<u32>,
    class: Vec<u8>,
    failed: Vec<u8>,
}

/// Answers of similar size.
#[derive(Clone, Copy, Debug, Default)]
struct SizeBin {
    responses: u64,
    bytes: u64,
    took_ns: u64,
}

/// The log of all requests.
#[derive(Clone, Debug)]
pub struct Requests {
    window: Window,
    log: Option<Log>,
    /// Response times of the measured interval in ns; failed ones as the largest number.
    durations: Vec<u64>,
    failed: u64,
    reply_bytes: u64,
    asked: PerSecond,
    asked_bytes: PerSecond,
    answered: PerSecond,
    answered_ns: PerSecond,
    connections: [u64; 5],
    /// Answers by the binary logarithm of their size, rounded up.
    sizes: [SizeBin; 33],
    measured_asked: u64,
    fingerprint: Fingerprint,
}

const FAILED: u64 = u64::MAX;

impl Requests {
    /// An empty log; `keep` keeps a row of every request, else only their statistics.
    pub fn new(window: Window, keep: bool) -> Self {
        Requests {
            window,
            log: keep.then(Log::default),
            durations: Vec::new(),
            failed: 0,
            reply_bytes: 0,
            asked: PerSecond::default(),
            asked_bytes: PerSecond::default(),
            answered: PerSecond::default(),
            answered_ns: PerSecond::default(),
            connections: [0; 5],
            sizes: [SizeBin::default(); 33],
            measured_asked: 0,
            fingerprint: Fingerprint::default(),
        }
    }

    /// A request for `reply_bytes` is made.
    pub fn asked(&mut self, now: Instant, reply_bytes: u64) {
        self.asked.add(now, 1);
        self.asked_bytes.add(now, reply_bytes);
        self.measured_asked += u64::from(self.window.contains(now));
    }

    /// A request has ended. Returns its row for [`Requests::classify`].
    pub fn ended(&mut self, request: Request) -> u32 {
        let took = request.ended.since(request.asked).nanos();
        let word = request.ended.nanos() ^ (took << 20) ^ u64::from(request.user);
        self.fingerprint.add(word);
        if !request.failed {
            self.answered.add(request.ended, 1);
            self.answered_ns.add(request.ended, took);
        }
        if self.window.contains(request.ended) {
            self.durations.push(if request.failed { FAILED } else { took });
            self.failed += u64::from(request.failed);
            self.reply_bytes += u64::from(request.reply_bytes);
            if !request.failed {
                let bin = &mut self.sizes[bin_of(request.reply_bytes)];
                bin.responses += 1;
                bin.bytes += u64::from(request.reply_bytes);
                bin.took_ns += took;
            }
        }
        let Some(log) = &mut self.log else { return 0 };
        log.ended.push(request.ended.nanos());
        log.duration.push(took);
        log.request_bytes.push(request.request_bytes);
        log.reply_bytes.push(request.reply_bytes);
        log.user.push(request.user);
        log.class.push(Class::None as u8);
        log.failed.push(u8::from(request.failed));
        (log.ended.len() - 1) as u32
    }

    /// Sets the retransmission class of a row: known only when the connection has ended.
    pub fn classify(&mut self, row: u32, class: Class) {
        if let Some(log) = &mut self.log {
            log.class[row as usize] = class as u8;
        }
    }

    /// A connection has ended at `now`.
    pub fn connection(&mut self, now: Instant, class: Class) {
        if self.window.contains(now) {
            self.connections[class as usize] += 1;
        }
    }

    /// A hash over every request's end, duration and user, in order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }

    /// The figures of the measured interval; `open` requests had no answer at the end.
    pub fn summarise(&mut self, open: u64, out: &mut Summary) {
        self.durations.sort_unstable();
        let sorted = &self.durations;
        out.whole("requests", self.measured_asked);
        out.whole("responses", sorted.len() as u64);
        out.whole("responses_failed", self.failed);
        out.whole("requests_open_at_end", open);
        out.whole("response_bytes", self.reply_bytes);
        // Without any response these are not numbers (null in JSON), but they are there.
        let n = sorted.len() as f64;
        let answered = &sorted[..sorted.len() - self.failed as usize];
        let sum: u128 = answered.iter().map(|&d| u128::from(d)).sum();
        out.real("response_mean_s", sum as f64 / 1e9 / answered.len() as f64);
        for p in [10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 98, 99] {
            out.real(&format!("response_p{p}_s"), response_quantile(sorted, f64::from(p) / 100.0));
        }
        let upto = |s: u64| sorted.partition_point(|&d| d <= s * 1_000_000_000) as f64;
        out.real("share_le_1s", upto(1) / n);
        out.real("share_1_2s", (upto(2) - upto(1)) / n);
        out.real("share_2_3s", (upto(3) - upto(2)) / n);
        out.real("share_gt_3s", (n - upto(3)) / n);
        out.whole("connections", self.connections.iter().sum());
        let mut classes = Summary::default();
        for (name, count) in Class::NAMES.iter().zip(self.connections) {
            classes.whole(name, count);
        }
        out.group("retransmission_classes", classes);
    }

    /// Response times of the measured interval as a histogram: 1 ms bins up to 3 s, then bins
    /// 1 % wide; the last bin (upper edge infinite) holds the failed requests.
    pub fn histogram(&self) -> Table {
        let mut edges: Vec<f64> = (1..=3_000).map(f64::from).collect();
        let longest = self.durations.iter().filter(|&&d| d != FAILED).max().copied().unwrap_or(0);
        while edges[edges.len() - 1] < longest as f64 / 1e6 {
            edges.push(edges[edges.len() - 1] * 1.01);
        }
        let mut counts = vec![0u64; edges.len() + 1];
        for &d in &self.durations {
            let ms = if d == FAILED { f64::INFINITY } else { d as f64 / 1e6 };
            counts[edges.partition_point(|&edge| edge < ms)] += 1;
        }
        edges.push(f64::INFINITY);
        Table {
            name: "response_histogram",
            columns: vec![
                ("upper_ms".into(), Column::F64(edges)),
                ("count".into(), Column::U64(counts)),
            ],
            every_s: None,
        }
    }

    /// Answered requests of the measured interval by size: each row holds the sizes above the one
    /// before and up to its own, which doubles from row to row. The mean time of none is 0.
    pub fn by_size(&self) -> Table {
        let last = self.sizes.iter().rposition(|bin| bin.responses > 0).map_or(0, |i| i + 1);
        let bins = &self.sizes[..last];
        let column = |of: fn(&SizeBin) -> u64| Column::U64(bins.iter().map(of).collect());
        let mean = |b: &SizeBin| b.took_ns as f64 / 1e9 / b.responses.max(1) as f64;
        Table {
            name: "response_sizes",
            columns: vec![
                ("upto_bytes".into(), Column::U64((0..last).map(|i| 1 << i).collect())),
                ("responses".into(), column(|b| b.responses)),
                ("bytes".into(), column(|b| b.bytes)),
                ("mean_s".into(), Column::F64(bins.iter().map(mean).collect())),
            ],
            every_s: None,
        }
    }

    /// Per-second columns of the whole run: requests, bytes asked for, responses, and the mean
    /// response time of those that ended in the second (0 without any).
    pub fn per_second(&self, seconds: usize) -> Vec<(String, Column)> {
        let answered = self.answered.rows(seconds);
        let means = self.answered_ns.rows(seconds).into_iter().zip(&answered);
        let means = means.map(|(ns, &n)| if n == 0 { 0.0 } else { ns as f64 / 1e9 / n as f64 });
        vec![
            ("requests".into(), Column::U64(self.asked.rows(seconds))),
            ("requested_bytes".into(), Column::U64(self.asked_bytes.rows(seconds))),
            ("response_mean_s".into(), Column::F64(means.collect())),
            ("responses".into(), Column::U64(answered)),
        ]
    }

    /// The log of every request of the whole run, if it was kept.
    pub fn into_log(self) -> Option<Table> {
        let log = self.log?;
        let columns: [(&str, Column); 7] = [
            ("end_ns", Column::U64(log.ended)),
            ("duration_ns", Column::U64(log.duration)),
            ("request_bytes", Column::U32(log.request_bytes)),
            ("reply_bytes", Column::U32(log.reply_bytes)),
            ("user", Column::U32(log.user)),
            ("class", Column::U8(log.class)),
            ("failed", Column::U8(log.failed)),
        ];
        let columns = columns.into_iter().map(|(n, c)| (n.to_owned(), c)).collect();
        Some(Table { name: "responses", columns, every_s: None })
    }
}

/// The bin of a size: i holds the sizes above 2^(i-1) and up to 2^i.
fn bin_of(bytes: u32) -> usize {
    u64::from(bytes.max(1)).next_power_of_two().trailing_zeros() as usize
}

/// A quantile in seconds: not a number without responses, infinite where requests failed, because
/// those have no response time.
fn response_quantile(sorted: &[u64], p: f64) -> f64 {
    match sorted {
        [] => f64::NAN,
        _ => match quantile(sorted, p) {
            FAILED => f64::INFINITY,
            ns => ns as f64 / 1e9,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_bins_that_double() {
        assert_eq!([0, 1, 2, 3, 4, 5, 1 << 31, u32::MAX].map(bin_of), [0, 0, 1, 2, 2, 3, 31, 32]);
        let mut log = Requests::new(Window { from: at(0), to: at(10_000) }, false);
        log.ended(request(0, 500, false)); // 1,000 B
        log.ended(request(0, 1_500, false));
        log.ended(request(0, 1_500, true)); // not an answer
        let table = log.by_size();
        let column = |name: &str| table.columns.iter().find(|(n, _)| n == name).unwrap().1.clone();
        let Column::U64(responses) = column("responses") else { panic!() };
        assert_eq!((responses.len(), responses[10]), (11, 2));
        let Column::F64(means) = column("mean_s") else { panic!() };
        assert_eq!(means[10], 1.0);
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn request(asked: u64, ended: u64, failed: bool) -> Request {
        let (asked, ended) = (at(asked), at(ended));
        Request { asked, ended, request_bytes: 300, reply_bytes: 1_000, user: 1, failed }
    }

    #[test]
    fn shares_count_failed_requests_as_slow_and_skip_the_warm_up() {
        let mut log = Requests::new(Window { from: at(1_000), to: at(10_000) }, true);
        log.ended(request(0, 500, false));
        let first = log.ended(request(500, 1_500, false));
        log.ended(request(1_000, 2_001, false));
        log.ended(request(1_000, 4_000, false));
        log.ended(request(1_000, 9_000, true));
        log.classify(first, Class::of(1, 0, 0));
        log.connection(at(2_000), Class::of(1, 0, 2));
        let mut s = Summary::default();
        log.summarise(3, &mut s);
        assert_eq!(s.number("responses"), 4.0);
        let shares = ["share_le_1s", "share_1_2s", "share_2_3s", "share_gt_3s"];
        assert_eq!(shares.map(|n| s.number(n)), [0.25, 0.25, 0.25, 0.25]);
        assert_eq!(s.number("response_p50_s"), 1.001);
        assert_eq!(s.number("response_p99_s"), f64::INFINITY);
        let Some(crate::Figure::Group(classes)) = s.get("retransmission_classes") else { panic!() };
        assert_eq!(classes.number("combined"), 1.0);
        let histogram = log.histogram();
        let Column::U64(counts) = &histogram.columns[1].1 else { panic!() };
        assert_eq!((counts[999], counts[1_000], counts[2_999]), (1, 1, 1));
        assert_eq!((counts.iter().sum::<u64>(), *counts.last().unwrap()), (4, 1));
        let rows = log.into_log().unwrap();
        assert_eq!(rows.columns[5].1, Column::U8(vec![0, 1, 0, 0, 0]));
    }
}
