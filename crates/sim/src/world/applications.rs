//! Applications: the inputs they get, and the actions they request.

use std::num::NonZero;

use packet::{Ack, Duration, Ecn, Header, Instant};
use record::{Kind, PacketClass, PageLoad};
use tcp::{Endpoint, State};
use traffic::{Action, AppCx, Closes, Input, Paced};

use super::connection::{ACCEPTOR, Cause, Connection, Exchange, OPENER, Serial};
use super::forwarding::Stream;
use super::hosts::ticket_of;
use super::multiplex::Mux;
use super::source::machine_number;
use super::{Event, World, event_order};
use crate::slab::Kept;
use crate::topology::Side;

impl World {
    /// Calls an application with an input and carries out the actions that it requests.
    pub(super) fn notify(&mut self, source: u32, input: Input) {
        // An action may lead to another call only through events, never from within.
        let mut actions = std::mem::take(&mut self.actions);
        debug_assert!(actions.is_empty());
        let now = self.now;
        self.app(source).on(input, &mut AppCx { now, act: &mut |action| actions.push(action) });
        for action in actions.drain(..) {
            self.act(source, action);
        }
        self.actions = actions;
    }

    /// Wakes a source. A source that sends datagrams at its own pace gives all its actions in one
    /// call.
    pub(super) fn wake(&mut self, source: u32, group: u16) {
        let Some(stream) = self.sources[source as usize].stream else {
            return self.notify(source, Input::Woke);
        };
        let number = source - self.groups[usize::from(group)].first_member;
        let paced = self.apps[usize::from(group)].paced(number, self.now);
        let Some(Paced { bytes, count, next, .. }) = paced else {
            return self.notify(source, Input::Woke);
        };
        let mut refused = false;
        for _ in 0..count {
            refused = self.send_datagram(stream.place(), bytes, Ecn::NotEct);
        }
        let next =
            if refused { self.send_in_vain(stream.place(), (number, group), next) } else { next };
        self.events.schedule(next, event_order::source(source), Event::Wake { source, group });
    }

    /// Serves the wake-ups, from `next` on, of a source that sends at its own pace into a channel
    /// without room: all its datagrams before the channel's next tick are dropped. Returns the
    /// first wake-up that is left.
    fn send_in_vain(
        &mut self,
        stream: u32,
        (number, group): (u32, u16),
        mut next: Instant,
    ) -> Instant {
        let Some((port, closed_until)) = self.closed_port(stream) else { return next };
        while next < closed_until && next <= self.until {
            let paced = self.apps[usize::from(group)].paced(number, next);
            let Some(paced) = paced else { return next };
            for _ in 0..paced.count {
                self.refuse_datagram(stream, port, paced.bytes, next);
            }
            self.events.count_served();
            next = paced.next;
        }
        next
    }

    /// Notifies the application that opened a connection.
    pub(super) fn notify_opener(&mut self, index: u32, input: impl Fn(u32) -> Input) {
        let connection = &self.connections[index];
        let (source, number) = (connection.source, connection.number);
        self.notify(source, input(number));
    }

    /// Carries out an action of an application.
    fn act(&mut self, source: u32, action: Action) {
        match action {
            Action::WakeAt(at) => {
                let group = self.sources[source as usize].group;
                self.events.schedule(
                    at,
                    event_order::source(source),
                    Event::Wake { source, group },
                );
            }
            Action::Datagram { peer, bytes } => {
                let stream = self.sources[source as usize].stream;
                let stream = stream.map_or_else(|| self.open_stream(source, peer), Kept::place);
                self.send_datagram(stream, bytes, Ecn::NotEct);
            }
            Action::SendDatagram { peer, bytes, back, ecn } => {
                let stream = self.conversation(source, peer);
                self.send_datagram(stream + u32::from(back), bytes, ecn);
            }
            Action::SetRtt { round_trip } => self.next_round_trip = Some(round_trip),
            Action::Await { conn } => {
                let index = self.connection_of(source, conn);
                self.connections[index].awaited = true;
            }
            Action::Script { conn, after, gap, bytes } => {
                self.script(self.connection_of(source, conn), after, gap, bytes);
            }
            Action::Move { machine } => {
                self.sources[source as usize].machine = machine_number(machine);
            }
            Action::Open { conn, peer, closes } => self.open(source, conn, peer, closes),
            Action::Multiplex { conn, writing, independent } => {
                self.connection(source, conn).multiplex(Mux::new(writing, independent));
            }
            Action::Upload { conn } => self.connection(source, conn).begin_upload(),
            Action::PageBegins => self.recorder.page_begun(self.sources[source as usize].group),
            Action::PageEnds { began, ended, objects, bytes, failed } => {
                let group = self.sources[source as usize].group;
                let user = source;
                let page = PageLoad { began, ended, objects, bytes, user, group, failed };
                self.recorder.page_ended(page);
            }
            Action::Send { conn, bytes, reply_bytes, service } => {
                self.write(self.connection_of(source, conn), bytes, reply_bytes, service);
            }
            Action::Stop { conn } => self.stop(self.connection_of(source, conn)),
            Action::Close { conn } => self.close_after_writing(self.connection_of(source, conn)),
        }
    }

