//! The clock by which an average ages while the line idles.

use packet::{Duration, Instant, Rate};

/// Since when the line idles, if it does.
///
/// A queue begins idle. An arrival ends the idle time, unless it is dropped: then the line stays
/// idle, and there are two readings of what the next arrival ages the average by.
///
/// - `end`, the programs': by the time since the dropped arrival, because their holder
///   looks into the empty queue after each arrival and starts the clock anew (ns-2, ns-3, Linux).
/// - `end_in_packets`, the papers': by the whole packets of the idle time that have not
///   aged it yet. In the 1993 paper a dropped arrival leaves `q_time` alone. If it threw away the
///   part of a packet since, an average above `max_th` would never fall again under arrivals
///   closer together than a packet; read to the letter, the same time would count at each arrival.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    idle: bool,
    since: Instant,
    /// Whole packets of the idle time that have been reported so far.
    reported: u64,
    /// Whether the arrival in hand found the line idle.
    interrupted: bool,
}

impl Idle {
    pub(crate) const fn new() -> Self {
        Idle { idle: true, since: Instant::ZERO, reported: 0, interrupted: false }
    }

    /// The line goes idle. A second call for an empty queue does not restart the clock.
    pub(crate) fn begin(&mut self, now: Instant) {
        if !self.idle {
            self.idle = true;
            self.since = now;
            self.reported = 0;
        }
    }

    /// A packet arrives: whether the line was idle.
    #[inline]
    pub(crate) fn interrupt(&mut self) -> bool {
        self.interrupted = self.idle;
        self.idle = false;
        self.interrupted
    }

    /// A packet arrives: how long the line was idle since the last one, if it was.
    #[inline]
    pub(crate) fn end(&mut self, now: Instant) -> Option<Duration> {
        self.interrupt().then(|| self.restart(now))
    }

    pub(crate) fn restart(&mut self, now: Instant) -> Duration {
        let span = now.since(self.since);
        self.since = now;
        span
    }

    /// A packet arrives: if the line was idle, how many whole packets of the idle time have not
    /// been reported to an earlier arrival.
    #[inline]
    pub(crate) fn end_in_packets(&mut self, now: Instant, clock: &PacketClock) -> Option<u64> {
        self.interrupt().then(|| self.report(now, clock))
    }

    #[cold]
    pub(crate) fn report(&mut self, now: Instant, clock: &PacketClock) -> u64 {
        let all = clock.packets_in(now.since(self.since));
        let fresh = all - self.reported;
        self.reported = all;
        fresh
    }

    /// How long the line has been idle, if it is.
    pub(crate) fn span(&self, now: Instant) -> Option<Duration> {
        self.idle.then(|| now.since(self.since))
    }

    /// The packet in hand was dropped.
    pub(crate) fn resume(&mut self) {
        self.idle = self.interrupted;
    }
}

/// How many packets the line could have sent in a span of time; exact in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketClock {
    /// Packets per nanosecond as a fraction.
    packets: u128,
    nanos: u128,
}

impl PacketClock {
    /// Packets of `bytes` at `rate`.
    pub const fn of_line(rate: Rate, bytes: u32) -> Self {
        PacketClock { packets: rate.bits_per_s() as u128, nanos: bytes as u128 * 8_000_000_000 }
    }

    /// One packet per `time`, which is not zero.
    pub const fn of_time(time: Duration) -> Self {
        assert!(time.nanos() > 0, "a packet takes some time");
        PacketClock { packets: 1, nanos: time.nanos() as u128 }
    }

    /// Whole packets in `span`.
    #[inline]
    pub fn packets_in(&self, span: Duration) -> u64 {
        let packets = u128::from(span.nanos()) * self.packets;
        // Idle times are short as a rule, and 64-bit division is several times faster.
        match (u64::try_from(packets), u64::try_from(self.nanos)) {
            (Ok(packets), Ok(nanos)) => packets / nanos,
            _ => u64::try_from(packets / self.nanos).unwrap_or(u64::MAX),
        }
    }

    /// Transmission time of one packet in seconds.
    pub fn packet_secs(&self) -> f64 {
        self.nanos as f64 / self.packets as f64 * 1e-9
    }
}
