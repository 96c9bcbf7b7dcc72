//! The rate mode of version 0.7 (`prague_cwnd_mode`, in L4STeam's tree and in the patch sent to
//! netdev on 2024-10-15): marks reduce and growth raises the rate, and the window follows it. So a
//! short path can carry less than two segments per round trip without a queue: down to 100 kbit/s,
//! and below 1 Mbit/s in smaller segments, two of them in each 25 ms. Up to round trips of 25 ms a
//! marking probability p gives about 1/p - 1 Mbit/s.
//!
//! Our own deviation: bytes are payload, where Linux counts whole packets in the rate and payload
//! on the line.

use packet::{Duration, Instant};

use super::AckSample;
use crate::send_state::Window;

/// Slowest rate, bytes per second (MINIMUM_RATE, 100 kbit/s).
const LEAST_RATE: f64 = 12_500.0;
/// Smallest segment, bytes (MIN_MSS).
const LEAST_SEGMENT: f64 = 150.0;
/// Segments per virtual round trip; below it segments get smaller (MIN_CWND_VIRT).
const LEAST_VIRTUAL: f64 = 2.0;
/// Window up to which mode `switch` follows the rate, full segments (prague_cwnd_transit).
const TRANSIT: u64 = 4;
/// Relative swing of the pacing rate within a virtual round trip (prague_rate_offset of 128).
const SWING: f64 = 4.0 / 128.0;
/// Weight of a round-trip time in its slow average (HSRTT_SHIFT).
const SLOW: f64 = 1.0 / 128.0;

/// When the window follows the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The window always follows the rate.
    Rate,
    /// The window follows the rate while it is small.
    Switch,
}

/// The rate of a sender in mode `rate` or `switch`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    mode: Mode,
    rtt_virtual: f64,
    /// The rate, bytes per second (`rate_bytes`).
    pub rate: f64,
    /// The rate before the last loss, bytes per second.
    before_loss: f64,
    /// Slow average of the smoothed round-trip time, seconds (`hsrtt_us`); zero before the first.
    slow_rtt: f64,
    /// Payload of a full segment, bytes; zero before the first acknowledgement.
    full: u16,
    /// The window follows the rate at present (`cwnd_mode`).
    pub leads: bool,
    /// When the last acknowledgement arrived, and the smoothed round-trip time then.
    now: Instant,
    srtt: Duration,
}

impl Pace {
    pub fn new(mode: Mode, rtt_virtual: Duration) -> Self {
        Pace {
            mode,
            rtt_virtual: rtt_virtual.secs_f64(),
            rate: LEAST_RATE,
            before_loss: 0.0,
            slow_rtt: 0.0,
            full: 0,
            leads: mode == Mode::Rate,
            now: Instant::ZERO,
            srtt: Duration::ZERO,
        }
    }

    /// Notes the times of an acknowledgement, before it is processed.
    pub fn note(&mut self, win: &Window, ack: &AckSample) {
        (self.now, self.srtt) = (ack.now, ack.srtt);
        if self.full == 0 {
            self.full = win.mss;
        }
        if self.slow_rtt == 0.0 {
            self.slow_rtt = ack.srtt.secs_f64();
        }
    }

    /// Payload of a full segment, bytes.
    pub fn full(&self) -> f64 {
        f64::from(self.full)
    }

    /// The longer of the smoothed round-trip time and the virtual one, seconds.
    fn virtual_rtt(&self) -> f64 {
        self.rtt_virtual.max(self.srtt.secs_f64())
    }

    /// Sets the rate to a window per round trip.
    pub fn follow(&mut self, window: f64) {
        if self.srtt > Duration::ZERO {
            self.rate = (window / self.srtt.secs_f64()).max(LEAST_RATE);
        }
    }

    /// The window has grown: raises the rate to a window per round trip, if that is more.
    pub fn rise(&mut self, window: f64) {
        let before = self.rate;
        self.follow(window);
        self.rate = self.rate.max(before);
    }

    /// The window that corresponds to the rate, bytes (`prague_pacing_rate_to_frac_cwnd`).
    pub fn window(&self) -> f64 {
        self.rate * self.slow_rtt
    }

    /// Raises the rate for this number of unmarked bytes: by a full segment in each virtual round
    /// trip.
    pub fn grow(&mut self, unmarked: u64, mss: u64) {
        let (trip, mss) = (self.virtual_rtt(), mss as f64);
        let segments = packet::math::ceil(self.rate * trip / mss).max(1.0);
        self.rate += unmarked as f64 / mss * self.full() / trip / segments;
    }

    /// Marks or a loss reduce the rate by this share.
    pub fn shrink(&mut self, part: f64) {
        self.rate = (self.rate * (1.0 - part)).max(LEAST_RATE);
    }

    pub fn note_loss(&mut self) {
        self.before_loss = self.rate;
    }

    pub fn undo(&mut self) {
        self.rate = self.rate.max(self.before_loss);
    }

    /// A round trip is over: updates the slow average.
    pub fn end_round(&mut self) {
        self.slow_rtt += SLOW * (self.srtt.secs_f64() - self.slow_rtt);
    }

    /// Payload that the rate permits for further segments, bytes (`prague_pacing_rate_to_max_mtu`).
    pub fn segment(&self) -> u16 {
        let room = packet::math::ceil(self.rate * self.virtual_rtt() / LEAST_VIRTUAL);
        room.clamp(LEAST_SEGMENT.min(self.full()), self.full()) as u16
    }

