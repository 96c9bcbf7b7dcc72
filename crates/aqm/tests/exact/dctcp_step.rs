//! Step marking: its published points.

use aqmlab_aqm::Admission::{Dropped, Marked, Queued};
use packet::DropReason::{Forced, Overflow};
use packet::{Backlog, Ecn};

use super::Bench;

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
