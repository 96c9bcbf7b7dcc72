//! The scoreboard: a record of every segment in flight, by number and by time of sending.

mod order;
mod run;

use packet::{Duration, Instant};

/// Number that stands for no record.
const NONE: u64 = u64::MAX;

/// A segment sent and not yet acknowledged cumulatively; as long as a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Record {
    pub seq: u64,
    /// Sequence number after the segment, a FIN counted.
    pub end: u64,
    /// When the segment was last sent, and the ordinal number of that transmission.
    pub at: Instant,
    pub turn: u64,
    /// Bytes that had been delivered when the segment was last sent.
    pub delivered: u64,
    /// Record numbers of the neighbours in the list by time of sending.
    pub(super) before: u64,
    pub(super) after: u64,
    /// Whether a selective acknowledgement has reported the segment.
    pub sacked: bool,
    pub lost: bool,
    /// Whether the segment was retransmitted, and the copy is not marked lost.
    pub resent: bool,
    /// Whether the segment was ever retransmitted.
    pub ever_resent: bool,
    /// RACK has found the segment lost: until it is retransmitted RACK does not check it again,
    /// even if the loss turns out to be spurious (Linux's `tcp_rack_detect_loss` takes it off its
    /// list).
    pub overtaken: bool,
    pub fin: bool,
    /// Whether the segment was handed down in one packet (TSO) with the segment before it.
    pub joined: bool,
}

impl Record {
    /// The record of a QUIC packet, which the sampler of delivery rates needs.
    pub fn of_packet(number: u64, bytes: u64, at: Instant, delivered: u64) -> Self {
        Record { end: bytes, at, turn: number, delivered, ..Record::default() }
    }

    pub fn bytes(&self) -> u64 {
        self.end - self.seq
    }

    /// Whether a SACK block up to `end` that begins at or before the segment covers its data, or
    /// its FIN if it has no data: not every receiver reports a FIN after data.
    pub fn is_reported(&self, end: u64) -> bool {
        let data_end = self.end - u64::from(self.fin);
        if self.seq < data_end { data_end <= end } else { self.end <= end }
    }

    /// Bytes of the segment's copies in flight (RFC 6675's pipe).
    fn in_flight(&self) -> u64 {
        let copies = u64::from(!self.lost) + u64::from(self.resent);
        if self.sacked { 0 } else { copies * self.bytes() }
    }

    /// RFC 8985 section 6.2, step 2: the first copy has arrived, not the retransmission, if the
    /// round trip would be shorter than any. (An older echoed timestamp shows this too, but as in
    /// Linux only for cumulative acknowledgements: a SACK report echoes the last segment in order,
    /// not the one reported.)
    pub fn answers_first_copy(&self, min_rtt: Duration, now: Instant) -> bool {
        self.ever_resent && now.since(self.at) < min_rtt
    }

    /// Whether the segment is lost and waits for its retransmission.
    fn waits(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }

    /// Whether a copy of the segment is presumed to be in flight.
    pub fn travels(&self) -> bool {
        !self.sacked && (!self.lost || self.resent)
    }

    /// Whether the record is in the list by time of sending.
    fn is_listed(&self) -> bool {
        self.travels() && !self.overtaken
    }
}

/// The records of one connection: a ring in the order of sequence numbers, and a linked list of the
/// segments in flight by time of sending (RFC 8985 section 5.1 needs both orders).
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    ring: Vec<Record>,
    /// Number of the first record.
    first: u64,
    /// Number of the next record to come.
    next: u64,
    /// Number of transmissions so far.
    turns: u64,
    /// First and last record of the list by time of sending.
    oldest: u64,
    newest: u64,
    /// Bytes of the records in flight, by acknowledgements and SACK blocks.
    records: u64,
    /// Bytes in flight: `records` less `dupack_bytes`.
    pub in_flight: u64,
    /// Segments that, without SACK, duplicate acknowledgements show to have arrived.
    pub dupacks: u32,
    /// Bytes of these segments.
    dupack_bytes: u64,
    /// Number of segments reported by SACK and not acknowledged cumulatively.
    pub sacked: u32,
    /// Number of segments marked lost and not retransmitted since.
    pub waiting: u32,
    /// No record with a smaller number waits for its retransmission.
    hint: u64,
    /// No record with this or a higher number was reported by SACK, marked lost or retransmitted.
    untouched: u64,
}

