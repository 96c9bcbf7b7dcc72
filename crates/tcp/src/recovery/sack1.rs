//! Recovery with selective acknowledgements as ns-2 has it: Agent/TCP/Sack1, after the pipe of Fall and
//! Floyd, *Simulation-based Comparisons of Tahoe, Reno, and SACK TCP* (CCR 1996).
//!
//! Unlike RFC 6675 it counts acknowledgements and not what they report: each allows one packet, a
//! partial one two; a hole is lost if anything above it is reported; and reports count only from
//! the first duplicate to the end of the recovery.

use super::board::Board;
use crate::recovery::classic_control::Windows;
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::Rules;
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};

#[derive(Clone, Debug, Default)]
pub(crate) struct Sack1 {
    /// A fast recovery is under way (`fastrecov_`).
    recovering: bool,
    /// The packet that begins the recovery is still to be sent; it is not counted in the pipe.
    begins: bool,
    /// A timeout came and nothing new was acknowledged since: duplicates do not count (`timeout_`).
    ignores_duplicates: bool,
    /// Duplicates that reported something new.
    duplicates: u32,
    /// Packets presumed to be in flight during a recovery (`pipe_`); may be negative.
    pipe: i32,
    /// Sequence number whose acknowledgement ends the recovery; after a timeout more than this must
    /// be acknowledged before the next recovery (`recover_`).
    point: u64,
    /// All data below this number that is not reported was retransmitted in this recovery.
    resent_to: u64,
    board: Board,
}

impl Sack1 {
    pub fn reset(&mut self) {
        let mut board = std::mem::take(&mut self.board);
        board.clear();
        *self = Sack1 { board, ..Sack1::default() };
    }

    pub fn on_advance(&mut self, w: &mut Windows, acked: u64, segment: &Segment) {
        if self.recovering && w.snd.una < self.point {
            // One for the acknowledgement, one for the packet that filled the hole.
            self.pipe -= 2;
            self.board.drop_below(w.snd.una);
            self.board.process(w.snd, segment);
            return;
        }
        if !self.recovering {
            w.grow(acked);
        } else {
            (self.recovering, self.point) = (false, 0);
        }
        (self.duplicates, self.ignores_duplicates) = (0, false);
        self.board.clear();
    }

    pub fn on_duplicate(&mut self, w: &mut Windows, segment: &Segment) -> Reaction {
        if self.recovering {
            self.pipe -= 1;
            self.board.process(w.snd, segment);
            return Reaction::default();
        }
        if self.ignores_duplicates
            || segment.ack != w.snd.una
            || self.board.process(w.snd, segment) == 0
        {
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates == w.rules.threshold { self.enter(w) } else { Reaction::default() }
    }

    fn enter(&mut self, w: &mut Windows) -> Reaction {
        let snd = &w.snd;
        let echoed = snd.win.by_echo && snd.una < snd.reduced;
        if snd.una <= self.point && !echoed {
            return Reaction::default();
        }
        // If an ECN echo has reduced the window for this data, the recovery ends with the window of
        // data of that echo.
        self.point = if echoed { snd.reduced } else { snd.max };
        (self.recovering, self.begins) = (true, true);
        self.pipe = packets(snd) - w.rules.threshold as i32;
        self.resent_to = snd.una;
        w.on_loss(0, 0);
        Reaction { resend_only: true, ..w.fast_retransmit() }
    }

    /// Everything up to `point` is retransmitted, after a timeout.
    pub fn resume(&mut self, point: u64) {
        self.suspend();
        (self.ignores_duplicates, self.point) = (true, point);
    }

    /// Nothing is retransmitted for the time being (RFC 5682 section 3), and duplicates count.
    pub fn suspend(&mut self) {
        (self.recovering, self.ignores_duplicates) = (false, false);
        (self.duplicates, self.point) = (0, 0);
        self.board.clear();
    }

    /// Whether a fast recovery is under way.
    pub fn recovering(&self) -> bool {
        self.recovering
    }

    /// The ranges reported and not acknowledged.
    pub fn reports(&self) -> &[(u64, u64)] {
        self.board.ranges()
    }

    pub fn first(&self, snd: &SendState) -> Chunk {
        self.board.first(snd)
    }

    pub fn next(&self, rules: &Rules, snd: &SendState) -> Option<Chunk> {
        if !self.recovering {
            let limited =
                self.duplicates.min(rules.threshold - 1) * u32::from(rules.limited_transmit);
            return snd.fitting(snd.win.cwnd + u64::from(limited) * snd.mss());
        }
        if i64::from(self.pipe) >= (snd.win.cwnd / snd.mss()) as i64 {
            return None;
        }
        let top = self.board.ranges().last().map_or(0, |r| r.0);
        let hole = self.board.hole(snd, self.resent_to.max(snd.una), top);
        hole.or_else(|| snd.new_chunk())
    }

    pub fn on_sent(&mut self, snd: &SendState, chunk: Chunk) {
        if !self.recovering {
            return;
        }
        let begins = std::mem::take(&mut self.begins);
        self.pipe += i32::from(!begins);
        if chunk.seq < snd.max {
            self.resent_to = self.resent_to.max(chunk.end());
        }
    }
}

/// Number of packets outstanding.
fn packets(snd: &SendState) -> i32 {
    snd.outstanding().div_ceil(snd.mss()) as i32
}

#[cfg(test)]
mod tests;
