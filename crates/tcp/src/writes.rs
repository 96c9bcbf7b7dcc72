//! What the program writes, and its close, on their way to TCP.

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::profile::Ending;

/// Numbers of an endless write stay below this.
const ENDLESS: u64 = 1 << 62;
/// A write below this many bytes goes to small buffers...
const SMALL_WRITE: u64 = 208;
/// ... of this size, each a call of its own.
const SMALL_PIECE: u64 = 100;

impl Endpoint {
    /// Whether what the program wrote, or its close, may reach TCP.
    #[inline]
    pub(crate) fn has_writes(&self) -> bool {
        (self.unwritten > 0 || self.closing && self.fin_is_due())
            && matches!(self.state, State::Established | State::CloseWait)
    }

    /// What the program wrote, and its close, reach TCP.
    pub(crate) fn take_writes(&mut self, moment: Moment) {
        if !self.profile.output.bsd {
            // Seen together, so that the FIN rides on the last data.
            self.hand_over(self.unwritten);
            self.queue_fin(moment);
        } else if self.unwritten > 0 {
            self.hand_over(self.next_piece());
        } else {
            self.queue_fin(moment);
        }
    }

    /// How much of the written data the socket layer hands over next.
    fn next_piece(&self) -> u64 {
        let rules = &self.profile.output;
        let rest = self.unwritten;
        let buffered = self.snd.end - self.snd.una;
        if rules.small_write_split && rest < SMALL_WRITE {
            rest.min(SMALL_PIECE)
        } else if rules.write_chunk == 0 || buffered > self.snd.window() + self.snd.mss() {
            // Beyond the window the pieces make no difference; an endless write has no end.
            rest
        } else {
            rest.min(rules.write_chunk)
        }
    }

    fn hand_over(&mut self, bytes: u64) {
        self.snd.end = self.snd.end.saturating_add(bytes).min(ENDLESS);
        self.unwritten -= bytes;
    }

    /// Whether the close may reach TCP: a FIN that goes alone waits for the data before it.
    fn fin_is_due(&self) -> bool {
        self.profile.ending != Ending::BareFin || self.snd.max >= self.snd.end
    }

    fn queue_fin(&mut self, moment: Moment) {
        if !self.closing || self.snd.fin_queued || !self.fin_is_due() {
            return;
        }
        let passive = self.state == State::CloseWait;
        self.state = if passive { State::LastAck } else { State::FinWait1 };
        self.snd.fin_queued = self.profile.ending != Ending::Silent;
        if self.profile.ending == Ending::Silent && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
    }
}
