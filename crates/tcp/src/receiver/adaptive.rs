//! When Linux acknowledges in-order data (`tcp_input.c`, `tcp_output.c`, `tcp_timer.c` of Linux): at
//! once while a connection is young, while its window can still grow, and after marks, repeats and
//! long gaps; else every second full segment, or after a delay that follows the pace of arrivals. A
//! connection that answers what it receives (ping-pong mode) lets its answers acknowledge.
//!
//! The model's program reads all data at once.

mod buffer;
mod compression;
mod tempo;
mod window;

use packet::{Duration, Instant};

pub(crate) use self::buffer::Growth;
pub(crate) use self::compression::Compress;
use self::tempo::{QUICK, QUICK_AFTER_MARK};
pub(super) use self::tempo::{Tempo, Timing};
pub(crate) use self::window::Offer;
use super::{AckClock, AckPolicy, Receiver, Trip};
use crate::segment::{Flags, Segment};
use crate::timer_wheel::TimerWheel;

/// Linux's rules of acknowledging, with the settings of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adaptive {
    /// More than this number of full segments are acknowledged at once.
    pub beyond: u32,
    /// Payload of a full segment, bytes.
    pub segment: u32,
    /// TCP header of a full segment, bytes.
    pub header: u32,
    /// The MSS that the SYN announces less the timestamps option (`advmss`), bytes.
    pub mss: u32,
    /// Initial receive buffer, bytes.
    pub start: u64,
    /// Largest receive buffer, bytes.
    pub buffer: u64,
    /// Share of the buffer that the payload of full segments fills, in 1/256 (`scaling_ratio`).
    pub ratio: u32,
    pub growth: Growth,
    /// Window scale: the number of bits by which the window is shifted in a header.
    pub scale: u8,
    /// Shortest delay of an acknowledgement (`TCP_ATO_MIN`), ms.
    pub least: u64,
    /// Longest delay of an acknowledgement (`tcp_delack_max`), ms.
    pub longest: u64,
    pub compress: Compress,
    /// Timer wheel that rounds the end of a delay (`sk_reset_timer`).
    pub wheel: TimerWheel,
}

impl Adaptive {
    /// Payload for which a buffer of `bytes` has room, if payload fills `ratio`/256 of it; at least
    /// two segments, or nothing would ever be sent (Linux's senders make smaller segments).
    fn space(&self, bytes: u64, ratio: u64) -> u64 {
        ((bytes * ratio) >> 8).max(2 * u64::from(self.mss))
    }
}

impl Receiver {
    /// Processes in-order data, perhaps with a FIN, while no hole is open.
    #[inline(never)]
    pub(super) fn adapt(
        &mut self,
        rules: &Adaptive,
        policy: &AckPolicy,
        segment: &Segment,
        timing: &Timing,
    ) {
        let (next, waiting) = (self.next, self.next - self.acked);
        let Some(tempo) = self.tempo() else { return };
        if segment.len > 0 {
            tempo.on_data(rules, segment, 0, timing);
        }
        if segment.flags.has(Flags::FIN) {
            // `tcp_fin`: enters ping-pong mode, as the program is expected to answer.
            (tempo.answers, tempo.owed) = (true, true);
        }
        tempo.on_read(rules, next, timing.moment.at);
        if tempo.is_due(rules, waiting) {
            self.ack_now = true;
            return;
        }
        let wait = tempo.delay(rules, timing);
        let ends = |wait| rules.wheel.end(timing.moment.at, Duration::from_millis(wait));
        let mut due = ends(wait);
        if policy.clock != AckClock::Connection {
            due = policy.due(timing.clock, timing.moment);
        }
        if self.ack_at == Instant::NEVER {
            self.ack_at = due;
        } else if self.ack_at <= ends(wait / 4) {
            // The timer of an earlier delay is about to expire: the acknowledgement goes out now.
            self.ack_now = true;
        } else {
            self.ack_at = self.ack_at.min(due);
        }
    }

    /// Processes a segment that is not just data in order. Returns `true` if it is in order with
    /// the peer's FIN, whose acknowledgement is delayed like that of data; everything else is
    /// acknowledged at once.
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
            if rules.growth == Growth::RcvbufGrow {
                // In Linux 7.3 `tcp_data_queue_ofo` measures the segment size too.
                tempo.size_up(rules, segment);
            }
            // Without SACK, an acknowledgement with a larger window would not count as a duplicate.
            if tempo.compression.agreed {
                tempo.grow(rules, segment.len, held);
            }
        } else {
            tempo.hurry(QUICK);
        }
        tempo.owed = true;
        false
    }

    /// Called when this end sends data.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        // Data is an answer only if data was received before.
        let received = self.next > 1;
        if let Some(tempo) = self.tempo()
            && received
        {
            tempo.on_data_sent(now);
        }
    }

    /// Sets whether both ends agreed on selective acknowledgements.
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

    /// Processes the ECN field of data with RFC 3168's feedback (`__tcp_ecn_check_ce`,
    /// `tcp_ecn_accept_cwr`). A first mark makes the next two acknowledgements quick, and so does a
    /// Not-ECT packet after ECN-capable ones, probably a retransmission. CWR is acknowledged at
    /// once, since the sender's window may be a single segment.
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
