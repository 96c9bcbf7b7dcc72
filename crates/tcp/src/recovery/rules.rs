//! What the kinds of recovery share: what a loss does to the windows, and in whose manner.

use crate::flight::Flight;

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
    /// RFC 8985 with a congestion control of the list, by [`Rack`](crate::recovery::Rack); NewReno
    /// towards a peer without SACK.
    Rack(Today),
}

/// The settings of a sender of today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Today {
    /// Name of the congestion control.
    pub control: &'static str,
    /// Segments are spread over the round trip even if the control does not ask for it.
    pub paces: bool,
    /// Reported segments that make the reordering window zero (RFC 8985 section 6.2, step 4).
    pub threshold: u32,
    /// New segments go out while reports tell of a hole not yet taken for lost.
    pub limited_transmit: bool,
    /// Needless timeouts are looked for (RFC 5682).
    pub tries_timeouts: bool,
}

impl RecoveryKind {
    /// Whether it lives on selective acknowledgements.
    pub fn selective(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Rack(_))
    }
}

/// Whose arithmetic, where programs and standards differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// FreeBSD: half the usable window in whole segments; the fast retransmit is a
    /// call of its own that restarts the timer; growth goes on with the ACK that ends a recovery.
    Bsd,
    /// RFC 5681 and 6582: half of what is outstanding, without what limited transmit sent;
    /// unchanged if the same first byte times out again.
    Rfc,
    /// ns-2.35: half the usable window, the threshold in whole packets; a fast retransmit restarts
    /// the timer; duplicates of what was sent before the last reduction start nothing (`bug_fix_`).
    Ns2,
}

/// The recovery of a profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub kind: RecoveryKind,
    pub manner: Manner,
    /// Duplicate acknowledgements that start a fast retransmit.
    pub threshold: u32,
    /// New segments go out at the first duplicates (RFC 3042).
    pub limited_transmit: bool,
}

impl Rules {
    /// A loss was noticed by duplicates; `extra` bytes went out by limited transmit. Reduces the
    /// threshold; the caller sets the window.
    pub fn cut(&self, flight: &mut Flight, extra: u64) {
        if self.reduced_by_echo(flight) {
            return;
        }
        flight.ssthresh = match self.manner {
            Manner::Bsd | Manner::Ns2 => half_in_segments(flight),
            Manner::Rfc => half(flight, flight.outstanding() - extra),
        };
    }

    /// The retransmission timer expired: threshold and window.
    pub fn cut_at_timeout(&self, flight: &mut Flight) {
        let again = flight.timed_out == flight.una + 1;
        if !self.reduced_by_echo(flight) {
            match self.manner {
                Manner::Bsd | Manner::Ns2 => flight.ssthresh = half_in_segments(flight),
                Manner::Rfc if again => {}
                Manner::Rfc => flight.ssthresh = half(flight, flight.outstanding()),
            }
        }
        flight.timed_out = flight.una + 1;
        flight.cwnd = flight.mss();
    }

    /// Whether an ECN echo has reduced the window for the data that is now lost: loss and echo in
    /// one window of data are one reduction (RFC 3168 section 6.1.2). Once asked,
    /// the next loss counts again.
    fn reduced_by_echo(&self, flight: &mut Flight) -> bool {
        let covered = flight.reduced_by_echo && flight.una < flight.reduced;
        flight.reduced_by_echo = false;
        flight.reduced = flight.max;
        covered
    }

    /// An ECN echo reduces the window (RFC 3168 section 6.1.2): half of what may be
    /// out, at least two segments, but never more than before.
    pub fn cut_by_echo(&self, flight: &mut Flight) {
        flight.ssthresh = match self.manner {
            Manner::Bsd | Manner::Ns2 => half_in_segments(flight),
            Manner::Rfc => half(flight, flight.usable()),
        };
        flight.cwnd = flight.cwnd.min(flight.ssthresh);
        (flight.reduced, flight.reduced_by_echo) = (flight.max, true);
    }

    /// Whether the ACK that ends a recovery also grows the window.
    pub fn grows_on_leaving(&self) -> bool {
        self.manner != Manner::Rfc
    }

    /// Whether duplicates of what was sent before the last reduction are ignored by kinds that
    /// have no recovery point of their own.
    pub fn guards(&self) -> bool {
        self.manner != Manner::Bsd
    }
}

/// Half of `outstanding`, at least two segments (RFC 5681 equation 4).
fn half(flight: &Flight, outstanding: u64) -> u64 {
    (outstanding / 2).max(2 * flight.mss())
}

/// Half of the usable window in whole segments, at least two.
fn half_in_segments(flight: &Flight) -> u64 {
    (flight.usable() / 2 / flight.mss()).max(2) * flight.mss()
}
