//! SCReAM's network congestion control, RFC 8298 section 4.1.2: the window, the target of the
//! delay, its trend, and what may be sent.

use std::collections::VecDeque;

use packet::params::Params;
use packet::{Duration, Instant};

use super::super::{Feedback, Video};

/// Number of samples of the delay divided by its target, and the time between two samples.
const TREND_SAMPLES: usize = 20;
const SAMPLED_EVERY: Duration = Duration::from_millis(50);
/// Number of samples of the delay from which its variance is computed, and from which its mean is.
const VARIANCE_SAMPLES: usize = 200;
const MEAN_SAMPLES: usize = 50;
/// Time window over which the largest number of bytes in flight is taken.
const FLIGHT_WINDOW: Duration = Duration::from_secs(5);
/// Share of round trips with a loss above which other flows are taken to fill the queue, and the
/// weight of a round trip in that moving average (the weight is that of Ericsson's
/// implementation, from memory).
const LOSSY: f64 = 0.002;
const LOSS_WEIGHT: f64 = 0.01;
/// Variance of the delay divided by its least target, below which the target may follow the delay.
const STABLE: f64 = 0.2;
/// Weight of a new round-trip time in the smoothed one (RFC 6298).
const RTT_WEIGHT: f64 = 0.125;

/// A congestion event; there is at most one in a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Congestion {
    Loss,
    Mark,
    /// The delay ended the fast increase.
    Delay,
}

/// Parameters of the congestion window; the table of SCReAM's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windowing {
    target_lo: f64,
    target_hi: f64,
    weight: f64,
    trend_th: f64,
    trend_lo: f64,
    min_cwnd: f64,
    head_room: f64,
    gain: f64,
    beta_loss: f64,
    beta_ecn: f64,
    resume_after: Duration,
    mss: f64,
}

impl Windowing {
    pub fn read(params: &Params, video: &Video) -> Self {
        let real = |name| params.real(name);
        Windowing {
            target_lo: real("qdelay_target_lo"),
            target_hi: real("qdelay_target_hi").max(real("qdelay_target_lo")),
            weight: real("qdelay_weight"),
            trend_th: real("qdelay_trend_th"),
            trend_lo: real("qdelay_trend_lo"),
            min_cwnd: real("min_cwnd"),
            head_room: real("head_room"),
            gain: real("gain"),
            beta_loss: real("beta_loss"),
            beta_ecn: real("beta_ecn"),
            resume_after: params.time("resume_after"),
            mss: f64::from(video.packet),
        }
    }
}

/// The largest number of bytes in flight within a sliding window of time: pairs of time and bytes,
/// in order of falling bytes.
#[derive(Clone, Debug, Default)]
struct MostInFlight(VecDeque<(Instant, f64)>);

impl MostInFlight {
    fn note(&mut self, bytes: f64, now: Instant) {
        while self.0.back().is_some_and(|(_, less)| *less <= bytes) {
            self.0.pop_back();
        }
        self.0.push_back((now, bytes));
        while self.0.front().is_some_and(|(at, _)| now.since(*at) > FLIGHT_WINDOW) {
            self.0.pop_front();
        }
    }

