//! HyStart++ (RFC 9406): leaves the first slow start when the round-trip time grows, before the
//! buffer overflows. A first rise only slows the growth (conservative slow start). Five rounds of
//! that end slow start; a round-trip time below the one that showed the rise resumes normal slow
//! start.

use packet::Duration;

use super::control::AckSample;
use crate::send_state::Window;

/// RFC 9406 section 4.3: the round-trip time must rise by an eighth of the last round's smallest,
/// at least 4 ms and at most 16 ms, and a round must have at least eight samples.
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
const SAMPLES: u32 = 8;
/// Section 4.3: conservative slow start grows by a quarter for five rounds.
const GROWTH_DIVISOR: u64 = 4;
const ROUNDS: u32 = 5;
/// Section 4.3: one acknowledgement grows the window by at most eight segments. (A paced sender
/// may do without; the limit matters only where more than eight are acknowledged at once.)
const BURST: u64 = 8;

/// The phase of slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    SlowStart,
    /// Conservative slow start, left for slow start when a round is faster than `baseline`.
    Conservative { baseline: Duration, rounds: u32 },
    /// The first slow start is over; later ones are plain (section 4.3, last paragraph).
    Over,
}

/// The state of HyStart++ for one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    phase: Phase,
    /// Smallest round-trip time of the last round and of this one.
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// An acknowledgement in slow start: grows the window, or ends slow start by setting
    /// `ssthresh`. Returns the acknowledged bytes left for congestion avoidance.
    pub fn on_ack(&mut self, win: &mut Window, ack: &AckSample) -> u64 {
        if self.phase == Phase::Over {
            return super::growth::slow_start(win, ack.acked);
        }
        if ack.round {
            self.begin_round();
        }
        self.sample(ack.rtt);
        let counted = ack.acked.min(BURST * win.mss());
        let Phase::Conservative { rounds, .. } = self.phase else {
            super::growth::slow_start(win, counted);
            return 0;
        };
        super::growth::slow_start(win, counted / GROWTH_DIVISOR);
        if rounds >= ROUNDS {
            win.ssthresh = win.cwnd;
            self.phase = Phase::Over;
        }
        0
    }

    /// Ends HyStart++ for good when congestion is noticed.
    pub fn stop(&mut self) {
        self.phase = Phase::Over;
    }

    fn begin_round(&mut self) {
        self.last = self.current.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
        }
    }

    fn sample(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        let current = self.current.map_or(rtt, |least| least.min(rtt));
        self.current = Some(current);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match (self.phase, self.last) {
            (Phase::SlowStart, Some(last)) if current >= last + rise(last) => {
                self.phase = Phase::Conservative { baseline: current, rounds: 0 };
            }
            (Phase::Conservative { baseline, .. }, _) if current < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }
}

/// Rise of the round-trip time over the last round's smallest that starts conservative slow start.
fn rise(last: Duration) -> Duration {
    Duration::from_nanos(last.nanos() / RISE_DIVISOR).clamp(MIN_RISE, MAX_RISE)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn ms(x: u64) -> Duration {
        Duration::from_millis(x)
    }

    fn fresh() -> Window {
        Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS as u16, ..Window::default() }
    }

    /// A round of `n` acknowledgements of a segment each, all with this round-trip time.
    fn round(hystart: &mut HyStart, win: &mut Window, rtt: Duration, n: u32) {
        for i in 0..n {
            let ack =
                testing::AckSample { round: i == 0, rtt: Some(rtt), ..testing::ack_sample(MSS) };
            hystart.on_ack(win, &ack);
        }
    }

    #[test]
    fn the_rise_that_alarms_is_an_eighth_within_4_and_16_ms() {
        assert_eq!(rise(ms(10)), ms(4));
        assert_eq!(rise(ms(80)), ms(10));
        assert_eq!(rise(ms(400)), ms(16));
    }

    #[test]
    fn a_rise_slows_the_growth_to_a_quarter_and_five_rounds_end_it() {
        let (mut hystart, mut win) = (HyStart::default(), fresh());
        round(&mut hystart, &mut win, ms(80), 10);
        assert_eq!(win.cwnd, 20 * MSS);
        // Seven samples are not enough, and 89 ms are below 80 + 10.
        round(&mut hystart, &mut win, ms(90), 7);
        assert_eq!(hystart.phase, Phase::SlowStart);
        round(&mut hystart, &mut win, ms(80), 8);
        round(&mut hystart, &mut win, ms(89), 8);
        assert_eq!(hystart.phase, Phase::SlowStart);
        round(&mut hystart, &mut win, ms(80), 8);
        let before = win.cwnd;
        round(&mut hystart, &mut win, ms(90), 8);
        // The eighth sample shows the rise, and its own growth is already a quarter.
        assert_eq!(win.cwnd, before + 7 * MSS + MSS / 4);
        assert_eq!(hystart.phase, Phase::Conservative { baseline: ms(90), rounds: 0 });
        let before = win.cwnd;
        (0..4).for_each(|_| round(&mut hystart, &mut win, ms(95), 8));
        assert_eq!(win.cwnd, before + 4 * 8 * MSS / 4);
        assert_eq!(win.ssthresh, u64::MAX);
        round(&mut hystart, &mut win, ms(95), 1);
        assert_eq!(win.ssthresh, win.cwnd);
        assert_eq!(hystart.phase, Phase::Over);
    }

    #[test]
    fn a_faster_round_takes_the_alarm_back() {
        let (mut hystart, mut win) = (HyStart::default(), fresh());
        round(&mut hystart, &mut win, ms(80), 8);
        round(&mut hystart, &mut win, ms(90), 8);
        round(&mut hystart, &mut win, ms(90), 8);
        round(&mut hystart, &mut win, ms(89), 7);
        assert!(matches!(hystart.phase, Phase::Conservative { .. }));
        round(&mut hystart, &mut win, ms(89), 8);
        assert_eq!(hystart.phase, Phase::SlowStart);
    }

    #[test]
    fn an_acknowledgement_counts_for_eight_segments_at_most() {
        let (mut hystart, mut win) = (HyStart::default(), fresh());
        hystart.on_ack(&mut win, &testing::ack_sample(50 * MSS));
        assert_eq!(win.cwnd, 18 * MSS);
        hystart.stop();
        hystart.on_ack(&mut win, &testing::ack_sample(50 * MSS));
        assert_eq!(win.cwnd, 68 * MSS);
    }
}
