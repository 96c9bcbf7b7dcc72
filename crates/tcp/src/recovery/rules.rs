//! What the kinds of recovery share: what a loss does to the windows, and in whose manner.

use crate::ecn::{BetaEcn, EchoCut};
use crate::send_state::SendState;

/// Which recovery a profile uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryKind {
    /// Fast retransmit, then slow start (Jacobson 1988; Fall and Floyd, *Simulation-based
    /// Comparisons of Tahoe, Reno, and SACK TCP*, CCR 1996).
    Tahoe,
    /// 4.3BSD-Reno.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 6675; NewReno towards a peer without SACK.
    Sack,
    /// A RACK-TLP sender, [`RackSender`](crate::recovery::RackSender).
    Rack(RackSettings),
}

/// The settings of a RACK sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RackSettings {
    /// How losses are found.
    pub detection: Detection,
    /// Name of the congestion control.
    pub control: &'static str,
    /// Segments are spread over the round trip even if the control does not ask for it.
    pub paces: bool,
    /// Reported segments that make the reordering window zero (RFC 8985 section 6.2, step 4).
    pub threshold: u32,
    /// New segments go out while reports tell of a hole not yet taken for lost.
    pub limited_transmit: bool,
    /// Spurious timeouts are looked for (RFC 5682).
    pub f_rto: bool,
    /// What a mark leaves of the window, where that is not what a loss leaves (RFC 8511).
    pub beta_ecn: Option<BetaEcn>,
    /// A scalable control looks for classic queues.
    pub classic_fallback: bool,
}

/// How a RACK sender finds losses; by [`Detection::DupAcks`] towards a peer without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detection {
    /// By the order of arrivals (RFC 8985).
    RackSender,
    /// By the number of segments reported above (RFC 6675).
    Sack,
    /// By duplicate and partial acknowledgements (RFC 6582).
    DupAcks,
}

impl RecoveryKind {
    /// Whether it lives on selective acknowledgements.
    pub fn selective(self) -> bool {
        match self {
            RecoveryKind::Sack => true,
            RecoveryKind::Rack(settings) => settings.detection != Detection::DupAcks,
            _ => false,
        }
    }
}

/// Whose arithmetic, where programs and standards differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implementation {
    /// FreeBSD: half the usable window in whole segments; the fast retransmit is a
    /// call of its own that restarts the timer; growth goes on with the ACK that ends a recovery.
    Bsd,
    /// RFC 5681 and 6582: half of what is outstanding in the network ([`in_network`]), without what
    /// limited transmit sent; unchanged if the same first byte times out again.
    Rfc,
    /// ns-2.35: half the usable window, the threshold in whole packets, at least two; a fast
    /// retransmit restarts the timer; duplicates of what was sent before the last reduction start
    /// nothing (`bug_fix_`).
    Ns2,
}

/// What the acknowledgement that ends a recovery of NewReno leaves of the congestion window, before it
/// grows (where it does).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// The threshold, at most a segment more than is outstanding, that being one at least (RFC 6582
    /// section 3.2, step 3, option 1).
    Refilled,
    /// The threshold, at most a segment more than is outstanding (FreeBSD 4.x; `exit_recovery_fix_` of
    /// ns-2.35).
    Outstanding,
    /// What it was without the packets that duplicates have added, whatever is outstanding: a burst may
    /// follow (`NewRenoTcpAgent::recv` of ns-2.35).
    Deflated,
    /// The threshold, if that is less (option 2; `FullTcpAgent::pack_action` of ns-2.35).
    Threshold,
}

/// The recovery of a profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub kind: RecoveryKind,
    pub implementation: Implementation,
    /// Duplicate acknowledgements that start a fast retransmit.
    pub threshold: u32,
    /// New segments go out at the first duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// How NewReno leaves a recovery.
    pub leaving: Leaving,
}

