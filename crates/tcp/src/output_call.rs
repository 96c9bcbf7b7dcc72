//! One call of BSD's `tcp_output` as a value. What an event makes necessary, what the program wrote, and a
//! fast retransmit are calls of their own, each of which sends as many segments as it finds.

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
}

impl OutputCall {
    /// A call begins; `idle`: nothing is outstanding.
    #[inline(always)]
    pub fn begin(&mut self, idle: bool) {
        (self.idle, self.unpaired, self.active) = (idle, false, true);
    }

    /// Nothing is sent any more.
    pub fn cancel(&mut self) {
        (self.due, self.active) = (false, false);
    }
}
