//! The receiving side: what has arrived, and when to acknowledge it.

mod adaptive;
mod in_order;

use packet::{Duration, Instant};

use crate::clock::{HostClock, Moment};
use crate::ecn::{MarksSeen, Memory};
use crate::rtt::{Rtt, RttRules};
use crate::segment::{Flags, SackBlocks, Segment};
pub(crate) use adaptive::{Adaptive, Compress, Growth, Offer};
use adaptive::{Tempo, Timing};

/// When in-order data is acknowledged. Data out of order, duplicates, data that fills a hole, and a
/// FIN are acknowledged at once by every policy, except that of Linux, which may delay some of
/// these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckPolicy {
    /// How much in-order data is acknowledged at once.
    pub at_once: AtOnce,
    /// Period of the clock at whose ticks delayed acknowledgements go out, or their longest delay.
    pub delay: Duration,
    pub clock: AckClock,
    /// The first segment of data is acknowledged at once, whatever `at_once` says.
    pub first: bool,
    /// Duplicate data is reported (RFC 2883), and a FIN beyond a hole is kept and reported like a
    /// byte.
    pub duplicates: bool,
}

/// How much in-order data is acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtOnce {
    /// The given number of bytes (FreeBSD 2.2).
    Bytes(u64),
    /// The given number of segments, whatever their size (RFC 1122 section 4.2.3.2).
    Segments(u8),
    /// The rules of Linux, which follow the pace of arrivals.
    Adaptive(Adaptive),
}

/// The connection's estimate of its round-trip time, with the estimator's rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trip<'a> {
    pub rules: &'a RttRules,
    pub rtt: &'a Rtt,
}

/// When a delayed acknowledgement goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckClock {
    /// The next tick of the host's clock (4.4BSD).
    Host,
    /// The connection's own delayed-acknowledgement timer, which starts when data arrives of which
    /// the acknowledgement is delayed.
    Connection,
    /// The next tick of a clock that all hosts share (ns-2's FullTcp).
    Common,
}

impl AckPolicy {
    fn due(&self, clock: HostClock, moment: Moment) -> Instant {
        match self.clock {
            AckClock::Host => clock.fast(self.delay).next_fast(moment),
            AckClock::Connection => moment.at + self.delay,
            AckClock::Common => HostClock::common(self.delay).next_fast(moment),
        }
    }
}

/// A range that arrived beyond a hole; `stamp` orders ranges by their latest arrival.
#[derive(Clone, Copy, Debug)]
struct Held {
    start: u64,
    end: u64,
    stamp: u64,
}

/// State that only some receivers need: data beyond a hole, ECN counters, Linux's rules.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Ranges received beyond a hole, ascending; adjacent ones are merged.
    held: Vec<Held>,
    /// Bytes in these ranges.
    bytes: u64,
    /// Number of arrivals beyond a hole, from which the ranges take their stamps.
    arrivals: u64,
    /// A range that arrived twice and is not reported yet.
    duplicate: Option<(u64, u64)>,
    marks: Memory,
    /// State of the rules of [`AtOnce::Adaptive`]; `None` with other rules.
    tempo: Option<Tempo>,
}

/// Receive state of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Next sequence number expected: everything below has arrived.
    pub next: u64,
    /// The acknowledgement number last sent.
    acked: u64,
    /// Sequence number of the peer's FIN; `u64::MAX` before it has arrived.
    fin: u64,
    /// When a delayed acknowledgement is due.
    pub ack_at: Instant,
    /// An acknowledgement is due now.
    pub ack_now: bool,
    /// The last segment with new data was marked (used by RFC 3168's echo only).
    pub last_marked: bool,
    /// A peer that sends no FIN has closed, and all its data has arrived.
    pub peer_closed: bool,
    /// Number of data segments that wait for an acknowledgement.
    waiting: u8,
    /// The timestamp to echo (TS.Recent of RFC 7323).
    pub recent: u32,
    /// State that only some receivers need, on the heap: `None` until the first loss, which most
    /// connections never see; always present with [`AtOnce::Adaptive`].
    beyond: Option<Box<Beyond>>,
}

