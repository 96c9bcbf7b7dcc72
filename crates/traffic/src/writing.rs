//! How programs write on a connection that replies share: in frames, so far ahead of the transport.

/// How much a program may have written that the transport has not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// It writes while less than this many bytes wait to be sent (TCP_NOTSENT_LOWAT of Linux's tcp(7)).
    Unsent(u32),
    /// It writes while the send buffer has room, which Linux grows with the congestion window
    /// (`tcp_sndbuf_expand`, net/ipv4/tcp_input.c).
    Buffer,
}

/// How both programs of a connection write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Payload of a frame at most, bytes.
    pub frame: u32,
    /// How far ahead of the transport.
    pub ahead: Ahead,
    /// A write that has no room waits with the frame that was chosen for it, as a blocking write does; else a
    /// program chooses when there is room.
    pub blocks: bool,
}

impl Writing {
    /// Each frame is chosen when less than one waits to be sent.
    pub fn when_ready(frame: u32) -> Self {
        Writing { frame, ahead: Ahead::Unsent(frame), blocks: false }
    }
}
