//! Moves packets along their routes: sends, forwards, delays and drops them; and the streams to
//! which datagrams belong.

use packet::{Duration, Ecn, Header, Instant, Packet};
use record::{PacketClass, Who};

use crate::capture::CapturedAt;
use crate::event_queue::EventQueue;
use crate::port::{Offered, Port};
use crate::recorder::Conservation;
use crate::topology::Side;
use crate::world::connection::{OPENER, Serial};
use crate::world::in_flight::{InFlight, Outside, UDP_IP_HEADERS};
use crate::world::payload::{Datagram, Payload};
use crate::world::tcp_header::tcp_header;
use crate::world::{Event, Network, World, event_order};

/// A stream of datagrams from one sender: the properties that they share.
pub(crate) struct Stream {
    pub(super) serial: Serial,
    pub(super) group: u16,
    pub(super) route: u32,
    pub(super) header: Header,
    pub(super) class: PacketClass,
    /// Propagation delay after the last port.
    pub(super) last_hop_delay: Duration,
    /// The end that receives the datagrams, 0 or 1 as for a connection.
    pub(super) to: u8,
    /// The source that is notified of every datagram that arrives, if there is one.
    pub(super) receiver: Option<u32>,
    pub(super) sent: u64,
}

impl Stream {
    /// A datagram of this stream, before its first port; `index` is the stream's number.
    fn datagram(&self, index: u32, datagram: Datagram) -> InFlight {
        InFlight {
            payload: Payload::Datagram(datagram),
            connection: index,
            serial: Some(self.serial),
            to: self.to,
            hop: 0,
            route: self.route,
            last_hop_delay: self.last_hop_delay,
            header: self.header,
            class: self.class,
        }
    }
}

/// The parts of the world that packets move through.
pub(super) struct Forwarder<'a> {
    pub(super) routes: &'a [Vec<u32>],
    pub(super) network: &'a mut Network,
    pub(super) events: &'a mut EventQueue<Event>,
    pub(super) now: Instant,
}

/// The result of moving a packet along its route.
pub(super) enum Moved {
    /// The event that moves the packet further is scheduled.
    Scheduled,
    /// The packet is at the entrance of a port that works by events: explicit, channel or effect.
    Explicit(Packet, u32),
    /// This port has dropped the packet.
    Dropped(u32),
    /// The packet has reached the next port without delay.
    AtNextPort,
    /// The packet leaves its last port at this instant; the delay after that port is rounded by the
    /// clock of the machine that adds it.
    Past(Instant),
}

impl Forwarder<'_> {
    /// Moves a packet that is at the entrance of a port, or past its last port, as far as its
    /// future is already known.
    // Most packets pass one port, and are moved once, by their sender.
    #[inline(always)]
    pub(super) fn forward(&mut self, id: u32, inflight: &mut InFlight, outside: Outside) -> Moved {
        let now = self.now;
        let route = &self.routes[inflight.route as usize];
        let Some(&port) = route.get(usize::from(inflight.hop)) else { return Moved::Past(now) };
        let mut packet = Packet {
            id,
            flow: inflight.flow(),
            bytes: outside.bytes,
            ecn: outside.ecn,
            arrived: now,
            header: inflight.header,
        };
        inflight.hop += 1;
        let was_last = usize::from(inflight.hop) == route.len();
        let (port_there, after) = self.network.port_and_delay(port);
        let Port::Folded(folded) = port_there else { return Moved::Explicit(packet, port) };
        let Offered::Leaves { at, marked } = folded.offer(&mut packet, inflight.class) else {
            return Moved::Dropped(port);
        };
        if marked {
            inflight.set_ecn(packet.ecn);
        }
        let at = at + after;
        let key = event_order::arrival(inflight.about());
        if !was_last {
            if at == now {
                return Moved::AtNextPort;
            }
            self.events.schedule(at, key, Event::Arrive(id));
        } else if self.network.delays_exactly() {
            let at = at + inflight.last_hop_delay;
            let (connection, end) = (outside.connection, inflight.to);
            let event = Event::Deliver { packet: id, connection, end };
            self.events.schedule_in_lane(port as usize, at, key, event);
        } else {
            return Moved::Past(at);
        }
        Moved::Scheduled
    }
}

impl World {
    /// Sends a datagram of `bytes` payload on its way. Returns whether a channel refused it.
    pub(super) fn send_datagram(&mut self, index: u32, bytes: u32, ecn: Ecn) -> bool {
        let stream = &mut self.streams[index as usize];
        let number = stream.sent;
        let port = self.routes[stream.route as usize].first().copied();
        let port = port.filter(|_| self.scripts.is_none());
        if let Some(port) = port
            && let Some(channel) = self.network.port(port).channel()
        {
            let now = self.now;
            if channel.is_full(&stream.header) {
                self.refuse_datagram(index, port, bytes, now);
                return true;
            }
            stream.sent += 1;
            let inflight = stream.datagram(index, Datagram::new(number, now, bytes, ecn));
            self.send_into_channel(port, inflight);
            return false;
        }
        stream.sent += 1;
        let inflight = stream.datagram(index, Datagram::new(number, self.now, bytes, ecn));
        self.recorder.sent(self.now, &inflight);
        let id = self.in_flight.place(InFlight::default);
        self.in_flight[id] = inflight;
        self.transmit(id);
        false
    }

