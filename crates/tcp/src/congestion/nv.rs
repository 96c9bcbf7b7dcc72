//! TCP-NV as Linux has it (`net/ipv4/tcp_nv.c`; L. Brakmo, *TCP-NV: An Update to TCP-Vegas*, 2010
//! and 2015). Once per round trip the window is compared with what the greatest rate of that round
//! trip needs at the smallest round-trip time, and ten segments more. It is meant for data centres:
//! a decision needs 20 to 60 round-trip samples, so that small windows are never reduced for delay.

use packet::params::{Field, Kind, Params, Value};
use packet::random::{GOLDEN, mix};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, CaState, Cause, Control, ControlFlags, Entry};
use super::growth::{Increase, segments};
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "nv",
        summary: "delay-based for data centres: at most ten segments more than the measured rate needs (TCP-NV)",
        year: 2015,
        source: "Linux 7.3, net/ipv4/tcp_nv.c",
        deviations: "the random part of the time after which the smallest round trip is renewed is a hash of the \
             clock, so no seed changes it; a base round trip from a BPF program is left out",
        fields: FIELDS,
    },
    make: |params| Box::new(Nv::new(params)),
};

const FIELDS: &[Field] = &[
    Field::new("pad", Kind::whole(Unit::Packets, 0, 10_000), Value::Whole(10))
        .meaning("Segments that may be queued.")
        .source("nv_pad = 10"),
    Field::new("reset_period", Kind::from(Unit::Time, 0.1, 3_600.0), Value::Real(5.0))
        .meaning("Time after which the smallest round trip is that of this time, a quarter more or less.")
        .source("nv_reset_period = 5 s"),
    Field::new("min_window", Kind::whole(Unit::Packets, 1, 10_000), Value::Whole(2))
        .meaning("Window below which delay reduces nothing.")
        .source("nv_min_cwnd = 2"),
];

/// `nv_pad_buffer`: the window does not grow if it is less than this number of segments below its
/// limit.
const PAD_BUFFER: u64 = 2;
/// `nv_cong_dec_mult`: share of the excess by which the window shrinks, in 1/128 (30 %).
const DECREASE: u64 = 30 * 128 / 100;
/// `nv_loss_dec_factor`: share of the window that a loss leaves, in 1/1,024 (80 %).
const LOSS_LEAVES: u64 = 819;
/// `nv_cwnd_growth_rate_neg`: decisions without congestion after which a growth slower than Reno's
/// doubles.
const REGAIN: u32 = 8;
/// `nv_dec_eval_min_calls`, `nv_inc_eval_min_calls` and `nv_ssthresh_eval_min_calls`: round-trip
/// samples needed to shrink, to grow, and to end slow start.
const TO_SHRINK: u8 = 60;
const TO_GROW: u8 = 20;
const TO_END: u8 = 30;
/// `nv_stop_rtt_cnt`: round trips without a decision after which growth stops; `nv_rtt_min_cnt`:
/// round trips needed to shrink.
const STOP: u8 = 10;
const LEAST_TRIPS: u8 = 2;
/// `NV_MIN_CWND`, the first limit of a small window, `NV_MIN_CWND_GROW`, its steps, and
/// `NV_TSO_CWND_BOUND`, its greatest value (plus one); segments.
const SMALL: u64 = 4;
const SMALL_GROWS: u64 = 2;
const SMALL_MOST: u64 = 80 + 1;

const CONTROL_FLAGS: ControlFlags = ControlFlags { rates: true, ..CLASSIC };

#[derive(Clone, Debug)]
struct Nv {
    pad: u64,
    reset_period: Duration,
    min_window: u64,
    increase: Increase,
    /// `cwnd_growth_factor`: the window grows by 2^factor segments per window acknowledged.
    growth: i8,
    /// `nv_allow_cwnd_growth`: the window may grow; `nv_reset`: measurements start again in state
    /// Open.
    grows: bool,
    reset: bool,
    /// `nv_min_cwnd`: a window of fewer segments is too small to be measured.
    small: u64,
    /// `nv_eval_call_cnt`: samples, `nv_rtt_cnt`: round trips, both since the last decision;
    /// `nv_no_cong_cnt`: decisions without congestion.
    calls: u8,
    trips: u8,
    calm: u32,
    /// Average round-trip time, the smallest one, and the one that will be the smallest after the
    /// renewal; microseconds.
    last_rtt: u64,
    min_rtt: u64,
    next_min_rtt: u64,
    /// When the smallest round-trip time is renewed.
    renewal: Instant,
    /// `nv_rtt_max_rate`: greatest rate since the last decision, in 100 bit/s.
    max_rate: u64,
    /// The round trip ends when a higher sequence number than this is acknowledged.
    round_end: u64,
    una: u64,
    state: CaState,
}