impl Rules {
    /// A loss was noticed by duplicates; `extra` bytes went out by limited transmit. Reduces the
    /// threshold; returns the window, not inflated, which the caller sets: the threshold, in ns-2
    /// half the window with its fraction, at least one packet (`TcpAgent::slowdown`).
    pub fn cut(&self, snd: &mut SendState, extra: u64) -> u64 {
        if self.reduced_by_echo(snd) {
            return snd.cwnd.min(snd.ssthresh);
        }
        let halved = halved(snd);
        match self.implementation {
            Implementation::Bsd | Implementation::Ns2 => snd.ssthresh = half_in_segments(snd),
            Implementation::Rfc => snd.ssthresh = half(snd, in_network(snd, extra)),
        }
        if self.implementation == Implementation::Ns2 { halved } else { snd.ssthresh }
    }

    /// The retransmission timer expired: threshold and window.
    pub fn cut_at_timeout(&self, snd: &mut SendState) {
        let again = snd.timed_out;
        if !self.reduced_by_echo(snd) {
            match self.implementation {
                Implementation::Bsd | Implementation::Ns2 => snd.ssthresh = half_in_segments(snd),
                Implementation::Rfc if again => {}
                Implementation::Rfc => snd.ssthresh = half(snd, in_network(snd, 0)),
            }
        }
        snd.timed_out = true;
        snd.cwnd = snd.mss();
    }

    /// Whether an ECN echo has reduced the window for the data that is now lost: loss and echo in
    /// one window of data are one reduction (RFC 3168 section 6.1.2). Once asked,
    /// the next loss counts again.
    fn reduced_by_echo(&self, snd: &mut SendState) -> bool {
        let covered = snd.reduced_by_echo && snd.una < snd.reduced;
        snd.reduced_by_echo = false;
        snd.reduced = snd.max;
        covered
    }

    /// An ECN echo halves the window (RFC 3168 section 6.1.2; RFC 8511 leaves more of it), which is
    /// never more than before, and the threshold to at least two segments.
    pub fn cut_by_echo(&self, snd: &mut SendState, cut: EchoCut) {
        let halved = halved(snd);
        snd.ssthresh = match (cut, self.implementation) {
            (EchoCut::Beta(beta), _) => beta.threshold(snd.usable(), snd.mss()),
            (_, Implementation::Bsd | Implementation::Ns2) => half_in_segments(snd),
            (_, Implementation::Rfc) => half(snd, snd.usable()),
        };
        snd.cwnd = snd.cwnd.min(match cut {
            EchoCut::Half => halved,
            EchoCut::AsLoss | EchoCut::Beta(_) => snd.ssthresh,
        });
        (snd.reduced, snd.reduced_by_echo) = (snd.max, true);
    }

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

    /// Whether duplicates of what was sent before the last reduction are ignored by kinds that
    /// have no recovery point of their own.
    pub fn guards(&self) -> bool {
        self.implementation != Implementation::Bsd
    }
}

/// FlightSize, "the amount of outstanding data in the network" (RFC 5681 section 3.1), without
/// `extra` bytes of limited transmit: what is not acknowledged, but at most the congestion window.
/// That much is acknowledged out of order and stays outstanding while a repair is under way, and
/// is no longer in the network; the window bounds what is, since in a recovery RFC 6675's pipe is
/// held to it. The pipe itself would be too little: it leaves out what is known to be lost, which
/// FlightSize counts (RFC 6675 section 5, step 4.2), and at a timeout it has run dry.
fn in_network(snd: &SendState, extra: u64) -> u64 {
    (snd.outstanding() - extra).min(snd.cwnd)
}

/// Half of `bytes`, at least two segments (RFC 5681 equation 4).
fn half(snd: &SendState, bytes: u64) -> u64 {
    (bytes / 2).max(2 * snd.mss())
}

/// Half of the usable window, at least one segment.
fn halved(snd: &SendState) -> u64 {
    (snd.usable() / 2).max(snd.mss())
}

/// Half of the usable window in whole segments, at least two.
fn half_in_segments(snd: &SendState) -> u64 {
    (snd.usable() / 2 / snd.mss()).max(2) * snd.mss()
}
