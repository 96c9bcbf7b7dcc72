//! Vegas as Linux has it (`net/ipv4/tcp_vegas.c`). It differs from the paper's, [`super::vegas`],
//! in three points: queued segments are window x (rtt - base)/base, rounded down, where rtt is the
//! smallest round-trip time of the window; slow start grows in every round trip and ends at the
//! measured rate; and outside of Linux's state Open it is Reno.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use super::growth::{Increase, segments};
use super::reno::Reno;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "vegas-linux",
        summary: "Vegas as Linux has it: two to four segments in the queue by whole segments, slow start in every \
                  round trip",
        year: 2005,
        source: "Linux 7.3, net/ipv4/tcp_vegas.c; Brakmo and Peterson, IEEE JSAC 13(8), 1995",
        deviations: "Linux's states Open and Disorder are one here, so that a report of reordering does not make it \
             Reno for a round trip",
        fields: FIELDS,
    },
    make: |params| Box::new(VegasLinux::new(params)),
};

const FIELDS: &[Field] = &[
    Field::new("alpha", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(2))
        .meaning("Segments queued below which the window grows.")
        .source("alpha = 2"),
    Field::new("beta", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(4))
        .meaning("Segments queued above which the window shrinks.")
        .source("beta = 4"),
    Field::new("gamma", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(1))
        .meaning("Segments queued that end slow start.")
        .source("gamma = 1"),
];

/// Round-trip times of a window, each with 1 us added as in the kernel (`vrtt`), and their number.
#[derive(Clone, Copy, Debug)]
struct Trips {
    base: u64,
    least: u64,
    count: u32,
}

const NONE: Trips = Trips { base: u64::MAX, least: u64::MAX, count: 0 };

#[derive(Clone, Debug)]
struct VegasLinux {
    /// The bounds `alpha`, `beta` and `gamma`, segments.
    bounds: [u64; 3],
    reno: Reno,
    trips: Trips,
    /// Vegas decides; otherwise Reno does (`doing_vegas_now`).
    on: bool,
    /// `beg_snd_nxt`: the window ends when a higher sequence number than this is acknowledged.
    end: u64,
    /// The oldest unacknowledged sequence number at the previous acknowledgement.
    una: u64,
    /// The congestion-avoidance state at the previous acknowledgement.
    state: CaState,
}

impl VegasLinux {
    fn new(params: &Params) -> Self {
        let bounds = ["alpha", "beta", "gamma"].map(|name| params.whole(name));
        let (reno, state) = (Reno::default(), CaState::Open);
        VegasLinux { bounds, reno, trips: NONE, on: true, end: 0, una: 1, state }
    }

    /// Linux's `vegas_enable`: Vegas decides from now on; `next` is the end of its first window.
    fn enable(&mut self, next: u64) {
        (self.on, self.end) = (true, next);
        (self.trips.count, self.trips.least) = (0, u64::MAX);
    }

    /// Linux's `tcp_vegas_pkts_acked`: enters a round-trip time.
    fn measure(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        let rtt = rtt.nanos() / 1_000 + 1;
        let Trips { base, least, count } = &mut self.trips;
        (*base, *least, *count) = ((*base).min(rtt), (*least).min(rtt), *count + 1);
    }

    /// The once-per-window part of `tcp_vegas_cong_avoid`.
    fn judge(&self, win: &mut Window, acked: u32) {
        let [alpha, beta, gamma] = self.bounds;
        let Trips { base, least: rtt, .. } = self.trips;
        let (mss, cwnd) = (win.mss(), u64::from(segments(win)));
        let slow_start = win.cwnd < win.ssthresh;
        let diff = cwnd * (rtt - base) / base;
        if slow_start && diff > gamma {
            // The window that the measured rate needs without a queue, rounded up.
            win.cwnd = win.cwnd.min((cwnd * base / rtt + 1) * mss);
            win.ssthresh = win.ssthresh.min(win.cwnd);
        } else if slow_start {
            Increase::slow_start(win, acked);
        } else if diff > beta {
            win.cwnd = win.cwnd.saturating_sub(mss);
            win.ssthresh = win.ssthresh.min(win.cwnd);
        } else if diff < alpha {
            win.cwnd += mss;
        }
        win.cwnd = win.cwnd.max(2 * mss);
        // tcp_current_ssthresh, in segments: cwnd/2 + cwnd/4.
        let cwnd = u64::from(segments(win));
        win.ssthresh = win.ssthresh.max(((cwnd >> 1) + (cwnd >> 2)) * mss);
    }
}

