//! TCP Prague's essentials (RFC 9331 section 4.3 and appendix A.1; K. De Schepper, O. Tilmans,
//! B. Briscoe, V. Goel, draft-briscoe-iccrg-prague-congestion-control; version 0.7 of the Linux module,
//! 2024).
//!
//! In five lines. As in DCTCP, alpha averages the marked fraction, and a round trip with marks cuts
//! the window by alpha/2. Other than there, unmarked bytes go on growing it, so a marking probability p
//! gives a window of about 2 (1 - p)/p segments. Below 25 ms both happen as if the round trip took
//! 25 ms, so that rates do not depend on it. Losses halve the window as Reno does. Everything is paced,
//! and the window has fractions.

mod classic;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, CaState, Cause, Control, ControlFlags, EcnMode, Entry};
use super::growth::slow_start;
use crate::send_state::{Flight, Window};
use classic::Detector;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "prague",
        summary: "answers marks in proportion, for the low-latency queue of L4S; paced",
        year: 2024,
        source: "RFC 9331; Linux tcp_prague.c 0.7",
        deviations: "a round trip with marks that is over before the \
             virtual one is answered by the first mark after that, as in UDP Prague (Linux lets it \
             go). Left out: the rate mode and smaller segments of windows \
             below five segments, the rate's 3 % swing. The search for queues that take ECT(1) for \
             ECT(0) (classic_fallback) is off, as in Linux",
        fields: FIELDS,
    },
    make: |params| Box::new(Prague::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("g", Kind::above(Unit::None, 0.0, 1.0), Value::Real(1.0 / 16.0))
        .meaning("Weight of a round trip's marked fraction in the average alpha.")
        .source("prague_ecn_shift = 4 of tcp_prague.c"),
    Field::new("rtt_virtual", Kind::above(Unit::Time, 0.0, 1.0), Value::Real(0.025))
        .meaning("Round trips below this count like it.")
        .source("prague_rtt_target of tcp_prague.c: 25 ms"),
];

#[derive(Clone, Copy, Debug)]
struct Settings {
    g: f64,
    rtt_virtual: Duration,
}

impl Settings {
    fn read(params: &Params) -> Self {
        Settings { g: params.real("g"), rtt_virtual: params.time("rtt_virtual") }
    }
}

/// Round trips after slow start before they do.
const ROUNDS_BEFORE: u32 = 4;
/// Smallest window, in segments.
const LEAST: u64 = 2;

