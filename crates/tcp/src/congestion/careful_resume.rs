//! Careful Resume (draft-ietf-tsvwg-careful-resume-24, *Convergence of Congestion Control from
//! Retained State*) over CUBIC, for a connection whose path an earlier one has measured. Once the
//! first window is acknowledged and the round-trip time is as before, the window jumps to half of
//! the saved one. Until that jump is acknowledged the window is unvalidated, and congestion reduces
//! it to half of what the path has carried.

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{
    AckSample, CLASSIC, CaState, Cause, Control, ControlFlags, Entry, linux_pacing_rate,
};
use super::cubic::{BETA, C, Cubic, FAST_CONVERGENCE, Settings, TCP_FRIENDLINESS};
use super::hystart::HyStart;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "careful-resume",
        summary: "CUBIC that begins with half of a window saved earlier, and retreats safely if the path is no longer so",
        year: 2025,
        source: "draft-ietf-tsvwg-careful-resume-24 (recalled); the rest is cubic, with HyStart",
        deviations: "the saved parameters are fields, so that each connection has those of one earlier observation, \
             and none expire; reductions are led by the transport's proportional rate reduction",
        fields: FIELDS,
    },
    make: |params| Box::new(CarefulResume::new(params)),
};

const FIELDS: &[Field] = &[
    C,
    BETA,
    FAST_CONVERGENCE,
    TCP_FRIENDLINESS,
    Field::new("saved_window", Kind::whole(Unit::Bytes, 0, 1 << 30), Value::Whole(0))
        .meaning("Congestion window that an earlier connection saved; 0 is none.")
        .source("saved_cwnd of the draft, section 3; assumed: nothing is saved"),
    Field::new("saved_rtt", Kind::above(Unit::Time, 0.0, 10.0), Value::Real(0.1))
        .meaning("Smallest round trip that it saved.")
        .source("saved_rtt of the draft, section 3; assumed"),
];

/// Section 4: a jump goes to the saved window over `JUMP`; congestion leaves PipeSize over
/// `RETREAT`.
const JUMP: u64 = 2;
const RETREAT: u64 = 2;
/// Section 4.2: a round-trip time from half of the saved one up to ten times it confirms the path.
const SHORTER: u64 = 2;
const LONGER: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first window is sent and acknowledged.
    Reconnaissance,
    /// The jump is being sent; it begins at this sequence number.
    Unvalidated(u64),
    /// The jump is being acknowledged; it ends at this sequence number.
    Validating(u64),
    /// Congestion was noticed before the jump was acknowledged up to this number, its end.
    SafeRetreat(u64),
    Normal,
}

#[derive(Clone, Debug)]
struct CarefulResume {
    cubic: Cubic,
    saved_window: u64,
    saved_rtt: Duration,
    phase: Phase,
    /// PipeSize: bytes that the path is known to have carried in a round trip.
    pipe: u64,
    /// The first window, bytes.
    first: u64,
}

impl CarefulResume {
    fn new(params: &Params) -> Self {
        let exit = HyStart::default().into();
        let saved_window = params.whole("saved_window");
        let phase = if saved_window > 0 { Phase::Reconnaissance } else { Phase::Normal };
        CarefulResume {
            cubic: Cubic::new(Settings::read(params), exit),
            saved_window,
            saved_rtt: params.time("saved_rtt"),
            phase,
            pipe: 0,
            first: 0,
        }
    }

    /// Section 4.2: whether the round-trip time fits the saved one.
    fn is_confirmed(&self, rtt: Duration) -> bool {
        let (rtt, saved) = (rtt.nanos(), self.saved_rtt.nanos());
        rtt >= saved / SHORTER && rtt <= saved * LONGER
    }

    fn reconnoitre(&mut self, win: &mut Window, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        if !self.is_confirmed(rtt) {
            self.phase = Phase::Normal;
            return;
        }
        // Not all of the first window (numbers from 1 on) is acknowledged.
        if ack.flight.una <= self.first {
            return;
        }
        let jump = self.saved_window / JUMP;
        self.phase = Phase::Normal;
        if jump > win.cwnd && win.cwnd < win.ssthresh {
            self.phase = Phase::Unvalidated(ack.flight.max);
            self.pipe = ack.in_flight;
            win.cwnd = jump;
        }
    }

    /// Sections 4.3 and 4.4: counts what the path carries, and ends the phases of the jump.
    fn validate(&mut self, win: &mut Window, ack: &AckSample) {
        self.pipe += ack.delivered;
        match self.phase {
            // The jump's first byte is acknowledged: a round trip has passed.
            Phase::Unvalidated(from) if ack.flight.una > from => {
                let out = ack.in_flight;
                if out <= self.pipe {
                    (win.cwnd, self.phase) = (self.pipe.min(win.cwnd), Phase::Normal);
                } else {
                    (win.cwnd, self.phase) = (out, Phase::Validating(ack.flight.max));
                }
            }
            Phase::Validating(until) if ack.flight.una >= until => self.phase = Phase::Normal,
            _ => {}
        }
    }
}

impl Control for CarefulResume {
    fn flags(&self) -> ControlFlags {
        ControlFlags { paced: self.saved_window > 0, ..CLASSIC }
    }

