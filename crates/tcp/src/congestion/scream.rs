//! SCReAM version 2's congestion control (draft-johansson-ccwg-rfc8298bis-screamv2), for
//! interactive media, applied to TCP's window. The reference window grows by a segment and a
//! fiftieth of itself per round trip, slower near the window at which it was last reduced. Marks
//! reduce it in proportion, as do queueing delays beyond half of a target of 60 ms; a loss leaves
//! 0.7 of it.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, Cause, Control, ControlFlags, EcnMode, Entry};
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "scream",
        summary: "SCReAM version 2, for media: a reference window that marks, queueing delay and losses reduce; L4S",
        year: 2025,
        source: "draft-johansson-ccwg-rfc8298bis-screamv2 as read through libwebrtc's scream_v2.cc",
        deviations: "TCP's round trips stand for one-way delays, each acknowledgement for a feedback report; the \
             window is the reference window (no overhead for frames of a video), paced at 1.1 times its rate; target \
             bitrate, queue of frames, padding and the draining of a standing queue are left out; a window of TCP is \
             two segments at least",
        fields: FIELDS,
    },
    make: |params| Box::new(Scream::new(params)),
};

const FIELDS: &[Field] = &[
    Field::new("qdelay_target", Kind::above(Unit::Time, 0.0, 10.0), Value::Real(0.06))
        .meaning("Queueing delay whose half begins to reduce the window.")
        .source("QDELAY_TARGET_LO, 60 ms"),
    Field::new("beta_loss", Kind::from(Unit::None, 0.1, 0.99), Value::Real(0.7))
        .meaning("What a loss leaves of the window.")
        .source("BETA_LOSS = 0.7"),
    Field::new("mul_increase", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.02))
        .meaning("Share of the window by which it grows per round trip, besides a segment.")
        .source("MUL_INCREASE_FACTOR = 0.02"),
    Field::new("virtual_rtt", Kind::from(Unit::Time, 0.001, 1.0), Value::Real(0.025))
        .meaning("Shorter round trips are taken for this one, so that flows share evenly.")
        .source("VIRTUAL_RTT = 25 ms"),
];

/// Weights of a sample in the averages: L4S_AVG_G for a rising and for a falling share of marks,
/// and QDELAY_AVG_G for a rising delay.
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
const DELAY_UP: f64 = 1.0 / 4.0;
/// Round trips after a reduction until the multiplicative increase has its full size again.
const RECOVERY_TRIPS: f64 = 100.0;
/// Growth is full where the window differs from its value at the last reduction by 1/`INFLECTION`
/// of that value; `LEAST_GROWTH` is the smallest factor of growth.
const INFLECTION: f64 = 2.0;
const LEAST_GROWTH: f64 = 0.25;
/// The window is at most this multiple of the bytes in flight, plus a segment.
const HEADROOM: f64 = 1.1;
/// PACKET_PACING_HEADROOM: pacing rate over the rate of a window per round trip.
const PACE: f64 = 1.1;
/// Length of the base delay's history, minutes: the base is the least delay in it.
const HISTORY: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

const CONTROL_FLAGS: ControlFlags = ControlFlags {
    own_window: true,
    own_marks: true,
    paced: true,
    ecn: EcnMode::Scalable,
    ..CLASSIC
};

#[derive(Clone, Debug)]
struct Scream {
    target: f64,
    beta_loss: f64,
    mul_increase: f64,
    virtual_rtt: f64,
    /// The reference window, and its value at the last reduction; bytes.
    window: f64,
    inflection: f64,
    /// The window has grown since it was last reduced.
    grown: bool,
    /// Share of marked bytes, filtered.
    alpha: f64,
    /// Bytes delivered that are not in `alpha` yet.
    delivered: u64,
    /// Bytes marked that are not in `alpha` yet.
    marked: u64,
    alpha_at: Instant,
    /// Filtered queueing delay, s.
    queueing: f64,
    /// Last sample of the queueing delay, s.
    last_sample: f64,
    /// Smallest round-trip time of each of the last minutes, the current minute first, s.
    base: [f64; HISTORY],
    minute: Instant,
    /// When the window was last reduced.
    reacted: Option<Instant>,
    /// Most bytes in flight during this round trip and during the previous one.
    flights: [u64; 2],
}

