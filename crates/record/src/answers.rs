//! How long the requests of one group of users took, or those of all.

use std::borrow::Cow;

use crate::{Request, Summary, quantile};

/// The duration of a request that failed: longer than any other.
pub(crate) const FAILED: u64 = u64::MAX;

/// What was asked and answered in the measured interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    asked: u64,
    failed: u64,
    reply_bytes: u64,
    /// Response times in ns; failed ones as [`FAILED`].
    durations: Vec<u64>,
}

impl Answers {
    /// A request is made.
    pub fn asked(&mut self) {
        self.asked += 1;
    }

    /// A request has ended after `took_ns`.
    pub fn ended(&mut self, request: &Request, took_ns: u64) {
        self.durations.push(if request.failed { FAILED } else { took_ns });
        self.failed += u64::from(request.failed);
        self.reply_bytes += u64::from(request.reply_bytes);
    }

    /// Response times, in ascending order after [`Answers::sort`].
    pub fn durations(&self) -> &[u64] {
        &self.durations
    }

    /// To be called before any figure is asked for.
    pub fn sort(&mut self) {
        self.durations.sort_unstable();
    }

    /// Several sorted groups as one; copies nothing if only one of them has asked for anything.
    pub fn together(groups: &[Answers]) -> Cow<'_, Answers> {
        let mut busy = groups.iter().filter(|g| g.asked > 0 || !g.durations.is_empty());
        let Some(first) = busy.next() else { return Cow::Owned(Answers::default()) };
        let mut all = Cow::Borrowed(first);
        for more in busy {
            let all = all.to_mut();
            all.asked += more.asked;
            all.failed += more.failed;
            all.reply_bytes += more.reply_bytes;
            all.durations.extend(&more.durations);
        }
        if let Cow::Owned(all) = &mut all {
            all.sort();
        }
        all
    }

    /// Counts of requests and of what became of them.
    pub fn count(&self, out: &mut Summary) {
        out.whole("requests", self.asked);
        out.whole("responses", self.durations.len() as u64);
        out.whole("responses_failed", self.failed);
    }

    /// Payload of the replies.
    pub fn bytes(&self, out: &mut Summary) {
        out.whole("response_bytes", self.reply_bytes);
    }

    /// Mean of the answered requests, and quantiles (in percent) of all. Without any response
    /// these are not numbers (null in JSON), but they are there.
    pub fn times(&self, percents: &[u32], out: &mut Summary) {
        let answered = &self.durations[..self.durations.len() - self.failed as usize];
        let sum: u128 = answered.iter().map(|&d| u128::from(d)).sum();
        out.real("response_mean_s", sum as f64 / 1e9 / answered.len() as f64);
        for &p in percents {
            out.real(&format!("response_p{p}_s"), self.quantile(f64::from(p) / 100.0));
        }
    }

    /// Share of the responses that took at most `seconds`; not a number without any.
    pub fn share_upto(&self, seconds: u64) -> f64 {
        self.upto(seconds) / self.durations.len() as f64
    }

    /// Share of the responses that took more than `from` and at most `to` seconds.
    pub fn share_between(&self, from: u64, to: u64) -> f64 {
        (self.upto(to) - self.upto(from)) / self.durations.len() as f64
    }

    /// Share of the responses that took more than `seconds` or failed.
    pub fn share_above(&self, seconds: u64) -> f64 {
        let n = self.durations.len() as f64;
        (n - self.upto(seconds)) / n
    }

    fn upto(&self, seconds: u64) -> f64 {
        self.durations.partition_point(|&d| d <= seconds * 1_000_000_000) as f64
    }

    /// A quantile in seconds: not a number without responses, infinite where requests failed,
    /// because those have no response time.
    fn quantile(&self, p: f64) -> f64 {
        match self.durations.as_slice() {
            [] => f64::NAN,
            sorted => match quantile(sorted, p) {
                FAILED => f64::INFINITY,
                ns => ns as f64 / 1e9,
            },
        }
    }
}
