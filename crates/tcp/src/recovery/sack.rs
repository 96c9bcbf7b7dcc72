//! Recovery with selective acknowledgements: RFC 6675 without rescue retransmission.

use super::board::Board;
use crate::recovery::classic_control::Windows;
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::Rules;
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Between the detection of a loss and the acknowledgement of what was sent until then.
    Recovery,
    /// After a timeout, until everything sent before it is acknowledged.
    Loss,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    mode: Mode,
    /// ACKs with new selective information since the last advance.
    duplicates: u32,
    /// Sequence number whose acknowledgement ends the current mode: all data sent before the mode
    /// began is below it.
    point: u64,
    /// All data below this number that is neither acknowledged nor reported was retransmitted.
    resent_to: u64,
    /// Bytes that limited transmit has sent since the first duplicate.
    limited: u32,
    /// The next segment is sent whatever the pipe.
    unbounded: bool,
    /// A partial acknowledgement has come in this recovery.
    partial: bool,
    board: Board,
    /// Bytes in `board`, in 32 bits since no window is as long as 4 GiB.
    reported: u32,
    /// All data below this number that is not in `board` is lost.
    lost_to: u64,
    /// Bytes in `board` from `lost_to` on.
    above: u32,
}

impl Sack {
    pub fn reset(&mut self) {
        let mut board = std::mem::take(&mut self.board);
        board.clear();
        *self = Sack { board, ..Sack::default() };
    }

    pub fn on_advance(&mut self, w: &mut Windows, acked: u64, segment: &Segment) -> Reaction {
        if !self.board.ranges().is_empty() {
            self.drop_acknowledged(w.rules, w.snd);
        }
        (self.duplicates, self.limited) = (0, 0);
        // Few acknowledgements have SACK blocks: this test is cheaper than to process an empty
        // list.
        let news = if segment.sack.is_empty() { 0 } else { self.board.process(w.snd, segment) };
        if news > 0 && self.mode == Mode::Open && w.rules.reports_hold_growth {
            w.snd.win.held = true;
        }
        if self.mode != Mode::Recovery {
            w.grow(acked);
        }
        if self.mode != Mode::Open && w.snd.una >= self.point {
            self.mode = Mode::Open;
        }
        self.partial = self.mode == Mode::Recovery;
        let sends = self.partial && w.rules.partial_ack_sends;
        self.unbounded = sends && self.resent_to <= w.snd.una;
        if news == 0 { Reaction::default() } else { self.on_report(w, news) }
    }

    pub fn on_duplicate(&mut self, w: &mut Windows, segment: &Segment) -> Reaction {
        if segment.sack.is_empty() || segment.ack != w.snd.una {
            return Reaction::default();
        }
        let news = self.board.process(w.snd, segment);
        if news == 0 { Reaction::default() } else { self.on_report(w, news) }
    }

    /// `news` bytes are reported for the first time.
    fn on_report(&mut self, w: &mut Windows, news: u64) -> Reaction {
        let Windows { rules, snd, .. } = w;
        self.reported += news as u32;
        self.find_lost(rules, snd);
        if self.mode == Mode::Open {
            self.duplicates += 1;
            if self.duplicates >= rules.threshold || self.lost_to > snd.una {
                return self.enter(w);
            }
        }
        Reaction::default()
    }

    /// Whether the current acknowledgement does not restart the retransmission timer.
    pub fn keeps_timer(&self, rules: &Rules, snd: &SendState) -> bool {
        rules.impatient_with_sack && self.partial && snd.una < self.point
    }

    fn enter(&mut self, w: &mut Windows) -> Reaction {
        (self.mode, self.partial) = (Mode::Recovery, false);
        self.point = w.snd.max;
        self.resent_to = w.snd.una;
        w.on_loss(u64::from(self.limited), 0);
        w.fast_retransmit()
    }

    pub fn on_timeout(&mut self, snd: &SendState) {
        self.resume(snd, snd.max);
        self.board.clear();
        (self.reported, self.lost_to, self.above) = (0, 0, 0);
    }

    /// Everything below `point` that is not reported is retransmitted.
    pub fn resume(&mut self, snd: &SendState, point: u64) {
        self.mode = Mode::Loss;
        self.point = point;
        self.resent_to = snd.una;
        (self.duplicates, self.limited) = (0, 0);
    }

    /// Nothing is retransmitted for the time being (RFC 5682 section 3).
    pub fn suspend(&mut self) {
        self.mode = Mode::Open;
        (self.duplicates, self.limited) = (0, 0);
    }

