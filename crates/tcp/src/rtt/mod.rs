//! Round-trip times and the retransmission timeout: one file per estimator.
//!
//! The settings of an estimator belong to the profile ([`RttRules`]); a connection keeps only what
//! it has measured ([`Rtt`]), in the scale of its estimator.

mod bsd;
mod exact;
mod ns2;

use packet::{Duration, Instant, Rounded};

use crate::clock::{Grid, HostClock, Moment, Phase};
pub(crate) use bsd::{Bsd, Callouts, ShortTrips};
pub(crate) use exact::Exact;
pub(crate) use ns2::Ns2;

/// Which estimator a profile uses, with its settings.
#[derive(Clone, Copy, Debug)]
#[repr(u8)] // a tag of its own is read faster than one hidden in a field
pub(crate) enum RttRules {
    /// Fixed point of 4.4BSD, in ticks.
    Bsd(Bsd),
    /// RFC 6298 in nanoseconds.
    Exact(Exact),
    /// Fixed point of ns-2, in ticks.
    Ns2(Ns2),
}

/// The estimate of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    /// Smoothed round-trip time, in the scale of the estimator.
    srtt: i64,
    /// Mean deviation, in the scale of the estimator.
    rttvar: i64,
    /// Timeout in force, or the value from which it is computed; ticks (BSD) or nanoseconds.
    rto: u64,
    /// Timeouts since the last sample (or since data was last acknowledged).
    shift: u8,
    /// Timeouts of a SYN that did not double its wait; [`Bsd`] counts them in `shift` instead.
    linear: u8,
    /// Whether there has been a sample.
    sampled: bool,
    /// Whether the timeout was doubled since the last sample (of an estimator with exact times).
    backed_off: bool,
    /// Number of samples, counted by BSD's estimator only, up to [`RTT_SAMPLES_TO_KEEP`].
    samples: u8,
    /// The last sample, until it is taken; rounded, since a connection has only two bytes for it.
    newest: Rounded,
    /// The estimate is in its host's cache ([`HostCache`](crate::HostCache)).
    pub cached: bool,
}

/// Number of samples of a connection from which on a FreeBSD host keeps the estimate (`tcp_close`:
/// the number that its filter needs to come within 5 %).
pub(crate) const RTT_SAMPLES_TO_KEEP: u8 = 16;

impl Rtt {
    /// Number of samples, at most [`RTT_SAMPLES_TO_KEEP`]; counted by BSD's estimator only.
    pub fn samples(&self) -> u8 {
        self.samples
    }

    /// Whether there is a sample that was not taken yet.
    #[inline]
    pub fn has_newest(&self) -> bool {
        self.newest != Rounded::NONE
    }

    /// The last sample; [`Rounded::NONE`] if it was taken before.
    #[inline]
    pub fn take_newest(&mut self) -> Rounded {
        std::mem::replace(&mut self.newest, Rounded::NONE)
    }
}

/// A round trip of `ticks` was measured.
#[inline]
fn sample_bsd(bsd: &Bsd, rtt: &mut Rtt, ticks: u64) {
    bsd.sample(rtt, ticks);
    rtt.newest = bsd.rounded(ticks);
}

/// A round trip of `ticks` was measured; it counts as at least one tick.
#[inline]
fn sample_ns2(ns2: &Ns2, rtt: &mut Rtt, ticks: u64) {
    ns2.sample(rtt, ticks);
    rtt.newest = Rounded::of(ns2.tick * ticks.max(1));
}

/// A round trip was measured.
#[inline]
fn sample_exact(exact: &Exact, rtt: &mut Rtt, round_trip: Duration) {
    exact.sample(rtt, round_trip);
    rtt.newest = Rounded::of(round_trip);
}

impl RttRules {
    /// The state of a connection without a sample.
    pub fn fresh(&self) -> Rtt {
        match self {
            RttRules::Bsd(bsd) => bsd.fresh(),
            RttRules::Exact(exact) => exact.fresh(),
            RttRules::Ns2(ns2) => ns2.fresh(),
        }
    }

