//! Hosts: what happens at the ends of a connection, and between TCP and the programs above it.

use packet::{Duration, Instant};
use record::{LongFlow, Request, Transfer};
use tcp::{Endpoint, State};
use traffic::{Action, AppCx, Closes, Input};

use crate::agenda::{Turn, order};
use crate::connection::{ACCEPTOR, Connection, Exchange, OPENER, SERVING};
use crate::world::{Flight, GONE, NOWHERE, Stream, What, World};

/// Sets servers' waking apart from applications'; above any number of members.
const SERVERS: u64 = 1 << 32;

impl World {
    pub(crate) fn deliver(&mut self, id: u32) {
        let flight = &self.flights[id];
        self.ledger.delivered(flight.flow(), flight.ip_bytes());
        if flight.datagram {
            let sent = Instant::from_nanos(flight.segment.ack);
            self.datagrams.received(flight.connection, flight.segment.seq, sent, self.now);
            return self.forget(id);
        }
        let (index, end) = (flight.connection, usize::from(flight.to));
        let connection = &mut self.connections[index];
        let late = connection.serial != flight.serial; // a copy for a connection that is over
        if !late {
            connection.ends[end].on_segment(&flight.segment, self.now);
        }
        self.forget(id);
        if !late {
            self.after_end(index, end);
        }
    }

    pub(crate) fn timer(&mut self, index: u32, serial: u32, end: usize) {
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.serial != serial || connection.armed[end] != now {
            return; // over, or superseded by an earlier one
        }
        connection.armed[end] = Instant::NEVER;
        if connection.ends[end].next_timeout().is_some_and(|d| d.at <= now) {
            connection.ends[end].on_timeout(now);
            self.after_end(index, end);
        } else {
            self.arm(index, end);
        }
    }

    /// What follows any change at a connection end: it sends, the programs react and it sends
    /// again, its timer is armed. TCP sends before the program runs, as a kernel does: the ACK
    /// of a SYN-ACK leaves before the request is written (tcp.md 1.7).
    fn after_end(&mut self, index: u32, end: usize) {
        self.drain(index, end);
        if end == OPENER {
            self.opener_reacts(index);
        } else {
            self.acceptor_reacts(index);
        }
        self.arm(index, end);
        let connection = &self.connections[index];
        if connection.failed || connection.ends[end].state() != State::Established {
            self.perhaps_end(index, end);
        }
    }

    /// A connection end that is not in the middle of things may be through.
    fn perhaps_end(&mut self, index: u32, end: usize) {
        if self.connections[index].ends[end].ended_without_fin() && self.hear_end(index, 1 - end) {
            return;
        }
        if self.connections[index].over() {
            self.retire(index);
        }
    }

    /// An end of the kind that sends no FIN is through: the other hears of it without a packet,
    /// once, and reacts as to a FIN.
    #[cold]
    fn hear_end(&mut self, index: u32, end: usize) -> bool {
        let other = &mut self.connections[index].ends[end];
        let news = !other.peer_closed();
        if news {
            other.hear_end(self.now);
            self.after_end(index, end);
        }
        news
    }

    #[inline]
    fn drain(&mut self, index: u32, end: usize) {
        loop {
            let id = self.flights.place(Flight::default);
            let flight = &mut self.flights[id];
            let connection = &mut self.connections[index];
            if !connection.ends[end].poll_send_into(&mut flight.segment, self.now) {
                return self.forget(id);
            }
            self.send(id, index, end);
        }
    }

    /// Sees to it that a timer event exists at or before the end's next deadline. Timers are
    /// lazy: a deadline that moves back costs nothing until the event fires.
    #[inline]
    fn arm(&mut self, index: u32, end: usize) {
        let connection = &mut self.connections[index];
        let Some(deadline) = connection.ends[end].next_timeout() else { return };
        if deadline.at >= connection.armed[end] || connection.ends[end].state() == State::TimeWait {
            return;
        }
        connection.armed[end] = deadline.at;
        let serial = connection.serial;
        let turn = if deadline.order == 0 { Turn::Timer } else { Turn::Acknowledge };
        let about = u64::from(serial) << 1 | end as u64;
        let what = What::Timer { connection: index, serial, end: end as u8 };
        self.agenda.plan(deadline.at, order(turn, about), what);
    }

