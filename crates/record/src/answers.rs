//! How long the requests of one group of users took, or those of all.

use std::borrow::Cow;

use crate::times::Times;
use crate::{Request, Summary};

/// What was asked and answered in the measured interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    asked: u64,
    /// Payload of the replies that were asked for, answered or not.
    asked_bytes: u64,
    reply_bytes: u64,
    times: Times,
}

impl Answers {
    /// A request for a reply of so many bytes is made.
    pub fn asked(&mut self, reply_bytes: u64) {
        self.asked += 1;
        self.asked_bytes += reply_bytes;
    }

    /// A request has ended after `took_ns`.
    pub fn ended(&mut self, request: &Request, took_ns: u64) {
        self.times.add(took_ns, request.failed);
        self.reply_bytes += u64::from(request.reply_bytes);
    }

    /// Response times in ns, in ascending order after [`Answers::sort`].
    pub fn durations(&self) -> &[u64] {
        self.times.ns()
    }

    /// To be called before any figure is asked for.
    pub fn sort(&mut self) {
        self.times.sort();
    }

    /// Several sorted groups as one; copies nothing if only one of them has asked for anything.
    pub fn together(groups: &[Answers]) -> Cow<'_, Answers> {
        let mut busy = groups.iter().filter(|g| g.asked > 0 || g.times.count() > 0);
        let Some(first) = busy.next() else { return Cow::Owned(Answers::default()) };
        let mut all = Cow::Borrowed(first);
        for more in busy {
            let all = all.to_mut();
            all.asked += more.asked;
            all.asked_bytes += more.asked_bytes;
            all.reply_bytes += more.reply_bytes;
            all.times.extend(&more.times);
        }
        if let Cow::Owned(all) = &mut all {
            all.sort();
        }
        all
    }

    /// Counts of requests and of what became of them.
    pub fn count(&self, out: &mut Summary) {
        out.whole("requests", self.asked);
        out.whole("responses", self.times.count());
        out.whole("responses_failed", self.times.failed());
    }

    /// Payload of the replies: those that were asked for, and those that came.
    pub fn bytes(&self, out: &mut Summary) {
        out.whole("requested_bytes", self.asked_bytes);
        out.whole("response_bytes", self.reply_bytes);
    }

    /// Mean of the answered requests, and quantiles (in percent) of all. Without any response
    /// these are not numbers (null in JSON), but they are there.
    pub fn times(&self, percents: &[u32], out: &mut Summary) {
        out.real("response_mean_s", self.times.mean_s());
        for &p in percents {
            out.real(&format!("response_p{p}_s"), self.times.quantile_s(f64::from(p) / 100.0));
        }
    }

    /// Share of the responses that took at most `seconds`; not a number without any.
    pub fn share_upto(&self, seconds: u64) -> f64 {
        self.times.upto(seconds) / self.times.count() as f64
    }

    /// Share of the responses that took more than `from` and at most `to` seconds.
    pub fn share_between(&self, from: u64, to: u64) -> f64 {
        (self.times.upto(to) - self.times.upto(from)) / self.times.count() as f64
    }

    /// Share of the responses that took more than `seconds` or failed.
    pub fn share_above(&self, seconds: u64) -> f64 {
        let n = self.times.count() as f64;
        (n - self.times.upto(seconds)) / n
    }
}
