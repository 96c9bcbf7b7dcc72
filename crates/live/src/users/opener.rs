//! The ends of connections that the applications of this side open; they act as those of `sim` do.

use std::io;
use std::sync::Arc;

use packet::Duration;
use rustix::event::epoll::{self, EventData, EventFlags};
use traffic::{Closes, Input};

use super::connection::{Exchange, Opener};
use super::driver::{Driver, Place, Slot};
use super::facts::{Fact, RequestFact};
use super::partner::{PartnerMessage, When};
use super::pipe::Pipe;
use super::sockets;
use super::timers::Timer;
use crate::control::{Announcement, Protocol};

/// Interval of polling for acknowledgements that an application waits for; the kernel has no event
/// for them.
const LOOK_EVERY: Duration = Duration::from_millis(1);

impl Driver {
    pub(super) fn opener(&mut self, place: Place) -> Option<&mut Opener> {
        match self.at(place) {
            Some(Slot::Opener(opener)) => Some(opener),
            _ => None,
        }
    }

    /// Calls `act` with connection `number` of a source, if it still exists.
    pub(super) fn with_number(&mut self, source: u32, number: u32, act: impl FnOnce(&mut Opener)) {
        let place = self.sources[source as usize].connections[number as usize];
        if let Some(opener) = self.opener(place) {
            act(opener);
        }
    }

    /// Opens a connection: draws its round-trip time, announces it, connects.
    pub(super) fn open(
        &mut self,
        source: u32,
        number: u32,
        peer: u32,
        closes: Closes,
    ) -> io::Result<()> {
        let of = &mut self.sources[source as usize];
        let (group, user, machine) = (of.group, of.user, of.machine);
        let live = self.groups.at(group);
        let round_trip = of
            .next_round_trip
            .take()
            .unwrap_or_else(|| live.group.draw_round_trip(machine, peer, of.index, &mut of.rng));
        let at = self.places.machine(self.side, machine, self.pair);
        let to = self.places.served(self.side.other(), peer, self.pair, group);
        let (socket, from) = sockets::opener(&mut self.ports, at, &live.options, live.group.dscp)?;
        let limit = live.connect_limit;
        self.on_group_active(group);
        self.announce(Announcement {
            protocol: Protocol::Tcp,
            opener: from,
            acceptor: to,
            group,
            source: user,
            round_trip,
        })?;
        let id = self.next_id();
        self.partner.enqueue(&PartnerMessage::Open { conn: id, from, closing: closes.into() });
        let opened = self.clock.now();
        let client = self.client_of(machine, peer);
        self.log.note(&Fact::Opened { conn: id, at: opened.nanos(), client, source: user, group });
        sockets::begin_connect(&socket, to)?;
        let opener = Opener::new(socket, id, source, number, closes, opened);
        let place = self.watch(Slot::Opener(Box::new(opener)), Pipe::FIRST_WATCH)?;
        if let Some(limit) = limit {
            self.timers.add(opened + limit, Timer::Connect(place));
        }
        let connections = &mut self.sources[source as usize].connections;
        if connections.len() <= number as usize {
            connections.resize(number as usize + 1, Place::MAX);
        }
        connections[number as usize] = place;
        Ok(())
    }

    /// Writes into a connection. If `reply_bytes` is not 0, the data is a request, and the partner
    /// is to reply `service` after its arrival.
    pub(super) fn send(
        &mut self,
        source: u32,
        number: u32,
        bytes: u64,
        reply_bytes: u64,
        service: Duration,
    ) -> io::Result<()> {
        let now = self.clock.now();
        let group = self.sources[source as usize].group;
        let place = self.sources[source as usize].connections[number as usize];
        let Some(opener) = self.opener(place) else { return Ok(()) };
        opener.written = opener.written.saturating_add(bytes);
        opener.pipe.unwritten = opener.pipe.unwritten.saturating_add(bytes);
        if reply_bytes > 0 {
            opener.exchange(now, u32::try_from(bytes).unwrap_or(u32::MAX), reply_bytes);
            let (conn, request_end) = (opener.id, opener.written);
            let service = service.nanos();
            let when = if bytes > 0 { When::Served(service) } else { When::Unrequested(service) };
            self.partner.enqueue(&PartnerMessage::Reply {
                conn,
                request_end,
                bytes: reply_bytes,
                when,
            });
            if bytes > 0 {
                self.log.note(&Fact::Requested { at: now.nanos(), group, reply_bytes });
            }
        } else {
            opener.sent_pending = true;
        }
        self.pump(place)
    }

