//! What a program reads of its connection, as by Linux's `TCP_INFO` (`tcp_get_info`).

use crate::congestion::CaState;
use crate::ecn::MarksSeen;
use crate::endpoint::TcpEndpoint;

/// Numbers of a connection, in segments where Linux counts segments. Of senders other than those of
/// profile `linux` the scoreboard (`sacked`, `lost`, `retrans`, `reordering`) is 0 and the state [`Open`](CaState::Open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, segments.
    pub snd_cwnd: u64,
    /// Slow-start threshold, segments; [`u64::MAX`] where it has no bound.
    pub snd_ssthresh: u64,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u64,
    /// Of these, reported selectively.
    pub sacked: u64,
    /// Of these, taken for lost.
    pub lost: u64,
    /// Of these, retransmitted and not taken for lost since.
    pub retrans: u64,
    /// Segments by which others are taken to be reordered.
    pub reordering: u64,
    /// What the sender repairs or answers.
    pub ca_state: CaState,
    /// Smoothed round trip, µs; 0 before the first.
    pub rtt_us: u64,
    /// Payload of a full segment, bytes.
    pub snd_mss: u64,
    /// Both SYNs agreed on timestamps.
    pub timestamps: bool,
    /// Both agreed on selective acknowledgements.
    pub sack_agreed: bool,
    /// Both agreed on ECN, of whatever kind.
    pub ecn: bool,
    /// What either side counted of marks.
    pub marks: MarksSeen,
}

impl TcpEndpoint {
    /// The connection's numbers at this moment.
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
