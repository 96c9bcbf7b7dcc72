//! BBR version 3 (draft-ietf-ccwg-bbr-06, July 2026): a model of the path (bottleneck rate,
//! smallest round-trip time, volumes that were safe) sets both the pacing rate and the window.
//!
//! Section numbers in these files are the draft's. Reading order: this file has the state and the
//! order of the steps, `model` the model of the path, `startup`, `probe_bw` and `probe_rtt` the
//! states, `loss` how losses and marks change the model, `window` the pacing rate and the window.
//! Rates are bytes per second, volumes bytes; a bound that is not set is infinite.

mod loss;
mod model;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;
mod window;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, CaState, Cause, Control, ControlFlags, Entry, Lost};
use crate::send_state::{Flight, Window};
use loss::Undo;
use model::{Aggregation, Model, Rounds};
use probe_bw::Cycle;
use probe_rtt::Trips;
use startup::FullPipe;

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "bbr3",
        summary: "BBRv3: paced at the modelled bottleneck rate, about one bandwidth-delay product in \
              flight",
        year: 2026,
        source: "draft-ietf-ccwg-bbr-06 (BBRv3)",
        deviations: "Startup's count of lost ranges is of acknowledgements \
             that found losses, and what a loss saves for an undo is saved once per recovery, as \
             in Linux's BBRv3; constructed: a window of marks is answered like a round trip with \
             more than 2 % loss (the draft only requires that marks count as congestion), and the \
             waits between probes, random in the draft, are a hash of the time and of the bytes \
             delivered",
        fields: FIELDS,
    },
    make: |params| Box::new(Bbr3::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("loss_threshold", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.02))
        .meaning("Share of a round trip's data that may be lost while probing.")
        .source("section 2.8"),
    Field::new("beta", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.7))
        .meaning("What a loss leaves of the short-term bounds.")
        .source("section 2.8"),
    Field::new("headroom", Kind::from(Unit::None, 0.0, 1.0), Value::Real(0.15))
        .meaning("Share of the long-term bound left to others.")
        .source("section 2.8"),
    Field::new("min_rtt_window", Kind::from(Unit::Time, 0.01, 10_000.0), Value::Real(10.0))
        .meaning("How long a smallest round trip counts.")
        .source("section 2.16"),
    Field::new("probe_rtt_interval", Kind::from(Unit::Time, 0.01, 10_000.0), Value::Real(5.0))
        .meaning(
            "Time without a new smallest round trip after which ProbeRTT looks \
         for one.",
        )
        .source("section 2.16"),
    Field::new("probe_rtt_time", Kind::from(Unit::Time, 0.001, 100.0), Value::Real(0.2))
        .meaning("The stay in ProbeRTT.")
        .source("section 2.16"),
];

#[derive(Clone, Copy, Debug)]
struct Settings {
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    min_rtt_window: Duration,
    probe_rtt_interval: Duration,
    probe_rtt_time: Duration,
}

impl Settings {
    fn read(params: &Params) -> Self {
        Settings {
            loss_threshold: params.real("loss_threshold"),
            beta: params.real("beta"),
            headroom: params.real("headroom"),
            min_rtt_window: params.time("min_rtt_window"),
            probe_rtt_interval: params.time("probe_rtt_interval"),
            probe_rtt_time: params.time("probe_rtt_time"),
        }
    }
}

/// Value of a bound on bytes in flight that is not set.
const UNBOUNDED: u64 = u64::MAX;

/// The states (section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Whether this is one of ProbeBW's states.
    fn probes_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Whether the sender is accelerating to probe for more bandwidth (section 5.3.3.9,
    /// `IsProbingBW`).
    fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    /// Pacing rate as a multiple of the modelled rate (section 5.6.1).
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => 2.77,
            State::Drain => 0.5,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    /// Bandwidth-delay products allowed in flight (section 5.6.1).
    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }
}

/// The report of the current acknowledgement (section 2.3).
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Delivery rate, bytes per second; 0 if there is none.
    rate: f64,
    /// Bytes delivered while the rate was measured.
    delivered: u64,
    prior_delivered: u64,
    sent_in_flight: u64,
    /// Bytes lost since the acknowledged segment was sent.
    lost: u64,
    app_limited: bool,
    newly_acked: u64,
    newly_lost: u64,
    in_flight: u64,
    window_limited: bool,
    rtt: Option<Duration>,
    /// The acknowledgement is of data whose sending was recorded.
    has_data: bool,
}

#[derive(Clone, Debug)]
struct Bbr3 {
    settings: Settings,
    state: State,
    begun: bool,
    now: Instant,
    mss: u64,
    /// Bytes delivered in all.
    delivered: u64,
    sample: Sample,
    rounds: Rounds,
    model: Model,
    aggregation: Aggregation,
    pipe: FullPipe,
    cycle: Cycle,
    trips: Trips,
    undo: Undo,
    ca_state: CaState,
    /// The first window of the connection, and the last one that neither a recovery nor ProbeRTT
    /// had reduced; bytes.
    initial_cwnd: u64,
    prior_cwnd: u64,
    /// Pacing rate, bytes per second; 0 before the first acknowledgement.
    pacing_rate: f64,
}