    /// The channel that a stream's datagrams enter first, if that channel accepts nothing now, and
    /// until when: its next tick, or the end of an interval of its counters. `None` where each
    /// packet is recorded.
    pub(super) fn closed_port(&mut self, stream: u32) -> Option<(u32, Instant)> {
        let port = self.routes[self.streams[stream as usize].route as usize].first().copied()?;
        if self.scripts.is_some() || self.recorder.logs_datagrams() {
            return None;
        }
        let tick = self.network.armed_tick(port);
        let channel = self.network.port(port).channel().filter(|channel| channel.is_closed())?;
        Some((port, tick.min(channel.meter_mut().counts_alike_until()?)))
    }

    /// A datagram finds no room in the channel that it enters at `at`: it is dropped without ever
    /// having been in flight.
    #[inline]
    pub(super) fn refuse_datagram(&mut self, index: u32, port: u32, bytes: u32, at: Instant) {
        let stream = &mut self.streams[index as usize];
        let (number, class) = (stream.sent, stream.class);
        stream.sent += 1;
        if let Some(channel) = self.network.port(port).channel() {
            channel.refuse(at, bytes + UDP_IP_HEADERS, class);
            channel.meter_mut().dropped_class(at, at, class);
        }
        self.recorder.datagram_refused(index, number, at);
    }

    /// A datagram goes from its host into a channel that has room for it.
    fn send_into_channel(&mut self, port: u32, mut inflight: InFlight) {
        let (now, class) = (self.now, inflight.class);
        self.recorder.sent(now, &inflight);
        inflight.hop = 1;
        let id = self.in_flight.place(InFlight::default);
        self.in_flight[id] = inflight;
        let tick = self.network.admit_to_channel(port, inflight.packet(id, now), class);
        self.free_lost(port);
        self.schedule_tick_at(port, tick);
    }

    /// A packet that has been recorded as sent leaves its host, unless a script drops it.
    pub(super) fn transmit(&mut self, id: u32) {
        if self.scripts.is_none() || !self.follow_script(id) {
            self.forward(id);
        }
    }

    /// Moves a packet that is at the entrance of a port, or past its last port, as far as its
    /// future is already known.
    pub(super) fn forward(&mut self, id: u32) {
        let World { routes, network, events, now, in_flight, .. } = self;
        let (inflight, mut forwarder) =
            (&mut in_flight[id], Forwarder { routes, network, events, now: *now });
        let outside = inflight.outside();
        let moved = forwarder.forward(id, inflight, outside);
        if !matches!(moved, Moved::Scheduled) {
            self.after_move(id, moved);
        }
    }

    /// Completes the move of a packet whose next event is not scheduled yet.
    #[cold]
    #[inline(never)]
    pub(super) fn after_move(&mut self, id: u32, moved: Moved) {
        match moved {
            Moved::Scheduled => {}
            Moved::Explicit(packet, port) => self.offer_explicit(packet, port),
            Moved::Dropped(port) => self.on_drop(id, port, self.now),
            Moved::AtNextPort => self.forward(id),
            Moved::Past(at) => self.arrive(id, at),
        }
    }

    /// Schedules the arrival at its host of a packet that leaves the last port of its route at
    /// `at`.
    pub(super) fn arrive(&mut self, id: u32, at: Instant) {
        let inflight = &self.in_flight[id];
        let client = || self.client_of(inflight);
        let at = self.network.delayed(at, inflight.last_hop_delay, client);
        let key = event_order::arrival(inflight.about());
        self.events.schedule(at, key, inflight.delivery(id));
    }

    /// The machine on the clients' side that the packet comes from or goes to, and that delays it.
    #[inline(never)]
    fn client_of(&self, inflight: &InFlight) -> u32 {
        if !inflight.is_datagram() {
            return self.connections[inflight.connection].client();
        }
        let stream = &self.streams[inflight.connection as usize];
        let to_opener = usize::from(stream.to) == OPENER;
        let openers = self.groups[usize::from(stream.group)].side;
        // Source and destination of the header are in the direction of the stream.
        let Header { source, destination, .. } = stream.header;
        let to_client = to_opener == (openers == Side::Clients);
        u32::from(if to_client { destination } else { source })
    }