    /// Decides whether the window follows the rate.
    pub fn switch(&mut self, win: &Window, marked_once: bool) {
        if self.mode == Mode::Switch {
            self.leads = marked_once && win.cwnd <= TRANSIT * u64::from(self.full);
        }
    }

    /// Pacing rate, bytes per second: 3 % above the rate in the first half of each virtual round
    /// trip, 3 % below in the second.
    pub fn pace(&self, win: &Window, sampled: Instant) -> u64 {
        let swung = if win.cwnd < win.ssthresh / 2 {
            2.0 * self.rate
        } else if self.now.since(sampled).secs_f64() < self.virtual_rtt() / 2.0 {
            self.rate * (1.0 + SWING)
        } else {
            self.rate * (1.0 - SWING)
        };
        swung as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use packet::Rng;

    use super::super::{Mode, Prague};
    use super::*;
    use crate::congestion::control::{CaState, Cause, Control};
    use crate::congestion::testing::ack_sample;
    use crate::send_state::Flight;

    fn prague(mode: Mode) -> Prague {
        let mut prague = Prague::default();
        prague.pace = Some(Pace::new(mode, prague.settings.rtt_virtual));
        prague
    }

    /// Payload that a paced sender sends per second, Mbit/s, and its last segment size, bytes, over
    /// a path that marks every packet with probability `p`.
    fn sends(mode: Mode, rtt_ms: u64, p: f64) -> (f64, u16) {
        let (mut prague, mut rng) = (prague(mode), Rng::named(5, "rate"));
        let mut win = Window { cwnd: 14_600, ssthresh: 14_600, mss: 1_460, ..Window::default() };
        let srtt = Duration::from_millis(rtt_ms);
        let (mut out, mut sent, mut reduced) = (VecDeque::new(), 1u64, 0u64);
        let mut next = Instant::ZERO;
        let (mut now, mut counted) = (Instant::ZERO, 0u64);
        let (from, end) = (Duration::from_secs(20), Duration::from_secs(220));
        while now < Instant::ZERO + end {
            let in_flight: u64 = out.iter().map(|&(_, _, len, _)| len).sum();
            let may = in_flight + win.mss() <= win.cwnd;
            let acked = out.front().map(|&(at, ..): &(Instant, u64, u64, bool)| at + srtt);
            if may && acked.is_none_or(|at| next <= at) {
                now = now.max(next);
                sent += win.mss();
                out.push_back((now, sent, win.mss(), rng.uniform() < p));
                let rate = prague.pacing_rate(&win, &Flight::default(), srtt).unwrap();
                next = now + Duration::from_secs_f64(win.mss() as f64 / rate as f64);
                if now > Instant::ZERO + from {
                    counted += win.mss();
                }
                continue;
            }
            now = acked.expect("something is out");
            let (_, una, len, marked) = out.pop_front().expect("something is out");
            let flight = Flight { una, max: sent, window: u32::MAX };
            if marked && una > reduced {
                reduced = sent;
                prague.on_congestion(&mut win, &flight, Cause::Mark, now);
            }
            let ca_state = if una <= reduced { CaState::Cwr } else { CaState::Open };
            let marked = if marked { len } else { 0 };
            prague.on_ack(
                &mut win,
                &super::super::AckSample { now, flight, marked, srtt, ca_state, ..ack_sample(len) },
            );
        }
        (counted as f64 * 8e-6 / (end - from).secs_f64(), win.mss)
    }

    #[test]
    fn on_short_paths_the_rate_is_one_over_p_less_one() {
        // The module's text: r [Mbit/s] = 1/p - 1. Growth by a full packet each 25 ms (0.47 Mbit/s
        // of payload) balances one reduction by alpha/2 in that time at 2 (1 - p)/p packets. Random
        // marks come later than certain ones, which adds up to a third of the rate. Below 1 Mbit/s
        // segments are smaller: two in 25 ms.
        for (rtt, p) in [(1, 0.3), (5, 0.3), (1, 0.5), (5, 0.5), (1, 0.8), (5, 0.8)] {
            let law = 2.0 * 1_460.0 * 8e-6 / 0.025 * (1.0 / p - 1.0);
            for mode in [Mode::Rate, Mode::Switch] {
                let (seen, mss) = sends(mode, rtt, p);
                assert!(
                    (1.0..1.33).contains(&(seen / law)),
                    "{mode:?} {rtt} ms, p {p}: {seen}, law {law}"
                );
                assert_eq!(mss < 1_460, p > 0.6, "{mode:?} {rtt} ms, p {p}: {mss} B");
            }
        }
    }

    #[test]
    fn neither_marks_nor_losses_lower_it_below_100_kbit_s() {
        let mut pace = Pace::new(Mode::Rate, Duration::from_millis(25));
        let win = Window { cwnd: 2_920, ssthresh: 2_920, mss: 1_460, ..Window::default() };
        pace.note(
            &win,
            &super::super::AckSample { srtt: Duration::from_millis(10), ..ack_sample(1_460) },
        );
        pace.follow(40_000.0);
        assert_eq!((pace.rate, pace.segment()), (4e6, 1_460));
        (0..60).for_each(|_| pace.shrink(0.5));
        assert_eq!((pace.rate, pace.window(), pace.segment()), (12_500.0, 125.0, 157));
        // 3 % more in the first half of 25 ms, 3 % less in the second.
        let after = |ms| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            Pace { now, ..pace }.pace(&win, Instant::ZERO)
        };
        assert_eq!([after(0), after(12), after(13)], [12_890, 12_890, 12_109]);
    }
}
