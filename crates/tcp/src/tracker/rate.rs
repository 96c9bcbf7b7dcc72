//! Delivery-rate sampling: draft-ietf-ccwg-bbr, section "Delivery Rate Samples" (earlier
//! draft-cheng-iccrg-delivery-rate-estimation).

use packet::{Duration, Instant};

use super::scoreboard::Record;
use crate::congestion::{Lost, RateSample};

/// The state of the sampler when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    pub delivered: u64,
    pub delivered_at: Instant,
    /// When the first segment of the segment's flight was sent.
    pub first_at: Instant,
    /// Bytes in flight, this segment included.
    pub in_flight: u64,
    pub lost: u64,
    pub app_limited: bool,
}

/// The sampler of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rate {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes lost so far.
    pub lost: u64,
    delivered_at: Instant,
    first_at: Instant,
    /// Samples are application-limited until this number of bytes is delivered; 0 if they are not.
    app_limited: u64,
    /// Since when the program has left the sender with nothing to send.
    dry_since: Option<Instant>,
    /// The control needs samples.
    sampling: bool,
    /// Ring of the snapshots of the segments in flight, by number; unused without sampling.
    ring: Vec<Snapshot>,
}

/// Of the segments that an acknowledgement delivers, the one sent last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    at: Instant,
    turn: u64,
    /// Bytes that had been delivered when the segment was sent.
    pub prior_delivered: u64,
    /// The snapshot when the segment was sent; `None` without sampling.
    snapshot: Option<Snapshot>,
}

impl Rate {
    /// A sampler that takes samples only if `sampling`.
    pub fn new(sampling: bool) -> Self {
        Rate { sampling, ..Rate::default() }
    }

    /// A new sampler in the memory of this one.
    pub fn renewed(self, sampling: bool) -> Self {
        Rate { ring: self.ring, ..Rate::new(sampling) }
    }

    /// Switches sampling on or off, for another control.
    pub fn enable(&mut self, sampling: bool) {
        self.sampling = sampling;
    }

    /// A segment is sent; `in_flight`: bytes in flight without it. `first`: it begins a flight. In
    /// TCP this is so if no sent data is unacknowledged (Linux's `packets_out`: data that a timeout
    /// marks lost may still arrive, and a flight that began at its retransmission would be too
    /// short); in QUIC, if nothing is in flight (the draft).
    #[inline(always)]
    pub fn begin(&mut self, in_flight: u64, first: bool, now: Instant) {
        if first {
            (self.first_at, self.delivered_at) = (now, now);
        }
        if let Some(since) = self.dry_since.take()
            && since < now
        {
            self.app_limited = (self.delivered + in_flight).max(1);
        }
    }

