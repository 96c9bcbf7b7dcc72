//! The upstream scheduler of the CMTS for one modem: requests, the contract's token bucket, and the
//! room in an interval.

use packet::{Instant, Rate, Rng};

use super::DocsisSettings;

/// The state of the CMTS scheduler.
pub(super) struct Scheduler {
    /// Bytes requested and not granted, by flow.
    requested: Vec<u64>,
    /// Whether the next MAP is planned.
    pub planned: bool,
    rate: Rate,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Scheduler {
    pub fn new(settings: &DocsisSettings, flows: usize) -> Self {
        let burst = settings.burst as f64;
        Scheduler {
            requested: vec![0; flows],
            planned: false,
            rate: settings.rate,
            burst,
            tokens: burst,
            at: Instant::ZERO,
        }
    }

    pub fn request(&mut self, flow: usize, bytes: u64) {
        self.requested[flow] += bytes;
    }

    /// Whether anything is to be granted.
    pub fn wants(&self) -> bool {
        self.requested.iter().any(|&bytes| bytes > 0)
    }

    fn refill(&mut self, now: Instant) {
        let gained = now.since(self.at).secs_f64() * self.rate.bytes_per_s();
        (self.tokens, self.at) = ((self.tokens + gained).min(self.burst), self.at.max(now));
    }

    /// Returns the tokens of bytes that were granted and not used.
    pub fn put_back(&mut self, bytes: u64) {
        self.tokens = (self.tokens + bytes as f64).min(self.burst);
    }

    /// Takes the tokens for a grant without a request. Returns the number of bytes granted.
    pub fn take_guaranteed(&mut self, bytes: u64, at: Instant) -> u64 {
        self.refill(at);
        let granted = bytes.min(self.tokens.max(0.0) as u64);
        self.tokens -= granted as f64;
        granted
    }

    /// The grants of an interval whose MAP is made now, by flow. The last flow is the one of low latency, which gets its
    /// weight first, as far as it has requested it.
    pub fn map(&mut self, now: Instant, settings: &DocsisSettings, rng: &mut Rng) -> Vec<u64> {
        self.refill(now);
        let (free, varies) = settings.free;
        let share = if varies > 0.0 {
            (free * (1.0 + varies * (2.0 * rng.uniform() - 1.0))).clamp(0.0, 1.0)
        } else {
            free
        };
        let headers = settings.headers.1 * self.requested.len() as u64;
        let room = settings.channel.bytes_per_s() * settings.interval.secs_f64() * share;
        let room = room - headers as f64;
        let most = self.tokens.max(0.0).min(room) as u64;
        let wanted: u64 = self.requested.iter().sum();
        let total = most.min(wanted);
        let mut grants = vec![0; self.requested.len()];
        let (classic, low) = match self.requested[..] {
            [classic, low] => (classic, low),
            [classic] => (classic, 0),
            _ => unreachable!("a modem has one service flow or two"),
        };
        let weighted = (settings.weight * total as f64) as u64;
        let of_low = low.min(weighted.max(total.saturating_sub(classic)));
        grants[0] = total - of_low;
        if let Some(last) = grants.get_mut(1) {
            *last = of_low;
        }
        for (flow, granted) in grants.iter().enumerate() {
            self.requested[flow] -= granted;
        }
        self.tokens -= total as f64;
        grants
    }
}
