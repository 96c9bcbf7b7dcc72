//! The pace of arrivals of one connection (`icsk_ack`), and when it acknowledges by that.

use packet::{Duration, Instant};

use super::Adaptive;
use super::buffer::Buffer;
use super::compression::Compression;
use crate::clock::{HostClock, Moment};
use crate::receiver::Trip;
use crate::segment::Segment;

/// Number of acknowledgements sent at once when a connection begins, after a gap and after a
/// duplicate (`TCP_MAX_QUICKACKS`); and number of them after a mark.
pub(super) const QUICK: u8 = 16;
pub(super) const QUICK_AFTER_MARK: u8 = 2;
/// Assumed payload of the peer's full segments before a larger one arrives, bytes
/// (`TCP_MSS_DEFAULT`).
pub(super) const FIRST_SEGMENT: u32 = 536;
/// Bytes of TCP's header without options.
pub(super) const BARE_HEADER: u32 = 20;

/// The state of one connection (`icsk_ack`), times in milliseconds, Linux's jiffies.
#[derive(Clone, Copy, Debug)]
pub(in crate::receiver) struct Tempo {
    /// Number of acknowledgements still to be sent at once.
    pub(super) quick: u8,
    /// The connection answers what it receives (`pingpong`).
    pub(super) answers: bool,
    /// Data has arrived since the last acknowledgement was sent.
    pub(super) owed: bool,
    /// Number of small segments (2 at most), or of full ones with PSH (1 at most), since the last
    /// acknowledgement (`ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    pub(super) small: u8,
    /// An ECN-capable packet has arrived (`TCP_ECN_SEEN`).
    pub(super) capable: bool,
    /// Marks or their absence require acknowledgements at once.
    pub(super) urged: bool,
    /// Delay of the next acknowledgement (`ato`; 0 before the first data), and the shortest delay.
    pub(super) wait: u64,
    pub(super) least: u64,
    /// When data last arrived.
    pub(super) last: u64,
    /// Estimate of the peer's segment size, bytes (`rcv_mss`).
    pub(super) full: u32,
    /// Size of the last segment that was smaller than this estimate, bytes.
    pub(super) odd: u32,
    /// Size to which the window has grown (`rcv_ssthresh`), bytes.
    pub(super) window: u64,
    /// Bound of the window's size (`window_clamp`), bytes.
    pub(super) bound: u64,
    /// Right edge of the window offered last (`rcv_wup` and `rcv_wnd`), a sequence number.
    pub(super) edge: u64,
    /// A window was offered after that of the SYN.
    pub(super) offered: bool,
    pub(super) buffer: Buffer,
    pub(super) compression: Compression,
}

impl Tempo {
    pub fn new(rules: &Adaptive) -> Self {
        let space = rules.space(rules.start, 128);
        let half = (space - u64::from(rules.mss)).max(2 * u64::from(rules.mss));
        Tempo {
            quick: 0,
            answers: false,
            owed: false,
            small: 0,
            capable: false,
            urged: false,
            wait: 0,
            least: rules.least,
            last: 0,
            full: FIRST_SEGMENT.min(rules.segment),
            odd: 0,
            window: half,
            bound: half,
            edge: 1 + space - space % u64::from(rules.segment),
            offered: false,
            buffer: Buffer::new(rules.start, space, half.min(10 * u64::from(rules.mss))),
            compression: Compression::default(),
        }
    }

    /// Makes the next acknowledgements quick, `most` at most, fewer with a small window
    /// (`tcp_incr_quickack`).
    pub(super) fn quicken(&mut self, most: u8) {
        let half = (self.window / (2 * u64::from(self.full))).max(2);
        self.quick = self.quick.max(half.min(u64::from(most)) as u8);
    }

    /// Enters quick acknowledgement mode, which ends ping-pong mode (`tcp_enter_quickack_mode`).
    pub(super) fn hurry(&mut self, most: u8) {
        self.quicken(most);
        self.answers = false;
        self.wait = self.least;
    }

    /// Data has arrived in order (`tcp_event_data_recv`), while data beyond a hole takes `held`
    /// bytes of room.
    #[inline(always)]
    pub(super) fn on_data(
        &mut self,
        rules: &Adaptive,
        segment: &Segment,
        held: u64,
        timing: &Timing,
    ) {
        let len = segment.len;
        self.owed = true;
        self.time_trip(segment, timing);
        self.size_up(rules, segment);
        let (now, least) = (jiffy(timing.moment.at), self.least);
        let gap = now - self.last;
        if self.wait == 0 {
            self.quicken(QUICK);
            self.wait = least;
        } else if gap <= least / 2 {
            self.wait = self.wait / 2 + least / 2;
        } else if gap < self.wait {
            self.wait = (self.wait / 2 + gap).min(timing.trip.rto()).min(MOST);
        } else if gap > timing.trip.rto() {
            self.quicken(QUICK);
        }
        self.last = now;
        if std::mem::take(&mut self.urged) {
            self.hurry(QUICK_AFTER_MARK);
        }
        self.grow(rules, len, held);
    }

