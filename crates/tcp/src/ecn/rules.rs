//! The ECN rules of a profile.

use super::abe::BetaEcn;

/// How the receiver reports marks to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EcnFeedback {
    /// No feedback: ECN was not negotiated.
    #[default]
    None,
    /// RFC 3168 section 6.1.3: ECE from the first mark on until the sender sends CWR.
    Classic,
    /// RFC 8257 section 3.2: ECE if and only if the data acknowledged was marked.
    Dctcp,
    /// RFC 9768: a counter of marked packets.
    Accurate,
}

/// How an ECN echo reduces the congestion window. RFC 3168 section 6.1.2 says both that it is
/// halved and that it is treated as after a loss, where RFC 5681's equation 4 leaves two segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoCut {
    /// Half, but at least one segment; if half is less than one, no new data is sent before the
    /// timer expires (`TcpAgent::ecn` of ns-2.35).
    Half,
    /// As after a loss: half, in the RFCs' arithmetic of whole segments, but at least two (Linux's
    /// `tcp_reno_ssthresh`, FreeBSD's `newreno_cong_signal`). If the window was one segment, no new
    /// data is sent before the timer expires.
    AsLoss,
    /// More than half, and at least two segments (RFC 8511).
    Beta(BetaEcn),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnRules {
    /// ECN is on: the SYN requests it, and a SYN-ACK agrees to it.
    pub on: bool,
    pub feedback: EcnFeedback,
    /// The receiver reports marks; otherwise it agrees to ECN and never reports one.
    pub honest: bool,
    /// With accurate feedback, segments carry the AccECN option.
    pub option: bool,
    pub cut: EchoCut,
    /// Data carries ECT(1), which shows that its sender is scalable (RFC 9331 section 4.1), if
    /// accurate feedback is negotiated.
    pub scalable: bool,
    /// A retransmitted SYN does not request ECN (RFC 3168 section 6.1.1.1).
    pub fallback: bool,
    /// CWR does not end the echo of a marked segment whose acknowledgement is still delayed: the
    /// sink of ns-2.35 reads the flags of both segments when it acknowledges them, CWR first
    /// (`TcpSink::ack`).
    pub waiting_mark_outlasts_cwr: bool,
    /// If acknowledgements report more than four packets in the mean, one of eight or more is taken
    /// to report the fewest marks that its three bits allow (`pkts_acked_ewma` of Linux's
    /// `__tcp_accecn_process`); otherwise the most (RFC 9768 appendix A.2.1).
    pub believes_thinned: bool,
    /// With accurate feedback, unmarked data after a marked packet is acknowledged at once as well
    /// (Linux's `tcp_ecn_received_counters`); RFC 9768 section 3.2.2.5.1 requires that only of
    /// marked data after an unmarked packet.
    pub answers_unmarked: bool,
    /// Retransmissions are ECN-capable too, against RFC 3168 section 6.1.5 (`TcpAgent::output` of
    /// ns-2.35).
    pub repeats_are_capable: bool,
    /// With DCTCP's feedback, and with accurate ECN as in Linux since 7.0, all segments after the
    /// handshake are ECN-capable, also pure acknowledgements (`tcp_ecn_send`). With accurate ECN,
    /// the option (if on) is on every segment that has room for it once the peer has sent one
    /// (`tcp_options_fit_accecn`), and a SYN requests ECN in its first retransmission too before it
    /// falls back (`__tcp_retransmit_skb`).
    pub everywhere: bool,
}

impl EcnRules {
    /// Whether an echo at this window stops new data until the timer expires (RFC 3168 section
    /// 6.1.2: with a window of one segment).
    pub fn holds(&self, cwnd: u64, mss: u64) -> bool {
        match self.cut {
            EchoCut::Half => cwnd < 2 * mss,
            EchoCut::AsLoss | EchoCut::Beta(_) => cwnd <= mss,
        }
    }

    /// The share of the window that a mark leaves, if a loss leaves another.
    pub fn beta(&self) -> Option<BetaEcn> {
        match self.cut {
            EchoCut::Beta(beta) => Some(beta),
            EchoCut::Half | EchoCut::AsLoss => None,
        }
    }

    /// The feedback after a handshake by RFC 3168's two flags, which is DCTCP's too (RFC 8257
    /// section 5).
    pub fn without_accuracy(&self) -> EcnFeedback {
        match self.feedback {
            EcnFeedback::Dctcp => EcnFeedback::Dctcp,
            _ => EcnFeedback::Classic,
        }
    }
}
