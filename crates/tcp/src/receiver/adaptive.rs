//! When Linux acknowledges in-order data (`tcp_input.c`, `tcp_output.c`, `tcp_timer.c` of Linux): at
//! once while a connection is young, while its window can still grow, and after marks, repeats and
//! long gaps; else every second full segment, or after a delay that follows the pace of arrivals. A
//! connection that answers what it receives (ping-pong mode) lets its answers acknowledge.
//!
//! The program reads at once.

mod buffer;
mod compression;
mod window;

use packet::{Duration, Instant};

use self::buffer::Buffer;
pub(crate) use self::buffer::Growth;
pub(crate) use self::compression::Compress;
use self::compression::Compression;
pub(crate) use self::window::Offer;
use super::{AckClock, AckPolicy, Receiver, Trip};
use crate::clock::{HostClock, Moment};
use crate::segment::{Flags, Segment};
use crate::timer_wheel::TimerWheel;

/// The rules of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adaptive {
    /// More than this number of full segments are acknowledged at once.
    pub beyond: u32,
    /// Payload and header of a full segment, bytes; what the SYN announces (MSS), less timestamps (`advmss`).
    pub segment: u32,
    pub header: u32,
    pub mss: u32,
    /// The receive buffer at the beginning and as far as it may grow, bytes, and what of it full
    /// segments fill, in 1/256 (`scaling_ratio`).
    pub start: u64,
    pub buffer: u64,
    pub ratio: u32,
    pub growth: Growth,
    /// How far the window is shifted in a header.
    pub scale: u8,
    /// Shortest and longest delay (`TCP_ATO_MIN`, `tcp_delack_max`), ms.
    pub least: u64,
    pub longest: u64,
    pub compress: Compress,
    /// When a delay ends (`sk_reset_timer`).
    pub wheel: TimerWheel,
}

impl Adaptive {
    /// The payload for which a buffer has room if full segments fill this of it, in 1/256; two segments at
    /// least, or nothing would ever be sent (Linux's senders make smaller ones).
    fn space(&self, bytes: u64, ratio: u64) -> u64 {
        ((bytes * ratio) >> 8).max(2 * u64::from(self.mss))
    }
}

/// Acknowledgements sent at once when a connection begins, after a gap and after a repeat
/// (`TCP_MAX_QUICKACKS`), and after a mark.
const QUICK: u8 = 16;
const QUICK_AFTER_MARK: u8 = 2;
/// What segments are taken to hold before a larger one came (`TCP_MSS_DEFAULT`).
const FIRST_SEGMENT: u32 = 536;
/// Bytes of TCP's header without options.
const BARE_HEADER: u32 = 20;

