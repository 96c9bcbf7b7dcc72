//! BLUE: parameters that ALTQ's BLUE does not have are refused.

use super::RATE;
use super::{Pairs, build};

#[test]
fn what_altq_cannot_do_is_refused() {
    for (name, value) in [("d1", "0.1"), ("d2", "0.1"), ("trigger", "9"), ("repeat", "true")] {
        let pairs: Pairs = &[("profile", "altq"), (name, value)];
        let why = build("blue", pairs, RATE).err().unwrap().to_string();
        assert!(why.starts_with(name) && why.contains("profile \"altq\""), "{why}");
    }
}