impl Scream {
    fn new(params: &Params) -> Self {
        Scream {
            target: params.real("qdelay_target"),
            beta_loss: params.real("beta_loss"),
            mul_increase: params.real("mul_increase"),
            virtual_rtt: params.real("virtual_rtt"),
            window: 0.0,
            inflection: 1.0,
            grown: false,
            alpha: 0.0,
            delivered: 0,
            marked: 0,
            alpha_at: Instant::ZERO,
            queueing: 0.0,
            last_sample: 0.0,
            base: [f64::INFINITY; HISTORY],
            minute: Instant::ZERO,
            reacted: None,
            flights: [0; 2],
        }
    }

    /// Enters a round-trip time, s: the filtered queueing delay rises slowly and falls at once, and
    /// takes the smaller of two samples.
    fn measure(&mut self, rtt: f64, now: Instant) {
        if now.since(self.minute) >= MINUTE {
            self.minute = now;
            self.base.rotate_right(1);
            self.base[0] = rtt;
        }
        self.base[0] = self.base[0].min(rtt);
        let base = self.base.into_iter().fold(f64::INFINITY, f64::min);
        let sample = rtt - base;
        let least = sample.min(std::mem::replace(&mut self.last_sample, sample));
        self.queueing = if least < self.queueing {
            least
        } else {
            self.queueing + DELAY_UP * (least - self.queueing)
        };
    }

    /// Updates the share of marks, once per virtual round trip: it rises fast and falls slowly.
    fn count_marks(&mut self, ack: &AckSample) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if ack.now.since(self.alpha_at).secs_f64() < self.virtual_rtt || self.delivered == 0 {
            return;
        }
        let share = (self.marked as f64 / self.delivered as f64).min(1.0);
        self.alpha = if share > self.alpha {
            self.alpha + ALPHA_UP * (share - self.alpha)
        } else {
            (1.0 - ALPHA_DOWN) * self.alpha
        };
        (self.delivered, self.marked, self.alpha_at) = (0, 0, ack.now);
    }

    /// The share of marks to which the queueing delay corresponds: 0 at half of the target, 1 at
    /// the target.
    fn virtual_alpha(&self) -> f64 {
        (self.queueing / (self.target / 2.0) - 1.0).clamp(0.0, 1.0)
    }

    /// Square of the relative distance of the window from its value at the last reduction: 0 there,
    /// 1 from half of that value away on.
    fn away(&self) -> f64 {
        let away = INFLECTION * (self.window - self.inflection) / self.inflection;
        (away * away).min(1.0)
    }

    fn may_react(&self, ack: &AckSample) -> bool {
        let pause = ack.srtt.secs_f64().min(self.virtual_rtt);
        self.reacted.is_none_or(|at| ack.now.since(at).secs_f64() >= pause)
    }

    /// Reduces the window for marks and for delay. Returns whether there was a reason.
    fn reduce(&mut self, ack: &AckSample) -> bool {
        let (marks, delay) = (ack.marked > 0, self.virtual_alpha());
        if !(marks || delay > 0.0) || !self.may_react(ack) {
            return marks || delay > 0.0;
        }
        // Several reductions fit into a round trip longer than the virtual one.
        let often = (ack.srtt.secs_f64() / self.virtual_rtt).max(1.0);
        let (alpha, scale) = match (marks, delay > 0.0) {
            (true, false) => (self.alpha, self.away().max(LEAST_GROWTH)),
            (true, true) => (self.alpha.max(delay), 1.0),
            (false, _) => (delay, 1.0),
        };
        self.cut(1.0 - scale * alpha / 2.0 / often, ack.now);
        true
    }

    fn cut(&mut self, leaves: f64, now: Instant) {
        if std::mem::take(&mut self.grown) {
            self.inflection = self.window;
        }
        self.window *= leaves;
        self.reacted = Some(now);
    }

    /// Grows the window for an acknowledgement.
    fn grow(&mut self, mss: f64, ack: &AckSample) {
        let rtt = ack.srtt.secs_f64();
        let longer = rtt.max(self.virtual_rtt);
        let short = (rtt / self.virtual_rtt).min(1.0);
        let since = self
            .reacted
            .map_or(1.0, |at| (ack.now.since(at).secs_f64() / (RECOVERY_TRIPS * longer)).min(1.0));
        let parts = (mss / self.window).min(1.0) * short * short * self.away().max(LEAST_GROWTH);
        let multiple = 1.0 + self.mul_increase * self.window / mss * since * self.away();
        let unmarked = ack.delivered.saturating_sub(ack.marked) as f64;
        let most = self.flights[0].max(self.flights[1]) as f64 * HEADROOM + mss;
        if self.window < most {
            self.window = (self.window + unmarked * parts * multiple).min(most);
            self.grown = true;
        }
    }

    fn set(&mut self, win: &mut Window) {
        self.window = self.window.max(2.0 * win.mss() as f64);
        win.cwnd = self.window as u64;
        win.ssthresh = win.cwnd;
    }
}

