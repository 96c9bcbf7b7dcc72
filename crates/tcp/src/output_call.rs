//! One call of BSD's `tcp_output` as a value. What an event makes necessary, what the program wrote, and a
//! fast retransmit are calls of their own, each of which sends as many segments as it finds.

use packet::Instant;

use crate::clock::{Moment, Phase};

/// The call under way, and whether another is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputCall {
    /// Something happened after which BSD calls `tcp_output`.
    pub due: bool,
    /// A call is under way (between two polls).
    pub active: bool,
    /// It only resends the first unacknowledged segment.
    pub resends: bool,
    /// Nothing was outstanding when it began.
    pub idle: bool,
    /// It has sent a full segment that has no partner yet (Linux hands down two as one).
    pub unpaired: bool,
    /// The program has closed; the FIN is queued once all it wrote is.
    pub closing: bool,
    /// A reset is due, whose number is SND.NXT: a listening end was sent an acknowledgement.
    pub refuses: bool,
    /// The phase within the instant of the event that the calls follow.
    phase: Phase,
}

impl OutputCall {
    /// A call begins; `idle`: nothing is outstanding.
    #[inline(always)]
    pub fn begin(&mut self, idle: bool) {
        (self.idle, self.unpaired, self.active) = (idle, false, true);
    }

    /// The driver reports an event of `now`, which comes before the ticks of that instant.
    #[inline]
    pub fn event(&mut self, now: Instant) -> Moment {
        self.tick(now, Phase::Events)
    }

    /// A tick of `now` runs.
    pub fn tick(&mut self, now: Instant, phase: Phase) -> Moment {
        self.phase = phase;
        Moment { at: now, phase }
    }

    /// Where the endpoint is when the driver polls, at the instant of that event.
    #[inline]
    pub fn moment(&self, now: Instant) -> Moment {
        Moment { at: now, phase: self.phase }
    }

    /// Nothing is sent any more.
    pub fn cancel(&mut self) {
        (self.due, self.active) = (false, false);
    }
}
