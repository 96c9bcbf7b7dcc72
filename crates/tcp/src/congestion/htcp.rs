//! H-TCP as Linux has it (`net/ipv4/tcp_htcp.c`; D. Leith, R. Shorten, *H-TCP: TCP for high-speed
//! and long-distance networks*, PFLDnet 2004). The window grows faster the longer ago the last
//! congestion was: by 1 + 10 t + t²/4 segments per round trip, t counting from a second after it
//! on, scaled to a round trip of 100 ms. Congestion leaves the smallest round-trip time over the
//! greatest, 0.5 to 0.8, of the window, or half of it if the rate has changed by more than a fifth.
//!
//! All arithmetic is in integers: jiffies of 1 ms, alpha and beta in 1/128.

use packet::params::{Field, Kind, Params, Value};
use packet::{About, Duration, Instant};

use super::control::{AckSample, CaState, Cause, Control, Entry};
use super::growth::{Increase, segments};
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "htcp",
        summary: "growth by the time since congestion, decrease by the ratio of round trips, for long fast paths (H-TCP)",
        year: 2004,
        source: "Linux 7.3, net/ipv4/tcp_htcp.c; Leith and Shorten, PFLDnet 2004",
        deviations: "the segments of an acknowledgement (pkts_acked) are its bytes over the segment size; the \
             first rate begins with the connection (lasttime is 0 there, so that it depends on the host's uptime); products of \
             32 bits there that go round after hours without congestion do not here",
        fields: FIELDS,
    },
    make: |params| Box::new(Htcp::new(params)),
};

const FIELDS: &[Field] = &[
    Field::new("rtt_scaling", Kind::Switch, Value::Switch(true))
        .meaning("Growth per round trip is scaled by the round trip over 100 ms.")
        .source("use_rtt_scaling = 1"),
    Field::new("bandwidth_switch", Kind::Switch, Value::Switch(true))
        .meaning(
            "Half is left where the greatest rate since congestion changed by more than a fifth.",
        )
        .source("use_bandwidth_switch = 1"),
];

/// Jiffies per second (CONFIG_HZ = 1000).
const HZ: u64 = 1_000;
/// `ALPHA_BASE`, `BETA_MIN` and `BETA_MAX`: 1, 0.5 and 0.8 in 1/128.
const ALPHA_BASE: u64 = 1 << 7;
const BETA_MIN: u64 = 1 << 6;
const BETA_MAX: u64 = 102;

/// The variables that a reduction changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Before {
    last_cong: u64,
    max_rtt: u64,
    old_max_rate: u64,
}

#[derive(Clone, Debug)]
struct Htcp {
    rtt_scaling: bool,
    bandwidth_switch: bool,
    alpha: u64,
    beta: u64,
    /// `modeswitch`: a congestion was seen, so that round-trip times decide about the next
    /// reduction.
    switched: bool,
    /// Segments acknowledged by the last acknowledgement, and since the window last grew (`snd_cwnd_cnt`).
    acked: u64,
    count: u64,
    /// Smallest and greatest round-trip time, jiffies; zero before the first sample.
    min_rtt: u64,
    max_rtt: u64,
    /// When the last congestion ended, jiffies.
    last_cong: u64,
    undo: Option<Before>,
    /// `packetcount` and `lasttime`: segments acknowledged in the current rate sample, and when it
    /// began, jiffies.
    sample: (u64, u64),
    /// `Bi`, the measured rate, segments/s.
    rate: u64,
    /// Smallest measured rate since congestion, segments/s.
    min_rate: u64,
    /// Greatest measured rate since congestion, segments/s.
    max_rate: u64,
    /// Greatest measured rate before that congestion, segments/s.
    old_max_rate: u64,
    state: CaState,
}

fn jiffies(now: Instant) -> u64 {
    now.nanos() / (1_000_000_000 / HZ)
}

impl Htcp {
    fn new(params: &Params) -> Self {
        Htcp {
            rtt_scaling: params.switch("rtt_scaling"),
            bandwidth_switch: params.switch("bandwidth_switch"),
            alpha: ALPHA_BASE,
            beta: BETA_MIN,
            switched: false,
            acked: 1,
            count: 0,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: 0,
            undo: None,
            sample: (0, 0),
            rate: 0,
            min_rate: 0,
            max_rate: 0,
            old_max_rate: 0,
            state: CaState::Open,
        }
    }

