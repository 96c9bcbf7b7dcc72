//! A connection: its two TCP or QUIC ends, the requests in progress, and what is measured of it.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Arc;

use packet::{Ack, Duration, Instant};
use record::PacketClass;
use tcp::{Endpoint, Flags, HostClock, Profile, Segment, State};
use traffic::Closes;

use super::multiplex::Mux;
use crate::recorder::ConnectionLog;

/// Index of the end that opened a connection.
pub const OPENER: usize = 0;
/// Index of the end that accepted a connection.
pub const ACCEPTOR: usize = 1;

/// Serial number of a connection or stream in the run. Unlike the connection's index, it is never
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial(NonZero<u32>);

impl Serial {
    /// The next serial number, after `given` of them.
    pub fn take(given: &mut u32) -> Self {
        let next = given.checked_add(1).and_then(NonZero::new);
        let serial = Serial(next.expect("fewer than 2^32 connections in a run"));
        *given = serial.0.get();
        serial
    }

    /// The serial number, counted from 0.
    #[inline]
    pub fn number(self) -> u32 {
        self.0.get() - 1
    }
}

/// Why the server program writes a reply.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// The application has requested the reply.
    Requested {
        /// When the measured response time began.
        at: Instant,
        /// Number of segments that both ends had retransmitted by then.
        resent: u32,
    },
    /// A script lets the server program write, not before this time; [`Instant::NEVER`] until what
    /// comes before has been written.
    Scripted(Instant),
}

/// A request with its reply, and their ends in the two byte streams.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Why the reply is written.
    pub cause: Cause,
    /// Payload of the request, bytes.
    pub request_bytes: u32,
    /// Payload of the reply, bytes.
    pub reply_bytes: u64,
    /// Position in the opener's stream after the request.
    pub request_end: u64,
    /// Position in the acceptor's stream after the reply; not known while other replies share the
    /// stream.
    pub reply_end: Option<NonZero<u64>>,
    /// Service time: how long the server program works on the request.
    pub service: Duration,
    /// Whether the server program already works on the request.
    pub in_service: bool,
}

impl Exchange {
    /// Whether the server program writes the reply without a request, so that no response time is
    /// measured.
    pub fn is_unrequested(&self) -> bool {
        self.request_bytes == 0
    }

    /// When a script lets the server program write; `None` without a script.
    pub fn scripted(&self) -> Option<Instant> {
        match self.cause {
            Cause::Requested { .. } => None,
            Cause::Scripted(not_before) => Some(not_before),
        }
    }
}

/// A connection. Order and alignment of the fields suit the CPU cache: what a packet uses besides
/// its own end takes three cache lines, and each end takes six.
#[repr(C, align(64))]
pub struct Connection {
    /// Time of the scheduled timer event of each end; [`Instant::NEVER`] if none is scheduled.
    pub armed: [Instant; 2],
    /// The highest acknowledgement number that each end has sent.
    pub acked: [u64; 2],
    /// Propagation delay after the last port for the packets of each end.
    pub last_hop_delay: [Duration; 2],
    /// Requests whose replies have not arrived, oldest first; if multiplexed, those with completely
    /// written replies come first, in the order of the replies' ends.
    pub exchanges: VecDeque<Exchange>,
    /// Bytes that the application has written.
    pub written: u64,
    /// Bytes of `written` that wait for the handshake.
    pub unwritten: u64,
    /// Bytes of all replies requested.
    pub promised: u64,
    /// When the connection was opened.
    pub opened: Instant,
    /// State of the server program, if replies share the connection.
    pub mux: Option<Box<Mux>>,
    /// Serial number; `None` once the connection has ended.
    pub serial: Option<Serial>,
    /// Index, over all groups, of the source that opened the connection.
    pub source: u32,
    /// Number by which the application knows the connection.
    pub number: u32,
    /// Number of the last `exchanges` that the server program has not served yet.
    pub unserved: u32,
    /// Route of the packets that each end sends.
    pub route: [u32; 2],
    /// Numbers by which packets name the hosts of opener and acceptor.
    pub hosts: [u16; 2],
    /// Traffic group of the connection's source, and DSCP of the connection's packets.
    pub owner: PacketClass,
    /// Which of the two ends is on the clients' side.
    pub client: u8,
    pub closes: Closes,
    /// Whether each end has been closed by its program.
    pub closed: [bool; 2],
    /// Whether the application has closed the connection, perhaps before all was written.
    pub close_requested: bool,
    /// Whether the application is notified when the connection is established.
    pub awaited: bool,
    /// Whether the connection has failed, and its application knows it.
    pub failed: bool,
    /// Whether data is unacknowledged that expects no reply; its acknowledgement notifies the
    /// application.
    pub sent_pending: bool,
    pub log: ConnectionLog,
    /// The two ends: opener and acceptor.
    pub ends: [Endpoint; 2],
}

