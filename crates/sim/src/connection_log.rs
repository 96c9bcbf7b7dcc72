//! What is written down of connections: their requests and transfers as they end, and what they
//! had done when the measured interval began and when it ended.

use record::{LongFlow, Request, Transfer};

use crate::connection::{ACCEPTOR, Connection, Exchange, GONE, OPENER};
use crate::world::World;

impl World {
    /// A request has ended: its reply is in, or its connection was given up.
    pub(crate) fn log_reply(&mut self, index: u32, exchange: Exchange) {
        if exchange.is_unasked() {
            return; // nobody asked for it
        }
        let connection = &mut self.connections[index];
        let failed = connection.failed;
        if let Some(sources) = &mut self.sources
            && !failed
            && self.window.contains(self.now)
        {
            sources.answered(connection.member, exchange.reply_bytes);
        }
        let row = self.requests.ended(Request {
            asked: exchange.asked,
            ended: self.now,
            request_bytes: exchange.request_bytes,
            reply_bytes: u32::try_from(exchange.reply_bytes).unwrap_or(u32::MAX),
            user: connection.member,
            group: self.members[connection.member as usize].group,
            retransmitted: connection.resent() > exchange.resent,
            failed,
        });
        connection.rows.push(row);
    }

    /// A transfer has ended: all is acknowledged, or its connection was given up.
    pub(crate) fn log_transfer(&mut self, index: u32) {
        let connection = &self.connections[index];
        self.transfers.ended(Transfer {
            started: connection.opened,
            ended: self.now,
            bytes: connection.written,
            user: connection.member,
            group: self.members[connection.member as usize].group,
            failed: connection.failed,
        });
    }

    /// Books a connection that is over and frees its place.
    pub(crate) fn retire(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        let class = connection.class();
        if !connection.failed {
            assert_eq!(
                connection.delivered(),
                [connection.promised, connection.written],
                "bytes arrive once"
            );
        }
        for row in connection.rows.drain(..) {
            self.requests.classify(row, class);
        }
        self.concurrency.over(connection.client());
        // Late packets and timer events of this connection find another serial number.
        connection.serial = GONE;
        self.requests.connection(self.now, class);
        if self.window.contains(self.now) {
            self.flows.recovered(connection.recoveries());
            if let Some(sources) = &mut self.sources {
                sources.delivered(connection.member, connection.delivered_measured());
            }
        }
        self.connections.free(index);
    }

    /// The measured interval begins: what open connections and applications did until
    /// now is not measured.
    pub(crate) fn begin_measuring(&mut self) {
        for connection in self.connections.places_mut() {
            connection.begin_measuring();
        }
        for member in &mut self.members {
            member.app.measure(self.now);
        }
    }

    /// At the end of the run: books connections still open, as far as they go.
    pub(crate) fn book_open_connections(&mut self) {
        for connection in self.connections.places().iter().filter(|c| c.serial != GONE) {
            for &row in &connection.rows {
                self.requests.classify(row, connection.class());
            }
            self.flows.recovered(connection.recoveries());
            if let Some(sources) = &mut self.sources {
                sources.delivered(connection.member, connection.delivered_measured());
            }
            // Where replies are asked for, users decide what a connection carries.
            if connection.opened <= self.window.from && connection.promised == 0 {
                let (now, before) = (connection.delivered(), connection.before().delivered);
                self.flows.long(LongFlow {
                    group: self.members[connection.member as usize].group,
                    member: connection.member,
                    to_acceptor: now[ACCEPTOR] - before[ACCEPTOR],
                    to_opener: now[OPENER] - before[OPENER],
                });
            }
        }
        self.flows.sort();
    }

    /// Requests without an answer.
    pub fn open_requests(&self) -> u64 {
        let open = self.connections.places().iter().filter(|c| c.serial != GONE);
        let asked = |c: &Connection| c.exchanges.iter().filter(|e| !e.is_unasked()).count();
        open.map(|c| asked(c) as u64).sum()
    }
}
