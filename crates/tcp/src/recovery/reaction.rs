//! The reaction of a recovery to an acknowledgement.

/// What the sender does after an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaction {
    /// A recovery begins: stop timing round trips.
    pub entered: bool,
    /// Stop the retransmission timer; the next segment starts it again.
    pub stop_timer: bool,
    /// Only the segment marked for retransmission may be sent now.
    pub resend_only: bool,
}
