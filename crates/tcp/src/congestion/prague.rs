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

use super::growth::slow_start;
use super::{AckSample, CLASSIC, CaState, Cause, Control, ControlFlags, EcnMode, Entry};
use crate::send_state::SendState;
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
    /// Detects a classic queue, if that is switched on.
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
    fn independent(&self, snd: &SendState) -> bool {
        snd.cwnd >= snd.ssthresh && self.rounds >= ROUNDS_BEFORE
    }

    /// Whether `since` is a virtual round trip ago, the real one being over.
    fn virtual_round(&self, snd: &SendState, since: Instant, now: Instant) -> bool {
        !self.independent(snd) || now.since(since) >= self.settings.rtt_virtual
    }

    /// Linux's `prague_enter_cwr`, once per virtual round trip.
    fn answer_marks(&mut self, snd: &SendState, now: Instant) {
        self.owed = !self.virtual_round(snd, self.reduced, now);
        if !self.owed {
            let least = self.detector.as_ref().map_or(0.0, Detector::alpha);
            self.shrink(snd, self.alpha.max(least) / 2.0);
            self.reduced = now;
        }
    }

    /// Takes a part of the window. What is left has a floor: far below a segment the next unmarked
    /// one, which adds mss/window segments, would let go a flood.
    fn shrink(&mut self, snd: &SendState, part: f64) {
        self.window = (self.window * (1.0 - part)).max((LEAST * snd.mss()) as f64);
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

    fn grow(&mut self, snd: &mut SendState, ack: &AckSample) {
        let unmarked = ack.delivered.saturating_sub(ack.marked);
        if unmarked == 0 || self.losing || !ack.window_limited {
            return;
        }
        let mut rest = unmarked;
        if snd.cwnd < snd.ssthresh {
            rest = slow_start(snd, unmarked);
            self.window = snd.cwnd as f64;
        }
        let share = self.share_of_increase(ack.srtt);
        self.window += share * rest as f64 * snd.mss() as f64 / self.window;
    }

    /// Leads `cwnd` to the window, rounded up to whole segments, by a segment per ACK.
    fn lead(&self, snd: &mut SendState) {
        let mss = snd.mss();
        let goal = (self.window as u64).div_ceil(mss).max(LEAST) * mss;
        if snd.cwnd > goal {
            snd.cwnd = goal.max(snd.cwnd - mss);
            snd.ssthresh = snd.cwnd;
        } else {
            snd.cwnd = goal.min(snd.cwnd + mss);
        }
    }

    /// Linux's `prague_update_alpha`, once per virtual round trip.
    fn observe(&mut self, snd: &SendState, ack: &AckSample) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        let over = snd.una >= self.round_end && self.delivered > 0;
        if !over || !self.virtual_round(snd, self.sampled, ack.now) {
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
        self.round_end = snd.max;
        self.rounds += u32::from(snd.cwnd >= snd.ssthresh);
    }
}

impl Control for Prague {
    fn flags(&self) -> ControlFlags {
        ControlFlags { own_window: true, paced: true, ecn: EcnMode::Scalable, ..CLASSIC }
    }

    fn on_ack(&mut self, snd: &mut SendState, ack: &AckSample) {
        if self.window == 0.0 {
            self.window = snd.cwnd as f64;
        }
        self.in_flight = ack.in_flight;
        if let (Some(detector), Some(rtt)) = (&mut self.detector, ack.rtt) {
            detector.learn(rtt);
        }
        self.losing &= ack.ca_state != CaState::Open;
        if self.owed && ack.marked > 0 {
            self.answer_marks(snd, ack.now);
        }
        if ack.marked > 0 && !std::mem::replace(&mut self.marked_once, true) {
            self.shrink(snd, 0.5);
        }
        self.grow(snd, ack);
        self.lead(snd);
        self.observe(snd, ack);
    }

    fn on_congestion(&mut self, snd: &mut SendState, cause: Cause, now: Instant) {
        if self.window == 0.0 {
            self.window = snd.cwnd as f64;
        }
        if let Some(detector) = &mut self.detector {
            detector.scale(snd.ssthresh / snd.mss());
        }
        if cause == Cause::Mark {
            return self.answer_marks(snd, now);
        }
        self.before_loss = self.window;
        self.shrink(snd, 0.5);
        (self.losing, self.owed) = (true, false);
        snd.ssthresh = self.window as u64;
    }

    fn undo(&mut self, _flight: &mut SendState) {
        self.window = self.window.max(self.before_loss);
        self.losing = false;
    }

    fn on_restart(&mut self, snd: &mut SendState, _idle: Duration, _now: Instant) {
        self.window = snd.cwnd as f64;
    }

    fn detect_classic_queues(&mut self) {
        self.detector = Some(Detector::default());
    }

