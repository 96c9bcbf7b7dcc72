//! RED as Linux has it (profile `linux`): `sch_red` in its integer arithmetic, with the tables that
//! iproute2's `tc` computes for it.
//!
//! Everything is in bytes. One random number R is drawn per signal, and a packet is signalled as
//! soon as c·p_b reaches it; the first packet in the band draws R and passes. An arrival after an
//! idle time ages the average and is not a sample.

use alloc::format;

use packet::params::BadParams;
use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng, math};

use super::altq::log_weight;
use super::settings::{Settings, certain_verdict};
use crate::idle::Idle;
use crate::{Aqm, Verdict};

/// How the average ages: a right shift per cell of idle time.
pub(crate) struct Ageing {
    /// `Stab`: the right shift for each number of idle cells.
    shifts: [u8; 256],
    /// log2 of a cell's length (`Scell_log`): ticks to tc, microseconds to the kernel.
    log_cell: u32,
}

/// The unit of tc's clock (`tc_core_time2tick`: a tick is 64 ns since Linux 2.6.31,
/// /proc/net/psched).
const TICKS_PER_US: f64 = 15.625;

impl Ageing {
    /// The table for weight 2^−`log_weight` and packets of `packet_us` (tc's
    /// `tc_red_eval_idle_damping`). tc computes the cells in ticks, and the kernel reads them as
    /// microseconds: averages age 11 to 16 times slower than (1 − w_q)^m; that is Linux's
    /// behaviour. (The table has a natural logarithm where the kernel shifts by powers of two.)
    pub fn new(log_weight: u32, packet_us: f64) -> Self {
        let per_packet = -math::ln(1.0 - 1.0 / (1u64 << log_weight) as f64);
        let per_tick = per_packet / (packet_us * TICKS_PER_US);
        let longest = 31.0 / per_tick;
        let mut log_cell = 0;
        while log_cell < 31 && longest / (1u64 << log_cell) as f64 >= 512.0 {
            log_cell += 1;
        }
        let mut shifts = [31; 256];
        shifts[0] = 0;
        for (i, shift) in shifts.iter_mut().enumerate().take(255).skip(1) {
            // The cast to `u8` truncates, and a larger value saturates.
            *shift = ((((i as u64) << log_cell) as f64 * per_tick) as u8).min(31);
        }
        Ageing { shifts, log_cell }
    }

    /// The average `avg` after the line has been idle for `span`.
    pub fn age(&self, avg: u64, span: Duration) -> u64 {
        let us = (span.nanos() / 1000).min(255 << self.log_cell);
        match self.shifts[(us >> self.log_cell) as usize] {
            0 => {
                let lost = (u128::from(avg) * u128::from(us)) >> self.log_cell;
                let (lost, half) = (u64::try_from(lost).unwrap_or(u64::MAX), avg >> 1);
                if lost < half { avg - lost } else { half }
            }
            shift => avg >> shift,
        }
    }
}

/// One per cent in units of 2^−32: the lower end of an adapted max_p, and its largest step.
const ONE_PERCENT: u32 = 42_949_673;

/// A queue's variables (`red_vars`), without the start of its idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vars {
    /// Average backlog in bytes, multiplied by 1/w_q.
    avg: u64,
    /// Packets since the last signal; −1 outside the band.
    count: i64,
    /// Value of c·(avg − min_th), in bytes and with c = `count`, at which the next signal is due.
    threshold: u64,
}

impl Vars {
    /// The variables of a queue in which no packet has arrived.
    pub const NEW: Vars = Vars { avg: 0, count: -1, threshold: 0 };
}

/// The parameters that all queues with these settings share (`red_parms`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    log_weight: u32,
    /// min_th in bytes, multiplied by 1/w_q.
    min: u64,
    /// max_th in bytes, multiplied by 1/w_q.
    max: u64,
    /// max_p/(max_th − min_th) in units of 2^−32 per byte: a random 32-bit number divided by
    /// it is R in bytes.
    slope: u32,
    /// max_p in units of 2^−32.
    max_p: u32,
    /// max_th − min_th in bytes.
    spread: u64,
    certain: Verdict,
    unit: f64,
}

impl Law {
    pub fn new(settings: &Settings) -> Result<Self, BadParams> {
        let log_weight = log_weight(settings.w_q, "Linux")?;
        let unit = settings.unit();
        let min = threshold("min_th", settings.min_th, settings, log_weight)?;
        let max = threshold("max_th", settings.max_th, settings, log_weight)?;
        let spread = (max.saturating_sub(min) >> log_weight).max(1);
        // 2^32 does not fit where max_p is 1; the cast saturates at 2^32 − 1.
        let max_p = (settings.max_p * 4_294_967_296.0) as u32;
        let slope = ((u64::from(max_p) / spread) as u32).max(1);
        let certain = certain_verdict(settings.harddrop);
        Ok(Law { log_weight, min, max, slope, max_p, spread, certain, unit })
    }

