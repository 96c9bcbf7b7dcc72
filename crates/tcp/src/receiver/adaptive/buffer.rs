//! How Linux sizes the receive buffer of a connection by what the program reads in a round trip
//! (`tcp_rcv_space_adjust`, Dynamic Right-Sizing; since 6.18 `tcp_rcvbuf_grow`). Here the buffer's
//! size decides how long the window grows, and for so long every segment is acknowledged.

use packet::Instant;

use super::{Adaptive, Receiver, Tempo, Timing};
use crate::segment::{Flags, Segment};

/// How a buffer grows once more was read in a round trip than ever before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Linux 6.12 (`tcp_rcv_space_adjust`): twice what was read and a cushion of segments.
    SpaceAdjust,
    /// Linux 7.3 (`tcp_rcvbuf_grow`): without a cushion; for round trips below 1 ms the surplus is
    /// in proportion to the round trip (`net.ipv4.tcp_rcvbuf_low_rtt`); data beyond a hole adds its
    /// span, from the expected sequence number to its end.
    RcvbufGrow,
}

/// Round-trip time below which buffers grow less, us (`net.ipv4.tcp_rcvbuf_low_rtt`).
const LOW_RTT: u64 = 1_000;

/// Number of segments of the cushion on top of twice what was read.
const CUSHION: u64 = 16;

/// State of the buffer's autotuning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// Size of the buffer (`sk_rcvbuf`), bytes.
    pub bytes: u64,
    /// Payload for which the buffer has room (`tcp_full_space`), bytes.
    pub space: u64,
    /// Most bytes read in a round trip (`rcvq_space.space`).
    most: u64,
    /// Sequence number and time at the beginning of the current round trip (`rcvq_space.seq`,
    /// `rcvq_space.time`).
    from: u64,
    since: Instant,
    /// Round-trip time as the receiver estimates it, in units of 1/8 us; 0 if unknown
    /// (`rcv_rtt_est.rtt_us`).
    trip: u64,
    /// Echoed timestamp that was measured last (`rcv_rtt_last_tsecr`).
    echo: u32,
    /// Right edge of the window at the time `opened`; data arrives there a round trip later
    /// (`rcv_rtt_est.seq`, `rcv_rtt_est.time`).
    edge: u64,
    opened: Instant,
}

impl Buffer {
    pub fn trip(&self) -> u64 {
        self.trip
    }

    #[cfg(test)]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// A buffer of `bytes` bytes, which grows when more than `most` bytes are read in a round trip.
    pub fn new(bytes: u64, space: u64, most: u64) -> Buffer {
        Buffer {
            bytes,
            space,
            most,
            from: 1,
            since: Instant::ZERO,
            trip: 0,
            echo: 0,
            edge: 0,
            opened: Instant::ZERO,
        }
    }

    /// Updates the estimate by a round trip in us (`tcp_rcv_rtt_update`). A shorter one replaces
    /// it; a longer one is averaged in with weight 1/8, but not if it was measured over a whole
    /// window.
    pub fn update(&mut self, us: u64, of_window: bool) {
        let sample = 8 * us;
        if self.trip == 0 || sample < self.trip {
            self.trip = sample;
        } else if !of_window {
            self.trip = self.trip - self.trip / 8 + us;
        }
    }
}

impl Tempo {
    /// Measures round trips at the receiver: by timestamps (`tcp_rcv_rtt_measure_ts`), and by the
    /// time until a window is filled (`tcp_rcv_rtt_measure`).
    #[inline(always)]
    pub(super) fn time_trip(&mut self, segment: &Segment, timing: &Timing) {
        let (buffer, now) = (&mut self.buffer, timing.moment.at);
        if segment.flags.has(Flags::STAMPED) && segment.echo != buffer.echo {
            buffer.echo = segment.echo;
            let ticks = timing.trip.rules.timestamp(timing.clock, timing.moment);
            let ms = ticks.wrapping_sub(segment.echo);
            if segment.len >= self.full && ms > 0 {
                buffer.update(u64::from(ms) * 1_000, false);
            }
        }
        if segment.seq + u64::from(segment.len) >= buffer.edge {
            if buffer.edge > 0 {
                buffer.update((now.since(buffer.opened).nanos() / 1_000).max(1), true);
            }
            buffer.edge = segment.seq + u64::from(segment.len) + self.window;
            buffer.opened = now;
        }
    }

