//! Vegas (Brakmo, O'Malley, Peterson, SIGCOMM 1994; Brakmo, Peterson, IEEE JSAC 13(8), 1995): keeps
//! a few segments of its own in the queue, whose number it computes from round-trip times.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use super::growth::slow_start;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "vegas",
        summary: "delay-based: two to four segments in the queue, Reno's half at congestion",
        year: 1995,
        source: "Brakmo and Peterson 1995; alpha 2, beta 4, gamma 1 segments, three round trips \
             measured per window or Reno, the smallest counts, threshold and restart from Linux's \
             tcp_vegas.c",
        deviations: "unlike in Linux the difference is the paper's (queued segments: window times \
             (1 - base/rtt)), slow start grows every other round trip and is judged by the \
             newest one as in the paper, and an unused window does not grow; the paper's own \
             retransmission rules are left out, as in Linux",
        fields: FIELDS,
    },
    make: |params| Box::new(Vegas::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("alpha", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(2))
        .meaning("Segments queued below which the window grows.")
        .source("Brakmo and Peterson 1995; alpha = 2 in Linux"),
    Field::new("beta", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(4))
        .meaning("Segments queued above which the window shrinks.")
        .source("Brakmo and Peterson 1995; beta = 4 in Linux"),
    Field::new("gamma", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(1))
        .meaning("Segments queued that end slow start.")
        .source("Brakmo and Peterson 1995; gamma = 1 in Linux"),
];

/// The parameters, segments.
#[derive(Clone, Copy, Debug)]
struct Settings {
    alpha: u64,
    beta: u64,
    gamma: u64,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|name| params.whole(name));
        Settings { alpha, beta, gamma }
    }
}

/// Fewest round-trip samples per window for a decision, as in Linux: fewer may all be of delayed
/// acknowledgements.
const SAMPLES: u32 = 3;

#[derive(Clone, Debug)]
struct Vegas {
    settings: Settings,
    /// Smallest round-trip time of the connection.
    base: Option<Duration>,
    /// Smallest round-trip time of the current window.
    least: Option<Duration>,
    /// Number of round-trip time samples in the current window.
    samples: u32,
    /// Whether slow start leaves the window unchanged in this round trip, so that the next
    /// round-trip time is that of a constant window.
    rests: bool,
    /// Acknowledged bytes that have not grown the window yet, while it acts as Reno.
    credit: u64,
}

impl Vegas {
    fn new(settings: Settings) -> Self {
        Vegas { settings, base: None, least: None, samples: 0, rests: false, credit: 0 }
    }

    fn measure(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        let least = |old: Option<Duration>| Some(old.map_or(rtt, |old| old.min(rtt)));
        self.base = least(self.base);
        self.least = least(self.least);
        self.samples += 1;
    }

    /// Decides once per window whether the window grows or shrinks.
    fn judge(&mut self, win: &mut Window, base: Duration, rtt: Duration, ack: &AckSample) {
        let mss = win.mss();
        if win.cwnd < win.ssthresh {
            // Only after a round trip without growth is a round-trip time that of the current
            // window, and only the newest one, of the paper's distinguished segment: the smallest
            // one is of a segment sent while the window grew.
            let queued = queued(win.cwnd, base, ack.rtt.unwrap_or(rtt));
            let rested = self.rests;
            self.rests = !rested;
            if rested && queued > self.settings.gamma * mss {
                win.cwnd = (win.cwnd - queued + mss).min(win.cwnd);
                win.ssthresh = win.cwnd;
            } else {
                self.begin_slowly(win, ack);
            }
        } else {
            let queued = queued(win.cwnd, base, rtt);
            if queued > self.settings.beta * mss {
                win.cwnd -= mss;
                win.ssthresh = win.ssthresh.min(win.cwnd);
            } else if queued < self.settings.alpha * mss && ack.window_limited {
                win.cwnd += mss;
            }
        }
        win.cwnd = win.cwnd.max(2 * mss);
        win.ssthresh = win.ssthresh.max(win.cwnd / 4 * 3);
    }

    /// Slow start, which grows in every other round trip.
    fn begin_slowly(&self, win: &mut Window, ack: &AckSample) {
        if !self.rests && ack.window_limited {
            slow_start(win, ack.acked);
        }
    }