/// Bytes of a reply that may arrive between the prefetching for an event and the event itself.
const SOON: u64 = 3_000;

impl Connection {
    /// A connection between two hosts with these clocks.
    pub fn new(profile: &Arc<Profile>, clocks: [HostClock; 2]) -> Self {
        Connection {
            serial: None,
            source: 0,
            number: 0,
            route: [0; 2],
            closed: [false; 2],
            close_requested: false,
            awaited: false,
            failed: false,
            sent_pending: false,
            closes: Closes::Acceptor,
            owner: PacketClass::owner(0, 0),
            hosts: [0; 2],
            client: 0,
            acked: [0; 2],
            last_hop_delay: [Duration::ZERO; 2],
            armed: [Instant::NEVER; 2],
            ends: clocks.map(|clock| Endpoint::new(profile, clock)),
            opened: Instant::ZERO,
            // Most connections carry one request.
            exchanges: VecDeque::with_capacity(1),
            unserved: 0,
            mux: None,
            written: 0,
            unwritten: 0,
            promised: 0,
            log: ConnectionLog::default(),
        }
    }

    /// Resets a used slot for a new connection, keeping its allocated memory.
    pub fn reset(&mut self, profile: &Arc<Profile>, clocks: [HostClock; 2]) {
        for (end, clock) in self.ends.iter_mut().zip(clocks) {
            end.reset(profile, clock);
        }
        self.closed = [false; 2];
        self.close_requested = false;
        self.awaited = false;
        self.failed = false;
        self.sent_pending = false;
        self.acked = [0; 2];
        self.last_hop_delay = [Duration::ZERO; 2];
        self.armed = [Instant::NEVER; 2];
        self.exchanges.clear();
        self.unserved = 0;
        self.mux = None;
        self.written = 0;
        self.unwritten = 0;
        self.promised = 0;
        self.log.reset();
    }

    /// Whether a segment that `end` sends is a pure acknowledgement and, if so, whether it makes
    /// earlier ones unnecessary: it acknowledges more data and carries no other signal.
    #[inline]
    pub fn ack_filterable(&mut self, end: usize, segment: &Segment) -> Ack {
        if segment.is_quic() {
            return Ack::No; // QUIC is encrypted: no queue can read it
        }
        let acked = &mut self.acked[end];
        let newer = segment.ack > *acked;
        *acked = segment.ack.max(*acked);
        let other =
            segment.flags.any(Flags::SYN.with(Flags::FIN)) || !segment.flags.has(Flags::ACK);
        if segment.len > 0 || other {
            return Ack::No;
        }
        // Timestamps keep no acknowledgement: later ones have later stamps (sch_cake drops these
        // too).
        let says_more = segment.flags.without(Flags::STAMPED) != Flags::ACK;
        if newer && !says_more && segment.sack.is_empty() { Ack::Newer } else { Ack::Needed }
    }

    /// Whether the client program has something to react to. (Most packets are in the middle of a
    /// reply, and need no reaction.)
    #[inline]
    pub fn opener_has_news(&self) -> bool {
        let end = &self.ends[OPENER];
        let starts = (self.awaited || self.unwritten > 0) && end.state() == State::Established;
        let replied =
            self.has_streams() || self.exchanges.front().is_some_and(|next| self.has_arrived(next));
        let sent = self.sent_pending && end.acked() >= self.written;
        let uploads = self.uploads() && end.state() == State::Established;
        starts || uploads || end.peer_closed() || replied || sent || end.state() == State::Failed
    }

    /// Whether the server program has something to do, or to wait for.
    #[inline]
    pub fn acceptor_has_news(&self) -> bool {
        let end = &self.ends[ACCEPTOR];
        let closes = self.closes == Closes::Opener && end.peer_closed();
        self.unserved > 0 || self.is_multiplexed() || closes || end.state() == State::Failed
    }

    /// Whether the opener is to close as soon as all is written.
    #[inline]
    pub fn closing(&self) -> bool {
        self.close_requested && self.closes == Closes::Opener
    }

    /// Removes and returns the oldest request, if its reply is known to have arrived completely.
    #[inline]
    pub fn take_reply(&mut self) -> Option<Exchange> {
        if self.has_streams() {
            return self.take_stream_reply();
        }
        if self.has_arrived(self.exchanges.front()?) { self.exchanges.pop_front() } else { None }
    }