    /// The ticks in which round trips are counted; none if times are exact.
    fn grid(&self, clock: HostClock) -> Option<Grid> {
        match self {
            RttRules::Bsd(bsd) => Some(clock.slow(bsd.tick)),
            RttRules::Exact(exact) if exact.tick == Duration::ZERO => None,
            RttRules::Exact(exact) => Some(clock.slow(exact.tick)),
            RttRules::Ns2(ns2) => Some(HostClock::common(ns2.tick)),
        }
    }

    /// The clock reading to keep when timing starts: ticks, or nanoseconds.
    pub fn stamp(&self, clock: HostClock, moment: Moment) -> u64 {
        self.grid(clock).map_or(moment.at.nanos(), |grid| grid.counts(moment))
    }

    /// The clock reading that is sent as a timestamp (RFC 7323): ticks, or milliseconds.
    pub fn timestamp(&self, clock: HostClock, moment: Moment) -> u32 {
        self.grid(clock).map_or(moment.at.nanos() / 1_000_000, |grid| grid.counts(moment)) as u32
    }

    /// The timed sequence number is acknowledged; `start` is the stamp of its sending.
    pub fn sample(&self, rtt: &mut Rtt, start: u64, clock: HostClock, moment: Moment) {
        let elapsed = self.stamp(clock, moment) - start;
        match self {
            RttRules::Bsd(bsd) => sample_bsd(bsd, rtt, elapsed + bsd.timing_adds),
            RttRules::Exact(exact) => sample_exact(exact, rtt, exact.span(elapsed)),
            RttRules::Ns2(ns2) => sample_ns2(ns2, rtt, elapsed),
        }
    }

    /// New data was acknowledged by a segment that echoes the timestamp `echo`.
    pub fn sample_echo(&self, rtt: &mut Rtt, echo: u32, clock: HostClock, moment: Moment) {
        let elapsed = u64::from(self.timestamp(clock, moment).wrapping_sub(echo));
        match self {
            // FreeBSD: ticks - to_tsecr + 1.
            RttRules::Bsd(bsd) => sample_bsd(bsd, rtt, elapsed + 1),
            RttRules::Exact(exact) if exact.tick == Duration::ZERO => {
                sample_exact(exact, rtt, Duration::from_millis(elapsed));
            }
            RttRules::Exact(exact) => sample_exact(exact, rtt, exact.span(elapsed)),
            RttRules::Ns2(ns2) => sample_ns2(ns2, rtt, elapsed),
        }
    }

    /// New data was acknowledged after `round_trip`, measured by the sender itself.
    pub fn sample_span(&self, rtt: &mut Rtt, round_trip: Duration) {
        if let RttRules::Exact(exact) = self {
            sample_exact(exact, rtt, round_trip);
        }
    }

    /// The smoothed round-trip time, converted from the estimator's scale; zero before the first
    /// sample.
    pub fn smoothed(&self, rtt: &Rtt) -> Duration {
        match self {
            RttRules::Bsd(bsd) => bsd.smoothed(rtt),
            RttRules::Exact(_) => self.srtt(rtt),
            RttRules::Ns2(ns2) => Duration::from_nanos(rtt.srtt as u64 * ns2.tick.nanos() / 8),
        }
    }

    /// The smoothed round-trip time of an estimator with exact times; zero before the first sample.
    pub fn srtt(&self, rtt: &Rtt) -> Duration {
        Duration::from_nanos(rtt.srtt as u64)
    }

    /// Whether retransmission timers expire at ticks of the host's clock.
    pub fn timers_tick(&self) -> bool {
        matches!(self, RttRules::Bsd(bsd) if bsd.callouts == Callouts::Host)
    }

    /// The time at which a retransmission timer that is set now expires.
    pub fn deadline(&self, rtt: &Rtt, clock: HostClock, moment: Moment) -> Instant {
        match self {
            RttRules::Bsd(bsd) if bsd.callouts == Callouts::Host => {
                clock.slow(bsd.tick).deadline(moment, rtt.rto)
            }
            RttRules::Exact(exact) => exact.wheel.end(moment.at, self.rto(rtt)),
            _ => moment.at + self.rto(rtt),
        }
    }

