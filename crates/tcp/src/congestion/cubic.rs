//! CUBIC as Linux has it (`net/ipv4/tcp_cubic.c` of Linux 6.12; S. Ha, I. Rhee, L. Xu, *CUBIC: A
//! New TCP-Friendly High-Speed TCP Variant*, SIGOPS 42(5), 2008): after congestion the window
//! follows a cubic function of the time since, flat around the window at which congestion came.
//!
//! All arithmetic is in integers: windows in segments, time in jiffies of 1 ms and, on the curve,
//! in units of 1/1,024 s. That matters for small windows: `cnt`, the number of acknowledged
//! segments that grow the window by one, is a quotient rounded down. CUBIC by the letter of RFC
//! 9438 is [`super::rfc9438`].

use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Instant};

use super::control::{AckSample, CLASSIC, Cause, Control, ControlFlags, Entry};
use super::growth::{Increase, segments};
use super::hystart::HyStart;
use super::search::Search;
use crate::send_state::{Flight, Window};

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "cubic",
        summary: "window a cubic of the time since congestion, 0.7 of it at congestion, never slower \
              than Reno; Linux's, in integers",
        year: 2024,
        source: "Linux 6.12, net/ipv4/tcp_cubic.c, with its HyStart (Ha and Rhee, Computer Networks \
             55(9), 2011)",
        deviations: "RFC 9438 says otherwise: grow like Reno (alpha = 1) from the old window \
             on, exact arithmetic, an undo that restores the curve; that is rfc9438",
        fields: FIELDS,
    },
    make: |params| {
        let exit = if params.switch("hystart") { HyStart::default().into() } else { Exit::Never };
        Box::new(Cubic::new(Settings::read(params), exit))
    },
};

const FIELDS: &[Field] = &[C, BETA, FAST_CONVERGENCE, TCP_FRIENDLINESS, HYSTART];

pub(super) const C: Field = Field::new("c", Kind::from(Unit::None, 0.01, 10.0), Value::Real(0.4))
    .meaning("Growth of the cubic, segments/s^3; counted in 1/1,024.")
    .source("bic_scale = 41: 410/1,024");
pub(super) const BETA: Field =
    Field::new("beta", Kind::from(Unit::None, 0.1, 0.99), Value::Real(0.7))
        .meaning("What congestion leaves of the window; counted in 1/1,024.")
        .source("beta = 717: 717/1,024");
pub(super) const FAST_CONVERGENCE: Field =
    Field::new("fast_convergence", Kind::Switch, Value::Switch(true))
        .meaning("A window below the last plateau aims lower: room for others.")
        .source("fast_convergence = 1");
pub(super) const TCP_FRIENDLINESS: Field =
    Field::new("tcp_friendliness", Kind::Switch, Value::Switch(true))
        .meaning("Never slower than Reno's equal.")
        .source("tcp_friendliness = 1");
const HYSTART: Field = Field::new("hystart", Kind::Switch, Value::Switch(true))
    .meaning("Slow start ends early where round trips rise (HyStart).")
    .source("hystart = 1");

const SCALE: u32 = 1_024;

/// The parameters, in the integers of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The factor `beta`, in 1/1,024.
    beta: u32,
    /// `cube_rtt_scale`: C in 1/1,024.
    cube_scale: u64,
    /// `cube_factor`: 2^40 over `cube_scale`.
    cube_factor: u64,
    /// `beta_scale`: acknowledged segments that grow the equivalent Reno's window by one, in
    /// eighths of a window: 8 (1 + beta)/(3 (1 - beta)) in integers, 15 for 0.7.
    reno_scale: u32,
    fast_convergence: bool,
    tcp_friendliness: bool,
}

impl Settings {
    pub(super) fn read(params: &Params) -> Self {
        let scaled = |name| (params.real(name) * f64::from(SCALE) + 0.5) as u32;
        let (beta, cube_scale) = (scaled("beta"), u64::from(scaled("c")));
        Settings {
            beta,
            cube_scale,
            cube_factor: (1 << 40) / cube_scale,
            reno_scale: 8 * (SCALE + beta) / 3 / (SCALE - beta),
            fast_convergence: params.switch("fast_convergence"),
            tcp_friendliness: params.switch("tcp_friendliness"),
        }
    }
}

/// Jiffies per second (CONFIG_HZ = 1000); a second on the curve is 2 to the power of `CURVE_BITS`
/// (`BICTCP_HZ`).
const HZ: u64 = 1_000;
const CURVE_BITS: u32 = 10;
/// Jiffies for which `cnt` is kept while the window stays.
const STALE: u64 = HZ / 32;
/// Before the first congestion the window grows by at least a twentieth per round trip.
const FIRST_COUNT: u32 = 20;

