//! The log of requests: when they were answered, how long they took, and what was retransmitted.

use std::ops::Range;

use packet::Instant;

use crate::answers::{self, Answers};
use crate::measure::{CONNECTIONS, Measure, Unit, whole};
use crate::response_histogram::ResponseHistogram;
use crate::sizes::Sizes;
use crate::times::Times;
use crate::{Column, Fingerprint, Keep, PerSecond, Summary, Table, WatchedResponses, Window};

/// The class of a connection by what it retransmitted. Each connection is in exactly one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// No segment was retransmitted.
    None = 0,
    /// Only SYNs or SYN-ACKs were retransmitted.
    Syn = 1,
    /// Only FINs without payload were retransmitted.
    Fin = 2,
    /// Only segments with payload were retransmitted.
    Data = 3,
    /// Segments of more than one kind were retransmitted.
    Combined = 4,
}

impl Class {
    /// The class of a connection that retransmitted `syn`, `fin` and `data` segments of each kind,
    /// both directions together.
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

/// One request that was answered or failed.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When the request was made: `connect()`, or the write on a connection already open.
    pub requested: Instant,
    /// When the last byte of the reply had arrived in order, or the connection was given up.
    pub ended: Instant,
    /// Payload of the request, bytes.
    pub request_bytes: u32,
    /// Payload of the reply, bytes.
    pub reply_bytes: u32,
    /// The user who sent it, numbered over all groups of the scenario.
    pub user: u32,
    /// Index of the user's group in the scenario.
    pub group: u16,
    /// Whether either end of the connection retransmitted something from `requested` to `ended`.
    pub retransmitted: bool,
    /// Whether the request was given up; it counts as "over 3 s", since no time is known.
    pub failed: bool,
}

#[derive(Clone, Debug, Default)]
struct Log {
    ended: Vec<u64>,
    duration: Vec<u64>,
    request_bytes: Vec<u32>,
    reply_bytes: Vec<u32>,
    user: Vec<u32>,
    group: Vec<u16>,
    class: Vec<u8>,
    failed: Vec<u8>,
}

/// Settings of the log of requests.
#[derive(Clone, Debug)]
pub struct RequestSettings {
    /// The measured interval.
    pub window: Window,
    /// Whether to keep a row of every request, or only statistics.
    pub log: bool,
    /// Name of each group of the scenario, in order; none if it sends no requests.
    pub groups: Vec<Option<String>>,
    /// Whether each group has a histogram of its own.
    pub by_group: bool,
    /// Whether all response times are kept, or a bounded number.
    pub keep: Keep,
    /// Whether responses are counted for an observer too: see [`Requests::watched`].
    pub watched: bool,
}

/// The log of all requests.
#[derive(Clone, Debug)]
pub struct Requests {
    window: Window,
    log: Option<Log>,
    /// Answers by group; the names of the groups are in `names`.
    answers: Vec<Answers>,
    names: Vec<Option<String>>,
    by_group: bool,
    watched: Option<Box<WatchedResponses>>,
    requested: PerSecond,
    requested_bytes: PerSecond,
    answered: PerSecond,
    answered_ns: PerSecond,
    /// Number of connections that have ended, by class.
    connections: [u64; 5],
    /// Number of requests without an answer at the end of the run.
    open: u64,
    sizes: Sizes,
    fingerprint: Fingerprint,
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Requests>] = &[
    whole("requests_open_at_end", Unit::of("requests"), "unanswered requests", |r| r.open,
        "without an answer when the run ended"),
    whole("connections", CONNECTIONS, "connections", |r| r.connections.iter().sum(), "that ended"),
];

#[rustfmt::skip]
pub(crate) static CLASSES: &[Measure<Requests>] = &[
    whole("none", CONNECTIONS, "connections without retransmission", |r| r.of(Class::None),
        "of these, those that retransmitted nothing (see `class` of `responses`)"),
    whole("syn", CONNECTIONS, "connections with a SYN retransmitted", |r| r.of(Class::Syn),
        "that retransmitted only SYN or SYN-ACK"),
    whole("fin", CONNECTIONS, "connections with a FIN retransmitted", |r| r.of(Class::Fin),
        "that retransmitted only bare FINs"),
    whole("data", CONNECTIONS, "connections with data retransmitted", |r| r.of(Class::Data),
        "that retransmitted only segments with payload"),
    whole("combined", CONNECTIONS, "connections with several retransmitted", |r| r.of(Class::Combined),
        "that retransmitted more than one kind"),
];

impl Requests {
    fn of(&self, class: Class) -> u64 {
        self.connections[class as usize]
    }

    /// An empty log.
    pub fn new(settings: RequestSettings) -> Self {
        Requests {
            window: settings.window,
            log: settings.log.then(Log::default),
            answers: vec![Answers::new(settings.keep); settings.groups.len()],
            names: settings.groups,
            by_group: settings.by_group,
            watched: settings.watched.then(Box::default),
            requested: PerSecond::default(),
            requested_bytes: PerSecond::default(),
            answered: PerSecond::default(),
            answered_ns: PerSecond::default(),
            connections: [0; 5],
            open: 0,
            sizes: Sizes::default(),
            fingerprint: Fingerprint::default(),
        }
    }

    /// Counts a request for `reply_bytes` bytes by a user of `group`.
    pub fn requested(&mut self, now: Instant, group: u16, reply_bytes: u64) {
        self.requested.add(now, 1);
        self.requested_bytes.add(now, reply_bytes);
        if self.window.contains(now) {
            self.answers[usize::from(group)].requested(reply_bytes);
        }
    }

