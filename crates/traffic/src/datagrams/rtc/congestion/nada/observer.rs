//! The receiver's part of NADA, RFC 8698 sections 4.2 and 5.1: queueing delay, losses, marks and
//! the receiving rate, computed from every packet.

use std::collections::VecDeque;

use packet::params::Params;
use packet::{Duration, Instant, math};

use super::super::Observed;

/// Weights of the loss intervals from the newest on (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Parameters of the receiver's part; the table of NADA's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observing {
    log_window: Duration,
    q_eps: Duration,
    multi_loss: f64,
    q_th: f64,
    lambda: f64,
    alpha: f64,
    taps: usize,
}

impl Observing {
    pub fn read(params: &Params) -> Self {
        Observing {
            log_window: params.time("log_window"),
            q_eps: params.time("q_eps"),
            multi_loss: params.real("multi_loss"),
            q_th: params.real("q_th"),
            lambda: params.real("lambda"),
            alpha: params.real("alpha"),
            taps: params.whole("taps") as usize,
        }
    }

    /// Queueing delay as it counts while there are losses (d_tilde), equation (1).
    pub fn warp(&self, d_queue: f64) -> f64 {
        if d_queue < self.q_th {
            return d_queue;
        }
        self.q_th * math::exp(-self.lambda * (d_queue - self.q_th) / self.q_th)
    }
}

/// One packet of the observation window.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// When the packet arrived; if it was lost, when that packet arrived whose number revealed the
    /// loss.
    at: Instant,
    counts: Counts,
}

/// Counts of packets.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    packets: u64,
    /// Bytes of the packets that arrived.
    bytes: u64,
    lost: u64,
    marked: u64,
    /// Packets with a queueing delay of QEPS and more.
    queued: u64,
}

impl Counts {
    fn each(&mut self, other: &Counts, of: fn(u64, u64) -> u64) {
        self.packets = of(self.packets, other.packets);
        self.bytes = of(self.bytes, other.bytes);
        self.lost = of(self.lost, other.lost);
        self.marked = of(self.marked, other.marked);
        self.queued = of(self.queued, other.queued);
    }
}

/// The intervals between loss events, in packets (RFC 5348 section 5).
#[derive(Clone, Debug, Default)]
struct LossIntervals {
    /// Loss intervals that have ended, in packets, the newest first.
    closed: VecDeque<u64>,
    /// Packets since the last loss event began; before the first event, since the call began.
    open: u64,
    /// Time at which the packet was sent whose loss began the last event.
    began: Option<Instant>,
}

impl LossIntervals {
    /// Adds a packet sent at `sent`, which may be lost.
    fn packet(&mut self, sent: Instant, lost: bool, round_trip: Duration) {
        let apart = |began: Instant| sent > began + round_trip;
        if lost && self.began.is_none_or(apart) {
            self.closed.push_front(self.open);
            self.closed.truncate(WEIGHTS.len());
            (self.open, self.began) = (0, Some(sent));
        }
        self.open += 1;
    }

