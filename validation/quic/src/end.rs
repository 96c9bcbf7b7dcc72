//! What the line sees of an end of either stack.

use packet::Ecn;
use tcp::Segment;

/// A datagram.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// IP bytes.
    pub bytes: u32,
    pub body: Body,
    pub ecn: Ecn,
    /// Bytes of the reply that it carries.
    pub data: u32,
    /// Of these, bytes that went before.
    pub again: u32,
    /// It goes beside the window, because an acknowledgement has not come: a PING.
    pub ping: bool,
    /// An acknowledgement alone, of data.
    pub only_ack: bool,
}

/// As each stack has it.
#[derive(Clone, Debug)]
pub enum Body {
    Ours(Segment),
    Wire(Vec<u8>),
}

/// What a client or server shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Bytes of the reply that have come, at a client.
    pub arrived: u64,
    /// All of it has come, in order and with its end.
    pub done: bool,
}

/// What a server sends once the handshake is complete, bytes. (A request would not come at one time: quinn sends it in
/// one datagram with the end of the handshake, ours in one of its own.)
pub type Reply = u64;

/// One end of one connection; instants are nanoseconds.
pub trait End {
    /// The client opens the connection.
    fn begin(&mut self, now: u64);
    fn receive(&mut self, datagram: Datagram, now: u64);
    /// When [`End::wake`] is to be called; at one instant those of order 0 come first.
    fn due(&mut self) -> Option<(u64, u8)>;
    fn wake(&mut self, now: u64);
    /// What goes out next.
    fn poll(&mut self, now: u64) -> Option<Datagram>;
    fn seen(&self) -> Seen;
}