impl Control for VegasLinux {
    fn on_open(&mut self, _win: &mut Window, _srtt: Duration, _now: Instant) {
        self.trips = NONE;
        self.enable(1);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.measure(ack.rtt);
        self.una = ack.flight.una;
        if std::mem::replace(&mut self.state, ack.ca_state) != ack.ca_state {
            // A change of state is processed as in tcp_vegas_state.
            match ack.ca_state {
                CaState::Open => self.enable(ack.flight.max),
                _ => self.on = false,
            }
        }
        if matches!(ack.ca_state, CaState::Recovery | CaState::Cwr) || ack.segments == 0 {
            return;
        }
        if !self.on {
            return self.reno.on_ack(win, ack);
        }
        if ack.flight.una > self.end {
            self.end = ack.flight.max;
            if self.trips.count <= 2 {
                self.reno.on_ack(win, ack);
            } else {
                self.judge(win, ack.segments);
            }
            (self.trips.count, self.trips.least) = (0, u64::MAX);
        } else {
            Increase::slow_start(win, ack.segments);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant) {
        self.on = false;
        self.state = match cause {
            Cause::Loss => CaState::Recovery,
            Cause::Mark => CaState::Cwr,
            Cause::Timeout => CaState::Loss,
        };
        self.reno.on_congestion(win, flight, cause, now);
    }

    /// `tcp_vegas_cwnd_event_tx_start`: nothing is in flight, so the measurements may be stale.
    fn on_tx_start(
        &mut self,
        _win: &mut Window,
        _last: Instant,
        _app_limited: bool,
        _now: Instant,
    ) {
        self.trips = NONE;
        self.enable(self.una);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn vegas() -> VegasLinux {
        VegasLinux::new(&Params::defaults(FIELDS))
    }

    /// Window and threshold in segments after the decision, with a base round-trip time of 100 ms
    /// and a smallest round-trip time of the window of `rtt_us`.
    fn judged(cwnd: u64, ssthresh: u64, rtt_us: u64) -> (u64, u64) {
        let mut win = Window {
            cwnd: cwnd * MSS,
            ssthresh: ssthresh.saturating_mul(MSS),
            mss: MSS as u16,
            ..Window::default()
        };
        let trips = Trips { base: 100_000, least: rtt_us, count: 3 };
        VegasLinux { trips, ..vegas() }.judge(&mut win, 1);
        (win.cwnd / MSS, win.ssthresh / MSS)
    }

    #[test]
    fn the_difference_is_counted_in_whole_segments_of_the_base() {
        // diff = 20 (rtt - base)/base: 1 at 109 ms grows, 2 and 4 stay, 5 shrinks; the threshold is three quarters.
        assert_eq!(judged(20, 2, 109_999), (21, 15));
        assert_eq!(judged(20, 2, 110_000), (20, 15));
        assert_eq!(judged(20, 2, 124_999), (20, 15));
        assert_eq!(judged(20, 2, 125_000), (19, 13));
    }

    #[test]
    fn slow_start_ends_at_the_measured_rate_and_a_segment() {
        // 40 x 100/110 = 36.4, rounded up to 37; diff is 4.
        assert_eq!(judged(40, u64::MAX, 110_000), (37, 37));
        // diff of 1 is not more than gamma: slow start goes on.
        assert_eq!(judged(40, 1_000, 104_999).0, 41);
    }

    #[test]
    fn with_two_round_trips_a_window_it_is_reno() {
        let mut win =
            Window { cwnd: 4 * MSS, ssthresh: 4 * MSS, mss: MSS as u16, ..Window::default() };
        let mut control = vegas();
        control.on_open(&mut win, Duration::ZERO, Instant::ZERO);
        for i in 1..=4 {
            let flight = Flight { una: i * 2 * MSS + 1, max: i * 2 * MSS + 1, window: 0 };
            let rtt = Some(Duration::from_millis(300));
            let ack = AckSample { flight, rtt, ..testing::ack_sample(2 * MSS) };
            control.on_ack(&mut win, &ack);
        }
        // One round-trip sample per window, and eight segments acknowledged: two windows of four.
        assert_eq!(win.cwnd, 5 * MSS);
    }

    #[test]
    fn a_flow_keeps_two_to_four_segments_in_the_queue() {
        for (megabits, trip) in [(4.0, 50), (20.0, 20), (20.0, 50)] {
            let mut path = testing::Path::new(vegas(), megabits, trip, 1_000_000);
            path.run(60.0);
            let (used, trips) = path.measure(20.0);
            let queued = (trips - 1.0) * path.bdp() / MSS as f64;
            // `queued` is the two to four segments and the one in transmission.
            assert!((2.5..=6.0).contains(&queued), "{megabits} {trip}: {queued}");
            assert!(used > 0.99, "{megabits} {trip}: {used}");
            assert_eq!(path.lost, 0);
        }
    }
}
