//! Westwood+ as Linux has it (`net/ipv4/tcp_westwood.c`; L. Grieco, S. Mascolo, *Performance
//! evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control*, CCR 34(2),
//! 2004): Reno's growth, but congestion leaves, in place of half the window, what the path was
//! measured to hold: the rate of acknowledgements times the smallest round-trip time.
//!
//! The rate is sampled once per round trip (at least 50 ms) and filtered twice, with a weight of
//! 7/8 for the old value. All arithmetic is in integers: bytes per jiffy of 1 ms.

use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use super::reno::Reno;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "westwood",
        summary: "Reno's growth; after congestion the window is the measured rate times the smallest \
                  round trip (Westwood+)",
        year: 2004,
        source: "Linux 7.3, net/ipv4/tcp_westwood.c; Grieco and Mascolo, CCR 34(2), 2004",
        deviations: "every acknowledgement is counted as on the kernel's slow path (its header prediction is \
             left out): data that duplicates announced is not counted again in a delayed acknowledgement \
             after a recovery. The rate of a sample is of 32 bits there, of 64 here",
        fields: &[],
    },
    make: |_| Box::new(Westwood::default()),
};

/// Jiffies per second (CONFIG_HZ = 1000).
const HZ: u64 = 1_000;
/// `TCP_WESTWOOD_RTT_MIN`, the shortest time over which a rate is measured, and
/// `TCP_WESTWOOD_INIT_RTT`, the first round-trip time; jiffies.
const SHORTEST: u64 = HZ / 20;
const FIRST_RTT: u64 = 20 * HZ;

#[derive(Clone, Debug)]
struct Westwood {
    reno: Reno,
    /// `bw_ns_est` and `bw_est`: the rate filtered once and twice, bytes per jiffy.
    filtered: [u64; 2],
    /// `rtt_win_sx`: when the current rate sample began, jiffies.
    since: u64,
    /// `bk`: bytes acknowledged in the current rate sample.
    acked: u64,
    /// `snd_una` at the last acknowledgement; none before the first.
    una: Option<u64>,
    /// `accounted`: bytes counted for duplicate acknowledgements, which the next advance of
    /// `snd_una` covers too.
    accounted: u64,
    /// The last round-trip time, jiffies (`rtt`).
    rtt: u64,
    /// The smallest round-trip time, jiffies (`rtt_min`).
    rtt_min: u64,
    /// The next round-trip time becomes the smallest, whatever it is.
    reset_rtt_min: bool,
    /// A reduction is under way; at its end the window is set to what the path holds.
    reducing: bool,
}

impl Default for Westwood {
    fn default() -> Self {
        Westwood {
            reno: Reno::default(),
            filtered: [0; 2],
            since: 0,
            acked: 0,
            una: None,
            accounted: 0,
            rtt: FIRST_RTT,
            rtt_min: FIRST_RTT,
            reset_rtt_min: true,
            reducing: false,
        }
    }
}

fn jiffies(now: Instant) -> u64 {
    now.nanos() / (1_000_000_000 / HZ)
}

/// Linux's `westwood_do_filter`: the new value has a weight of 1/8.
fn filter(old: u64, new: u64) -> u64 {
    (7 * old + new) >> 3
}

impl Westwood {
    /// `westwood_update_window`: after a round trip, enters the rate sample into the filters.
    fn end_sample(&mut self, now: u64) {
        let passed = now - self.since;
        if self.rtt == 0 || passed <= self.rtt.max(SHORTEST) {
            return;
        }
        let sample = self.acked / passed;
        self.filtered = match self.filtered {
            [0, 0] => [sample; 2],
            [once, twice] => {
                let once = filter(once, sample);
                [once, filter(twice, once)]
            }
        };
        (self.acked, self.since) = (0, now);
    }

    /// `westwood_acked_count`: bytes newly acknowledged. A duplicate counts for a segment, which is
    /// subtracted from the next advance.
    fn newly_acked(&mut self, una: u64, mss: u64) -> u64 {
        let advance = una - self.una.replace(una).unwrap_or(una);
        if advance == 0 {
            self.accounted += mss;
            return mss;
        }
        if advance <= mss {
            return advance;
        }
        if self.accounted >= advance {
            self.accounted -= advance;
            return mss;
        }
        advance - std::mem::take(&mut self.accounted)
    }

    /// `tcp_westwood_bw_rttmin`: what the path holds in whole segments, at least two; bytes.
    fn holds(&self, win: &Window) -> u64 {
        (self.filtered[1] * self.rtt_min / win.mss()).max(2) * win.mss()
    }
}

impl Control for Westwood {
    fn on_open(&mut self, _win: &mut Window, _srtt: Duration, now: Instant) {
        self.since = jiffies(now);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        // tcp_clean_rtx_queue (pkts_acked), then tcp_in_ack_event, then tcp_fastretrans_alert, which ends a
        // reduction (tcp_end_cwnd_reduction, CA_EVENT_COMPLETE_CWR), then growth.
        if let Some(rtt) = ack.rtt {
            self.rtt = (rtt.nanos() / 1_000).div_ceil(1_000_000 / HZ);
        }
        self.una.get_or_insert(ack.flight.una);
        self.end_sample(jiffies(ack.now));
        self.acked += self.newly_acked(ack.flight.una, win.mss());
        self.rtt_min = if self.reset_rtt_min { self.rtt } else { self.rtt_min.min(self.rtt) };
        self.reset_rtt_min = false;
        match ack.ca_state {
            CaState::Recovery | CaState::Cwr => self.reducing = true,
            CaState::Open if std::mem::take(&mut self.reducing) => {
                win.ssthresh = self.holds(win);
                win.cwnd = win.ssthresh;
            }
            CaState::Open => {}
            CaState::Loss => self.reducing = false,
        }
        self.reno.on_ack(win, ack);
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant) {
        // During a recovery the threshold is Reno's half (tcp_reno_ssthresh).
        self.reno.on_congestion(win, flight, cause, now);
        self.reducing = cause != Cause::Timeout;
        if cause == Cause::Timeout {
            win.ssthresh = self.holds(win);
            self.reset_rtt_min = true;
        }
    }

