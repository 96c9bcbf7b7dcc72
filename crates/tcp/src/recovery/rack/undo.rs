//! Taking a reduction back: a timeout or a recovery that turns out to be needless.

use packet::Instant;

use super::RackSender;
use super::ack::{AckContext, Outcome};
use crate::congestion::CaState;
use crate::segment::Segment;
use crate::send_state::SendState;
use crate::tracker::AckInfo;

/// What is put back if every retransmission turns out to be spurious (Linux's `tcp_undo_...`,
/// after RFC 3522 and RFC 3708).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// The windows are put back, too. Not after marks: there was congestion, whatever turns out (RFC 4015 step 2;
    /// Linux's `prior_ssthresh = 0`).
    pub(super) restores: bool,
    /// A segment was retransmitted.
    resent: bool,
    /// Retransmissions of which no duplicate was reported.
    pending: u32,
    /// First number not acknowledged when it began.
    since: u64,
}

impl RackSender {
    /// A duplicate was reported: RACK widens its window, unless it was the probe's; an undo comes
    /// nearer.
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

    /// Everything retransmitted was spurious: each has been reported twice (RFC 3708), or the
    /// acknowledgement answers a segment sent before the first retransmission (RFC 3522).
    pub(super) fn may_undo(&self, cx: &AckContext, segment: &Segment, info: &AckInfo) -> bool {
        let Some(undo) = &self.undo else { return false };
        let answers_earlier = |first| cx.answers_earlier(segment, first);
        undo.resent
            && (undo.pending == 0 || info.advances && self.resent_at.is_some_and(answers_earlier))
    }

    /// Marks were reported: the reduction that may be under way stays.
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
        // What filled the hole was only late (Linux's `tcp_try_undo_partial`).
        self.tracker.reordering.reordering_seen |= self.state == CaState::Recovery;
        if let Some(undo) = self.undo.filter(|undo| undo.restores) {
            snd.win.cwnd = snd.win.cwnd.max(undo.cwnd);
            snd.win.ssthresh = snd.win.ssthresh.max(undo.ssthresh);
            self.tracker.control.undo(&mut snd.win);
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