impl Receiver {
    pub fn new() -> Self {
        Receiver {
            next: 0,
            acked: 0,
            fin: u64::MAX,
            ack_at: Instant::NEVER,
            ack_now: false,
            last_marked: false,
            peer_closed: false,
            waiting: 0,
            recent: 0,
            beyond: None,
        }
    }

    /// Resets the receiver for this policy, keeping the heap buffers.
    pub fn reset(&mut self, policy: &AckPolicy) {
        let mut beyond = self.beyond.take();
        if let Some(beyond) = &mut beyond {
            beyond.held.clear();
            (beyond.bytes, beyond.arrivals) = (0, 0);
            beyond.duplicate = None;
            beyond.marks = Memory::default();
            beyond.tempo = None;
        }
        if let AtOnce::Adaptive(rules) = &policy.at_once {
            beyond.get_or_insert_default().tempo = Some(Tempo::new(rules));
        }
        *self = Receiver { beyond, ..Receiver::new() };
    }

    /// Prefetches into the processor's cache the receiver's state on the heap.
    #[inline]
    pub fn fetch(&self) {
        if let Some(beyond) = &self.beyond {
            prefetch::prefetch(&**beyond);
        }
    }

    #[inline]
    fn tempo(&mut self) -> Option<&mut Tempo> {
        self.beyond.as_mut()?.tempo.as_mut()
    }

    fn held(&self) -> &[Held] {
        self.beyond.as_ref().map_or(&[], |beyond| &beyond.held)
    }

    /// The peer's SYN has arrived; the answer goes out at once.
    pub fn open(&mut self) {
        self.next = 1;
        self.ack_now = true;
    }

    /// Whether the peer's FIN has arrived in order.
    pub fn closed(&self) -> bool {
        self.next > self.fin
    }

    /// Payload bytes that arrived in order.
    pub fn delivered(&self) -> u64 {
        self.next.saturating_sub(1 + u64::from(self.closed()))
    }

    /// Processes the payload and FIN of a segment (its SYN already removed).
    pub fn on_data(
        &mut self,
        segment: &Segment,
        policy: &AckPolicy,
        trip: Trip,
        clock: HostClock,
        moment: Moment,
    ) {
        let start = segment.seq;
        let end = start + u64::from(segment.len);
        let fin = segment.flags.has(Flags::FIN);
        if fin {
            self.fin = end;
        }
        let in_order = start <= self.next && end > self.next;
        if !fin && self.expects(segment) {
            return self.take_next(segment, policy, trip, clock, moment);
        }
        let timing = Timing { trip, clock, moment };
        if let AtOnce::Adaptive(rules) = &policy.at_once
            && self.adapt_to_other(rules, policy, segment, &timing)
        {
            return;
        }
        // Out of order, duplicate, filling a hole, or with a FIN: acknowledged at once.
        let ack_was_due = std::mem::replace(&mut self.ack_now, true);
        // Linux keeps and reports a FIN beyond a hole like a byte.
        let reached = end + u64::from(fin && policy.duplicates);
        if policy.duplicates {
            self.note_duplicate(start, reached);
        }
        if in_order {
            self.next = end;
            self.absorb();
        } else if start > self.next && reached > start {
            self.hold(start, reached);
            if let AtOnce::Adaptive(rules) = &policy.at_once {
                self.has_held(rules);
            }
        }
        if self.next == self.fin {
            self.next += 1;
            // `tcp_fin`: once the FIN has arrived in order, no duplicate is left to report.
            if let Some(beyond) = &mut self.beyond {
                beyond.duplicate = None;
            }
        }
        if let AtOnce::Adaptive(rules) = &policy.at_once {
            self.has_read(rules, moment.at);
            if !ack_was_due {
                self.compress(rules, &timing);
            }
        }
    }

    /// Notes the first part of `start..end` that had arrived before (RFC 2883 section 4).
    #[cold]
    fn note_duplicate(&mut self, start: u64, end: u64) {
        let below = (start, self.next.min(end));
        let overlaps = |h: &&Held| h.start < end && start < h.end;
        let held = self.held().iter().find(overlaps);
        let held = held.map(|h| (h.start.max(start), h.end.min(end)));
        let twice = Some(below).filter(|(from, to)| to > from).or(held);
        if twice.is_some() {
            let known = end <= self.next;
            let beyond = self.beyond.get_or_insert_default();
            beyond.duplicate = twice;
            if known {
                beyond.marks.note_repeated(start);
            }
        }
    }

