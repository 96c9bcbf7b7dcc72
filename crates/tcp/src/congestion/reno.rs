//! Reno's congestion control as Linux has it (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`): RFC 5681
//! in whole segments, counting what is acknowledged (RFC 3465, in slow start without its limit L).

use packet::{About, Instant};

use super::growth::{Increase, segments};
use super::{AckSample, Cause, Control, Entry};
use crate::send_state::SendState;

/// The registry's line.
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
    fn on_ack(&mut self, snd: &mut SendState, ack: &AckSample) {
        if !ack.may_grow() {
            return;
        }
        let rest = Increase::slow_start(snd, ack.segments);
        if rest > 0 {
            self.increase.add(snd, segments(snd), rest);
        }
    }

    fn on_congestion(&mut self, snd: &mut SendState, _cause: Cause, _now: Instant) {
        self.increase.forget();
        snd.ssthresh = u64::from((segments(snd) >> 1).max(2)) * snd.mss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::ack_sample;

    #[test]
    fn a_window_doubles_below_the_threshold_and_gains_a_segment_above() {
        let mut snd =
            SendState { cwnd: 10_000, ssthresh: 20_000, mss: 1_000, ..SendState::default() };
        let mut reno = Reno::default();
        let ack = ack_sample(10_000);
        reno.on_ack(&mut snd, &ack);
        assert_eq!(snd.cwnd, 20_000);
        (0..2).for_each(|_| reno.on_ack(&mut snd, &ack));
        assert_eq!(snd.cwnd, 21_000);
        // Half of 21 segments is ten.
        reno.on_congestion(&mut snd, Cause::Loss, Instant::ZERO);
        assert_eq!(snd.ssthresh, 10_000);
        snd.cwnd = 3_000;
        reno.on_congestion(&mut snd, Cause::Timeout, Instant::ZERO);
        assert_eq!(snd.ssthresh, 2_000);
    }

    #[test]
    fn what_was_saved_up_waits_while_slow_start_takes_all() {
        // tcp_reno_cong_avoid: if (!acked) return, before tcp_cong_avoid_ai. Nine of ten segments were
        // saved up when a pause left a window of two.
        let mut snd =
            SendState { cwnd: 10_000, ssthresh: 10_000, mss: 1_000, ..SendState::default() };
        let mut reno = Reno::default();
        reno.on_ack(&mut snd, &ack_sample(9_000));
        snd.cwnd = 2_000;
        reno.on_ack(&mut snd, &ack_sample(1_000));
        assert_eq!(snd.cwnd, 3_000);
    }
}