    /// Whether samples are application-limited, so that they say nothing of the path.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// The snapshot for a segment that is sent now; `in_flight`: bytes in flight with it.
    fn snapshot(&self, in_flight: u64) -> Snapshot {
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            in_flight,
            lost: self.lost,
            app_limited: self.is_app_limited(),
        }
    }

    /// Keeps the snapshot of segment `number`, which is sent now; `in_flight`: bytes in flight with
    /// it; `first`: number of the first segment in flight.
    #[inline]
    pub fn note(&mut self, first: u64, number: u64, in_flight: u64) {
        if !self.sampling {
            return;
        }
        if number - first >= self.ring.len() as u64 {
            self.grow(first, number);
        }
        let slot = self.slot(number);
        self.ring[slot] = self.snapshot(in_flight);
    }

    #[cold]
    fn grow(&mut self, first: u64, number: u64) {
        let longer = (number - first + 1).next_power_of_two().max(16) as usize;
        let mut ring = vec![Snapshot::default(); longer];
        for known in number.saturating_sub(self.ring.len() as u64).max(first)..number {
            ring[known as usize & (longer - 1)] = self.ring[self.slot(known)];
        }
        self.ring = ring;
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// The snapshot of a segment in flight; `None` without sampling.
    #[inline]
    pub fn snapshot_of(&self, number: u64) -> Option<Snapshot> {
        (self.sampling && !self.ring.is_empty()).then(|| self.ring[self.slot(number)])
    }

    /// Counts a segment of `bytes` as lost; `sent`: its snapshot. Returns the description of the
    /// loss for the control.
    pub fn lose(&mut self, sent: Option<Snapshot>, bytes: u64, now: Instant) -> Lost {
        let sent = sent.unwrap_or_default();
        self.lost += bytes;
        Lost {
            now,
            bytes,
            sent_in_flight: sent.in_flight,
            lost: self.lost - sent.lost,
            total_delivered: self.delivered,
            app_limited: sent.app_limited,
        }
    }

    /// Notes that nothing is left to send although the window has room.
    pub fn run_dry(&mut self, now: Instant) {
        self.dry_since.get_or_insert(now);
    }

    /// Counts the segment of this number as delivered.
    #[inline]
    pub fn deliver(
        &mut self,
        number: u64,
        record: &Record,
        newest: &mut Option<Newest>,
        now: Instant,
    ) {
        self.delivered += record.bytes();
        self.delivered_at = now;
        let later = newest.is_none_or(|n| record.turn > n.turn);
        if later {
            *newest = Some(Newest {
                at: record.at,
                turn: record.turn,
                prior_delivered: record.delivered,
                snapshot: self.snapshot_of(number),
            });
            self.first_at = record.at;
        }
    }

    /// The delivery-rate sample of an acknowledgement; `newest`: of the segments that it delivers,
    /// the one sent last. `None` without such a segment, if sampling is off, or if the sample's
    /// interval is zero or shorter than `min_rtt`.
    pub fn sample(
        &mut self,
        newest: Option<Newest>,
        min_rtt: Duration,
        now: Instant,
    ) -> Option<RateSample> {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let Newest { at, snapshot, .. } = newest?;
        let snapshot = snapshot?;
        let sending = at.since(snapshot.first_at);
        let acknowledging = now.since(snapshot.delivered_at);
        let interval = sending.max(acknowledging);
        (interval >= min_rtt && interval > Duration::ZERO).then_some(RateSample {
            delivered: self.delivered - snapshot.delivered,
            interval,
            prior_delivered: snapshot.delivered,
            total_delivered: self.delivered,
            sent_in_flight: snapshot.in_flight,
            lost: self.lost - snapshot.lost,
            app_limited: snapshot.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Sends a segment of 1,000 B, whose number is that of its transmission.
    fn send(rate: &mut Rate, turn: u64, in_flight: u64, now: Instant) -> Record {
        rate.begin(in_flight, in_flight == 0, now);
        rate.note(turn.saturating_sub(20), turn, in_flight + 1_000);
        Record { turn, end: 1_000, at: now, delivered: rate.delivered, ..Record::default() }
    }

    /// Sends segments of 1,000 B every 10 ms, with one pause if set, and delivers each 50 ms later.
    /// Returns the samples' rates, B/s, and whether each is application-limited.
    fn rates(pause_before: u64) -> Vec<(u64, bool)> {
        let mut rate = Rate::new(true);
        let mut records = Vec::new();
        let mut rates = Vec::new();
        let mut in_flight = 0;
        for slot in 0..40 {
            let now = at(10 * slot);
            if slot >= 5 && !records.is_empty() {
                let record: Record = records.remove(0);
                if record.at + Duration::from_millis(50) <= now {
                    let mut newest = None;
                    in_flight -= 1_000;
                    rate.deliver(record.turn, &record, &mut newest, now);
                    let sample = rate.sample(newest, Duration::from_millis(50), now);
                    if let Some(sample) = sample {
                        let per_s = sample.delivered * 1_000_000_000 / sample.interval.nanos();
                        rates.push((per_s, sample.app_limited));
                    }
                } else {
                    records.insert(0, record);
                }
            }
            if pause_before != 0 && slot + 1 == pause_before {
                rate.run_dry(now);
                continue;
            }
            records.push(send(&mut rate, slot + 1, in_flight, now));
            in_flight += 1_000;
        }
        rates
    }

    #[test]
    fn a_steady_flow_is_measured_at_its_rate() {
        let rates = rates(0);
        assert!(rates.len() > 30);
        assert!(rates[6..].iter().all(|&r| r == (100_000, false)), "{rates:?}");
    }

    #[test]
    fn what_is_sent_after_a_pause_of_the_program_is_marked() {
        let rates = rates(20);
        let marked = rates.iter().filter(|r| r.1).count();
        // Application-limited are samples until the data in flight when the program resumed (four
        // segments) is delivered, and of what was sent meanwhile.
        assert!((4..=6).contains(&marked), "{rates:?}");
    }

    #[test]
    fn acknowledgements_that_come_together_do_not_raise_the_rate() {
        // One segment sent at 0 and delivered at 50 ms; ten more sent every 10 ms from 60 ms on and
        // acknowledged 1 ms apart. The last sample has 11,000 B (one more segment was in flight) in
        // a sending interval of 150 ms; the acknowledging interval is 110 ms.
        let mut rate = Rate::new(true);
        let first = send(&mut rate, 0, 0, at(0));
        let second = send(&mut rate, 1, 1_000, at(0));
        rate.deliver(0, &first, &mut None, at(50));
        let rest: Vec<_> =
            (2..12).map(|t| send(&mut rate, t, 1_000 * (t - 1), at(40 + 10 * t))).collect();
        rate.deliver(1, &second, &mut None, at(150));
        let mut last = None;
        for (turn, record) in rest.iter().enumerate() {
            let (mut newest, now) = (None, at(151 + turn as u64));
            rate.deliver(2 + turn as u64, record, &mut newest, now);
            last = rate.sample(newest, Duration::from_millis(10), now);
        }
        let last = last.expect("a sample");
        assert_eq!((last.delivered, last.interval), (11_000, Duration::from_millis(150)));
    }

    #[test]
    fn no_time_gives_no_rate() {
        // Before the first round-trip sample the smallest round trip is zero.
        let mut rate = Rate::new(true);
        let record = send(&mut rate, 1, 0, at(5));
        for (now, known) in [(5, false), (6, true)] {
            let mut newest = None;
            rate.deliver(record.turn, &record, &mut newest, at(now));
            assert_eq!(rate.sample(newest, Duration::ZERO, at(now)).is_some(), known, "{now}");
        }
    }

    #[test]
    fn a_sample_shorter_than_the_smallest_round_trip_is_none() {
        // A needless retransmission seems to take a short time, since the original is acknowledged
        // just after it (`tcp_rate_gen`).
        let mut rate = Rate::new(true);
        let record = send(&mut rate, 1, 0, at(5));
        for (now, known) in [(44, false), (45, true)] {
            let mut newest = None;
            rate.deliver(record.turn, &record, &mut newest, at(now));
            let sample = rate.sample(newest, Duration::from_millis(40), at(now));
            assert_eq!(sample.is_some(), known, "{now}");
        }
    }

    #[test]
    fn what_was_noted_of_a_segment_is_kept_while_it_is_out() {
        let (mut rate, mut silent) = (Rate::new(true), Rate::new(false));
        let note = |rate: &mut Rate, first, number, delivered| {
            rate.delivered = delivered;
            rate.note(first, number, 0);
        };
        // The first segment in flight is a thousand numbers behind the newest one, later only
        // three.
        for number in 0..3_000u64 {
            let first = if number < 2_000 { number.saturating_sub(999) } else { number - 3 };
            note(&mut rate, first, number, number);
            note(&mut silent, first, number, number);
            for out in [first, first + (number - first) / 2, number] {
                assert_eq!(rate.snapshot_of(out).map(|it| it.delivered), Some(out), "at {number}");
            }
        }
        assert_eq!(rate.ring.len(), 1_024);
        assert!(silent.snapshot_of(0).is_none() && silent.ring.is_empty());
        // The next control needs samples. The ring is sized by the segments in flight, not by all
        // that were sent.
        silent.enable(true);
        assert!(silent.snapshot_of(3_000).is_none());
        note(&mut silent, 3_000, 3_000, 5);
        assert_eq!(silent.snapshot_of(3_000).map(|it| it.delivered), Some(5));
        assert_eq!(silent.ring.len(), 16);
        // A renewed sampler keeps the memory, not the snapshots.
        let mut renewed = rate.renewed(true);
        assert_eq!(renewed.delivered, 0);
        note(&mut renewed, 0, 0, 7);
        assert_eq!(renewed.snapshot_of(0).map(|it| it.delivered), Some(7));
        assert_eq!(renewed.ring.len(), 1_024);
    }
}
