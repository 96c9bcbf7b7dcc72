//! The counters of an endpoint.

/// Counts of one endpoint since it was made. The kinds of resent segments are those of the
/// classes in *Tuning RED for Web Traffic* (table 5): a SYN or SYN-ACK; a bare FIN; a segment
/// with payload, with or without FIN. An acknowledgement that only repeats a FIN flag is not a
/// retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Segments with payload sent, retransmissions included.
    pub data_sent: u64,
    /// Retransmissions of the SYN or SYN-ACK.
    pub resent_syn: u16,
    /// Retransmissions of a bare FIN.
    pub resent_fin: u16,
    /// Segments with payload retransmitted.
    pub resent_data: u32,
    /// Expired retransmission timers.
    pub timeouts: u32,
    /// Recoveries started by duplicate or selective acknowledgements.
    pub fast_retransmits: u32,
    /// Timeouts that turned out to be spurious: the data was only late. Counted where the profile
    /// detects them (F-RTO, or the check of FreeBSD 4.x).
    pub spurious_timeouts: u32,
    /// Reductions of the window that answered an ECN echo, or, with a window of one segment, waits
    /// for the timer that answered it.
    pub ecn_reductions: u32,
}
