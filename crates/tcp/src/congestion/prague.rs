//! The essential parts of TCP Prague (RFC 9331 section 4.3 and appendix A.1; K. De Schepper, O.
//! Tilmans, B. Briscoe, V. Goel, draft-briscoe-iccrg-prague-congestion-control; version 0.7 of the
//! Linux module, 2024).
//!
//! As in DCTCP, alpha averages the marked fraction, and a round trip with marks reduces the window
//! by alpha/2. Unlike in DCTCP, unmarked bytes go on growing it, so a marking probability p gives a
//! window of about 2 (1 - p)/p segments. Below 25 ms both happen as if the round trip took 25 ms,
//! so that rates do not depend on it. Losses halve the window. Everything is paced.

mod classic;
mod rate;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{
    AckSample, BurstSize, CLASSIC, CaState, Cause, Control, ControlFlags, EcnMode, Entry,
};
use super::growth::slow_start;
use crate::send_state::{Flight, Window};
use classic::{Detector, Reference};
use rate::{Mode, Pace};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "prague",
        summary: "answers marks in proportion, for the low-latency queue of L4S; paced",
        year: 2024,
        source: "RFC 9331; Linux tcp_prague.c 0.7",
        deviations: "a round trip with marks that is over before the \
             virtual one is answered by the first mark after that, as in UDP Prague (Linux lets it \
             go). With cwnd_mode = window two segments are the least window, and the rate's 3 % swing \
             and smaller segments are left out (both are there in the other modes). The search for queues that take ECT(1) for \
             ECT(0) (classic_fallback) is off, as in Linux",
        fields: FIELDS,
    },
    make: |params| {
        let mut prague = Prague::new(Settings::read(params));
        prague.pace = match params.choice("cwnd_mode") {
            "rate" => Some(Pace::new(Mode::Rate, prague.settings.rtt_virtual)),
            "switch" => Some(Pace::new(Mode::Switch, prague.settings.rtt_virtual)),
            _ => None,
        };
        Box::new(prague)
    },
};

const FIELDS: &[Field] = &[
    Field::new("g", Kind::above(Unit::None, 0.0, 1.0), Value::Real(1.0 / 16.0))
        .meaning("Weight of a round trip's marked fraction in the average alpha.")
        .source("prague_ecn_shift = 4 of tcp_prague.c"),
    Field::new("rtt_virtual", Kind::above(Unit::Time, 0.0, 1.0), Value::Real(0.025))
        .meaning("Round trips below this count like it.")
        .source("prague_rtt_target of tcp_prague.c: 25 ms"),
    Field::new("cwnd_mode", Kind::Choice(&["window", "rate", "switch"]), Value::Choice("window"))
        .meaning(
            "What marks reduce and what grows: the window, or the rate, which goes below two segments a round \
             trip, down to 100 kbit/s, in smaller segments below 1 Mbit/s; switch: the rate while the window is \
             at most four full segments.",
        )
        .source(
            "prague_cwnd_mode = 0 of tcp_prague.c 0.7 (the patch sent to netdev on 2024-10-15); L4STeam's module \
             before it had the rate alone",
        ),
    Field::new("classic_variation", Kind::above(Unit::Time, 0.0, 1.0), Value::Real(750e-6))
        .meaning("With classic_fallback: from which mean deviation of the round trip on a queue looks classic.")
        .source(
            "V0_LG of tcp_prague.c 0.6: 750 us; L4STeam's kernel 5.15 had it 16 bits too small by its scale, \
             so that it stood for 1.5 us (L4STeam/linux, issue 38)",
        ),
    Field::new("classic_depth", Kind::above(Unit::Time, 0.0, 1.0), Value::Real(2e-3))
        .meaning("With classic_fallback: from which queueing delay on a queue looks classic.")
        .source("D0_LG of tcp_prague.c 0.6: 2 ms; in L4STeam's kernel 5.15 in effect 1.6 us (issue 38)"),
];

#[derive(Clone, Copy, Debug)]
struct Settings {
    g: f64,
    rtt_virtual: Duration,
    classic: Reference,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let micros = |name| params.real(name) * 1e6;
        Settings {
            g: params.real("g"),
            rtt_virtual: params.time("rtt_virtual"),
            classic: Reference {
                variation: micros("classic_variation"),
                depth: micros("classic_depth"),
            },
        }
    }
}

/// Round trips after slow start before a short round trip counts like the virtual one.
const ROUNDS_BEFORE: u32 = 4;
/// Smallest window, in segments.
const LEAST: u64 = 2;

#[derive(Clone, Debug)]
struct Prague {
    settings: Settings,
    /// The window with its fraction of a byte, bytes; zero before the first ACK.
    window: f64,
    /// Average fraction of bytes marked, sampled from the first mark on.
    alpha: f64,
    /// A mark has been seen: there is a queue that marks.
    marked_once: bool,
    /// A loss is being repaired: no growth.
    losing: bool,
    /// The window before the last loss, bytes.
    before_loss: f64,
    /// Round trips since slow start ended.
    rounds: u32,
    /// Bytes delivered since alpha's last sample; `marked` has the bytes reported as marked.
    delivered: u64,
    marked: u64,
    /// A round trip is over when this number is acknowledged.
    round_end: u64,
    sampled: Instant,
    reduced: Instant,
    /// Marks are unanswered, because the virtual round trip was not over.
    owed: bool,
    /// Bytes in flight.
    in_flight: u64,
    /// The detector of classic queues, if `classic_fallback` is set.
    detector: Option<Detector>,
    /// The rate, if the window may follow it (`cwnd_mode`).
    pace: Option<Pace>,
}

