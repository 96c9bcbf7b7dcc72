//! The sender's sequence numbers (acknowledged, sent, written) and its windows.

use packet::Instant;

/// The window and threshold that a congestion control sets, and the segment size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Fraction of a byte by which the window of ns-2 exceeds `cwnd`, in units of 2^-32 B.
    pub fraction: u32,
    /// Segment size, bytes.
    pub mss: u16,
    /// The ACK being processed does not grow the window: it carries an ECN echo (RFC 3168 section
    /// 6.1.2), or, by ns-3's rule, it reports new data beyond a hole
    /// (`Rules::reports_hold_growth`).
    pub held: bool,
    /// The last reduction (`SendState::reduced`) answered an ECN echo, and no loss has been noticed since.
    pub by_echo: bool,
}

impl Window {
    /// Segment size in bytes, in the type of the windows.
    pub fn mss(&self) -> u64 {
        u64::from(self.mss)
    }
}

/// The data in flight and the peer's window, as a congestion control sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// Highest sequence number ever sent, plus one.
    pub max: u64,
    /// The peer's receive window, bytes.
    pub window: u32,
}

impl Flight {
    /// Sequence numbers sent and not acknowledged: one for each byte, and one for a FIN.
    pub fn outstanding(&self) -> u64 {
        self.max - self.una
    }
    /// The smaller of the peer's window and the congestion window.
    pub fn usable(&self, win: &Window) -> u64 {
        win.cwnd.min(u64::from(self.window))
    }
}

/// Sequence numbers and windows of one direction. Numbers never wrap: 0 is the SYN, byte n of
/// the data is n, the FIN follows the last byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendState {
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// Next sequence number to send; falls back to `una` when everything is retransmitted.
    pub nxt: u64,
    /// Highest sequence number ever sent, plus one.
    pub max: u64,
    /// Sequence number after the last byte handed to TCP, which is that of the FIN.
    pub end: u64,
    pub win: Window,
    /// Value of `max` when the window was last reduced.
    pub reduced: u64,
    /// Time of the last activity that counts for the idle rule
    /// ([`IdleRule`](crate::profile::IdleRule)).
    pub active_at: Instant,
    /// The peer's receive window, bytes.
    pub window: u32,
    /// The first unacknowledged segment has timed out.
    pub timed_out: bool,
    /// The program has closed: a FIN follows the data.
    pub fin_queued: bool,
    /// The FIN has been sent at least once.
    pub fin_sent: bool,
    /// The first unacknowledged segment is to be retransmitted at once.
    pub resend: bool,
}

/// A piece of the sequence space chosen for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub seq: u64,
    pub len: u32,
    fin: Fin,
}

/// Whether a chunk ends with the FIN. As wide as the chunk's length, so that a chunk has no padding
/// bytes, which would make copies of an `Option<Chunk>` slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Fin {
    No,
    Yes,
}

impl Chunk {
    #[inline]
    pub fn new(seq: u64, len: u32, fin: bool) -> Self {
        Chunk { seq, len, fin: if fin { Fin::Yes } else { Fin::No } }
    }
    /// Whether the chunk ends with the FIN.
    #[inline]
    pub fn fin(self) -> bool {
        self.fin == Fin::Yes
    }
    pub fn end(self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.fin())
    }
}

impl SendState {
    /// Segment size in bytes, in the type of the windows.
    pub fn mss(&self) -> u64 {
        self.win.mss()
    }
    /// The data in flight and the peer's window, for a congestion control.
    pub fn flight(&self) -> Flight {
        Flight { una: self.una, max: self.max, window: self.window }
    }
    /// The peer's receive window in bytes, in the type of the windows.
    pub fn window(&self) -> u64 {
        u64::from(self.window)
    }
    /// Sequence numbers sent and not acknowledged: one for each byte, and one for a FIN.
    pub fn outstanding(&self) -> u64 {
        self.max - self.una
    }
    /// Whether the last reduction of the window answered an ECN echo, and no data sent after it is
    /// acknowledged yet.
    pub fn in_cwr(&self) -> bool {
        self.win.by_echo && self.una <= self.reduced
    }
    /// Whether an ECN echo has reduced the window for the data that is now lost: loss and echo in
    /// one window of data are one reduction (RFC 3168 section 6.1.2). After a call the next loss
    /// reduces the window again, unless the state of the echo `lasts` (`Rules::cwr_state`).
    pub fn echo_covers_loss(&mut self, lasts: bool) -> bool {
        let covered = self.win.by_echo && self.una < self.reduced;
        if !(covered && lasts) {
            (self.reduced, self.win.by_echo) = (self.max, false);
        }
        covered
    }
    /// Whether everything that has been sent is acknowledged.
    pub fn idle(&self) -> bool {
        self.una == self.max
    }
    /// Whether all written data is acknowledged and no FIN is queued, as at an end that only
    /// receives.
    #[inline]
    pub fn is_through(&self) -> bool {
        self.una == self.end && !self.fin_queued
    }
    /// Whether there is data, or a FIN, to send from `nxt` on.
    #[inline]
    pub fn has_rest(&self) -> bool {
        self.nxt < self.end || (self.nxt == self.end && self.fin_queued)
    }
    /// The chunk from `seq` on of at most a segment, not beyond `limit`, with the FIN if it ends
    /// the data.
    pub fn chunk(&self, seq: u64, limit: u64) -> Chunk {
        let stop = limit.min(self.end).max(seq);
        let len = (stop - seq).min(self.mss()) as u32;
        let fin = self.fin_queued && seq + u64::from(len) == self.end;
        Chunk::new(seq, len, fin)
    }
    /// The next segment from `nxt`, if it fits whole into `window` and the peer's window.
    pub fn fitting(&self, window: u64) -> Option<Chunk> {
        if self.nxt == self.max && self.max > self.end {
            return None;
        }
        let chunk = self.chunk(self.nxt, u64::MAX);
        // A bare FIN needs no room.
        let fits = chunk.len == 0
            || chunk.seq + u64::from(chunk.len) <= self.una + window.min(self.window());
        ((chunk.len > 0 || chunk.fin()) && fits).then_some(chunk)
    }
    /// Length of `chunk` if it is new data beyond the congestion window (limited transmit), else 0.
    pub fn beyond_window(&self, chunk: Chunk) -> u64 {
        let new = chunk.seq >= self.max;
        let beyond = chunk.end() > self.una + self.win.cwnd;
        if new && beyond { chunk.end() - chunk.seq } else { 0 }
    }
    /// The next new segment, if there is one and the peer's window has room for it.
    pub fn new_chunk(&self) -> Option<Chunk> {
        let chunk = self.chunk(self.max, u64::MAX);
        let there = chunk.len > 0 || (chunk.fin() && !self.fin_sent);
        let room = chunk.seq + u64::from(chunk.len) <= self.una + self.window();
        (there && room).then_some(chunk)
    }
}
