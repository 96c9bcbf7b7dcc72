//! How data that the program wrote, and its close, are handed to TCP.

use crate::clock::Moment;
use crate::connection::State;
use crate::endpoint::TcpEndpoint;
use crate::profile::Ending;

/// Upper bound of the sequence numbers of an endless write.
const ENDLESS: u64 = 1 << 62;
/// A write of fewer bytes than this goes into small buffers...
const SMALL_WRITE: u64 = 208;
/// ... of this many bytes, each with an output call of its own.
const SMALL_PIECE: u64 = 100;

impl TcpEndpoint {
    /// Whether data that the program wrote, or its close, may be handed to TCP now.
    #[inline]
    pub(crate) fn has_writes(&self) -> bool {
        (self.conn.unwritten > 0 || self.call.closing && self.fin_is_due())
            && matches!(self.conn.state, State::Established | State::CloseWait)
    }

    /// Hands data that the program wrote, or its close, to TCP.
    pub(crate) fn take_writes(&mut self, moment: Moment) {
        if !self.profile.output.bsd {
            // Both together, so that the last data segment carries the FIN.
            self.hand_over(self.conn.unwritten);
            self.queue_fin(moment);
        } else if self.conn.unwritten > 0 {
            self.hand_over(self.next_piece());
        } else {
            self.queue_fin(moment);
        }
    }

    /// Number of bytes that the socket layer hands over next.
    fn next_piece(&self) -> u64 {
        let rules = &self.profile.output;
        let rest = self.conn.unwritten;
        let buffered = self.tx.snd.end - self.tx.snd.una;
        if rules.small_write_split && rest < SMALL_WRITE {
            rest.min(SMALL_PIECE)
        } else if rules.write_chunk == 0 || buffered > self.tx.snd.window() + self.tx.snd.mss() {
            // Beyond the window the pieces make no difference, and an endless write has no last
            // piece.
            rest
        } else {
            rest.min(rules.write_chunk)
        }
    }

    fn hand_over(&mut self, bytes: u64) {
        self.tx.snd.end = self.tx.snd.end.saturating_add(bytes).min(ENDLESS);
        self.conn.unwritten -= bytes;
    }

    /// Whether the close may be handed to TCP: a FIN in a segment of its own waits until all data
    /// is sent.
    fn fin_is_due(&self) -> bool {
        self.profile.ending != Ending::BareFin || self.tx.snd.max >= self.tx.snd.end
    }

    fn queue_fin(&mut self, moment: Moment) {
        if !self.call.closing || self.tx.snd.fin_queued || !self.fin_is_due() {
            return;
        }
        self.conn.on_close();
        self.tx.snd.fin_queued = self.profile.ending != Ending::Silent;
        if self.profile.ending == Ending::Silent && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
    }
}