    /// Updates the average with an arrival that finds `bytes` waiting.
    #[inline]
    pub fn sample(&self, vars: &mut Vars, bytes: u64) {
        vars.avg = vars.avg - (vars.avg >> self.log_weight) + bytes;
    }

    /// Updates the average with an arrival that finds `bytes` waiting, and decides whether to
    /// signal it.
    pub fn judge(&self, vars: &mut Vars, bytes: u64, rng: &mut Rng) -> Verdict {
        self.sample(vars, bytes);
        self.decide(vars, vars.avg, rng)
    }

    fn draw(&self, rng: &mut Rng) -> u64 {
        (rng.next_u64() >> 32) / u64::from(self.slope)
    }

    /// Decides whether to signal an arrival, by the average `avg`, in bytes times 1/w_q.
    #[inline]
    fn decide(&self, vars: &mut Vars, avg: u64, rng: &mut Rng) -> Verdict {
        if avg < self.min {
            vars.count = -1;
            return Verdict::Pass;
        }
        if avg >= self.max {
            vars.count = -1;
            return self.certain;
        }
        vars.count += 1;
        if vars.count == 0 {
            vars.threshold = self.draw(rng);
            return Verdict::Pass;
        }
        if self.excess(avg) * (vars.count as u64) < vars.threshold {
            return Verdict::Pass;
        }
        (vars.count, vars.threshold) = (0, self.draw(rng));
        Verdict::Signal(DropReason::Early)
    }

    /// Bytes of `avg` above min_th.
    fn excess(&self, avg: u64) -> u64 {
        (avg - self.min) >> self.log_weight
    }
}

pub(crate) struct Linux {
    idle: Idle,
    ageing: Ageing,
    law: Law,
    vars: Vars,
}

impl Linux {
    pub fn new(settings: &Settings) -> Result<Self, BadParams> {
        let law = Law::new(settings)?;
        let ageing = Ageing::new(law.log_weight, settings.clock.packet_secs() * 1e6);
        Ok(Linux { idle: Idle::new(), ageing, law, vars: Vars::NEW })
    }

    /// The initial state in sch_gred: the queue is not idle until a departure leaves it empty, so
    /// that the first packet's sample is the backlog.
    pub fn never_idle_yet(mut self) -> Self {
        self.idle.end(Instant::ZERO);
        self
    }

    /// One step of the flag `adaptive`: moves max_p by the average as it is at `now`. The bounds
    /// are tested before the step, so max_p may leave them by one step.
    pub fn adapt(&mut self, now: Instant) {
        let Linux { ageing, law, vars, .. } = self;
        let aged = self.idle.span(now).map(|span| ageing.age(vars.avg, span));
        let avg = aged.unwrap_or(vars.avg) >> law.log_weight;
        let (min, fifth) = (law.min >> law.log_weight, law.spread / 5);
        if avg > min + 3 * fifth && law.max_p <= 50 * ONE_PERCENT {
            law.max_p += (law.max_p / 4).min(ONE_PERCENT);
        } else if avg < min + 2 * fifth && law.max_p >= ONE_PERCENT {
            law.max_p = law.max_p / 10 * 9;
        }
        let rounded = (u64::from(law.max_p) + law.spread / 2) / law.spread;
        law.slope = (rounded as u32).max(1);
    }

    /// `max_p`, the probability where the average reaches max_th.
    pub fn max_p(&self) -> f64 {
        f64::from(self.law.max_p) / 4_294_967_296.0
    }

    /// Updates the average with an arrival that finds `bytes` waiting.
    #[inline]
    pub fn sample(&mut self, bytes: u64, now: Instant) {
        match self.idle.end(now) {
            Some(span) => self.vars.avg = self.ageing.age(self.vars.avg, span),
            None => self.law.sample(&mut self.vars, bytes),
        }
    }

    /// Decides whether to signal an arrival, by the average `avg`, in bytes times 1/w_q.
    #[inline]
    pub fn decide(&mut self, avg: u64, rng: &mut Rng) -> Verdict {
        self.law.decide(&mut self.vars, avg, rng)
    }

    /// The average backlog in bytes, multiplied by 1/w_q.
    pub fn average(&self) -> u64 {
        self.vars.avg
    }

    pub fn average_packets(&self) -> f64 {
        self.vars.avg as f64 / (1u64 << self.law.log_weight) as f64 / self.law.unit
    }

    /// Whether nothing has arrived since the queue was left empty.
    pub fn is_idle(&self) -> bool {
        self.idle.span(Instant::NEVER).is_some()
    }
}