    fn as_reno(&mut self, win: &mut Window, acked: u64) {
        let rest = slow_start(win, acked);
        self.credit += rest;
        if rest > 0 && self.credit >= win.cwnd {
            self.credit -= win.cwnd;
            win.cwnd += win.mss();
        }
    }

    fn end_window(&mut self) {
        self.least = None;
        self.samples = 0;
    }
}

/// Bytes of a window that are queued: (expected - actual rate) times the base round-trip time.
fn queued(cwnd: u64, base: Duration, rtt: Duration) -> u64 {
    let waiting = rtt.nanos() - base.nanos();
    (u128::from(cwnd) * u128::from(waiting) / u128::from(rtt.nanos().max(1))) as u64
}

impl Control for Vegas {
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.measure(ack.rtt);
        match ack.ca_state {
            CaState::Recovery | CaState::Cwr => return self.end_window(),
            CaState::Loss => {
                self.end_window();
                return self.as_reno(win, ack.acked);
            }
            CaState::Open => {}
        }
        if !ack.round {
            return self.begin_slowly(win, ack);
        }
        match (self.base, self.least) {
            (Some(base), Some(rtt)) if self.samples >= SAMPLES => {
                self.judge(win, base, rtt, ack);
            }
            _ if ack.window_limited => self.as_reno(win, ack.acked),
            _ => {}
        }
        self.end_window();
    }

    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, _cause: Cause, _now: Instant) {
        self.credit = 0;
        self.rests = false;
        win.ssthresh = (win.cwnd / 2).max(2 * win.mss());
    }

    fn on_restart(&mut self, _win: &mut Window, _idle: Duration, _now: Instant) {
        // The path may have changed: Linux discards its measurements.
        *self = Vegas::new(self.settings);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    impl Default for Vegas {
        fn default() -> Self {
            Vegas::new(Settings::read(&Params::defaults(FIELDS)))
        }
    }

    const MSS: u64 = 1_000;

    fn ms(x: u64) -> Duration {
        Duration::from_millis(x)
    }

    /// Four acknowledgements of a window, all with this round-trip time; the first ends the window
    /// before.
    fn window(vegas: &mut Vegas, win: &mut Window, rtt: Duration) {
        for i in 0..4 {
            let ack =
                testing::AckSample { round: i == 0, rtt: Some(rtt), ..testing::ack_sample(MSS) };
            vegas.on_ack(win, &ack);
        }
    }

    fn avoiding(cwnd: u64) -> Window {
        Window { cwnd, ssthresh: cwnd, mss: MSS as u16, ..Window::default() }
    }

    #[test]
    fn what_waits_is_the_window_times_the_waiting_share_of_the_round_trip() {
        assert_eq!(queued(20 * MSS, ms(100), ms(100)), 0);
        assert_eq!(queued(20 * MSS, ms(100), ms(125)), 4 * MSS);
        assert_eq!(queued(20 * MSS, ms(100), ms(200)), 10 * MSS);
    }

    #[test]
    fn two_to_four_queued_segments_hold_the_window() {
        // 20 segments, base 100 ms: 1.8 queued at 110 ms, 3.3 at 120 ms, 4.6 at 130 ms.
        for (rtt, change) in [(110, 1), (120, 0), (130, -1)] {
            let (mut vegas, mut win) = (Vegas::default(), avoiding(20 * MSS));
            vegas.base = Some(ms(100));
            (vegas.least, vegas.samples) = (Some(ms(rtt)), 3);
            window(&mut vegas, &mut win, ms(rtt));
            assert_eq!(win.cwnd as i64, (20 + change) * MSS as i64, "{rtt} ms");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_window_and_ends_with_one_segment_queued() {
        let mut win = Window { ssthresh: u64::MAX, ..avoiding(4 * MSS) };
        let mut vegas = Vegas::default();
        let mut windows = Vec::new();
        for _ in 0..6 {
            window(&mut vegas, &mut win, ms(100));
            windows.push(win.cwnd / MSS);
        }
        // The first window has no samples to decide by and grows by its first ACK too.
        assert_eq!(windows, [8, 8, 12, 12, 16, 16]);
        // 16 segments at 112 ms: 1.714 are queued, which counts after a round trip without growth.
        window(&mut vegas, &mut win, ms(112));
        assert_eq!(win.cwnd, 16 * MSS - 1_714 + MSS);
        assert_eq!(win.ssthresh, win.cwnd);
    }

    #[test]
    fn slow_start_is_judged_after_a_rest_only() {
        // 20 segments at 112 ms: 2.1 are queued.
        let mut win = Window { ssthresh: u64::MAX, ..avoiding(20 * MSS) };
        let mut vegas = Vegas::default();
        (vegas.base, vegas.least, vegas.samples) = (Some(ms(100)), Some(ms(112)), 3);
        window(&mut vegas, &mut win, ms(112));
        assert_eq!((win.cwnd, win.ssthresh), (20 * MSS, u64::MAX));
        window(&mut vegas, &mut win, ms(112));
        assert_eq!(win.cwnd, 20 * MSS - 2_142 + MSS);
    }

    /// The decision about a window of `cwnd` bytes with a base of 100 ms and a round-trip time of
    /// 110 ms: an eleventh of it is queued.
    fn judged(cwnd: u64, ssthresh: u64) -> Window {
        let mut win = Window { ssthresh, ..avoiding(cwnd) };
        let mut vegas = Vegas { rests: true, ..Vegas::default() };
        let ack = testing::AckSample { rtt: Some(ms(110)), ..testing::ack_sample(MSS) };
        vegas.judge(&mut win, ms(100), ms(110), &ack);
        win
    }

    #[test]
    fn the_bounds_themselves_change_nothing() {
        // The paper's rule: increase if diff < alpha, decrease if diff > beta, else no change; 2
        // and 4 segments.
        for (cwnd, change) in [(21_989, 1_000), (22_000, 0), (44_000, 0), (44_011, -1_000)] {
            assert_eq!(judged(cwnd, 2 * MSS).cwnd as i64, cwnd as i64 + change, "{cwnd}");
        }
        // tcp_vegas.c: slow start ends if diff > gamma, one segment.
        for (cwnd, ends) in [(10_989, false), (11_000, false), (11_011, true)] {
            assert_eq!(judged(cwnd, u64::MAX).ssthresh < u64::MAX, ends, "{cwnd}");
        }
    }

    #[test]
    fn what_was_saved_up_waits_while_slow_start_takes_all() {
        // tcp_reno_cong_avoid: if (!acked) return, before tcp_cong_avoid_ai.
        let mut vegas = Vegas { credit: 5_000, ..Vegas::default() };
        let mut win = Window { ssthresh: 20_000, ..avoiding(4_000) };
        vegas.as_reno(&mut win, MSS);
        assert_eq!(win.cwnd, 5_000);
    }

    #[test]
    fn with_two_samples_it_is_reno() {
        let (mut vegas, mut win) = (Vegas::default(), avoiding(4 * MSS));
        vegas.base = Some(ms(100));
        for _ in 0..4 {
            let ack = testing::AckSample {
                round: true,
                rtt: Some(ms(300)),
                ..testing::ack_sample(2 * MSS)
            };
            vegas.on_ack(&mut win, &ack);
        }
        assert_eq!(win.cwnd, 5 * MSS);
        vegas.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 2_500);
    }

    #[test]
    fn an_unused_window_does_not_grow_and_a_restart_forgets() {
        let (mut vegas, mut win) = (Vegas::default(), avoiding(20 * MSS));
        for i in 0..20 {
            let ack = testing::AckSample {
                round: i % 4 == 0,
                rtt: Some(ms(100)),
                window_limited: false,
                ..testing::ack_sample(MSS)
            };
            vegas.on_ack(&mut win, &ack);
        }
        assert_eq!(win.cwnd, 20 * MSS);
        vegas.on_restart(&mut win, ms(5_000), Instant::ZERO);
        assert_eq!(vegas.base, None);
    }

    #[test]
    fn a_flow_keeps_two_to_four_segments_in_the_queue() {
        for (megabits, trip) in [(4.0, 50), (20.0, 50), (20.0, 200)] {
            let mut path = testing::Path::new(Vegas::default(), megabits, trip, 1_000_000);
            path.run(60.0);
            let (used, trips) = path.measure(20.0);
            let queued = (trips - 1.0) * path.bdp() / MSS as f64;
            // `queued` includes the segment in transmission. Vegas does not count it, since its
            // base round-trip time includes a transmission too.
            assert!((3.0..=5.0).contains(&queued), "{megabits} {trip}: {queued}");
            assert!(used > 0.99, "{megabits} {trip}: {used}");
            assert_eq!(path.lost, 0);
        }
    }
}
