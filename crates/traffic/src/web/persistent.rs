//! The persistent connections of one user, to the server of a stay and to other servers.

use packet::{Duration, Instant};

/// A connection that carries more than one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct PersistentConnection {
    /// The user's number for it.
    pub conn: u8,
    /// Requests without a reply.
    pub waiting: u16,
    /// Requests of this page that are to follow a reply.
    pub queued: u32,
    /// The connection goes to another server than the page's, and ends with the page.
    pub for_page: bool,
    /// A reply has come: further requests may be written at once where that is the mode.
    pub seasoned: bool,
    /// Requests it may still carry.
    pub room: u32,
    /// When its last reply came.
    pub idle_since: Instant,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PersistentConnections {
    kept: Vec<PersistentConnection>,
}

impl PersistentConnections {
    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Bit `c` is set where the user's number `c` is one of them.
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

    /// The place of the connection with that number.
    pub fn find(&self, conn: u32) -> Option<usize> {
        self.kept.iter().position(|kept| u32::from(kept.conn) == conn)
    }

    /// The place of the first connection that waits for nothing.
    pub fn idle(&self) -> Option<usize> {
        self.kept.iter().position(|kept| kept.waiting == 0)
    }

    /// The place of the first connection that lasts longer than a page.
    pub fn lasting(&self) -> Option<usize> {
        self.kept.iter().position(|kept| !kept.for_page)
    }

    pub fn at(&mut self, place: usize) -> &mut PersistentConnection {
        &mut self.kept[place]
    }

    pub fn remove(&mut self, place: usize) -> PersistentConnection {
        self.kept.remove(place)
    }

    /// Takes out a connection that has been idle for at least `limit`.
    pub fn take_stale(&mut self, now: Instant, limit: Duration) -> Option<PersistentConnection> {
        let place = self.kept.iter().position(|kept| kept.idle_since + limit <= now)?;
        Some(self.kept.remove(place))
    }

    /// When the next of them has been idle for `limit`.
    pub fn next_stale(&self, limit: Duration) -> Option<Instant> {
        self.kept.iter().map(|kept| kept.idle_since + limit).min()
    }

    /// Takes out any.
    pub fn pop(&mut self) -> Option<PersistentConnection> {
        self.kept.pop()
    }
}
