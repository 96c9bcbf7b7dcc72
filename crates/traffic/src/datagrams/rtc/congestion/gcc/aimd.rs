//! The rate control of draft-ietf-rmcat-gcc-02 section 5.5: additive or multiplicative increase,
//! and decrease to a share of what arrives.

use std::collections::VecDeque;

use packet::params::Params;
use packet::{Duration, Instant, math};

use super::super::{Feedback, Video};
use super::overuse::Usage;

/// Largest rate to which the control grows, as a multiple of the received rate.
const HEADROOM: f64 = 1.5;
/// Additive increase applies to rates within this many standard deviations of the mean.
const CLOSE: f64 = 3.0;
/// Weight of a new sample of the link's capacity: smoothing by 0.95.
const WEIGHT: f64 = 0.05;
/// Bounds of the capacity's variance divided by its mean, bit/s; the first is its initial value too
/// (libwebrtc's `LinkCapacityEstimator`).
const DEVIATION: [f64; 2] = [400.0, 2_500.0];
/// Response time of the control without the round trip, s.
const RESPONSE: f64 = 0.1;
/// Frames a second, and bits of a full packet, from which the expected size of a packet is
/// computed.
const FRAMES: f64 = 30.0;
const PACKET_BITS: f64 = 1_200.0 * 8.0;
const LEAST_STEP: f64 = 1_000.0;

/// Parameters of the rate control; the table of GCC's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Increasing {
    window: Duration,
    eta: f64,
    beta: f64,
}