    /// The retransmission timer has expired. For a SYN, the first `linear` timeouts do not double
    /// its wait. Returns how often the timer has now expired in a row.
    pub fn back_off(&self, rtt: &mut Rtt, linear: Option<u8>) -> u8 {
        let even = linear.unwrap_or(0);
        let counted = matches!(self, RttRules::Bsd(_));
        if rtt.linear < even && !counted {
            rtt.linear += 1;
            return rtt.linear;
        }
        rtt.shift = rtt.shift.saturating_add(1);
        match self {
            RttRules::Bsd(bsd) => bsd.back_off(rtt, even),
            RttRules::Exact(exact) => exact.back_off(rtt),
            RttRules::Ns2(ns2) => ns2.back_off(rtt),
        }
        if linear.is_some() { rtt.shift.saturating_add(rtt.linear) } else { rtt.shift }
    }

    /// New data was acknowledged, timed or not.
    pub fn on_advance(&self, rtt: &mut Rtt) {
        match self {
            RttRules::Bsd(_) => {}
            RttRules::Exact(exact) => exact.on_advance(rtt),
            RttRules::Ns2(ns2) => ns2.on_advance(rtt),
        }
    }

    /// The handshake is over; `repeated` if this side retransmitted its SYN or SYN-ACK.
    pub fn on_established(&self, rtt: &mut Rtt, repeated: bool) {
        if let RttRules::Exact(exact) = self {
            exact.on_established(rtt, repeated);
        }
    }

    /// Whether the time since `since` is at least a timeout (BSD), or more than a timeout (others).
    pub fn idle_too_long(
        &self,
        rtt: &Rtt,
        since: Instant,
        clock: HostClock,
        moment: Moment,
    ) -> bool {
        match self {
            RttRules::Bsd(bsd) if bsd.callouts == Callouts::Host => {
                // Segments that arrive at the instant of a tick are processed before it.
                let start = Moment { at: since, phase: Phase::Events };
                let grid = clock.slow(bsd.tick);
                grid.counts(moment) - grid.counts(start) >= rtt.rto
            }
            RttRules::Bsd(_) => moment.at.since(since) >= self.rto(rtt),
            _ => moment.at.since(since) > self.rto(rtt),
        }
    }

    /// The timeout in force.
    pub fn rto(&self, rtt: &Rtt) -> Duration {
        match self {
            RttRules::Bsd(bsd) => bsd.tick * rtt.rto,
            RttRules::Exact(_) => Duration::from_nanos(rtt.rto),
            RttRules::Ns2(ns2) => ns2.timeout(rtt),
        }
    }

    /// Smoothed round-trip time and deviation in the units of a BSD host route; zeros for other
    /// estimators.
    pub fn route_metrics(&self, rtt: &Rtt) -> (u32, u32) {
        match self {
            RttRules::Bsd(bsd) => bsd.route_metrics(rtt),
            _ => (0, 0),
        }
    }

    /// Starts with the estimate of a host route, unless there is one already or the route has none.
    pub fn start_by_route(&self, rtt: &mut Rtt, round_trip: u32, deviation: u32) {
        if let RttRules::Bsd(bsd) = self
            && rtt.srtt == 0
            && round_trip != 0
        {
            bsd.start_by_route(rtt, round_trip, deviation);
        }
    }

    /// Smoothed round-trip time as Linux keeps it (`srtt_us`: us times 8); none after a timeout
    /// until the next sample.
    pub fn linux_metrics(&self, rtt: &Rtt) -> Option<u32> {
        match self {
            RttRules::Exact(exact) => exact.linux_metrics(rtt),
            _ => None,
        }
    }

    /// Sets the first timeout by the round-trip time in Linux's cache (us times 8), if that is
    /// longer than the one just measured.
    pub fn start_by_linux(&self, rtt: &mut Rtt, round_trip: u32) {
        if let RttRules::Exact(exact) = self {
            exact.start_by_linux(rtt, round_trip);
        }
    }

    /// Half the smoothed round-trip time: an ACK that arrives within it after a retransmission is
    /// for the segment as first sent (FreeBSD 4.x).
    pub fn half_round_trip(&self, rtt: &Rtt) -> Duration {
        match self {
            RttRules::Bsd(bsd) => Duration::from_nanos(bsd.tick.nanos() * rtt.srtt as u64 / 64),
            RttRules::Exact(_) => Duration::from_nanos(rtt.srtt as u64 / 2),
            RttRules::Ns2(ns2) => Duration::from_nanos(ns2.tick.nanos() * rtt.srtt as u64 / 16),
        }
    }
}
