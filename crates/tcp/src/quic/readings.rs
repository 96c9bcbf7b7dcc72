//! The values that a driver reads from an end of QUIC.

use packet::Duration;

use super::endpoint::{DATA, QuicEndpoint};
use crate::connection::State;
use crate::probe::Counters;

/// Values for a driver; [`Endpoint`](crate::Endpoint) documents them.
impl QuicEndpoint {
    pub(crate) fn delivered(&self) -> u64 {
        self.spaces[DATA].incoming.delivered()
    }
    pub(crate) fn arrived(&self) -> u64 {
        self.spaces[DATA].incoming.bytes
    }
    pub(crate) fn has(&self, from: u64, to: u64) -> bool {
        self.spaces[DATA].incoming.has(from, to)
    }
    pub(crate) fn acked(&self) -> u64 {
        let out = &self.spaces[DATA].out;
        out.una - 1 - u64::from(out.is_finished())
    }
    pub(crate) fn peer_closed(&self) -> bool {
        self.spaces[DATA].incoming.closed()
    }
    pub(crate) fn state(&self) -> State {
        self.conn.state
    }
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }
    pub(crate) fn cwnd(&self) -> u64 {
        self.path.win.cwnd
    }
    pub(crate) fn ssthresh(&self) -> u64 {
        self.path.win.ssthresh
    }
    pub(crate) fn outstanding(&self) -> u64 {
        self.snd_max() - self.snd_una()
    }
    pub(crate) fn snd_una(&self) -> u64 {
        self.spaces[DATA].out.una
    }
    pub(crate) fn snd_max(&self) -> u64 {
        self.spaces[DATA].out.next
    }
    pub(crate) fn srtt(&self) -> Duration {
        self.rtt.measured()
    }
    pub(crate) fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.path.control.gauges(show);
    }
    pub(crate) fn rto(&self) -> Duration {
        self.rtt.pto() + self.rules.acks.max_delay
    }
    pub(crate) fn has_round_trip(&self) -> bool {
        self.rtt.has_newest()
    }
    /// The newest sample of the round-trip time since this was last called, if there is one, and the
    /// smoothed round-trip time after it.
    pub fn take_round_trip(&mut self) -> Option<(Duration, Duration)> {
        self.rtt.take_newest()
    }
}
