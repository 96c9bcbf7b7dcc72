//! Which segments are lost: those overtaken (RACK), or, as in Linux without RACK
//! (`net.ipv4.tcp_recovery = 0`), those with enough reported above them, or without selective
//! acknowledgements (`tcp_sack = 0`) the first after enough duplicates and at each partial
//! acknowledgement (RFC 6582; `tcp_newreno_mark_lost`).

use packet::Instant;

use super::Rack;
use super::ack::News;
use crate::congestion::Repair;
use crate::flight::Flight;
use crate::recovery::Detection;
use crate::segment::{Flags, Segment};

impl Rack {
    /// Marks what is found lost; `advanced`: something was acknowledged cumulatively. Returns bytes.
    pub(super) fn find_lost(&mut self, flight: &Flight, advanced: bool, now: Instant) -> u64 {
        self.lost_again = false;
        match self.today.detection {
            Detection::Rack => self.find_overtaken(flight, now),
            Detection::Reports => self.find_below_reports(flight, now),
            Detection::Duplicates => self.find_first(flight, advanced, now),
        }
    }

    /// RFC 8985 section 6.2, step 5: which of the segments sent before the newest delivered one
    /// are lost, and when the others will be. Returns bytes lost.
    fn find_overtaken(&mut self, flight: &Flight, now: Instant) -> u64 {
        let repairing = matches!(self.state, Repair::Recovery | Repair::Loss);
        let (mut lost, mut wait) = (0, Instant::NEVER);
        let mut window = None;
        let mut next = self.board.oldest();
        while let Some(number) = next {
            let record = self.board.get(number);
            if self.order.is_later(record) {
                break;
            }
            next = self.board.after(number);
            let window = *window.get_or_insert_with(|| {
                let settled = repairing || self.board.sacked >= self.today.threshold;
                self.order.window(settled, self.min_rtt.get(), self.srtt)
            });
            let due = record.at + self.order.rtt + window;
            if due <= now {
                lost += record.bytes();
                self.lose(flight, number, now);
            } else {
                wait = if wait == Instant::NEVER { due } else { wait.max(due) };
            }
        }
        self.timers.reorder = wait;
        lost
    }

    /// Linux's `tcp_update_scoreboard` and `tcp_mark_head_lost`: what has as many segments reported
    /// above it as the threshold. A retransmission is not found lost.
    fn find_below_reports(&mut self, flight: &Flight, now: Instant) -> u64 {
        let Some(most_below) = self.board.sacked.checked_sub(self.today.threshold) else {
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
                self.lose(flight, number, now);
            }
        }
        lost
    }

    fn find_first(&mut self, flight: &Flight, advanced: bool, now: Instant) -> u64 {
        let due = match self.state {
            Repair::None | Repair::Reduction => self.board.heard >= self.today.threshold,
            Repair::Recovery => advanced,
            Repair::Loss => false,
        };
        if !due || self.board.is_empty() {
            return 0;
        }
        let first = *self.board.get(self.board.first());
        if first.lost {
            return 0;
        }
        self.lose(flight, self.board.first(), now);
        first.bytes()
    }

    /// Linux's `tcp_add_reno_sack` and `tcp_remove_reno_sacks`: without reports a duplicate tells that
    /// some segment has arrived; of what is acknowledged next, one segment filled the hole and the
    /// others had been told of.
    #[cold]
    pub(super) fn count_duplicates(&mut self, flight: &Flight, segment: &Segment, news: &mut News) {
        let (mss, heard) = (flight.mss(), self.board.heard);
        if news.acked > 0 {
            let known = heard.min(news.segments.saturating_sub(1));
            news.segments -= known;
            news.delivered = news.delivered.saturating_sub(u64::from(known) * mss);
            let goes_on = match self.state {
                Repair::Recovery => true,
                Repair::Loss => flight.max > self.point,
                Repair::None | Repair::Reduction => false,
            };
            self.board.hear(if goes_on { heard - known } else { 0 }, mss);
            return;
        }
        let bare = segment.len == 0 && !segment.flags.any(Flags::SYN.with(Flags::FIN));
        let counts = self.state != Repair::Loss || flight.max > self.point;
        if bare && counts && u64::from(heard) + 1 < self.board.len() {
            self.board.hear(heard + 1, mss);
            news.delivered += mss;
            news.reported = true;
        }
    }

    /// Whether what was out when the state began is acknowledged. Without reports something above it
    /// must be, lest the duplicates of its retransmissions start another recovery (RFC 6582
    /// section 4; Linux's `tcp_try_undo_recovery`).
    pub(super) fn has_passed(&self, flight: &Flight) -> bool {
        let held = self.today.detection == Detection::Duplicates
            && self.state == Repair::Recovery
            && flight.una == self.point;
        flight.una >= self.point && !held
    }

    /// The peer reports nothing.
    pub fn without_reports(&mut self) {
        self.today.detection = Detection::Duplicates;
    }
}
