//! Round-trip times and the retransmission timeout: one file per estimator.

mod exact;
mod ticks;

use packet::{Duration, Instant};

use crate::clock::{HostClock, Moment, Phase};
pub(crate) use exact::Exact;
pub(crate) use ticks::Ticks;

/// Which estimator a profile uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RttKind {
    /// BSD fixed point on 500 ms ticks.
    Ticks { floor_v: bool },
    /// RFC 6298 with exact times.
    Exact { rto_min: Duration },
}

/// The estimator of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rtt {
    Ticks(Ticks),
    Exact(Exact),
}

impl Rtt {
    pub fn new(kind: RttKind) -> Self {
        match kind {
            RttKind::Ticks { floor_v } => Rtt::Ticks(Ticks::new(floor_v)),
            RttKind::Exact { rto_min } => Rtt::Exact(Exact::new(rto_min)),
        }
    }

    /// The reading to keep when timing starts.
    pub fn stamp(&self, clock: HostClock, moment: Moment) -> u64 {
        match self {
            Rtt::Ticks(_) => clock.slow_counts(moment),
            Rtt::Exact(_) => moment.at.nanos(),
        }
    }

    /// The timed number is acknowledged; `start` is the stamp of its sending.
    pub fn sample(&mut self, start: u64, clock: HostClock, moment: Moment) {
        let end = self.stamp(clock, moment);
        match self {
            Rtt::Ticks(ticks) => ticks.sample(1 + (end - start)),
            Rtt::Exact(exact) => exact.sample(Duration::from_nanos(end - start)),
        }
    }

    /// When a retransmission timer set now expires.
    pub fn deadline(&self, clock: HostClock, moment: Moment) -> Instant {
        match self {
            Rtt::Ticks(ticks) => clock.slow_deadline(moment, ticks.rto()),
            Rtt::Exact(exact) => moment.at + exact.rto(),
        }
    }

    /// The retransmission timer has expired. Returns how often it has now done so in a row.
    pub fn back_off(&mut self) -> u8 {
        match self {
            Rtt::Ticks(ticks) => ticks.back_off(),
            Rtt::Exact(exact) => exact.back_off(),
        }
    }

    /// New data was acknowledged, timed or not.
    pub fn on_advance(&mut self) {
        if let Rtt::Exact(exact) = self {
            exact.on_advance();
        }
    }

    /// The handshake is over; `repeated` if this side had to repeat its SYN or SYN-ACK.
    pub fn on_established(&mut self, repeated: bool) {
        if let Rtt::Exact(exact) = self {
            exact.on_established(repeated);
        }
    }

    /// Whether `since` lies at least a timeout back (ticks) or more than one (exact).
    pub fn idle_too_long(&self, since: Instant, clock: HostClock, moment: Moment) -> bool {
        match self {
            Rtt::Ticks(ticks) => {
                // Segments arrive before the ticks of their instant.
                let start = Moment { at: since, phase: Phase::Events };
                clock.slow_counts(moment) - clock.slow_counts(start) >= ticks.rto()
            }
            Rtt::Exact(exact) => moment.at.since(since) > exact.rto(),
        }
    }

    /// The timeout in force.
    pub fn rto(&self) -> Duration {
        match self {
            Rtt::Ticks(ticks) => Duration::from_millis(500 * ticks.rto()),
            Rtt::Exact(exact) => exact.rto(),
        }
    }
}
