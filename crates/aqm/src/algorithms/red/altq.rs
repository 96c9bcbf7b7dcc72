//! RED of ALTQ (profile `altq`), in its fixed-point arithmetic.
//!
//! ALTQ's RED was written after ns, and shares its "old" flag and its guard against acting on a
//! queue of at most one packet. ALTQ alone has: the spacing rule p_b/(2 − c·p_b) without ns's
//! initial wait; a count cleared by every drop; an average kept with 12 fractional bits and
//! multiplied by 1/w_q, a power of two; ageing by a table of powers.

use alloc::format;

use packet::params::BadParams;
use packet::{Backlog, DropReason, Duration, Instant, Packet, Rng};

use super::settings::Settings;
use crate::idle::Idle;
use crate::{Aqm, Verdict};

/// Number of fractional bits in ALTQ's fixed-point numbers.
const POINT: u32 = 12;
const ONE: i64 = 1 << POINT;

/// Powers of 1 − w_q: entry i is its 2^i-th power with 12 fractional bits.
struct Powers {
    table: [i64; 32],
    /// Smallest n for which (1 − w_q)^n is 0 with 12 fractional bits.
    end: u64,
}

impl Powers {
    fn new(log_weight: u32) -> Self {
        let weight = 1i64 << log_weight;
        let mut table = [0; 32];
        let mut end = u64::MAX;
        table[0] = (weight - 1) * ONE / weight;
        for i in 1..32 {
            table[i] = (table[i - 1] * table[i - 1]) >> POINT;
            if table[i] == 0 && end == u64::MAX {
                end = 1 << i;
            }
        }
        Powers { table, end }
    }

    /// (1 − w_q)^n with 12 fractional bits.
    fn power(&self, n: u64) -> i64 {
        if n >= self.end {
            return 0;
        }
        let set = (0..32).filter(|i| n >> i & 1 == 1);
        set.fold(ONE, |value, i| (value * self.table[i]) >> POINT)
    }
}

pub(crate) struct Altq {
    idle: Idle,
    powers: Powers,
    packet_us: u64,
    log_weight: u32,
    /// Average queue in packets, times 1/w_q, with 12 fractional bits.
    avg: i64,
    /// min_th in packets, on the scale of `avg`.
    min: i64,
    /// max_th in packets, on the scale of `avg`.
    max: i64,
    /// 2·(max_th − min_th)/max_p with 12 fractional bits.
    denominator: i64,
    count: i64,
    old: bool,
}

/// −log2 of `w_q`, if that is a power of two a 32-bit kernel can shift by.
pub(crate) fn log_weight(w_q: f64, program: &str) -> Result<u32, BadParams> {
    let mut log = 0;
    let mut power = 1.0;
    while power > w_q && log < 30 {
        power /= 2.0;
        log += 1;
    }
    if power == w_q {
        return Ok(log);
    }
    let (below, above) = (1u64 << log, 1u64 << log.saturating_sub(1));
    let why = format!(
        "{w_q} is not a power of two, and {program} divides by shifting; write \"1/{below}\" or \
         \"1/{above}\" (\"1\" down to \"1/1073741824\" are possible)"
    );
    Err(BadParams::new("w_q", why))
}

impl Altq {
    pub fn new(settings: &Settings) -> Result<Self, BadParams> {
        let log_weight = log_weight(settings.w_q, "ALTQ")?;
        let scale = (ONE << log_weight) as f64;
        let spread = settings.max_th - settings.min_th;
        let fixed = |x: f64| (x + 0.5) as i64;
        Ok(Altq {
            idle: Idle::new(),
            powers: Powers::new(log_weight),
            packet_us: fixed(settings.clock.packet_secs() * 1e6).max(1) as u64,
            log_weight,
            avg: 0,
            min: fixed(settings.min_th * scale),
            max: fixed(settings.max_th * scale),
            denominator: fixed(2.0 * spread / settings.max_p * ONE as f64),
            count: 0,
            old: false,
        })
    }