    /// Closes the opener's side of a connection, once all its data is written.
    fn close_after_writing(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        connection.close_requested = true;
        if connection.closing() && connection.unwritten == 0 {
            self.close_opener(index);
            self.arm(index, OPENER);
        }
    }

    /// Index of the connection that an application knows by this number.
    fn connection_of(&self, source: u32, number: u32) -> u32 {
        let place = self.sources[source as usize].connections.get(number);
        place.expect("an application opens a connection before it uses it")
    }

    fn connection(&mut self, source: u32, number: u32) -> &mut Connection {
        let index = self.connection_of(source, number);
        &mut self.connections[index]
    }

    /// Discards the data that an opener has written and not sent, and closes its side.
    fn stop(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        if connection.is_multiplexed() {
            connection.stop_mux(self.now);
        } else {
            debug_assert!(connection.promised == 0, "a request is sent whole");
        }
        connection.written = connection.ends[OPENER].stop_writing(self.now);
        connection.unwritten = 0;
        connection.close_requested = true;
        self.close_opener(index);
        self.arm(index, OPENER);
    }

    /// Index of the stream of datagrams that a source sends in a conversation; the first call
    /// creates this stream and that of the answers.
    fn conversation(&mut self, source: u32, peer: u32) -> u32 {
        if let Some(stream) = self.sources[source as usize].stream {
            return stream.place();
        }
        let stream = self.open_stream(source, peer);
        self.open_answer(stream, source, peer);
        stream
    }

    /// Creates the stream of the peer's answers to `stream`. The source is notified of datagrams
    /// that arrive in either direction.
    fn open_answer(&mut self, stream: u32, source: u32, peer: u32) {
        let group = &self.groups[usize::from(self.sources[source as usize].group)];
        let there = &mut self.streams[stream as usize];
        there.receiver = Some(source);
        let Header { source: opener, destination: acceptor, .. } = there.header;
        let answer = Stream {
            route: group.routes[1].of(peer, u32::from(opener)),
            header: Header { source: acceptor, destination: opener, ..there.header },
            to: OPENER as u8,
            ..*there
        };
        let opened = self.recorder.stream(answer.group, source, true);
        self.streams.push(answer);
        debug_assert_eq!(opened, stream + 1);
    }

    /// Creates the stream of a source that sends its first datagram: draws a round-trip time, and
    /// takes a serial number.
    fn open_stream(&mut self, source: u32, peer: u32) -> u32 {
        self.on_group_active(self.sources[source as usize].group);
        let owner = &mut self.sources[source as usize];
        let group = &self.groups[usize::from(owner.group)];
        let machine = u32::from(owner.machine);
        let round_trip = group.draw_round_trip(machine, peer, source, &mut owner.rng);
        let stream = Stream {
            serial: Serial::take(&mut self.serials_given),
            group: owner.group,
            route: group.routes[0].of(machine, peer),
            header: Header {
                dscp: group.dscp,
                ack: Ack::No,
                source: owner.machine,
                destination: machine_number(peer),
            },
            class: PacketClass::new(Kind::Datagram, false)
                .of_group(owner.group)
                .with_dscp(group.dscp),
            // Datagrams are measured one way, so each direction gets half of the round-trip time.
            last_hop_delay: Duration::from_nanos(round_trip.nanos() / 2),
            to: ACCEPTOR as u8,
            receiver: None,
            sent: 0,
        };
        self.owners.stream(owner.group, source);
        let opened = self.recorder.stream(owner.group, source, false);
        owner.stream = Some(Kept::new(opened));
        debug_assert_eq!(opened as usize, self.streams.len());
        self.streams.push(stream);
        opened
    }

