//! The interface of an end of a connection, of either QUIC stack, towards the simulated line.

use packet::Ecn;
use tcp::Segment;

/// A UDP datagram on the line.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Length in IP bytes.
    pub bytes: u32,
    pub body: Body,
    pub ecn: Ecn,
    /// Number of bytes of the reply that the datagram carries.
    pub data: u32,
    /// Number of these bytes that were sent before.
    pub again: u32,
    /// Whether it is a PING sent because an acknowledgement is missing; the window does not limit
    /// it.
    pub ping: bool,
    /// Whether it has an acknowledgement of data and nothing else.
    pub only_ack: bool,
}

/// The content of a datagram, in the form of the stack that sent it.
#[derive(Clone, Debug)]
pub enum Body {
    Ours(Segment),
    Wire(Vec<u8>),
}

/// The state of a client or server that the program prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Number of bytes of the reply that have arrived; at a client only.
    pub arrived: u64,
    /// Whether all of the reply has arrived, in order and with its end.
    pub done: bool,
}

/// Number of bytes that a server sends once the handshake is complete. (There is no request, since
/// the stacks would send it at different times: quinn in one datagram with the end of the
/// handshake, aqmlab's QUIC in a datagram of its own.)
pub type Reply = u64;

/// One end of one connection; instants are nanoseconds.
pub trait End {
    /// The client opens the connection.
    fn begin(&mut self, now: u64);
    fn receive(&mut self, datagram: Datagram, now: u64);
    /// Time at which [`End::wake`] is to be called, and the order among calls at one instant: 0
    /// first.
    fn due(&mut self) -> Option<(u64, u8)>;
    fn wake(&mut self, now: u64);
    /// The next datagram to send; `None` if there is none now.
    fn poll(&mut self, now: u64) -> Option<Datagram>;
    fn seen(&self) -> Seen;
}
