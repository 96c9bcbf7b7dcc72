//! AVQ against a second transcription of both forms, and the rate at which it settles.

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Why::{Early, Overflow};
use packet::{Ecn, Rng};

use super::duel::{Arrival, RATE, Reference, duel};
use super::{Bench, Pairs};

struct Vq {
    ns2: bool,
    bytes: bool,
    ecn: bool,
    vq: f64,
    tilde: f64,
    vq_time: Option<u64>,
    time: u64,
}

impl Vq {
    fn c(&self) -> f64 {
        RATE as f64 / if self.bytes { 8.0 } else { 8000.0 }
    }

    fn adapt(&mut self, size: f64, now: u64) {
        let (c, dt) = (self.c(), (now - self.time) as f64 / 1e9);
        self.time = now;
        if self.ns2 {
            self.tilde += 0.15 * 0.98 * c * dt - 0.15 * size;
            self.tilde = if self.tilde > c { c } else { self.tilde };
            self.tilde = if self.tilde < 0.0 { 0.0 } else { self.tilde };
        } else {
            self.tilde = c.min(self.tilde + 0.15 * 0.98 * c * dt);
            self.tilde = 0f64.max(self.tilde - 0.15 * size);
        }
    }
}

impl Reference for Vq {
    fn arrive(&mut self, a: Arrival, _rng: &mut Rng) -> Admission {
        let (size, limit) = if self.bytes { (a.size as f64, 15_000.0) } else { (1.0, 15.0) };
        if self.vq_time.is_none() {
            self.tilde = 0.8 * self.c();
            self.vq_time = Some(a.now);
            self.time = a.now;
        }
        self.vq -= self.tilde * (a.now - self.vq_time.unwrap()) as f64 / 1e9;
        self.vq_time = Some(a.now);
        if self.vq < 0.0 {
            self.vq = 0.0;
        }
        self.vq += size;
        let signal = self.vq > limit;
        if signal {
            self.vq -= size;
        }
        let marks = self.ecn && a.ect();
        if !(self.ns2 && signal && !marks) {
            self.adapt(size, a.now);
        }
        let full = if self.bytes { a.bytes + a.size > 15_000 } else { a.packets + 1 > 15 };
        match (signal, full) {
            (true, _) if !marks => Dropped(Early),
            (_, true) => Dropped(Overflow),
            (true, _) => Marked(Early),
            _ => Queued,
        }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let (unit, bits) = if self.bytes { (1000.0, 8.0) } else { (1.0, 8000.0) };
        let near_zero = |x: f64| if x < 1e-6 { 0.0 } else { x };
        vec![("virtual_queue", near_zero(self.vq / unit)), ("virtual_capacity", self.tilde * bits)]
    }
}

#[test]
fn both_transcriptions_agree() {
    let mut seed = 0;
    for profile in ["paper", "ns2"] {
        for units in ["packet", "byte"] {
            for ecn in ["true", "false"] {
                let pairs: Pairs =
                    &[("profile", profile), ("units", units), ("ecn", ecn), ("limit", "15")];
                let (ns2, bytes, on) = (profile == "ns2", units == "byte", ecn == "true");
                let capacity = RATE as f64 / if bytes { 8.0 } else { 8000.0 };
                let tilde = 0.8 * capacity;
                let vq = Vq { ns2, bytes, ecn: on, vq: 0.0, tilde, vq_time: None, time: 0 };
                seed += 1;
                let tally = duel("avq", pairs, vq, seed, 30_000);
                assert!(tally.queued > 1000 && tally.early > 500, "{pairs:?} {tally:?}");
                assert_eq!(tally.marked > 500, on, "{pairs:?} {tally:?}");
            }
        }
    }
}

#[test]
fn the_clocks_start_at_the_first_arrival() {
    for profile in ["paper", "ns2"] {
        let pairs: Pairs = &[("profile", profile), ("units", "packet")];
        let mut avq = Bench::new("avq", pairs, 1);
        avq.now = 1_000_000_000_000;
        avq.arrive(0, 1000, Ecn::NotEct);
        let expected = 0.8 * RATE as f64 - 0.15 * 8000.0;
        assert!((avq.gauge("virtual_capacity") - expected).abs() < 1e-3, "{profile}");
    }
}

/// Packets of 1000 bytes at `share` of the line, all ECN-capable: the share that is marked.
fn marked(share: f64) -> f64 {
    let mut avq = Bench::new("avq", &[("ecn", "true"), ("limit", "20")], 1);
    let mut rng = Rng::named(4, "arrivals");
    let mut marks = 0;
    for n in 0..300_000 {
        avq.now += rng.exponential(800_000.0 / share) as u64;
        let said = avq.arrive(0, 1000, Ecn::Ect0);
        marks += u32::from(n >= 100_000 && matches!(said, Marked(_)));
    }
    f64::from(marks) / 200_000.0
}

#[test]
fn the_wished_utilisation_is_where_marks_begin() {
    // Above gamma the virtual capacity sinks until all is marked, below it rises to the line's.
    assert!(marked(0.9) < 0.01, "{}", marked(0.9));
    assert!(marked(1.03) > 0.5, "{}", marked(1.03));
}