#[derive(Clone, Debug)]
struct Prague {
    settings: Settings,
    /// The window with its fractions, bytes; zero before the first ACK.
    window: f64,
    /// Average fraction of bytes marked; counted from the first mark on.
    alpha: f64,
    /// A mark has been seen: there is a queue that marks.
    marked_once: bool,
    /// A loss is being repaired: no growth.
    losing: bool,
    /// The window before that loss.
    before_loss: f64,
    /// Round trips since slow start.
    rounds: u32,
    /// Bytes reported since alpha's last sample, and of these the marked ones.
    delivered: u64,
    marked: u64,
    /// A round trip is over when this number is acknowledged.
    round_end: u64,
    sampled: Instant,
    reduced: Instant,
    /// Marks were not answered yet, for the virtual round trip was not over.
    owed: bool,
    /// Bytes in the network.
    in_flight: u64,
    /// Looks for a classic queue, where `classic_fallback` is set.
    detector: Option<Detector>,
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
        }
    }

    /// Whether short round trips count like the reference.
    fn independent(&self, win: &Window) -> bool {
        win.cwnd >= win.ssthresh && self.rounds >= ROUNDS_BEFORE
    }

    /// Whether `since` is a virtual round trip ago, the real one being over.
    fn virtual_round(&self, win: &Window, since: Instant, now: Instant) -> bool {
        !self.independent(win) || now.since(since) >= self.settings.rtt_virtual
    }

    /// Linux's `prague_enter_cwr`, once per virtual round trip.
    fn answer_marks(&mut self, win: &Window, now: Instant) {
        self.owed = !self.virtual_round(win, self.reduced, now);
        if !self.owed {
            let least = self.detector.as_ref().map_or(0.0, Detector::alpha);
            self.shrink(win, self.alpha.max(least) / 2.0);
            self.reduced = now;
        }
    }

    /// Takes a part of the window. What is left has a floor: far below a segment the next unmarked
    /// one, which adds mss/window segments, would let go a flood.
    fn shrink(&mut self, win: &Window, part: f64) {
        self.window = (self.window * (1.0 - part)).max((LEAST * win.mss()) as f64);
    }

    /// Linux's `prague_rate_scaled_ai_ack_increase`: a segment per reference round trip, whose
    /// window would be longer in proportion.
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
        if unmarked == 0 || self.losing || !ack.window_limited {
            return;
        }
        let mut rest = unmarked;
        if win.cwnd < win.ssthresh {
            rest = slow_start(win, unmarked);
            self.window = win.cwnd as f64;
        }
        let share = self.share_of_increase(ack.srtt);
        self.window += share * rest as f64 * win.mss() as f64 / self.window;
    }

    /// Leads `cwnd` to the window, rounded up to whole segments, by a segment per ACK.
    fn lead(&self, win: &mut Window) {
        let mss = win.mss();
        let goal = (self.window as u64).div_ceil(mss).max(LEAST) * mss;
        if win.cwnd > goal {
            win.cwnd = goal.max(win.cwnd - mss);
            win.ssthresh = win.cwnd;
        } else {
            win.cwnd = goal.min(win.cwnd + mss);
        }
    }

    /// Linux's `prague_update_alpha`, once per virtual round trip.
    fn observe(&mut self, win: &Window, ack: &AckSample) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        let over = ack.flight.una >= self.round_end && self.delivered > 0;
        if !over || !self.virtual_round(win, self.sampled, ack.now) {
            return;
        }
        if self.marked_once {
            let fraction = self.marked as f64 / self.delivered as f64;
            self.alpha += self.settings.g * (fraction - self.alpha);
            self.sampled = ack.now;
            if let Some(detector) = &mut self.detector {
                detector.judge(ack.min_rtt);
            }
        }
        (self.delivered, self.marked) = (0, 0);
        self.round_end = ack.flight.max;
        self.rounds += u32::from(win.cwnd >= win.ssthresh);
    }
}

impl Control for Prague {
    fn flags(&self) -> ControlFlags {
        ControlFlags { own_window: true, paced: true, ecn: EcnMode::Scalable, ..CLASSIC }
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if self.window == 0.0 {
            self.window = win.cwnd as f64;
        }
        self.in_flight = ack.in_flight;
        if let (Some(detector), Some(rtt)) = (&mut self.detector, ack.rtt) {
            detector.update(rtt);
        }
        self.losing &= ack.ca_state != CaState::Open;
        if self.owed && ack.marked > 0 {
            self.answer_marks(win, ack.now);
        }
        if ack.marked > 0 && !std::mem::replace(&mut self.marked_once, true) {
            self.shrink(win, 0.5);
        }
        self.grow(win, ack);
        self.lead(win);
        self.observe(win, ack);
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
        self.shrink(win, 0.5);
        (self.losing, self.owed) = (true, false);
        win.ssthresh = self.window as u64;
    }

    fn undo(&mut self, _win: &mut Window) {
        self.window = self.window.max(self.before_loss);
        self.losing = false;
    }

    fn on_restart(&mut self, win: &mut Window, _idle: Duration, _now: Instant) {
        self.window = win.cwnd as f64;
    }

    fn detect_classic_queues(&mut self) {
        self.detector = Some(Detector::default());
    }

