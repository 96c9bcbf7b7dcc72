//! LEDBAT++ (P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo,
//! draft-irtf-iccrg-ledbat-plus-plus-06, 2026; implemented in Windows), for background transfers:
//! it leaves the link to other flows as soon as they build a queue.
//!
//! The queueing delay is the round-trip time less the smallest of ten minutes. Below 60 ms the
//! window grows by at most a segment per round trip, on short paths by down to a sixteenth of one;
//! above 60 ms it shrinks in proportion to itself and to the excess. Slow start is slower by the
//! same factor, the gain, and ends at 45 ms. For a tenth of the time, in slowdowns, the window is
//! two segments: then flows see the path without the queue that they keep themselves. Losses halve
//! the window as in Reno.
//!
//! Section numbers are the draft's.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "ledbat++",
        summary: "for background transfers: yields as soon as it sees 60 ms of queue, and every now and \
              then looks at the path without its own",
        year: 2026,
        source: "draft-irtf-iccrg-ledbat-plus-plus-06 (recalled, and read through implementations of it), \
             with RFC 6817's filters: the least of four round trips against the least of ten minutes",
        deviations: "Where the draft leaves room: the ramp after a slowdown is section 4.1's slow start \
             without its early end, the two round trips of a slowdown are smoothed ones",
        fields: FIELDS,
    },
    make: |params| Box::new(LedbatPp::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("target", Kind::above(Unit::Time, 0.0, 10.0), Value::Real(0.06))
        .meaning("Queueing delay to keep; three quarters of it end the first slow start.")
        .source("section 4.5, and section 4.1: 45 ms"),
    Field::new("gain_parts", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(16))
        .meaning("The gain is at least one part in this many.")
        .source("section 4.2"),
    Field::new("constant", Kind::above(Unit::None, 0.0, 100.0), Value::Real(1.0))
        .meaning("Weight of the delay beyond the target.")
        .source("section 4.3"),
];

#[derive(Clone, Copy, Debug)]
struct Settings {
    target: Duration,
    gain_parts: u64,
    constant: f64,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let (gain_parts, constant) = (params.whole("gain_parts"), params.real("constant"));
        Settings { target: params.time("target"), gain_parts, constant }
    }

    /// Section 4.2: GAIN = 1 / min(16, ceil(2 TARGET / base)).
    fn gain(&self, base: Duration) -> f64 {
        let parts = (2 * self.target.nanos()).div_ceil(base.nanos().max(1));
        1.0 / parts.clamp(1, self.gain_parts) as f64
    }

    /// Section 4.1: the queueing delay that ends the first slow start.
    fn early(&self) -> Duration {
        Duration::from_nanos(self.target.nanos() / 4 * 3)
    }
}

/// Sections 4.1 and 4.4: first window, and window of a slowdown, segments.
const LEAST: u64 = 2;
/// Section 4.4: `TRIPS` is the length of a slowdown and the wait before the first one, in round
/// trips; `PAUSE` is the pause after a slowdown, as a multiple of its length with its ramp.
const TRIPS: u64 = 2;
const PAUSE: u64 = 9;
/// RFC 6817 section 2.4.2: CURRENT_FILTER, in samples, and BASE_HISTORY, in minutes.
const CURRENT: usize = 4;
const HISTORY: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Round-trip times that show the queueing delay (RFC 6817 section 3.4.2).
#[derive(Clone, Copy, Debug)]
struct Delays {
    current: [Duration; CURRENT],
    next: usize,
    /// Smallest round-trip time of each of the last minutes, the current minute first.
    base: [Duration; HISTORY],
    minute: Instant,
}

const NONE: Duration = Duration::from_nanos(u64::MAX);

impl Default for Delays {
    fn default() -> Self {
        Delays { current: [NONE; CURRENT], next: 0, base: [NONE; HISTORY], minute: Instant::ZERO }
    }
}

impl Delays {
    fn update(&mut self, rtt: Duration, now: Instant) {
        self.current[self.next] = rtt;
        self.next = (self.next + 1) % CURRENT;
        if now.since(self.minute) >= MINUTE {
            self.minute = now;
            self.base.rotate_right(1);
            self.base[0] = rtt;
        }
        self.base[0] = self.base[0].min(rtt);
    }

    fn base(&self) -> Duration {
        self.base.into_iter().min().unwrap_or(NONE)
    }

    fn queueing(&self) -> Duration {
        let current = self.current.into_iter().min().unwrap_or(NONE);
        current - self.base().min(current)
    }
}

