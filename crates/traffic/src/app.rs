//! The interface between an application and the host that carries out its actions.

use packet::{Duration, Ecn, Instant};

use crate::{Report, Shown, Writing};

/// Who closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// The side that accepted it, with its reply (an HTTP/1.0 server).
    Acceptor,
    /// The side that accepted it, with its reply. Nothing else says how long the reply is, so the
    /// opener knows that it is complete only by the end of file.
    AcceptorToEnd,
    /// The side that accepted it, with its reply to the last request: the application says
    /// [`Action::Close`] right after sending that one (an HTTP/1.1 request says "close").
    AcceptorLast,
    /// The side that opened it, when the application says [`Action::Close`].
    Opener,
}

/// An action that an application requests of its host. The application numbers its connections; a
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
    SetRtt {
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
    /// Replies on connection `conn`, just opened, share its byte stream as those of HTTP/2 do (RFC
    /// 9113): the peer's server program works on all requests at once and sends what is ready in
    /// frames, one of each reply in turn; a reply is complete when its last frame is. Such a
    /// connection is closed by its opener.
    Multiplex {
        /// The application's number for the connection.
        conn: u32,
        /// How both programs write.
        writing: Writing,
        /// Each request and its reply are a stream that waits for no other (HTTP/3, RFC 9114); else all share
        /// one byte stream.
        independent: bool,
    },
    /// The opener's program of a multiplexed connection writes frames without end, each when it may
    /// (see [`Writing`]), from when it is established until [`Action::Stop`]; requests go between them.
    Upload {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Say [`Input::Opened`] when the connection is established. To be said right after
    /// [`Action::Open`].
    Await {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Write `bytes` on the connection (at once or when it is established). If `reply_bytes` is
    /// not zero, the peer's server program answers with that many once all have arrived (the
    /// request message names the size, as the UNC generators' does). Requests of one connection
    /// are answered in order, one at a time, unless it is said to [`Action::Multiplex`]. A request of
    /// no bytes stands for what the peer's program writes without a request: its service begins when the
    /// connection is established and all earlier replies have been sent, and no response time is
    /// measured.
    Send {
        /// The application's number for the connection.
        conn: u32,
        /// Payload bytes; `u64::MAX` never ends.
        bytes: u64,
        /// Size of the answer, 0 for none; multiplexed, [`u64::MAX`] never ends and counts as no request.
        reply_bytes: u64,
        /// How long the server program works on the answer before it writes it.
        service: Duration,
    },
    /// The peer's program writes `bytes` when `after` bytes in all have arrived there, not before
    /// `gap` has passed since it last wrote (at first: since now). It answers nothing, so that no
    /// response time is measured.
    Script {
        /// The application's number for the connection.
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
        /// The application's number for the connection.
        conn: u32,
    },
    /// Send nothing of what has not been sent yet, and close; of a connection without replies, or multiplexed:
    /// then its peer's program writes nothing more either, and no reply that is missing will come.
    Stop {
        /// The application's number for the connection.
        conn: u32,
    },
    /// A page begins: its first file has just been requested.
    PageBegins,
    /// A page is over: its last reply has come, or is given up.
    PageEnds {
        /// When it began.
        began: Instant,
        /// When its last reply came, or was given up; earlier than now if the user did something
        /// else in between.
        ended: Instant,
        /// Requests that were made for it.
        objects: u32,
        /// Size of their answers.
        bytes: u64,
        /// One of them was given up.
        failed: bool,
    },
    /// Send one datagram. A sender has one peer for all its datagrams.
    Datagram {
        /// Which machine, 0-based.
        peer: u32,
        /// Payload bytes.
        bytes: u32,
    },
    /// Send one datagram of a conversation, whose receivers are the application itself: when it
    /// arrives, the application gets [`Input::Received`]. A conversation has one peer.
    SendDatagram {
        /// Which machine, 0-based.
        peer: u32,
        /// Payload bytes.
        bytes: u32,
        /// Whether the peer says it to the application's machine, and not the other way round.
        back: bool,
        /// Code point of the IP header it leaves with.
        ecn: Ecn,
    },
    /// Call again with [`Input::Woke`] at this time.
    WakeAt(Instant),
}

/// An event that a host reports to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The run begins.
    Start,
    /// The time set with [`Action::WakeAt`] has come.
    Woke,
    /// A connection is established, of which [`Action::Await`] was said.
    Opened {
        /// The application's number for the connection.
        conn: u32,
    },
    /// A reply has arrived completely (with [`Closes::AcceptorToEnd`] the close too; once per answered [`Action::Send`] or [`Action::Script`], in
    /// order; multiplexed, in the order of their last bytes).
    Replied {
        /// On which connection.
        conn: u32,
    },
    /// Everything sent on a connection without replies has been acknowledged.
    Sent {
        /// On which connection.
        conn: u32,
    },
    /// A datagram of the conversation has arrived.
    Received {
        /// As it was said.
        back: bool,
        /// How many were said before it in its direction.
        number: u64,
        /// Whether a queue has marked it.
        marked: bool,
    },
    /// The connection was given up (75 s without a handshake, or too many timeouts): no reply that
    /// is still missing will come.
    Failed {
        /// The application's number for the connection.
        conn: u32,
    },
}

/// What an application is handed at each call.
pub struct AppCx<'a> {
    /// The time of the call.
    pub now: Instant,
    /// Receives what it wants done, in order.
    pub act: &'a mut dyn FnMut(Action),
}

/// Datagrams that a sender sends when it wakes, and when it wakes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Which machine of the other side gets them, 0-based.
    pub peer: u32,
    /// Payload of each.
    pub bytes: u32,
    /// How many leave at once.
    pub count: u64,
    /// When the sender wakes next.
    pub next: Instant,
}

/// One user, or one sender. Owns its random streams; idle, it costs no events.
pub trait App: Send {
    /// Reacts to what happened.
    fn on(&mut self, input: Input, cx: &mut AppCx);

    /// What a sender that goes at its own pace does when it wakes, in place of [`App::on`]: datagrams and the next waking are all that it
    /// requests. `None` from every other application, and from a sender that has ended.
    #[inline]
    fn paced(&mut self, _now: Instant) -> Option<Paced> {
        None
    }

    /// The measured interval begins: what happened before it does not enter the report.
    fn measure(&mut self, _now: Instant) {}

    /// What the application reports at the end of the measured interval; `None` if the network's
    /// measures are all there is.
    fn report(&mut self, _now: Instant) -> Option<Report> {
        None
    }

    /// What the application shows to an observer of the run; reading it changes nothing of its
    /// course.
    fn shown(&mut self, _now: Instant) -> Option<Shown> {
        None
    }
}
