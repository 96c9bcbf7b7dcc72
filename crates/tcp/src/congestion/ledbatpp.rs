//! LEDBAT++ (P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo,
//! draft-irtf-iccrg-ledbat-plus-plus-06, 2026; Windows has it), for what may wait: it leaves the line
//! to others as soon as they make a queue.
//!
//! In five lines. The queue is the round trip less the smallest of ten minutes. Below 60 ms of it the
//! window grows by at most a segment per round trip, by a sixteenth on short paths; above it shrinks
//! in proportion to itself and to the excess. Slow start is slower by the same gain and ends at
//! 45 ms. And now and then, a tenth of the time, the window is two segments: then flows see the path
//! without the queue that they themselves keep. Losses halve the window as Reno's.
//!
//! Sections are the draft's.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use crate::send_state::{Flight, Window};

/// The registry's line.
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

/// Sections 4.1 and 4.4: the first window, and that of a slowdown, in segments.
const LEAST: u64 = 2;
/// Section 4.4: length of a slowdown in round trips, also the wait for the first; and pause after
/// one, in lengths of it with its ramp.
const TRIPS: u64 = 2;
const PAUSE: u64 = 9;
/// RFC 6817 section 2.4.2: CURRENT_FILTER and BASE_HISTORY, minutes.
const CURRENT: usize = 4;
const HISTORY: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// The round trips that show the queue (RFC 6817 section 3.4.2).
#[derive(Clone, Copy, Debug)]
struct Delays {
    current: [Duration; CURRENT],
    next: usize,
    /// The least of each of the last minutes, this one's first.
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

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The first slow start.
    #[default]
    Start,
    Avoid,
    /// Two segments, until then.
    Slowdown(Instant),
    /// Back to the window before.
    Ramp,
    /// Slow start after a timeout.
    Again,
}

#[derive(Clone, Debug)]
struct LedbatPp {
    settings: Settings,
    delays: Delays,
    phase: Phase,
    /// When the next slowdown is due, and when the one under way began, its ramp included.
    due: Option<Instant>,
    began: Option<Instant>,
    /// A part of a byte by which the window is to change.
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

    /// Slow start ends, or a loss has ended it.
    fn avoid(&mut self, win: &mut Window, ack: &AckSample) {
        let wait = match self.began.take() {
            Some(began) => ack.now.since(began) * PAUSE,
            None => ack.srtt * TRIPS,
        };
        self.due.get_or_insert(ack.now + wait);
        self.phase = Phase::Avoid;
        win.ssthresh = win.ssthresh.min(win.cwnd);
    }

    /// Section 4.4.
    fn slow_down(&mut self, win: &mut Window, ack: &AckSample) {
        self.began = Some(ack.now);
        self.due = None;
        win.ssthresh = win.cwnd;
        self.set(win, 0.0);
        self.phase = Phase::Slowdown(ack.now + ack.srtt * TRIPS);
    }

    /// Section 4.1: slow start times the gain.
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