    /// Takes the timestamp to echo (RFC 7323 section 4.3) from a segment that begins at or below
    /// the number last acknowledged, unless it is older than the known one. Returns whether it is
    /// newer.
    pub fn on_stamp(&mut self, segment: &Segment) -> bool {
        let newer = segment.stamp.wrapping_sub(self.recent);
        if segment.seq > self.acked || newer >= 1 << 31 {
            return false;
        }
        self.recent = segment.stamp;
        newer > 0
    }

    /// Moves `next` over the held ranges that it has reached.
    fn absorb(&mut self) {
        let Some(beyond) = &mut self.beyond else { return };
        let reached = beyond.held.iter().take_while(|h| h.start <= self.next).count();
        for h in beyond.held.drain(..reached) {
            self.next = self.next.max(h.end);
            beyond.bytes -= h.end - h.start;
        }
    }

    fn hold(&mut self, mut start: u64, mut end: u64) {
        let Beyond { held, bytes, arrivals, .. } = &mut **self.beyond.get_or_insert_default();
        let first = held.partition_point(|h| h.end < start);
        let last = held.partition_point(|h| h.start <= end);
        if first < last {
            start = start.min(held[first].start);
            end = end.max(held[last - 1].end);
        }
        *arrivals += 1;
        let known: u64 = held[first..last].iter().map(|h| h.end - h.start).sum();
        *bytes += end - start - known;
        let merged = Held { start, end, stamp: *arrivals };
        held.splice(first..last, [merged]);
    }

    /// The SACK blocks of an acknowledgement; a duplicate is reported once only.
    pub fn report(&mut self) -> SackBlocks {
        let mut blocks = self.sack_blocks();
        let next = self.next;
        let duplicate = self.beyond.as_mut().and_then(|beyond| beyond.duplicate.take());
        if let Some((start, end)) = duplicate {
            blocks.set_duplicate(start, end, next);
        }
        blocks
    }

    /// Up to three held ranges, the one that grew last first (RFC 2018 section 4).
    fn sack_blocks(&self) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let mut before = u64::MAX;
        for _ in 0..self.held().len().min(3) {
            let latest = self.held().iter().filter(|h| h.stamp < before).max_by_key(|h| h.stamp);
            let Some(h) = latest else { break };
            blocks.push((h.start - self.next) as u32, (h.end - self.next) as u32);
            before = h.stamp;
        }
        blocks
    }

    pub fn marks(&mut self) -> &mut Memory {
        &mut self.beyond.get_or_insert_default().marks
    }

    /// Whether packets must not be sent ECN-capable ([`Memory::is_incapable`]).
    pub fn is_incapable(&self) -> bool {
        self.beyond.as_ref().is_some_and(|beyond| beyond.marks.is_incapable())
    }

    /// The counters of ECN marks.
    pub fn marks_seen(&self) -> MarksSeen {
        self.beyond.as_ref().map_or(MarksSeen::default(), |beyond| beyond.marks.seen())
    }

    /// Whether in-order data waits for its acknowledgement.
    pub fn owes_ack(&self) -> bool {
        self.waiting > 0
    }

    /// Whether there is a held range or a duplicate to report.
    #[inline]
    pub fn has_report(&self) -> bool {
        let telling = |beyond: &Beyond| !beyond.held.is_empty() || beyond.duplicate.is_some();
        self.beyond.as_deref().is_some_and(telling)
    }

    /// Whether data beyond a hole is held.
    pub fn has_hole(&self) -> bool {
        !self.held().is_empty()
    }

    /// A segment with the current acknowledgement is sent; `syn`: it has a SYN. Returns the receive
    /// window that it offers, if this receiver's window changes.
    #[inline]
    pub fn on_ack_sent(&mut self, policy: &AckPolicy, syn: bool) -> Option<Offer> {
        let next = self.next;
        let offered = self.beyond.as_mut().and_then(|beyond| beyond.offer(policy, next, syn));
        self.acked = self.next;
        self.ack_now = false;
        self.ack_at = Instant::NEVER;
        self.waiting = 0;
        offered
    }
}

#[cfg(test)]
mod tests;
