//! PI2: a second transcription, and its fixed point.

use aqmlab_aqm::Admission;
use packet::{Ecn, Rng, Why};

use super::closed_loop::mean_delay;
use super::duel::{Arrival, Queue, RATE, Reference, duel};
use super::{Pairs, build};

/// One probability, squared for classic packets.
struct Pi2 {
    ecn: bool,
    prob: f64,
    last_qdelay: f64,
}

impl Reference for Pi2 {
    fn clock(&self) -> Option<(u64, u64)> {
        Some((16_000_000, 16_000_000))
    }
    fn tick(&mut self, queue: Queue) {
        let qdelay = queue.head.map_or(0.0, |since| (queue.now - since) as f64 / 1e9);
        let mut prob = self.prob;
        prob += 0.16 * (qdelay - 0.015);
        prob += 3.2 * (qdelay - self.last_qdelay);
        self.prob = prob.clamp(0.0, 1.0);
        self.last_qdelay = qdelay;
    }
    fn arrive(&mut self, arrival: Arrival, rng: &mut Rng) -> Admission {
        if arrival.packets >= 150 {
            return Admission::Dropped(Why::Overflow);
        }
        if self.ecn && matches!(arrival.ecn, Ecn::Ect1 | Ecn::Ce) {
            let mark = rng.uniform() < 2.0 * self.prob;
            return if mark { Admission::Marked(Why::Early) } else { Admission::Queued };
        }
        if rng.uniform() >= self.prob {
            return Admission::Queued;
        }
        if rng.uniform() >= self.prob {
            return Admission::Queued;
        }
        if self.ecn && arrival.ecn == Ecn::Ect0 {
            Admission::Marked(Why::Early)
        } else {
            Admission::Dropped(Why::Early)
        }
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("p_base", self.prob), ("p", self.prob * self.prob), ("qdelay", self.last_qdelay)]
    }
}

const NUMBERS: Pairs = &[
    ("target", "15 ms"),
    ("t_update", "16 ms"),
    ("alpha", "0.16"),
    ("beta", "3.2"),
    ("limit", "150"),
];

#[test]
fn both_transcriptions_agree() {
    for seed in 0..4 {
        let ecn = seed % 2 == 1;
        let pairs = [NUMBERS, &[("ecn", if ecn { "true" } else { "false" })]].concat();
        let reference = Pi2 { ecn, prob: 0.0, last_qdelay: 0.0 };
        let tally = duel("pi2", &pairs, reference, seed, 40_000);
        assert!(tally.queued > 10_000 && tally.early > 500, "{tally:?}");
        assert_eq!(tally.marked > 1000, ecn, "{tally:?}");
    }
}

#[test]
fn k_without_ecn_is_refused() {
    let why = build("pi2", &[("k", "2")], RATE).err().unwrap().to_string();
    assert!(why.starts_with("k: 2 has no effect"), "{why}");
}

/// The mean delay of a closed loop lies within 10 % of the target.
#[test]
fn the_delay_rests_at_its_target() {
    let delay = mean_delay("pi2", &[]);
    assert!((delay / 0.020 - 1.0).abs() < 0.1, "{delay}");
    let delay = mean_delay("pi2", &NUMBERS[..4]);
    assert!((delay / 0.015 - 1.0).abs() < 0.1, "{delay}");
}
