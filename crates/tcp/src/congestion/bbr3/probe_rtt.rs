//! The smallest round-trip time, ProbeRTT (section 5.3.4) and the restart after a pause (section
//! 5.4).

use packet::{Duration, Instant};

use super::{Bbr3, State};
use crate::send_state::Window;

/// Round-trip times, and the state of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trips {
    /// The model's smallest round-trip time; none before the first sample.
    pub least: Option<Duration>,
    least_at: Instant,
    /// The smallest round-trip time since the last ProbeRTT.
    recent: Option<Duration>,
    recent_at: Instant,
    expired: bool,
    /// When ProbeRTT may end; none before the flight is small enough.
    pub done_at: Option<Instant>,
    round_done: bool,
    /// The sender starts again after a pause, and nothing has been delivered since.
    restarts: bool,
    /// Segments sent while the count of delivered bytes was in this range were slowed by ProbeRTT.
    slowed: (u64, u64),
}

impl Trips {
    pub fn begin(&mut self, now: Instant) {
        self.least_at = now;
        self.recent_at = now;
    }

    /// Whether a segment sent when `prior_delivered` bytes had been delivered was slowed by
    /// ProbeRTT, not by the path.
    pub fn slowed(&self, prior_delivered: u64) -> bool {
        self.slowed.0 <= prior_delivered && prior_delivered < self.slowed.1
    }
}

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self) {
        let (now, trips) = (self.now, &mut self.trips);
        trips.expired = now > trips.recent_at + self.settings.probe_rtt_interval;
        if let Some(rtt) = self.sample.rtt
            && (trips.expired || trips.recent.is_none_or(|recent| rtt < recent))
        {
            trips.recent = Some(rtt);
            trips.recent_at = now;
        }
        let Some(recent) = trips.recent else { return };
        if now > trips.least_at + self.settings.min_rtt_window
            || trips.least.is_none_or(|least| recent < least)
        {
            trips.least = Some(recent);
            trips.least_at = trips.recent_at;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, win: &mut Window) {
        if self.state != State::ProbeRtt && self.trips.expired && !self.trips.restarts {
            self.state = State::ProbeRtt;
            self.save_cwnd(win);
            self.trips.done_at = None;
            self.cycle.ack_phase = super::probe_bw::AckPhase::Stopping;
            self.trips.slowed.0 = self.delivered;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.stay_in_probe_rtt(win);
        }
        if self.sample.delivered > 0 {
            self.trips.restarts = false;
        }
    }

    /// The draft's `HandleProbeRTT`: the steps at each acknowledgement in ProbeRTT.
    fn stay_in_probe_rtt(&mut self, win: &mut Window) {
        // `MarkConnectionAppLimited`: low rates of ProbeRTT do not describe the path.
        self.trips.slowed.1 = self.delivered + self.sample.in_flight + 1;
        if self.trips.done_at.is_none() {
            if self.sample.in_flight <= self.probe_rtt_cwnd() {
                self.trips.done_at = Some(self.now + self.settings.probe_rtt_time);
                self.trips.round_done = false;
                self.start_round();
            }
            return;
        }
        self.trips.round_done |= self.rounds.started;
        if self.trips.round_done {
            self.check_probe_rtt_done(win);
        }
    }

    fn check_probe_rtt_done(&mut self, win: &mut Window) {
        if self.trips.done_at.is_some_and(|done| self.now > done) {
            self.trips.recent_at = self.now;
            self.restore_cwnd(win);
            self.leave_probe_rtt();
        }
    }

    /// Section 5.3.4.4: the state after ProbeRTT.
    fn leave_probe_rtt(&mut self) {
        self.model.reset_shortterm();
        if self.pipe.reached {
            self.start_down();
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// Section 5.4.1: the sender starts again after a pause.
    pub(super) fn handle_restart(&mut self, win: &mut Window) {
        self.trips.restarts = true;
        self.aggregation.restart(self.now);
        if self.state.probes_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(win);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::Path;
    use super::*;

    #[test]
    fn the_windows_of_the_round_trip_end_after_their_time() {
        // Section 5.3.4.3: the smallest round-trip time is replaced when Now() > BBR.min_rtt_stamp
        // + MinRTTFilterLen (10 s), or by a smaller one.
        let at = Instant::from_secs_f64;
        let ms = Duration::from_millis;
        for (now, rtt, least, learnt_at) in
            [(10.0, 60, 50, 0.0), (10.001, 60, 60, 10.001), (9.0, 50, 50, 0.0), (9.0, 49, 49, 9.0)]
        {
            let mut bbr = Bbr3 { now: at(now), ..Bbr3::default() };
            bbr.trips = Trips { least: Some(ms(50)), ..Trips::default() };
            bbr.sample.rtt = Some(ms(rtt));
            bbr.update_min_rtt();
            let trips = (bbr.trips.least, bbr.trips.least_at);
            assert_eq!(trips, (Some(ms(least)), at(learnt_at)), "{rtt} ms at {now} s");
        }
    }

    #[test]
    fn a_connection_that_begins_late_visits_probe_rtt_no_sooner() {
        let mut win = Window { cwnd: 10_000, mss: 1_000, ..Window::default() };
        let mut bbr = Bbr3::default();
        bbr.begin(&win, Instant::from_secs_f64(20.0), Duration::from_millis(50));
        for (now, visits) in [(20.05, false), (25.0, false), (25.1, true)] {
            bbr.now = Instant::from_secs_f64(now);
            bbr.update_min_rtt();
            bbr.check_probe_rtt(&mut win);
            assert_eq!(bbr.state == State::ProbeRtt, visits, "{now} s");
        }
    }

    #[test]
    fn a_restart_lasts_until_something_is_delivered() {
        // Section 5.3.4.3: "if (RS.delivered > 0) BBR.idle_restart = false".
        let mut win = Window { mss: 1_000, ..Window::default() };
        let mut bbr = Bbr3::default();
        bbr.handle_restart(&mut win);
        bbr.check_probe_rtt(&mut win);
        assert!(bbr.trips.restarts);
        bbr.sample.delivered = 1;
        bbr.check_probe_rtt(&mut win);
        assert!(!bbr.trips.restarts);
    }

    #[test]
    fn a_visit_just_after_a_probe_keeps_the_old_rates() {
        // Sections 5.3.3.6 and 5.3.4: the filter of rates advances a round after the probe, in
        // ProbeBW, at a sample that neither the program nor ProbeRTT limited. If ProbeRTT, every
        // five seconds, comes before that round each time, a flow's rate never expires.
        let mut path = Path::new(Bbr3::default(), 20.0, 40, 400_000);
        path.run(6.0);
        assert!(path.run_until(9.0, |path| path.control.state == State::Up));
        let other = 9e9;
        path.control.model.record(other);
        assert!(path.run_until(9.0, |path| path.control.state == State::Down));
        path.control.trips.recent_at = Instant::ZERO;
        path.control.trips.recent = Some(Duration::ZERO);
        assert!(path.run_until(0.02, |path| path.control.state == State::ProbeRtt));
        assert!(path.run_until(1.0, |path| path.control.state == State::Cruise));
        assert!(path.run_until(9.0, |path| path.control.state == State::Up));
        assert_eq!(path.control.model.max_bw(), other);
        // After two complete probes the rate has expired.
        for _ in 0..2 {
            assert!(path.run_until(9.0, |path| path.control.state == State::Down));
            assert!(path.run_until(9.0, |path| path.control.state == State::Up));
        }
        assert!(path.control.model.max_bw() < 1.1 * path.rate);
    }
}
