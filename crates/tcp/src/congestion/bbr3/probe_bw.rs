//! ProbeBW (section 5.3.3). Its states follow each other: Down sends below the modelled rate to
//! empty the queue, Cruise at it, Refill at it without the short-term bounds to fill the pipe, and
//! Up a quarter above it to look for more.

use packet::random::{GOLDEN, mix};
use packet::{Duration, Instant};

use super::{Bbr3, State, UNBOUNDED};
use crate::send_state::Window;

/// Greatest number of round trips after which a Reno flow of an equal window would probe (section
/// 5.3.3.8).
const RENO_ROUNDS: u64 = 63;
/// Wait between probes: 2 s, and at random up to a second more.
const WAIT: Duration = Duration::from_secs(2);
const WAIT_SPREAD_NS: u64 = 1_000_000_000;
/// Number of rounds after which the growth of the long-term bound no longer doubles.
const MOST_UP_ROUNDS: u32 = 30;

/// The phase of probing to which the arriving acknowledgements belong (section 2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The state of the probing cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub ack_phase: AckPhase,
    /// Samples come from probing, and no excessive loss has been answered since it began.
    pub probe_sample: bool,
    pub rounds_since_probe: u64,
    pub started: Instant,
    pub wait: Duration,
    pub up_rounds: u32,
    up_acked: u64,
    up_acked_per_step: u64,
    /// The last probe lost too much (`too_high`); this probe stopped early because of that
    /// (`cautious`).
    pub too_high: bool,
    pub cautious: bool,
}

impl Default for Cycle {
    fn default() -> Self {
        Cycle {
            ack_phase: AckPhase::Init,
            probe_sample: false,
            rounds_since_probe: 0,
            started: Instant::ZERO,
            wait: Duration::ZERO,
            up_rounds: 0,
            up_acked: 0,
            up_acked_per_step: UNBOUNDED,
            too_high: false,
            cautious: false,
        }
    }
}

impl Bbr3 {
    pub(super) fn start_down(&mut self) {
        self.reset_congestion();
        self.cycle.up_acked_per_step = UNBOUNDED;
        self.pick_wait();
        self.cycle.started = self.now;
        self.cycle.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.model.reset_shortterm();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.cautious = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, win: &Window) {
        self.cycle.ack_phase = AckPhase::Starting;
        self.start_round();
        self.pipe.reset(self.sample.rate);
        self.state = State::Up;
        self.steepen(win);
    }

    /// The draft's `UpdateProbeBWCyclePhase`: moves to the next state if it is time.
    pub(super) fn update_probe_bw(&mut self, win: &Window) {
        if !self.pipe.reached || self.adapt_long_term(win) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.time_to_probe(win) => self.start_refill(),
            State::Down if self.time_to_cruise() => self.start_cruise(),
            State::Refill if self.rounds.started => {
                self.cycle.probe_sample = true;
                self.start_up(win);
            }
            State::Up => self.check_up_done(win),
            _ => {}
        }
    }

    pub(super) fn check_up_done(&mut self, win: &Window) {
        if self.time_to_go_down(win) {
            self.cycle.too_high = false;
            self.start_down();
        }
    }

    /// `AdaptLongTermModel`: updates the long-term bound. Returns whether it has changed the state.
    fn adapt_long_term(&mut self, win: &Window) -> bool {
        let cycle = &mut self.cycle;
        if self.rounds.started && cycle.ack_phase == AckPhase::Starting {
            cycle.ack_phase = AckPhase::Probing;
        }
        if self.rounds.started && cycle.ack_phase == AckPhase::Stopping {
            cycle.probe_sample = false;
            cycle.ack_phase = AckPhase::Init;
            if self.state.probes_bw() && !self.sample.app_limited {
                self.model.advance_filter();
            }
            // Precautionary probing: the volume at which the last probe stopped early is safe after
            // all.
            if self.state.probes_bw() && self.cycle.cautious && !self.cycle.too_high {
                self.start_refill();
                return true;
            }
        }
        let bounded = self.model.inflight_longterm != UNBOUNDED;
        if bounded && !self.settings.too_much_lost(self.sample.lost, self.sample.sent_in_flight) {
            let bound = &mut self.model.inflight_longterm;
            *bound = self.sample.sent_in_flight.max(*bound);
            if self.state == State::Up {
                self.raise_long_term(win);
            }
        }
        false
    }

    /// The draft's `ProbeInflightLongtermUpward`: raises the long-term bound in a probe.
    pub(super) fn raise_long_term(&mut self, win: &Window) {
        if !self.sample.window_limited || win.cwnd < self.model.inflight_longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_acked += self.sample.newly_acked;
        let steps = cycle.up_acked / cycle.up_acked_per_step;
        cycle.up_acked -= steps * cycle.up_acked_per_step;
        self.model.inflight_longterm += steps * self.mss;
        if self.rounds.started {
            self.steepen(win);
        }
    }

    /// `RaiseInflightLongtermSlope`: the bound grows by twice as many segments per round trip as in
    /// the last one.
    pub(super) fn steepen(&mut self, win: &Window) {
        let growth = 1 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.cycle.up_acked_per_step = (win.cwnd / growth).max(self.mss);
    }

    /// `PickProbeWait`. In place of the draft's random numbers it uses a hash of the time in
    /// nanoseconds and of the bytes delivered (our own choice): flows differ, a repeated run does
    /// not.
    fn pick_wait(&mut self) {
        let draw = mix(self.now.nanos() ^ mix(self.delivered.wrapping_add(GOLDEN)));
        self.cycle.rounds_since_probe = draw & 1;
        self.cycle.wait = WAIT + Duration::from_nanos((draw >> 1) % (WAIT_SPREAD_NS + 1));
    }

    fn time_to_probe(&self, win: &Window) -> bool {
        let waited = self.now > self.cycle.started + self.cycle.wait;
        let rounds = (self.target_inflight(win) / self.mss).min(RENO_ROUNDS);
        waited || self.cycle.rounds_since_probe >= rounds
    }

    fn time_to_cruise(&self) -> bool {
        let in_flight = self.sample.in_flight;
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight(self.model.max_bw(), 1.0)
    }

    /// `IsTimeToGoDown` (section 5.3.3.7): whether Up is over.
    fn time_to_go_down(&mut self, win: &Window) -> bool {
        let bound = self.model.inflight_longterm;
        if self.cycle.too_high && self.sample.in_flight >= bound {
            self.cycle.cautious = true;
            return true;
        }
        if self.sample.window_limited && win.cwnd >= bound {
            self.pipe.reset(self.sample.rate);
            return false;
        }
        self.pipe.now
    }

    /// The long-term bound less the headroom for other flows, bytes.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let bound = self.model.inflight_longterm;
        if bound == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = ((self.settings.headroom * bound as f64) as u64).max(self.mss);
        bound.saturating_sub(headroom).max(self.min_cwnd())
    }
}
