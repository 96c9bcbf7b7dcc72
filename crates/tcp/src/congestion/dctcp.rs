//! DCTCP (RFC 8257; M. Alizadeh et al., *Data Center TCP*, SIGCOMM 2010): Reno, but marks reduce
//! the window by half of the fraction of bytes that were marked.
//!
//! `alpha` is a moving average of the marked fraction, one sample per window of data with weight g
//! = 1/16 (section 3.3). Once per window in which marks are reported the window becomes cwnd (1 -
//! alpha/2). Losses halve it (section 3.4). Behind a step marking at K packets, alpha settles at
//! about sqrt(2/W*), where W* is the number of packets on the path plus K, and the queue swings by
//! sqrt(W*/2) below K (Alizadeh et al., section 3.3).

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Instant};

use super::control::{AckSample, CLASSIC, Cause, Control, ControlFlags, EcnMode, Entry, Report};
use super::reno::Reno;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "dctcp",
        summary: "Reno that answers marks in proportion to how many there are",
        year: 2017,
        source: "RFC 8257",
        deviations: "first alpha 1, and selectively acknowledged bytes count, as in Linux; no growth \
             in a window after a reduction, as in Linux; whole_segments = true: cuts in whole segments and alpha in \
             1/1024, rounded down, as in Linux",
        fields: FIELDS,
    },
    make: |params| Box::new(Dctcp::new(Settings::read(params))),
};

const FIELDS: &[Field] = &[
    Field::new("g", Kind::above(Unit::None, 0.0, 1.0), Value::Real(1.0 / 16.0))
        .meaning("Weight of a window's marked fraction in the average alpha.")
        .source("RFC 8257 section 4.2; dctcp_shift_g = 4 in Linux"),
    Field::new("alpha", Kind::from(Unit::None, 0.0, 1.0), Value::Real(1.0))
        .meaning("The average before the first window: a new connection fears the worst.")
        .source("dctcp_alpha_on_init = 1,024 in Linux"),
    Field::new("whole_segments", Kind::Switch, Value::Switch(true))
        .meaning(
            "A cut is whole segments, rounded down, so that small windows are not cut by a few marks, and \
             alpha counts in 1/1024. Off: bytes and fractions, as in the RFC.",
        )
        .source("dctcp_ssthresh, dctcp_update_alpha (tcp_dctcp.c of Linux); RFC 8257 section 3.3"),
];

/// Alpha's unit in Linux (`DCTCP_MAX_ALPHA`).
const UNITS: f64 = 1_024.0;

#[derive(Clone, Copy, Debug)]
struct Settings {
    g: f64,
    alpha: f64,
    whole: bool,
}

impl Settings {
    fn read(params: &Params) -> Self {
        let whole = params.switch("whole_segments");
        Settings { g: params.real("g"), alpha: params.real("alpha"), whole }
    }
}

#[derive(Clone, Debug)]
struct Dctcp {
    settings: Settings,
    reno: Reno,
    /// Average fraction of bytes marked.
    alpha: f64,
    /// Bytes reported as delivered in the current window of observation.
    delivered: u64,
    /// Bytes reported as marked in this window; marks of packets without data count too.
    marked: u64,
    /// The window of observation ends when a higher number than this is acknowledged.
    window_end: u64,
}

impl Dctcp {
    fn new(settings: Settings) -> Self {
        let (reno, alpha) = (Reno::default(), settings.alpha);
        Dctcp { settings, reno, alpha, delivered: 0, marked: 0, window_end: 0 }
    }