    /// Adds a request that has ended. Returns its row for [`Requests::classify`].
    pub fn ended(&mut self, request: Request) -> u32 {
        let took = request.ended.since(request.requested).nanos();
        let word = request.ended.nanos() ^ (took << 20) ^ u64::from(request.user);
        self.fingerprint.add(word);
        if !request.failed {
            self.answered.add(request.ended, 1);
            self.answered_ns.add(request.ended, took);
        }
        if self.window.contains(request.ended) {
            self.answers[usize::from(request.group)].ended(&request, took);
            if let Some(watched) = &mut self.watched {
                watched.add(took, request.failed);
            }
            if !request.failed {
                self.sizes.answered(&request, took);
            }
        }
        let Some(log) = &mut self.log else { return 0 };
        log.ended.push(request.ended.nanos());
        log.duration.push(took);
        log.request_bytes.push(request.request_bytes);
        log.reply_bytes.push(request.reply_bytes);
        log.user.push(request.user);
        log.group.push(request.group);
        log.class.push(Class::None as u8);
        log.failed.push(u8::from(request.failed));
        u32::try_from(log.ended.len() - 1).expect("fewer than 2^32 requests")
    }

    /// Sets the retransmission class of a row, which is known only when the connection has ended.
    pub fn classify(&mut self, row: u32, class: Class) {
        if let Some(log) = &mut self.log {
            log.class[row as usize] = class as u8;
        }
    }

    /// Counts a connection that ended at `now`.
    pub fn connection(&mut self, now: Instant, class: Class) {
        if self.window.contains(now) {
            self.connections[class as usize] += 1;
        }
    }

    /// Response times of the measured interval so far, if the run is observed.
    pub fn watched(&self) -> Option<&WatchedResponses> {
        self.watched.as_deref()
    }

    /// A hash over every request's end, duration and user, in order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }

    /// Writes the measures of the measured interval; `open` requests had no answer at the end.
    pub fn summarise(&mut self, open: u64, out: &mut Summary) {
        self.answers.iter_mut().for_each(Answers::sort);
        self.open = open;
        out.write(answers::MEASURES, Answers::together(&self.answers).as_ref());
        out.write(MEASURES, self);
        let mut classes = Summary::default();
        classes.write(CLASSES, self);
        out.group("retransmission_classes", classes);
        if self.names.iter().flatten().count() > 1 {
            out.group("by_group", self.group_figures());
        }
    }

    /// The measures of each group that sends requests.
    fn group_figures(&self) -> Summary {
        let mut groups = Summary::default();
        for (name, answers) in self.names.iter().zip(&self.answers) {
            let Some(name) = name else { continue };
            let mut group = Summary::default();
            group.write_group(answers::MEASURES, answers);
            groups.group(name, group);
        }
        groups
    }

    /// Response times of the measured interval as a histogram: 1 ms bins up to 3 s, then bins 1 %
    /// wide; the last bin (upper edge infinite) holds the failed requests. `by_group` adds one such
    /// block for each group that sends requests.
    pub fn histogram(&self) -> Table {
        let mut table = ResponseHistogram::default();
        if self.by_group {
            let requesting = self.names.iter().zip(&self.answers).enumerate();
            for (i, (_, answers)) in requesting.filter(|(_, (name, _))| name.is_some()) {
                table.block(i as u16, &[answers.times()]);
            }
        } else {
            let all: Vec<&Times> = self.answers.iter().map(Answers::times).collect();
            table.block(0, &all);
        }
        table.into_table(self.by_group)
    }

    /// A table of the answered requests of the measured interval by the size of the reply.
    pub fn by_size(&self) -> Table {
        self.sizes.table()
    }

    /// Columns of these seconds of the run: requests, bytes requested, responses, and the mean
    /// response time of those that ended in the second (0 if none did).
    pub fn per_second(&self, seconds: Range<usize>) -> Vec<(String, Column)> {
        let answered = self.answered.rows(seconds.clone());
        let means = self.answered_ns.rows(seconds.clone()).into_iter().zip(&answered);
        let means = means.map(|(ns, &n)| if n == 0 { 0.0 } else { ns as f64 / 1e9 / n as f64 });
        vec![
            ("requests".into(), Column::U64(self.requested.rows(seconds.clone()))),
            ("requested_bytes".into(), Column::U64(self.requested_bytes.rows(seconds))),
            ("response_mean_s".into(), Column::F64(means.collect())),
            ("responses".into(), Column::U64(answered)),
        ]
    }

    /// Discards the series of the seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        let all = [&mut self.requested, &mut self.requested_bytes, &mut self.answered];
        all.into_iter().chain([&mut self.answered_ns]).for_each(|s| s.forget_before(second));
    }

    /// The log of every request of the whole run, if it was kept.
    pub fn into_log(self) -> Option<Table> {
        let log = self.log?;
        let columns: [(&str, Column); 8] = [
            ("end_ns", Column::U64(log.ended)),
            ("duration_ns", Column::U64(log.duration)),
            ("request_bytes", Column::U32(log.request_bytes)),
            ("reply_bytes", Column::U32(log.reply_bytes)),
            ("user", Column::U32(log.user)),
            ("group", Column::U16(log.group)),
            ("class", Column::U8(log.class)),
            ("failed", Column::U8(log.failed)),
        ];
        let columns = columns.into_iter().map(|(n, c)| (n.to_owned(), c)).collect();
        Some(Table { name: "responses", columns, every_s: None })
    }
}

#[cfg(test)]
mod tests;
