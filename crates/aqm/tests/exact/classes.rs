//! Disciplines with classes of packets: parameters that they refuse, and GRED's default virtual
//! queue.

use packet::Rng;

use super::RATE;
use super::{Pairs, build};

#[test]
fn mistakes_are_named() {
    for (name, pairs, says) in [
        ("gred", &[("min_th", "20")] as Pairs, "min_th: 20 is not below max_th = 15"),
        ("gred", &[("default_vq", "3")], "default_vq: 3 does not exist"),
        ("gred", &[("virtual_queues", "16"), ("classes", "17")], "classes: 17 leaves classes"),
        ("rio", &[("in_min_th", "30")], "in_min_th: 30 is not below in_max_th = 30"),
        ("rio", &[("profile", "altq"), ("ecn", "true")], "ecn: true is not possible"),
        ("rio", &[("medium_max_p", "0.2")], "medium_max_p: 0.2 is not possible"),
        ("rio", &[("in_classes", "3")], "in_classes: 3 and medium_classes = 0 are more"),
        ("rio_ps", &[("out_min_th", "20")], "out_min_th: 20 is not below"),
    ] {
        let why = build(name, pairs, RATE).err().unwrap_or_else(|| panic!("{pairs:?}")).to_string();
        assert!(why.starts_with(says), "{why}");
    }
}

#[test]
fn a_default_virtual_queue_takes_what_has_none() {
    let bytes_dropped = |default: Pairs| {
        let pairs =
            [&[("classes", "4"), ("w_q", "1"), ("limit", "1000")] as Pairs, default].concat();
        let Ok(built) = build("gred", &pairs, RATE) else { panic!("{pairs:?}") };
        let mut gred = built.into_discipline();
        let mut drops = 0;
        for id in 0..200 {
            let packet = packet::Packet { flow: 3, id, ..super::packet(1000, packet::Ecn::NotEct) };
            let mut out =
                |event| drops += u32::from(!matches!(event, packet::Event::Queued { .. }));
            let mut rng = Rng::named(1, "gred");
            let now = packet::Instant::ZERO;
            gred.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
        }
        drops
    };
    assert_eq!(bytes_dropped(&[]), 0);
    assert!(bytes_dropped(&[("default_vq", "1")]) > 150);
}
