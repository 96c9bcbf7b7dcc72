//! Which segments are lost: those overtaken (RACK), or, as in Linux without RACK
//! (`net.ipv4.tcp_recovery = 0`), those with enough reported above them, or without selective
//! acknowledgements (`tcp_sack = 0`) the first after enough duplicates and at each partial
//! acknowledgement (RFC 6582; `tcp_newreno_mark_lost`).

use packet::Instant;

use super::RackSender;
use crate::congestion::CaState;
use crate::recovery::rules::Detection;
use crate::segment::Segment;
use crate::send_state::SendState;
use crate::tracker::AckInfo;

impl RackSender {
    /// Marks the segments that are found lost; `advanced`: the cumulative acknowledgement has
    /// advanced. Returns their bytes.
    pub(super) fn find_lost(&mut self, snd: &SendState, advanced: bool, now: Instant) -> u64 {
        self.retransmission_lost = false;
        match self.settings.detection {
            Detection::Rack => self.find_overtaken(snd, now),
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
        let mut next = self.tracker.board.oldest();
        while let Some(number) = next {
            let record = self.tracker.board.get(number);
            if self.tracker.reordering.is_later(record) {
                break;
            }
            next = self.tracker.board.after(number);
            let window = *window.get_or_insert_with(|| {
                let settled = repairing || self.tracker.board.sacked >= self.settings.threshold;
                self.tracker.reordering.window(
                    settled,
                    self.tracker.min_rtt.get(),
                    self.tracker.srtt,
                )
            });
            let due = record.at + self.tracker.reordering.rtt + window;
            if due <= now {
                lost += record.bytes();
                self.mark_lost(snd, number, now);
                self.tracker.board.take_off(number);
            } else {
                wait = if wait == Instant::NEVER { due } else { wait.max(due) };
            }
        }
        self.timers.reorder = match wait {
            Instant::NEVER => Instant::NEVER,
            due => self.settings.wheel.end_of_a_hole(now, due.since(now)),
        };
        lost
    }

    /// Linux's `tcp_update_scoreboard` and `tcp_mark_head_lost`: marks a segment as lost if the
    /// number of reported segments above it is at least the degree of reordering (or the threshold,
    /// if that is larger). Retransmissions are not checked.
    fn find_below_reports(&mut self, snd: &SendState, now: Instant) -> u64 {
        let degree = self.tracker.reordering.degree(self.settings.threshold);
        let Some(most_below) = self.tracker.board.sacked.checked_sub(degree) else {
            return 0;
        };
        let (mut lost, mut below) = (0, 0);
        for number in self.tracker.board.first()..self.tracker.board.end() {
            let record = *self.tracker.board.get(number);
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
            CaState::Open | CaState::Cwr => self.tracker.board.dupacks >= self.settings.threshold,
            // A partial acknowledgement shows the next loss, up to the recovery point.
            CaState::Recovery => advanced && snd.una < self.recovery_point,
            CaState::Loss => false,
        };
        if !due || self.tracker.board.is_empty() {
            return 0;
        }
        let first = *self.tracker.board.get(self.tracker.board.first());
        if first.lost {
            return 0;
        }
        self.mark_lost(snd, self.tracker.board.first(), now);
        first.bytes()
    }

    /// Without SACK: counts a duplicate acknowledgement, or reduces the count when data is
    /// acknowledged (Linux's `tcp_add_reno_sack` and `tcp_remove_reno_sacks`).
    #[cold]
    pub(super) fn count_duplicates(
        &mut self,
        snd: &SendState,
        segment: &Segment,
        info: &mut AckInfo,
    ) {
        // In other states an advance resets the count (`tcp_reset_reno_sack`, in `tcp_process_loss`
        // too).
        let goes_on = self.state == CaState::Recovery;
        let counts = self.state != CaState::Loss || snd.max > self.recovery_point;
        self.tracker.count_duplicates(segment, snd.mss(), (goes_on, counts), info);
    }

    /// Whether all data sent when the state began is acknowledged. Without SACK more must be
    /// acknowledged, lest duplicates caused by retransmissions start another recovery (RFC 6582
    /// section 4; Linux's `tcp_try_undo_recovery`).
    pub(super) fn has_passed(&self, snd: &SendState) -> bool {
        let held = self.settings.detection == Detection::DupAcks
            && self.state == CaState::Recovery
            && snd.una == self.recovery_point;
        snd.una >= self.recovery_point && !held
    }

    /// The peer does not use SACK: losses are detected by duplicate acknowledgements.
    pub fn without_reports(&mut self) {
        self.settings.detection = Detection::DupAcks;
    }
}
