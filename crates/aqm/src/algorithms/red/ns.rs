//! RED of ns-2 and ns-3 (profiles `ns2`, `ns2-fixed`, `ns3`), and of ALTQ in real arithmetic.
//!
//! Differences from the paper: the count runs below min_th too; the first packet that finds the
//! average in the band is not tested ("old"); nothing is signalled while at most one packet (one
//! *byte*, in byte mode) waits; byte mode scales p_a and counts in mean packets, by integer
//! division.
//!
//! ALTQ's RED was written after ns. In real arithmetic it differs by its spacing, by ageing and by
//! a guard that counts packets in byte mode too. Adaptive RED needs real arithmetic: ALTQ's 32 bits
//! overflow at an average of 2^19 w_q packets, 42 with the automatic weight of 100 Mbit/s.

use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

use super::average::Average;
use super::curve::Curve;
use super::early::Early;
use super::settings::{Settings, certain_verdict};
use super::spacing::Spacing;
use crate::{Aqm, Idle, Verdict};

pub(crate) struct Ns {
    average: Average,
    curve: Curve,
    queue_in_bytes: bool,
    /// Mean packet size in bytes with `byte_probability`, else 0.
    mean_bytes: u64,
    spacing: Spacing,
    /// Average from which on the signal is certain; infinite with `use_mark_p`.
    certain_from: f64,
    certain: Verdict,
    /// Whether even a certain signal needs a queue of more than one packet, or byte in byte mode
    /// (ns-2's second defect).
    guarded: bool,
    /// Whether the guard against signals to a short queue counts packets even in byte mode (ALTQ).
    guards_packets: bool,
    /// p_b below which a random signal may mark; from it on it drops.
    mark_below: f64,
    clear_after_certain: bool,
    clear_after_overflow: bool,
    unit: f64,

    /// Arrivals since the last signal.
    count: u64,
    count_bytes: u64,
    /// Whether the average was in the band at the previous arrival.
    old: bool,
}

impl Ns {
    pub fn new(settings: &Settings) -> Self {
        let curve = settings.curve();
        let profile = settings.profile;
        let mean_bytes = u64::from(settings.mean_packet_bytes);
        Ns {
            average: Average::new(settings.w_q, settings.clock, true),
            curve,
            queue_in_bytes: settings.queue_in_bytes,
            mean_bytes: if settings.byte_probability { mean_bytes } else { 0 },
            spacing: if settings.wait { Spacing::Wait } else { Spacing::Paper },
            certain_from: if settings.use_mark_p { f64::INFINITY } else { curve.certain },
            certain: certain_verdict(settings.harddrop),
            guarded: profile.guarded,
            guards_packets: false,
            mark_below: if settings.use_mark_p { settings.mark_p } else { f64::INFINITY },
            clear_after_certain: settings.ns1_compat == profile.ns1_inverted,
            clear_after_overflow: !profile.ns1_inverted && !settings.ns1_compat,
            unit: settings.unit(),
            count: 0,
            count_bytes: 0,
            old: false,
        }
    }

