//! One end of one connection, of TCP or QUIC as its profile says: the interface that a driver
//! calls.

use std::sync::Arc;

use packet::{Duration, Instant};

use crate::clock::HostClock;
use crate::connection::State;
use crate::endpoint::{Deadline, TcpEndpoint};
use crate::output::Outbox;
use crate::probe::Counters;
use crate::profile::Profile;
use crate::quic::QuicEndpoint;
use crate::segment::Segment;
use crate::tcp_info::TcpInfo;

/// One end of one connection. See the crate's page for how to drive it.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "an end of TCP lies where its connection does, for speed"
)]
pub enum Endpoint {
    /// An end of TCP.
    Tcp(TcpEndpoint),
    /// An end of QUIC.
    Quic(Box<QuicEndpoint>),
}

/// Evaluates an expression for the end of either transport.
macro_rules! either {
    ($it:expr, $end:ident => $call:expr) => {
        match $it {
            Endpoint::Tcp($end) => $call,
            Endpoint::Quic($end) => $call,
        }
    };
}

impl Endpoint {
    /// A fresh end of a connection on a host with these clocks: it may [`connect`](Self::connect)
    /// or accept the first packet of a peer that does.
    pub fn new(profile: &Arc<Profile>, clock: HostClock) -> Self {
        match profile.quic {
            None => Endpoint::Tcp(TcpEndpoint::new(profile, clock)),
            Some(_) => Endpoint::Quic(Box::new(QuicEndpoint::new(profile))),
        }
    }

    /// Makes the end as new ([`Endpoint::new`]), keeping its heap buffers.
    pub fn reset(&mut self, profile: &Arc<Profile>, clock: HostClock) {
        match (&mut *self, &profile.quic) {
            (Endpoint::Tcp(end), None) => end.reset(profile, clock),
            (Endpoint::Quic(end), Some(_)) => end.reset(profile),
            _ => *self = Endpoint::new(profile, clock),
        }
    }

    /// Opens the connection.
    ///
    /// # Panics
    /// If the endpoint is not fresh.
    pub fn connect(&mut self, now: Instant) {
        either!(self, end => end.connect(now));
    }

    /// Appends `bytes` to the data to be sent; `u64::MAX` is an endless transfer. It may be called
    /// before the connection is established.
    ///
    /// # Panics
    /// After [`close`](Self::close).
    pub fn write(&mut self, bytes: u64, now: Instant) {
        either!(self, end => end.write(bytes, now));
    }

    /// Discards the data that was never sent; returns the payload bytes that were sent. It does not
    /// close the connection.
    pub fn stop_writing(&mut self, now: Instant) -> u64 {
        either!(self, end => end.stop_writing(now))
    }

    /// Nothing more will be written: a FIN follows all data written before.
    pub fn close(&mut self, now: Instant) {
        either!(self, end => end.close(now));
    }

    /// A segment, or a packet of QUIC, has arrived.
    #[inline]
    pub fn on_segment(&mut self, segment: &Segment, now: Instant) {
        either!(self, end => end.on_segment(segment, now));
    }

    /// Processes a segment ([`Endpoint::on_segment`]); returns whether there is a sample of the
    /// round-trip time to take ([`Endpoint::has_round_trip`]).
    #[inline]
    pub fn on_timed_segment(&mut self, segment: &Segment, now: Instant) -> bool {
        either!(self, end => {
            end.on_segment(segment, now);
            end.has_round_trip()
        })
    }

    /// Whether there is a sample of the round-trip time that was not taken yet.
    #[inline]
    pub fn has_round_trip(&self) -> bool {
        either!(self, end => end.has_round_trip())
    }

    /// Sets the peer's receive window to `bytes` beyond its last acknowledgement. Until this call,
    /// or a segment that carries a window, the profile's own window is assumed.
    pub fn on_window(&mut self, bytes: u32, now: Instant) {
        either!(self, end => end.on_window(bytes, now));
    }

    /// When to call [`on_timeout`](Self::on_timeout) next; it may change with every other call.
    #[inline]
    pub fn next_timeout(&self) -> Option<Deadline> {
        either!(self, end => end.next_timeout())
    }

    /// Serves the deadline that is due at `now`; does nothing if none is. If one of order 0 and one
    /// of order 1 are due, the first is served, and a segment it sends carries the acknowledgement
    /// of the second.
    pub fn on_timeout(&mut self, now: Instant) {
        either!(self, end => end.on_timeout(now));
    }

    /// Returns the next segment to send, if any; to be called after every other call until it
    /// returns `None`.
    pub fn poll_send(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = None;
        self.poll_send_into(&mut segment, now);
        segment
    }

    /// Whether [`Endpoint::poll_send`] may have a segment; if not, it need not be called.
    #[inline]
    pub fn may_send(&self) -> bool {
        either!(self, end => end.may_send())
    }

    /// Writes the next segment to send ([`Endpoint::poll_send`]) into `out`; returns `false` if
    /// there is none. (Moving a segment would cost as much as making it.)
    #[inline]
    pub fn poll_send_into(&mut self, out: &mut impl Outbox, now: Instant) -> bool {
        either!(self, end => end.poll_send_into(out, now))
    }