/// A threshold in bytes, times 1/w_q; the kernel demands that it fit in 31 bits.
fn threshold(
    name: &str,
    packets: f64,
    settings: &Settings,
    log_weight: u32,
) -> Result<u64, BadParams> {
    let unit = settings.unit();
    let bytes = (packets * unit + 0.5) as u64;
    let scaled = u128::from(bytes) << log_weight;
    if scaled >> 31 == 0 {
        return Ok(scaled as u64);
    }
    let largest = f64::from((1u32 << 31) >> log_weight) / unit;
    let why = format!(
        "{packets} packets of {unit} B are more than Linux can average with w_q = 1/{} (min_th = \
         {}, max_th = {}): it must be below {largest:.3} packets, or w_q larger",
        1u64 << log_weight,
        settings.min_th,
        settings.max_th
    );
    Err(BadParams::new(name, why))
}

impl Aqm for Linux {
    fn on_arrival(
        &mut self,
        _packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.sample(backlog.bytes, now);
        self.decide(self.vars.avg, rng)
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.idle)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.average_packets());
        let law = &self.law;
        let p_b = match self.vars.avg {
            avg if avg < law.min => 0.0,
            avg if avg >= law.max => 1.0,
            avg => law.excess(avg) as f64 * f64::from(law.slope) / 4_294_967_296.0,
        };
        show("p_b", p_b);
        show("count", self.vars.count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;

    #[test]
    fn the_table_of_1000_byte_packets_at_10_mbit() {
        // w_q = 1/512, 800 us or 12,500 ticks: per_tick = 1.5640e-7, longest 1.98e8 ticks, cells of
        // 2^19, as `tc -d qdisc show` prints (Scell_log 19; for packets of 1,514 B 20).
        assert_eq!(Ageing::new(9, 1_211.2).log_cell, 20);
        let ageing = Ageing::new(9, 800.0);
        assert_eq!(ageing.log_cell, 19);
        assert_eq!(ageing.shifts[0], 0);
        assert_eq!(ageing.shifts[12], 0); // 12 · 524,288 · 1.5640e-7 = 0.984
        assert_eq!(ageing.shifts[13], 1); // 13 · 524,288 · 1.5640e-7 = 1.066
        assert_eq!(ageing.shifts[25], 2);
        assert_eq!(ageing.shifts[254], 20);
        assert_eq!(ageing.shifts[255], 31);
    }

    #[test]
    fn ageing_is_linear_then_halves_then_shifts() {
        let ageing = Ageing::new(9, 800.0);
        let after = |us: u64| ageing.age(1_000_000, Duration::from_micros(us));
        assert_eq!(after(0), 1_000_000);
        let cell = 1 << 19;
        assert_eq!(after(cell / 4), 750_000);
        assert_eq!(after(cell / 2), 500_000);
        assert_eq!(after(cell - 1), 500_000); // the linear part takes half at most
        assert_eq!(ageing.age(1, Duration::ZERO), 0); // halves round down
        assert_eq!(ageing.age(1001, Duration::from_micros(cell / 2)), 500);
        assert_eq!(after(13 * cell), 500_000); // a right shift by 1
        assert_eq!(after(25 * cell), 250_000);
        assert_eq!(after(255 * cell), 0);
        assert_eq!(after(3_600_000_000), 0); // clipped to the last cell
    }

    #[test]
    fn the_largest_weight_forgets_at_once() {
        let ageing = Ageing::new(0, 800.0);
        assert_eq!(ageing.age(1_000_000, Duration::from_micros(1)), 0);
        assert_eq!(ageing.age(1_000_000, Duration::ZERO), 1_000_000);
    }

    #[test]
    fn thresholds_that_the_kernel_refuses_are_refused() {
        let wide = settings(&[
            ("profile", "linux"),
            ("min_th", "1000"),
            ("max_th", "3000"),
            ("w_q", "1/1024"),
        ]);
        let why = Linux::new(&wide).err().unwrap().to_string();
        assert!(why.starts_with("max_th: 3000 packets of 1000 B"), "{why}");
        assert!(why.contains("2097.152"), "{why}");
    }

    #[test]
    fn a_signal_is_due_as_soon_as_the_drawn_number_is_reached() {
        // `red_mark_probability`: no signal while the product is below qR.
        let band = settings(&[("profile", "linux"), ("min_th", "10"), ("max_th", "30")]);
        for (below, due) in [(0, true), (1, false)] {
            let mut red = Linux::new(&band).unwrap();
            let avg = (red.law.min + red.law.max) / 2;
            (red.vars.count, red.vars.threshold) = (6, red.law.excess(avg) * 7 + below);
            let verdict = red.decide(avg, &mut Rng::named(1, "linux"));
            assert_eq!(verdict == Verdict::Signal(DropReason::Early), due);
        }
    }
}
