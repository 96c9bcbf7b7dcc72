//! How programs write on a connection that several replies share: in frames, with a limit on the
//! bytes that the transport has not sent.

/// Limit on what a program may have written that the transport has not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// The program writes while less than this many bytes are unsent (TCP_NOTSENT_LOWAT of Linux's
    /// tcp(7)).
    Unsent(u32),
    /// The program writes while the send buffer has room; Linux grows the buffer with the
    /// congestion window (`tcp_sndbuf_expand`, net/ipv4/tcp_input.c).
    Buffer,
}

/// How both programs of a connection write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Largest payload of a frame, bytes.
    pub frame: u32,
    /// Limit on the bytes written that the transport has not sent.
    pub ahead: Ahead,
    /// Whether a write that finds no room waits with the frame that was chosen, as a blocking write
    /// does; otherwise the program chooses the frame when there is room.
    pub blocks: bool,
}

impl Writing {
    /// Frames are chosen when less than one frame is unsent.
    pub fn when_ready(frame: u32) -> Self {
        Writing { frame, ahead: Ahead::Unsent(frame), blocks: false }
    }
}
