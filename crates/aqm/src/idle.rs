//! The clock by which an average ages while the line idles.

use packet::{Duration, Instant, Rate};

/// Clock of the line's idle time.
///
/// The line is idle at first. An arrival ends the idle time, unless it is dropped: then the line
/// stays idle, and two rules exist for how much the next arrival ages the average.
///
/// - `end`, as in ns-2, ns-3 and Linux: by the time since the dropped arrival, because their queues
///   are dequeued after each arrival and, being empty, restart the clock.
/// - `end_in_packets`, as in the papers: by the whole packet times of the idle time that have not
///   aged the average yet. In the 1993 paper a dropped arrival leaves `q_time` alone. If it
///   discarded the last part of a packet time, an average above `max_th` would never fall again
///   under arrivals closer together than a packet time; read to the letter, the paper would count
///   the idle time in full at each arrival.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    idle: bool,
    since: Instant,
    /// Whole packet times of the idle time by which the average has been aged so far.
    reported: u64,
    /// Whether the current arrival found the line idle.
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

    /// Ends the idle time at an arrival. Returns whether the line was idle.
    #[inline]
    pub(crate) fn interrupt(&mut self) -> bool {
        self.interrupted = self.idle;
        self.idle = false;
        self.interrupted
    }

    /// Ends the idle time at an arrival. Returns the time since it began or since the last arrival
    /// in it; `None` if the line was not idle.
    #[inline]
    pub(crate) fn end(&mut self, now: Instant) -> Option<Duration> {
        self.interrupt().then(|| self.restart(now))
    }

    pub(crate) fn restart(&mut self, now: Instant) -> Duration {
        let span = now.since(self.since);
        self.since = now;
        span
    }

    /// Ends the idle time at an arrival. Returns the whole packet times of the idle time that have
    /// not been reported to an earlier arrival; `None` if the line was not idle.
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

    /// The arrival was dropped: the line is idle again if it was idle before.
    pub(crate) fn resume(&mut self) {
        self.idle = self.interrupted;
    }
}

/// Converts a time into the number of packets that the line could send in it, exactly in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketClock {
    /// Numerator of the line's packets per nanosecond, of which `nanos` is the denominator.
    packets: u128,
    nanos: u128,
}

impl PacketClock {
    /// The clock of a line that sends packets of `bytes` bytes at `rate`.
    pub const fn of_line(rate: Rate, bytes: u32) -> Self {
        PacketClock { packets: rate.bits_per_s() as u128, nanos: bytes as u128 * 8_000_000_000 }
    }

    /// A clock of one packet per `time`, which must not be zero.
    pub const fn of_time(time: Duration) -> Self {
        assert!(time.nanos() > 0, "a packet takes some time");
        PacketClock { packets: 1, nanos: time.nanos() as u128 }
    }

    /// Number of whole packets that fit into `span`.
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
