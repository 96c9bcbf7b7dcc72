//! How a connection ends: by FINs and a TIME_WAIT, or without a word.

use packet::Instant;

use crate::clock::Moment;
use crate::connection::{State, Transition};
use crate::endpoint::TcpEndpoint;
use crate::profile::Ending;
use crate::segment::Segment;

impl TcpEndpoint {
    /// Whether this end is of the kind that sends no FIN, and all it wrote before its close is
    /// acknowledged: the driver then calls the other end's [`on_peer_closed`](Self::on_peer_closed).
    #[inline]
    pub fn ended_without_fin(&self) -> bool {
        matches!(self.conn.state, State::FinWait2 | State::Closed)
            && self.profile.ending == Ending::Silent
    }

    /// The peer, which sends no FIN, has closed, and all it wrote has arrived.
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

    /// All of this side is acknowledged, its FIN (where there is one) included.
    pub(crate) fn on_fin_acked(&mut self, moment: Moment) {
        let transition = self.conn.on_fin_acked();
        self.follow(transition, moment);
    }

    /// The peer does not know the connection (RFC 9293 section 3.10.7.4): it is over at the number that is expected; one
    /// elsewhere in the window is answered (RFC 5961 section 3.2), every other is forged.
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

    /// Does what follows from a change of state. Where no FIN is sent there is no TIME_WAIT either.
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

    /// Whether nothing remains to be acknowledged after the close.
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