/// The state of one connection (`icsk_ack`), times in milliseconds, Linux's jiffies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tempo {
    /// Acknowledgements still to be sent at once.
    quick: u8,
    /// The connection answers what it receives (`pingpong`).
    answers: bool,
    /// Data came since the last acknowledgement went out.
    owed: bool,
    /// Small segments among it, or a full one with PSH (`ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    small: u8,
    /// An ECN-capable packet came (`TCP_ECN_SEEN`).
    capable: bool,
    /// Marks or their absence require acknowledgements at once.
    urged: bool,
    /// Delay of the next acknowledgement; 0 before the first data (`ato`). And the shortest.
    wait: u64,
    least: u64,
    /// When data came last.
    last: u64,
    /// Taken for the peer's segment size (`rcv_mss`), and the size of the last smaller one.
    full: u32,
    odd: u32,
    /// The window as far as it has grown (`rcv_ssthresh`), and its bound (`window_clamp`).
    window: u64,
    bound: u64,
    /// The end of the window that was offered last (`rcv_wup` and `rcv_wnd`).
    edge: u64,
    buffer: Buffer,
    compression: Compression,
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
            buffer: Buffer::new(rules.start, space, half.min(10 * u64::from(rules.mss))),
            compression: Compression::default(),
        }
    }

    /// `tcp_incr_quickack`.
    fn quicken(&mut self, most: u8) {
        let half = (self.window / (2 * u64::from(self.full))).max(2);
        self.quick = self.quick.max(half.min(u64::from(most)) as u8);
    }

    /// `tcp_enter_quickack_mode`.
    fn hurry(&mut self, most: u8) {
        self.quicken(most);
        self.answers = false;
        self.wait = self.least;
    }

    /// `tcp_event_data_recv`: data came in order, while so much is held beyond a hole.
    #[inline(always)]
    fn on_data(&mut self, rules: &Adaptive, segment: &Segment, held: u64, timing: &Timing) {
        let len = segment.len;
        self.owed = true;
        self.time_trip(segment, timing);
        if len == self.full {
            self.odd = 0;
            self.small = self.small.max(u8::from(segment.pushes()));
        } else {
            self.measure(rules, len, segment.pushes());
        }
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

    /// `tcp_measure_rcv_mss`.
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

    /// What full segments as large as those seen fill of the buffer, in 1/256.
    fn ratio(&self, rules: &Adaptive) -> u64 {
        u64::from(rules.ratio * self.full / rules.segment).max(1)
    }

    /// `tcp_grow_window`: two segments more for a full one, as long as the buffer has room for more
    /// than it and what is `held` beyond a hole; while it grows, acknowledgements go out at once.
    #[inline(always)]
    fn grow(&mut self, rules: &Adaptive, len: u32, held: u64) {
        let free = self.buffer.space.saturating_sub(u64::from(len) + held).min(self.bound);
        if self.window < free && len >= self.full {
            let room = free - self.window;
            self.window += room.min(u64::from(2 * rules.segment.max(len)));
            self.quick |= 1;
        }
    }

    /// `tcp_in_quickack_mode`.
    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.answers
    }

    /// `__tcp_ack_snd_check`, and `__tcp_cleanup_rbuf` for a program that reads at once.
    fn is_due(&self, rules: &Adaptive, waiting: u64) -> bool {
        waiting > u64::from(rules.beyond * self.full)
            || self.is_quick()
            || self.small > u8::from(self.answers)
    }

    /// `tcp_send_delayed_ack`: how long the acknowledgement waits.
    #[inline]
    fn delay(&self, rules: &Adaptive, timing: &Timing) -> u64 {
        let wait = if self.wait > self.least { self.bounded(timing) } else { self.wait };
        wait.min(rules.longest)
    }

    /// By a round trip. (Other bounds there, HZ/5 and HZ/2, are no less than [`MOST`].)
    #[cold]
    fn bounded(&self, timing: &Timing) -> u64 {
        let srtt = timing.trip.srtt();
        if srtt > 0 { self.wait.min(srtt.max(self.least)) } else { self.wait }
    }

    /// `tcp_delack_timer_handler`: the acknowledgement waited in vain.
    fn on_waited(&mut self, trip: Trip) {
        if self.answers {
            self.answers = false;
            self.wait = self.least;
        } else {
            self.wait = (2 * self.wait).min(trip.rto()).min(MOST);
        }
    }

    /// `tcp_dec_quickack_mode`.
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

    /// `tcp_event_data_sent`: data that goes out soon after some came is an answer.
    fn on_data_sent(&mut self, now: Instant) {
        self.answers |= self.wait > 0 && jiffy(now) - self.last < self.wait;
    }
}

/// `TCP_DELACK_MAX`, HZ/5.
const MOST: u64 = 200;

fn millis(span: Duration) -> u64 {
    span.nanos() / 1_000_000
}
fn jiffy(now: Instant) -> u64 {
    now.nanos() / 1_000_000
}

/// When data came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing<'a> {
    pub trip: Trip<'a>,
    pub clock: HostClock,
    pub moment: Moment,
}

impl Trip<'_> {
    /// Timeout and smoothed round trip, jiffies.
    fn rto(&self) -> u64 {
        millis(self.rules.rto(self.rtt))
    }
    fn srtt(&self) -> u64 {
        self.rules.srtt(self.rtt).nanos().div_ceil(1_000_000)
    }
}

