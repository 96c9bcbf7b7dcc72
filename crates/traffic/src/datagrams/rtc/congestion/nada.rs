//! NADA, RFC 8698 (X. Zhu, R. Pan, M. Ramalho and S. Mena, February 2020): one congestion signal of
//! delay, losses and marks, and a rate that grows fast while the queue is empty and follows the
//! signal otherwise. Equation numbers are the RFC's. Times are seconds.

mod observer;

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use self::observer::{Observer, Observing};
use super::{Control, Entry, Feedback, Rates, Video};

/// The entry for NADA in the registry.
pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "nada",
        summary: "one signal of queueing delay, losses and marks; ramps up while the queue is empty",
        year: 2020,
        source: "RFC 8698, equations (1) to (14), checked against the equations and constants that \
                 cisco/ns3-rmcat and other implementations quote from it",
        deviations: "the receiver's part runs at the sender, on reports of every packet (RFC 8888), \
                     as section 5.3 allows; the mean loss interval leaves out the open one, with which \
                     loss_exp, at least 7/6 of the open interval, would never be over; losses within \
                     one round trip are one event, as in RFC 5348; the base delay is the smallest of \
                     the whole call",
        fields: FIELDS,
    },
    start: None,
    feedback: 0.1,
    make: |params, video| Box::new(Nada::new(Settings::read(params), *video)),
};

const SCALE: Kind = Kind::from(Unit::None, 0.0, 1e3);
const SPAN: Kind = Kind::above(Unit::Time, 0.0, 100.0);
const SHARE: Kind = Kind::above(Unit::None, 0.0, 1.0);
const FIGURE: &str = "RFC 8698 figure 3";

const FIELDS: &[Field] = &[
    Field::new("priority", Kind::above(Unit::None, 0.0, 1e3), Value::Real(1.0))
        .meaning("Weight of the flow (PRIO).")
        .source(FIGURE),
    Field::new("x_ref", SPAN, Value::Real(0.01))
        .meaning("Congestion signal at which the flow may have its highest rate (XREF).")
        .source(FIGURE),
    Field::new("kappa", SCALE, Value::Real(0.5))
        .meaning("Scale of the gradual update (KAPPA).")
        .source(FIGURE),
    Field::new("eta", SCALE, Value::Real(2.0))
        .meaning("Scale of what the signal's change adds to the gradual update (ETA).")
        .source(FIGURE),
    Field::new("tau", SPAN, Value::Real(0.5))
        .meaning("Largest round trip of the gradual update (TAU).")
        .source(FIGURE),
    Field::new("log_window", SPAN, Value::Real(0.5))
        .meaning("What losses, marks, the receiving rate and the mode are measured over (LOGWIN).")
        .source(FIGURE),
    Field::new("q_eps", SPAN, Value::Real(0.01))
        .meaning("Queueing delay from which a queue builds up: no ramp-up any more (QEPS).")
        .source(FIGURE),
    Field::new("filter_delay", SPAN, Value::Real(0.12))
        .meaning("Bound of the filtering delay (DFILT).")
        .source(FIGURE),
    Field::new("gamma_max", SCALE, Value::Real(0.5))
        .meaning("Largest increase of one step of the ramp-up (GAMMA_MAX).")
        .source(
            "RFC 8698 figure 3, as cisco/ns3-rmcat has it; other implementations take 0.1 or 0.2",
        ),
    Field::new("q_bound", SPAN, Value::Real(0.05))
        .meaning("Queueing delay that the ramp-up may cause (QBOUND).")
        .source(FIGURE),
    Field::new("multi_loss", SCALE, Value::Real(7.0))
        .meaning("Mean loss intervals without a loss after which losses are past (MULTILOSS).")
        .source(FIGURE),
    Field::new("q_th", SPAN, Value::Real(0.05))
        .meaning("Queueing delay above which it counts less while there are losses (QTH).")
        .source(FIGURE),
    Field::new("lambda", SCALE, Value::Real(0.5))
        .meaning("How fast it then counts less (LAMBDA).")
        .source(FIGURE),
    Field::new("plr_ref", SHARE, Value::Real(0.01))
        .meaning("Share of losses that weighs d_loss (PLRREF).")
        .source(FIGURE),
    Field::new("pmr_ref", SHARE, Value::Real(0.01))
        .meaning("Share of marks that weighs d_mark (PMRREF).")
        .source(FIGURE),
    Field::new("d_loss", SPAN, Value::Real(0.01))
        .meaning("Delay that losses of plr_ref stand for (DLOSS).")
        .source(FIGURE),
    Field::new("d_mark", SPAN, Value::Real(0.002))
        .meaning("Delay that marks of pmr_ref stand for (DMARK).")
        .source(FIGURE),
    Field::new("x_max", Kind::above(Unit::Time, 0.0, 1e9), Value::Real(0.5))
        .meaning(
            "Largest congestion signal; without a bound its fall after losses starts new ones.",
        )
        .source(
            "read: NADA_PARAM_XMAX of its authors' cisco/ns3-rmcat; (2) is not known to have one",
        ),
    Field::new("beta_s", SCALE, Value::Real(0.1))
        .meaning("How much the sender's buffer speeds up the sending (BETA_S).")
        .source(FIGURE),
    Field::new("beta_v", SCALE, Value::Real(0.1))
        .meaning("How much the sender's buffer slows down the encoder (BETA_V).")
        .source(FIGURE),
    Field::new("alpha", SHARE, Value::Real(0.1))
        .meaning("Weight of a new sample of the shares of losses and marks (ALPHA).")
        .source(FIGURE),
    Field::new("taps", Kind::whole(Unit::Packets, 1, 1_000), Value::Whole(15))
        .meaning("Packets of whose queueing delays the smallest counts.")
        .source("RFC 8698 section 5.1.1: a 15-tab minimum filter"),
];