impl Increasing {
    pub fn read(params: &Params) -> Self {
        Increasing {
            window: params.time("rate_window"),
            eta: params.real("eta"),
            beta: params.real("beta"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

impl State {
    /// The next state, by the table of section 5.5.
    fn after(self, usage: Usage) -> State {
        match (usage, self) {
            (Usage::Over, _) => State::Decrease,
            (Usage::Under, _) | (Usage::Normal, State::Decrease) => State::Hold,
            (Usage::Normal, _) => State::Increase,
        }
    }
}

/// Received rate at which the delay grew: its smoothed mean and deviation, bit/s.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    mean: f64,
    /// Variance divided by the mean, bit/s.
    deviation: f64,
}

impl Capacity {
    fn of(known: Option<Capacity>, sample: f64) -> Capacity {
        let Some(Capacity { mean, deviation }) = known else {
            return Capacity { mean: sample, deviation: DEVIATION[0] };
        };
        let mean = (1.0 - WEIGHT) * mean + WEIGHT * sample;
        let apart = mean - sample;
        let deviation = (1.0 - WEIGHT) * deviation + WEIGHT * apart * apart / mean.max(1.0);
        Capacity { mean, deviation: deviation.clamp(DEVIATION[0], DEVIATION[1]) }
    }

    fn apart(self) -> f64 {
        CLOSE * (self.deviation * self.mean).sqrt()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Aimd {
    increasing: Increasing,
    video: Video,
    state: State,
    /// The delay-based rate A_hat, bit/s.
    rate: f64,
    /// Arrivals within the window: the time and the bytes of each packet.
    arrivals: VecDeque<(Instant, u32)>,
    capacity: Option<Capacity>,
    updated: Option<Instant>,
}

impl Aimd {
    pub fn new(increasing: Increasing, video: Video) -> Self {
        Aimd {
            increasing,
            video,
            state: State::Hold,
            rate: video.start,
            arrivals: VecDeque::new(),
            capacity: None,
            updated: None,
        }
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Updates the rate by a report and the signal of the over-use detector.
    pub fn on_feedback(&mut self, feedback: &Feedback, usage: Usage) {
        let arrived = feedback.packets.iter().filter_map(|p| p.arrived.map(|at| (at, p.bytes)));
        self.arrivals.extend(arrived);
        let receiving = self.receiving(feedback.made);
        let since = self.updated.replace(feedback.now).map(|last| feedback.now.since(last));
        let span = since.unwrap_or(self.video.feedback).secs_f64();
        self.state = self.state.after(usage);
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(span, feedback.round_trip.secs_f64(), receiving),
            State::Decrease => self.decrease(receiving),
        }
        self.rate = self.rate.clamp(self.video.least, self.video.most);
    }

    /// Received rate R_hat, bit/s: bits that arrived within the window, divided by its length.
    fn receiving(&mut self, now: Instant) -> f64 {
        let old = |(at, _): &(Instant, u32)| now.since(*at) > self.increasing.window;
        while self.arrivals.front().is_some_and(old) {
            self.arrivals.pop_front();
        }
        let bytes: u64 = self.arrivals.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        8.0 * bytes as f64 / self.increasing.window.secs_f64()
    }

    fn increase(&mut self, span: f64, round_trip: f64, receiving: f64) {
        if self.capacity.is_some_and(|known| receiving > known.mean + known.apart()) {
            self.capacity = None;
        }
        let grown = if self.capacity.is_some() {
            let frame = self.rate / FRAMES;
            let packet = frame / (frame / PACKET_BITS).ceil();
            let alpha = 0.5 * (span / (RESPONSE + round_trip)).min(1.0);
            self.rate + (alpha * packet).max(LEAST_STEP)
        } else {
            self.rate * math::pow(self.increasing.eta, span.min(1.0))
        };
        self.rate = grown.min(self.rate.max(HEADROOM * receiving));
    }

    fn decrease(&mut self, receiving: f64) {
        self.rate = self.rate.min(self.increasing.beta * receiving);
        let known = self.capacity.filter(|known| receiving >= known.mean - known.apart());
        self.capacity = Some(Capacity::of(known, receiving));
    }

    #[cfg(test)]
    pub fn update(&mut self, span: f64, round_trip: f64, receiving: f64, over: bool) -> f64 {
        if over {
            self.decrease(receiving)
        } else {
            self.increase(span, round_trip, receiving)
        }
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Observed;
    use super::*;

    fn aimd(start: f64) -> Aimd {
        let increasing = Increasing { window: Duration::from_millis(500), eta: 1.08, beta: 0.85 };
        let feedback = Duration::from_millis(100);
        let video =
            Video { least: 150e3, most: 5e6, start, frame_rate: 30.0, feedback, packet: 1_200 };
        Aimd::new(increasing, video)
    }

    #[test]
    fn the_capacity_is_smoothed_by_95_percent_and_so_is_its_deviation() {
        let first = Capacity::of(None, 1e6);
        assert_eq!((first.mean, first.deviation), (1e6, 400.0));
        // The sample differs by 95 kbit/s from the mean of 1,005 kbit/s: the deviation becomes 380
        // + 0.05 * 95^2 / 1.005.
        let second = Capacity::of(Some(first), 1.1e6);
        assert!((second.mean - 1.005e6).abs() < 1e-6, "{second:?}");
        assert!((second.deviation - (380.0 + 451.25 / 1.005)).abs() < 1e-9, "{second:?}");
        assert_eq!(Capacity::of(Some(first), 2e6).deviation, 2_500.0);
    }

    #[test]
    fn three_deviations_from_the_known_capacity_are_another_line() {
        // Three deviations are 3 sqrt(400 * 1e6) bit/s, 60 kbit/s: within them the estimate is
        // kept.
        for (receiving, kept) in [(1.06e6, true), (1.060_001e6, false)] {
            let mut rate = aimd(1e6);
            rate.decrease(1e6);
            rate.increase(0.1, 0.1, receiving);
            assert_eq!(rate.capacity.is_some(), kept, "{receiving}");
        }
        for (receiving, mean) in [(0.95e6, 997.5e3), (0.94e6, 997e3), (0.939e6, 0.939e6)] {
            let mut rate = aimd(1e6);
            rate.decrease(1e6);
            rate.decrease(receiving);
            let found = rate.capacity.expect("it is known").mean;
            assert!((found - mean).abs() < 1e-6, "{receiving}: {found}");
        }
    }

    #[test]
    fn what_arrived_counts_for_the_whole_window() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut rate = aimd(1e6);
        let packet = Observed { bytes: 1_000, sent: at(0), arrived: Some(at(100)), marked: false };
        rate.arrivals.extend(packet.arrived.map(|at| (at, packet.bytes)));
        assert_eq!([600, 601].map(|ms| rate.receiving(at(ms))), [16e3, 0.0]);
    }
}