    /// Section 3.3, steps 1 to 8: counts the marked bytes, and updates `alpha` once per window.
    fn observe(&mut self, report: &Report) {
        self.delivered += report.delivered;
        self.marked += report.marked;
        // Linux ends the window with its last sequence number, RFC 8257 with the first one beyond.
        let ended = report.flight.una >= self.window_end + u64::from(!self.settings.whole);
        if !ended || self.delivered == 0 {
            return;
        }
        let (g, fraction) = (self.settings.g, self.marked as f64 / self.delivered as f64);
        if self.settings.whole {
            let units = self.alpha * UNITS;
            let less = (units * g).floor();
            let left = if less > 0.0 { units - less } else { 0.0 };
            self.alpha = ((left + (fraction * g * UNITS).floor()) / UNITS).min(1.0);
        } else {
            // Marks of packets without data count as well, so marked bytes may exceed delivered
            // ones.
            self.alpha += g * (fraction.min(1.0) - self.alpha);
        }
        (self.delivered, self.marked) = (0, 0);
        self.window_end = report.flight.max;
    }

    /// Section 3.3, step 9: the window that a mark leaves, bytes.
    fn rest(&self, win: &Window) -> u64 {
        if self.settings.whole {
            let segments = win.cwnd / win.mss();
            let cut = (segments as f64 * self.alpha / 2.0) as u64;
            return (segments - cut) * win.mss();
        }
        (win.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64
    }
}

impl Control for Dctcp {
    fn flags(&self) -> ControlFlags {
        ControlFlags { ecn: EcnMode::Dctcp, ..CLASSIC }
    }

    fn on_report(&mut self, report: &Report) {
        self.observe(report);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.reno.on_ack(win, ack);
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, now: Instant) {
        self.reno.on_congestion(win, flight, cause, now);
        if cause == Cause::Mark {
            win.ssthresh = self.rest(win).max(2 * win.mss());
        }
    }

    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::super::marking::Path;
    use super::*;

    /// A control that counts as the RFC does.
    impl Default for Dctcp {
        fn default() -> Self {
            let linux = Settings::read(&Params::defaults(FIELDS));
            Dctcp::new(Settings { whole: false, ..linux })
        }
    }

    fn as_linux() -> Dctcp {
        Dctcp::new(Settings::read(&Params::defaults(FIELDS)))
    }

    fn window_of() -> Window {
        Window { cwnd: 10_000, mss: 1_000, ..Window::default() }
    }

    fn on_ack(dctcp: &mut Dctcp, flight: &mut Flight, acked: u64, marked: u64) {
        flight.una += acked;
        dctcp.on_report(&Report { flight: *flight, delivered: acked, marked });
    }

    #[test]
    fn alpha_takes_a_sixteenth_of_a_window_s_fraction() {
        let mut dctcp = Dctcp::default();
        let mut flight = Flight { una: 1, max: 10_001, ..Flight::default() };
        // The first window of observation ends at once: nothing was sent before it.
        on_ack(&mut dctcp, &mut flight, 1_000, 1_000);
        assert_eq!((dctcp.alpha, dctcp.window_end), (1.0, 10_001));
        // Bytes up to the end of the window count together.
        flight.max = 20_001;
        on_ack(&mut dctcp, &mut flight, 4_000, 1_000);
        on_ack(&mut dctcp, &mut flight, 5_000, 2_000);
        assert_eq!(dctcp.alpha, 1.0);
        // The first ACK beyond the end of the window counts too: 4,000 of 10,000 B are marked.
        on_ack(&mut dctcp, &mut flight, 1_000, 1_000);
        assert!((dctcp.alpha - (15.0 + 0.4) / 16.0).abs() < 1e-12, "{}", dctcp.alpha);
        assert_eq!(dctcp.window_end, 20_001);
    }

    #[test]
    fn marks_of_what_carried_no_data_lift_alpha_to_one_at_most() {
        // 1,000 B of data are delivered, and the marks stand for forty segments.
        for dctcp in [Dctcp::default(), as_linux()] {
            let mut dctcp = Dctcp { alpha: 0.9, ..dctcp };
            let mut flight = Flight { una: 1, max: 10_001, ..Flight::default() };
            on_ack(&mut dctcp, &mut flight, 0, 40_000);
            on_ack(&mut dctcp, &mut flight, 1_000, 0);
            assert!(dctcp.alpha > 0.9 && dctcp.alpha <= 1.0, "{}", dctcp.alpha);
        }
    }

