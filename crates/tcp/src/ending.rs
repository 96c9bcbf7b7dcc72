//! How a connection ends: by FINs and a TIME_WAIT, or without any segment (ns-2's one-way agents).

use packet::Instant;

use crate::clock::Moment;
use crate::connection::{State, Transition};
use crate::endpoint::TcpEndpoint;
use crate::profile::Ending;
use crate::segment::Segment;

impl TcpEndpoint {
    /// Whether this end, by its profile, sends no FIN, and all it wrote before its close is
    /// acknowledged: the driver then calls the other end's
    /// [`on_peer_closed`](Self::on_peer_closed).
    #[inline]
    pub fn ended_without_fin(&self) -> bool {
        matches!(self.conn.state, State::FinWait2 | State::Closed)
            && self.profile.ending == Ending::Silent
    }

    /// A peer that sends no FIN has closed, and all it wrote has arrived.
    pub fn on_peer_closed(&mut self, now: Instant) {
        let moment = self.call.event(now);
        if !std::mem::replace(&mut self.rx.peer_closed, true) {
            self.take_peer_close(moment);
        }
    }

    /// The peer has closed, by a FIN or without.
    pub(crate) fn take_peer_close(&mut self, moment: Moment) {
        let transition = self.conn.on_peer_closed();
        self.follow(transition, moment);
        self.forget_marks_alone();
    }

    /// All data of this side is acknowledged, and its FIN if it sends one.
    pub(crate) fn on_fin_acked(&mut self, moment: Moment) {
        let transition = self.conn.on_fin_acked();
        self.follow(transition, moment);
    }

    /// Processes a reset (RFC 9293 section 3.10.7.4): with the expected sequence number it ends the
    /// connection; elsewhere in the window it is answered by an ACK (RFC 5961 section 3.2); outside
    /// the window it is ignored.
    #[cold]
    pub(crate) fn on_reset(&mut self, segment: &Segment) {
        if !segment.resets() {
            return;
        }
        let (next, window) = (self.rx.next, self.profile.window());
        if segment.seq != next {
            self.rx.ack_now |= (next..next + window).contains(&segment.seq);
            return;
        }
        match self.conn.state {
            State::SynReceived => self.forget_opening(),
            State::Closing | State::LastAck | State::TimeWait => self.finish(State::Closed),
            _ => self.finish(State::Failed),
        }
    }

    /// Acts on a change of state. An end that sends no FIN has no TIME_WAIT either.
    fn follow(&mut self, transition: Transition, moment: Moment) {
        match transition {
            Transition::None => {}
            Transition::TimeWait if self.profile.ending != Ending::Silent => {
                self.conn.state = State::TimeWait;
                self.tx.sender.stop();
                self.conn.conn_timer = self.end_of(self.profile.time_wait, moment);
            }
            Transition::TimeWait | Transition::Closed => self.finish(State::Closed),
        }
    }

    /// Whether all data is acknowledged after the close, and the FIN if this end sends one.
    pub(crate) fn all_acknowledged(&self) -> bool {
        let snd = &self.tx.snd;
        match self.profile.ending {
            Ending::Fin | Ending::BareFin => snd.fin_sent && snd.una > snd.end,
            Ending::Silent => self.conn.unwritten == 0 && snd.una == snd.end,
        }
    }

    /// Ends the connection: no timer runs, nothing more is sent.
    pub(crate) fn finish(&mut self, state: State) {
        self.conn.end(state);
        self.tx.sender.stop();
        self.rx.ack_at = Instant::NEVER;
        self.rx.ack_now = false;
        self.tx.snd.resend = false;
        self.call.cancel();
    }
}
