//! DualPI2: the RFC's limit, and the parameters that a profile does not have.

use packet::Ecn;

use super::build;
use super::line::{P, Product};

#[test]
fn what_a_profile_does_not_have_is_refused() {
    for (profile, field, value) in [
        ("linux", "min_th", "1 ms"),
        ("linux", "range", "1 ms"),
        ("linux", "th_len", "2"),
        ("rfc9332", "step_packets", "2"),
        ("rfc9332", "min_qlen_step", "2"),
        ("rfc9332", "step", "1 ms"),
        ("rfc9332", "drop_overload", "false"),
    ] {
        let Err(why) = build("dualpi2", &[("profile", profile), (field, value)], 10_000_000) else {
            panic!("{field} accepted")
        };
        let why = why.to_string();
        assert!(why.starts_with(field) && why.contains(profile), "{why}");
    }
}

#[test]
fn the_rfc_wants_room_for_a_largest_packet() {
    for (profile, accepted) in [("rfc9332", 2), ("linux", 5)] {
        let pairs = [("profile", profile), ("limit_bytes", "2500"), ("mtu", "1514")];
        let mut product = Product::new("dualpi2", &pairs, 1);
        for id in 0..9 {
            // The packets of both queues count.
            let ecn = [Ecn::Ect0, Ecn::Ect1][id as usize % 2];
            product.enqueue(P { id, flow: id.into(), size: 500, ecn, t: 0 });
        }
        // 500 + 1514 fit into 2500, 1000 + 1514 do not.
        assert_eq!(product.discipline.backlog().packets, accepted, "{profile}");
    }
}
