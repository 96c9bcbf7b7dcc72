//! The state machine of RFC 9293: which state a connection is in, what a FIN and its acknowledgement
//! make of it, and the timers of the states (a handshake's and TIME_WAIT's).
//!
//! It knows neither windows nor data: those are the sender's and the receiver's.

use packet::Instant;

use crate::ecn::EcnState;

/// State of a connection (RFC 9293 section 3.3.2, and [`State::Failed`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// New: may connect, or accept the first SYN that comes.
    #[default]
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has received a SYN and sent a SYN-ACK.
    SynReceived,
    /// Both directions are open.
    Established,
    /// Closed by this side; the FIN is not acknowledged.
    FinWait1,
    /// Closed by this side; the peer may still send.
    FinWait2,
    /// Closed by the peer; this side may still send.
    CloseWait,
    /// Closed by both sides at once; the FIN is not acknowledged.
    Closing,
    /// Closed by the peer first, then by this side; the FIN is not acknowledged.
    LastAck,
    /// Closed by both; answers repeated FINs for a while.
    TimeWait,
    /// Over, in order.
    Closed,
    /// Given up: no connection in 75 s, or too many timeouts.
    Failed,
}

/// What the endpoint does after a change of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    /// Nothing more.
    None,
    /// TIME_WAIT begins.
    TimeWait,
    /// The connection is over.
    Closed,
}

/// One end of a connection, without its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub state: State,
    /// SYN or SYN-ACK was repeated.
    pub syn_repeated: bool,
    /// Both SYNs said that selective acknowledgements are understood.
    pub sack: bool,
    /// Both SYNs carried a timestamp.
    pub stamps: bool,
    /// What both SYNs agreed on, and what either role remembers of marks.
    pub ecn: EcnState,
    /// Written by the program and not yet handed to TCP, bytes.
    pub unwritten: u64,
    /// When the connection attempt or TIME_WAIT ends.
    pub conn_timer: Instant,
    pub syn: SynTimer,
}

/// The retransmission timer of a SYN or SYN-ACK, and its round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynTimer {
    /// When the SYN is retransmitted.
    pub expires: Instant,
    /// The stamp of its sending ([`RttRules::stamp`](crate::rtt::RttRules::stamp)), `u64::MAX` if
    /// it is not timed: because it was retransmitted (Karn), or because round trips are not
    /// measured.
    pub sent: u64,
}

impl Default for SynTimer {
    fn default() -> Self {
        SynTimer { expires: Instant::NEVER, sent: u64::MAX }
    }
}

impl Default for Connection {
    fn default() -> Self {
        Connection {
            state: State::Listen,
            syn_repeated: false,
            sack: false,
            stamps: false,
            ecn: EcnState::default(),
            unwritten: 0,
            conn_timer: Instant::NEVER,
            syn: SynTimer::default(),
        }
    }
}

impl Connection {
    /// The earliest of its timers.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.conn_timer.min(self.syn.expires)
    }

    /// The handshake is over.
    pub fn establish(&mut self) {
        self.state = State::Established;
        (self.conn_timer, self.syn.expires) = (Instant::NEVER, Instant::NEVER);
    }

    /// The program's close reaches TCP: this side's FIN follows its data.
    pub fn on_close(&mut self) {
        let passive = self.state == State::CloseWait;
        self.state = if passive { State::LastAck } else { State::FinWait1 };
    }

    /// The peer's FIN has arrived in order.
    pub fn on_peer_closed(&mut self) -> Transition {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => return Transition::TimeWait,
            _ => {}
        }
        Transition::None
    }

    /// All of this side is acknowledged, its FIN included.
    pub fn on_fin_acked(&mut self) -> Transition {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => return Transition::TimeWait,
            State::LastAck => return Transition::Closed,
            _ => {}
        }
        Transition::None
    }

    /// The connection is over, and no timer runs.
    pub fn end(&mut self, state: State) {
        self.state = state;
        (self.conn_timer, self.syn.expires) = (Instant::NEVER, Instant::NEVER);
    }

    /// The timer of its state has expired: how the connection ends, if it does.
    pub fn on_conn_timer(&mut self) -> Option<State> {
        match self.state {
            State::TimeWait => Some(State::Closed),
            State::SynSent | State::SynReceived => Some(State::Failed),
            _ => {
                self.conn_timer = Instant::NEVER;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that a connection passes from `state` on.
    fn passes(
        mut connection: Connection,
        steps: &[fn(&mut Connection) -> Transition],
    ) -> Vec<State> {
        let after = |step: &fn(&mut Connection) -> Transition| match step(&mut connection) {
            Transition::None => connection.state,
            Transition::TimeWait => State::TimeWait,
            Transition::Closed => State::Closed,
        };
        steps.iter().map(after).collect()
    }

    #[test]
    fn a_connection_closes_by_the_diagram_of_rfc_9293() {
        // Section 3.3.2, figure 5.
        let close = |connection: &mut Connection| {
            connection.on_close();
            Transition::None
        };
        let (fin, acked) = (Connection::on_peer_closed, Connection::on_fin_acked);
        let open = Connection { state: State::Established, ..Connection::default() };
        use State::*;
        assert_eq!(passes(open, &[close, acked, fin]), [FinWait1, FinWait2, TimeWait]);
        assert_eq!(passes(open, &[close, fin, acked]), [FinWait1, Closing, TimeWait]);
        assert_eq!(passes(open, &[fin, close, acked]), [CloseWait, LastAck, Closed]);
        // What comes twice changes nothing.
        assert_eq!(passes(open, &[fin, fin, acked]), [CloseWait, CloseWait, CloseWait]);
    }
}
