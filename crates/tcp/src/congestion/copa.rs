//! Copa (V. Arun, H. Balakrishnan, *Copa: Practical Delay-Based Congestion Control for the
//! Internet*, NSDI 2018). The target rate is 1/(delta times the queueing delay). Each
//! acknowledgement moves the window towards it by velocity/(delta cwnd) segments, and the velocity
//! doubles while the direction stays. So flows oscillate around 1/delta segments each in the queue
//! and empty it every five round trips. A queue that never gets empty is filled by other flows, and
//! Copa competes with them: 1/delta grows by one per round trip and halves at a loss.
//!
//! Section numbers are the paper's.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, Cause, Control, ControlFlags, Entry};
use super::windowed::WindowedMax;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "copa",
        summary: "delay-based: the rate aims at 1/(delta times the queueing delay), and competes where others fill the \
                  queue",
        year: 2018,
        source: "Arun and Balakrishnan, NSDI 2018 (recalled); constants also as in Meta's mvfst, Copa.cpp",
        deviations: "Where the paper leaves room: a window grows only while it is used; a queue of less than two \
             segments is nearly empty, too; the handshake's round trip does not count (it lacks the time that a full \
             segment takes); the velocity is bounded so that a window at most doubles or halves in a round trip; a \
             mark competes as a loss does; after a timeout slow start begins again",
        fields: FIELDS,
    },
    make: |params| Box::new(Copa::new(params)),
};

const FIELDS: &[Field] = &[
    Field::new("delta", Kind::from(Unit::None, 0.004, 10.0), Value::Real(0.5))
        .meaning("1/delta segments of a flow lie in the queue, in the mean.")
        .source("section 2.2: 0.5"),
    Field::new("competitive", Kind::Switch, Value::Switch(true))
        .meaning("Compete where the queue never gets empty.")
        .source("section 2.2; mvfst has no such mode"),
];

/// Section 2.1: the time over which the smallest round-trip time is taken.
const LONG: Duration = Duration::from_secs(10);
/// Section 2.2: the greatest round-trip time is taken over four round trips. The queue is nearly
/// empty below a tenth of its variation; a flow competes if that was not so in the last five round
/// trips.
const TRIPS_OF_GREATEST: u64 = 4;
const NEARLY_EMPTY: f64 = 0.1;
const TRIPS_WITHOUT: u32 = 5;
/// Our own choice, without a source: a queue of fewer segments than this also counts as nearly
/// empty, since a few segments may be all of its variation.
const FEW: f64 = 2.0;
/// Section 2.1: round trips in one direction before the velocity doubles.
const STEADY: u32 = 3;
/// Smallest window, segments.
const LEAST: u64 = 2;

const CONTROL_FLAGS: ControlFlags = ControlFlags { own_window: true, paced: true, ..CLASSIC };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Recent round-trip times, nanoseconds. The filters keep the greatest values, so smallest
/// round-trip times are stored as `u64::MAX` less the time.
#[derive(Clone, Copy, Debug, Default)]
struct Trips {
    least: WindowedMax,
    standing: WindowedMax,
    greatest: WindowedMax,
}

impl Trips {
    fn update(&mut self, rtt: Duration, srtt: Duration, now: Instant) {
        let (now, rtt) = (now.nanos(), rtt.nanos());
        self.least.update(now, u64::MAX - rtt, LONG.nanos());
        self.standing.update(now, u64::MAX - rtt, srtt.nanos() / 2);
        self.greatest.update(now, rtt, TRIPS_OF_GREATEST * srtt.nanos());
    }

    /// Three times in seconds: the smallest round-trip time of the last ten seconds, the smallest
    /// of the last half round trip, and the greatest of the last four round trips.
    fn seconds(&self) -> [f64; 3] {
        let least = u64::MAX - self.least.get();
        let standing = u64::MAX - self.standing.get();
        [least, standing, self.greatest.get()].map(|nanos| Duration::from_nanos(nanos).secs_f64())
    }
}

