//! The programs at the two ends of a connection: the client's, which requests, and the server's,
//! which answers. They run after TCP has reacted to an event.

use packet::Duration;
use tcp::State;
use traffic::{Closes, Input};

use super::connection::{ACCEPTOR, Exchange, OPENER, Serial};
use super::{Event, World, event_order};

impl World {
    /// Runs the server program: it answers requests and closes the connection.
    pub(super) fn acceptor_reacts(&mut self, index: u32) {
        let now = self.now;
        let connection = &self.connections[index];
        let mut wrote = false;
        if connection.is_multiplexed() {
            self.multiplex(index);
        } else if connection.unserved > 0 {
            wrote = self.answer(index);
        }
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[ACCEPTOR];
        let finished = match connection.closes {
            Closes::Acceptor | Closes::AcceptorToEnd => wrote && connection.unserved == 0,
            Closes::AcceptorLast => wrote && connection.unserved == 0 && connection.close_requested,
            Closes::Opener => end.peer_closed() && connection.unserved == 0,
        };
        if finished && !connection.closed[ACCEPTOR] {
            connection.closed[ACCEPTOR] = true;
            end.close(now);
            wrote = true;
        }
        if wrote {
            self.drain(index, ACCEPTOR);
            if self.connections[index].unserved > 0 {
                return self.acceptor_reacts(index); // some replies waited for this one to be sent
            }
        }
        if self.connections[index].ends[ACCEPTOR].state() == State::Failed {
            self.fail(index);
        }
    }

    /// Answers every request that has completely arrived, in order. Returns whether anything was
    /// written.
    fn answer(&mut self, index: u32) -> bool {
        let now = self.now;
        let connection = &mut self.connections[index];
        let mut wrote = false;
        while connection.unserved > 0 {
            let exchange = connection.exchanges[connection.oldest_unserved()];
            if !connection.may_serve(&exchange) {
                break;
            }
            if exchange.service > Duration::ZERO {
                self.serve(index);
                break;
            }
            connection.unserved -= 1;
            connection.ends[ACCEPTOR].write(exchange.reply_bytes, now);
            connection.schedule_script(now);
            wrote = true;
        }
        wrote
    }

    /// The server program begins to work on the oldest unserved request, unless it already does.
    fn serve(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        let Some(serial) = connection.serial else { return };
        let next = connection.oldest_unserved();
        let exchange = &mut connection.exchanges[next];
        if !std::mem::replace(&mut exchange.in_service, true) {
            let worked = self.now + exchange.service;
            let at = exchange.scripted().map_or(worked, |not_before| not_before.max(self.now));
            let event = Event::Serve { connection: index, serial };
            self.events.schedule(at, event_order::server(serial), event);
        }
    }

    /// The server program has finished an answer.
    #[inline(never)]
    pub(super) fn served(&mut self, index: u32, serial: Serial) {
        let connection = &mut self.connections[index];
        if connection.serial != Some(serial) {
            return; // the connection failed meanwhile
        }
        if connection.is_multiplexed() {
            return self.after_end(index, ACCEPTOR);
        }
        if connection.unserved == 0 {
            return; // the connection failed meanwhile
        }
        let next = connection.oldest_unserved();
        connection.exchanges[next].service = Duration::ZERO;
        self.after_end(index, ACCEPTOR);
    }

    /// Runs the client program: it writes data that waited for the handshake, closes at end of
    /// file, and notifies the application of replies.
    pub(super) fn opener_reacts(&mut self, index: u32) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[OPENER];
        if connection.awaited && end.state() == State::Established {
            connection.awaited = false;
            self.notify_opener(index, |conn| Input::Opened { conn });
        }
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[OPENER];
        if connection.unwritten > 0 && end.state() == State::Established {
            end.write(std::mem::take(&mut connection.unwritten), now);
            self.drain(index, OPENER);
        }
        self.upload(index);
        let connection = &self.connections[index];
        let end_of_file = connection.ends[OPENER].peer_closed();
        if end_of_file || (connection.closing() && connection.unwritten == 0) {
            self.close_opener(index);
        }
        while let Some(exchange) = self.connections[index].take_reply() {
            self.end_exchange(index, exchange);
            self.notify_opener(index, |conn| Input::Replied { conn });
        }
        if self.connections[index].take_sent() {
            if self.connections[index].is_transfer() {
                self.end_transfer(index);
            }
            self.notify_opener(index, |conn| Input::Sent { conn });
        }
        if self.connections[index].ends[OPENER].state() == State::Failed {
            self.fail(index);
        }
    }

    /// The client program of an endless upload writes frames while there is room.
    fn upload(&mut self, index: u32) {
        let now = self.now;
        while self.connections[index].uploads()
            && self.connections[index].ends[OPENER].state() == State::Established
            && self.connections[index].write_upload(now)
        {
            self.drain(index, OPENER);
        }
    }

    fn end_exchange(&mut self, index: u32, exchange: Exchange) {
        let group = self.group_of(index);
        self.recorder.replied(self.now, &mut self.connections[index], group, exchange);
    }

    fn end_transfer(&mut self, index: u32) {
        let group = self.group_of(index);
        self.recorder.transferred(self.now, &self.connections[index], group);
    }

    /// The client program closes its side of the connection: it will write no more.
    pub(super) fn close_opener(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        if !std::mem::replace(&mut connection.closed[OPENER], true) {
            connection.ends[OPENER].close(self.now);
            self.drain(index, OPENER);
        }
    }

    /// A connection was given up: its requests have failed. When the acceptor gives up, its reset
    /// is assumed to reach the opener at once, our own choice, without a source; the acceptor gives
    /// up only after 75 s of a lost handshake or thirteen timeouts of a segment.
    fn fail(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        if std::mem::replace(&mut connection.failed, true) {
            return;
        }
        // Once all replies have arrived, the application may have given the number to another
        // connection.
        let expected = connection.expected();
        // An endless transfer has no end to be measured.
        let cut_short =
            connection.sent_pending && connection.is_transfer() && connection.written != u64::MAX;
        let exchanges = std::mem::take(&mut connection.exchanges);
        connection.unserved = 0;
        connection.sent_pending = false;
        for exchange in exchanges {
            if exchange.reply_bytes == u64::MAX {
                continue; // an endless reply has no end to be measured
            }
            self.end_exchange(index, exchange);
        }
        if cut_short {
            self.end_transfer(index);
        }
        if expected {
            self.notify_opener(index, |conn| Input::Failed { conn });
        }
    }
}
