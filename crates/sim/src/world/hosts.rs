//! Hosts: events at the ends of connections. The reactions of the programs there are in `programs`.

use packet::{Ecn, Instant};
use tcp::{Deadline, Endpoint, HostPair, Outbox, Segment, State};
use traffic::Input;

use super::connection::{ACCEPTOR, OPENER, Serial};
use super::forwarding::{Forwarder, Moved, Stream};
use super::in_flight::InFlight;
use super::payload::{Datagram, Payload};
use super::{Event, World, event_order};
use crate::slab::Slab;
use crate::topology::{Machines, Side};

/// The machines of a connection as keys of the host cache, seen from `end`.
fn host_pair(machines: &Machines, opener: Side, hosts: [u16; 2], end: usize) -> HostPair {
    let host = |end: usize| {
        let side = if end == OPENER { opener } else { opener.other() };
        machines.number(side, u32::from(hosts[end]))
    };
    HostPair { own: host(end), peer: host(1 - end) }
}

/// The key under which a user's TLS ticket for a server is stored.
pub(super) fn ticket_of(source: u32, server: u32) -> HostPair {
    HostPair { own: source, peer: server }
}

/// Allocates a slot for a packet in flight when TCP has a segment to send.
struct NextPlace<'a> {
    in_flight: &'a mut Slab<InFlight>,
    id: u32,
}

impl Outbox for NextPlace<'_> {
    #[inline]
    fn place(&mut self) -> &mut Segment {
        self.id = self.in_flight.place(InFlight::default);
        self.in_flight[self.id].segment_mut()
    }
}

impl World {
    pub(super) fn deliver(&mut self, id: u32) {
        let inflight = &self.in_flight[id];
        self.recorder.delivered(self.now, inflight);
        let index = inflight.connection;
        let segment = match &inflight.payload {
            Payload::Segment(segment) => segment,
            Payload::Datagram(datagram) => {
                let datagram = *datagram;
                let group = self.streams[index as usize].group;
                self.recorder.arrived(self.now, group, u64::from(datagram.bytes));
                self.free(id);
                return self.on_datagram(index, datagram);
            }
        };
        let end = usize::from(inflight.to & 1);
        let connection = &mut self.connections[index];
        let late = connection.serial != inflight.serial; // a copy for a connection that has ended
        if !late {
            let follows = self.recorder.follows_goodput();
            let before = if follows { connection.ends[end].arrived() } else { 0 };
            if self.host_cache.is_some() && connection.ends[end].may_look_up() {
                self.deliver_with_host_cache(id, end);
            } else {
                let sampled = connection.ends[end].on_timed_segment(segment, self.now);
                if sampled {
                    self.recorder.sample_round_trip(self.now, connection, end);
                }
            }
            if follows {
                let bytes = self.connections[index].ends[end].arrived() - before;
                self.recorder.arrived(self.now, self.group_of(index), bytes);
            }
        }
        self.free(id);
        if !late {
            self.settle(index, end);
        }
    }

    /// Number of the group that a connection belongs to.
    pub(super) fn group_of(&self, index: u32) -> u16 {
        self.sources[self.connections[index].source as usize].group
    }

    /// A datagram has arrived: notifies its conversation, if it belongs to one.
    fn on_datagram(&mut self, stream: u32, Datagram { number, ecn, .. }: Datagram) {
        let Stream { receiver, to, .. } = self.streams[stream as usize];
        if let Some(source) = receiver {
            let (back, marked) = (usize::from(to) == OPENER, ecn == Ecn::Ce);
            self.notify(source, Input::Received { back, number, marked });
        }
    }

    pub(super) fn timer(&mut self, index: u32, serial: Serial, end: usize) {
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.serial != Some(serial) || connection.armed[end] != now {
            return; // the connection has ended, or an earlier event has replaced this one
        }
        connection.armed[end] = Instant::NEVER;
        if connection.ends[end].next_timeout().is_some_and(|d| d.at <= now) {
            connection.ends[end].on_timeout(now);
            self.recorder.timer_served(connection, end);
            self.after_end(index, end);
        } else {
            self.arm(index, end);
        }
    }

    /// Follows any change at an end of a connection: the end sends, the programs react and the end
    /// sends again, then its timer is armed. TCP sends before the program runs, as a kernel does:
    /// the ACK of a SYN-ACK leaves before the request is written.
    pub(super) fn after_end(&mut self, index: u32, end: usize) {
        self.drain(index, end);
        self.react(index, end);
    }

    /// The part of [`World::after_end`] after the end has sent.
    #[inline(never)]
    pub(super) fn react(&mut self, index: u32, end: usize) {
        let connection = &self.connections[index];
        if end == OPENER {
            if connection.opener_has_news() {
                self.opener_reacts(index);
            }
        } else if connection.acceptor_has_news() {
            self.acceptor_reacts(index);
        }
        self.arm(index, end);
        let connection = &self.connections[index];
        if connection.failed || connection.ends[end].state() != State::Established {
            self.perhaps_end(index, end);
        }
    }