impl Control for Scream {
    fn flags(&self) -> ControlFlags {
        CONTROL_FLAGS
    }

    fn on_open(&mut self, win: &mut Window, _srtt: Duration, now: Instant) {
        (self.window, self.minute, self.alpha_at) = (win.cwnd as f64, now, now);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        // After a timeout the transport has set `cwnd`, which the reference window follows.
        self.window = self.window.min(win.cwnd as f64 + 1.0);
        self.flights[0] = self.flights[0].max(ack.in_flight_before);
        if ack.round {
            self.flights = [ack.in_flight_before, self.flights[0]];
        }
        let Some(rtt) = ack.rtt else { return };
        self.measure(rtt.secs_f64(), ack.now);
        self.count_marks(ack);
        if !self.reduce(ack) {
            self.grow(win.mss() as f64, ack);
        }
        self.set(win);
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, now: Instant) {
        if cause != Cause::Mark {
            self.cut(self.beta_loss, now);
            self.set(win);
        }
    }

    fn pacing_rate(&self, win: &Window, _flight: &Flight, srtt: Duration) -> Option<u64> {
        (srtt > Duration::ZERO).then(|| (PACE * win.cwnd as f64 / srtt.secs_f64()).max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn scream() -> Scream {
        Scream::new(&Params::defaults(FIELDS))
    }

    fn ack(at_ms: u64, marked: u64) -> AckSample {
        let now = Instant::ZERO + Duration::from_millis(at_ms);
        let rtt = Some(Duration::from_millis(100));
        AckSample { now, rtt, marked, in_flight_before: 1_000_000, ..testing::ack_sample(MSS) }
    }

    #[test]
    fn delay_reduces_from_half_of_the_target_on() {
        let at = |queueing| Scream { queueing, ..scream() }.virtual_alpha();
        assert_eq!([0.03, 0.06, 0.2].map(at), [0.0, 1.0, 1.0]);
        assert!((at(0.045) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn marks_raise_the_share_fast_and_it_falls_slowly() {
        let mut control = scream();
        control.count_marks(&ack(25, MSS));
        assert_eq!(control.alpha, 0.125);
        control.count_marks(&ack(50, 0));
        assert_eq!(control.alpha, 0.125 * 127.0 / 128.0);
        // A second mark within one virtual round trip is counted in `marked`, but does not change
        // `alpha` yet.
        control.count_marks(&ack(60, MSS));
        assert_eq!((control.marked, control.alpha), (MSS, 0.125 * 127.0 / 128.0));
    }

    #[test]
    fn growth_is_a_segment_and_a_fiftieth_away_from_the_last_reduction() {
        // 100 segments are acknowledged at a window of 100: it grows by 1 + 2 segments, near the
        // last reduction by a quarter of one.
        let mut control = Scream { window: 100_000.0, ..scream() };
        control.flights = [1_000_000; 2];
        (0..100).for_each(|_| control.grow(1_000.0, &ack(0, 0)));
        assert!((102_900.0..103_100.0).contains(&control.window), "{}", control.window);
        let mut control = Scream { window: 100_000.0, inflection: 100_000.0, ..control };
        (0..100).for_each(|_| control.grow(1_000.0, &ack(0, 0)));
        assert!((100_200.0..100_300.0).contains(&control.window), "{}", control.window);
    }

    #[test]
    fn a_loss_leaves_seven_tenths() {
        let mut win = Window { cwnd: 100_000, mss: MSS as u16, ..Window::default() };
        let mut control = Scream { window: 100_000.0, ..scream() };
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.cwnd, 70_000);
    }

    #[test]
    fn a_flow_fills_the_line_and_keeps_the_queue_below_its_target() {
        let mut path = testing::Path::new(scream(), 20.0, 50, 10_000_000);
        path.run(40.0);
        let (used, trips) = path.measure(20.0);
        let queued = (trips - 1.0) * 0.05;
        assert!(used > 0.95 && queued < 0.06, "{used} {queued}");
        assert_eq!(path.lost, 0);
    }
}