    /// Ages the average by an idle time of `span`, less `lag` packet times.
    #[cold]
    fn age(&mut self, span: Duration, lag: u64) {
        if span > Duration::from_secs(60) {
            self.avg = 0;
            return;
        }
        let packets = (span.nanos() / 1000 / self.packet_us).saturating_sub(lag);
        if packets > 0 {
            self.avg = (self.avg >> POINT) * self.powers.power(packets);
        }
    }

    /// How far the average is above min_th, in packets with 12 fractional bits.
    fn excess(&self) -> i64 {
        (self.avg - self.min) >> self.log_weight
    }

    #[inline]
    fn hit(&self, rng: &mut Rng) -> bool {
        let excess = self.excess();
        let left = self.denominator - self.count * excess;
        left <= 0 || (rng.below(left as u64) as i64) < excess
    }
}

/// The steps of the algorithm, for RIO's queue with classes.
impl Altq {
    /// Updates the average when an arrival finds `packets` waiting. After an idle time the average
    /// ages by that time less `lag` packets, and still takes its sample.
    pub fn sample(&mut self, packets: u32, now: Instant, lag: u64) {
        if let Some(span) = self.idle.end(now) {
            self.age(span, lag);
        }
        self.avg += (i64::from(packets) << POINT) - (self.avg >> self.log_weight);
        self.count += 1;
    }

    /// Clears the count of packets since the last signal.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The average in packets.
    pub fn average(&self) -> f64 {
        self.avg as f64 / (ONE << self.log_weight) as f64
    }

    /// Decides on the arrival just sampled, which found `packets` waiting.
    pub fn decide(&mut self, packets: u32, rng: &mut Rng) -> Verdict {
        if self.avg < self.min || packets <= 1 {
            self.old = false;
            return Verdict::Pass;
        }
        if self.avg >= self.max {
            return Verdict::Drop(DropReason::Forced);
        }
        if !self.old {
            self.old = true;
            self.count = 1;
            return Verdict::Pass;
        }
        if self.hit(rng) {
            self.count = 0;
            return Verdict::Signal(DropReason::Early);
        }
        Verdict::Pass
    }
}

impl Aqm for Altq {
    fn on_arrival(
        &mut self,
        _packet: &Packet,
        backlog: Backlog,
        now: Instant,
        rng: &mut Rng,
    ) -> Verdict {
        // The sample stands for one packet of the idle time.
        self.sample(backlog.packets, now, 1);
        self.decide(backlog.packets, rng)
    }