    /// A packet reaches a port that works by events: an explicit port, a channel or an effect.
    fn offer_explicit(&mut self, packet: Packet, port: u32) {
        let (at, id) = (packet.arrived, packet.id);
        let inflight = &self.in_flight[id];
        let explicit = match self.network.port(port) {
            Port::Explicit(explicit) => explicit,
            Port::Channel(_) => {
                let class = inflight.class;
                return self.offer_to_channel(packet, port, class);
            }
            Port::Folded(_) | Port::Effect(_) => return self.pass_effect(&packet, port),
        };
        if let Some(tap) = &mut self.tap {
            tap.saw((port, CapturedAt::Arrival), at, inflight, &self.owners, &self.groups);
        }
        if let Some(trace) = explicit.packet_trace() {
            let known = self.owners.of(inflight.serial_number());
            // Without a known owner it is the connection in the packet's slot: its own, or a newer
            // one.
            let user =
                known.map_or_else(|| self.connections[inflight.place()].source, |(_, user)| user);
            let (class, bytes) = (inflight.class, packet.bytes);
            trace.arrived(at, id, Who { class, user, bytes });
        }
        let header = if explicit.reads_tcp() { tcp_header(&inflight.payload) } else { None };
        let finish = self.network.offer(port, packet, header.as_ref(), inflight.class);
        self.after_explicit(port, finish);
    }

    /// Frees the packets that a port dropped, and schedules the end of the transmission that it
    /// began.
    fn after_explicit(&mut self, port: u32, finish: Option<Instant>) {
        self.free_lost(port);
        self.schedule_finish(port, finish);
        self.schedule_tick(port);
    }

    /// A packet reaches a channel.
    fn offer_to_channel(&mut self, packet: Packet, port: u32, class: PacketClass) {
        let tick = self.network.offer_to_channel(port, packet, class);
        self.free_lost(port);
        self.schedule_tick_at(port, tick);
    }

    fn free_lost(&mut self, port: u32) {
        while let Some((id, arrived)) = self.network.take_lost() {
            self.on_drop(id, port, arrived);
        }
    }

    fn schedule_finish(&mut self, port: u32, finish: Option<Instant>) {
        if let Some(at) = finish {
            self.events.schedule(at, event_order::departure(port), Event::Finish(port));
        }
    }

    #[inline(never)]
    pub(super) fn finish_transmission(&mut self, port: u32) {
        let packet = match self.network.port(port) {
            Port::Channel(channel) => {
                let (packet, next) = channel.next_arrived(self.now);
                self.schedule_finish(port, next);
                packet
            }
            _ => {
                let (packet, finish) = self.network.finish_transmission(port, self.now);
                self.after_explicit(port, finish);
                packet
            }
        };
        if let Some(tap) = &mut self.tap {
            let inflight = &mut self.in_flight[packet.id];
            inflight.set_ecn(packet.ecn);
            let place = (port, CapturedAt::Departure);
            tap.saw(place, self.now, inflight, &self.owners, &self.groups);
        }
        self.leave(&packet, self.now + self.network.after(port));
    }

    /// A packet that has left a port arrives at `at` at the next element of its route.
    fn leave(&mut self, packet: &Packet, at: Instant) {
        let inflight = &mut self.in_flight[packet.id];
        inflight.set_ecn(packet.ecn);
        if usize::from(inflight.hop) == self.routes[inflight.route as usize].len() {
            return self.arrive(packet.id, at);
        }
        let key = event_order::arrival(inflight.about());
        self.events.schedule(at, key, Event::Arrive(packet.id));
    }

    /// Schedules the arrivals of packets that leave a channel, which knows their departures in
    /// advance: no events are needed for the departures.
    fn leave_together(&mut self, port: u32) {
        let after = self.network.after(port);
        while let Some((at, packet)) = self.network.take_carried(port) {
            self.leave(&packet, at + after);
        }
    }

    pub(super) fn schedule_tick(&mut self, port: u32) {
        let at = self.network.arm_tick(port);
        self.schedule_tick_at(port, at);
    }

    fn schedule_tick_at(&mut self, port: u32, at: Option<Instant>) {
        if let Some(at) = at {
            self.events.schedule(at.max(self.now), event_order::tick(port), Event::Tick(port));
        }
    }

    #[inline(never)]
    pub(super) fn tick(&mut self, port: u32) {
        let Some(mut finish) = self.network.tick(port, self.now) else { return };
        // A capture records a packet at its departure.
        if self.tap.is_none() && matches!(self.network.port(port), Port::Channel(_)) {
            self.leave_together(port);
            finish = None;
        }
        self.after_explicit(port, finish);
    }

    /// The queue of `port` has dropped a packet that arrived at `arrived`.
    fn on_drop(&mut self, id: u32, port: u32, arrived: Instant) {
        self.network.port(port).meter_mut().dropped_class(
            self.now,
            arrived,
            self.in_flight[id].class,
        );
        self.drop_packet(id);
    }

    /// A packet is dropped by a queue, a script or an effect. A duplicated packet's copy is not
    /// counted as lost.
    pub(super) fn drop_packet(&mut self, id: u32) {
        let inflight = &self.in_flight[id];
        if self.odd_routes.is_copy(inflight.route) {
            self.recorder.copy_lost(inflight);
        } else {
            self.recorder.lost(self.now, inflight, &mut self.connections);
        }
        self.free(id);
    }

    /// A packet has left the network: its slot may be reused.
    pub(super) fn free(&mut self, id: u32) {
        if Conservation::ON {
            self.in_flight[id].serial = None;
        }
        self.in_flight.free(id);
    }
}