impl Nv {
    fn new(params: &Params) -> Self {
        Nv {
            pad: params.whole("pad"),
            reset_period: params.time("reset_period"),
            min_window: params.whole("min_window"),
            increase: Increase::default(),
            growth: 0,
            grows: true,
            reset: false,
            small: SMALL,
            calls: 0,
            trips: 0,
            calm: 0,
            last_rtt: 0,
            min_rtt: u64::from(u32::MAX),
            next_min_rtt: u64::from(u32::MAX),
            renewal: Instant::ZERO,
            max_rate: 0,
            round_end: 1,
            una: 1,
            state: CaState::Open,
        }
    }

    /// Linux's `tcpnv_reset`: starts the measurements again.
    fn start_over(&mut self, una: u64) {
        (self.reset, self.calm, self.last_rtt) = (false, 0, 0);
        (self.trips, self.calls, self.max_rate) = (0, 0, 0);
        (self.round_end, self.una) = (una, una);
    }

    /// Linux's `tcpnv_state`: the state of loss recovery changes.
    fn enter(&mut self, state: CaState, una: u64) {
        self.state = state;
        match state {
            CaState::Open if self.reset => self.start_over(una),
            CaState::Open => {}
            _ => (self.reset, self.grows) = (true, false),
        }
        if state == CaState::Loss {
            self.growth = self.growth.min(0);
            self.growth = (self.growth - 1).max(-8);
        }
    }

    /// The measuring part of `tcpnv_acked`: enters a round-trip time, us, and the rate at which
    /// `flight` bytes were delivered in it.
    fn measure(&mut self, rtt: u64, flight: u64, now: Instant) {
        let average = if self.last_rtt > 0 {
            (rtt + self.last_rtt) >> 1
        } else {
            self.min_rtt = rtt << 1;
            rtt
        };
        self.last_rtt = average;
        self.max_rate = self.max_rate.max(flight * 80_000 / average.max(1));
        self.calls = self.calls.saturating_add(1);
        self.min_rtt = self.min_rtt.min(average);
        self.next_min_rtt = self.next_min_rtt.min(average);
        if now >= self.renewal {
            (self.min_rtt, self.next_min_rtt) = (self.next_min_rtt, u64::from(u32::MAX));
            // A random three to five quarters of the period.
            let random = mix(now.nanos() ^ mix(self.una.wrapping_add(GOLDEN))) & 0xff;
            let period = self.reset_period.nanos() / 512 * (384 + random);
            self.renewal = now + Duration::from_nanos(period);
            self.small = (self.small / 2).max(SMALL);
        }
    }

    /// The once-per-round part of `tcpnv_acked`; `acked` is the bytes acknowledged since the last
    /// sample.
    fn judge(&mut self, win: &mut Window, flight: &Flight, acked: u64) {
        self.round_end = flight.max;
        self.trips = self.trips.saturating_add(1);
        let mss = win.mss();
        if self.calls == 1 && acked >= (self.small - 1) * mss && self.small < SMALL_MOST {
            // One acknowledgement per round trip: the window is too small to be measured.
            self.small = (self.small + SMALL_GROWS).min(SMALL_MOST);
            self.round_end = flight.max + self.small * mss;
            (self.calls, self.grows) = (0, true);
            return;
        }
        let most = self.max_rate * self.min_rtt / (80_000 * mss) + self.pad;
        let cwnd = u64::from(segments(win));
        let decided = if cwnd > most {
            self.shrink(win, cwnd, most)
        } else {
            cwnd + PAD_BUFFER <= most && self.keep_growing()
        };
        if decided {
            (self.calls, self.trips, self.max_rate) = (0, 0, 0);
            win.cwnd = win.cwnd.max(self.min_window * mss);
        }
    }

    /// The window is more than `most` segments: shrinks it if there are enough samples. Returns
    /// whether it did.
    fn shrink(&mut self, win: &mut Window, cwnd: u64, most: u64) -> bool {
        let first = win.ssthresh >= u64::from(u32::MAX >> 1);
        if self.trips < LEAST_TRIPS {
            return false;
        }
        if self.calls < if first { TO_END } else { TO_SHRINK } {
            if !first && self.grows && self.trips > STOP {
                self.grows = false;
            }
            return false;
        }
        self.grows = false;
        win.ssthresh = most * win.mss();
        let left =
            if cwnd - most > 2 { cwnd - (((cwnd - most) * DECREASE) >> 7).max(2) } else { most };
        win.cwnd = left * win.mss();
        (self.growth, self.calm) = (self.growth.min(0), 0);
        true
    }

    fn keep_growing(&mut self) -> bool {
        if self.calls < TO_GROW {
            return false;
        }
        self.grows = true;
        self.calm += 1;
        if self.growth < 0 && self.calm > REGAIN {
            (self.growth, self.calm) = (self.growth + 1, 0);
        }
        true
    }
}

impl Control for Nv {
    fn flags(&self) -> ControlFlags {
        CONTROL_FLAGS
    }