    /// Lets the partner write `bytes` without a request, once `after` bytes have reached it and
    /// `gap` has passed since its last write.
    pub(super) fn script(
        &mut self,
        source: u32,
        number: u32,
        after: u64,
        gap: Duration,
        bytes: u64,
    ) {
        let (now, mut said) = (self.clock.now(), None);
        self.with_number(source, number, |opener| {
            opener.exchange(now, 0, bytes);
            let when = When::Scripted(gap.nanos());
            said = Some(PartnerMessage::Reply { conn: opener.id, request_end: after, bytes, when });
        });
        said.iter().for_each(|word| self.partner.enqueue(word));
    }

    /// The application sends no more over a connection.
    pub(super) fn close(&mut self, source: u32, number: u32) -> io::Result<()> {
        let place = self.sources[source as usize].connections[number as usize];
        let Some(opener) = self.opener(place) else { return Ok(()) };
        opener.close_requested = true;
        if opener.closes == Closes::AcceptorLast {
            let conn = opener.id;
            self.partner.enqueue(&PartnerMessage::Last { conn });
        }
        self.pump(place)
    }

    /// Discards the data that the kernel has not taken, and closes the connection.
    pub(super) fn stop(&mut self, source: u32, number: u32) -> io::Result<()> {
        let place = self.sources[source as usize].connections[number as usize];
        let Some(opener) = self.opener(place) else { return Ok(()) };
        opener.pipe.unwritten = 0;
        opener.written = opener.pipe.taken;
        opener.close_requested = true;
        self.pump(place)
    }

    fn pump(&mut self, place: Place) -> io::Result<()> {
        if let Some(opener) = self.opener(place) {
            opener.pump();
        }
        self.keep_watch(place)
    }

    /// Updates the events that the socket is watched for. Sets the timer that polls for
    /// acknowledgements, if the application waits for them.
    fn keep_watch(&mut self, place: Place) -> io::Result<()> {
        let now = self.now;
        let Some(opener) = self.opener(place) else { return Ok(()) };
        let look = opener.sent_pending && opener.pipe.unwritten == 0 && !opener.looks;
        opener.looks |= look;
        if look {
            self.timers.add(now + LOOK_EVERY, Timer::Acknowledged(place));
        }
        let epoll = Arc::clone(&self.epoll);
        if let Some(opener) = self.opener(place)
            && let Some(flags) = opener.pipe.new_watch()
        {
            epoll::modify(&*epoll, &opener.pipe.socket, EventData::new_u64(place), flags)?;
        }
        Ok(())
    }

    /// The timer that polls for acknowledgements has expired: notifies the application if all its
    /// data is acknowledged, else sets the timer again.
    pub(super) fn look(&mut self, place: Place) -> io::Result<()> {
        if let Some(opener) = self.opener(place) {
            opener.looks = false;
        }
        self.opener_reacts(place)
    }