impl Prague {
    fn new(settings: Settings) -> Self {
        Prague {
            settings,
            window: 0.0,
            alpha: 0.0,
            marked_once: false,
            losing: false,
            before_loss: 0.0,
            rounds: 0,
            delivered: 0,
            marked: 0,
            round_end: 0,
            sampled: Instant::ZERO,
            reduced: Instant::ZERO,
            owed: false,
            in_flight: 0,
            detector: None,
            pace: None,
        }
    }

    /// Whether a short round trip counts like the virtual one.
    fn independent(&self, win: &Window) -> bool {
        win.cwnd >= win.ssthresh && self.rounds >= ROUNDS_BEFORE
    }

    /// Whether a virtual round trip has passed since `since`, if a real one has.
    fn virtual_round(&self, win: &Window, since: Instant, now: Instant) -> bool {
        !self.independent(win) || now.since(since) >= self.settings.rtt_virtual
    }

    /// Linux's `prague_enter_cwr`: reduces the window by alpha/2, once per virtual round trip.
    fn answer_marks(&mut self, win: &Window, now: Instant) {
        self.owed = !self.virtual_round(win, self.reduced, now);
        if !self.owed {
            let least = self.detector.as_ref().map_or(0.0, Detector::alpha);
            self.reduce(win, self.alpha.max(least) / 2.0);
            self.reduced = now;
        }
    }

    /// Reduces the window or the rate, whichever leads, by this share.
    fn reduce(&mut self, win: &Window, part: f64) {
        let independent = self.independent(win);
        match &mut self.pace {
            Some(pace) if pace.leads && independent => {
                pace.shrink(part);
                self.window = pace.window();
            }
            Some(pace) => {
                self.window *= 1.0 - part;
                pace.follow(self.window);
            }
            None => self.shrink(win, part),
        }
    }

    /// Reduces the window by this share, to no less than two segments: far below one segment, the
    /// next unmarked one would add mss/window segments, a burst.
    fn shrink(&mut self, win: &Window, part: f64) {
        self.window = (self.window * (1.0 - part)).max((LEAST * win.mss()) as f64);
    }

    /// Factor on the growth per ACK (Linux's `prague_rate_scaled_ai_ack_increase`). Short round
    /// trips grow like the virtual one, which is longer and has a larger window: (srtt/virtual)^2.
    fn share_of_increase(&self, srtt: Duration) -> f64 {
        let short = srtt > Duration::ZERO && srtt < self.settings.rtt_virtual;
        if self.rounds < ROUNDS_BEFORE || !short {
            return 1.0;
        }
        let ratio = srtt.nanos() as f64 / self.settings.rtt_virtual.nanos() as f64;
        ratio * ratio
    }

    fn grow(&mut self, win: &mut Window, ack: &AckSample) {
        let unmarked = ack.delivered.saturating_sub(ack.marked);
        // A sender in rate mode need not fill its window; it only stops growing when the program
        // limits it (`app_limited`).
        let limited = match self.pace {
            Some(_) => !ack.rate.is_some_and(|rate| rate.app_limited),
            None => ack.window_limited,
        };
        if unmarked == 0 || self.losing || !limited {
            return;
        }
        let mut rest = unmarked;
        if win.cwnd < win.ssthresh {
            rest = slow_start(win, unmarked);
            self.window = win.cwnd as f64;
        }
        let independent = self.independent(win);
        if let Some(pace) = self.pace.as_mut().filter(|pace| pace.leads && independent) {
            pace.grow(rest, win.mss());
            self.window = self.window.max(pace.window());
            return;
        }
        let share = self.share_of_increase(ack.srtt);
        self.window += share * rest as f64 * self.increment(win) / self.window;
        if let Some(pace) = &mut self.pace {
            pace.rise(self.window);
        }
    }

    /// Bytes that a window of unmarked bytes adds: a full segment, also if segments are smaller.
    fn increment(&self, win: &Window) -> f64 {
        self.pace.as_ref().map_or(win.mss() as f64, Pace::full)
    }

    /// The window in whole segments, rounded up.
    fn goal(&self, win: &Window) -> u64 {
        (self.window as u64).div_ceil(win.mss()).max(LEAST) * win.mss()
    }

    /// Changes the segment size to `mss` bytes. The threshold keeps its number of segments if the
    /// window does, otherwise its bytes.
    fn resize(&self, win: &mut Window, mss: u16) {
        let old = win.mss();
        let before = win.cwnd / old;
        win.mss = mss;
        win.cwnd = self.goal(win);
        if win.cwnd / win.mss() == before {
            win.ssthresh = win.ssthresh.saturating_mul(win.mss()) / old;
        }
    }

