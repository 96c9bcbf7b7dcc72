//! How a connection begins: TLS in CRYPTO frames (RFC 9001), as a number of bytes of each side. Initial and Handshake
//! packets have one space of numbers here.

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

    /// An end of a connection that resumes an earlier one: the request goes with the first packet, and no certificate
    /// is sent.
    pub(crate) fn resume(&mut self) {
        (self.rules.zero_rtt, self.rules.server_flight) = (true, RESUMED_FLIGHT);
    }

    /// Whether it is a client that will get a ticket as its handshake is confirmed.
    pub(crate) fn awaits_ticket(&self) -> bool {
        self.client && self.rules.tickets && !self.confirmed
    }

    /// Whether what it may send does not depend on what it has received: a client, and a server to which the client's
    /// address is validated, by a packet under the keys of the handshake or by a token.
    pub(super) fn has_valid_address(&self) -> bool {
        self.client || self.has_keys || (self.rules.zero_rtt && self.rules.tokens)
    }

    /// A server: the client's first flight has arrived whole.
    pub(super) fn has_hello(&self) -> bool {
        let arrived = self.spaces[HANDSHAKE].incoming.delivered();
        self.complete || arrived >= u64::from(self.rules.client_hello)
    }

    /// A client: the server's hello has arrived, and with it the keys of Handshake packets.
    pub(super) fn has_server_hello(&self) -> bool {
        self.client && self.spaces[HANDSHAKE].incoming.delivered() > 0
    }

    /// The peer's address answers: what it sent shows that it has received something (`PeerCompletedAddressValidation`
    /// of RFC 9002).
    pub(super) fn is_validated(&self) -> bool {
        let hello = u64::from(self.rules.client_hello);
        !self.client || self.confirmed || self.spaces[HANDSHAKE].out.una > 1 + hello
    }

    /// CRYPTO data has arrived.
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

    /// The handshake is confirmed: its packets are forgotten (`OnPacketNumberSpaceDiscarded` of RFC 9002).
    pub(super) fn confirm(&mut self, now: Instant) {
        if std::mem::replace(&mut self.confirmed, true) {
            return;
        }
        let bytes = self.spaces[HANDSHAKE].discard();
        self.path.forget(bytes);
        self.timeouts = 0;
        self.set_timer(now);
    }

    /// How long the peer may delay an acknowledgement, as far as a timeout waits for it.
    pub(super) fn peer_delay(&self, space: usize) -> Duration {
        if space == DATA { self.rules.acks.max_delay } else { Duration::ZERO }
    }
}