    fn most(&self) -> f64 {
        self.0.front().map_or(0.0, |(_, bytes)| *bytes)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Window {
    windowing: Windowing,
    pub(super) cwnd: f64,
    pub(super) in_flight: f64,
    most: MostInFlight,
    newly_acked: f64,
    pub(super) fast_increase: bool,
    /// The smallest one-way delay, the queueing delay of the newest packet, and its target.
    base: Option<Duration>,
    pub(super) qdelay: f64,
    pub(super) target: f64,
    fraction_avg: f64,
    fractions: VecDeque<f64>,
    sampled: Option<Instant>,
    pub(super) trend: f64,
    /// The trend's recent maximum (qdelay_trend_mem).
    trend_mem: f64,
    /// Last time at which the trend was not below its lower bound, or at which there was a
    /// congestion event.
    troubled: Instant,
    /// Latest delays, each divided by the least target; the newest is first.
    delays: VecDeque<f64>,
    loss_event_rate: f64,
    lost_in_round: bool,
    round_began: Option<Instant>,
    s_rtt: Option<f64>,
    event_at: Option<Instant>,
}

impl Window {
    pub fn new(windowing: Windowing) -> Self {
        Window {
            cwnd: windowing.min_cwnd,
            target: windowing.target_lo,
            windowing,
            in_flight: 0.0,
            most: MostInFlight::default(),
            newly_acked: 0.0,
            fast_increase: true,
            base: None,
            qdelay: 0.0,
            fraction_avg: 0.0,
            fractions: VecDeque::from([0.0; TREND_SAMPLES]),
            sampled: None,
            trend: 0.0,
            trend_mem: 0.0,
            troubled: Instant::ZERO,
            delays: VecDeque::new(),
            loss_event_rate: 0.0,
            lost_in_round: false,
            round_began: None,
            s_rtt: None,
            event_at: None,
        }
    }

    /// Counts a packet that leaves.
    pub fn sent(&mut self, bytes: u32, now: Instant) {
        self.in_flight += f64::from(bytes);
        self.most.note(self.in_flight, now);
    }

    /// Whether the send window lets a packet go. Above the delay's target the window is strict,
    /// otherwise one packet more may go.
    pub fn has_room(&self, bytes: u32) -> bool {
        let slack = if self.qdelay <= self.target { self.windowing.mss } else { 0.0 };
        self.in_flight + f64::from(bytes) <= self.cwnd + slack
    }

    /// The pacer's rate, bit/s; 0 before the first report.
    pub fn pace(&self) -> f64 {
        self.s_rtt.map_or(0.0, |s_rtt| 8.0 * self.cwnd / s_rtt)
    }

    pub fn trend_mem(&self) -> f64 {
        self.trend_mem
    }

    /// Processes a report. Returns the congestion event that it shows.
    pub fn on_feedback(&mut self, feedback: &Feedback) -> Option<Congestion> {
        let now = feedback.now;
        self.measure(feedback);
        let lost = feedback.packets.iter().any(|packet| packet.arrived.is_none());
        let marked = feedback.packets.iter().any(|packet| packet.marked);
        let bytes: f64 = feedback.packets.iter().map(|packet| f64::from(packet.bytes)).sum();
        // The window follows the bytes in flight as they were before the report.
        let flight = self.in_flight;
        self.in_flight = (self.in_flight - bytes).max(0.0);
        self.newly_acked += bytes;
        self.count_losses(lost, now);
        let s_rtt = Duration::from_secs_f64(self.s_rtt.unwrap_or(0.0));
        let fresh = self.event_at.is_none_or(|last| now.since(last) > s_rtt);
        let event = match (lost && fresh, marked && fresh) {
            (true, _) => Some(Congestion::Loss),
            (_, true) => Some(Congestion::Mark),
            _ => None,
        };
        let event = match event {
            Some(event) => {
                self.back_off(event, now);
                Some(event)
            }
            None => self.follow(flight),
        };
        self.adjust_target();
        if event.is_none() && now.since(self.troubled) >= self.windowing.resume_after {
            self.fast_increase = true;
        }
        event
    }

    fn measure(&mut self, feedback: &Feedback) {
        let newest = feedback.packets.last().expect("a report has a packet");
        let forward = newest.arrived.expect("the last one has arrived").since(newest.sent);
        let base = self.base.map_or(forward, |base| base.min(forward));
        self.base = Some(base);
        self.qdelay = (forward - base).secs_f64();
        let round_trip = feedback.round_trip.secs_f64();
        self.s_rtt = Some(self.s_rtt.map_or(round_trip, |s| s + RTT_WEIGHT * (round_trip - s)));
        let due = |last: Instant| feedback.now.since(last) >= SAMPLED_EVERY;
        if self.sampled.is_none_or(due) {
            self.sampled = Some(feedback.now);
            self.sample(feedback.now);
        }
    }

    /// Samples the delay and computes its trend: its average times its autocorrelation at one
    /// sample.
    fn sample(&mut self, now: Instant) {
        let Windowing { weight, trend_lo, .. } = self.windowing;
        let fraction = self.qdelay / self.target;
        self.fraction_avg = (1.0 - weight) * self.fraction_avg + weight * fraction;
        self.fractions.push_back(fraction);
        self.fractions.pop_front();
        let mean = self.fractions.iter().sum::<f64>() / TREND_SAMPLES as f64;
        let apart = |value: &f64| value - mean;
        let r0: f64 = self.fractions.iter().map(|v| apart(v) * apart(v)).sum();
        let next = self.fractions.iter().skip(1);
        let r1: f64 = self.fractions.iter().zip(next).map(|(a, b)| apart(a) * apart(b)).sum();
        let a = if r0 > 0.0 { r1 / r0 } else { 0.0 };
        self.trend = (a * self.fraction_avg).clamp(0.0, 1.0);
        self.trend_mem = (0.99 * self.trend_mem).max(self.trend);
        if self.trend >= trend_lo {
            self.troubled = now;
        }
    }

    fn count_losses(&mut self, lost: bool, now: Instant) {
        self.lost_in_round |= lost;
        let began = *self.round_began.get_or_insert(now);
        if now.since(began).secs_f64() >= self.s_rtt.unwrap_or(0.0) {
            let sample = f64::from(u8::from(self.lost_in_round));
            self.loss_event_rate += LOSS_WEIGHT * (sample - self.loss_event_rate);
            (self.lost_in_round, self.round_began) = (false, Some(now));
        }
    }

    fn back_off(&mut self, event: Congestion, now: Instant) {
        let Windowing { beta_loss, beta_ecn, min_cwnd, .. } = self.windowing;
        let beta = if event == Congestion::Loss { beta_loss } else { beta_ecn };
        self.cwnd = (beta * self.cwnd).max(min_cwnd);
        (self.fast_increase, self.event_at, self.troubled) = (false, Some(now), now);
        self.newly_acked = 0.0;
    }

    /// Changes the window after a report without a loss or a mark. Returns an event if the delay
    /// ends the fast increase.
    fn follow(&mut self, flight: f64) -> Option<Congestion> {
        let Windowing { trend_th, gain, mss, head_room, min_cwnd, .. } = self.windowing;
        let acked = std::mem::take(&mut self.newly_acked);
        let mut event = None;
        if self.fast_increase {
            if self.trend < trend_th {
                if 1.5 * flight + acked > self.cwnd {
                    self.cwnd += acked;
                }
                return None;
            }
            (self.fast_increase, event) = (false, Some(Congestion::Delay));
        }
        let off_target = (self.target - self.qdelay) / self.target;
        let unused = off_target > 0.0 && 1.25 * flight + acked <= self.cwnd;
        if !unused {
            self.cwnd += gain * off_target * acked * mss / self.cwnd;
        }
        self.cwnd = self.cwnd.min(head_room * self.most.most()).max(min_cwnd);
        event
    }

    /// Raises the target delay when other flows fill the queue (section 4.1.2.3).
    fn adjust_target(&mut self) {
        let Windowing { target_lo, target_hi, .. } = self.windowing;
        self.delays.push_front(self.qdelay / target_lo);
        self.delays.truncate(VARIANCE_SAMPLES);
        let mean = |count: usize| {
            let taken = self.delays.iter().take(count);
            taken.clone().sum::<f64>() / taken.len() as f64
        };
        let all = mean(VARIANCE_SAMPLES);
        let square = |delay: &f64| {
            let off = delay - all;
            off * off
        };
        let squares: f64 = self.delays.iter().map(square).sum();
        let variance = squares / self.delays.len() as f64;
        let new = target_lo * (mean(MEAN_SAMPLES) + variance.sqrt());
        self.target = if self.loss_event_rate > LOSSY {
            1.5 * new
        } else if variance < STABLE {
            new
        } else if new < target_lo {
            (0.5 * self.target).max(new)
        } else {
            0.9 * self.target
        }
        .clamp(target_lo, target_hi);
    }

    #[cfg(test)]
    pub(super) fn detect_congestion(
        &mut self,
        qdelay: f64,
        trend: f64,
        acked: f64,
    ) -> Option<Congestion> {
        (self.qdelay, self.trend, self.newly_acked) = (qdelay, trend, acked);
        self.follow(self.in_flight)
    }

    #[cfg(test)]
    pub(super) fn lossy(&mut self, share: f64) {
        self.loss_event_rate = share;
    }

    #[cfg(test)]
    pub(super) fn losses(&self) -> f64 {
        self.loss_event_rate
    }

    #[cfg(test)]
    pub(super) fn remember_trend(&mut self, trend: f64) {
        self.trend_mem = trend;
    }
}