    /// Handles epoll events of the socket of a connection that an application of this side opened.
    pub(super) fn opener_happens(&mut self, place: Place, flags: EventFlags) -> io::Result<()> {
        let now = self.now;
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut arrived = (0, 0);
        if let Some(opener) = self.opener(place) {
            if !opener.pipe.established {
                opener.pipe.look_for_handshake();
                opener.connected = opener.pipe.established.then_some(now);
            }
            if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                arrived = (opener.source, opener.pipe.read(&mut scratch));
            }
        }
        self.scratch = scratch;
        if arrived.1 > 0 {
            let group = self.sources[arrived.0 as usize].group;
            self.arrived(group, arrived.1);
        }
        self.opener_reacts(place)
    }

    /// Acts on a connection's new state: writes data that waits, closes after the peer, and
    /// notifies the application of the handshake, replies, acknowledgements and failure.
    fn opener_reacts(&mut self, place: Place) -> io::Result<()> {
        let now = self.now;
        let Some(opener) = self.opener(place) else { return Ok(()) };
        let (source, conn) = (opener.source, opener.number);
        if opener.awaited && opener.pipe.established {
            opener.awaited = false;
            self.notify(source, Input::Opened { conn }, now)?;
        }
        if let Some(opener) = self.opener(place) {
            opener.pump();
        }
        while let Some(exchange) = self.opener(place).and_then(Opener::take_reply) {
            self.end_exchange(place, exchange, false);
            self.notify(source, Input::Replied { conn }, now)?;
        }
        if self.opener(place).is_some_and(Opener::take_sent) {
            if self.opener(place).is_some_and(|opener| opener.is_transfer()) {
                self.end_transfer(place);
            }
            self.notify(source, Input::Sent { conn }, now)?;
        }
        if self.opener(place).is_some_and(|opener| opener.pipe.failed) {
            return self.fail(place);
        }
        self.keep_watch(place)?;
        if self.opener(place).is_some_and(|opener| opener.pipe.over()) {
            self.retire_opener(place);
        }
        Ok(())
    }

    /// The time limit of a handshake has passed: gives the connection up if it is not established.
    pub(super) fn connect_expires(&mut self, place: Place) -> io::Result<()> {
        match self.opener(place) {
            Some(opener) if !opener.pipe.established => {
                opener.pipe.failed = true;
                self.fail(place)
            }
            _ => Ok(()),
        }
    }

    fn end_exchange(&mut self, place: Place, exchange: Exchange, failed: bool) {
        let ended = self.now.nanos();
        let Some(opener) = self.opener(place) else { return };
        if exchange.request_bytes == 0 {
            return; // the reply had no request
        }
        let fact = Fact::Ended(RequestFact {
            conn: opener.id,
            index: exchange.index,
            requested: exchange.requested.nanos(),
            ended,
            request_bytes: exchange.request_bytes,
            reply_bytes: exchange.reply_bytes,
            resent: opener.pipe.resent() > exchange.resent,
            failed,
        });
        self.log.note(&fact);
    }

    fn end_transfer(&mut self, place: Place) {
        let ended = self.now.nanos();
        let Some(opener) = self.opener(place) else { return };
        let (source, started, bytes) = (opener.source, opener.opened.nanos(), opener.written);
        let failed = opener.pipe.failed;
        let (user, group) =
            (self.sources[source as usize].user, self.sources[source as usize].group);
        self.log.note(&Fact::Transfer { started, ended, bytes, user, group, failed });
    }

    /// Ends a connection that was given up: its requests have failed.
    fn fail(&mut self, place: Place) -> io::Result<()> {
        let Some(opener) = self.opener(place) else { return Ok(()) };
        let (source, number, conn) = (opener.source, opener.number, opener.id);
        let expected = opener.expected();
        let cut_short = opener.sent_pending && opener.is_transfer() && opener.written != u64::MAX;
        let exchanges = std::mem::take(&mut opener.exchanges);
        opener.sent_pending = false;
        for exchange in exchanges {
            self.end_exchange(place, exchange, true);
        }
        if cut_short {
            self.end_transfer(place);
        }
        self.partner.enqueue(&PartnerMessage::Gone { conn });
        self.retire_opener(place);
        let now = self.now;
        if expected { self.notify(source, Input::Failed { conn: number }, now) } else { Ok(()) }
    }

    /// Logs the end of a connection, and frees its slot.
    fn retire_opener(&mut self, place: Place) {
        let now = self.now;
        if let Some(opener) = self.opener(place) {
            let fact = opener.end(now, true);
            self.log.note(&fact);
            self.free(place);
        }
    }
}
