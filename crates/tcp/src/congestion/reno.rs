//! Reno's congestion control as Linux has it (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`): RFC 5681
//! in whole segments, with growth by acknowledged segments (RFC 3465, in slow start without its
//! limit L).

use packet::{About, Instant};

use super::control::{AckSample, Cause, Control, Entry};
use super::growth::{Increase, segments};
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "reno",
        summary: "additive increase of one segment per round trip, half at congestion",
        year: 2009,
        source: "RFC 5681, 3465, in whole segments as Linux's tcp_cong.c",
        deviations: "slow start counts all \
             segments acknowledged (the limit of two per acknowledgement is left out)",
        fields: &[],
    },
    make: |_| Box::new(Reno::default()),
};

#[derive(Clone, Debug, Default)]
pub(super) struct Reno {
    increase: Increase,
}

impl Control for Reno {
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if !ack.may_grow() {
            return;
        }
        let rest = Increase::slow_start(win, ack.segments);
        if rest > 0 {
            self.increase.add(win, segments(win), rest);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, _cause: Cause, _now: Instant) {
        self.increase.forget();
        win.ssthresh = u64::from((segments(win) >> 1).max(2)) * win.mss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::ack_sample;

    #[test]
    fn a_window_doubles_below_the_threshold_and_gains_a_segment_above() {
        let mut win = Window { cwnd: 10_000, ssthresh: 20_000, mss: 1_000, ..Window::default() };
        let mut reno = Reno::default();
        let ack = ack_sample(10_000);
        reno.on_ack(&mut win, &ack);
        assert_eq!(win.cwnd, 20_000);
        (0..2).for_each(|_| reno.on_ack(&mut win, &ack));
        assert_eq!(win.cwnd, 21_000);
        // Half of 21 segments is ten.
        reno.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 10_000);
        win.cwnd = 3_000;
        reno.on_congestion(&mut win, &Flight::default(), Cause::Timeout, Instant::ZERO);
        assert_eq!(win.ssthresh, 2_000);
    }

    #[test]
    fn what_was_saved_up_waits_while_slow_start_takes_all() {
        // tcp_reno_cong_avoid: if (!acked) return, before tcp_cong_avoid_ai. Nine of the ten
        // segments that grow the window were counted when a pause left a window of two.
        let mut win = Window { cwnd: 10_000, ssthresh: 10_000, mss: 1_000, ..Window::default() };
        let mut reno = Reno::default();
        reno.on_ack(&mut win, &ack_sample(9_000));
        win.cwnd = 2_000;
        reno.on_ack(&mut win, &ack_sample(1_000));
        assert_eq!(win.cwnd, 3_000);
    }
}
