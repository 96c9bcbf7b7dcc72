//! The low-latency queue's own marks: an estimate of its delay, and a ramp to a probability.

use packet::Instant;

/// Largest frame in bytes: the ramp begins no earlier than the time of two, and the buffer keeps
/// room for one.
pub(super) const MOST_FRAME: u64 = 2_000;
/// Time between alignments of the virtual queue, in seconds.
const ALIGN: f64 = 0.5e-3;
/// Weight of a sample in the average length of the real queue.
const WEIGHT: f64 = 1.0 / 128.0;

/// A ramp from a delay to a marking probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    /// Delay up to which nothing is marked, in seconds.
    pub start: f64,
    /// Delay from which on all packets are marked, in seconds.
    pub full: f64,
}

impl Ramp {
    pub fn new(max_th: f64, range: f64, bytes_per_s: f64) -> Self {
        let floor = (2 * MOST_FRAME) as f64 / bytes_per_s;
        let start = (max_th - range).max(floor.min(0.065535));
        Ramp { start, full: start + range }
    }

    pub fn of(&self, delay: f64) -> f64 {
        if delay >= self.full {
            1.0
        } else {
            ((delay - self.start) / (self.full - self.start)).max(0.0)
        }
    }
}

/// State of the low-latency queue's own marks.
#[derive(Clone, Debug)]
pub(super) struct Low {
    pub ramp: Ramp,
    bytes_per_s: f64,
    limit_bytes: u64,
    /// With a virtual queue: the part of the real queue's delay that is a wait for grants, in
    /// seconds.
    loop_delay: Option<f64>,
    /// Delay estimated at the last arrival, in seconds.
    pub delay: f64,
    at: Instant,
    /// Average length of the real queue, in bytes.
    average: f64,
    /// Time for which the average was not updated, in seconds.
    behind: f64,
    sum: f64,
}

impl Low {
    /// An idle queue. With `loop_delay` its delay is that of a virtual queue, otherwise that of the
    /// bytes that wait.
    pub fn new(ramp: Ramp, bytes_per_s: f64, limit_bytes: u64, loop_delay: Option<f64>) -> Self {
        let (delay, at, average) = (0.0, Instant::ZERO, 0.0);
        Low {
            ramp,
            bytes_per_s,
            limit_bytes,
            loop_delay,
            delay,
            at,
            average,
            behind: 0.0,
            sum: 0.0,
        }
    }

    /// Delay that an arrival finds, its own bytes included, in seconds.
    pub fn arrival(&mut self, bytes: u32, waits: u64, now: Instant) -> f64 {
        let own = f64::from(bytes) / self.bytes_per_s;
        match self.loop_delay {
            None => self.delay = waits as f64 / self.bytes_per_s + own,
            Some(loop_delay) => {
                let passed = now.since(self.at).secs_f64();
                self.delay = (self.delay - passed).max(0.0);
                self.align(waits, passed, loop_delay);
                self.delay += own;
            }
        }
        self.at = now;
        self.delay
    }

    /// Aligns the virtual queue: it is at least as long as the real one without what waits for
    /// grants.
    fn align(&mut self, waits: u64, passed: f64, loop_delay: f64) {
        self.behind += passed;
        while self.behind >= ALIGN {
            self.behind -= ALIGN;
            let before = self.average;
            self.average += WEIGHT * (waits as f64 - self.average);
            if (self.average - before).abs() < 1.0 {
                self.behind = 0.0;
            }
        }
        self.delay = self.delay.max(self.average / self.bytes_per_s - loop_delay);
    }

    /// Takes back a packet whose delay was estimated, but that is not queued here.
    pub fn was_not_queued(&mut self, bytes: u32) {
        if self.loop_delay.is_some() {
            self.delay = (self.delay - f64::from(bytes) / self.bytes_per_s).max(0.0);
        }
    }

    /// Whether the buffer has room for the arrival.
    pub fn has_room(&self, waits: u64, bytes: u32) -> bool {
        let most = self.limit_bytes.saturating_sub(MOST_FRAME);
        let fits = waits + u64::from(bytes) <= self.limit_bytes;
        fits && match self.loop_delay {
            Some(_) => self.delay < most as f64 / self.bytes_per_s,
            None => waits < most,
        }
    }

    /// Adds `p` to the sum of probabilities since the last mark. Returns whether a mark is due.
    pub fn recur(&mut self, p: f64) -> bool {
        self.sum += p;
        let due = self.sum > 1.0;
        if due {
            self.sum -= 1.0;
        }
        due
    }
}