impl Receiver {
    /// In-order data came, and no hole is open, perhaps with a FIN.
    #[inline(never)]
    pub(super) fn adapt(
        &mut self,
        rules: &Adaptive,
        policy: &AckPolicy,
        segment: &Segment,
        timing: &Timing,
    ) {
        let waiting = self.next - self.acked;
        let Some(tempo) = self.tempo() else { return };
        if segment.len > 0 {
            tempo.on_data(rules, segment, 0, timing);
        }
        if segment.flags.has(Flags::FIN) {
            // `tcp_fin`: the program is taken to answer.
            (tempo.answers, tempo.owed) = (true, true);
        }
        let due = tempo.is_due(rules, waiting);
        let wait = tempo.delay(rules, timing);
        self.has_read(rules, timing.moment.at);
        if due {
            self.ack_now = true;
            return;
        }
        let ends = |wait| rules.wheel.end(timing.moment.at, Duration::from_millis(wait));
        let mut due = ends(wait);
        if policy.clock != AckClock::Connection {
            due = policy.due(timing.clock, timing.moment);
        }
        if self.ack_at == Instant::NEVER {
            self.ack_at = due;
        } else if self.ack_at <= ends(wait / 4) {
            // The timer is about to expire.
            self.ack_now = true;
        } else {
            self.ack_at = self.ack_at.min(due);
        }
    }

    /// What is more than data in order came. `true` if it was that and the peer's FIN, which waits
    /// like data; all else is acknowledged at once.
    #[cold]
    pub(super) fn adapt_to_other(
        &mut self,
        rules: &Adaptive,
        policy: &AckPolicy,
        segment: &Segment,
        timing: &Timing,
    ) -> bool {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        let in_order = start <= self.next && end > self.next;
        if (in_order || start == self.next) && end == self.fin && !self.has_hole() {
            self.next = end + 1;
            self.waiting = self.waiting.saturating_add(1);
            self.adapt(rules, policy, segment, timing);
            return true;
        }
        let beyond = start > self.next;
        let held = self.held_room();
        let Some(tempo) = self.tempo() else { return false };
        if in_order {
            tempo.on_data(rules, segment, held, timing);
        } else if beyond {
            if std::mem::take(&mut tempo.urged) {
                tempo.hurry(QUICK_AFTER_MARK);
            }
            // Without selective acknowledgements a window that grew would hide a duplicate one.
            if tempo.compression.agreed {
                tempo.grow(rules, segment.len, held);
            }
        } else {
            tempo.hurry(QUICK);
        }
        tempo.owed = true;
        false
    }

    /// Data goes out.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        // An answer needs something to answer.
        let received = self.next > 1;
        if let Some(tempo) = self.tempo()
            && received
        {
            tempo.on_data_sent(now);
        }
    }

    /// Both ends agreed, or did not, on selective acknowledgements.
    pub fn agree(&mut self, selective: bool) {
        if let Some(tempo) = self.tempo() {
            tempo.compression.agreed = selective;
        }
    }

    /// A delayed acknowledgement is due.
    pub fn on_ack_due(&mut self, trip: Trip) {
        self.ack_at = Instant::NEVER;
        self.ack_now = true;
        if let Some(tempo) = self.tempo()
            && tempo.owed
            && !tempo.compression.waits()
        {
            tempo.on_waited(trip);
        }
    }

    /// What data says of ECN, by RFC 3168's feedback (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`): a first
    /// mark, and a packet that cannot be marked after some that could, probably a repeat, make
    /// the next two acknowledgements quick; CWR is acknowledged at once, for the sender's window
    /// may be a single segment.
    pub fn on_ecn(&mut self, ecn: packet::Ecn, first_mark: bool, cwr: bool) {
        let Some(tempo) = self.tempo() else { return };
        let capable = ecn != packet::Ecn::NotEct;
        tempo.urged |= first_mark || !capable && tempo.capable;
        tempo.capable |= capable;
        self.ack_now |= cwr;
    }
}

#[cfg(test)]
mod tests;