    /// Whether a reply has arrived completely, and the client program can know it.
    #[inline]
    fn has_arrived(&self, exchange: &Exchange) -> bool {
        let end = &self.ends[OPENER];
        exchange.reply_end.is_some_and(|reply_end| end.delivered() >= reply_end.get())
            && (self.closes != Closes::AcceptorToEnd || end.peer_closed())
    }

    /// Index of the oldest exchange that is not served; the number of exchanges if all are served.
    #[inline]
    pub fn oldest_unserved(&self) -> usize {
        self.exchanges.len() - self.unserved as usize
    }

    /// Whether the server program may begin with this exchange. A reply without a request waits
    /// until the connection is established and all earlier data has been sent.
    #[inline]
    pub fn may_serve(&self, exchange: &Exchange) -> bool {
        let end = &self.ends[ACCEPTOR];
        if end.delivered() < exchange.request_end {
            return false;
        }
        let unrequested = exchange.is_unrequested() && exchange.scripted().is_none();
        let open = matches!(end.state(), State::Established | State::CloseWait);
        // The n-th byte of the acceptor's stream has the sequence number n.
        let begin = exchange.reply_end.map(|reply_end| reply_end.get() - exchange.reply_bytes);
        !unrequested || (open && begin.is_some_and(|begin| end.snd_max() > begin))
    }

    /// The server program has written: the delay before the script's next reply counts from now.
    #[inline]
    pub fn schedule_script(&mut self, now: Instant) {
        let next = self.oldest_unserved();
        if let Some(exchange) = self.exchanges.get_mut(next)
            && let Cause::Scripted(not_before) = &mut exchange.cause
        {
            *not_before = now + exchange.service;
        }
    }

    /// Whether the connection is a transfer: it has no replies, and ends when all is acknowledged
    /// or never.
    pub fn is_transfer(&self) -> bool {
        self.promised == 0 && (self.close_requested || self.written == u64::MAX)
    }

    /// Whether everything sent without a reply has now been acknowledged.
    #[inline]
    pub fn take_sent(&mut self) -> bool {
        let all = self.sent_pending && self.ends[OPENER].acked() >= self.written;
        self.sent_pending &= !all;
        all
    }

    /// Whether the application still uses the connection: it waits for something, or may still
    /// send.
    pub fn expected(&self) -> bool {
        let once = matches!(self.closes, Closes::Acceptor | Closes::AcceptorToEnd);
        let may_send = !once && !self.close_requested;
        may_send || self.sent_pending || !self.exchanges.is_empty()
    }

    /// Whether an end is closed, or only waits in TIME-WAIT.
    fn done(&self, end: usize) -> bool {
        matches!(self.ends[end].state(), State::Closed | State::TimeWait)
    }

    /// Whether the connection's slot may be reused: both ends have finished, or one has given up
    /// (its reset is assumed to reach the other at once).
    #[inline]
    pub fn over(&self) -> bool {
        self.failed || (self.done(OPENER) && self.done(ACCEPTOR))
    }

    /// Prefetches the fields of the connection that an event at one of its endpoints, `end`, uses.
    #[inline]
    pub fn fetch(&self, end: usize) {
        prefetch::prefetch(&self.armed);
        prefetch::prefetch(&self.exchanges);
        prefetch::prefetch(&self.serial);
        prefetch::prefetch(&self.closes);
        prefetch::prefetch(&self.ends[end]);
    }

    /// Prefetches the memory to which these fields refer; they must be in the cache by now.
    #[inline]
    pub fn fetch_more(&self, end: usize) {
        if let Some(next) = self.exchanges.front() {
            prefetch::prefetch(next);
        }
        self.ends[end].fetch(self.sends(end));
    }

    /// Prefetches the memory that a sender refers to.
    #[inline]
    pub fn fetch_most(&self, end: usize) {
        if self.sends(end) {
            self.ends[end].fetch_more();
        }
    }

    /// Whether an end is taken for a sender: the acceptor always, the opener if it has outstanding
    /// data.
    #[inline]
    fn sends(&self, end: usize) -> bool {
        end == ACCEPTOR || self.ends[end].outstanding() > 0
    }

    /// Whether the application will be notified of a reply within a packet or two, or of another
    /// event.
    #[inline]
    pub fn notifies_soon(&self) -> bool {
        let delivered = self.ends[OPENER].delivered();
        let far = |end: NonZero<u64>| end.get() > delivered + SOON;
        !self.exchanges.front().and_then(|next| next.reply_end).is_some_and(far)
    }

    /// Index of the source's group in the scenario.
    #[inline]
    pub fn group(&self) -> u16 {
        self.owner.group()
    }

    /// Number of the host on the clients' side.
    pub fn client(&self) -> u32 {
        u32::from(self.hosts[usize::from(self.client)])
    }
}

#[cfg(test)]
mod tests;
