//! The deadlines of a sender, of which the endpoint sees the earliest.

use packet::{Duration, Instant};

use super::RackSender;
use crate::congestion::CaState;
use crate::recovery::rules::Detection;

/// The four deadlines; [`Instant::NEVER`] for one that does not run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// Retransmission timeout (RFC 6298).
    pub rto: Instant,
    /// Tail loss probe (RFC 8985 section 7.2).
    pub probe: Instant,
    /// A hole has waited long enough for reordered segments (RFC 8985 section 6.2, step 5).
    pub reorder: Instant,
    /// The next segment may go out.
    pub pace: Instant,
    /// When the probe's deadline was last computed with several segments in flight; never if it was
    /// with one. For several segments that are sent at one instant the deadline is one.
    pub probed: Instant,
}

/// What a deadline leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing: a deadline has moved.
    Nothing,
    /// Segments may go out.
    Pace,
    /// Holes are checked for losses again.
    Reorder,
    Probe,
    Timeout,
}

impl Timers {
    pub fn new() -> Self {
        let never = Instant::NEVER;
        Timers { rto: never, probe: never, reorder: never, pace: never, probed: never }
    }

    pub fn next(&self) -> Instant {
        self.rto.min(self.probe).min(self.reorder).min(self.pace)
    }

    /// Stops the timers that wait for acknowledgements: nothing is in flight.
    pub fn stop(&mut self) {
        (self.rto, self.probe, self.reorder) = (Instant::NEVER, Instant::NEVER, Instant::NEVER);
    }

    /// Takes the first deadline that has passed; the probe comes before the timeout of the same
    /// instant, and puts it off.
    pub fn take_due(&mut self, now: Instant) -> Due {
        let take = |deadline: &mut Instant| {
            let due = *deadline <= now;
            if due {
                *deadline = Instant::NEVER;
            }
            due
        };
        if take(&mut self.pace) {
            Due::Pace
        } else if take(&mut self.reorder) {
            Due::Reorder
        } else if take(&mut self.probe) {
            Due::Probe
        } else if take(&mut self.rto) {
            Due::Timeout
        } else {
            Due::Nothing
        }
    }
}

/// Linux's `tcp_rto_min`, taken for the peer's longest delay of an acknowledgement
/// (TLP.max_ack_delay) when one segment is in flight.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// Linux's `TCP_TIMEOUT_MIN`, two ticks of a clock of 1,000 Hz: added to the probe's wait when
/// several segments are in flight.
const PROBE_GRACE: Duration = Duration::from_millis(2);

impl RackSender {
    /// RFC 8985 section 7.2: a probe is due after two round trips without an acknowledgement,
    /// unless something is being repaired or reported, or one is out already.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        let calm = matches!(self.state, CaState::Open | CaState::Cwr)
            && self.tracker.board.sacked == 0
            && self.settings.detection != Detection::DupAcks
            && self.probe.end == 0;
        if !calm || self.tracker.board.is_empty() {
            self.timers.probe = Instant::NEVER;
            return;
        }
        self.timers.probed = Instant::NEVER;
        let wait = if self.tracker.srtt == Duration::ZERO {
            Duration::from_secs(1)
        } else if self.tracker.board.len() == 1 {
            self.tracker.srtt * 2 + MAX_ACK_DELAY
        } else {
            self.timers.probed = now;
            self.tracker.srtt * 2 + PROBE_GRACE
        };
        self.timers.probe = self.settings.wheel.end(now, wait).min(self.timers.rto);
    }

    /// Schedules the probe after new data was sent.
    #[inline(always)]
    pub(super) fn schedule_probe_after_data(&mut self, now: Instant) {
        let kept = self.timers.probe;
        let known = self.timers.probed == now && kept != Instant::NEVER;
        if !known || cfg!(debug_assertions) {
            self.schedule_probe(now);
            debug_assert!(!known || self.timers.probe == kept, "one instant, one deadline");
        }
    }

    /// When a retransmission timer that is set now expires.
    #[inline]
    pub(super) fn timeout_from(&self, now: Instant) -> Instant {
        self.settings.wheel.end(now, self.rto)
    }

    /// Restarts the timers of timeout and probe, after an acknowledgement that advances.
    pub(super) fn restart_timers(&mut self, now: Instant) {
        if self.tracker.board.is_empty() {
            self.timers.stop();
            return;
        }
        self.timers.rto = self.timeout_from(now);
        self.schedule_probe(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_comes_before_the_timeout_of_the_same_instant() {
        let at = Instant::from_nanos(5);
        let mut timers = Timers::new();
        assert_eq!(timers.take_due(at), Due::Nothing);
        (timers.rto, timers.probe) = (at, at);
        assert_eq!(timers.take_due(Instant::from_nanos(4)), Due::Nothing);
        assert_eq!((timers.take_due(at), timers.take_due(at)), (Due::Probe, Due::Timeout));
        assert_eq!(timers.next(), Instant::NEVER);
    }
}
