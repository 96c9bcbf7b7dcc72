//! A path for the tests of controls that answer marks: it marks segments at random and acknowledges
//! each a round trip later. It notifies the control of marks as the transport does.

use std::collections::VecDeque;

use packet::{Duration, Instant, Rng};

use super::control::{AckSample, CaState, Cause, Control, Report};
use super::testing::{MSS, ack_sample};
use crate::send_state::{Flight, Window};

/// A path with a fixed round-trip time at any window, and an acknowledgement for every segment.
pub(super) struct Path {
    pub control: Box<dyn Control>,
    pub win: Window,
    flight: Flight,
    pub rtt: Duration,
    pub now: Instant,
    /// Whether each segment in flight was marked, the oldest first.
    out: VecDeque<bool>,
    rng: Rng,
    /// Highest number sent when the window was last reduced.
    reduced: u64,
}

/// Results of a run: means over its acknowledgements without the first quarter of them.
#[derive(Debug)]
pub(super) struct Seen {
    /// Mean window over time, in segments.
    pub window: f64,
    /// Fraction of segments marked.
    pub marked: f64,
}

impl Path {
    pub fn new(control: Box<dyn Control>, rtt_ms: u64, seed: u64) -> Self {
        let (cwnd, ssthresh, mss) = (10 * MSS, u64::MAX, MSS as u16);
        let win = Window { cwnd, ssthresh, mss, ..Window::default() };
        let flight = Flight { una: 1, max: 1, window: u32::MAX };
        Path {
            control,
            win,
            flight,
            rtt: Duration::from_millis(rtt_ms),
            now: Instant::ZERO,
            out: VecDeque::new(),
            rng: Rng::named(seed, "marking"),
            reduced: 0,
        }
    }

    /// Runs for `acks` acknowledgements. `mark` gives the probability that a segment is marked,
    /// from the number of segments in flight, itself included.
    pub fn run(&mut self, acks: u64, mark: impl Fn(usize) -> f64) -> Seen {
        let (mut marked, mut time, mut area) = (0, 0.0, 0.0);
        for ack in 0..acks {
            while self.out.len() as u64 * MSS + MSS <= self.win.cwnd {
                let drawn = self.rng.uniform() < mark(self.out.len() + 1);
                self.out.push_back(drawn);
                self.flight.max += MSS;
            }
            let out = self.out.len() as f64;
            let step = self.rtt.secs_f64() / out;
            self.now += Duration::from_secs_f64(step);
            let was_marked = self.out.pop_front().expect("a window is never empty");
            self.on_ack(was_marked);
            if ack >= acks / 4 {
                marked += u64::from(was_marked);
                (time, area) = (time + step, area + step * out);
            }
        }
        let counted = acks - acks / 4;
        Seen { window: area / time, marked: marked as f64 / counted as f64 }
    }

    fn on_ack(&mut self, marked: bool) {
        self.flight.una += MSS;
        let reported = if marked { MSS } else { 0 };
        let report = Report { flight: self.flight, delivered: MSS, marked: reported };
        self.control.on_report(&report);
        if marked && self.flight.una > self.reduced {
            self.reduced = self.flight.max;
            self.control.on_congestion(&mut self.win, &self.flight, Cause::Mark, self.now);
            if !self.control.flags().own_window {
                self.win.cwnd = self.win.ssthresh;
            }
        }
        let reducing = self.reduced > 0 && self.flight.una <= self.reduced;
        let ack = AckSample {
            now: self.now,
            flight: self.flight,
            marked: reported,
            srtt: self.rtt,
            ca_state: if reducing { CaState::Cwr } else { CaState::Open },
            ..ack_sample(MSS)
        };
        self.control.on_ack(&mut self.win, &ack);
    }
}
