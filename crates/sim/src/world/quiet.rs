//! The fast path after most events at an end of a connection: perhaps a packet is sent, and neither
//! the programs nor the timer have anything to do. This is checked inline, with a single access to
//! the end; all other cases go through [`World::after_end`].

use tcp::{Deadline, Endpoint, State, TcpEndpoint};

use super::World;
use super::connection::{Connection, OPENER};

impl Connection {
    /// Whether the end `end` of this connection, whose state is `at`, is open or sends its last
    /// data, and its program has nothing to react to.
    #[inline(always)]
    fn is_quiet(&self, at: &TcpEndpoint, end: usize) -> bool {
        // In both states, the other end need not be notified and the host has nothing to cache.
        let open = matches!(at.state(), State::Established | State::FinWait1);
        if !open || self.failed || self.is_multiplexed() {
            return false;
        }
        if end != OPENER {
            return self.unserved == 0 && !at.peer_closed();
        }
        let sent = self.sent_pending && at.acked() >= self.written;
        let waits = self.awaited || self.unwritten > 0 || sent;
        let next = self.exchanges.front().and_then(|next| next.reply_end);
        let replied = next.is_some_and(|reply_end| at.delivered() >= reply_end.get());
        !waits && !replied && !at.peer_closed()
    }
}

impl World {
    /// As [`World::after_end`], with an inlined fast path.
    #[inline(always)]
    pub(super) fn settle(&mut self, index: u32, end: usize) {
        let end = end & 1; // it is 0 or 1: the mask saves bounds checks
        let Endpoint::Tcp(at) = &self.connections[index].ends[end] else {
            return self.after_end(index, end);
        };
        if at.may_send() {
            self.send_all(index, end);
        }
        let connection = &self.connections[index];
        let Endpoint::Tcp(at) = &connection.ends[end] else {
            return;
        };
        if !connection.is_quiet(at, end) {
            return self.react(index, end);
        }
        let (slow, fast) = at.deadlines();
        let due = slow.min(fast);
        if due < connection.armed[end] {
            let deadline = Deadline { at: due, order: u8::from(fast < slow) };
            self.schedule_timer(index, end, deadline);
        }
    }
}