    fn undo(&mut self, _win: &mut Window, ends: bool) {
        // The transport restores the windows. The event of a recovery's end follows an undo at that
        // end only, and sets them then.
        self.reducing = ends;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn window_of(segments: u64) -> Window {
        let cwnd = segments * MSS;
        Window { cwnd, ssthresh: cwnd, mss: MSS as u16, ..Window::default() }
    }

    /// An acknowledgement at this time, ms, of all data up to `una`, with a round-trip time of 100
    /// ms.
    fn ack(at: u64, una: u64, ca_state: CaState) -> AckSample {
        let flight = Flight { una, ..Flight::default() };
        let now = Instant::ZERO + Duration::from_millis(at);
        let rtt = Some(Duration::from_millis(100));
        AckSample { now, flight, rtt, ca_state, ..testing::ack_sample(MSS) }
    }

    /// A control that has seen a segment acknowledged every 10 ms for a second: 100 B/ms.
    fn measured() -> (Westwood, Window) {
        let (mut control, mut win) = (Westwood::default(), window_of(20));
        for i in 0..100 {
            control.on_ack(&mut win, &ack(10 * i, 1 + i * MSS, CaState::Open));
        }
        (control, win)
    }

    #[test]
    fn the_rate_is_a_sample_a_round_trip_filtered_twice() {
        let (control, _) = measured();
        // The first rate sample is 11 acknowledgements in 110 ms, of which the first covers nothing
        // and so counts for a segment as a duplicate. It becomes the estimate; the other samples
        // are 100 B/ms too.
        assert_eq!(control.filtered, [100, 100]);
        assert_eq!((control.rtt, control.rtt_min), (100, 100));
        assert_eq!([filter(100, 20), filter(100, filter(100, 20))], [90, 98]);
    }

    #[test]
    fn a_recovery_ends_at_the_rate_times_the_smallest_round_trip() {
        let (mut control, mut win) = measured();
        win.cwnd = 40 * MSS;
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 20 * MSS);
        control.on_ack(&mut win, &ack(1_000, 100_001, CaState::Recovery));
        assert_eq!(win.ssthresh, 20 * MSS);
        control.on_ack(&mut win, &ack(1_010, 101_001, CaState::Open));
        // 100 B/ms times 100 ms: ten segments, with any queue.
        assert_eq!((win.cwnd, win.ssthresh), (10 * MSS, 10 * MSS));
    }

    #[test]
    fn an_undo_leaves_the_windows_restored_unless_the_recovery_ends_with_it() {
        // tcp_try_undo_recovery is followed by tcp_end_cwnd_reduction, tcp_try_undo_partial is not.
        for (ends, segments) in [(false, 40), (true, 10)] {
            let (mut control, mut win) = measured();
            control.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
            control.on_ack(&mut win, &ack(1_000, 100_001, CaState::Recovery));
            win = window_of(40);
            control.undo(&mut win, ends);
            control.on_ack(&mut win, &ack(1_010, 101_001, CaState::Open));
            assert_eq!(win.ssthresh, segments * MSS, "{ends}");
        }
    }

    #[test]
    fn a_timeout_sets_the_threshold_at_once_and_measures_the_round_trip_anew() {
        let (mut control, mut win) = measured();
        control.on_congestion(&mut win, &Flight::default(), Cause::Timeout, Instant::ZERO);
        assert_eq!(win.ssthresh, 10 * MSS);
        let slow = AckSample {
            rtt: Some(Duration::from_millis(300)),
            ..ack(2_000, 100_001, CaState::Loss)
        };
        control.on_ack(&mut win, &slow);
        assert_eq!(control.rtt_min, 300);
    }

    #[test]
    fn duplicates_count_once() {
        let mut control = Westwood { una: Some(1), ..Westwood::default() };
        // Three duplicates, then an acknowledgement of all five segments: two are new.
        assert_eq!(
            [1, 1, 1, 5_001].map(|una| control.newly_acked(una, MSS)),
            [1_000, 1_000, 1_000, 2_000]
        );
        assert_eq!(control.accounted, 0);
        // Five duplicates for an advance of two segments: one is counted, three stay.
        (0..5).for_each(|_| assert_eq!(control.newly_acked(5_001, MSS), MSS));
        assert_eq!((control.newly_acked(7_001, MSS), control.accounted), (MSS, 3 * MSS));
    }

    /// Share of a path of 250 segments used where one in 1,000 is lost.
    fn used<C: Control>(control: C) -> f64 {
        let mut path = testing::Path::new(control, 20.0, 100, 500_000);
        path.lose_every = 1_000;
        path.run(60.0);
        path.measure(60.0).0
    }

    #[test]
    fn single_losses_cost_less_than_reno_pays() {
        // Reno's mean is about 39 segments.
        let (reno, westwood) = (used(Reno::default()), used(Westwood::default()));
        assert!(reno < 0.25 && westwood > 2.0 * reno, "{reno} {westwood}");
    }
}