    fn on_open(&mut self, _win: &mut Window, _srtt: Duration, now: Instant) {
        self.renewal = now + Duration::from_secs(2);
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        if ack.ca_state != self.state {
            self.enter(ack.ca_state, ack.flight.una);
        }
        if let (Some(rtt), CaState::Open) = (ack.rtt, ack.ca_state) {
            let acked = ack.flight.una - std::mem::replace(&mut self.una, ack.flight.una);
            let flight = ack.rate.map_or(0, |rate| rate.delivered);
            if flight > 0 {
                self.measure(rtt.nanos() / 1_000, flight, ack.now);
                if self.round_end < ack.flight.una {
                    self.judge(win, &ack.flight, acked);
                }
            }
        }
        if !ack.may_grow() || !self.grows || ack.segments == 0 {
            return;
        }
        let rest = Increase::slow_start(win, ack.segments);
        if rest > 0 {
            let cwnd = segments(win);
            let price =
                if self.growth < 0 { cwnd << -self.growth } else { (cwnd >> self.growth).max(4) };
            self.increase.add(win, price, rest);
        }
    }

    fn on_congestion(&mut self, win: &mut Window, flight: &Flight, cause: Cause, _now: Instant) {
        self.increase.forget();
        win.ssthresh = ((u64::from(segments(win)) * LOSS_LEAVES) >> 10).max(2) * win.mss();
        match cause {
            Cause::Loss => self.enter(CaState::Recovery, flight.una),
            Cause::Mark => self.enter(CaState::Cwr, flight.una),
            Cause::Timeout => {}
        }
    }

    fn on_timeout(&mut self, _win: &Window, flight: &Flight, _now: Instant) {
        self.enter(CaState::Loss, flight.una);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const MSS: u64 = 1_000;

    fn nv() -> Nv {
        Nv::new(&Params::defaults(FIELDS))
    }

    fn window_of(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: MSS, mss: MSS as u16, ..Window::default() }
    }

    /// A round whose greatest rate needs 50 segments at the smallest round-trip time of 1 ms: the
    /// limit is 60. Returns the control, the window, and the window in segments.
    fn round(cwnd: u64, calls: u8, trips: u8) -> (Nv, Window, u64) {
        let max_rate = 50 * MSS * 80_000 / 1_000;
        let mut control = Nv { max_rate, min_rtt: 1_000, calls, trips, grows: true, ..nv() };
        let mut win = window_of(cwnd);
        control.judge(&mut win, &Flight { una: 1, max: 9, window: 0 }, MSS);
        let left = win.cwnd / MSS;
        (control, win, left)
    }

    #[test]
    fn a_window_beyond_the_rate_and_the_pad_loses_three_tenths_of_the_excess() {
        // The excess is 100 - 60 = 40 segments, of which 38/128 are taken: 11.
        let (control, win, left) = round(100, 60, 2);
        assert_eq!((left, win.ssthresh / MSS), (89, 60));
        assert!(!control.grows);
        assert_eq!(round(62, 60, 2).2, 60);
        assert_eq!(round(63, 60, 2).2, 61);
    }

    #[test]
    fn too_few_measurements_decide_nothing() {
        assert_eq!(round(100, 59, 2).2, 100);
        assert_eq!(round(100, 60, 0).2, 100);
        // After ten round trips without enough samples it stops growing.
        assert!(round(100, 59, 9).0.grows);
        assert!(!round(100, 59, 10).0.grows);
    }

    #[test]
    fn between_the_pad_and_its_buffer_nothing_is_decided() {
        assert_eq!(round(59, 200, 5).0.calls, 200);
        assert_eq!(round(58, 200, 5).0.calls, 0);
        assert_eq!(round(58, 19, 5).0.calls, 19);
    }

    #[test]
    fn a_loss_leaves_four_fifths_and_a_timeout_halves_the_growth() {
        let (mut control, mut win) = (nv(), window_of(100));
        control.on_congestion(&mut win, &Flight::default(), Cause::Loss, Instant::ZERO);
        assert_eq!(win.ssthresh, 79 * MSS);
        control.on_timeout(&win, &Flight::default(), Instant::ZERO);
        control.on_timeout(&win, &Flight::default(), Instant::ZERO);
        assert_eq!(control.growth, -2);
    }

    #[test]
    fn a_flow_keeps_about_its_pad_in_the_queue() {
        // 1 Gbit/s and 2 ms: the path holds 250 segments of 1,000 B.
        let mut path = testing::Path::new(nv(), 1_000.0, 2, 4_000_000);
        path.run(2.0);
        let (used, trips) = path.measure(2.0);
        let queued = (trips - 1.0) * path.bdp() / MSS as f64;
        assert!(queued < 20.0 && used > 0.97, "{queued} {used}");
        assert_eq!(path.lost, 0);
    }
}