    /// Linux's `prague_update_pacing_rate`: a window (or what is out, if more) per round trip; twice
    /// that below half of ssthresh.
    fn pacing_rate(&self, snd: &SendState, srtt: Duration) -> Option<u64> {
        if srtt == Duration::ZERO {
            return None;
        }
        let window = (self.window as u64).max(self.in_flight).max(snd.mss());
        let times = if snd.cwnd < snd.ssthresh / 2 { 2 } else { 1 };
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
        let (mut prague, mut snd) = (Prague::default(), SendState::default());
        (snd.mss, snd.cwnd, snd.ssthresh) = (1_000, 10_000, u64::MAX);
        (0..30).for_each(|_| prague.on_ack(&mut snd, &ack_sample(2_000)));
        assert_eq!(snd.cwnd, 70_000);
        (snd.una, snd.max) = (70_001, 140_001);
        prague.on_ack(&mut snd, &AckSample { marked: MSS, ..ack_sample(MSS) });
        assert_eq!((snd.cwnd, snd.ssthresh), (69_000, 69_000), "a segment per ACK");
        // Down to half, less what unmarked bytes add meanwhile: a segment in 18 ACKs.
        (0..33).for_each(|_| prague.on_ack(&mut snd, &ack_sample(2_000)));
        assert_eq!((snd.cwnd, snd.ssthresh), (37_000, 37_000));
    }

    #[test]
    fn a_loss_halves_the_window_and_stops_its_growth_until_it_is_repaired() {
        let (mut prague, mut snd) = (Prague::default(), SendState::default());
        (snd.mss, snd.cwnd, snd.ssthresh) = (1_000, 20_000, 20_000);
        (snd.una, snd.max) = (1, 20_001);
        prague.on_congestion(&mut snd, Cause::Loss, Instant::ZERO);
        let ca_state = AckSample { ca_state: CaState::Recovery, ..ack_sample(2_000) };
        (0..15).for_each(|_| prague.on_ack(&mut snd, &ca_state));
        assert_eq!((snd.cwnd, snd.ssthresh), (10_000, 10_000));
        (0..5).for_each(|_| prague.on_ack(&mut snd, &ack_sample(2_000)));
        assert_eq!(snd.cwnd, 11_000, "a segment per window again");
        prague.undo(&mut snd);
        (0..20).for_each(|_| {
            prague.on_ack(&mut snd, &AckSample { window_limited: false, ..ca_state })
        });
        assert_eq!(snd.cwnd, 20_000);
    }

    #[test]
    fn however_long_all_was_marked_one_unmarked_segment_lets_no_flood_go() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let floor = LEAST as f64 * MSS as f64;
        for cause in [Cause::Mark, Cause::Loss] {
            let mut prague = Prague { alpha: 1.0, marked_once: true, ..Prague::default() };
            let mut snd =
                SendState { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..SendState::default() };
            for trip in 1..200 {
                prague.on_congestion(&mut snd, cause, at(100 * trip));
                let all = AckSample { now: at(100 * trip), marked: MSS, ..ack_sample(MSS) };
                prague.on_ack(&mut snd, &all);
            }
            assert_eq!((prague.window, snd.cwnd), (floor, LEAST * MSS), "{cause:?}");
            prague.on_ack(&mut snd, &AckSample { now: at(20_000), ..ack_sample(MSS) });
            assert!(prague.window <= floor + MSS as f64 / 2.0, "{}", prague.window);
            assert!(snd.cwnd <= (LEAST + 1) * MSS, "{}", snd.cwnd);
        }
    }

    #[test]
    fn a_short_round_trip_with_marks_waits_for_the_virtual_one_to_end() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let old = Prague { alpha: 0.5, window: 20_000.0, rounds: 4, ..Prague::default() };
        let mut prague = Prague { marked_once: true, reduced: at(100), round_end: u64::MAX, ..old };
        let mut snd =
            SendState { cwnd: 20_000, ssthresh: 20_000, mss: 1_000, ..SendState::default() };
        let hear = |prague: &mut Prague, snd: &mut SendState, ms, marked| {
            prague.on_ack(snd, &AckSample { now: at(ms), marked, ..ack_sample(1_000) });
            prague.window
        };
        prague.on_congestion(&mut snd, Cause::Mark, at(121));
        assert_eq!(prague.window, 20_000.0);
        assert_eq!(hear(&mut prague, &mut snd, 124, 1_000), 20_000.0);
        assert!(hear(&mut prague, &mut snd, 126, 0) > 20_000.0, "unmarked bytes grow it");
        let cut = hear(&mut prague, &mut snd, 127, 1_000);
        assert!((cut / 15_000.0 - 1.0).abs() < 0.01, "{cut}");
        assert_eq!(hear(&mut prague, &mut snd, 160, 1_000), cut, "until the next mark");
        prague.on_congestion(&mut snd, Cause::Mark, at(161));
        assert!(prague.window < 0.76 * cut);
    }

    #[test]
    fn a_window_goes_out_per_round_trip() {
        let prague = Prague { window: 25_500.0, in_flight: 20_000, ..Prague::default() };
        let mut snd =
            SendState { mss: 1_000, cwnd: 26_000, ssthresh: 26_000, ..SendState::default() };
        let rate = |prague: &Prague, snd: &SendState, ms| {
            prague.pacing_rate(snd, Duration::from_millis(ms))
        };
        assert_eq!(rate(&prague, &snd, 50), Some(510_000));
        snd.ssthresh = u64::MAX;
        assert_eq!(rate(&prague, &snd, 50), Some(1_020_000));
        assert_eq!(rate(&prague, &snd, 0), None);
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
        let mut snd =
            SendState { cwnd: 10_000, ssthresh: 5_000, mss: 1_000, ..SendState::default() };
        prague.on_restart(&mut snd, Duration::from_secs(1), Instant::ZERO);
        prague.on_ack(&mut snd, &ack_sample(5_000));
        assert_eq!((prague.window, snd.cwnd), (10_500.0, 11_000));
    }
}