impl Scoreboard {
    /// Prefetches into the processor's cache the record of the oldest segment, which the next
    /// acknowledgement needs.
    #[inline]
    pub fn fetch(&self) {
        if let Some(last) = self.ring.len().checked_sub(1) {
            prefetch::prefetch(&self.ring[self.first as usize & last]);
        }
    }

    pub fn new() -> Self {
        Scoreboard {
            ring: Vec::new(),
            first: 0,
            next: 0,
            turns: 0,
            oldest: NONE,
            newest: NONE,
            records: 0,
            in_flight: 0,
            dupacks: 0,
            dupack_bytes: 0,
            sacked: 0,
            waiting: 0,
            hint: 0,
            untouched: 0,
        }
    }

    /// Resets the scoreboard, keeping the heap buffer.
    pub fn reset(&mut self) {
        let ring = std::mem::take(&mut self.ring);
        *self = Scoreboard { ring, ..Scoreboard::new() };
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }
    pub fn get(&self, number: u64) -> &Record {
        &self.ring[self.slot(number)]
    }
    fn get_mut(&mut self, number: u64) -> &mut Record {
        let slot = self.slot(number);
        &mut self.ring[slot]
    }

    /// Sets the number of segments of `mss` bytes that duplicates show to have arrived.
    pub fn set_dupacks(&mut self, segments: u32, mss: u64) {
        (self.dupacks, self.dupack_bytes) = (segments, u64::from(segments) * mss);
        self.count(0, 0);
    }

