//! The arrival-time model, draft-ietf-rmcat-gcc-02 sections 5.1 to 5.3: groups of packets, how much
//! further apart they arrive than they were sent, and a Kalman filter of that.

use std::collections::VecDeque;

use packet::params::Params;
use packet::{Duration, Instant, math};

use super::super::Observed;

/// Number of the latest groups from whose spacing the frequency of groups is computed (K).
const RECENT: usize = 5;
/// Standard deviations beyond which a measurement counts as an outlier.
const OUTLIER: f64 = 3.0;
/// Longest time for which a burst of arrivals is one group (libwebrtc's `kMaxBurstDuration`).
const LONGEST_BURST: Duration = Duration::from_millis(100);

/// Parameters of the arrival-time model; the table of GCC's parameters explains them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filtering {
    burst: Duration,
    state_noise: f64,
    first_error: f64,
    chi: f64,
}

impl Filtering {
    pub fn read(params: &Params) -> Self {
        Filtering {
            burst: params.time("burst_time"),
            state_noise: params.real("state_noise"),
            first_error: params.real("first_error"),
            chi: params.real("chi"),
        }
    }
}

/// Packets that were sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    first_arrived: Instant,
    last_arrived: Instant,
}

/// The estimate after a complete group of packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// Estimated delay gradient (m_hat), ms: time between the arrivals of two groups minus time
    /// between their sending.
    pub gradient_ms: f64,
    /// Time between the sending of the two groups, ms.
    pub apart_ms: f64,
    /// Time at which the last packet of the group arrived.
    pub at: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    filtering: Filtering,
    group: Option<Group>,
    before: Option<Group>,
    /// Times between the sending of the latest groups, ms.
    apart: VecDeque<f64>,
    pub(super) filter: Kalman,
}

/// The scalar Kalman filter of section 5.3; its times are milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Kalman {
    pub estimate: f64,
    pub error: f64,
    pub noise: f64,
}

impl Kalman {
    /// Filters a measurement (d(i)); `alpha` is the weight of the old variance of the noise.
    pub fn measure(&mut self, measured: f64, state_noise: f64, alpha: f64) {
        let limit = OUTLIER * self.noise.sqrt();
        let residual = measured - self.estimate;
        let bounded = residual.clamp(-limit, limit);
        self.noise = (alpha * self.noise + (1.0 - alpha) * bounded * bounded).max(1.0);
        let predicted = self.error + state_noise;
        let gain = predicted / (self.noise + predicted);
        self.estimate += residual * gain;
        self.error = (1.0 - gain) * predicted;
    }
}

impl Arrivals {
    pub fn new(filtering: Filtering) -> Self {
        // The draft leaves the first variance of the noise open; libwebrtc begins with 50 ms^2.
        let filter = Kalman { estimate: 0.0, error: filtering.first_error, noise: 50.0 };
        Arrivals { filtering, group: None, before: None, apart: VecDeque::new(), filter }
    }

    /// Adds one packet, in the order of sending; returns the estimate of the previous group if the
    /// packet begins a new one.
    pub fn packet(&mut self, packet: &Observed) -> Option<Estimate> {
        let at = packet.arrived?;
        let begun = Group {
            first_sent: packet.sent,
            last_sent: packet.sent,
            first_arrived: at,
            last_arrived: at,
        };
        let Some(group) = &mut self.group else {
            self.group = Some(begun);
            return None;
        };
        if belongs(group, packet.sent, at, self.filtering.burst) {
            (group.last_sent, group.last_arrived) = (packet.sent, at);
            return None;
        }
        let complete = *group;
        self.group = Some(begun);
        let before = self.before.replace(complete)?;
        Some(self.filter(&before, &complete))
    }

    fn filter(&mut self, before: &Group, group: &Group) -> Estimate {
        let apart_ms = 1e3 * group.last_sent.since(before.last_sent).secs_f64();
        let arrived_ms = 1e3 * group.last_arrived.since(before.last_arrived).secs_f64();
        self.apart.push_back(apart_ms);
        if self.apart.len() > RECENT {
            self.apart.pop_front();
        }
        // alpha = (1 - chi)^(30 / (1000 f_max)), f_max in groups a millisecond.
        let shortest = self.apart.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = math::pow(1.0 - self.filtering.chi, shortest * 30.0 / 1e3);
        self.filter.measure(arrived_ms - apart_ms, self.filtering.state_noise, alpha);
        Estimate { gradient_ms: self.filter.estimate, apart_ms, at: group.last_arrived }
    }
}

/// Whether a packet belongs to a group (section 5.2): it was sent within the burst time after the
/// group's first packet, or it arrived within that time after the last one and closer to it than it
/// was sent.
fn belongs(group: &Group, sent: Instant, arrived: Instant, burst: Duration) -> bool {
    let behind = arrived.since(group.last_arrived);
    let together = sent.since(group.first_sent) <= burst;
    let closer = behind < sent.since(group.last_sent);
    let short = arrived.since(group.first_arrived) < LONGEST_BURST;
    together || (behind <= burst && closer && short)
}