/// The algorithm that ends slow start before a loss does.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    Never,
    HyStart(HyStart),
    Search(Box<Search>),
}

impl From<HyStart> for Exit {
    fn from(hystart: HyStart) -> Self {
        Exit::HyStart(hystart)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cubic {
    settings: Settings,
    exit: Exit,
    increase: Increase,
    /// Smallest round-trip time since the connection began or the last timeout, microseconds; 0
    /// before the first sample (`delay_min`).
    delay_min: u32,
    curve: Curve,
}

/// The variables that a timeout resets (`bictcp_reset`).
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// Number of acknowledged segments that grow the window by one (`cnt`).
    count: u32,
    /// Window at the last congestion in segments, after fast convergence; 0 before the first
    /// (`last_max_cwnd`).
    last_max: u32,
    /// Window for which `count` was computed, segments.
    last_cwnd: u32,
    /// Jiffy for which `count` was computed.
    last_time: u64,
    /// Acknowledged segments that have not grown the equivalent Reno's window yet (`ack_cnt`).
    acked: u32,
    epoch: Option<Epoch>,
}

/// The time since congestion avoidance began (`epoch_start`).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: u64,
    /// Window at the plateau of the cubic, segments (`bic_origin_point`).
    origin: u32,
    /// Time from the epoch's start until the plateau is reached, in 1/1,024 s (`bic_K`).
    k: u64,
    /// Window of the equivalent Reno, segments (`tcp_cwnd`).
    reno: u32,
}

impl Curve {
    /// `bictcp_update`: computes how many acknowledged segments grow the window by one.
    fn update(&mut self, settings: &Settings, cwnd: u32, acked: u32, delay_min: u32, now: u64) {
        self.acked += acked;
        if self.last_cwnd == cwnd && now - self.last_time <= STALE {
            return;
        }
        // The curve is evaluated at most once per jiffy.
        let known = self.epoch.filter(|_| self.last_time == now);
        let mut epoch = known.unwrap_or_else(|| self.follow(settings, cwnd, acked, delay_min, now));
        if settings.tcp_friendliness {
            self.keep_up_with_reno(&mut epoch, cwnd, settings.reno_scale);
        }
        self.epoch = Some(epoch);
        // The window grows by at most half per round trip.
        self.count = self.count.max(2);
    }

    /// The cubic part of `bictcp_update`. Returns the epoch, a new one if there was none.
    fn follow(
        &mut self,
        settings: &Settings,
        cwnd: u32,
        acked: u32,
        delay_min: u32,
        now: u64,
    ) -> Epoch {
        (self.last_cwnd, self.last_time) = (cwnd, now);
        let epoch = self.epoch.unwrap_or_else(|| {
            self.acked = acked;
            Epoch::begin(settings, self.last_max, cwnd, now)
        });
        let target = epoch.target(settings.cube_scale, delay_min, now);
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.count = self.count.min(FIRST_COUNT);
        }
        epoch
    }

    /// The TCP-friendly region. The equivalent Reno's slope stays at any window; RFC 9438 would
    /// grow like Reno from the old window on.
    fn keep_up_with_reno(&mut self, epoch: &mut Epoch, cwnd: u32, reno_scale: u32) {
        // Deviation from Linux: the price is at least one. In Linux a small window and a `beta`
        // below 0.2 make it zero, and the loop never ends.
        let price = ((cwnd * reno_scale) >> 3).max(1);
        while self.acked > price {
            self.acked -= price;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd {
            self.count = self.count.min(cwnd / (epoch.reno - cwnd));
        }
    }
}

impl Epoch {
    fn begin(settings: &Settings, last_max: u32, cwnd: u32, now: u64) -> Self {
        let below = u64::from(last_max.saturating_sub(cwnd));
        let k = if below > 0 { cube_root(settings.cube_factor * below) } else { 0 };
        Epoch { start: now, origin: last_max.max(cwnd), k: u64::from(k), reno: cwnd }
    }

    /// The window on the curve one round trip from now, segments.
    fn target(&self, cube_scale: u64, delay_min: u32, now: u64) -> u32 {
        let jiffies = now - self.start + u64::from(delay_min).div_ceil(1_000_000 / HZ);
        let t = (jiffies << CURVE_BITS) / HZ;
        let far = t.abs_diff(self.k);
        // As in Linux, a window beyond 32 bits wraps.
        let cube = cube_scale.wrapping_mul(far).wrapping_mul(far).wrapping_mul(far);
        let delta = (cube >> (10 + 3 * CURVE_BITS)) as u32;
        if t < self.k { self.origin.wrapping_sub(delta) } else { self.origin.wrapping_add(delta) }
    }
}

