//! Prefetches the data of the next events before they are served. A world of many connections is
//! larger than the CPU caches, and would wait for memory at nearly every event.
//!
//! The data of a coming event is prefetched in three steps, some events apart, because it is found
//! through pointers: first the packet and the connection, then the memory to which the connection
//! refers, then what that refers to. Nothing is changed, since the event may be served, or its slot
//! be reused, before its time.

use super::connection::{ACCEPTOR, OPENER};
use super::{Event, World};

/// Number of connections from which on prefetching pays: at about a thousand bytes each, they fill
/// a second-level cache.
const MANY: usize = 1_000;

/// Number of events between two steps, whose service takes longer than an access to memory.
const APART: usize = 4;

/// State of the prefetching.
pub(super) struct LookAhead {
    /// Number of connections from which on data is prefetched.
    from: usize,
    /// Ring buffer of the ends of connections (index, end) for which the first step was done last.
    ends: [Option<(u32, u8)>; 2 * APART],
    last: usize,
}

impl Default for LookAhead {
    fn default() -> Self {
        LookAhead { from: MANY, ends: [None; 2 * APART], last: 0 }
    }
}

impl LookAhead {
    /// Stores an end of a connection, and returns those stored one and two steps ago.
    #[inline]
    fn turn(&mut self, end: Option<(u32, u8)>) -> [Option<(u32, u8)>; 2] {
        self.last = (self.last + 1) % (2 * APART);
        let earlier = self.ends[(self.last + APART) % (2 * APART)];
        [earlier, std::mem::replace(&mut self.ends[self.last], end)]
    }
}

impl World {
    /// Whether the data of an event is probably in no cache.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.connections.places().len() >= self.look_ahead.from
    }

    /// Sets the number of connections from which on data is prefetched.
    #[cfg(test)]
    pub(crate) fn look_ahead_from(&mut self, connections: usize) {
        self.look_ahead.from = connections;
    }

    /// Prefetches the data of an event of the next fraction of a millisecond.
    #[inline(never)]
    pub(super) fn look_ahead(&mut self) {
        self.events.close_lanes();
        let event = self.events.look_ahead();
        let mut end = None;
        match event {
            Some(Event::Deliver { packet, connection, end: to }) => {
                self.fetch_packet(packet);
                end = Some((connection, to));
            }
            Some(Event::Arrive(packet)) => self.fetch_packet(packet),
            Some(Event::Timer { connection, end: of, .. }) => end = Some((connection, of)),
            Some(Event::Serve { connection, .. }) => end = Some((connection, ACCEPTOR as u8)),
            Some(Event::Wake { source, group }) => self.fetch_user(source, group),
            Some(Event::Finish(_) | Event::Tick(_) | Event::Begin(_) | Event::Release(_))
            | None => {}
        }
        if let Some((connection, end)) = end
            && let Some(connection) = self.connections.get(connection)
        {
            connection.fetch(usize::from(end));
        }
        let [earlier, earliest] = self.look_ahead.turn(end);
        if let Some((connection, end)) = earlier {
            self.fetch_more(connection, end);
        }
        if let Some((connection, end)) = earliest {
            self.fetch_most(connection, end);
        }
    }

    fn fetch_packet(&self, packet: u32) {
        if let Some(packet) = self.in_flight.get(packet) {
            prefetch::prefetch(packet);
        }
    }

    /// Second step: prefetches the memory to which an end of a connection refers.
    fn fetch_more(&self, connection: u32, end: u8) {
        let Some(connection) = self.connections.get(connection) else { return };
        connection.fetch_more(usize::from(end));
        if usize::from(end) == OPENER {
            prefetch::prefetch(&self.sources[connection.source as usize]);
        }
    }

    /// Third step: prefetches what a sender's memory refers to, and the user who will be notified.
    fn fetch_most(&mut self, connection: u32, end: u8) {
        let Some(connection) = self.connections.get(connection) else { return };
        connection.fetch_most(usize::from(end));
        // In the middle of a reply the user is not notified.
        if usize::from(end) == OPENER && connection.notifies_soon() {
            let source = connection.source;
            self.fetch_user(source, self.sources[source as usize].group);
        }
    }

    fn fetch_user(&mut self, source: u32, group: u16) {
        prefetch::prefetch(&self.sources[source as usize]);
        let first = self.groups[usize::from(group)].first_member;
        prefetch::prefetch(&*self.apps[usize::from(group)].at(source - first));
    }
}
