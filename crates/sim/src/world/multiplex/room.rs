//! How much data a program may write before the transport has sent it.

use traffic::{Ahead, Writing};

/// Memory of a segment's buffer beyond its payload, bytes (assumed: it depends on how a kernel was
/// built), and the memory that `tcp_sndbuf_expand` counts for a segment of 1,460 B: 4,096 B for the
/// segment with its headers and `skb_shared_info`, and 256 B for `sk_buff` (Linux, 64 bits).
const OVERHEAD: u64 = 1_280;
const RECKONED: u64 = 4_352;
/// Payload of the segment to which these amounts of memory belong, bytes.
const SEGMENT: u64 = 1_448;
/// Smallest congestion window, in segments, for which a send buffer has room (TCP_INIT_CWND), and
/// the largest send buffer in bytes (tcp_wmem).
const FIRST_SEGMENTS: u64 = 10;
const MOST: u64 = 4 << 20;

/// Decides when the program at one end of a connection may write.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    ahead: Ahead,
    /// Bytes of the frame in a blocked write; 0 if the program never blocks.
    waiting: u64,
    /// The send buffer's size, bytes of memory.
    buffer: u64,
    /// Whether the buffer was full, and the program that waits has not been woken yet.
    full: bool,
}

impl Room {
    /// The rule `writing`, for frames with a header of `header` bytes.
    pub fn new(writing: Writing, header: u64) -> Self {
        let waiting = if writing.blocks { u64::from(writing.frame) + header } else { 0 };
        let buffer = 2 * FIRST_SEGMENTS * RECKONED;
        Room { ahead: writing.ahead, waiting, buffer, full: false }
    }

    /// Whether the program may choose its next frame, after `written` bytes of which `sent` were
    /// sent and `acked` were acknowledged.
    ///
    /// The last frame may still be in a blocked write. It is counted in `written`, since no other
    /// frame can come before it any more, but it takes no room yet: it was chosen when the frame
    /// before it had room.
    pub fn is_free(&mut self, written: u64, sent: u64, acked: u64, cwnd: u64) -> bool {
        let written = written.saturating_sub(self.waiting);
        match self.ahead {
            Ahead::Unsent(most) => written.saturating_sub(sent) < u64::from(most),
            Ahead::Buffer => self.has_memory(written, sent, acked, cwnd),
        }
    }

    /// Linux's rule: a full buffer has room again when a third of it is free (`sk_stream_is_writeable`), and
    /// grows when all in it has been sent (`tcp_should_expand_sndbuf`).
    fn has_memory(&mut self, written: u64, sent: u64, acked: u64, cwnd: u64) -> bool {
        if written <= sent {
            let segments = (cwnd / SEGMENT).max(FIRST_SEGMENTS);
            self.buffer = self.buffer.max(2 * segments * RECKONED).min(MOST);
        }
        let segments = sent.saturating_sub(acked).div_ceil(SEGMENT);
        let held = written.saturating_sub(acked) + segments * OVERHEAD;
        self.full = if self.full { 3 * held > 2 * self.buffer } else { held >= self.buffer };
        !self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_buffer_takes_more_when_a_third_is_free_and_grows_when_all_was_sent() {
        let writing = Writing { ahead: Ahead::Buffer, ..Writing::when_ready(16_384) };
        let mut room = Room::new(writing, 9);
        let mut written = 0;
        while room.is_free(written, 14_480, 0, 14_480) {
            written += 16_393;
        }
        // 87,040 B of memory: ten segments in flight take 1,280 B each beyond their payload.
        assert_eq!(written, 5 * 16_393);
        let acked = |bytes: u64| room.clone().is_free(written, bytes + 14_480, bytes, 14_480);
        assert!(!acked(36_000) && acked(37_000));
        // The window has doubled, but the buffer grows only once all data in it has been sent.
        assert!(!room.is_free(written, 28_960, 0, 28_960));
        assert!(room.is_free(28_960, 28_960, 0, 28_960) && room.buffer == 2 * 20 * RECKONED);
    }
}