    /// `measure_rtt`: the greatest round-trip time follows rises of at most 20 ms.
    fn measure_rtt(&mut self, rtt: u64, open: bool) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if self.max_rtt < rtt && rtt <= self.max_rtt + HZ / 50 {
                self.max_rtt = rtt;
            }
        }
    }

    /// Linux's `measure_achieved_throughput`: measures round-trip time and rate.
    fn measure(&mut self, win: &Window, ack: &AckSample) {
        let (now, open) = (jiffies(ack.now), ack.ca_state == CaState::Open);
        let acked = ack.acked.div_ceil(win.mss());
        if open {
            self.acked = acked;
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.measure_rtt((rtt.nanos() / 1_000).div_ceil(1_000_000 / HZ), open);
        }
        if !self.bandwidth_switch {
            return;
        }
        if !open {
            self.sample = (0, now);
            return;
        }
        self.sample.0 += acked;
        let (count, since) = self.sample;
        let enough = u64::from(segments(win)).saturating_sub((self.alpha >> 7).max(1));
        if count < enough || self.min_rtt == 0 || now - since < self.min_rtt {
            return;
        }
        self.sample = (0, now);
        let rate = count * HZ / (now - since);
        if (now - self.last_cong) / self.min_rtt <= 3 {
            (self.rate, self.min_rate, self.max_rate) = (rate, rate, rate);
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.max_rate = self.max_rate.max(self.rate);
            self.min_rate = self.min_rate.min(self.max_rate);
        }
    }

    /// Linux's `htcp_beta_update`: the share of the window that a congestion leaves.
    fn update_beta(&mut self) {
        if self.bandwidth_switch {
            let (new, old) = (self.max_rate, self.old_max_rate);
            self.old_max_rate = new;
            if !(4 * old..=6 * old).contains(&(5 * new)) {
                (self.beta, self.switched) = (BETA_MIN, false);
                return;
            }
        }
        if self.switched && self.min_rtt > HZ / 100 && self.max_rtt > 0 {
            self.beta = ((self.min_rtt << 7) / self.max_rtt).clamp(BETA_MIN, BETA_MAX);
        } else {
            (self.beta, self.switched) = (BETA_MIN, true);
        }
    }

    /// Linux's `htcp_alpha_update`: the growth per round trip, from the time since congestion.
    fn update_alpha(&mut self, now: u64) {
        let mut since = now - self.last_cong;
        let mut factor = 1;
        if since > HZ {
            since -= HZ;
            factor = 1 + (10 * since + (since / 2) * (since / 2) / HZ) / HZ;
        }
        if self.rtt_scaling && self.min_rtt > 0 {
            let scale = ((HZ << 3) / (10 * self.min_rtt)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2 * factor * ((1 << 7) - self.beta);
    }

    /// Linux's `htcp_reset`: saves the variables for an undo; the last congestion is now.
    fn reset(&mut self, now: u64) {
        let Htcp { last_cong, max_rtt, old_max_rate, .. } = *self;
        self.undo = Some(Before { last_cong, max_rtt, old_max_rate });
        self.last_cong = now;
    }
}

impl Control for Htcp {
    fn on_open(&mut self, _win: &mut Window, _srtt: Duration, now: Instant) {
        let now = jiffies(now);
        (self.last_cong, self.sample) = (now, (0, now));
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.measure(win, ack);
        let now = jiffies(ack.now);
        let before = std::mem::replace(&mut self.state, ack.ca_state);
        if ack.ca_state == CaState::Open && before != CaState::Open && self.undo.take().is_some() {
            self.last_cong = now;
        }
        if !ack.may_grow() || ack.segments == 0 {
            return;
        }
        if win.cwnd < win.ssthresh {
            Increase::slow_start(win, ack.segments);
            return;
        }
        if (self.count * self.alpha) >> 7 >= u64::from(segments(win)) {
            win.cwnd += win.mss();
            self.count = 0;
            self.update_alpha(now);
        } else {
            self.count += self.acked;
        }
        self.acked = 1;
    }

    /// Linux's `htcp_recalc_ssthresh` sets the threshold, then `htcp_state` saves the variables.
    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, cause: Cause, now: Instant) {
        let now = jiffies(now);
        self.update_beta();
        self.update_alpha(now);
        self.count = 0;
        win.ssthresh = ((u64::from(segments(win)) * self.beta) >> 7).max(2) * win.mss();
        let (least, most) = (self.min_rtt, self.max_rtt);
        if least > 0 && most > least {
            self.max_rtt = least + (most - least) * 95 / 100;
        }
        match cause {
            Cause::Loss => self.state = CaState::Recovery,
            Cause::Mark => self.state = CaState::Cwr,
            Cause::Timeout => return,
        }
        self.reset(now);
    }

    fn on_timeout(&mut self, _win: &Window, _flight: &Flight, now: Instant) {
        self.state = CaState::Loss;
        self.reset(jiffies(now));
    }

    fn undo(&mut self, _win: &mut Window, _ends: bool) {
        if let Some(before) = self.undo.take() {
            self.last_cong = before.last_cong;
            self.max_rtt = before.max_rtt;
            self.old_max_rate = before.old_max_rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn htcp() -> Htcp {
        Htcp::new(&Params::defaults(FIELDS))
    }

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    /// alpha in segments per round trip, this time after the last congestion, for a smallest
    /// round-trip time of `min_rtt` ms.
    fn alpha(milliseconds: u64, min_rtt: u64) -> f64 {
        let mut control = Htcp { min_rtt, ..htcp() };
        control.update_alpha(milliseconds);
        control.alpha as f64 / 128.0
    }

    #[test]
    fn the_window_grows_faster_the_longer_ago_congestion_was() {
        // 2 (1 - beta) (1 + 10 t + t²/4) with beta 1/2, t from the second on; scaled by the
        // round-trip time over 100 ms.
        assert_eq!([1_000, 2_000, 3_000, 11_000].map(|t| alpha(t, 100)), [1.0, 11.0, 22.0, 126.0]);
        // At 200 ms twice as much as at 100 ms, at 10 ms a tenth, rounded down (scale 4 and 80 of
        // 8); never below one.
        assert_eq!([200, 10].map(|rtt| alpha(3_000, rtt)), [44.0, 2.0]);
        assert_eq!(alpha(500, 10), 1.0);
    }

    #[test]
    fn congestion_leaves_the_ratio_of_round_trips_where_the_rate_is_steady() {
        let mut win = Window { cwnd: 100 * MSS, ssthresh: 0, mss: MSS as u16, ..Window::default() };
        let mut control = Htcp { min_rtt: 70, max_rtt: 100, max_rate: 1_000, ..htcp() };
        let mut left = |control: &mut Htcp| {
            control.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(1_000));
            win.ssthresh / MSS
        };
        // The first and second congestion leave half: the first has no earlier rate to compare
        // with, the second switches the mode.
        assert_eq!([left(&mut control), left(&mut control)], [50, 50]);
        // Now min/max, the greatest round-trip time having been reduced twice: 70 x 128/96 is 93 of
        // 128.
        assert_eq!(control.max_rtt, 96);
        assert_eq!(left(&mut control), 72);
        // A rate that has changed by more than a fifth leaves half.
        control.max_rate = 1_201;
        assert_eq!(left(&mut control), 50);
    }

    #[test]
    fn round_trips_bound_beta() {
        for (min_rtt, max_rtt, beta) in
            [(100, 400, BETA_MIN), (100, 101, BETA_MAX), (9, 10, BETA_MIN)]
        {
            let mut control =
                Htcp { min_rtt, max_rtt, switched: true, bandwidth_switch: false, ..htcp() };
            control.update_beta();
            assert_eq!(control.beta, beta, "{min_rtt} {max_rtt}");
        }
    }

    #[test]
    fn the_greatest_round_trip_ignores_leaps() {
        let mut control = htcp();
        for (rtt, most) in [(100, 100), (120, 120), (141, 120), (140, 140), (50, 140)] {
            control.measure_rtt(rtt, true);
            assert_eq!(control.max_rtt, most, "{rtt}");
        }
        assert_eq!(control.min_rtt, 50);
    }

    #[test]
    fn the_clock_starts_when_a_recovery_ends_and_an_undo_puts_it_back() {
        let mut win =
            Window { cwnd: 100 * MSS, ssthresh: MSS, mss: MSS as u16, ..Window::default() };
        let mut control = htcp();
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(5_000));
        assert_eq!(control.last_cong, 5_000);
        let ack = |now, ca_state| AckSample { now: at(now), ca_state, ..testing::ack_sample(MSS) };
        control.on_ack(&mut win, &ack(5_100, CaState::Recovery));
        control.on_ack(&mut win, &ack(5_200, CaState::Open));
        assert_eq!(control.last_cong, 5_200);
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, at(6_000));
        control.undo(&mut win, false);
        assert_eq!(control.last_cong, 5_200);
    }

    #[test]
    fn a_flow_regains_a_long_fast_path_long_before_reno() {
        // 100 Mbit/s and 200 ms: the path holds 2,500 segments. After a loss Reno needs 1,250 round
        // trips, 250 s.
        let mut path = testing::Path::new(htcp(), 100.0, 200, 2_500_000);
        assert!(path.run_until(60.0, |path| path.lost > 0));
        path.run(20.0);
        assert!(path.measure(40.0).0 > 0.95, "{}", path.measure(40.0).0);
    }
}