    /// Linux's `prague_update_pacing_rate`: a window (or what is out, if more) per round trip; twice
    /// that below half of ssthresh.
    fn pacing_rate(&self, win: &Window, _flight: &Flight, srtt: Duration) -> Option<u64> {
        if srtt == Duration::ZERO {
            return None;
        }
        let window = (self.window as u64).max(self.in_flight).max(win.mss());
        let times = if win.cwnd < win.ssthresh / 2 { 2 } else { 1 };
        let rate = u128::from(window) * times * 1_000_000_000 / u128::from(srtt.nanos());
        Some(rate.max(1) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::marking::Path;
    use super::super::testing::{MSS, ack_sample};
    use super::*;

    impl Default for Prague {
        fn default() -> Self {
            Prague::new(Settings::read(&Params::defaults(FIELDS)))
        }
    }

    fn path(rtt_ms: u64) -> Path {
        Path::new(Box::new(Prague::default()), rtt_ms, 3)
    }

    #[test]
    fn at_random_marks_the_window_is_a_multiple_of_one_over_p() {
        // Derived: every W + 1/p acknowledgements (a round trip, then until the next mark) the window
        // loses W p/2, and every unmarked one adds 1/W: with x = W p,
        // x^2 = 2 (1 - p) (x + 1); for small p x is 2.73, and 2 where a mark is certain.
        for p in [0.02, 0.05, 0.1] {
            let seen = path(40).run(1_000_000, |_| p);
            let q = 1.0f64 - p;
            let law = (q + (q * q + 2.0 * q).sqrt()) / p;
            assert!((seen.window / law - 1.0).abs() < 0.10, "p {p}: {seen:?}, law {law}");
        }
    }

    #[test]
    fn below_the_reference_the_rate_does_not_depend_on_the_round_trip() {
        // The window is in proportion to the round trip.
        let rate = |rtt| path(rtt).run(1_000_000, |_| 0.02).window / rtt as f64;
        let reference = rate(25);
        for rtt in [5, 10, 15] {
            let ratio = rate(rtt) / reference;
            assert!((0.85..1.15).contains(&ratio), "{rtt} ms: {ratio}");
        }
        assert!(rate(50) < 0.6 * reference, "above, as every control's: {}", rate(50));
    }

    #[test]
    fn the_first_mark_halves_the_window_and_ends_slow_start() {
        let (mut prague, mut win) = (Prague::default(), Window::default());
        (win.mss, win.cwnd, win.ssthresh) = (1_000, 10_000, u64::MAX);
        (0..30).for_each(|_| prague.on_ack(&mut win, &ack_sample(2_000)));
        assert_eq!(win.cwnd, 70_000);
        let flight = Flight { una: 70_001, max: 140_001, ..Flight::default() };
        let ack = |marked, acked| AckSample { flight, marked, ..ack_sample(acked) };
        prague.on_ack(&mut win, &ack(MSS, MSS));
        assert_eq!((win.cwnd, win.ssthresh), (69_000, 69_000), "a segment per ACK");
        // Down to half, less what unmarked bytes add meanwhile: a segment in 18 ACKs.
        (0..33).for_each(|_| prague.on_ack(&mut win, &ack(0, 2_000)));
        assert_eq!((win.cwnd, win.ssthresh), (37_000, 37_000));
    }

    #[test]
    fn a_loss_halves_the_window_and_stops_its_growth_until_it_is_repaired() {
        let (mut prague, mut win) = (Prague::default(), Window::default());
        (win.mss, win.cwnd, win.ssthresh) = (1_000, 20_000, 20_000);
        let flight = Flight { una: 1, max: 20_001, ..Flight::default() };
        prague.on_congestion(&mut win, &flight, Cause::Loss, Instant::ZERO);
        let ca_state = AckSample { flight, ca_state: CaState::Recovery, ..ack_sample(2_000) };
        (0..15).for_each(|_| prague.on_ack(&mut win, &ca_state));
        assert_eq!((win.cwnd, win.ssthresh), (10_000, 10_000));
        let open = AckSample { flight, ..ack_sample(2_000) };
        (0..5).for_each(|_| prague.on_ack(&mut win, &open));
        assert_eq!(win.cwnd, 11_000, "a segment per window again");
        prague.undo(&mut win);
        (0..20).for_each(|_| {
            prague.on_ack(&mut win, &AckSample { window_limited: false, ..ca_state })
        });
        assert_eq!(win.cwnd, 20_000);
    }

    #[test]
    fn however_long_all_was_marked_one_unmarked_segment_lets_no_flood_go() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let floor = LEAST as f64 * MSS as f64;
        for cause in [Cause::Mark, Cause::Loss] {
            let mut prague = Prague { alpha: 1.0, marked_once: true, ..Prague::default() };
            let mut win =
                Window { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..Window::default() };
            for trip in 1..200 {
                prague.on_congestion(&mut win, &Flight::default(), cause, at(100 * trip));
                let all = AckSample { now: at(100 * trip), marked: MSS, ..ack_sample(MSS) };
                prague.on_ack(&mut win, &all);
            }
            assert_eq!((prague.window, win.cwnd), (floor, LEAST * MSS), "{cause:?}");
            prague.on_ack(&mut win, &AckSample { now: at(20_000), ..ack_sample(MSS) });
            assert!(prague.window <= floor + MSS as f64 / 2.0, "{}", prague.window);
            assert!(win.cwnd <= (LEAST + 1) * MSS, "{}", win.cwnd);
        }
    }

    #[test]
    fn a_short_round_trip_with_marks_waits_for_the_virtual_one_to_end() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let old = Prague { alpha: 0.5, window: 20_000.0, rounds: 4, ..Prague::default() };
        let mut prague = Prague { marked_once: true, reduced: at(100), round_end: u64::MAX, ..old };
        let mut win = Window { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..Window::default() };
        let hear = |prague: &mut Prague, win: &mut Window, ms, marked| {
            prague.on_ack(win, &AckSample { now: at(ms), marked, ..ack_sample(1_000) });
            prague.window
        };
        prague.on_congestion(&mut win, &Flight::default(), Cause::Mark, at(121));
        assert_eq!(prague.window, 20_000.0);
        assert_eq!(hear(&mut prague, &mut win, 124, 1_000), 20_000.0);
        assert!(hear(&mut prague, &mut win, 126, 0) > 20_000.0, "unmarked bytes grow it");
        let cut = hear(&mut prague, &mut win, 127, 1_000);
        assert!((cut / 15_000.0 - 1.0).abs() < 0.01, "{cut}");
        assert_eq!(hear(&mut prague, &mut win, 160, 1_000), cut, "until the next mark");
        prague.on_congestion(&mut win, &Flight::default(), Cause::Mark, at(161));
        assert!(prague.window < 0.76 * cut);
    }

