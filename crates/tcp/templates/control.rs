//! Template (author, *title*, year). Replace this text: the idea in five lines, and where this file differs from the
//! paper, RFC or kernel.
//!
//! What `make new-control` wrote works: additive increase by one segment per round trip in bytes (RFC 5681, with
//! RFC 3465's counting), and a decrease to the share `beta` at congestion.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use super::control::{AckSample, Cause, Control, Entry};
use super::growth::slow_start;
use crate::send_state::{Flight, Window};

/// The entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "template",
        summary: "additive increase of one segment per round trip, the share beta at congestion",
        year: 2026,
        source: "constructed, after RFC 5681 and 3465",
        deviations: "none: there is no other program of it",
        fields: FIELDS,
    },
    make: |params| Box::new(Template::new(params)),
};

// Each parameter with unit and range, default, meaning and source.
const FIELDS: &[Field] = &[Field::new("beta", Kind::from(Unit::None, 0.1, 0.9), Value::Real(0.5))
    .meaning("Share of the window that congestion leaves.")
    .source("RFC 5681: one half")];

#[derive(Clone, Debug)]
struct Template {
    beta: f64,
    /// Bytes acknowledged since the window last grew by a segment.
    credit: u64,
}

impl Template {
    fn new(params: &Params) -> Self {
        Template { beta: params.real("beta"), credit: 0 }
    }
}

impl Control for Template {
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if !ack.may_grow() {
            return;
        }
        self.credit += slow_start(win, ack.acked);
        if self.credit >= win.cwnd {
            self.credit -= win.cwnd;
            win.cwnd += win.mss();
        }
    }

    fn on_congestion(&mut self, win: &mut Window, _: &Flight, _: Cause, _: Instant) {
        let left = (win.cwnd as f64 * self.beta) as u64;
        win.ssthresh = left.max(2 * win.mss());
    }
    // As needed: flags (pacing, ECN, a window of its own), on_open, on_lost, on_timeout, undo, on_restart, pacing_rate.
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::ack_sample;

    #[test]
    fn a_window_gains_a_segment_per_round_trip_and_keeps_beta_at_congestion() {
        let mut win = Window { cwnd: 10_000, ssthresh: 10_000, mss: 1_000, ..Window::default() };
        let mut control = Template::new(&Params::defaults(FIELDS));
        control.on_ack(&mut win, &ack_sample(9_000));
        assert_eq!(win.cwnd, 10_000);
        control.on_ack(&mut win, &ack_sample(1_000));
        assert_eq!(win.cwnd, 11_000);
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 5_500);
    }
}