    fn on_dropped(&mut self, _why: DropReason) {
        self.idle.resume();
        self.count = 0;
    }
    fn idle_clock(&mut self) -> Option<&mut Idle> {
        Some(&mut self.idle)
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("avg", self.average());
        let band = self.avg >= self.min && self.avg < self.max;
        let p_b = 2.0 * self.excess() as f64 / self.denominator as f64;
        show("p_b", if band { p_b } else { f64::from(u8::from(self.avg >= self.max)) });
        show("count", self.count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;

    fn altq() -> Altq {
        let mut red = Altq::new(&settings(&[("profile", "altq")])).unwrap();
        red.avg = 10 << (POINT + red.log_weight);
        red
    }

    fn p_a(count: i64) -> f64 {
        let mut red = altq();
        red.count = count;
        let left = red.denominator - red.count * red.excess();
        if left <= 0 { 1.0 } else { (red.excess() as f64 / left as f64).min(1.0) }
    }

    #[test]
    fn published_points_of_the_spacing_rule() {
        for (count, expected) in [(10, 0.033333), (20, 0.05), (30, 0.1), (39, 1.0), (40, 1.0)] {
            assert!((p_a(count) - expected).abs() < 1e-6, "count {count}: {}", p_a(count));
        }
    }

    #[test]
    fn gaps_are_exactly_uniform_on_1_to_39() {
        let mut survives = 1.0;
        for c in 1..=39 {
            let here = survives * p_a(c);
            survives -= here;
            assert!((here - 1.0 / 39.0).abs() < 1e-9, "gap {c}: {here}");
        }
        assert!(survives.abs() < 1e-9);
    }

    #[test]
    fn ageing_equals_the_real_power_up_to_the_third_digit() {
        // 80 ms are 100 packet times of 800 us: 99 age the average by the table, one by the sample.
        let mut red = altq();
        red.idle.end(Instant::ZERO);
        red.idle.begin(Instant::ZERO);
        let (packet, empty) = (test_packet(), Backlog::default());
        let now = Instant::from_nanos(80_000_000);
        red.on_arrival(&packet, empty, now, &mut Rng::named(1, "altq"));
        let avg = red.avg as f64 / (ONE << red.log_weight) as f64;
        assert!((avg - 8.224204).abs() < 0.03, "{avg}");
        assert_eq!(red.avg, 17_205_370, "the table loses bits in an exact way");
    }

    #[test]
    fn a_minute_of_idleness_clears_the_average() {
        for (secs, cleared) in [(60, false), (61, true)] {
            // With so slow a packet clock the table alone would keep most of the average.
            let mut red =
                Altq::new(&settings(&[("profile", "altq"), ("idle_packet_time", "20 s")])).unwrap();
            red.avg = 10 << (POINT + red.log_weight);
            red.idle.end(Instant::ZERO);
            red.idle.begin(Instant::ZERO);
            let now = Instant::from_nanos(secs * 1_000_000_000);
            let none = Backlog::default();
            red.on_arrival(&test_packet(), none, now, &mut Rng::named(1, "altq"));
            assert_eq!(red.avg == 0, cleared, "{secs} s");
        }
    }

    fn test_packet() -> Packet {
        Packet {
            id: 0,
            flow: 0,
            bytes: 1000,
            ecn: packet::Ecn::NotEct,
            arrived: Instant::ZERO,
            header: Default::default(),
        }
    }

    #[test]
    fn a_slow_line_gets_a_heavier_weight() {
        let log = |time| {
            let settings = settings(&[("profile", "altq"), ("idle_packet_time", time)]);
            Altq::new(&settings).unwrap().log_weight
        };
        assert_eq!((log("800 us"), log("3333 us")), (9, 9));
        assert_eq!((log("3400 us"), log("20 ms")), (7, 7));
        assert_eq!(log("21 ms"), 6);
    }

    #[test]
    fn weights_are_powers_of_two() {
        assert_eq!(log_weight(1.0, "ALTQ"), Ok(0));
        assert_eq!(log_weight(1.0 / 512.0, "ALTQ"), Ok(9));
        assert_eq!(log_weight(1.0 / 1_073_741_824.0, "ALTQ"), Ok(30));
        assert!(log_weight(0.5 / 1_073_741_824.0, "ALTQ").is_err(), "the least is 2^-30");
        let why = log_weight(0.002, "ALTQ").unwrap_err().to_string();
        assert!(why.contains("0.002") && why.contains("1/512") && why.contains("1/256"), "{why}");
    }

    #[test]
    fn the_band_begins_at_min_th_and_ends_before_max_th() {
        let gauge = |red: &Altq| {
            let mut p_b = f64::NAN;
            red.gauges(&mut |name, value| p_b = if name == "p_b" { value } else { p_b });
            p_b
        };
        let mut rng = Rng::named(1, "altq");
        let mut red = altq();
        red.avg = red.min - 1;
        assert_eq!((red.decide(5, &mut rng), red.old, gauge(&red)), (Verdict::Pass, false, 0.0));
        red.avg = red.min;
        assert_eq!((red.decide(5, &mut rng), red.old, gauge(&red)), (Verdict::Pass, true, 0.0));
        red.avg = red.max;
        assert_eq!(
            (red.decide(5, &mut rng), gauge(&red)),
            (Verdict::Drop(DropReason::Forced), 1.0)
        );
    }

    #[test]
    fn of_ten_numbers_nine_hit() {
        let mut red = altq();
        (red.avg, red.denominator) = (red.min + (9 << red.log_weight), 10);
        let mut rng = Rng::named(1, "altq");
        let hits = (0..10_000).filter(|_| red.hit(&mut rng)).count();
        // Within 150 of the mean: five standard deviations of 30 hits.
        assert!((8_850..9_150).contains(&hits), "{hits}");
    }
}