    /// The weighted mean of the closed intervals; none before a loss.
    fn mean(&self) -> Option<f64> {
        let weighted = || self.closed.iter().zip(WEIGHTS);
        let weights: f64 = weighted().map(|(_, weight)| weight).sum();
        let sum: f64 = weighted().map(|(&packets, weight)| packets as f64 * weight).sum();
        (weights > 0.0).then(|| sum / weights)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Observer {
    observing: Observing,
    /// The smallest one-way delay (d_base).
    base: Duration,
    /// Queueing delays of the latest packets.
    taps: VecDeque<Duration>,
    window: VecDeque<Seen>,
    sum: Counts,
    /// Lost packets that are counted when the next packet arrives: the times at which they were
    /// sent.
    missing: Vec<Instant>,
    intervals: LossIntervals,
    round_trip: Duration,
    /// Smoothed share of lost packets.
    pub p_loss: f64,
    /// Smoothed share of marked packets.
    pub p_mark: f64,
}

impl Observer {
    pub fn new(observing: Observing) -> Self {
        Observer {
            observing,
            base: Duration::from_nanos(u64::MAX),
            taps: VecDeque::new(),
            window: VecDeque::new(),
            sum: Counts::default(),
            missing: Vec::new(),
            intervals: LossIntervals::default(),
            round_trip: Duration::ZERO,
            p_loss: 0.0,
            p_mark: 0.0,
        }
    }

    /// Adds one packet, in the order of sending: "on receiving a media packet".
    pub fn packet(&mut self, packet: &Observed) {
        let Some(at) = packet.arrived else { return self.missing.push(packet.sent) };
        for sent in std::mem::take(&mut self.missing) {
            self.intervals.packet(sent, true, self.round_trip);
            self.note(Seen { at, counts: Counts { packets: 1, lost: 1, ..Counts::default() } });
        }
        self.intervals.packet(packet.sent, false, self.round_trip);
        let forward = at.since(packet.sent);
        self.base = self.base.min(forward);
        let queue = forward - self.base;
        self.taps.push_back(queue);
        if self.taps.len() > self.observing.taps {
            self.taps.pop_front();
        }
        let (marked, queued) = (u64::from(packet.marked), u64::from(queue >= self.observing.q_eps));
        let bytes = u64::from(packet.bytes);
        self.note(Seen { at, counts: Counts { packets: 1, bytes, lost: 0, marked, queued } });
        self.expire(at);
        let share = |of: u64| of as f64 / self.sum.packets as f64;
        let alpha = self.observing.alpha;
        self.p_loss += alpha * (share(self.sum.lost) - self.p_loss);
        self.p_mark += alpha * (share(self.sum.marked) - self.p_mark);
    }

    fn note(&mut self, seen: Seen) {
        self.window.push_back(seen);
        self.sum.each(&seen.counts, |a, b| a + b);
    }

    /// Removes what lies before the window that ends at `now`.
    fn expire(&mut self, now: Instant) {
        let out = |seen: &Seen| now.since(seen.at) > self.observing.log_window;
        while let Some(seen) = self.window.front().copied().filter(out) {
            self.window.pop_front();
            self.sum.each(&seen.counts, |a, b| a - b);
        }
    }

    /// Sets the receiver's time to `now`, and the round-trip time.
    pub fn at(&mut self, now: Instant, round_trip: Duration) {
        self.expire(now);
        self.round_trip = round_trip;
    }

    /// Whether neither losses nor a queue were seen within the window (section 4.2).
    pub fn may_ramp_up(&self) -> bool {
        self.sum.lost == 0 && self.sum.queued == 0
    }

    /// The receiving rate, bit/s (r_recv, section 5.1.4).
    pub fn receiving_rate(&self) -> f64 {
        8.0 * self.sum.bytes as f64 / self.observing.log_window.secs_f64()
    }

    /// Queueing delay in seconds, warped while the last loss is not longer ago than loss_exp.
    pub fn warped_delay(&self) -> f64 {
        let d_queue = self.taps.iter().min().map_or(0.0, |queue| queue.secs_f64());
        let recent = |mean: f64| self.intervals.open as f64 <= self.observing.multi_loss * mean;
        if self.intervals.mean().is_some_and(recent) {
            return self.observing.warp(d_queue);
        }
        d_queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn observer() -> Observer {
        Observer::new(Observing::read(&Params::defaults(super::super::FIELDS)))
    }

    #[test]
    fn losses_begin_an_event_if_they_are_more_than_a_round_trip_apart() {
        // RFC 5348 section 5.2: losses within a round-trip time of an event's begin belong to that
        // event.
        let closed = |ms| {
            let mut intervals = LossIntervals::default();
            let round_trip = Duration::from_millis(40);
            intervals.packet(at(0), true, round_trip);
            intervals.packet(at(ms), true, round_trip);
            intervals.closed.len()
        };
        assert_eq!([closed(40), closed(41)], [1, 2]);
    }

    #[test]
    fn the_mean_interval_weighs_the_older_half_less() {
        // The weights of RFC 5348 section 5.4: 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2.
        let mut intervals = LossIntervals::default();
        assert_eq!(intervals.mean(), None);
        intervals.closed = VecDeque::from([10, 10, 10, 10, 20, 30, 40, 50]);
        let sum = 40.0 + 16.0 + 18.0 + 16.0 + 10.0;
        assert!((intervals.mean().unwrap() - sum / 6.0).abs() < 1e-9, "{:?}", intervals.mean());
    }

    #[test]
    fn the_smallest_of_15_delays_counts_and_a_window_of_500_ms() {
        let mut observer = observer();
        let packet = |sent: u64, queue: u64| {
            let arrived = Some(at(sent + 20 + queue));
            Observed { bytes: 1_000, sent: at(sent), arrived, marked: false }
        };
        observer.packet(&packet(0, 0));
        (1..15).for_each(|n| observer.packet(&packet(10 * n, 60)));
        assert_eq!(observer.warped_delay(), 0.0);
        observer.packet(&packet(150, 60));
        assert_eq!(observer.warped_delay(), 0.060);
        // The first packet came at 20 ms.
        let rates = [520, 521].map(|ms| {
            observer.at(at(ms), Duration::ZERO);
            observer.receiving_rate()
        });
        assert_eq!(rates, [16.0 * 16e3, 15.0 * 16e3]);
    }
}
