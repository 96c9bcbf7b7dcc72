//! Step marking: its published points, and its rule transcribed again over random traces.

use aqmlab_aqm::Admission::{self, Dropped, Marked, Queued};
use packet::Why::{Forced, Overflow};
use packet::{Backlog, Ecn, Rng};

use super::duel::{Arrival, Reference, duel};
use super::{Bench, Pairs};

#[test]
fn published_points() {
    let mut step = Bench::new("dctcp_step", &[("limit", "100")], 1);
    assert_eq!(step.arrive(64, 1500, Ecn::Ect0), Queued);
    assert_eq!(step.arrive(65, 1500, Ecn::Ect0), Marked(Forced));
    assert_eq!(step.arrive(65, 1500, Ecn::NotEct), Queued);
    assert_eq!(step.arrive(99, 1500, Ecn::NotEct), Queued);
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        assert_eq!(step.arrive(100, 1500, ecn), Dropped(Overflow));
    }
    let mut step = Bench::new("dctcp_step", &[("not_ect", "drop")], 1);
    assert_eq!(step.arrive(65, 1500, Ecn::NotEct), Dropped(Forced));
    let mut step = Bench::new("dctcp_step", &[("units", "byte")], 1);
    let of = |bytes| Backlog { packets: 1, bytes };
    assert_eq!(step.offer(1500, Ecn::Ect1, of(97_499)), Queued);
    assert_eq!(step.offer(1500, Ecn::Ect1, of(97_500)), Marked(Forced));
}

struct Step {
    bytes: bool,
    drop: bool,
}

impl Reference for Step {
    fn arrive(&mut self, a: Arrival, _rng: &mut Rng) -> Admission {
        let above = if self.bytes { a.bytes > 14_999 } else { a.packets > 9 };
        let full = if self.bytes { a.bytes + a.size > 30_000 } else { a.packets > 19 };
        match (above, full) {
            (true, _) if self.drop && !a.ect() => Dropped(Forced),
            (_, true) => Dropped(Overflow),
            (true, _) if a.ect() => Marked(Forced),
            _ => Queued,
        }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![]
    }
}

#[test]
fn both_transcriptions_agree() {
    for (seed, (units, not_ect)) in
        (0..).zip([("packet", "pass"), ("packet", "drop"), ("byte", "pass"), ("byte", "drop")])
    {
        let pairs: Pairs = &[("K", "10"), ("limit", "20"), ("units", units), ("not_ect", not_ect)];
        let step = Step { bytes: units == "byte", drop: not_ect == "drop" };
        let tally = duel("dctcp_step", pairs, step, seed, 20_000);
        assert!(tally.marked > 500 && tally.queued > 500 && tally.overflow > 20, "{tally:?}");
    }
}
