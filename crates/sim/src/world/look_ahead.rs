//! What the next events will touch is fetched before they are served. A world of many connections is
//! larger than the caches, and would wait for memory at nearly every event.
//!
//! An event that comes soon is looked at three times, some events apart, because what it touches is
//! found step by step: the packet and the connection, by the event; what the connection refers to;
//! and what that refers to. Nothing is changed: an event may be served, or a place be used for
//! something else, before its time.

use super::connection::{ACCEPTOR, OPENER};
use super::{Event, World};

/// Connections from which on it pays: at some thousand bytes each, this many fill a second-level
/// cache.
const MANY: usize = 1_000;

/// Events between two looks: their time is longer than memory takes.
const APART: usize = 4;

/// What was fetched last.
pub(super) struct LookAhead {
    /// Connections from which on it is done.
    from: usize,
    /// Ends of connections, in a ring.
    ends: [Option<(u32, u8)>; 2 * APART],
    last: usize,
}

impl Default for LookAhead {
    fn default() -> Self {
        LookAhead { from: MANY, ends: [None; 2 * APART], last: 0 }
    }
}

impl LookAhead {
    /// Takes an end; hands out what was taken one and two steps ago.
    #[inline]
    fn turn(&mut self, end: Option<(u32, u8)>) -> [Option<(u32, u8)>; 2] {
        self.last = (self.last + 1) % (2 * APART);
        let earlier = self.ends[(self.last + APART) % (2 * APART)];
        [earlier, std::mem::replace(&mut self.ends[self.last], end)]
    }
}

impl World {
    /// Whether what an event touches is likely not to be in a cache.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.connections.places().len() >= self.look_ahead.from
    }

    /// Sets the number of connections from which on the world looks ahead.
    #[cfg(test)]
    pub(crate) fn look_ahead_from(&mut self, connections: usize) {
        self.look_ahead.from = connections;
    }

    /// Fetches what an event of the next fraction of a millisecond will touch.
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

    /// Fetches the memory that an end, once in the cache, refers to.
    fn fetch_more(&self, connection: u32, end: u8) {
        let Some(connection) = self.connections.get(connection) else { return };
        connection.fetch_more(usize::from(end));
        if usize::from(end) == OPENER {
            prefetch::prefetch(&self.sources[connection.source as usize]);
        }
    }

    /// Then the memory that the connection refers to.
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