    /// Counts bytes of records that enter the network, and bytes that leave it.
    #[inline]
    fn count(&mut self, enter: u64, leave: u64) {
        self.records = self.records + enter - leave;
        self.in_flight = self.records.saturating_sub(self.dupack_bytes);
    }

    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }
    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.next - self.first
    }
    /// Number of the oldest record.
    pub fn first(&self) -> u64 {
        self.first
    }
    /// When the first record's segment was last sent.
    pub fn first_sent_at(&self) -> Option<Instant> {
        (!self.is_empty()).then(|| self.get(self.first).at)
    }
    /// Number of the newest record: records are numbered in the order in which they were added.
    /// `None` if there is none.
    pub fn last(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.next - 1)
    }

    /// Adds the record of a new segment.
    #[inline(always)]
    pub fn push(&mut self, record: Record) {
        if self.len() == self.ring.len() as u64 {
            self.grow();
        }
        let number = self.next;
        self.next += 1;
        self.turns += 1;
        *self.get_mut(number) = Record { turn: self.turns, ..record };
        self.count(record.bytes(), 0);
        self.link(number);
    }

    #[cold]
    fn grow(&mut self) {
        let longer = (2 * self.ring.len()).max(16);
        let mut ring = vec![Record::default(); longer];
        for number in self.first..self.next {
            ring[number as usize & (longer - 1)] = *self.get(number);
        }
        self.ring = ring;
    }

    /// The first record, if all of it is below `ack`.
    #[inline]
    pub fn first_below(&self, ack: u64) -> Option<&Record> {
        if self.is_empty() {
            return None;
        }
        Some(self.get(self.first)).filter(|record| record.end <= ack)
    }

    /// Removes the first record.
    #[inline]
    pub fn pop_first(&mut self) {
        let record = *self.get(self.first);
        self.leave(self.first, &record);
        self.sacked -= u32::from(record.sacked);
        self.first += 1;
    }

    /// Takes a record out of the sums and the list, since its segment has arrived.
    fn leave(&mut self, number: u64, record: &Record) {
        self.count(0, record.in_flight());
        if record.is_listed() {
            self.unlink(number);
        } else if record.waits() {
            self.waiting -= 1;
        }
    }

    /// Marks a record as reported; returns it as it was.
    pub fn report(&mut self, number: u64) -> Record {
        let record = *self.get(number);
        self.leave(number, &record);
        self.sacked += 1;
        self.touch(number);
        let record_now = self.get_mut(number);
        (record_now.sacked, record_now.lost, record_now.resent) = (true, false, false);
        record
    }

    /// Marks a segment lost: its copy in flight counts no longer, and the segment waits for its
    /// retransmission.
    pub fn mark_lost(&mut self, number: u64) {
        let record = *self.get(number);
        if record.is_listed() {
            self.unlink(number);
        }
        self.count(0, record.in_flight());
        self.waiting += 1;
        self.hint = if self.waiting == 1 { number } else { self.hint.min(number) };
        self.touch(number);
        let record = self.get_mut(number);
        (record.lost, record.resent) = (true, false);
    }

    /// Notes that RACK has found the segment lost.
    pub fn take_off(&mut self, number: u64) {
        self.get_mut(number).overtaken = true;
    }

    /// Records a retransmission: of the first record that waits for it, or of one in flight.
    pub fn resend(&mut self, number: u64, at: Instant, delivered: u64) {
        let old = *self.get(number);
        if old.is_listed() {
            self.unlink(number);
        } else if old.waits() {
            self.waiting -= 1;
            self.hint = number + 1;
        }
        self.turns += 1;
        let turn = self.turns;
        let record = self.get_mut(number);
        (record.resent, record.ever_resent, record.overtaken) = (true, true, false);
        (record.at, record.turn, record.delivered) = (at, turn, delivered);
        let now = record.in_flight();
        self.count(now, old.in_flight());
        self.link(number);
        self.touch(number);
    }

    /// Whether any segment marked lost is still unacknowledged, retransmitted or not. Scans the
    /// whole window.
    #[cold]
    pub fn has_lost(&self) -> bool {
        (self.first..self.next)
            .map(|number| self.get(number))
            .any(|record| record.lost && !record.sacked)
    }

    /// Number of segments marked lost, and of segments retransmitted and not marked lost since.
    pub fn lost_and_resent(&self) -> (u64, u64) {
        let records = (self.first..self.next).map(|number| self.get(number));
        records.filter(|record| !record.sacked).fold((0, 0), |(lost, resent), record| {
            (lost + u64::from(record.lost), resent + u64::from(record.resent))
        })
    }

    /// Removes all marks of loss: the segments are presumed in flight again. Records that a timeout
    /// had marked return to their places in the list by time of sending.
    pub fn unmark_lost(&mut self) {
        let mut behind = NONE;
        for number in self.first..self.next {
            let record = *self.get(number);
            if !record.lost || record.sacked {
                continue;
            }
            if !record.resent {
                self.waiting -= 1;
            }
            if !record.resent && !record.overtaken {
                self.insert(number, behind);
                behind = number;
            }
            let record_now = self.get_mut(number);
            record_now.lost = false;
            self.count(record.bytes(), 0);
        }
    }

    /// The first record that is lost and not retransmitted.
    pub fn first_waiting(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        let from = self.hint.max(self.first);
        (from..self.next).find(|&number| self.get(number).waits())
    }

    /// Takes record `number`, and the lost ones after it from the same burst, `most` segments at
    /// most, for a burst of retransmissions. Returns their bytes of data and their number.
    pub fn take_run(&mut self, number: u64, most: u64) -> (u64, u64) {
        let behind = |&next: &u64| self.get(next).joined && self.get(next).waits();
        let end = (number + 1..self.next.min(number + most)).find(|next| !behind(next));
        let end = end.unwrap_or(self.next.min(number + most));
        let data = |number| self.get(number).bytes() - u64::from(self.get(number).fin);
        let bytes = (number..end).map(data).sum();
        self.get_mut(number).joined = false;
        if end < self.next {
            self.get_mut(end).joined = false;
        }
        (bytes, end - number)
    }

    /// Number of the first record that ends above `seq`.
    pub fn find(&self, seq: u64) -> u64 {
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).end > seq {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
    /// The number that the next record will get.
    pub fn end(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests;
