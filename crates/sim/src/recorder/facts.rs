//! The plain facts that a [`Recorder`] takes, from a simulated host or from a program above real
//! sockets.

use packet::Instant;
use record::{Class, LongFlow, Recoveries, Request, Transfer};

use super::Recorder;
use crate::world::connection::{ACCEPTOR, OPENER};

/// What a connection has done when it is over, or the run is.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionEnd<'a> {
    /// Who opened it, numbered over all groups.
    pub source: u32,
    /// What had to be retransmitted, in both directions.
    pub class: Class,
    /// Rows of its requests, as [`Recorder::request_ended`] gave them.
    pub rows: &'a [u32],
    /// Recoveries of both ends in the measured interval.
    pub recoveries: Recoveries,
    /// Payload bytes that arrived in order at opener and acceptor in the measured interval.
    pub delivered: [u64; 2],
}

impl Recorder {
    /// A request has ended, whose answer has this size. Returns its row for [`ConnectionEnd::rows`].
    pub fn request_ended(&mut self, request: Request, reply_bytes: u64) -> u32 {
        if let Some(sources) = &mut self.sources
            && !request.failed
            && self.window.contains(request.ended)
        {
            sources.answered(request.user, reply_bytes);
        }
        self.requests.ended(request)
    }

    /// A transfer without replies has ended; in order of time.
    pub fn transfer_ended(&mut self, transfer: Transfer) {
        self.transfers.ended(transfer);
    }

    /// A connection of this client machine is over.
    pub fn connection_over(&mut self, now: Instant, client: u32, end: &ConnectionEnd) {
        self.concurrency.over(client);
        self.requests.connection(now, end.class);
        self.classify(end);
        if self.window.contains(now) {
            self.measure(end);
        }
    }

    /// At the end of the run a connection is open; `long` if it was over the whole measured interval
    /// and carries a transfer without replies.
    pub fn connection_open(&mut self, group: u16, long: bool, end: &ConnectionEnd) {
        self.classify(end);
        self.measure(end);
        if long {
            self.flows.long(LongFlow {
                group,
                source: end.source,
                to_acceptor: end.delivered[ACCEPTOR],
                to_opener: end.delivered[OPENER],
            });
        }
    }

    /// Recoveries of connections that do not report them one by one.
    pub fn recovered(&mut self, by: Recoveries) {
        self.flows.recovered(by);
    }

    fn classify(&mut self, end: &ConnectionEnd) {
        for &row in end.rows {
            self.requests.classify(row, end.class);
        }
    }

    /// What a connection did in the measured interval.
    fn measure(&mut self, end: &ConnectionEnd) {
        self.flows.recovered(end.recoveries);
        if let Some(sources) = &mut self.sources {
            sources.delivered(end.source, end.delivered.iter().sum());
        }
    }

    /// Datagram `number` (0, 1, …) of `stream` leaves its sender.
    #[inline]
    pub fn datagram_sent(&mut self, stream: u32, number: u64, now: Instant) {
        self.datagrams.sent(stream, number, now);
    }

    /// Datagram `number`, sent at `sent`, reaches its receiver.
    #[inline]
    pub fn datagram_received(&mut self, stream: u32, number: u64, sent: Instant, now: Instant) {
        self.datagrams.received(stream, number, sent, now);
    }

    /// Datagram `number`, sent at `sent`, was dropped.
    pub fn datagram_lost(&mut self, stream: u32, number: u64, sent: Instant) {
        self.datagrams.lost(stream, number, sent);
    }

    /// Whether each datagram has a row, in the order of sending.
    pub fn logs_datagrams(&self) -> bool {
        self.datagrams.logs()
    }

    /// Datagram `number` of `stream` was refused by its first port as it left its sender.
    #[inline]
    pub fn datagram_refused(&mut self, stream: u32, number: u64, now: Instant) {
        self.datagrams.sent(stream, number, now);
        self.datagrams.lost(stream, number, now);
    }

    /// `segments` segments with payload were sent.
    pub fn data_segments_sent(&mut self, segments: u64) {
        self.data_sent += segments;
    }
}
