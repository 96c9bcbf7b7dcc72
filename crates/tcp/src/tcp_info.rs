//! Statistics of a connection for its program, like Linux's `TCP_INFO` (`tcp_get_info`).

use crate::congestion::CaState;
use crate::ecn::MarksSeen;
use crate::endpoint::TcpEndpoint;

/// Numbers of a connection, in segments where Linux counts segments. Senders of profiles other than
/// `linux` have no scoreboard: `sacked`, `lost` and `retrans` are 0, `reordering` is the number of
/// duplicates that show a loss, and the state is [`Open`](CaState::Open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, segments.
    pub snd_cwnd: u64,
    /// Slow-start threshold, segments; [`u64::MAX`] where it has no bound.
    pub snd_ssthresh: u64,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u64,
    /// Unacknowledged segments that are reported selectively.
    pub sacked: u64,
    /// Unacknowledged segments that are marked lost.
    pub lost: u64,
    /// Unacknowledged segments that were retransmitted and not marked lost since.
    pub retrans: u64,
    /// Number of segments by which a segment may be late before it is taken for lost.
    pub reordering: u64,
    /// The state of loss recovery.
    pub ca_state: CaState,
    /// Smoothed round-trip time, µs; 0 before the first sample.
    pub rtt_us: u64,
    /// Payload of a full segment, bytes.
    pub snd_mss: u64,
    /// Both SYNs agreed on timestamps.
    pub timestamps: bool,
    /// Both SYNs agreed on selective acknowledgements.
    pub sack_agreed: bool,
    /// Both SYNs agreed on ECN, of whatever kind.
    pub ecn: bool,
    /// Counters of ECN marks that arrived, and of marks that the peer reported.
    pub marks: MarksSeen,
}

impl TcpEndpoint {
    /// A snapshot of the connection's state.
    pub fn tcp_info(&self) -> TcpInfo {
        let (snd, rules) = (&self.tx.snd, &self.profile.rtt);
        let mss = snd.mss().max(1);
        let segments = |bytes: u64| if bytes == u64::MAX { bytes } else { bytes / mss };
        let mut info = TcpInfo {
            snd_cwnd: segments(snd.win.cwnd),
            snd_ssthresh: segments(snd.win.ssthresh),
            unacked: snd.outstanding().div_ceil(mss),
            sacked: 0,
            lost: 0,
            retrans: 0,
            reordering: u64::from(self.profile.recovery.threshold),
            ca_state: CaState::Open,
            rtt_us: rules.srtt(&self.tx.rtt).nanos() / 1_000,
            snd_mss: mss,
            timestamps: self.conn.stamps,
            sack_agreed: self.conn.sack,
            ecn: self.conn.ecn.on(),
            marks: self.rx.marks_seen(),
        };
        if let Some(seen) = self.tx.sender.outstanding() {
            (info.unacked, info.sacked) = (seen.unacked, seen.sacked);
            (info.lost, info.retrans) = (seen.lost, seen.retrans);
            (info.reordering, info.ca_state) = (seen.reordering, seen.ca_state);
        }
        info
    }
}
