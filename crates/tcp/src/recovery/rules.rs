//! What the kinds of recovery share, and how programs and standards differ.

use crate::congestion::ClassicReno;
use crate::ecn::BetaEcn;
use crate::timer_wheel::TimerWheel;

/// Which recovery a profile uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryKind {
    /// Fast retransmit, then slow start (Jacobson 1988; Fall and Floyd, *Simulation-based
    /// Comparisons of Tahoe, Reno, and SACK TCP*, CCR 1996).
    Tahoe,
    /// Fast retransmit and fast recovery of 4.3BSD-Reno.
    Reno,
    /// NewReno (RFC 6582).
    NewReno,
    /// Recovery with SACK (RFC 6675); NewReno towards a peer without SACK.
    Sack,
    /// Agent/TCP/Sack1 of ns-2.35; NewReno towards a peer without SACK.
    Sack1,
    /// A RACK-TLP sender, [`RackSender`](crate::recovery::RackSender).
    Rack(RackSettings),
}

/// The settings of a RACK sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RackSettings {
    /// How losses are found.
    pub detection: Detection,
    /// Segments are spread over the round trip even if the control does not need it.
    pub paces: bool,
    /// Reported segments that make the reordering window zero (RFC 8985 section 6.2, step 4).
    pub threshold: u32,
    /// New segments go out while reports show a hole not yet taken for lost.
    pub limited_transmit: bool,
    /// Spurious timeouts are detected by F-RTO (RFC 5682).
    pub f_rto: bool,
    /// Share of the window that a mark leaves, if it is not that of a loss (RFC 8511).
    pub beta_ecn: Option<BetaEcn>,
    /// Largest number of segments of a burst (handed down as one packet), if pacing counts bursts;
    /// `None` if it counts segments.
    pub bursts: Option<u16>,
    /// The timer wheel of the host's kernel, by which deadlines are rounded.
    pub wheel: TimerWheel,
}

/// How a RACK sender finds losses. Towards a peer without SACK it is [`Detection::DupAcks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detection {
    /// The order of arrivals shows what is lost (RFC 8985).
    Rack,
    /// The number of segments reported above a hole shows that it is lost (RFC 6675).
    Sack,
    /// Duplicate and partial acknowledgements show what is lost (RFC 6582).
    DupAcks,
}

impl RecoveryKind {
    /// Whether this kind needs selective acknowledgements.
    pub fn selective(self) -> bool {
        match self {
            RecoveryKind::Sack | RecoveryKind::Sack1 => true,
            RecoveryKind::Rack(settings) => settings.detection != Detection::DupAcks,
            _ => false,
        }
    }
}

/// The implementation that a recovery follows, where programs and standards differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implementation {
    /// FreeBSD: the fast retransmit makes an output call of its own and restarts the timer; growth
    /// goes on with the ACK that ends a recovery; a timeout halves the window with its inflation.
    Bsd,
    /// The rules of RFC 5681 and 6582.
    Rfc,
    /// ns-2.35: a fast retransmit restarts the timer; growth goes on with the ACK that ends a
    /// recovery; duplicates of what was sent before the last reduction start no recovery
    /// (`bug_fix_`).
    Ns2,
}

/// What the acknowledgement that ends a recovery of NewReno leaves of the congestion window, before it
/// grows (where it does).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// The threshold, at most a segment more than is outstanding, where one segment counts as
    /// outstanding at least (RFC 6582 section 3.2, step 3, option 1).
    Refilled,
    /// The threshold, at most a segment more than is outstanding (FreeBSD 4.x; `exit_recovery_fix_` of
    /// ns-2.35).
    Outstanding,
    /// The window without the packets that duplicates have added to it, whatever is outstanding: a burst
    /// may follow (`NewRenoTcpAgent::recv` of ns-2.35).
    Deflated,
    /// The threshold, if that is less (option 2; `FullTcpAgent::pack_action` of ns-2.35).
    Threshold,
}