    fn on_open(&mut self, win: &mut Window, srtt: Duration, now: Instant) {
        self.first = win.cwnd;
        self.cubic.on_open(win, srtt, now);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        match self.phase {
            Phase::Reconnaissance if ack.ca_state == CaState::Open => self.reconnoitre(win, ack),
            Phase::Unvalidated(_) | Phase::Validating(_) => self.validate(win, ack),
            Phase::SafeRetreat(until) => {
                self.pipe += ack.delivered;
                if ack.flight.una >= until {
                    // Section 4.5: slow start goes on up to half of what the path has carried.
                    win.ssthresh = win.ssthresh.max(self.pipe / RETREAT);
                    self.phase = Phase::Normal;
                }
            }
            _ => {}
        }
        // An unvalidated window does not grow.
        if !matches!(self.phase, Phase::Unvalidated(_) | Phase::SafeRetreat(_)) {
            self.cubic.on_ack(win, ack);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant) {
        self.cubic.on_congestion(win, flight, cause, now);
        self.phase = match self.phase {
            Phase::Unvalidated(_) => Phase::SafeRetreat(flight.max),
            Phase::Validating(until) => Phase::SafeRetreat(until),
            Phase::SafeRetreat(until) => Phase::SafeRetreat(until),
            Phase::Reconnaissance | Phase::Normal => Phase::Normal,
        };
        if matches!(self.phase, Phase::SafeRetreat(_)) {
            let least = 2 * win.mss();
            win.ssthresh = win.ssthresh.min(self.pipe / RETREAT).max(least);
        }
    }

    fn on_timeout(&mut self, win: &Window, flight: &Flight, now: Instant) {
        self.cubic.on_timeout(win, flight, now);
    }

    fn on_restart(&mut self, win: &mut Window, idle: Duration, now: Instant) {
        self.cubic.on_restart(win, idle, now);
    }

    fn on_tx_start(&mut self, win: &mut Window, last: Instant, app_limited: bool, now: Instant) {
        self.cubic.on_tx_start(win, last, app_limited, now);
    }

    /// Section 4.3: a jump is paced over a round trip.
    fn pacing_rate(&self, win: &Window, flight: &Flight, srtt: Duration) -> Option<u64> {
        let usual = linux_pacing_rate(win, flight, srtt)?;
        if !matches!(self.phase, Phase::Unvalidated(_)) {
            return Some(usual);
        }
        let rate = u128::from(win.cwnd) * 1_000_000_000 / u128::from(srtt.nanos());
        Some((rate as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use packet::params::Raw;

    use super::super::testing;
    use super::*;

    fn resuming(saved_window: f64, saved_rtt: &str) -> CarefulResume {
        let settings = [
            ("saved_window".to_owned(), Raw::Number(saved_window)),
            ("saved_rtt".to_owned(), Raw::Text(saved_rtt.into())),
        ];
        CarefulResume::new(&Params::check(FIELDS, &settings).expect("fields of it"))
    }

    /// Seconds until 2 MB are delivered over 20 Mbit/s and 300 ms (750 segments) with a queue of
    /// 750 segments; then bytes lost, and the phase.
    fn takes(control: CarefulResume) -> (f64, u64, Phase) {
        let mut path = testing::Path::new(control, 20.0, 300, 750_000);
        assert!(path.run_until(60.0, |path| path.delivered >= 2_000_000));
        (path.now.nanos() as f64 / 1e9, path.lost, path.control.phase)
    }

    #[test]
    fn a_known_path_is_filled_round_trips_earlier() {
        let (plain, none, _) = takes(resuming(0.0, "300 ms"));
        let (resumed, lost, phase) = takes(resuming(750_000.0, "300 ms"));
        assert!(resumed < plain - 0.6, "{plain} {resumed}");
        assert_eq!((lost, none, phase), (0, 0, Phase::Normal));
    }

    #[test]
    fn another_round_trip_is_another_path() {
        // This sender is paced as well, but its saved window is smaller than the first one.
        let plain = takes(resuming(1.0, "300 ms"));
        // 300 ms is less than half of 601 ms, and more than ten times 29 ms.
        assert_eq!(takes(resuming(750_000.0, "601 ms")).0, plain.0);
        assert_eq!(takes(resuming(750_000.0, "29 ms")).0, plain.0);
        assert!(takes(resuming(750_000.0, "600 ms")).0 < plain.0);
    }

    #[test]
    fn congestion_after_a_jump_leaves_half_of_what_the_path_carried() {
        // The path and its queue hold a tenth of the saved window: 75 segments each.
        let mut path = testing::Path::new(resuming(1_500_000.0, "300 ms"), 2.0, 300, 75_000);
        let retreats = |path: &testing::Path<CarefulResume>| {
            matches!(path.control.phase, Phase::SafeRetreat(_))
        };
        assert!(path.run_until(10.0, retreats));
        assert!(path.win.ssthresh <= 75_000, "{}", path.win.ssthresh);
        assert!(path.run_until(10.0, |path| path.control.phase == Phase::Normal));
        path.run(20.0);
        assert!(path.measure(20.0).0 > 0.9);
    }
}