    /// The program has read all below `next`.
    #[inline(always)]
    pub(super) fn on_read(&mut self, rules: &Adaptive, next: u64, now: Instant) {
        // This runs at every read: a comparison in ns saves a division by 1,000.
        let trip = self.buffer.trip / 8 * 1_000;
        let over = self.buffer.trip > 0 && now.since(self.buffer.since).nanos() >= trip;
        if over && rules.start < rules.buffer {
            self.adjust(rules, next, now);
        }
    }

    /// A round trip is over, in which the program has read up to `next`.
    #[cold]
    fn adjust(&mut self, rules: &Adaptive, next: u64, now: Instant) {
        let trip_us = self.buffer.trip / 8;
        let read = next - self.buffer.from;
        if read > self.buffer.most {
            let window = self.wanted(rules, read, trip_us);
            self.make_room(rules, window);
            self.buffer.most = read;
        }
        (self.buffer.from, self.buffer.since) = (next, now);
    }
}

impl Tempo {
    /// The window for `read` bytes in a round trip: twice that, to allow for losses, and twice the
    /// growth beyond the earlier maximum, to allow for slow start.
    fn wanted(&self, rules: &Adaptive, read: u64, trip_us: u64) -> u64 {
        let most = self.buffer.most;
        match rules.growth {
            Growth::SpaceAdjust => {
                let window = 2 * read + CUSHION * u64::from(rules.mss);
                window + 2 * (window * (read - most) / most)
            }
            Growth::RcvbufGrow if trip_us < LOW_RTT => 2 * read + 2 * read * trip_us / LOW_RTT,
            Growth::RcvbufGrow => 2 * read + 4 * read * (read - most) / most,
        }
    }

    /// Lets the buffer grow so that it has room for `window` bytes.
    fn make_room(&mut self, rules: &Adaptive, window: u64) {
        let ratio = self.ratio(rules);
        let bytes = ((window << 8) / ratio).min(rules.buffer);
        if bytes > self.buffer.bytes {
            self.buffer.bytes = bytes;
            self.buffer.space = rules.space(bytes, ratio);
            self.bound = self.buffer.space;
        }
    }

    /// `tcp_clamp_window`: if data beyond a hole takes more than the whole buffer, the buffer grows
    /// to that size.
    pub(super) fn hold(&mut self, rules: &Adaptive, held: u64) {
        if held <= self.buffer.space {
            return;
        }
        self.quick = 0;
        let ratio = self.ratio(rules);
        let wanted = (held << 8).div_ceil(ratio);
        if rules.start < rules.buffer && wanted > self.buffer.bytes {
            self.buffer.bytes = wanted.min(rules.buffer);
            self.buffer.space = rules.space(self.buffer.bytes, ratio);
        }
        if wanted > self.buffer.bytes {
            self.window = self.bound.min(2 * u64::from(rules.mss));
        }
    }

    /// `tcp_data_queue_ofo`: lets the buffer grow for data beyond a hole, which ends `span` bytes
    /// after the expected sequence number.
    fn hold_beyond(&mut self, rules: &Adaptive, span: u64) {
        let most = self.buffer.most;
        let window = self.wanted(rules, most, self.buffer.trip / 8);
        self.make_room(rules, window + span);
    }
}

impl Receiver {
    /// Data has arrived beyond a hole.
    pub(in crate::receiver) fn has_held(&mut self, rules: &Adaptive) {
        let (span, held) =
            (self.held().last().map_or(0, |last| last.end - self.next), self.held_room());
        if let Some(tempo) = self.tempo() {
            tempo.hold(rules, held);
        }
        if span > 0
            && rules.growth == Growth::RcvbufGrow
            && rules.start < rules.buffer
            && let Some(tempo) = self.tempo()
        {
            tempo.hold_beyond(rules, span);
        }
    }

    /// The handshake is over: what the program reads counts from now on (`tcp_init_buffer_space`).
    pub fn established(&mut self, now: Instant) {
        if let Some(tempo) = self.tempo() {
            tempo.buffer.since = now;
        }
    }

    /// The program has read all that is in order.
    pub(in crate::receiver) fn has_read(&mut self, rules: &Adaptive, now: Instant) {
        let next = self.next;
        if let Some(tempo) = self.tempo() {
            tempo.on_read(rules, next, now);
        }
    }
}