/// Largest part of the reference rate by which the sender's buffer moves a rate, equations (11) and
/// (12).
const MOST_SHIFT: f64 = 0.05;

/// The parameters of the sender; those of the receiver's part are [`Observing`]'s.
#[derive(Clone, Copy, Debug)]
struct Settings {
    observing: Observing,
    priority: f64,
    x_ref: f64,
    kappa: f64,
    eta: f64,
    tau: f64,
    filter_delay: f64,
    gamma_max: f64,
    q_bound: f64,
    plr_ref: f64,
    pmr_ref: f64,
    d_loss: f64,
    d_mark: f64,
    x_max: f64,
    beta_s: f64,
    beta_v: f64,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let real = |name| params.real(name);
        Settings {
            observing: Observing::read(params),
            priority: real("priority"),
            x_ref: real("x_ref"),
            kappa: real("kappa"),
            eta: real("eta"),
            tau: real("tau"),
            filter_delay: real("filter_delay"),
            gamma_max: real("gamma_max"),
            q_bound: real("q_bound"),
            plr_ref: real("plr_ref"),
            pmr_ref: real("pmr_ref"),
            d_loss: real("d_loss"),
            d_mark: real("d_mark"),
            x_max: real("x_max"),
            beta_s: real("beta_s"),
            beta_v: real("beta_v"),
        }
    }

    /// The aggregate congestion signal x_curr, equation (2).
    fn signal(&self, warped: f64, p_mark: f64, p_loss: f64) -> f64 {
        let penalty = |of: f64, at: f64, delay: f64| delay * (of / at) * (of / at);
        let marks = penalty(p_mark, self.pmr_ref, self.d_mark);
        (warped + marks + penalty(p_loss, self.plr_ref, self.d_loss)).min(self.x_max)
    }
}

#[derive(Clone, Debug)]
struct Nada {
    settings: Settings,
    video: Video,
    observer: Observer,
    /// The reference rate r_ref, bit/s.
    rate: f64,
    /// The signal of the last update (x_prev), and when that was (t_last).
    x_prev: f64,
    updated: Option<Instant>,
}

impl Nada {
    fn new(settings: Settings, video: Video) -> Self {
        let observer = Observer::new(settings.observing);
        Nada { settings, video, observer, rate: video.start, x_prev: 0.0, updated: None }
    }

    /// Performs the accelerated ramp-up, equations (3) and (4).
    fn ramp_up(&mut self, round_trip: f64, receiving: f64) {
        let Settings { q_bound, gamma_max, filter_delay, .. } = self.settings;
        let until_seen = round_trip + self.video.feedback.secs_f64() + filter_delay;
        let gamma = gamma_max.min(q_bound / until_seen);
        self.rate = self.rate.max((1.0 + gamma) * receiving);
    }

    /// Performs the gradual update, equations (5) to (7), `delta` seconds after the last one.
    fn follow(&mut self, x_curr: f64, delta: f64) {
        let Settings { priority, x_ref, kappa, eta, tau, .. } = self.settings;
        let x_offset = x_curr - priority * x_ref * self.video.most / self.rate;
        let x_diff = x_curr - self.x_prev;
        let offset = kappa * (delta / tau) * (x_offset / tau);
        let change = kappa * eta * (x_diff / tau);
        self.rate -= (offset + change) * self.rate;
    }
}

impl Control for Nada {
    fn copy(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        feedback.packets.iter().for_each(|packet| self.observer.packet(packet));
        self.observer.at(feedback.made, feedback.round_trip);
        let observer = &self.observer;
        let x_curr =
            self.settings.signal(observer.warped_delay(), observer.p_mark, observer.p_loss);
        let since = self.updated.map(|last| feedback.now.since(last));
        let delta = since.unwrap_or(self.video.feedback).secs_f64();
        if observer.may_ramp_up() {
            self.ramp_up(feedback.round_trip.secs_f64(), observer.receiving_rate());
        } else {
            self.follow(x_curr, delta);
        }
        self.rate = self.rate.clamp(self.video.least, self.video.most);
        (self.x_prev, self.updated) = (x_curr, Some(feedback.now));
    }

    /// The rates of the video, equations (11) and (13), and of the pacer, equations (12) and (14).
    fn rates(&self, buffered: u64) -> Rates {
        let drain = 8.0 * buffered as f64 * self.video.frame_rate;
        let shift = |beta: f64| (beta * drain).min(MOST_SHIFT * self.rate);
        Rates {
            encoder: (self.rate - shift(self.settings.beta_v)).max(self.video.least),
            pacer: (self.rate + shift(self.settings.beta_s)).min(self.video.most),
        }
    }
}

#[cfg(test)]
mod tests;