#[derive(Clone, Debug)]
struct Copa {
    /// delta of the default mode; `competing` is 1/delta of the competitive mode while that is in
    /// use.
    delta: f64,
    competitive: bool,
    competing: Option<f64>,
    trips: Trips,
    /// Round trips since the queue was last nearly empty.
    full: u32,
    /// Fraction of a byte that belongs to the window besides `cwnd`.
    rest: f64,
    slow_start: bool,
    velocity: f64,
    direction: Direction,
    /// Number of round trips in this direction, and the window at the start of the current one,
    /// bytes.
    steady: u32,
    round_cwnd: u64,
    /// A loss or mark was noticed in this round trip.
    lost: bool,
}

impl Copa {
    fn new(params: &Params) -> Self {
        Copa {
            delta: params.real("delta"),
            competitive: params.switch("competitive"),
            competing: None,
            trips: Trips::default(),
            full: 0,
            rest: 0.0,
            slow_start: true,
            velocity: 1.0,
            direction: Direction::Up,
            steady: 0,
            round_cwnd: 0,
            lost: false,
        }
    }

    /// The delta in use.
    fn current_delta(&self) -> f64 {
        self.competing.map_or(self.delta, |parts| 1.0 / parts)
    }

    /// Section 2.2, once per round trip: chooses the mode, and delta of the competitive one.
    fn choose_mode(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        self.full += 1;
        if self.full <= TRIPS_WITHOUT || !self.competitive {
            self.competing = None;
            return;
        }
        let least = 1.0 / self.delta;
        self.competing = Some(match self.competing {
            None => least,
            Some(parts) if lost => (parts / 2.0).max(least),
            Some(parts) => parts + 1.0,
        });
    }

    /// Section 2.1, step 3, once per round trip: doubles the velocity or starts it again.
    fn choose_velocity(&mut self, win: &Window) {
        let direction = if win.cwnd > self.round_cwnd { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.steady += 1;
            if self.steady >= STEADY {
                self.velocity *= 2.0;
            }
        } else {
            self.turn(direction);
        }
        let most = self.current_delta() * win.cwnd as f64 / win.mss() as f64;
        self.velocity = self.velocity.min(most.max(1.0));
        self.round_cwnd = win.cwnd;
    }

    fn turn(&mut self, direction: Direction) {
        (self.direction, self.steady, self.velocity) = (direction, 0, 1.0);
    }

    /// Section 2.1, step 2: moves the window for `acked` bytes.
    fn step(&mut self, win: &mut Window, direction: Direction, acked: u64) {
        if direction != self.direction && self.velocity > 1.0 {
            // The velocity belongs to the other direction; in this one it starts at 1.
            self.turn(direction);
            self.round_cwnd = win.cwnd;
        }
        let cwnd = win.cwnd as f64 + self.rest;
        let mss = win.mss() as f64;
        let change = self.velocity * acked as f64 * mss / (self.current_delta() * cwnd);
        let new = match direction {
            Direction::Up => cwnd + change.min(acked as f64),
            Direction::Down => (cwnd - change).max(LEAST as f64 * mss),
        };
        win.cwnd = new as u64;
        self.rest = new - win.cwnd as f64;
    }
}

impl Control for Copa {
    fn flags(&self) -> ControlFlags {
        CONTROL_FLAGS
    }