    #[test]
    fn linux_cuts_whole_segments_rounded_down() {
        // dctcp_ssthresh: cwnd - (cwnd * alpha >> 11). 20 x 102 >> 11 = 0, 21 x 102 >> 11 = 1; alpha 1 halves.
        for (segments, alpha, left) in [(20, 102.0, 20), (21, 102.0, 20), (21, 1_024.0, 11)] {
            let dctcp = Dctcp { alpha: alpha / UNITS, ..as_linux() };
            let win = Window { cwnd: segments * 1_000, ..window_of() };
            assert_eq!(dctcp.rest(&win), left * 1_000, "{segments} segments, alpha {alpha}/1024");
        }
    }

    #[test]
    fn linux_counts_alpha_in_1024ths_rounded_down() {
        // dctcp_update_alpha: alpha -= min_not_zero(alpha, alpha >> 4), then (marked << 6) /
        // delivered is added; the window ends with its last sequence number.
        let mut dctcp = as_linux();
        let mut flight = Flight { una: 1, max: 9_001, ..Flight::default() };
        on_ack(&mut dctcp, &mut flight, 1_000, 0);
        assert_eq!((dctcp.alpha * UNITS, dctcp.window_end), (960.0, 9_001));
        flight.max = 20_001;
        on_ack(&mut dctcp, &mut flight, 7_000, 2_000);
        assert_eq!(dctcp.alpha * UNITS, 960.0, "1,000 B are left");
        on_ack(&mut dctcp, &mut flight, 1_000, 1_000);
        assert_eq!(dctcp.alpha * UNITS, 960.0 - 60.0 + 24.0, "3,000 of 8,000: 64 x 3/8");
        dctcp.alpha = 15.0 / UNITS;
        on_ack(&mut dctcp, &mut flight, 11_000, 0);
        assert_eq!(dctcp.alpha, 0.0, "below 16 all of it goes");
    }

    #[test]
    fn marks_cut_by_half_of_alpha_and_losses_by_half() {
        let (mut dctcp, mut win) = (Dctcp { alpha: 0.3, ..Dctcp::default() }, window_of());
        dctcp.on_congestion(&mut win, &Flight::default(), Cause::Mark, Instant::ZERO);
        assert_eq!((win.ssthresh, win.cwnd), (8_500, 10_000));
        dctcp.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 5_000);
        (dctcp.alpha, win.cwnd) = (1.0, 3_000);
        dctcp.on_congestion(&mut win, &Flight::default(), Cause::Mark, Instant::ZERO);
        assert_eq!(win.ssthresh, 2_000);
    }

    #[test]
    fn behind_a_step_alpha_is_the_root_of_two_over_the_window() {
        // A window beyond W* is marked for a round trip, then cut by alpha/2. Alizadeh et al., section
        // 3.3, equation 6: alpha^2 (1 - alpha/4) = (2 W* + 1)/(W* + 1)^2, about 2/W*; W* = 208: 0.098.
        let mut path = Path::new(Box::new(Dctcp::default()), 20, 1);
        let seen = path.run(400_000, |out| f64::from(out > 208));
        assert!((seen.marked / 0.098 - 1.0).abs() < 0.10, "{seen:?}");
        // The window swings by W* alpha/2 below the step.
        let mean = 208.0 * (1.0 - seen.marked / 4.0);
        assert!((seen.window / mean - 1.0).abs() < 0.02, "{seen:?}, {mean}");
    }

    #[test]
    fn at_random_marks_the_window_is_in_proportion_to_one_over_p() {
        // Derived. A cut takes x/2 segments, with x = W p and alpha p in the mean; a window of data
        // passes without growth; then each W acknowledgements without a mark, which happens with
        // probability e^-x, add a segment, and the first mark cuts again. In balance
        // x/2 = e^-x/(1 - e^-x): x = 1.06.
        for p in [0.01, 0.02, 0.05] {
            let mut path = Path::new(Box::new(Dctcp::default()), 20, 2);
            let seen = path.run(2_000_000, |_| p);
            assert!((seen.window * p / 1.06 - 1.0).abs() < 0.10, "p {p}: {seen:?}");
        }
    }
}
