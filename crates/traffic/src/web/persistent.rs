//! The persistent connections of one user, to the server of a stay and to other servers.

use packet::{Duration, Instant};

/// A connection that carries more than one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct PersistentConnection {
    /// The user's number for the connection.
    pub conn: u8,
    /// Number of requests without a reply.
    pub waiting: u16,
    /// Number of requests of the current page that are written after a reply.
    pub queued: u32,
    /// Whether the connection goes to another server than that of the stay, and ends with the page.
    pub for_page: bool,
    /// Whether a reply has arrived on the connection: with pipelining, further requests are then
    /// written at once.
    pub seasoned: bool,
    /// Number of requests that the connection may still carry.
    pub room: u32,
    /// Time at which the connection's last reply arrived.
    pub idle_since: Instant,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PersistentConnections {
    kept: Vec<PersistentConnection>,
}

impl PersistentConnections {
    /// Number of connections.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// A mask in which bit `c` is set if a connection has the user's number `c`.
    pub fn numbers(&self) -> u64 {
        self.kept.iter().fold(0, |bits, kept| bits | 1 << kept.conn)
    }

    pub fn add(&mut self, conn: u32, room: u32, now: Instant) -> usize {
        let conn = conn as u8;
        self.kept.push(PersistentConnection {
            conn,
            waiting: 0,
            queued: 0,
            for_page: false,
            seasoned: false,
            room,
            idle_since: now,
        });
        self.kept.len() - 1
    }

    /// Index of the connection with that number.
    pub fn find(&self, conn: u32) -> Option<usize> {
        self.kept.iter().position(|kept| u32::from(kept.conn) == conn)
    }

    /// Index of the first connection that waits for no reply.
    pub fn idle(&self) -> Option<usize> {
        self.kept.iter().position(|kept| kept.waiting == 0)
    }

    /// Index of the first connection that lasts longer than a page.
    pub fn lasting(&self) -> Option<usize> {
        self.kept.iter().position(|kept| !kept.for_page)
    }

    pub fn at(&mut self, place: usize) -> &mut PersistentConnection {
        &mut self.kept[place]
    }

    pub fn remove(&mut self, place: usize) -> PersistentConnection {
        self.kept.remove(place)
    }

    /// Removes a connection that has been idle for at least `limit`, and returns it.
    pub fn take_stale(&mut self, now: Instant, limit: Duration) -> Option<PersistentConnection> {
        let place = self.kept.iter().position(|kept| kept.idle_since + limit <= now)?;
        Some(self.kept.remove(place))
    }

    /// Time at which the first of the connections will have been idle for `limit`.
    pub fn next_stale(&self, limit: Duration) -> Option<Instant> {
        self.kept.iter().map(|kept| kept.idle_since + limit).min()
    }

    /// Removes any connection, and returns it.
    pub fn pop(&mut self) -> Option<PersistentConnection> {
        self.kept.pop()
    }
}
