//! Response times and sizes of the requests of one traffic group, or of all groups.

use std::borrow::Cow;

use crate::Request;
use crate::measure::{AS_MS, Measure, PAYLOAD, SHARE, Unit, real, whole};
use crate::sample::Keep;
use crate::times::Times;

/// Requests and their replies in the measured interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    requested: u64,
    /// Payload bytes of the requested replies, answered or not.
    requested_bytes: u64,
    reply_bytes: u64,
    times: Times,
}

impl Answers {
    /// A recorder without requests.
    pub fn new(keep: Keep) -> Self {
        Answers { times: Times::new(keep), ..Answers::default() }
    }

    /// Counts a request for a reply of `reply_bytes` bytes.
    pub fn requested(&mut self, reply_bytes: u64) {
        self.requested += 1;
        self.requested_bytes += reply_bytes;
    }

    /// Adds a request that ended `took_ns` nanoseconds after it was made.
    pub fn ended(&mut self, request: &Request, took_ns: u64) {
        self.times.add(took_ns, request.failed);
        self.reply_bytes += u64::from(request.reply_bytes);
    }

    /// Response times of the requests.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// Sorts the samples; call it before reading any quantile.
    pub fn sort(&mut self) {
        self.times.sort();
    }

    /// The requests of several sorted groups together; copies nothing if only one group has sent
    /// any.
    pub fn together(groups: &[Answers]) -> Cow<'_, Answers> {
        let mut busy = groups.iter().filter(|g| g.requested > 0 || g.times.count() > 0);
        let Some(first) = busy.next() else { return Cow::Owned(Answers::default()) };
        let mut all = Cow::Borrowed(first);
        for more in busy {
            let all = all.to_mut();
            all.requested += more.requested;
            all.requested_bytes += more.requested_bytes;
            all.reply_bytes += more.reply_bytes;
            all.times.extend(&more.times);
        }
        if let Cow::Owned(all) = &mut all {
            all.sort();
        }
        all
    }

    /// Share of the responses that took more than `from` and at most `to` seconds.
    fn share_between(&self, from: u64, to: u64) -> f64 {
        (self.times.upto(to) - self.times.upto(from)) / self.times.count() as f64
    }

    /// Share of the responses that took more than `seconds` or failed.
    fn share_above(&self, seconds: u64) -> f64 {
        let n = self.times.count() as f64;
        (n - self.times.upto(seconds)) / n
    }
}

const REQUESTS: Unit = Unit::of("requests");
const RESPONSES: Unit = Unit::of("responses");

const fn quantile(
    name: &'static str,
    title: &'static str,
    read: fn(&Answers) -> f64,
) -> Measure<Answers> {
    let meaning = "quantile of all, failed ones taken as infinite: null where it falls among these, \
                   or without responses";
    real(name, AS_MS, title, read, meaning)
}

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<Answers>] = &[
    whole("requests", REQUESTS, "requests", |a: &Answers| a.requested,
        "made; a video segment is one as well (`by_group` separates web users' requests)").by_group(),
    whole("responses", RESPONSES, "responses", |a: &Answers| a.times.count(),
        "that ended, failed ones included").by_group(),
    whole("responses_failed", REQUESTS, "failed requests", |a: &Answers| a.times.failed(),
        "given up").by_group(),
    whole("requested_bytes", PAYLOAD, "bytes requested", |a: &Answers| a.requested_bytes,
        "of the replies that were requested in the measured interval, answered or not").by_group(),
    whole("response_bytes", PAYLOAD, "bytes answered", |a: &Answers| a.reply_bytes,
        "of the replies").by_group(),
    real("response_mean_s", AS_MS, "response time, mean", |a: &Answers| a.times.mean_s(),
        "mean response time of answered requests; null without any").by_group(),
    quantile("response_p10_s", "response time, 10 %", |a| a.times.percentile_s(10)),
    quantile("response_p20_s", "response time, 20 %", |a| a.times.percentile_s(20)),
    quantile("response_p25_s", "response time, 25 %", |a| a.times.percentile_s(25)),
    quantile("response_p30_s", "response time, 30 %", |a| a.times.percentile_s(30)),
    quantile("response_p40_s", "response time, 40 %", |a| a.times.percentile_s(40)),
    quantile("response_p50_s", "response time, median", |a| a.times.percentile_s(50)).by_group(),
    quantile("response_p60_s", "response time, 60 %", |a| a.times.percentile_s(60)),
    quantile("response_p70_s", "response time, 70 %", |a| a.times.percentile_s(70)),
    quantile("response_p75_s", "response time, 75 %", |a| a.times.percentile_s(75)),
    quantile("response_p80_s", "response time, 80 %", |a| a.times.percentile_s(80)),
    quantile("response_p90_s", "response time, 90 %", |a| a.times.percentile_s(90)).by_group(),
    quantile("response_p95_s", "response time, 95 %", |a| a.times.percentile_s(95)),
    quantile("response_p98_s", "response time, 98 %", |a| a.times.percentile_s(98)),
    quantile("response_p99_s", "response time, 99 %", |a| a.times.percentile_s(99)).by_group(),
    real("share_le_1s", SHARE, "up to 1 s", |a: &Answers| a.times.upto(1) / a.times.count() as f64,
        "of the responses up to 1 s; null without responses").by_group(),
    real("share_1_2s", SHARE, "1 to 2 s", |a| a.share_between(1, 2),
        "of the responses above 1 and up to 2 s; null without responses"),
    real("share_2_3s", SHARE, "2 to 3 s", |a| a.share_between(2, 3),
        "of the responses above 2 and up to 3 s; null without responses"),
    real("share_gt_3s", SHARE, "over 3 s", |a| a.share_above(3),
        "of the responses above 3 s or failed; null without responses"),
];
