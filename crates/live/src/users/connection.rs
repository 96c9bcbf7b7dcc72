//! The opening end of a connection: its requests, and the replies that are still expected.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use packet::Instant;
use traffic::Closes;

use super::facts::{ConnectionId, Fact};
use super::pipe::Pipe;

/// A request with its reply, or a reply that the other program writes without a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Time from which the response time counts.
    pub(super) requested: Instant,
    /// Number of segments that this end had retransmitted when the exchange began.
    pub(super) resent: u32,
    pub(super) request_bytes: u32,
    pub(super) reply_bytes: u64,
    /// Offset of the reply's end in the bytes that arrive over the connection.
    reply_end: u64,
    pub(super) index: u32,
}

/// The opening end of a connection.
#[derive(Debug)]
pub struct Opener {
    pub(super) pipe: Pipe,
    pub(super) awaited: bool,
    pub(super) id: ConnectionId,
    pub(super) source: u32,
    pub(super) number: u32,
    pub(super) closes: Closes,
    pub(super) opened: Instant,
    pub(super) connected: Option<Instant>,
    pub(super) close_requested: bool,
    pub(super) exchanges: VecDeque<Exchange>,
    /// Number of exchanges so far.
    requested: u32,
    /// Bytes that the application has written.
    pub(super) written: u64,
    /// Bytes of all replies so far, also those still expected.
    pub(super) promised: u64,
    /// Whether the application waits until all its data is acknowledged.
    pub(super) sent_pending: bool,
    /// Whether a timer is set that polls whether all written data is acknowledged.
    pub(super) looks: bool,
}

impl Opener {
    /// The opening end of a new connection, before the handshake.
    pub(super) fn new(
        socket: OwnedFd,
        id: ConnectionId,
        source: u32,
        number: u32,
        closes: Closes,
        opened: Instant,
    ) -> Opener {
        Opener {
            pipe: Pipe::new(socket, false, Pipe::FIRST_WATCH),
            awaited: false,
            id,
            source,
            number,
            closes,
            opened,
            connected: None,
            close_requested: false,
            exchanges: VecDeque::new(),
            requested: 0,
            written: 0,
            promised: 0,
            sent_pending: false,
            looks: false,
        }
    }

    pub(super) fn closing(&self) -> bool {
        self.close_requested && self.closes == Closes::Opener
    }

    pub(super) fn is_transfer(&self) -> bool {
        self.promised == 0 && (self.close_requested || self.written == u64::MAX)
    }

    /// Whether the application still needs the connection, and must be notified if it fails.
    pub(super) fn expected(&self) -> bool {
        let once = matches!(self.closes, Closes::Acceptor | Closes::AcceptorToEnd);
        let may_send = !once && !self.close_requested;
        may_send || self.sent_pending || !self.exchanges.is_empty()
    }

    pub(super) fn take_reply(&mut self) -> Option<Exchange> {
        let next = self.exchanges.front()?;
        let whole = self.pipe.delivered >= next.reply_end;
        let known = self.closes != Closes::AcceptorToEnd || self.pipe.peer_closed;
        if whole && known { self.exchanges.pop_front() } else { None }
    }

    pub(super) fn take_sent(&mut self) -> bool {
        let all = self.sent_pending && self.pipe.acknowledged();
        self.sent_pending &= !all;
        all
    }

    /// Adds an exchange.
    pub(super) fn exchange(&mut self, at: Instant, request_bytes: u32, reply_bytes: u64) {
        let first = self.promised == 0;
        self.promised += reply_bytes;
        self.exchanges.push_back(Exchange {
            requested: if first { self.opened } else { at },
            resent: if first { 0 } else { self.pipe.resent() },
            request_bytes,
            reply_bytes,
            reply_end: self.promised,
            index: self.requested,
        });
        self.requested += 1;
    }

    /// Writes what the socket takes, and closes if all is written and the connection is to be
    /// closed.
    pub(super) fn pump(&mut self) {
        let closes = self.pipe.peer_closed || self.closing();
        self.pipe.write(closes);
        if closes {
            self.pipe.close();
        }
    }

    /// Number of requests without a complete reply.
    pub(super) fn unanswered(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.request_bytes > 0).count() as u64
    }

    /// The fact to log when the connection or the run is over.
    pub(super) fn end(&self, at: Instant, over: bool) -> Fact {
        let connect = self.connected.map(|at| at.since(self.opened).nanos());
        let requests = self.promised > 0;
        Fact::OpenerEnd { conn: self.id, requests, connect, end: self.pipe.end(at, over) }
    }
}
