//! Which segments are lost: those overtaken (RACK), or, as in Linux without RACK
//! (`net.ipv4.tcp_recovery = 0`), those with enough reported above them, or without selective
//! acknowledgements (`tcp_sack = 0`) the first after enough duplicates and at each partial
//! acknowledgement (RFC 6582; `tcp_newreno_mark_lost`).

use packet::Instant;

use super::RackSender;
use super::ack::AckInfo;
use crate::congestion::CaState;
use crate::recovery::Detection;
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;

impl RackSender {
    /// Marks what is found lost; `advanced`: something was acknowledged cumulatively. Returns bytes.
    pub(super) fn find_lost(&mut self, snd: &SendState, advanced: bool, now: Instant) -> u64 {
        self.lost_again = false;
        match self.settings.detection {
            Detection::RackSender => self.find_overtaken(snd, now),
            Detection::Sack => self.find_below_reports(snd, now),
            Detection::DupAcks => self.find_first(snd, advanced, now),
        }
    }

    /// RFC 8985 section 6.2, step 5: which of the segments sent before the newest delivered one
    /// are lost, and when the others will be. Returns bytes lost.
    fn find_overtaken(&mut self, snd: &SendState, now: Instant) -> u64 {
        let repairing = matches!(self.state, CaState::Recovery | CaState::Loss);
        let (mut lost, mut wait) = (0, Instant::NEVER);
        let mut window = None;
        let mut next = self.board.oldest();
        while let Some(number) = next {
            let record = self.board.get(number);
            if self.reordering.is_later(record) {
                break;
            }
            next = self.board.after(number);
            let window = *window.get_or_insert_with(|| {
                let settled = repairing || self.board.sacked >= self.settings.threshold;
                self.reordering.window(settled, self.min_rtt.get(), self.srtt)
            });
            let due = record.at + self.reordering.rtt + window;
            if due <= now {
                lost += record.bytes();
                self.mark_lost(snd, number, now);
            } else {
                wait = if wait == Instant::NEVER { due } else { wait.max(due) };
            }
        }
        self.timers.reorder = wait;
        lost
    }

    /// Linux's `tcp_update_scoreboard` and `tcp_mark_head_lost`: what has as many segments reported
    /// above it as the threshold. A retransmission is not found lost.
    fn find_below_reports(&mut self, snd: &SendState, now: Instant) -> u64 {
        let Some(most_below) = self.board.sacked.checked_sub(self.settings.threshold) else {
            return 0;
        };
        let (mut lost, mut below) = (0, 0);
        for number in self.board.first()..self.board.end() {
            let record = *self.board.get(number);
            if record.sacked {
                below += 1;
                if below > most_below {
                    break;
                }
            } else if !record.lost {
                lost += record.bytes();
                self.mark_lost(snd, number, now);
            }
        }
        lost
    }

    fn find_first(&mut self, snd: &SendState, advanced: bool, now: Instant) -> u64 {
        let due = match self.state {
            CaState::Open | CaState::Cwr => self.board.dupacks >= self.settings.threshold,
            CaState::Recovery => advanced,
            CaState::Loss => false,
        };
        if !due || self.board.is_empty() {
            return 0;
        }
        let first = *self.board.get(self.board.first());
        if first.lost {
            return 0;
        }
        self.mark_lost(snd, self.board.first(), now);
        first.bytes()
    }

    /// Linux's `tcp_add_reno_sack` and `tcp_remove_reno_sacks`: without reports a duplicate tells that
    /// some segment has arrived; of what is acknowledged next, one segment filled the hole and the
    /// others had been told of.
    #[cold]
    pub(super) fn count_duplicates(
        &mut self,
        snd: &SendState,
        segment: &Segment,
        info: &mut AckInfo,
    ) {
        let (mss, dupacks) = (snd.mss(), self.board.dupacks);
        if info.acked > 0 {
            let known = dupacks.min(info.segments.saturating_sub(1));
            info.segments -= known;
            info.delivered = info.delivered.saturating_sub(u64::from(known) * mss);
            let goes_on = match self.state {
                CaState::Recovery => true,
                CaState::Loss => snd.max > self.recovery_point,
                CaState::Open | CaState::Cwr => false,
            };
            self.board.set_dupacks(if goes_on { dupacks - known } else { 0 }, mss);
            return;
        }
        let bare = segment.len == 0 && !segment.flags.any(Flags::SYN.with(Flags::FIN));
        let counts = self.state != CaState::Loss || snd.max > self.recovery_point;
        if bare && counts && u64::from(dupacks) + 1 < self.board.len() {
            self.board.set_dupacks(dupacks + 1, mss);
            info.delivered += mss;
            info.reported = true;
        }
    }

    /// Whether what was out when the state began is acknowledged. Without reports something above it
    /// must be, lest the duplicates of its retransmissions start another recovery (RFC 6582
    /// section 4; Linux's `tcp_try_undo_recovery`).
    pub(super) fn has_passed(&self, snd: &SendState) -> bool {
        let held = self.settings.detection == Detection::DupAcks
            && self.state == CaState::Recovery
            && snd.una == self.recovery_point;
        snd.una >= self.recovery_point && !held
    }

    /// The peer reports nothing.
    pub fn without_reports(&mut self) {
        self.settings.detection = Detection::DupAcks;
    }
}