    /// Retires a connection that has ended; called for an end that is no longer, or not yet,
    /// established.
    fn perhaps_end(&mut self, index: u32, end: usize) {
        if self.connections[index].ends[end].ended_without_fin()
            && self.on_peer_closed(index, 1 - end)
        {
            return;
        }
        let over = self.connections[index].over();
        if self.host_cache.is_some() {
            for end in [OPENER, ACCEPTOR] {
                if self.connections[index].ends[end].may_update_cache(over) {
                    self.update_host_cache(index, end);
                }
            }
        }
        if over {
            self.retire(index);
        }
    }

    /// A packet of a handshake reaches a host that caches path metrics.
    #[cold]
    fn deliver_with_host_cache(&mut self, id: u32, end: usize) {
        let inflight = &mut self.in_flight[id];
        let connection = &mut self.connections[inflight.connection];
        let opener = self.groups[usize::from(self.sources[connection.source as usize].group)].side;
        let pair = match &connection.ends[end] {
            Endpoint::Tcp(_) => host_pair(&self.machines, opener, connection.hosts, end),
            Endpoint::Quic(_) => {
                ticket_of(connection.source, u32::from(connection.hosts[ACCEPTOR]))
            }
        };
        if let Some(cache) = &mut self.host_cache {
            cache.deliver(pair, &mut connection.ends[end], inflight.segment_mut(), self.now);
        }
        if connection.ends[end].has_round_trip() {
            self.recorder.sample_round_trip(self.now, connection, end);
        }
    }

    /// Updates the host cache from an end that has finished its connection.
    #[cold]
    fn update_host_cache(&mut self, index: u32, end: usize) {
        let connection = &mut self.connections[index];
        let opener = self.groups[usize::from(self.sources[connection.source as usize].group)].side;
        let pair = host_pair(&self.machines, opener, connection.hosts, end);
        if let Some(cache) = &mut self.host_cache {
            cache.update(pair, &mut connection.ends[end], self.now);
        }
    }

    /// An end whose TCP sends no FIN has finished: the other end is notified without a packet,
    /// once, and reacts as to a FIN.
    #[cold]
    fn on_peer_closed(&mut self, index: u32, end: usize) -> bool {
        let other = &mut self.connections[index].ends[end];
        let news = !other.peer_closed();
        if news {
            other.on_peer_closed(self.now);
            self.after_end(index, end);
        }
        news
    }

    /// Sends all segments that an end may send now.
    // After half of the events there is nothing to send, which is seen without a call.
    #[inline]
    pub(super) fn drain(&mut self, index: u32, end: usize) {
        if self.connections[index].ends[end].may_send() {
            self.send_all(index, end);
        }
    }

    #[inline(never)]
    pub(super) fn send_all(&mut self, index: u32, end: usize) {
        let end = end & 1; // it is 0 or 1: the mask saves bounds checks
        loop {
            let connection = &mut self.connections[index];
            let mut place = NextPlace { in_flight: &mut self.in_flight, id: 0 };
            if !connection.ends[end].poll_send_into(&mut place, self.now) {
                return;
            }
            let id = place.id;
            let more = connection.ends[end].may_send();
            let inflight = &mut self.in_flight[id];
            let Some(outside) = inflight.address(index, connection, end) else { return };
            self.recorder.segment_sent(inflight, outside.bytes, outside.data);
            if self.scripts.is_some() {
                self.transmit(id);
            } else {
                let World { routes, network, events, now, .. } = self;
                let mut forwarder = Forwarder { routes, network, events, now: *now };
                let moved = forwarder.forward(id, inflight, outside);
                if !matches!(moved, Moved::Scheduled) {
                    self.after_move(id, moved);
                }
            }
            if !more {
                return;
            }
        }
    }

    /// Ensures that a timer event is scheduled at or before the end's next deadline. Timers are
    /// lazy: a deadline that is postponed costs nothing until the event fires.
    #[inline(always)]
    pub(super) fn arm(&mut self, index: u32, end: usize) {
        let connection = &self.connections[index];
        let Some(deadline) = connection.ends[end].next_timeout() else { return };
        if deadline.at >= connection.armed[end] || connection.ends[end].state() == State::TimeWait {
            return;
        }
        self.schedule_timer(index, end, deadline);
    }

    #[inline(never)]
    pub(super) fn schedule_timer(&mut self, index: u32, end: usize, deadline: Deadline) {
        let connection = &mut self.connections[index];
        let Some(serial) = connection.serial else { return };
        connection.armed[end] = deadline.at;
        let end = end as u8;
        let order = event_order::timer(event_order::end(serial.number(), end), deadline.order != 0);
        let event = Event::Timer { connection: index, serial, end };
        if self.groups[usize::from(connection.group())].shares_ticks {
            self.events.schedule_shared(deadline.at, order, event);
        } else {
            self.events.schedule(deadline.at, order, event);
        }
    }

    /// A connection has ended: frees its slot.
    fn retire(&mut self, index: u32) {
        let connection = &mut self.connections[index];
        self.recorder.closed(self.now, connection);
        // Late packets and timer events of this connection find another serial number.
        connection.serial = None;
        self.connections.free(index);
    }
}