/// The phase of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The first slow start.
    #[default]
    Start,
    Avoid,
    /// The window is two segments until this time.
    Slowdown(Instant),
    /// Slow start back to the window before the slowdown.
    Ramp,
    /// Slow start after a timeout.
    Again,
}

#[derive(Clone, Debug)]
struct LedbatPp {
    settings: Settings,
    delays: Delays,
    phase: Phase,
    /// When the next slowdown is due.
    due: Option<Instant>,
    /// When the current slowdown (with its ramp) began.
    began: Option<Instant>,
    /// Fraction of a byte that belongs to the window besides `cwnd`.
    rest: f64,
}

impl LedbatPp {
    fn new(settings: Settings) -> Self {
        LedbatPp {
            settings,
            delays: Delays::default(),
            phase: Phase::default(),
            due: None,
            began: None,
            rest: 0.0,
        }
    }

    fn set(&mut self, win: &mut Window, window: f64) {
        let window = window.max((LEAST * win.mss()) as f64);
        win.cwnd = window as u64;
        self.rest = window - win.cwnd as f64;
    }

    /// Begins congestion avoidance after slow start or a loss, and sets when the next slowdown is
    /// due.
    fn avoid(&mut self, win: &mut Window, ack: &AckSample) {
        let wait = match self.began.take() {
            Some(began) => ack.now.since(began) * PAUSE,
            None => ack.srtt * TRIPS,
        };
        self.due.get_or_insert(ack.now + wait);
        self.phase = Phase::Avoid;
        win.ssthresh = win.ssthresh.min(win.cwnd);
    }

    /// Section 4.4: begins a slowdown.
    fn slow_down(&mut self, win: &mut Window, ack: &AckSample) {
        self.began = Some(ack.now);
        self.due = None;
        win.ssthresh = win.cwnd;
        self.set(win, 0.0);
        self.phase = Phase::Slowdown(ack.now + ack.srtt * TRIPS);
    }

    /// Section 4.1: slow start, its growth multiplied by the gain.
    fn start(&mut self, win: &mut Window, ack: &AckSample) {
        let early = self.phase == Phase::Start && self.delays.queueing() > self.settings.early();
        if !early && ack.window_limited {
            let grown = win.cwnd as f64
                + self.rest
                + self.settings.gain(self.delays.base()) * ack.acked as f64;
            self.set(win, grown.min(win.ssthresh as f64));
        }
        if early || win.cwnd >= win.ssthresh {
            self.avoid(win, ack);
        }
    }

    /// Section 4.3: applies an acknowledgement's share of the change per round trip.
    fn adapt(&mut self, win: &mut Window, ack: &AckSample) {
        let mss = win.mss() as f64;
        let window = (win.cwnd as f64 + self.rest) / mss;
        let Settings { target, constant, .. } = self.settings;
        let mut change = self.settings.gain(self.delays.base());
        let queueing = self.delays.queueing();
        if queueing > target {
            let excess = queueing.secs_f64() / target.secs_f64() - 1.0;
            change = (change - constant * window * excess).max(-window / 2.0);
        }
        if change < 0.0 || ack.window_limited {
            let share = (ack.acked as f64 / mss / window).min(1.0);
            self.set(win, (window + change * share) * mss);
        }
    }
}

impl Control for LedbatPp {
    fn on_open(&mut self, win: &mut Window, srtt: Duration, now: Instant) {
        self.delays.minute = now;
        if srtt > Duration::ZERO {
            self.delays.update(srtt, now);
        }
        win.cwnd = win.cwnd.min(LEAST * win.mss());
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.delays.update(rtt, ack.now);
        }
        if matches!(ack.ca_state, CaState::Recovery | CaState::Cwr) {
            return;
        }
        match self.phase {
            Phase::Start | Phase::Ramp | Phase::Again => self.start(win, ack),
            Phase::Slowdown(until) if ack.now < until => {}
            Phase::Slowdown(_) => self.phase = Phase::Ramp,
            Phase::Avoid => match self.due {
                None => self.avoid(win, ack),
                Some(due) if ack.now >= due => self.slow_down(win, ack),
                Some(_) => self.adapt(win, ack),
            },
        }
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, _now: Instant) {
        self.rest = 0.0;
        self.phase = if cause == Cause::Timeout { Phase::Again } else { Phase::Avoid };
        // A loss in a slowdown ends it; it halves the window before the slowdown, with which the
        // segment was sent.
        let before = self.began.map_or(0, |_| win.ssthresh);
        win.ssthresh = (win.cwnd.max(before) / 2).max(LEAST * win.mss());
    }
}

#[cfg(test)]
mod tests;
