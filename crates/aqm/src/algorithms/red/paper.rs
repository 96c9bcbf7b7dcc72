//! The algorithm of the 1993 paper (profile `fj93`).
//!
//! The first packet in the band is tested with count 0. Where the paper says "mark" for every
//! packet above max_th, RFC 3168 requires a drop; `harddrop = false` restores the paper. In byte
//! mode p_b is scaled before spacing. An overflow is not a signal and leaves the count alone.

use packet::{Backlog, DropReason, Instant, Packet, Rng};

use super::average::Average;
use super::curve::Curve;
use super::early::Early;
use super::settings::{Settings, certain_verdict};
use super::spacing;
use crate::{Aqm, Idle, Verdict};

pub(crate) struct Paper {
    average: Average,
    curve: Curve,
    queue_in_bytes: bool,
    /// Factor with which a packet's bytes scale p_b; 0 without `byte_probability`.
    per_byte: f64,
    certain: Verdict,
    /// Bytes per threshold packet: 1 unless the queue is measured in bytes.
    unit: f64,
    /// Packets since the last signal; −1 while the average is below min_th.
    count: i64,
}

impl Paper {
    pub fn new(settings: &Settings) -> Self {
        let per_byte = 1.0 / f64::from(settings.max_packet_bytes);
        Paper {
            average: Average::new(settings.w_q, settings.clock, false),
            curve: settings.curve(),
            queue_in_bytes: settings.queue_in_bytes,
            per_byte: if settings.byte_probability { per_byte } else { 0.0 },
            certain: certain_verdict(settings.harddrop),
            unit: settings.unit(),
            count: -1,
        }
    }

    fn p_b(&self, size: u32) -> f64 {
        let p_b = self.curve.p_b(self.average.value);
        if self.per_byte > 0.0 { p_b * f64::from(size) * self.per_byte } else { p_b }
    }
}

impl Early for Paper {
    fn sample(&mut self, _packet: &Packet, backlog: Backlog, now: Instant) {
        let queue =
            if self.queue_in_bytes { backlog.bytes as f64 } else { f64::from(backlog.packets) };
        self.average.update(queue, now);
    }

    fn decide(&mut self, packet: &Packet, _backlog: Backlog, rng: &mut Rng) -> Verdict {
        let avg = self.average.value;
        if avg < self.curve.min {
            self.count = -1;
            return Verdict::Pass;
        }
        if avg >= self.curve.certain {
            self.count = 0;
            return self.certain;
        }
        self.count += 1;
        let p_a = spacing::paper(self.p_b(packet.bytes), self.count as f64);
        if rng.uniform() < p_a {
            self.count = 0;
            return Verdict::Signal(DropReason::Early);
        }
        Verdict::Pass
    }

    fn average(&self) -> f64 {
        self.average.value
    }
    fn curve(&mut self) -> &mut Curve {
        &mut self.curve
    }
}

impl Aqm for Paper {
    fn on_arrival(
        &mut self,
        packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        self.sample(packet, backlog, now);
        self.decide(packet, backlog, rng)
    }

    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.average.idle)
    }
    fn set(&mut self, name: &str, value: f64) -> bool {
        self.curve.set(name, value)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.average.value / self.unit);
        show("p_b", self.curve.p_b(self.average.value));
        show("count", self.count as f64);
    }
}
