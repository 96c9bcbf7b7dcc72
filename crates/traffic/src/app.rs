//! The seam between an application and the host that carries out what it asks for.

use packet::{Duration, Instant};

/// Who closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// The side that accepted it, with its reply (an HTTP/1.0 server).
    Acceptor,
    /// The side that accepted it, with its reply to the last request: the application says
    /// [`Action::Close`] right after sending that one (an HTTP/1.1 request says "close").
    AcceptorLast,
    /// The side that opened it, when the application says [`Action::Close`].
    Opener,
}

/// What an application asks its host to do. Connections are numbered by the application; a
/// number may be used again once the connection's last [`Input`] has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Connections opened from here on start at this machine of the application's side; without
    /// it at the one where the application lives.
    Move {
        /// Which machine, 0-based.
        machine: u32,
    },
    /// The connection opened next has this round-trip propagation time; without it the scenario's.
    Distance {
        /// There and back.
        round_trip: Duration,
    },
    /// Open connection `conn` to machine `peer` of the other side.
    Open {
        /// The application's number for it.
        conn: u32,
        /// Which machine, 0-based.
        peer: u32,
        /// Who will close it.
        closes: Closes,
    },
    /// Say [`Input::Opened`] when the connection is established. To be said right after
    /// [`Action::Open`].
    Await {
        /// Which connection.
        conn: u32,
    },
    /// Write `bytes` on the connection (at once or when it is established). If `reply_bytes` is
    /// not zero, the peer's server program answers with that many once all have arrived (the
    /// request message names the size, as the UNC generators' does). Requests of one connection
    /// are answered in order, one at a time. A request of no bytes stands for what the peer's
    /// program writes unasked: its service begins when the connection is established and all
    /// earlier replies have been sent, and no response time is measured.
    Send {
        /// Which connection.
        conn: u32,
        /// Payload bytes; `u64::MAX` never ends.
        bytes: u64,
        /// Size of the answer, 0 for none.
        reply_bytes: u64,
        /// How long the server program works on the answer before it writes it.
        service: Duration,
    },
    /// The peer's program writes `bytes` when `after` bytes in all have arrived there, not before
    /// `gap` has passed since it last wrote (at first: since now). It answers nothing, so that no
    /// response time is measured.
    Script {
        /// Which connection.
        conn: u32,
        /// Payload bytes of the opener.
        after: u64,
        /// Since the last write.
        gap: Duration,
        /// Payload bytes, above 0.
        bytes: u64,
    },
    /// No more will be sent. The application may use the number again once all replies are in.
    Close {
        /// Which connection.
        conn: u32,
    },
    /// Send one datagram. A sender has one peer for all its datagrams.
    Datagram {
        /// Which machine, 0-based.
        peer: u32,
        /// Payload bytes.
        bytes: u32,
    },
    /// Call again with [`Input::Woke`] at this time.
    WakeAt(Instant),
}

/// What a host tells an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The run begins.
    Start,
    /// The time asked for with [`Action::WakeAt`] has come.
    Woke,
    /// A connection is established, of which [`Action::Await`] was said.
    Opened {
        /// Which.
        conn: u32,
    },
    /// A reply has arrived completely (once per answered [`Action::Send`] or [`Action::Script`],
    /// in order).
    Replied {
        /// On which connection.
        conn: u32,
    },
    /// Everything sent on a connection without replies has been acknowledged.
    Sent {
        /// On which connection.
        conn: u32,
    },
    /// The connection was given up (75 s without a handshake, or too many timeouts): no reply that
    /// is still missing will come.
    Failed {
        /// Which.
        conn: u32,
    },
}

/// What an application is handed at each call.
pub struct AppCx<'a> {
    /// Now.
    pub now: Instant,
    /// Receives what it wants done, in order.
    pub act: &'a mut dyn FnMut(Action),
}

/// One user, or one sender. Owns its random streams; idle, it costs no events.
pub trait App: Send {
    /// Reacts to what happened.
    fn on(&mut self, input: Input, cx: &mut AppCx);
}
