//! The state machine of RFC 9293: the state of a connection, how a FIN and its acknowledgement
//! change it, and the timers of its states (the handshake and TIME_WAIT).
//!
//! The sender and the receiver keep windows and data.

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
    /// Closed by both sides; answers repeated FINs for a while.
    TimeWait,
    /// Closed in order.
    Closed,
    /// Failed: not established in time, too many timeouts, or reset by the peer.
    Failed,
}

/// What the endpoint does after a change of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    /// There is nothing more to do.
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
    /// This end's SYN or SYN-ACK was retransmitted.
    pub syn_repeated: bool,
    /// Both SYNs permitted selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Both SYNs carried a timestamp.
    pub stamps: bool,
    /// ECN: what both SYNs agreed on, and the state of this end as sender and receiver.
    pub ecn: EcnState,
    /// Bytes that the program has written and that are not yet handed to TCP.
    pub unwritten: u64,
    /// When the connection attempt or TIME_WAIT ends.
    pub conn_timer: Instant,
    pub syn: SynTimer,
}

/// The retransmission timer of a SYN or SYN-ACK, and the measurement of its round-trip time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynTimer {
    /// When the SYN is retransmitted.
    pub expires: Instant,
    /// Clock reading when the SYN was sent ([`RttRules::stamp`](crate::rtt::RttRules::stamp)),
    /// `u64::MAX` if its round trip is not measured: because it was retransmitted (Karn's
    /// algorithm), or by the profile's rules.
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
    /// The earliest expiry of the connection's timers.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.conn_timer.min(self.syn.expires)
    }

    /// Enters ESTABLISHED: the handshake is complete, and its timers stop.
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

    /// All data of this side is acknowledged, its FIN included.
    pub fn on_fin_acked(&mut self) -> Transition {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => return Transition::TimeWait,
            State::LastAck => return Transition::Closed,
            _ => {}
        }
        Transition::None
    }

    /// Ends the connection in `state` and stops its timers.
    pub fn end(&mut self, state: State) {
        self.state = state;
        (self.conn_timer, self.syn.expires) = (Instant::NEVER, Instant::NEVER);
    }

    /// The timer of the connection's state has expired. Returns the final state if the connection
    /// ends.
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

    /// The state of `connection` after each step.
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
        // RFC 9293 section 3.3.2, figure 5.
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
        // A FIN that comes twice changes nothing.
        assert_eq!(passes(open, &[fin, fin, acked]), [CloseWait, CloseWait, CloseWait]);
    }
}
