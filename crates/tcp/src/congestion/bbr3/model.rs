//! The model of the path: packet-timed rounds, the bottleneck's rate, the latest deliveries, and
//! how much acknowledgements are aggregated (sections 5.5.1 to 5.5.6, 5.5.9, 5.5.10.3).

use packet::{Duration, Instant};

use super::super::windowed::WindowedMax;
use super::{Bbr3, UNBOUNDED};
use crate::send_state::Window;

/// Round trips over which the greatest aggregation is taken (section 2.12).
const AGGREGATION_ROUNDS: u64 = 10;

/// Packet-timed rounds (section 5.5.1), and the rounds of loss accounting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub count: u64,
    /// Whether the acknowledgement that is being processed begins a round trip.
    pub started: bool,
    next_delivered: u64,
    /// Whether the acknowledgement that is being processed begins a round of loss accounting.
    pub loss_started: bool,
    pub loss_delivered: u64,
    /// Something was lost in the round of loss accounting.
    pub loss: bool,
}

/// The rate model and the bounds on rate and volume (section 2.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    /// Greatest delivery rate of this probing cycle and of the last one.
    rates: [f64; 2],
    pub bw: f64,
    pub bw_shortterm: f64,
    pub inflight_shortterm: u64,
    pub inflight_longterm: u64,
    /// Greatest rate, and greatest volume in bytes, delivered in the last round trip.
    bw_latest: f64,
    pub inflight_latest: u64,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            rates: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: UNBOUNDED,
            inflight_longterm: UNBOUNDED,
            bw_latest: 0.0,
            inflight_latest: 0,
        }
    }
}

impl Model {
    pub fn max_bw(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// Enters a delivery rate of this probing cycle.
    pub fn record(&mut self, rate: f64) {
        self.rates[0] = self.rates[0].max(rate);
    }

    /// Section 5.5.6: a new probing cycle begins.
    pub fn advance_filter(&mut self) {
        self.rates = [0.0, self.rates[0]];
    }

    pub fn bound_rate(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    pub fn reset_shortterm(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = UNBOUNDED;
    }

    /// Section 5.5.10.3, `InitLowerBounds` and `LossLowerBounds`: lowers the short-term bounds
    /// after a round with losses.
    fn adapt_shortterm(&mut self, cwnd: u64, beta: f64) {
        let bw = self.bw_shortterm.min(self.max_bw());
        let inflight =
            if self.inflight_shortterm == UNBOUNDED { cwnd } else { self.inflight_shortterm };
        self.bw_shortterm = self.bw_latest.max(beta * bw);
        self.inflight_shortterm = self.inflight_latest.max((beta * inflight as f64) as u64);
    }
}

/// Bytes acknowledged beyond what the modelled rate delivers: the aggregation of acknowledgements
/// (section 5.5.9).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    since: Instant,
    delivered: u64,
    greatest: WindowedMax,
}

impl Aggregation {
    pub fn restart(&mut self, now: Instant) {
        self.since = now;
    }

    pub fn extra(&self) -> u64 {
        self.greatest.get()
    }
}

impl Bbr3 {
    /// Starts a round (section 5.5.1).
    pub(super) fn start_round(&mut self) {
        self.rounds.next_delivered = self.delivered;
    }

    fn update_round(&mut self) {
        let sample = &self.sample;
        self.rounds.started =
            sample.has_data && sample.prior_delivered >= self.rounds.next_delivered;
        if self.rounds.started {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds_since_probe += 1;
        }
    }

    /// Section 5.5.5: a sample that the program limited counts only if it is the greatest.
    pub(super) fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.sample.rate;
        if rate >= self.model.max_bw() || !self.sample.app_limited {
            self.model.record(rate);
        }
    }

    /// Section 5.5.10.3, early in the processing of an acknowledgement: updates the latest
    /// deliveries.
    pub(super) fn update_latest_delivery(&mut self) {
        let (sample, model) = (&self.sample, &mut self.model);
        model.bw_latest = model.bw_latest.max(sample.rate);
        model.inflight_latest = model.inflight_latest.max(sample.delivered);
        self.rounds.loss_started =
            sample.has_data && sample.prior_delivered >= self.rounds.loss_delivered;
        if self.rounds.loss_started {
            self.rounds.loss_delivered = self.delivered;
        }
    }

    /// Section 5.5.10.3, late in the processing: starts the latest deliveries of a new round.
    pub(super) fn advance_latest_delivery(&mut self) {
        if self.rounds.loss_started {
            self.model.bw_latest = self.sample.rate;
            self.model.inflight_latest = self.sample.delivered;
        }
    }

    pub(super) fn reset_congestion(&mut self) {
        self.rounds.loss = false;
        self.model.bw_latest = 0.0;
        self.model.inflight_latest = 0;
    }

    pub(super) fn update_congestion(&mut self, win: &Window) {
        self.update_max_bw();
        if !self.rounds.loss_started {
            return;
        }
        if self.rounds.loss && !self.state.accelerates() {
            self.model.adapt_shortterm(win.cwnd, self.settings.beta);
        }
        self.rounds.loss = false;
    }

    pub(super) fn update_aggregation(&mut self, win: &Window) {
        let expected = |since: Duration| (self.model.bw * since.secs_f64()) as u64;
        let aggregation = &mut self.aggregation;
        let mut explained = expected(self.now.since(aggregation.since));
        if aggregation.delivered <= explained {
            aggregation.delivered = 0;
            aggregation.since = self.now;
            explained = 0;
        }
        aggregation.delivered += self.sample.newly_acked;
        let extra = (aggregation.delivered - explained).min(win.cwnd);
        let window = if self.pipe.reached { AGGREGATION_ROUNDS } else { 1 };
        aggregation.greatest.update(self.rounds.count, extra, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_two_cycles_count() {
        let mut model = Model { rates: [5.0, 0.0], ..Model::default() };
        model.advance_filter();
        model.rates[0] = 3.0;
        assert_eq!(model.max_bw(), 5.0);
        model.advance_filter();
        assert_eq!(model.max_bw(), 3.0);
        model.bw_shortterm = 2.0;
        model.bound_rate();
        assert_eq!(model.bw, 2.0);
    }

    #[test]
    fn short_term_bounds_fall_to_seven_tenths_or_what_came_through() {
        let mut model = Model { rates: [1_000.0, 0.0], bw_latest: 800.0, ..Model::default() };
        model.inflight_latest = 60;
        model.adapt_shortterm(100, 0.7);
        assert_eq!((model.bw_shortterm, model.inflight_shortterm), (800.0, 70));
        (model.bw_latest, model.inflight_latest) = (100.0, 10);
        model.adapt_shortterm(100, 0.7);
        assert_eq!((model.bw_shortterm, model.inflight_shortterm), (560.0, 49));
    }
}