    /// RED of ALTQ, in real arithmetic.
    pub fn of_altq(settings: &Settings) -> Self {
        let ns = Ns::new(settings);
        let average = ns.average.of_altq();
        Ns { average, spacing: Spacing::Altq, guarded: true, guards_packets: true, ..ns }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    #[inline]
    fn p_a(&self, p_b: f64, size: u32) -> f64 {
        let bytes = self.mean_bytes > 0;
        let count = if bytes { self.count_bytes / self.mean_bytes } else { self.count };
        let count = count as f64;
        let p_a = self.spacing.p_a(p_b, count);
        if bytes && p_a < 1.0 { p_a * f64::from(size) / self.mean_bytes as f64 } else { p_a }
    }

    #[inline]
    fn test(&mut self, size: u32, rng: &mut Rng) -> Verdict {
        let p_b = self.curve.p_b(self.average.value);
        if rng.uniform() >= self.p_a(p_b, size) {
            return Verdict::Pass;
        }
        self.clear();
        if p_b < self.mark_below {
            Verdict::Signal(DropReason::Early)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

impl Ns {
    #[inline]
    fn queue(&self, backlog: Backlog) -> u64 {
        if self.queue_in_bytes { backlog.bytes } else { u64::from(backlog.packets) }
    }
}

/// Single steps for RIO, which has its own idle clocks and counts arrivals by class.
impl Ns {
    /// Updates the average and no count; `span` is the idle time before the arrival, if there was
    /// one.
    pub fn observe(&mut self, span: Option<Duration>, backlog: Backlog) {
        self.average.update_after(span, self.queue(backlog) as f64);
    }

    /// Counts an arrival without updating the average.
    pub fn tally(&mut self, packet: &Packet) {
        self.count += 1;
        self.count_bytes += u64::from(packet.bytes);
    }
}

impl Early for Ns {
    fn sample(&mut self, packet: &Packet, backlog: Backlog, now: Instant) {
        self.average.update(self.queue(backlog) as f64, now);
        self.tally(packet);
    }

    fn decide(&mut self, packet: &Packet, backlog: Backlog, rng: &mut Rng) -> Verdict {
        let few = if self.guards_packets { backlog.packets <= 1 } else { self.queue(backlog) <= 1 };
        let avg = self.average.value;
        if avg >= self.certain_from && !(few && self.guarded) {
            return self.certain;
        }
        if avg < self.curve.min || few {
            self.old = false;
            return Verdict::Pass;
        }
        if !self.old {
            self.old = true;
            self.count = 1;
            self.count_bytes = u64::from(packet.bytes);
            return Verdict::Pass;
        }
        self.test(packet.bytes, rng)
    }

    fn average(&self) -> f64 {
        self.average.value
    }
    fn curve(&mut self) -> &mut Curve {
        &mut self.curve
    }
}

impl Aqm for Ns {
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

    fn on_dropped(&mut self, why: DropReason) {
        self.average.idle.resume();
        let clears = match why {
            DropReason::Early => false, // the random test has cleared the counts
            DropReason::Forced => self.clear_after_certain,
            DropReason::Overflow => self.clear_after_overflow,
            DropReason::AckFiltered => false,
        };
        if clears {
            self.clear();
        }
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

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn byte_mode_scales_p_a_by_size() {
        let mut red = Ns::new(&settings(&[
            ("profile", "ns2"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("mean_packet_bytes", "1000"),
        ]));
        red.count_bytes = 20_999; // these are 20 mean packets: the wait rule gives p_a = p_b
        close(red.p_a(0.05, 40), 0.002);
        close(red.p_a(0.05, 1500), 0.075);
        red.count_bytes = 39_000; // p_a is 1 and stays 1 for a small packet
        close(red.p_a(0.05, 40), 1.0);
    }

    #[test]
    fn a_small_packet_right_after_a_drop_passes_even_where_p_b_is_1() {
        let mut red = Ns::new(&settings(&[
            ("profile", "ns2"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("mean_packet_bytes", "1000"),
        ]));
        red.count_bytes = 999;
        close(red.p_a(1.0, 40), 0.0);
        red.count_bytes = 1000;
        close(red.p_a(1.0, 40), 1.0);
    }

    #[test]
    fn what_is_signalled_at_mark_p_is_dropped() {
        let requested = [
            ("profile", "ns2"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("use_mark_p", "true"),
            ("mark_p", "0.05"),
        ];
        let mut red = Ns::new(&settings(&requested));
        assert_eq!(red.mark_below, 0.05);
        let mut rng = Rng::named(1, "ns");
        let signal = |marks| {
            let why = DropReason::Early;
            if marks { Verdict::Signal(why) } else { Verdict::Drop(why) }
        };
        for (mark_below, marks) in [(0.05, false), (0.051, true)] {
            // Half way between the thresholds p_b is half of max_p.
            red.average.value = 10.0 * red.unit;
            (red.mark_below, red.count, red.count_bytes) = (mark_below, 1_000, 1_000_000);
            assert_eq!(red.curve.p_b(red.average.value), 0.05);
            assert_eq!(red.test(1_000, &mut rng), signal(marks));
        }
    }
}