/// Cube roots of 0 to 63 in 1/64, the first approximation (Linux's table in `cubic_root`).
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168,
    170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213,
    215, 217, 219, 221, 222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245,
    246, 248, 250, 251, 252, 254,
];

/// `cubic_root`: takes the six leading bits from the table, then a step of Newton and Raphson; the
/// mean error is 0.2 %.
fn cube_root(a: u64) -> u32 {
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (u32::from(ROOTS[a as usize]) + 35) >> 6;
    }
    let thirds = ((bits * 84) >> 8) - 1;
    let leading = (a >> (3 * thirds)) as usize;
    let x = ((u32::from(ROOTS[leading]) + 10) << thirds) >> 6;
    let x = 2 * x + (a / (u64::from(x) * u64::from(x - 1))) as u32;
    // Nearly a third: 341/1,024.
    (x * 341) >> 10
}

impl Cubic {
    pub(super) fn new(settings: Settings, exit: Exit) -> Self {
        Cubic {
            settings,
            exit,
            increase: Increase::default(),
            delay_min: 0,
            curve: Curve::default(),
        }
    }

    /// `cubictcp_acked`: round-trip times of the first second of congestion avoidance do not count.
    fn measure(&mut self, win: &mut Window, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        let young = |epoch: Epoch| jiffies(ack.now) - epoch.start < HZ;
        if self.curve.epoch.is_some_and(young) {
            return;
        }
        let delay = ((rtt.nanos() / 1_000) as u32).max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        if win.cwnd >= win.ssthresh {
            return;
        }
        match &mut self.exit {
            Exit::Never => {}
            Exit::HyStart(hystart) => hystart.on_sample(win, ack, delay, self.delay_min),
            Exit::Search(search) => search.on_sample(win, ack, delay),
        }
    }
}

/// The time in jiffies.
fn jiffies(now: Instant) -> u64 {
    now.nanos() / (1_000_000_000 / HZ)
}

impl Control for Cubic {
    fn flags(&self) -> ControlFlags {
        ControlFlags { rates: matches!(self.exit, Exit::Search(_)), ..CLASSIC }
    }

    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.measure(win, ack);
        if !ack.may_grow() {
            return;
        }
        let rest = Increase::slow_start(win, ack.segments);
        if rest > 0 {
            let cwnd = segments(win);
            self.curve.update(&self.settings, cwnd, rest, self.delay_min, jiffies(ack.now));
            self.increase.add(win, self.curve.count, rest);
        }
    }

    /// Linux's `cubictcp_recalc_ssthresh`: ends the epoch, and sets its plateau and the threshold.
    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, _cause: Cause, _now: Instant) {
        let cwnd = segments(win);
        self.increase.forget();
        self.curve.epoch = None;
        let Settings { beta, fast_convergence, .. } = self.settings;
        let less = fast_convergence && cwnd < self.curve.last_max;
        // Fast convergence: a lower plateau leaves room for other flows.
        self.curve.last_max = if less { cwnd * (SCALE + beta) / (2 * SCALE) } else { cwnd };
        win.ssthresh = u64::from((cwnd * beta / SCALE).max(2)) * win.mss();
    }

    /// `cubictcp_state`: everything is reset, and HyStart or SEARCH starts again.
    fn on_timeout(&mut self, _win: &Window, flight: &Flight, now: Instant) {
        self.curve = Curve::default();
        self.delay_min = 0;
        match &mut self.exit {
            Exit::Never => {}
            Exit::HyStart(hystart) => *hystart = HyStart::begin(flight, now),
            Exit::Search(search) => search.start_over(),
        }
    }

    /// `CA_EVENT_CWND_RESTART` of the SEARCH module: SEARCH starts again.
    fn on_restart(&mut self, _win: &mut Window, _idle: Duration, _now: Instant) {
        if let Exit::Search(search) = &mut self.exit {
            search.start_over();
        }
    }

    /// `cubictcp_cwnd_event`: a pause does not count as time on the curve.
    fn on_tx_start(&mut self, _: &mut Window, last: Instant, _app_limited: bool, now: Instant) {
        if let Some(epoch) = &mut self.curve.epoch {
            let (last, now) = (jiffies(last), jiffies(now));
            epoch.start = (epoch.start + (now - last)).min(now);
        }
    }
}

#[cfg(test)]
mod tests;