    /// Whether this end, by its profile, sends no FIN, and all it wrote before its close is
    /// acknowledged: the driver then calls the other end's
    /// [`on_peer_closed`](Self::on_peer_closed).
    #[inline]
    pub fn ended_without_fin(&self) -> bool {
        match self {
            Endpoint::Tcp(end) => end.ended_without_fin(),
            Endpoint::Quic(_) => false,
        }
    }

    /// A peer that sends no FIN has closed, and all it wrote has arrived.
    pub fn on_peer_closed(&mut self, now: Instant) {
        if let Endpoint::Tcp(end) = self {
            end.on_peer_closed(now);
        }
    }

    /// Prefetches into the processor's cache the endpoint's data on the heap that most events use,
    /// its sender's only if it `sends`. To be called some time before an event, when the endpoint
    /// itself is in the cache.
    #[inline]
    pub fn fetch(&self, sends: bool) {
        match self {
            Endpoint::Tcp(end) => end.fetch(sends),
            Endpoint::Quic(end) => prefetch::prefetch(&**end),
        }
    }

    /// Prefetches what the sender's data on the heap points to, some time after
    /// [`fetch`](Self::fetch).
    #[inline]
    pub fn fetch_more(&self) {
        if let Endpoint::Tcp(end) = self {
            end.fetch_more();
        }
    }

    /// Payload bytes received in order.
    #[inline]
    pub fn delivered(&self) -> u64 {
        either!(self, end => end.delivered())
    }
    /// Payload bytes that have reached the program: with TCP those received in order, with QUIC all
    /// received ones, since its streams do not wait for each other.
    #[inline]
    pub fn arrived(&self) -> u64 {
        match self {
            Endpoint::Tcp(end) => end.delivered(),
            Endpoint::Quic(end) => end.arrived(),
        }
    }
    /// Whether the program can have read the payload bytes `from..to`, counted from 0. TCP must
    /// have received all bytes below `to`, QUIC only these, which belong to one stream.
    pub fn has(&self, from: u64, to: u64) -> bool {
        match self {
            Endpoint::Tcp(end) => end.delivered() >= to,
            Endpoint::Quic(end) => end.has(from, to),
        }
    }
    /// Payload bytes sent by this end and acknowledged.
    pub fn acked(&self) -> u64 {
        either!(self, end => end.acked())
    }
    /// Whether the peer has closed: its FIN has arrived in order, or
    /// [`on_peer_closed`](Self::on_peer_closed) was called.
    #[inline]
    pub fn peer_closed(&self) -> bool {
        either!(self, end => end.peer_closed())
    }
    /// State of the connection.
    #[inline]
    pub fn state(&self) -> State {
        either!(self, end => end.state())
    }
    /// Counters of this endpoint's segments, retransmissions and timeouts.
    pub fn counters(&self) -> &Counters {
        either!(self, end => end.counters())
    }
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        either!(self, end => end.cwnd())
    }
    /// Slow-start threshold, bytes; [`u64::MAX`] where it starts unbounded.
    pub fn ssthresh(&self) -> u64 {
        either!(self, end => end.ssthresh())
    }
    /// Sequence numbers sent and not acknowledged: one for each byte, and one for a FIN.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        either!(self, end => end.outstanding())
    }
    /// Oldest unacknowledged sequence number (SND.UNA of RFC 9293 section 3.3.1).
    pub fn snd_una(&self) -> u64 {
        either!(self, end => end.snd_una())
    }
    /// Highest sequence number ever sent, plus one: unlike SND.NXT it never falls back.
    pub fn snd_max(&self) -> u64 {
        either!(self, end => end.snd_max())
    }
    /// Smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        either!(self, end => end.srtt())
    }
    /// Passes the inner state of the congestion control to `show`, by name
    /// ([`Control::gauges`](crate::Control::gauges)).
    pub fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        either!(self, end => end.gauges(show));
    }
    /// Current retransmission timeout (with QUIC, the probe timeout). Where timers expire at ticks,
    /// a timer set to it lasts up to one tick less.
    pub fn rto(&self) -> Duration {
        either!(self, end => end.rto())
    }
    /// Whether the connection is still being opened on a host with a cache of metrics: its segments
    /// must then be delivered by [`HostCache::deliver`](crate::HostCache::deliver).
    #[inline]
    pub fn may_look_up(&self) -> bool {
        match self {
            Endpoint::Tcp(end) => end.may_look_up(),
            Endpoint::Quic(end) => end.awaits_ticket(),
        }
    }
    /// Makes a fresh end of QUIC resume an earlier connection
    /// ([`HostCache::has_ticket`](crate::HostCache::has_ticket)).
    pub fn resume(&mut self) {
        if let Endpoint::Quic(end) = self {
            end.resume();
        }
    }
    /// Whether the metrics of this end are not yet in its host's cache and may be stored now.
    /// `over`: both ends have closed, and this endpoint is about to be reused.
    #[inline]
    pub fn may_update_cache(&self, over: bool) -> bool {
        match self {
            Endpoint::Tcp(end) => end.may_update_cache(over),
            Endpoint::Quic(_) => false,
        }
    }
    /// A snapshot of the connection's state, like Linux's `TCP_INFO`; `None` for QUIC.
    pub fn tcp_info(&self) -> Option<TcpInfo> {
        match self {
            Endpoint::Tcp(end) => Some(end.tcp_info()),
            Endpoint::Quic(_) => None,
        }
    }
}
