//! Undo of a reduction, when a timeout or a recovery turns out to be needless.

use packet::Instant;

use super::RackSender;
use super::ack::{AckContext, Outcome};
use crate::congestion::CaState;
use crate::segment::Segment;
use crate::send_state::SendState;
use crate::tracker::AckInfo;

/// The state to restore if every retransmission turns out to be spurious (Linux's `tcp_undo_...`,
/// after RFC 3522 and RFC 3708).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// An undo restores the windows, too. It does not after marks: there was congestion in any case
    /// (RFC 4015 step 2; Linux's `prior_ssthresh = 0`).
    pub(super) restores: bool,
    /// A segment was retransmitted.
    pub(super) resent: bool,
    /// Number of retransmissions of which no duplicate was reported.
    pending: u32,
    /// First unacknowledged sequence number when the reduction began.
    since: u64,
}

impl RackSender {
    /// A duplicate was reported: RACK widens its reordering window, unless the tail loss probe
    /// caused it, and one retransmission less is pending before an undo.
    pub(super) fn note_duplicate(&mut self, snd: &SendState, info: &AckInfo) {
        let Some((_, end)) = info.duplicate else { return };
        if !(self.probe.resent && end == self.probe.end) {
            self.tracker.reordering.on_duplicate(snd.una, snd.max);
        }
        if let Some(undo) = &mut self.undo
            && end > undo.since
        {
            undo.pending = undo.pending.saturating_sub(1);
        }
    }

    /// Whether all retransmissions were spurious: a duplicate was reported for each (RFC 3708), or
    /// the acknowledgement answers a segment sent before the first retransmission (RFC 3522).
    pub(super) fn may_undo(&self, cx: &AckContext, segment: &Segment, info: &AckInfo) -> bool {
        let Some(undo) = &self.undo else { return false };
        let answers_earlier = |first| cx.answers_earlier(segment, first);
        undo.resent
            && (undo.pending == 0 || info.advances && self.resent_at.is_some_and(answers_earlier))
    }

    /// Marks were reported: an undo of the current reduction will not restore the windows.
    pub(super) fn forbid_restoring(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.restores = false;
        }
    }

    pub(super) fn every_copy_came_twice(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.resent && undo.pending == 0)
    }

    pub(super) fn undo_reduction(&mut self, snd: &mut SendState, outcome: &mut Outcome) {
        outcome.spurious_rto = self.state == CaState::Loss;
        // The segment that filled the hole was only late (Linux's `tcp_try_undo_partial`).
        self.tracker.reordering.reordering_seen |= self.state == CaState::Recovery;
        if let Some(undo) = self.undo.filter(|undo| undo.restores) {
            snd.win.cwnd = snd.win.cwnd.max(undo.cwnd);
            snd.win.ssthresh = snd.win.ssthresh.max(undo.ssthresh);
            let ends = self.state == CaState::Recovery && self.has_passed(snd);
            self.tracker.control.undo(&mut snd.win, ends);
        }
        self.undo = None;
        if self.state != CaState::Open {
            self.tracker.board.unmark_lost();
            self.exit_recovery();
        }
    }

    pub(super) fn remember(&self, snd: &SendState) -> Undo {
        Undo {
            cwnd: snd.win.cwnd,
            ssthresh: snd.win.ssthresh,
            restores: self.state != CaState::Cwr,
            resent: false,
            pending: u32::from(self.probe.resent),
            since: snd.una,
        }
    }

    /// A segment was retransmitted.
    pub(super) fn note_resent(&mut self, now: Instant) {
        self.resent_at.get_or_insert(now);
        if let Some(undo) = &mut self.undo {
            undo.resent = true;
            undo.pending += 1;
        }
    }
}