/// The recovery of a profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub kind: RecoveryKind,
    pub implementation: Implementation,
    /// Reno, as the congestion control or as the substitute for one that does not get the ECN
    /// feedback it needs.
    pub reno: ClassicReno,
    /// Duplicate acknowledgements that start a fast retransmit.
    pub threshold: u32,
    /// New segments go out at the first duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// How NewReno leaves a recovery.
    pub leaving: Leaving,
    /// Only the first partial acknowledgement of a recovery starts the retransmission timer anew, so
    /// that many losses end in a timeout rather than in a round trip for each (RFC 6582 section 3.2,
    /// step 3; "Impatient" in its section 4). Else each one does ("Slow-but-Steady").
    pub impatient: bool,
    /// As `impatient`, in a recovery with selective acknowledgements (`TcpSocketBase::ProcessAck` of ns-3.44).
    /// RFC 6675 leaves the timer to RFC 6298 (5.3): each one starts it anew.
    pub impatient_with_sack: bool,
    /// Each partial acknowledgement of a recovery with selective acknowledgements sends one segment
    /// whatever the window allows, unless the first outstanding one was retransmitted already
    /// (`TcpSocketBase::ProcessAck` of ns-3.44). RFC 6675 leaves it to the pipe.
    pub partial_ack_sends: bool,
    /// While nothing is known to be lost, an acknowledgement of new data that selectively reports more
    /// is a duplicate too (RFC 6675 section 2), by which the window does not grow
    /// (`TcpSocketBase::ProcessAck` of ns-3.44). Else it grows by each one of new data outside a fast
    /// recovery (RFC 5681 section 3.1).
    pub reports_hold_growth: bool,
    /// An ECN echo on an acknowledgement of new data begins a state of its own, whatever else goes on
    /// (`TcpSocketBase::EnterCwr` of ns-3.44): it reduces the window in a fast recovery too, and after
    /// a timeout raises it to the threshold, which is two segments at least. A loss in that state
    /// reduces nothing, and the state lasts; a timeout reduces the threshold once more. Else echo and
    /// loss in one window of data are one reduction (RFC 3168 section 6.1.2).
    pub cwr_state: bool,
}

impl Rules {
    /// Whether a timeout first takes back what duplicates have added to the window (ns-2's
    /// `RenoTcpAgent::timeout`; the RFCs, since that much has left the network). FreeBSD's
    /// `tcp_timer_rexmt` halves the window as it stands.
    pub fn deflates_at_timeout(&self) -> bool {
        self.implementation != Implementation::Bsd
    }

    /// Whether the ACK that ends a recovery also grows the window.
    pub fn grows_on_leaving(&self) -> bool {
        self.implementation != Implementation::Rfc
    }

    /// Whether duplicate acknowledgements of data sent before the last reduction are ignored by
    /// kinds that have no recovery point of their own.
    pub fn guards(&self) -> bool {
        self.implementation != Implementation::Bsd
    }

    /// The count of duplicate acknowledgements after one more that may not start a recovery
    /// (`is_beyond`). ns-2.35 still counts these for limited transmit: `singledup_` only requires
    /// that fewer than `numdupacks_` have come. The other implementations count from 0 again.
    pub fn counted_for_limited_transmit(&self, duplicates: u32) -> u32 {
        match self.implementation {
            Implementation::Ns2 => (duplicates + 1).min(self.threshold.saturating_sub(1)),
            Implementation::Bsd | Implementation::Rfc => 0,
        }
    }

    /// Whether duplicate acknowledgements of `una` may start a fast retransmit; `recover` was
    /// snd_max at the last reduction. If `una` is `recover`, segments sent twice may cause them:
    /// RFC 6582 (section 3.2, step 1) and ns-2.35 (`highest_ack_ > recover_`) then start none,
    /// FreeBSD 4.x does (`SEQ_LT` in `tcp_input`). RFC 5681 has no such rule for Reno and Tahoe.
    pub fn is_beyond(&self, una: u64, recover: u64) -> bool {
        let careful = match self.implementation {
            Implementation::Ns2 => true,
            Implementation::Rfc => !matches!(self.kind, RecoveryKind::Tahoe | RecoveryKind::Reno),
            Implementation::Bsd => false,
        };
        una > recover || (una == recover && !careful)
    }
}