    /// Opens a connection: draws its round-trip time, fills its slot, sends its SYN.
    fn open(&mut self, source: u32, number: u32, peer: u32, closes: Closes) {
        let now = self.now;
        self.on_group_active(self.sources[source as usize].group);
        let owner = &mut self.sources[source as usize];
        let group = &self.groups[usize::from(owner.group)];
        let other = group.side.other();
        let machine = u32::from(owner.machine);
        let drawn = || group.draw_round_trip(machine, peer, source, &mut owner.rng);
        let round_trip = self.next_round_trip.take().unwrap_or_else(drawn);
        let clocks = [self.machines.clock(group.side, machine), self.machines.clock(other, peer)];
        let index = self.connections.place(|| Connection::new(&group.profile, clocks));
        let connection = &mut self.connections[index];
        connection.reset(&group.profile, clocks);
        connection.serial = Some(Serial::take(&mut self.serials_given));
        self.owners.connection(owner.group, source);
        connection.route = [group.routes[0].of(machine, peer), group.routes[1].of(peer, machine)];
        connection.owner = PacketClass::owner(owner.group, group.dscp);
        connection.hosts = [owner.machine, machine_number(peer)];
        connection.client = match group.side {
            Side::Clients => OPENER as u8,
            Side::Servers => ACCEPTOR as u8,
        };
        self.recorder.opened(connection.client());
        connection.last_hop_delay = group.tails(round_trip);
        connection.source = source;
        connection.number = number;
        connection.closes = closes;
        connection.opened = now;
        owner.connections.put(number, index);
        if group.profile.keeps_tickets() {
            let pair = ticket_of(source, peer);
            if self.host_cache.as_ref().is_some_and(|cache| cache.has_ticket(pair)) {
                connection.ends.iter_mut().for_each(Endpoint::resume);
            }
        }
        connection.ends[OPENER].connect(now);
        self.drain(index, OPENER);
        self.arm(index, OPENER);
    }

    /// Writes data into a connection, at once or after the handshake; with `reply_bytes` the data
    /// is a request.
    fn write(&mut self, index: u32, bytes: u64, reply_bytes: u64, service: Duration) {
        let now = self.now;
        let connection = &mut self.connections[index];
        connection.written = connection.written.saturating_add(bytes);
        if reply_bytes > 0 {
            // The first request's clock starts with connect(), a later one's with its write.
            let first = connection.promised == 0;
            let (at, resent) =
                if first { (connection.opened, 0) } else { (now, connection.resent()) };
            let framed = connection.is_multiplexed().then(|| connection.framed(reply_bytes));
            connection.promised = connection.promised.saturating_add(framed.unwrap_or(reply_bytes));
            connection.exchanges.push_back(Exchange {
                cause: Cause::Requested { at, resent },
                request_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                reply_bytes,
                request_end: connection.written,
                reply_end: NonZero::new(if framed.is_some() { 0 } else { connection.promised }),
                service,
                in_service: false,
            });
            connection.unserved += 1;
            let group = self.sources[connection.source as usize].group;
            if bytes > 0 && reply_bytes != u64::MAX {
                self.recorder.requested(now, group, reply_bytes);
            }
        } else {
            connection.sent_pending = true;
        }
        if bytes == 0 {
            return self.poke_acceptor(index);
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

    /// Adds a reply that the server program writes by itself, see [`Action::Script`].
    fn script(&mut self, index: u32, after: u64, gap: Duration, bytes: u64) {
        let connection = &mut self.connections[index];
        connection.promised += bytes;
        let first = connection.unserved == 0;
        connection.exchanges.push_back(Exchange {
            cause: Cause::Scripted(if first { self.now + gap } else { Instant::NEVER }),
            request_bytes: 0,
            reply_bytes: bytes,
            request_end: after,
            reply_end: NonZero::new(connection.promised),
            // A service time above zero makes the server program check the script's time.
            service: gap.max(Duration::from_nanos(1)),
            in_service: false,
        });
        connection.unserved += 1;
        self.poke_acceptor(index);
    }

    /// Runs the server program because it may write without a packet having arrived.
    fn poke_acceptor(&mut self, index: u32) {
        if self.connections[index].ends[ACCEPTOR].state() == State::Established {
            self.acceptor_reacts(index);
            self.arm(index, ACCEPTOR);
        }
    }
}