    /// Whether nothing is reported and nothing repaired.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.mode == Mode::Open
            && self.duplicates == 0
            && !self.partial
            && !self.unbounded
            && self.board.ranges().is_empty()
    }

    /// Whether a fast recovery is under way.
    pub fn recovering(&self) -> bool {
        self.mode == Mode::Recovery
    }

    /// The ranges reported and not acknowledged.
    pub fn reports(&self) -> &[(u64, u64)] {
        self.board.ranges()
    }

    fn drop_acknowledged(&mut self, rules: &Rules, snd: &SendState) {
        self.reported -= self.board.drop_below(snd.una) as u32;
        self.find_lost(rules, snd);
    }

    /// Updates what is lost by IsLost of RFC 6675: all below the point above which three ranges, or
    /// more than two segments, are reported (with another threshold, that many ranges, or more than
    /// that many segments less one).
    fn find_lost(&mut self, rules: &Rules, snd: &SendState) {
        let most = u64::from(rules.threshold - 1) * snd.mss();
        let (mut bytes, mut ranges) = (0, 0);
        for &(start, end) in self.board.ranges().iter().rev() {
            bytes += end - start;
            ranges += 1;
            if ranges >= rules.threshold || bytes > most {
                (self.lost_to, self.above) = (start, bytes as u32);
                return;
            }
        }
        (self.lost_to, self.above) = (0, 0);
    }

    /// Bytes below `limit` that were reported.
    fn reported_below(&self, limit: u64) -> u64 {
        let below = self.board.ranges().iter().take_while(|r| r.0 < limit);
        below.map(|&(s, e)| e.min(limit) - s).sum()
    }

    /// Bytes retransmitted and neither acknowledged nor reported.
    fn resent(&self, snd: &SendState) -> u64 {
        if self.resent_to <= snd.una {
            return 0;
        }
        self.resent_to - snd.una - self.reported_below(self.resent_to)
    }

    /// RFC 6675 pipe: bytes neither reported nor lost, and bytes retransmitted and not reported.
    fn pipe(&self, snd: &SendState) -> u64 {
        let not_lost = if self.lost_to > snd.una {
            snd.max - self.lost_to - u64::from(self.above)
        } else {
            snd.outstanding() - u64::from(self.reported)
        };
        not_lost + if self.mode == Mode::Recovery { self.resent(snd) } else { 0 }
    }

    /// The first segment below `limit` that is neither reported nor retransmitted.
    fn hole(&self, snd: &SendState, limit: u64) -> Option<Chunk> {
        self.board.hole(snd, self.resent_to.max(snd.una), limit)
    }

    pub fn first(&self, snd: &SendState) -> Chunk {
        self.board.first(snd)
    }

    pub fn next(&self, rules: &Rules, snd: &SendState) -> Option<Chunk> {
        let mss = snd.mss();
        match self.mode {
            Mode::Open => self.next_open(rules, snd),
            Mode::Recovery if self.unbounded => {
                let next = self.hole(snd, self.lost_to).or_else(|| snd.new_chunk());
                Some(next.unwrap_or_else(|| self.first(snd)))
            }
            Mode::Recovery => {
                // The sequence number of a FIN must not keep back a full segment.
                if self.pipe(snd) + mss > snd.win.cwnd + u64::from(snd.fin_sent) {
                    return None;
                }
                let top = self.board.ranges().last().map_or(0, |r| r.0);
                self.hole(snd, self.lost_to)
                    .or_else(|| snd.new_chunk())
                    .or_else(|| self.hole(snd, top))
            }
            Mode::Loss => match self.hole(snd, self.point) {
                Some(chunk) => {
                    let sum = self.resent(snd) + chunk.end() - chunk.seq;
                    // The sequence number of a FIN needs no room here either.
                    (sum <= snd.win.cwnd + u64::from(chunk.fin())).then_some(chunk)
                }
                None => new_within(snd),
            },
        }
    }

    fn next_open(&self, rules: &Rules, snd: &SendState) -> Option<Chunk> {
        let fits = new_within(snd);
        let limited = self.duplicates > 0 && fits.is_none() && rules.limited_transmit;
        if limited && self.pipe(snd) + snd.mss() <= snd.win.cwnd {
            return snd.new_chunk();
        }
        fits
    }

    pub fn on_sent(&mut self, snd: &SendState, chunk: Chunk) {
        self.unbounded = false;
        if self.mode == Mode::Open {
            if self.duplicates > 0 {
                self.limited += snd.beyond_window(chunk) as u32;
            }
        } else if chunk.seq < snd.max {
            self.resent_to = self.resent_to.max(chunk.end());
        }
    }
}

/// New data, limited by the congestion window against all outstanding bytes.
fn new_within(snd: &SendState) -> Option<Chunk> {
    let chunk = snd.new_chunk()?;
    let fits = chunk.len == 0 || chunk.seq + u64::from(chunk.len) <= snd.una + snd.win.cwnd;
    fits.then_some(chunk)
}

#[cfg(test)]
mod tests;