    fn on_open(&mut self, win: &mut Window, _srtt: Duration, _now: Instant) {
        self.round_cwnd = win.cwnd;
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) else { return };
        self.trips.update(rtt, ack.srtt, ack.now);
        let [least, standing, greatest] = self.trips.seconds();
        let queueing = standing - least;
        let rate = win.cwnd as f64 / standing;
        let own = FEW * win.mss() as f64 / rate;
        if queueing <= NEARLY_EMPTY * (greatest - least) || queueing < own {
            self.full = 0;
        }
        let faster = queueing <= 0.0 || rate * self.current_delta() * queueing <= win.mss() as f64;
        if ack.round {
            self.choose_mode();
            if !(faster && self.slow_start) {
                self.choose_velocity(win);
            }
        }
        match (faster, self.slow_start) {
            (true, _) if !ack.window_limited => {}
            // The window doubles once per round trip.
            (true, true) => win.cwnd += ack.delivered,
            (true, false) => self.step(win, Direction::Up, ack.delivered),
            (false, slow_start) => {
                self.slow_start = false;
                if slow_start {
                    self.round_cwnd = win.cwnd;
                }
                self.step(win, Direction::Down, ack.delivered);
            }
        }
        // Other code reads from the threshold whether slow start has ended.
        win.ssthresh = if self.slow_start { u64::MAX } else { win.cwnd };
    }

    fn on_congestion(&mut self, _win: &mut Window, _flight: &Flight, cause: Cause, _now: Instant) {
        self.lost = true;
        if cause == Cause::Timeout {
            self.slow_start = true;
            (self.velocity, self.steady, self.rest) = (1.0, 0, 0.0);
        }
    }

    /// Section 2.1: twice the window per standing round-trip time.
    fn pacing_rate(&self, win: &Window, _flight: &Flight, _srtt: Duration) -> Option<u64> {
        let [_, standing, greatest] = self.trips.seconds();
        (greatest > 0.0).then(|| (2.0 * win.cwnd as f64 / standing).max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn copa() -> Copa {
        Copa::new(&Params::defaults(FIELDS))
    }

    fn window_of(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() }
    }

    #[test]
    fn an_acknowledged_window_moves_it_by_velocity_over_delta() {
        let mut win = window_of(100);
        let mut control = Copa { slow_start: false, velocity: 4.0, ..copa() };
        (0..100).for_each(|_| control.step(&mut win, Direction::Up, MSS));
        // 4/0.5 segments, a little less as the window grows.
        assert!((7_600..8_000).contains(&(win.cwnd - 100 * MSS)), "{}", win.cwnd);
        // In the other direction the velocity starts at 1.
        control.step(&mut win, Direction::Down, MSS);
        assert_eq!(control.velocity, 1.0);
    }

    #[test]
    fn the_velocity_doubles_after_three_round_trips_one_way() {
        let mut control = Copa { round_cwnd: 50 * MSS, ..copa() };
        let mut seen = Vec::new();
        for segments in [51, 52, 53, 54, 53] {
            control.choose_velocity(&window_of(segments));
            seen.push(control.velocity);
        }
        assert_eq!(seen, [1.0, 1.0, 2.0, 4.0, 1.0]);
        // The window at most doubles: 0.5 x 8 segments.
        let mut control = Copa { velocity: 64.0, steady: 9, round_cwnd: 0, ..copa() };
        control.choose_velocity(&window_of(8));
        assert_eq!(control.velocity, 4.0);
    }

    #[test]
    fn it_competes_after_five_round_trips_without_an_empty_queue() {
        let mut control = copa();
        let round = |control: &mut Copa, lost| {
            control.lost = lost;
            control.choose_mode();
            control.current_delta()
        };
        (0..5).for_each(|_| assert_eq!(round(&mut control, false), 0.5));
        let deltas =
            [round(&mut control, false), round(&mut control, false), round(&mut control, false)];
        assert_eq!(deltas, [0.5, 1.0 / 3.0, 0.25]);
        (0..4).for_each(|_| _ = round(&mut control, false));
        assert_eq!(control.competing, Some(8.0));
        assert_eq!(round(&mut control, true), 0.25);
        control.full = 0;
        assert_eq!(round(&mut control, false), 0.5);
    }

    #[test]
    fn a_flow_keeps_a_few_segments_in_the_queue_and_empties_it() {
        for (megabits, trip) in [(10.0, 20), (20.0, 50), (50.0, 100)] {
            let mut path = testing::Path::new(copa(), megabits, trip, 10_000_000);
            path.run(30.0);
            let (used, trips) = path.measure(30.0);
            let queued = (trips - 1.0) * path.bdp() / MSS as f64;
            assert!(queued < 8.0, "{megabits} {trip}: {queued}");
            assert!(used > 0.9, "{megabits} {trip}: {used}");
            assert_eq!((path.lost, path.control.competing), (0, None), "{megabits} {trip}");
        }
    }

    #[test]
    fn single_losses_change_nothing_in_the_default_mode() {
        let mut path = testing::Path::new(copa(), 20.0, 50, 10_000_000);
        path.lose_every = 100;
        path.run(30.0);
        let (used, _) = path.measure(30.0);
        assert!(used > 0.85, "{used}");
    }
}
