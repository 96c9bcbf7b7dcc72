//! RED with CHOKe's boundaries, in real numbers and in Linux's integers.

use alloc::format;

use packet::params::BadParams;
use packet::{Backlog, DropReason, Instant, Packet, Rate, Rng, math};

use crate::algorithms::family::{Ageing, Average, Idle, PacketClock, log_weight, space_signals};
use crate::{Aqm, Verdict};

/// An algorithm that updates its average before it decides on an arrival, so that CHOKe's
/// comparison can come in between.
pub(super) trait Sampler: Aqm {
    /// Updates the average for an arrival. Returns whether it is above min_th.
    fn sample(&mut self, backlog: Backlog, now: Instant) -> bool;
}

/// Settings of both algorithms.
pub(super) struct Settings {
    pub min_th: f64,
    pub max_th: f64,
    pub w_q: f64,
    pub max_p: f64,
    pub rate: Rate,
    pub mean_packet_bytes: u32,
    pub harddrop: bool,
}

impl Settings {
    const fn clock(&self) -> PacketClock {
        PacketClock::of_line(self.rate, self.mean_packet_bytes)
    }

    const fn certain(&self) -> Verdict {
        if self.harddrop {
            Verdict::Drop(DropReason::Forced)
        } else {
            Verdict::Signal(DropReason::Forced)
        }
    }
}

/// The algorithm of profile `paper`: RED in real numbers.
pub(super) struct InReals {
    average: Average,
    min: f64,
    max: f64,
    /// Probability p_b per packet of the average above min_th.
    slope: f64,
    certain: Verdict,
    /// Packets since the last signal; −1 outside the band.
    count: i64,
}

impl InReals {
    pub fn new(settings: &Settings) -> Self {
        InReals {
            average: Average::new(settings.w_q, settings.clock(), false),
            min: settings.min_th,
            max: settings.max_th,
            slope: settings.max_p / (settings.max_th - settings.min_th),
            certain: settings.certain(),
            count: -1,
        }
    }

    fn p_b(&self) -> f64 {
        self.slope * (self.average.value - self.min)
    }
}

impl Sampler for InReals {
    fn sample(&mut self, backlog: Backlog, now: Instant) -> bool {
        self.average.update(f64::from(backlog.packets), now);
        self.average.value > self.min
    }
}

impl Aqm for InReals {
    fn on_arrival(&mut self, _: &Packet, _: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        if self.average.value <= self.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.average.value > self.max {
            self.count = -1;
            return self.certain;
        }
        self.count += 1;
        if rng.uniform() >= space_signals(self.p_b(), self.count as f64) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Signal(DropReason::Early)
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.average.idle)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let p_b = if self.average.value > self.max { 1.0 } else { self.p_b().max(0.0) };
        show("avg", self.average.value);
        show("p_b", p_b);
        show("count", self.count as f64);
    }
}

/// The algorithm of profile `linux`: RED in integers. It counts packets where `sch_red` counts
/// bytes, so the excess over min_th is a whole number of packets.
pub(super) struct InIntegers {
    idle: Idle,
    ageing: Ageing,
    log_weight: u32,
    /// Average backlog in packets, multiplied by 1/w_q, a power of 2.
    avg: u64,
    /// min_th in packets, multiplied by 1/w_q.
    min: u64,
    /// max_th in packets, multiplied by 1/w_q.
    max: u64,
    /// max_p/(max_th − min_th) in units of 2^−32 per packet.
    slope: u32,
    certain: Verdict,
    count: i64,
    /// Value of count·(avg − min_th) at which the next signal is due (`qR`).
    due: u64,
}

/// 2^32, the scale of a probability in 32 bits.
const SCALE: f64 = 4_294_967_296.0;

impl InIntegers {
    pub fn new(settings: &Settings) -> Result<Self, BadParams> {
        let log_weight = log_weight(settings.w_q, "Linux")?;
        let scaled = |name, packets| threshold(name, packets, log_weight);
        let (min, max) = (scaled("min_th", settings.min_th)?, scaled("max_th", settings.max_th)?);
        let spread = ((max - min) >> log_weight).max(1);
        let max_p = (settings.max_p * SCALE) as u32; // saturates where max_p is 1
        Ok(InIntegers {
            idle: Idle::new(),
            ageing: Ageing::new(log_weight, settings.clock().packet_secs() * 1e6),
            log_weight,
            avg: 0,
            min,
            max,
            slope: ((u64::from(max_p) / spread) as u32).max(1),
            certain: settings.certain(),
            count: -1,
            due: 0,
        })
    }

    fn excess(&self) -> u64 {
        (self.avg - self.min) >> self.log_weight
    }

    fn draw(&mut self, rng: &mut Rng) {
        self.due = (rng.next_u64() >> 32) / u64::from(self.slope);
    }
}

/// A threshold times 1/w_q; the kernel demands a whole number of packets that then fits 32 bits.
fn threshold(name: &str, packets: f64, log_weight: u32) -> Result<u64, BadParams> {
    if packets != math::floor(packets) {
        let why = format!(
            "{packets} is not possible with profile \"linux\": the kernel's thresholds are whole \
             packets; write {} or {}",
            math::floor(packets),
            math::floor(packets) + 1.0
        );
        return Err(BadParams::new(name, why));
    }
    let scaled = (packets as u64) << log_weight;
    if scaled >> 32 == 0 {
        return Ok(scaled);
    }
    let why = format!(
        "{packets} packets are more than Linux can average with w_q = 1/{}: it must be below {}, \
         or w_q larger",
        1u64 << log_weight,
        1u64 << (32 - log_weight)
    );
    Err(BadParams::new(name, why))
}

impl Sampler for InIntegers {
    fn sample(&mut self, backlog: Backlog, now: Instant) -> bool {
        match self.idle.end(now) {
            Some(span) => self.avg = self.ageing.age(self.avg, span),
            None => {
                let fresh = u64::from(backlog.packets);
                self.avg = self.avg - (self.avg >> self.log_weight) + fresh;
            }
        }
        self.avg > self.min
    }
}

impl Aqm for InIntegers {
    fn on_arrival(&mut self, _: &Packet, _: Backlog, _: Instant, rng: &mut Rng) -> Verdict {
        if self.avg <= self.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if self.avg > self.max {
            self.count = -1;
            return self.certain;
        }
        self.count += 1;
        if self.count == 0 {
            self.draw(rng);
            return Verdict::Pass;
        }
        if self.excess() * (self.count as u64) < self.due {
            return Verdict::Pass;
        }
        self.count = 0;
        self.draw(rng);
        Verdict::Signal(DropReason::Early)
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.idle)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.avg as f64 / (1u64 << self.log_weight) as f64);
        let p_b = match self.avg {
            avg if avg <= self.min => 0.0,
            avg if avg > self.max => 1.0,
            _ => self.excess() as f64 * f64::from(self.slope) / SCALE,
        };
        show("p_b", p_b);
        show("count", self.count as f64);
    }
}