impl Bbr3 {
    fn new(settings: Settings) -> Self {
        Bbr3 {
            settings,
            state: State::default(),
            begun: false,
            now: Instant::ZERO,
            mss: 0,
            delivered: 0,
            sample: Sample::default(),
            rounds: Rounds::default(),
            model: Model::default(),
            aggregation: Aggregation::default(),
            pipe: FullPipe::default(),
            cycle: Cycle::default(),
            trips: Trips::default(),
            undo: Undo::default(),
            ca_state: CaState::Open,
            initial_cwnd: 0,
            prior_cwnd: 0,
            pacing_rate: 0.0,
        }
    }

    /// Section 5.2.1: initialises the state, at the first event that has a time.
    fn begin(&mut self, win: &Window, now: Instant, srtt: Duration) {
        self.now = now;
        self.mss = win.mss();
        if self.begun {
            return;
        }
        self.begun = true;
        self.initial_cwnd = win.cwnd;
        self.pacing_rate = initial_rate(win.cwnd, srtt);
        self.trips.begin(now);
        self.aggregation.restart(now);
    }

    fn take(&mut self, ack: &AckSample) {
        self.delivered += ack.delivered;
        self.sample = Sample {
            newly_acked: ack.delivered,
            newly_lost: ack.lost,
            in_flight: ack.in_flight,
            window_limited: ack.window_limited,
            rtt: ack.rtt,
            ..Sample::default()
        };
        let Some(rate) = ack.rate else { return };
        self.delivered = rate.total_delivered;
        let seconds = rate.interval.secs_f64();
        self.sample.rate = if seconds > 0.0 { rate.delivered as f64 / seconds } else { 0.0 };
        self.sample.delivered = rate.delivered;
        self.sample.prior_delivered = rate.prior_delivered;
        self.sample.sent_in_flight = rate.sent_in_flight;
        self.sample.lost = rate.lost;
        self.sample.app_limited = rate.app_limited || self.trips.slowed(rate.prior_delivered);
        self.sample.has_data = true;
    }

    fn in_recovery(&self) -> bool {
        matches!(self.ca_state, CaState::Recovery | CaState::Loss)
    }
}

/// Section 5.6.2, `InitPacingRate`: pacing rate before the first acknowledgement, bytes per second.
fn initial_rate(cwnd: u64, srtt: Duration) -> f64 {
    let trip = if srtt == Duration::ZERO { Duration::from_millis(1) } else { srtt };
    State::Startup.pacing_gain() * cwnd as f64 / trip.secs_f64()
}

impl Control for Bbr3 {
    fn flags(&self) -> ControlFlags {
        ControlFlags {
            own_window: true,
            joins_recoveries: true,
            paced: true,
            rates: true,
            ..CLASSIC
        }
    }

    /// Section 5.2.3: the steps at each acknowledgement.
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.begin(win, ack.now, ack.srtt);
        let repaired = self.in_recovery();
        self.ca_state = ack.ca_state;
        if repaired && !self.in_recovery() {
            self.restore_cwnd(win);
        }
        self.undo.saved = self.in_recovery();
        self.take(ack);

        self.update_latest_delivery();
        self.update_congestion(win);
        self.update_aggregation(win);
        self.check_full_pipe();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw(win);
        self.update_min_rtt();
        self.check_probe_rtt(win);
        self.advance_latest_delivery();
        self.model.bound_rate();

        self.set_pacing_rate(self.state.pacing_gain());
        self.set_cwnd(win);
    }

    fn on_lost(&mut self, win: &Window, lost: &Lost) {
        self.begin(win, lost.now, Duration::ZERO);
        self.delivered = lost.total_delivered;
        self.handle_lost(win, lost);
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, now: Instant) {
        self.begin(win, now, Duration::ZERO);
        match cause {
            Cause::Mark => self.handle_mark(win),
            Cause::Loss | Cause::Timeout => self.note_loss(win),
        }
    }

    fn undo(&mut self, win: &mut Window, _ends: bool) {
        self.handle_spurious_loss(win);
    }

    fn on_tx_start(&mut self, win: &mut Window, _: Instant, app_limited: bool, now: Instant) {
        if self.begun && (app_limited || self.trips.slowed(self.delivered)) {
            self.now = now;
            self.handle_restart(win);
        }
    }

    fn pacing_rate(&self, win: &Window, _flight: &Flight, srtt: Duration) -> Option<u64> {
        let rate = if self.begun { self.pacing_rate } else { initial_rate(win.cwnd, srtt) };
        Some(rate.max(1.0) as u64)
    }
}
