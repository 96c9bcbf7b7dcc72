//! The state of one call of BSD's `tcp_output`. An event, a write of the program and a fast
//! retransmit each make a call of their own, which sends as many segments as the windows allow.

use packet::Instant;

use crate::clock::{Moment, Phase};

/// The call under way, and whether another is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputCall {
    /// Something happened after which BSD calls `tcp_output`.
    pub due: bool,
    /// A call is under way (between two polls).
    pub active: bool,
    /// The call only retransmits the first unacknowledged segment.
    pub resends: bool,
    /// Nothing was outstanding when the call began.
    pub idle: bool,
    /// The call has sent a full segment that lacks its partner (Linux hands down two as one).
    pub unpaired: bool,
    /// The program has closed; the FIN is queued once all written data is handed to TCP.
    pub closing: bool,
    /// A reset with the sequence number SND.NXT is due: an acknowledgement reached a listening end.
    pub refuses: bool,
    /// Phase within its instant of the last event; the output calls have the same phase as it.
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

    /// A clock tick at `now` is served.
    pub fn tick(&mut self, now: Instant, phase: Phase) -> Moment {
        self.phase = phase;
        Moment { at: now, phase }
    }

    /// Instant and phase of an output call: those of the last event, which was at `now`.
    #[inline]
    pub fn moment(&self, now: Instant) -> Moment {
        Moment { at: now, phase: self.phase }
    }

    /// Cancels the current call and any due one.
    pub fn cancel(&mut self) {
        (self.due, self.active) = (false, false);
    }
}
