//! How a connection begins: TLS in CRYPTO frames (RFC 9001), modelled as a number of bytes from
//! each side. Initial and Handshake packets share one packet number space here.

use packet::{Duration, Instant};

use super::endpoint::{DATA, HANDSHAKE, QuicEndpoint};
use super::rules::{FINISHED, RESUMED_FLIGHT};
use crate::connection::State;

impl QuicEndpoint {
    /// Opens the connection; with 0-RTT it is open at once.
    ///
    /// # Panics
    /// If the endpoint is not fresh.
    pub(crate) fn connect(&mut self, now: Instant) {
        assert_eq!(self.conn.state, State::Listen, "connect() on an endpoint that is not fresh");
        (self.client, self.quiet_since, self.may_have_more) = (true, now, true);
        self.conn.state = State::SynSent;
        self.spaces[HANDSHAKE].out.write(u64::from(self.rules.client_hello));
        if self.rules.zero_rtt {
            self.conn.state = State::Established;
        }
    }

    /// Makes this connection resume an earlier one: the request goes with the first packet (0-RTT),
    /// and no certificate is sent.
    pub(crate) fn resume(&mut self) {
        (self.rules.zero_rtt, self.rules.server_flight) = (true, RESUMED_FLIGHT);
    }

    /// Whether this end is a client that will get a session ticket when its handshake is confirmed.
    pub(crate) fn awaits_ticket(&self) -> bool {
        self.client && self.rules.tickets && !self.confirmed
    }

    /// Whether no anti-amplification limit applies: at a client, and at a server that has validated
    /// the client's address, by a packet under the handshake keys or by a token.
    pub(super) fn has_valid_address(&self) -> bool {
        self.client || self.has_keys || (self.rules.zero_rtt && self.rules.tokens)
    }

    /// At a server: whether the client's first flight has arrived whole.
    pub(super) fn has_hello(&self) -> bool {
        let arrived = self.spaces[HANDSHAKE].incoming.delivered();
        self.complete || arrived >= u64::from(self.rules.client_hello)
    }

    /// At a client: whether the server's hello has arrived, and with it the keys of Handshake
    /// packets.
    pub(super) fn has_server_hello(&self) -> bool {
        self.client && self.spaces[HANDSHAKE].incoming.delivered() > 0
    }

    /// Whether the peer is known to have validated this end's address
    /// (`PeerCompletedAddressValidation` of RFC 9002).
    pub(super) fn is_validated(&self) -> bool {
        let hello = u64::from(self.rules.client_hello);
        !self.client || self.confirmed || self.spaces[HANDSHAKE].out.una > 1 + hello
    }

    /// CRYPTO data has arrived: the handshake goes on.
    pub(super) fn on_crypto(&mut self, now: Instant) {
        let arrived = self.spaces[HANDSHAKE].incoming.delivered();
        let out = &mut self.spaces[HANDSHAKE].out;
        if self.client {
            if arrived >= u64::from(self.rules.server_flight) && !self.complete {
                out.write(FINISHED);
                self.complete = true;
                self.establish(now);
            }
            return;
        }
        let hello = u64::from(self.rules.client_hello);
        if arrived >= hello && out.end == 1 {
            out.write(u64::from(self.rules.server_flight));
        }
        if arrived >= hello + FINISHED && !self.complete {
            (self.complete, self.done_due) = (true, true);
            self.establish(now);
            self.confirm(now);
        }
    }

    /// The handshake is complete (RFC 9001 section 4.1.1).
    fn establish(&mut self, now: Instant) {
        if matches!(self.conn.state, State::SynSent | State::SynReceived) {
            self.conn.state = State::Established;
        }
        let srtt = self.rtt.measured();
        self.path.begin(srtt, now);
        self.queue_fin();
    }

    /// The handshake is confirmed: its packets are discarded (`OnPacketNumberSpaceDiscarded` of RFC
    /// 9002).
    pub(super) fn confirm(&mut self, now: Instant) {
        if std::mem::replace(&mut self.confirmed, true) {
            return;
        }
        let bytes = self.spaces[HANDSHAKE].discard();
        self.path.forget(bytes);
        self.timeouts = 0;
        self.set_timer(now);
    }

    /// The peer's longest acknowledgement delay for which a probe timeout of this space waits.
    pub(super) fn peer_delay(&self, space: usize) -> Duration {
        if space == DATA { self.rules.acks.max_delay } else { Duration::ZERO }
    }
}