    /// The server program: answers every request that has arrived whole.
    fn acceptor_reacts(&mut self, index: u32) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[ACCEPTOR];
        let mut wrote = false;
        while connection.unserved > 0 {
            let exchange = connection.exchanges[connection.exchanges.len() - connection.unserved];
            if end.delivered() < exchange.request_end {
                break;
            }
            if exchange.service > Duration::ZERO {
                self.serve(index);
                break;
            }
            connection.unserved -= 1;
            end.write(exchange.reply_bytes, now);
            wrote = true;
        }
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[ACCEPTOR];
        let finished = match connection.closes {
            Closes::Acceptor => wrote && connection.unserved == 0,
            Closes::AcceptorLast => wrote && connection.unserved == 0 && connection.close_asked,
            Closes::Opener => end.peer_closed() && connection.unserved == 0,
        };
        if finished && !connection.closed[ACCEPTOR] {
            connection.closed[ACCEPTOR] = true;
            end.close(now);
            wrote = true;
        }
        if wrote {
            self.drain(index, ACCEPTOR);
        }
        if self.connections[index].ends[ACCEPTOR].state() == State::Failed {
            self.fail(index);
        }
    }

    /// The server program begins to work on the oldest unserved request, unless it does already.
    fn serve(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        let serial = connection.serial;
        let next = connection.exchanges.len() - connection.unserved;
        let service = &mut connection.exchanges[next].service;
        if *service != SERVING {
            let at = self.now + std::mem::replace(service, SERVING);
            let order = order(Turn::Wake, SERVERS | u64::from(serial));
            self.agenda.plan(at, order, What::Serve { connection: index, serial });
        }
    }

    /// The server program has finished an answer.
    pub(crate) fn served(&mut self, index: u32, serial: u32) {
        let connection = &mut self.connections[index];
        if connection.serial != serial || connection.unserved == 0 {
            return; // the connection failed meanwhile
        }
        let next = connection.exchanges.len() - connection.unserved;
        connection.exchanges[next].service = Duration::ZERO;
        self.after_end(index, ACCEPTOR);
    }

    /// The client program: writes what waits for the handshake, closes at end of file, and
    /// tells the application of replies.
    fn opener_reacts(&mut self, index: u32) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let end = &mut connection.ends[OPENER];
        if connection.unwritten > 0 && end.state() == State::Established {
            end.write(std::mem::take(&mut connection.unwritten), now);
            self.drain(index, OPENER);
        }
        let connection = &self.connections[index];
        let end_of_file = connection.ends[OPENER].peer_closed();
        if end_of_file || (connection.closing() && connection.unwritten == 0) {
            self.close_opener(index);
        }
        while let Some(exchange) = self.connections[index].take_reply() {
            self.log_reply(index, exchange);
            self.tell_opener(index, |conn| Input::Replied { conn });
        }
        if self.connections[index].take_sent() {
            self.log_transfer(index);
            self.tell_opener(index, |conn| Input::Sent { conn });
        }
        if self.connections[index].ends[OPENER].state() == State::Failed {
            self.fail(index);
        }
    }

    /// The client program says that it will write no more.
    fn close_opener(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        if !std::mem::replace(&mut connection.closed[OPENER], true) {
            connection.ends[OPENER].close(self.now);
            self.drain(index, OPENER);
        }
    }

    fn log_reply(&mut self, index: u32, exchange: Exchange) {
        let connection = &mut self.connections[index];
        let failed = connection.failed;
        let row = self.requests.ended(Request {
            asked: exchange.asked,
            ended: self.now,
            request_bytes: exchange.request_bytes as u32,
            reply_bytes: u32::try_from(exchange.reply_bytes).unwrap_or(u32::MAX),
            user: connection.member,
            failed,
        });
        connection.rows.push(row);
    }

    fn log_transfer(&mut self, index: u32) {
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

    fn tell_opener(&mut self, index: u32, input: impl Fn(u32) -> Input) {
        let connection = &self.connections[index];
        let (member, number) = (connection.member, connection.number);
        self.tell(member, input(number));
    }

    /// A connection was given up: its requests have failed. When the acceptor gives up, its reset
    /// is taken to reach the opener at once (constructed: resets are not modelled); it gives up
    /// only after 75 s of a lost handshake or thirteen timeouts of a segment.
    fn fail(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        if std::mem::replace(&mut connection.failed, true) {
            return;
        }
        // With every reply in, the application may have given the number to another connection.
        let expected = connection.expected();
        // An endless one has no end to be measured.
        let cut_short = connection.sent_pending && connection.written != u64::MAX;
        let exchanges = std::mem::take(&mut connection.exchanges);
        connection.unserved = 0;
        connection.sent_pending = false;
        for exchange in exchanges {
            self.log_reply(index, exchange);
        }
        if cut_short {
            self.log_transfer(index);
        }
        if expected {
            self.tell_opener(index, |conn| Input::Failed { conn });
        }
    }

    /// Books a connection that is over and frees its place.
    fn retire(&mut self, index: u32) {
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
        // Late packets and timer events of this connection find another serial number.
        connection.serial = GONE;
        self.requests.connection(self.now, class);
        if self.window.contains(self.now) {
            self.flows.recovered(connection.recoveries());
        }
        self.connections.free(index);
    }

    /// The measured interval begins: what open connections did until now is not measured.
    pub(crate) fn begin_measuring(&mut self) {
        for connection in self.connections.places_mut() {
            connection.begin_measuring();
        }
    }

    /// At the end of the run: books connections still open, as far as they go.
    pub(crate) fn book_open_connections(&mut self) {
        for connection in self.connections.places().iter().filter(|c| c.serial != GONE) {
            for &row in &connection.rows {
                self.requests.classify(row, connection.class());
            }
            self.flows.recovered(connection.recoveries());
            if connection.opened <= self.window.from {
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
        open.map(|c| c.exchanges.len() as u64).sum()
    }

    // ---- applications ---------------------------------------------------------------------

    /// Tells an application something and carries out what it asks for.
    pub(crate) fn tell(&mut self, member: u32, input: Input) {
        // An action may lead to another call only through events, never from within.
        let mut actions = std::mem::take(&mut self.actions);
        debug_assert!(actions.is_empty());
        let app = &mut self.members[member as usize].app;
        app.on(input, &mut AppCx { now: self.now, act: &mut |action| actions.push(action) });
        for action in actions.drain(..) {
            self.act(member, action);
        }
        self.actions = actions;
    }

    fn act(&mut self, member: u32, action: Action) {
        match action {
            Action::WakeAt(at) => {
                let order = order(Turn::Wake, u64::from(member));
                self.agenda.plan(at, order, What::Wake(member));
            }
            Action::Datagram { peer, bytes } => {
                let mut stream = self.members[member as usize].stream;
                if stream == NOWHERE {
                    stream = self.open_stream(member, peer);
                }
                self.send_datagram(stream, bytes);
            }
            Action::Move { machine } => self.members[member as usize].machine = machine,
            Action::Open { conn, peer, closes } => self.open(member, conn, peer, closes),
            Action::Send { conn, bytes, reply_bytes, service } => {
                let index = self.members[member as usize].connections[conn as usize];
                self.write(index, bytes, reply_bytes, service);
            }
            Action::Close { conn } => {
                let index = self.members[member as usize].connections[conn as usize];
                let connection = &mut self.connections[index];
                connection.close_asked = true;
                if connection.closing() && connection.unwritten == 0 {
                    self.close_opener(index);
                    self.arm(index, OPENER);
                }
            }
        }
    }

    /// A member's first datagram: draws its distance, gives it a flow number.
    fn open_stream(&mut self, member: u32, peer: u32) -> u32 {
        let owner = &mut self.members[member as usize];
        let group = &self.groups[usize::from(owner.group)];
        let round_trip = group.round_trips.draw(owner.machine, peer, member, &mut owner.rng);
        let stream = Stream {
            serial: self.next_serial,
            route: group.routes[0][owner.machine as usize % group.routes[0].len()],
            hosts: [owner.machine as u16, peer as u16],
            dscp: group.dscp,
            // Where the delay of a round trip lies matters here: half of it is each way's.
            tail: Duration::from_nanos(round_trip.nanos() / 2),
            sent: 0,
        };
        self.next_serial += 1;
        owner.stream = self.datagrams.stream(&group.name);
        debug_assert_eq!(owner.stream as usize, self.streams.len());
        self.streams.push(stream);
        owner.stream
    }

    fn open(&mut self, member: u32, number: u32, peer: u32, closes: Closes) {
        let now = self.now;
        let owner = &mut self.members[member as usize];
        let group = &self.groups[usize::from(owner.group)];
        let other = group.side.other();
        let round_trip = group.round_trips.draw(owner.machine, peer, member, &mut owner.rng);
        let clocks =
            [self.machines.clock(group.side, owner.machine), self.machines.clock(other, peer)];
        let index = self.connections.place(|| Connection::new(&group.profile, clocks));
        let connection = &mut self.connections[index];
        connection.reset(&group.profile, clocks);
        connection.serial = self.next_serial;
        self.next_serial += 1;
        connection.route = [
            group.routes[0][owner.machine as usize % group.routes[0].len()],
            group.routes[1][peer as usize % group.routes[1].len()],
        ];
        connection.dscp = group.dscp;
        connection.hosts = [owner.machine as u16, peer as u16];
        connection.tail = group.tails(round_trip);
        connection.member = member;
        connection.number = number;
        connection.closes = closes;
        connection.opened = now;
        if owner.connections.len() <= number as usize {
            owner.connections.resize(number as usize + 1, NOWHERE);
        }
        owner.connections[number as usize] = index;
        connection.ends[OPENER].connect(now);
        self.drain(index, OPENER);
        self.arm(index, OPENER);
    }

    fn write(&mut self, index: u32, bytes: u64, reply_bytes: u64, service: Duration) {
        let now = self.now;
        let connection = &mut self.connections[index];
        connection.written = connection.written.saturating_add(bytes);
        if reply_bytes > 0 {
            connection.promised += reply_bytes;
            // The first request's clock starts with connect(), a later one's with its write.
            let first = connection.promised == reply_bytes;
            let asked = if first { connection.opened } else { now };
            connection.exchanges.push_back(Exchange {
                asked,
                request_bytes: bytes,
                reply_bytes,
                request_end: connection.written,
                reply_end: connection.promised,
                service,
            });
            connection.unserved += 1;
            self.requests.asked(now, reply_bytes);
        } else {
            connection.sent_pending = true;
        }
        let end: &mut Endpoint = &mut connection.ends[OPENER];
        if end.state() == State::Established {
            end.write(bytes, now);
            self.drain(index, OPENER);
            self.arm(index, OPENER);
        } else {
            connection.unwritten = connection.unwritten.saturating_add(bytes);
        }
    }
}