    /// Updates the estimate of the peer's segment size (`tcp_measure_rcv_mss`).
    #[inline(always)]
    pub(super) fn size_up(&mut self, rules: &Adaptive, segment: &Segment) {
        if segment.len == self.full {
            self.odd = 0;
            self.small = self.small.max(u8::from(segment.pushes()));
        } else {
            self.measure(rules, segment.len, segment.pushes());
        }
    }

    #[cold]
    fn measure(&mut self, rules: &Adaptive, len: u32, pushes: bool) {
        let odd = std::mem::take(&mut self.odd);
        if len > self.full {
            self.full = len.min(rules.segment);
            self.buffer.space = rules.space(self.buffer.bytes, self.ratio(rules));
            self.bound = self.buffer.space;
            self.small = self.small.max(u8::from(pushes));
            return;
        }
        if len + rules.header >= FIRST_SEGMENT + BARE_HEADER {
            self.odd = len;
            if len == odd {
                self.full = len;
                return;
            }
        }
        self.small = (self.small + 1).min(2);
    }

    /// Share of the buffer that the payload of segments of the estimated size fills, in 1/256; half
    /// before a segment larger than the first guess has arrived (`TCP_DEFAULT_SCALING_RATIO`).
    pub(super) fn ratio(&self, rules: &Adaptive) -> u64 {
        if self.full <= FIRST_SEGMENT {
            return 128;
        }
        u64::from(rules.ratio * self.full / rules.segment).max(1)
    }

    /// `tcp_grow_window`: each full segment lets the window grow by two segments, as long as the
    /// buffer has room for more than that segment and the `held` bytes beyond a hole; while the
    /// window grows, acknowledgements are sent at once.
    #[inline(always)]
    pub(super) fn grow(&mut self, rules: &Adaptive, len: u32, held: u64) {
        let free = self.buffer.space.saturating_sub(u64::from(len) + held).min(self.bound);
        if self.window < free && len >= self.full {
            let room = free - self.window;
            self.window += room.min(u64::from(2 * rules.segment.max(len)));
            self.quick |= 1;
        }
    }

    /// Whether acknowledgements are quick (`tcp_in_quickack_mode`).
    pub(super) fn is_quick(&self) -> bool {
        self.quick > 0 && !self.answers
    }

    /// Whether `waiting` bytes of data are to be acknowledged now (`__tcp_ack_snd_check`, and
    /// `__tcp_cleanup_rbuf` for a program that reads at once).
    pub(super) fn is_due(&self, rules: &Adaptive, waiting: u64) -> bool {
        waiting > u64::from(rules.beyond * self.full)
            || self.is_quick()
            || self.small > u8::from(self.answers)
    }

    /// `tcp_send_delayed_ack`: how long the acknowledgement is delayed, ms.
    #[inline]
    pub(super) fn delay(&self, rules: &Adaptive, timing: &Timing) -> u64 {
        let wait = if self.wait > self.least { self.bounded(timing) } else { self.wait };
        wait.min(rules.longest)
    }

    /// The delay in ms, bounded by the smoothed round-trip time. (Linux has other bounds, HZ/5 and
    /// HZ/2, that are no less than [`MOST`].)
    #[cold]
    pub(super) fn bounded(&self, timing: &Timing) -> u64 {
        let srtt = timing.trip.srtt();
        if srtt > 0 { self.wait.min(srtt.max(self.least)) } else { self.wait }
    }

    /// `tcp_delack_timer_handler`: no data has carried the delayed acknowledgement, so ping-pong
    /// mode ends, or the delay is doubled.
    pub(super) fn on_waited(&mut self, trip: Trip) {
        if self.answers {
            self.answers = false;
            self.wait = self.least;
        } else {
            self.wait = (2 * self.wait).min(trip.rto()).min(MOST);
        }
    }

    /// An acknowledgement is sent: one quick acknowledgement less is left
    /// (`tcp_dec_quickack_mode`).
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.compression.on_ack_sent();
        if !self.owed {
            return;
        }
        (self.owed, self.small) = (false, 0);
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.wait = self.least;
            }
        }
    }

    /// `tcp_event_data_sent`: data sent soon after data has arrived is an answer.
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        self.answers |= self.wait > 0 && jiffy(now) - self.last < self.wait;
    }
}

/// Largest delay of an acknowledgement, ms (`TCP_DELACK_MAX`, HZ/5).
pub(super) const MOST: u64 = 200;

pub(super) fn millis(span: Duration) -> u64 {
    span.nanos() / 1_000_000
}
pub(super) fn jiffy(now: Instant) -> u64 {
    now.nanos() / 1_000_000
}

/// When a segment arrived, with what is needed to time its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(in crate::receiver) struct Timing<'a> {
    pub trip: Trip<'a>,
    pub clock: HostClock,
    pub moment: Moment,
}

impl Trip<'_> {
    /// The retransmission timeout, jiffies.
    pub(super) fn rto(&self) -> u64 {
        millis(self.rules.rto(self.rtt))
    }
    pub(super) fn srtt(&self) -> u64 {
        self.rules.srtt(self.rtt).nanos().div_ceil(1_000_000)
    }
}
