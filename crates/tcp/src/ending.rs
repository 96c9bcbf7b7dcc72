//! How a connection ends: by FINs and a TIME_WAIT, or without a word.

use packet::Instant;

use crate::clock::Moment;
use crate::endpoint::{Endpoint, State};
use crate::profile::Ending;

impl Endpoint {
    /// Whether this end is of the kind that sends no FIN, and all it wrote before its close is
    /// acknowledged: the driver then tells the other end by [`hear_end`](Self::hear_end).
    #[inline]
    pub fn ended_without_fin(&self) -> bool {
        matches!(self.state, State::FinWait2 | State::Closed)
            && self.profile.ending == Ending::Silent
    }

    /// The peer, which sends no FIN, has closed, and all it wrote has arrived.
    pub fn hear_end(&mut self, now: Instant) {
        let moment = self.event(now);
        if !std::mem::replace(&mut self.peer_through, true) {
            self.on_peer_closed(moment);
        }
    }

    /// The peer has said that it is through.
    pub(crate) fn on_peer_closed(&mut self, moment: Moment) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.start_time_wait(moment),
            _ => {}
        }
    }

    /// All of this side is acknowledged, its FIN (where there is one) included.
    pub(crate) fn on_fin_acked(&mut self, moment: Moment) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.start_time_wait(moment),
            State::LastAck => self.finish(State::Closed),
            _ => {}
        }
    }

    fn start_time_wait(&mut self, moment: Moment) {
        if self.profile.ending == Ending::Silent {
            return self.finish(State::Closed);
        }
        self.state = State::TimeWait;
        self.rexmt_at = Instant::NEVER;
        self.life_at = self.life(self.profile.time_wait, moment);
    }

    /// Ends the connection: no timer runs, nothing more is sent.
    pub(crate) fn finish(&mut self, state: State) {
        self.state = state;
        (self.rexmt_at, self.life_at) = (Instant::NEVER, Instant::NEVER);
        self.receiver.ack_at = Instant::NEVER;
        self.receiver.ack_now = false;
        self.snd.resend = false;
        (self.output_due, self.in_call) = (false, false);
    }
}
