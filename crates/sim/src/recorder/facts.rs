//! The events that a [`Recorder`] takes, from a simulated host or from a program on real sockets.

use packet::Instant;
use record::{Class, LongFlow, Recoveries, Request, Transfer};

use super::Recorder;
use crate::world::connection::{ACCEPTOR, OPENER};

/// What a connection has done by its end, or by the end of the run.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionEnd<'a> {
    /// Index, over all groups, of the source that opened the connection.
    pub source: u32,
    /// Which kinds of segments had to be retransmitted, in either direction.
    pub class: Class,
    /// Rows of the connection's requests, as [`Recorder::request_ended`] returned them.
    pub rows: &'a [u32],
    /// Loss recoveries of both ends in the measured interval.
    pub recoveries: Recoveries,
    /// Payload bytes that arrived in order at opener and acceptor in the measured interval.
    pub delivered: [u64; 2],
}

impl Recorder {
    /// A request has ended, whose reply has `reply_bytes`. Returns its row for
    /// [`ConnectionEnd::rows`].
    pub fn request_ended(&mut self, request: Request, reply_bytes: u64) -> u32 {
        if let Some(sources) = &mut self.sources
            && !request.failed
            && self.window.contains(request.ended)
        {
            sources.answered(request.user, reply_bytes);
        }
        self.requests.ended(request)
    }

    /// A transfer without replies has ended; calls must be in order of time.
    pub fn transfer_ended(&mut self, transfer: Transfer) {
        self.transfers.ended(transfer);
    }

    /// A connection of this client machine has ended.
    pub fn connection_over(&mut self, now: Instant, client: u32, end: &ConnectionEnd) {
        self.concurrency.over(client);
        self.requests.connection(now, end.class);
        self.classify(end);
        if self.window.contains(now) {
            self.measure(end);
        }
    }

    /// A connection is open at the end of the run. `long` says that it was open over the whole
    /// measured interval and carries a transfer without replies.
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

    /// Adds loss recoveries of connections that do not report them one by one.
    pub fn recovered(&mut self, by: Recoveries) {
        self.flows.recovered(by);
    }

    fn classify(&mut self, end: &ConnectionEnd) {
        for &row in end.rows {
            self.requests.classify(row, end.class);
        }
    }

    /// Adds what a connection did in the measured interval.
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

    /// Whether the recorder keeps a row of each datagram, in the order of sending.
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