    #[test]
    fn a_window_goes_out_per_round_trip() {
        let prague = Prague { window: 25_500.0, in_flight: 20_000, ..Prague::default() };
        let mut win = Window { mss: 1_000, cwnd: 26_000, ssthresh: 26_000, ..Window::default() };
        let rate = |prague: &Prague, win: &Window, ms| {
            prague.pacing_rate(win, &Flight::default(), Duration::from_millis(ms))
        };
        assert_eq!(rate(&prague, &win, 50), Some(510_000));
        win.ssthresh = u64::MAX;
        assert_eq!(rate(&prague, &win, 50), Some(1_020_000));
        assert_eq!(rate(&prague, &win, 0), None);
    }

    #[test]
    fn a_short_round_trip_grows_the_window_by_its_share_four_round_trips_after_slow_start() {
        // tcp_prague.c: prague_ecn_shift 4, PRAGUE_RTT_TRANSITION 4; half the reference of 25 ms gives a
        // quarter. Without a round trip yet all of it.
        let prague = |rounds| Prague { rounds, ..Prague::default() };
        assert_eq!(prague(0).settings.g, 0.0625);
        for (rounds, us, share) in [
            (3, 12_500, 1.0),
            (4, 12_500, 0.25),
            (5, 12_500, 0.25),
            (4, 25_000, 1.0),
            (4, 50_000, 1.0),
            (4, 0, 1.0),
        ] {
            let seen = prague(rounds).share_of_increase(Duration::from_micros(us));
            assert_eq!(seen, share, "{rounds} rounds, {us} us");
        }
    }

    #[test]
    fn after_a_pause_it_grows_from_the_window_it_is_left() {
        let mut prague = Prague { window: 20_000.0, ..Prague::default() };
        let mut win = Window { cwnd: 10_000, ssthresh: 5_000, mss: 1_000, ..Window::default() };
        prague.on_restart(&mut win, Duration::from_secs(1), Instant::ZERO);
        prague.on_ack(&mut win, &ack_sample(5_000));
        assert_eq!((prague.window, win.cwnd), (10_500.0, 11_000));
    }
}
