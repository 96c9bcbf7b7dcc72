//! The interface between an application and the host that carries out its actions.

use packet::{Duration, Ecn, Instant};

use crate::{Report, Shown, Writing};

/// The side that closes a connection, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// The acceptor closes with its reply (an HTTP/1.0 server).
    Acceptor,
    /// The acceptor closes with its reply. Nothing else shows how long the reply is, so the opener
    /// knows that it is complete only by the end of file.
    AcceptorToEnd,
    /// The acceptor closes with its reply to the last request: the application requests
    /// [`Action::Close`] right after sending that one (an HTTP/1.1 request says "close").
    AcceptorLast,
    /// The opener closes when the application requests [`Action::Close`].
    Opener,
}

/// An action that an application requests of its host. The application numbers its connections; a
/// number may be used again once the connection's last [`Input`] has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Connections opened from here on start at this machine of the application's side; without
    /// this action they start at the machine where the application lives.
    Move {
        /// Index of the machine, from 0.
        machine: u32,
    },
    /// The connection opened next has this round-trip propagation time; without this action it has
    /// the scenario's.
    SetRtt {
        /// Propagation time there and back.
        round_trip: Duration,
    },
    /// Open connection `conn` to machine `peer` of the other side.
    Open {
        /// The application's number for the connection.
        conn: u32,
        /// Index of the machine, from 0.
        peer: u32,
        /// The side that will close the connection.
        closes: Closes,
    },
    /// Replies on connection `conn`, just opened, share its byte stream as those of HTTP/2 do (RFC
    /// 9113): the peer's server program works on all requests at once and sends what is ready in
    /// frames, one of each reply in turn; a reply is complete with its last frame. The opener
    /// closes such a connection.
    Multiplex {
        /// The application's number for the connection.
        conn: u32,
        /// How the programs at both ends write.
        writing: Writing,
        /// Whether each request and its reply are a stream that waits for no other (HTTP/3, RFC
        /// 9114); otherwise all share one byte stream.
        independent: bool,
    },
    /// The opener's program on a multiplexed connection writes frames without end, each as soon as
    /// it may (see [`Writing`]), from the establishment until [`Action::Stop`]. Requests go between
    /// the frames.
    Upload {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Report [`Input::Opened`] when the connection is established. This action must follow
    /// [`Action::Open`] directly.
    Await {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Write `bytes` on the connection (at once or when it is established). If `reply_bytes` is not
    /// zero, the peer's server program answers with that number of bytes once the whole request has
    /// arrived (the request message names the size, as the UNC generators' does). Requests of one
    /// connection are answered in order, one at a time, unless [`Action::Multiplex`] was requested.
    /// A request of no bytes stands for what the peer's program writes without a request: its
    /// service begins when the connection is established and all earlier replies have been sent,
    /// and no response time is measured.
    Send {
        /// The application's number for the connection.
        conn: u32,
        /// Payload bytes; [`u64::MAX`] for data without end.
        bytes: u64,
        /// Size of the reply in bytes, 0 for none. On a multiplexed connection [`u64::MAX`] is a
        /// reply without end, which does not count as a request.
        reply_bytes: u64,
        /// How long the server program works on the answer before it writes it.
        service: Duration,
    },
    /// The peer's program writes `bytes` when `after` bytes of the opener have arrived there in
    /// all, but not before `gap` has passed since its last write (before the first write: since
    /// now). It answers no request, so that no response time is measured.
    Script {
        /// The application's number for the connection.
        conn: u32,
        /// Payload bytes of the opener that must have arrived.
        after: u64,
        /// Least time between the program's last write and this one.
        gap: Duration,
        /// Payload bytes to write, above 0.
        bytes: u64,
    },
    /// No more will be sent. The application may use the number again once all replies have
    /// arrived.
    Close {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Discard what has not been sent yet, and close. Only for connections without replies and for
    /// multiplexed ones; the peer's program on a multiplexed one writes nothing more either, and no
    /// reply that is missing will come.
    Stop {
        /// The application's number for the connection.
        conn: u32,
    },
    /// A page begins: its first file has just been requested.
    PageBegins,
    /// A page is over: its last reply has arrived, or was given up.
    PageEnds {
        /// When the page began.
        began: Instant,
        /// When the page's last reply arrived, or was given up; earlier than now if the user did
        /// something else in between.
        ended: Instant,
        /// Number of requests that were made for the page.
        objects: u32,
        /// Payload bytes of the replies to these requests.
        bytes: u64,
        /// Whether one of the requests was given up.
        failed: bool,
    },
    /// Send one datagram. A sender has one peer for all its datagrams.
    Datagram {
        /// Index of the machine, from 0.
        peer: u32,
        /// Payload bytes.
        bytes: u32,
    },
    /// Send one datagram of a conversation, whose receivers are the application itself: when the
    /// datagram arrives, the application gets [`Input::Received`]. A conversation has one peer.
    SendDatagram {
        /// Index of the machine, from 0.
        peer: u32,
        /// Payload bytes.
        bytes: u32,
        /// Whether the peer sends the datagram to the application's machine, and not the other way
        /// round.
        back: bool,
        /// ECN code point of the IP header with which the datagram leaves.
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
    /// A connection for which [`Action::Await`] was requested is established.
    Opened {
        /// The application's number for the connection.
        conn: u32,
    },
    /// A reply has arrived completely; with [`Closes::AcceptorToEnd`] the close too. There is one
    /// for each answered [`Action::Send`] or [`Action::Script`], in order; on a multiplexed
    /// connection in the order of their last bytes.
    Replied {
        /// The application's number for the connection.
        conn: u32,
    },
    /// Everything sent on a connection without replies has been acknowledged.
    Sent {
        /// The application's number for the connection.
        conn: u32,
    },
    /// A datagram of the conversation has arrived.
    Received {
        /// Whether the peer sent the datagram, as in [`Action::SendDatagram`].
        back: bool,
        /// Number of datagrams that were sent before this one in its direction.
        number: u64,
        /// Whether a queue has marked the datagram.
        marked: bool,
    },
    /// The connection was given up (75 s without a handshake, or too many timeouts): no reply that
    /// is still missing will come.
    Failed {
        /// The application's number for the connection.
        conn: u32,
    },
}

/// The context in which an application is called.
pub struct AppCx<'a> {
    /// The time of the call.
    pub now: Instant,
    /// Takes the actions that the application requests, in order.
    pub act: &'a mut dyn FnMut(Action),
}

/// Datagrams that a sender sends when it wakes, and when it wakes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Index of the machine of the other side that gets the datagrams, from 0.
    pub peer: u32,
    /// Payload bytes of each datagram.
    pub bytes: u32,
    /// Number of datagrams that leave at once.
    pub count: u64,
    /// When the sender wakes next.
    pub next: Instant,
}

/// One user, or one sender. It owns its streams of random numbers, and costs no events while idle.
pub trait App: Send {
    /// Reacts to an event.
    fn on(&mut self, input: Input, cx: &mut AppCx);

    /// The action of a sender that goes at its own pace when it wakes, in place of [`App::on`]:
    /// datagrams and the next waking are all that such a sender requests. `None` from every other
    /// application, and from a sender that has ended.
    #[inline]
    fn paced(&mut self, _now: Instant) -> Option<Paced> {
        None
    }

    /// Begins the measured interval: what happened before it does not enter the report.
    fn measure(&mut self, _now: Instant) {}

    /// What the application reports at the end of the measured interval; `None` if the network's
    /// measures are all there is.
    fn report(&mut self, _now: Instant) -> Option<Report> {
        None
    }

    /// What the application shows to an observer of the run; reading it does not change the run.
    fn shown(&mut self, _now: Instant) -> Option<Shown> {
        None
    }
}
