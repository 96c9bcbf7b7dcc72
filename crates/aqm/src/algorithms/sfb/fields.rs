//! SFB's parameters.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{ECN, LIMIT};
use crate::shells::flows::HASH_SEED;

const COUNT: Kind = Kind::whole(Unit::Packets, 1, 100_000_000);
const STEP: Kind = Kind::above(Unit::None, 0.0, 1.0);
const TIME: Kind = Kind::from(Unit::Time, 0.0, 1e6);

/// Every parameter of SFB.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["lab", "linux", "paper"]), Value::Choice("lab"))
        .meaning("The source to follow: lab (Linux in real numbers), linux, or paper.")
        .source("constructed"),
    Field::new("L", Kind::whole(Unit::Count, 1, 32), Value::Unset)
        .meaning("Levels of bins, each with a hash function. lab, linux: 8; paper: 2.")
        .source("read: Linux SFB_LEVELS; the paper's example (recalled)"),
    Field::new("N", Kind::whole(Unit::Count, 1, 1 << 20), Value::Unset)
        .meaning("Bins per level. lab, linux: 16; paper: 23.")
        .source("read: Linux SFB_NUMBUCKETS; the paper's example (recalled)"),
    Field::new("bin_size", COUNT, Value::Whole(20))
        .meaning("Waiting packets at which a bin raises its probability (paper: above which).")
        .source("read: Linux bin_size"),
    Field::new("max", COUNT, Value::Unset)
        .meaning(
            "Waiting packets in the emptiest of a flow's bins at which an arrival is dropped. lab, \
             linux: 25; paper: no such limit unless given.",
        )
        .source("read: Linux max"),
    Field::new("d1", STEP, Value::Real(66.0 / 65_536.0))
        .meaning(
            "By how much an overloaded bin's probability rises per arrival; linux rounds it to \
             units of 2^-16.",
        )
        .source("read: Linux increment, 66/65536"),
    Field::new("d2", STEP, Value::Real(11.0 / 65_536.0))
        .meaning(
            "By how much an empty bin's probability falls per arrival; linux rounds it to units of \
             2^-16.",
        )
        .source("read: Linux decrement, 11/65536"),
    Field::new("penalty_rate", Kind::from(Unit::Packets, 0.0, 1e9), Value::Real(10.0))
        .meaning("Packets per second that all flows in the penalty box together may send.")
        .source("read: Linux penalty_rate"),
    Field::new("penalty_burst", Kind::whole(Unit::Packets, 0, 1_000_000_000), Value::Whole(20))
        .meaning("Packets that they may send at once after a rest.")
        .source("read: Linux penalty_burst"),
    Field::new("rehash_interval", TIME, Value::Real(600.0))
        .meaning("How long hash functions last; 0: for ever.")
        .source("read: Linux rehash_interval"),
    Field::new("warmup_time", TIME, Value::Real(60.0))
        .meaning(
            "The last part of that time, in which flows in the penalty box are entered into the \
             next functions' bins too.",
        )
        .source("read: Linux warmup_time"),
    HASH_SEED,
    Field::new("limit", LIMIT, Value::Whole(1000))
        .meaning("Packets that may wait, not counting the one being transmitted.")
        .source("read: Linux takes the device's queue length, commonly 1000"),
    Field {
        default: Value::Switch(true),
        source: "read: Linux marks whatever is ECN-capable",
        ..ECN
    },
];
