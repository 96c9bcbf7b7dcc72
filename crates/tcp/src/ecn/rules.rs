//! What a profile says of ECN.

use super::abe::BetaEcn;

/// How the receiver reports marks to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EcnFeedback {
    /// Not at all: no ECN was agreed on.
    #[default]
    None,
    /// RFC 3168 section 6.1.3: ECE from the first mark on until the sender says CWR.
    Classic,
    /// RFC 8257 section 3.2: ECE if and only if the data acknowledged was marked.
    Dctcp,
    /// RFC 9768: a counter of marked packets.
    Accurate,
}

/// What an echo leaves of the congestion window. RFC 3168 section 6.1.2 says both that it is halved and
/// that it is treated as after a loss, where RFC 5681's equation 4 leaves two segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoCut {
    /// Half. Less than a segment is one, but nothing new goes out before the timer expires
    /// (`TcpAgent::ecn` of ns-2.35).
    Half,
    /// As after a loss: half, in the RFCs' arithmetic of whole segments, but at least two (Linux's
    /// `tcp_reno_ssthresh`, FreeBSD's `newreno_cong_signal`). The timer is waited for where the window was
    /// one before.
    AsLoss,
    /// A larger share than a half, and at least two segments (RFC 8511).
    Beta(BetaEcn),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnRules {
    /// The SYN requests ECN, or the SYN-ACK agrees.
    pub on: bool,
    pub feedback: EcnFeedback,
    /// The receiver reports what it saw; else it agrees to ECN and never reports a mark.
    pub honest: bool,
    /// With accurate feedback, segments carry the AccECN option.
    pub option: bool,
    pub cut: EchoCut,
    /// Data says that its sender is scalable, by ECT(1) (RFC 9331 section 4.1), if the feedback
    /// turns out to be accurate.
    pub scalable: bool,
    /// A SYN that is retransmitted does not request ECN (RFC 3168 section 6.1.1.1).
    pub fallback: bool,
    /// CWR ends no echo of a segment whose acknowledgement still waits: the sink of ns-2.35 reads the
    /// flags of both segments when it acknowledges them, CWR first (`TcpSink::ack`).
    pub waiting_mark_outlasts_cwr: bool,
    /// Where acknowledgements usually report more than four packets each, one for eight or more is
    /// believed to report as few marks as its three bits can (`pkts_acked_ewma` of Linux's
    /// `__tcp_accecn_process`); else of as many (RFC 9768 appendix A.2.1).
    pub believes_thinned: bool,
    /// With accurate feedback, data without a mark after a marked packet is acknowledged at once as well
    /// (Linux's `tcp_ecn_received_counters`); RFC 9768 section 3.2.2.5.1 requires it of marked data after
    /// a packet without alone.
    pub answers_unmarked: bool,
    /// What is retransmitted is ECN-capable too, against RFC 3168 section 6.1.5 (`TcpAgent::output` of
    /// ns-2.35).
    pub repeats_are_capable: bool,
    /// With DCTCP's feedback, and with accurate ECN as Linux has it since 7.0, all that follows the handshake
    /// is ECN-capable, bare acknowledgements too (`tcp_ecn_send`); the option, where there is one, is on every segment that has
    /// room for it as soon as the peer has sent one (`tcp_options_fit_accecn`); and a SYN that is retransmitted
    /// requests it once more before it falls back (`__tcp_retransmit_skb`).
    pub everywhere: bool,
}

impl EcnRules {
    /// Whether an echo that meets this window stops new data until the timer expires (RFC 3168
    /// section 6.1.2: with a window of one segment).
    pub fn holds(&self, cwnd: u64, mss: u64) -> bool {
        match self.cut {
            EchoCut::Half => cwnd < 2 * mss,
            EchoCut::AsLoss | EchoCut::Beta(_) => cwnd <= mss,
        }
    }

    /// The share that a mark leaves where that is not what a loss leaves.
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