    /// Moves `cwnd` towards the window, rounded up to whole segments, by a segment per ACK.
    fn lead(&self, win: &mut Window) {
        let (mss, goal) = (win.mss(), self.goal(win));
        if win.cwnd > goal {
            win.cwnd = goal.max(win.cwnd - mss);
            win.ssthresh = win.cwnd;
        } else {
            win.cwnd = goal.min(win.cwnd + mss);
        }
    }

    /// Linux's `prague_update_alpha`: samples alpha once per virtual round trip.
    fn observe(&mut self, win: &mut Window, ack: &AckSample) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        let over = ack.flight.una >= self.round_end && self.delivered > 0;
        if !over || !self.virtual_round(win, self.sampled, ack.now) {
            return;
        }
        if self.marked_once {
            let fraction = self.marked as f64 / self.delivered as f64;
            // PRAGUE_MAX_ALPHA: marks of packets without data count as well, so the fraction may
            // exceed 1.
            self.alpha = (self.alpha + self.settings.g * (fraction - self.alpha)).min(1.0);
            self.sampled = ack.now;
            if let Some(detector) = &mut self.detector {
                detector.judge(ack.min_rtt);
            }
        }
        let mut resized = win.mss;
        if let Some(pace) = &mut self.pace {
            if self.marked_once && self.rounds >= ROUNDS_BEFORE && !self.losing {
                resized = pace.segment();
            }
            pace.end_round();
        }
        if win.mss != resized {
            self.resize(win, resized);
        }
        (self.delivered, self.marked) = (0, 0);
        self.round_end = ack.flight.max;
        self.rounds += u32::from(win.cwnd >= win.ssthresh);
    }
}

impl Control for Prague {
    fn flags(&self) -> ControlFlags {
        let rates = self.pace.is_some();
        ControlFlags { own_window: true, paced: true, rates, ecn: EcnMode::Scalable, ..CLASSIC }
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if self.window == 0.0 {
            self.window = win.cwnd as f64;
        }
        self.in_flight = ack.in_flight;
        if let Some(pace) = &mut self.pace {
            pace.note(win, ack);
        }
        if let (Some(detector), Some(rtt)) = (&mut self.detector, ack.rtt) {
            detector.update(rtt);
        }
        self.losing &= ack.ca_state != CaState::Open;
        if self.owed && ack.marked > 0 {
            self.answer_marks(win, ack.now);
        }
        if ack.marked > 0 && !std::mem::replace(&mut self.marked_once, true) {
            match &self.pace {
                // In rate mode the rate follows at the next reduction.
                Some(_) => self.window /= 2.0,
                None => self.shrink(win, 0.5),
            }
        }
        self.grow(win, ack);
        self.lead(win);
        self.observe(win, ack);
        if let Some(pace) = &mut self.pace {
            pace.switch(win, self.marked_once);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, now: Instant) {
        if self.window == 0.0 {
            self.window = win.cwnd as f64;
        }
        if let Some(detector) = &mut self.detector {
            detector.scale(win.ssthresh / win.mss());
        }
        if cause == Cause::Mark {
            return self.answer_marks(win, now);
        }
        self.before_loss = self.window;
        self.pace.iter_mut().for_each(Pace::note_loss);
        self.reduce(win, 0.5);
        (self.losing, self.owed) = (true, false);
        // Prague's rate permits a window below one segment until segments get smaller.
        win.ssthresh = (self.window as u64).max(win.mss());
    }

    fn undo(&mut self, _win: &mut Window, _ends: bool) {
        self.window = self.window.max(self.before_loss);
        self.pace.iter_mut().for_each(Pace::undo);
        self.losing = false;
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }

    fn on_restart(&mut self, win: &mut Window, _idle: Duration, _now: Instant) {
        self.window = win.cwnd as f64;
        self.pace.iter_mut().for_each(|pace| pace.follow(self.window));
    }

    fn detect_classic_queues(&mut self) {
        self.detector = Some(Detector::new(self.settings.classic));
    }

    /// `prague_tso_segs`: as many segments as the rate sends in 1/4,096 s (prague_burst_shift).
    fn burst_size(&self, rate: u64, mss: u64) -> BurstSize {
        BurstSize::Segments(((rate / mss) >> 12).max(1))
    }

    /// Linux's `prague_update_pacing_rate`: a window (or the bytes in flight, if more) per round
    /// trip; twice that below half of ssthresh.
    fn pacing_rate(&self, win: &Window, _flight: &Flight, srtt: Duration) -> Option<u64> {
        (srtt > Duration::ZERO).then_some(())?;
        if let Some(pace) = &self.pace {
            return Some(pace.pace(win, self.sampled));
        }
        let window = (self.window as u64).max(self.in_flight).max(win.mss());
        let times = if win.cwnd < win.ssthresh / 2 { 2 } else { 1 };
        let rate = u128::from(window) * times * 1_000_000_000 / u128::from(srtt.nanos());
        Some(rate.max(1) as u64)
    }
}

#[cfg(test)]
mod tests;