    /// Section 4.3: what a round trip would change, an acknowledgement's share of it.
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
        // A loss ends a slowdown; it was of the window before that.
        let before = self.began.map_or(0, |_| win.ssthresh);
        win.ssthresh = (win.cwnd.max(before) / 2).max(LEAST * win.mss());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, MSS, Path, ack_sample};
    use super::*;

    impl Default for LedbatPp {
        fn default() -> Self {
            LedbatPp::new(Settings::read(&Params::defaults(FIELDS)))
        }
    }

    fn ms(x: u64) -> Duration {
        Duration::from_millis(x)
    }

    /// A flow whose path has this base round trip, in congestion avoidance.
    fn avoiding(base: u64, segments: u64) -> (LedbatPp, Window) {
        let cwnd = segments * MSS;
        let win = Window { cwnd, ssthresh: cwnd, mss: MSS as u16, ..Window::default() };
        let due = Some(Instant::NEVER);
        let mut ledbat = LedbatPp { phase: Phase::Avoid, due, ..LedbatPp::default() };
        ledbat.delays.update(ms(base), Instant::ZERO);
        (ledbat, win)
    }

    /// A window's acknowledgements with this round trip, in one.
    fn trip(ledbat: &mut LedbatPp, win: &mut Window, rtt: u64) -> f64 {
        ledbat.delays.current = [ms(rtt); CURRENT];
        let ack = testing::AckSample { rtt: Some(ms(rtt)), ..ack_sample(win.cwnd) };
        ledbat.on_ack(win, &ack);
        (win.cwnd as f64 + ledbat.rest) / MSS as f64
    }

    #[test]
    fn the_gain_is_a_sixteenth_to_one() {
        for (base, parts) in
            [(1, 16.0), (7, 16.0), (8, 15.0), (20, 6.0), (60, 2.0), (120, 1.0), (200, 1.0)]
        {
            let (ledbat, _) = avoiding(base, 10);
            assert_eq!(ledbat.settings.gain(ledbat.delays.base()), 1.0 / parts, "{base} ms");
        }
    }

    #[test]
    fn a_round_trip_adds_the_gain_below_the_target_and_takes_the_excess_above() {
        // 20 ms: a sixth of a segment up to 60 ms of queue; 6 ms more are a tenth of the window.
        for (rtt, window) in
            [(20, 100.0 + 1.0 / 6.0), (80, 100.0 + 1.0 / 6.0), (86, 90.0 + 1.0 / 6.0)]
        {
            let (mut ledbat, mut win) = avoiding(20, 100);
            let seen = trip(&mut ledbat, &mut win, rtt);
            assert!((seen - window).abs() < 1e-9, "{rtt} ms: {seen}");
        }
        // At most half in a round trip, and two segments are left.
        let (mut ledbat, mut win) = avoiding(20, 100);
        assert_eq!(trip(&mut ledbat, &mut win, 1_000), 50.0);
        let (mut ledbat, mut win) = avoiding(20, 3);
        assert_eq!(trip(&mut ledbat, &mut win, 1_000), 2.0);
    }

    #[test]
    fn an_unused_window_shrinks_by_an_excess_and_does_not_grow() {
        for (rtt, window) in [(20, 100.0), (86, 90.0 + 1.0 / 6.0)] {
            let (mut ledbat, mut win) = avoiding(20, 100);
            ledbat.delays.current = [ms(rtt); CURRENT];
            let unused = testing::AckSample { window_limited: false, ..ack_sample(win.cwnd) };
            ledbat.on_ack(&mut win, &unused);
            let seen = (win.cwnd as f64 + ledbat.rest) / MSS as f64;
            assert!((seen - window).abs() < 1e-9, "{rtt} ms: {seen}");
        }
    }

    #[test]
    fn the_first_slow_start_ends_beyond_three_quarters_of_the_target() {
        // Section 4.1: "exceeds 3/4 of the target", 45 ms over 20.
        for (rtt, phase) in [(65, Phase::Start), (66, Phase::Avoid)] {
            let (mut ledbat, mut win) = avoiding(20, 10);
            (ledbat.phase, win.ssthresh) = (Phase::Start, u64::MAX);
            trip(&mut ledbat, &mut win, rtt);
            assert_eq!(ledbat.phase, phase, "{rtt} ms");
        }
    }

    #[test]
    fn slow_start_keeps_the_parts_of_a_byte() {
        // A base of 20 ms: a sixth of what is acknowledged, three times 166.67 B.
        let (mut ledbat, mut win) = avoiding(20, 10);
        (ledbat.phase, win.ssthresh) = (Phase::Again, u64::MAX);
        (0..3).for_each(|_| ledbat.on_ack(&mut win, &ack_sample(MSS)));
        assert!((win.cwnd as f64 + ledbat.rest - 10_500.0).abs() < 1e-6, "{}", win.cwnd);
    }

    #[test]
    fn the_handshake_tells_the_first_base() {
        for (srtt, base) in [(50, ms(50)), (0, NONE)] {
            let (mut ledbat, mut win) = (LedbatPp::default(), avoiding(20, 10).1);
            ledbat.on_open(&mut win, ms(srtt), Instant::ZERO);
            assert_eq!((ledbat.delays.base(), win.cwnd), (base, 2 * MSS));
        }
    }

    #[test]
    fn the_queue_is_the_least_of_four_round_trips_over_the_least_of_ten_minutes() {
        let (mut ledbat, _) = avoiding(50, 10);
        let delays = &mut ledbat.delays;
        let at = |s| Instant::ZERO + Duration::from_secs(s);
        [90, 70, 80, 100].into_iter().for_each(|rtt| delays.update(ms(rtt), at(1)));
        assert_eq!(delays.queueing(), ms(20));
        delays.update(ms(60), at(2));
        assert_eq!(delays.queueing(), ms(10));
        (1..10).for_each(|minute| delays.update(ms(75), at(60 * minute)));
        assert_eq!(delays.base(), ms(50));
        delays.update(ms(75), at(600));
        assert_eq!((delays.base(), delays.queueing()), (ms(75), ms(0)));
    }

    #[test]
    fn the_first_window_is_two_segments_and_slow_start_ends_at_three_quarters_of_the_target() {
        let mut path = Path::new(LedbatPp::default(), 20.0, 120, 10_000_000);
        assert_eq!(path.win.cwnd, 2 * MSS);
        assert!(path.run_until(30.0, |path| path.control.phase == Phase::Avoid));
        // The line's 300 segments and 45 ms of queue, 112, which a round trip more has doubled.
        assert!((412..=830).contains(&(path.win.cwnd / MSS)), "{}", path.win.cwnd);
        assert_eq!(path.lost, 0);
    }

    #[test]
    fn a_slowdown_takes_two_round_trips_and_a_tenth_of_the_time() {
        let mut path = Path::new(LedbatPp::default(), 10.0, 60, 10_000_000);
        let slow = |path: &Path<LedbatPp>| matches!(path.control.phase, Phase::Slowdown(_));
        assert!(path.run_until(60.0, slow));
        let mut shares = Vec::new();
        for _ in 0..3 {
            let (began, goal) = (path.now, path.win.ssthresh);
            assert_eq!(path.win.cwnd, 2 * MSS);
            assert!(path.run_until(5.0, |path| path.control.phase == Phase::Ramp));
            let frozen = path.now.since(began).secs_f64();
            assert!((0.12..0.35).contains(&frozen), "{frozen}");
            assert!(path.run_until(20.0, |path| path.control.phase == Phase::Avoid));
            assert_eq!(path.win.cwnd, goal);
            let slowed = path.now.since(began).secs_f64();
            assert!(path.run_until(90.0, slow));
            shares.push(slowed / path.now.since(began).secs_f64());
        }
        assert!(shares.iter().all(|share| (share - 0.1).abs() < 0.005), "{shares:?}");
    }

    #[test]
    fn a_loss_in_a_slowdown_halves_the_window_before_and_ends_it() {
        let (mut ledbat, mut win) = avoiding(60, 40);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let acked_at = |ms| testing::AckSample { now: at(ms), ..ack_sample(MSS) };
        ledbat.due = Some(at(1_000));
        ledbat.on_ack(&mut win, &acked_at(1_000));
        assert_eq!((win.cwnd, win.ssthresh), (2 * MSS, 40 * MSS));
        ledbat.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(1_100));
        assert_eq!((win.ssthresh, ledbat.phase), (20 * MSS, Phase::Avoid));
        ledbat.on_ack(&mut win, &acked_at(1_200));
        assert_eq!(ledbat.due, Some(at(1_200 + 9 * 200)));
    }

    #[test]
    fn alone_it_fills_the_line_but_for_its_slowdowns_with_60_ms_of_queue() {
        let mut path = Path::new(LedbatPp::default(), 10.0, 60, 10_000_000);
        path.run(60.0);
        let (used, trips) = path.measure(200.0);
        assert!((0.9..1.0).contains(&used), "{used}");
        assert!((1.6..2.2).contains(&trips), "{trips} round trips");
        assert_eq!(path.lost, 0);
    }
}
