//! SFB's parameters.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{ECN, LIMIT};
use crate::shells::flows::HASH_SEED;

const COUNT: Kind = Kind::Whole { unit: Unit::Packets, min: 1, max: 100_000_000 };
const STEP: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true };
const TIME: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 1e6, open: false };

/// Every parameter.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "profile",
        meaning: "The source to follow: lab (Linux in real numbers), linux, or paper.",
        kind: Kind::Choice(&["lab", "linux", "paper"]),
        default: Value::Choice("lab"),
        source: "constructed",
    },
    Field {
        name: "L",
        meaning: "Levels of bins, each with a hash function. lab, linux: 8; paper: 2.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: 32 },
        default: Value::Unset,
        source: "read: Linux SFB_LEVELS; the paper's example (recalled)",
    },
    Field {
        name: "N",
        meaning: "Bins per level. lab, linux: 16; paper: 23.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: 1 << 20 },
        default: Value::Unset,
        source: "read: Linux SFB_NUMBUCKETS; the paper's example (recalled)",
    },
    Field {
        name: "bin_size",
        meaning: "Waiting packets at which a bin raises its probability (paper: above which).",
        kind: COUNT,
        default: Value::Whole(20),
        source: "read: Linux bin_size",
    },
    Field {
        name: "max",
        meaning: "Waiting packets in the emptiest of a flow's bins at which an arrival is \
                  dropped. lab, linux: 25; paper: no such limit unless given.",
        kind: COUNT,
        default: Value::Unset,
        source: "read: Linux max",
    },
    Field {
        name: "d1",
        meaning: "By how much an overloaded bin's probability rises per arrival; linux rounds it \
                  to units of 2^-16.",
        kind: STEP,
        default: Value::Real(66.0 / 65_536.0),
        source: "read: Linux increment, 66/65536",
    },
    Field {
        name: "d2",
        meaning: "By how much an empty bin's probability falls per arrival; linux rounds it to \
                  units of 2^-16.",
        kind: STEP,
        default: Value::Real(11.0 / 65_536.0),
        source: "read: Linux decrement, 11/65536",
    },
    Field {
        name: "penalty_rate",
        meaning: "Packets per second that all flows in the penalty box together may send.",
        kind: Kind::Real { unit: Unit::Packets, min: 0.0, max: 1e9, open: false },
        default: Value::Real(10.0),
        source: "read: Linux penalty_rate",
    },
    Field {
        name: "penalty_burst",
        meaning: "Packets that they may send at once after a rest.",
        kind: Kind::Whole { unit: Unit::Packets, min: 0, max: 1_000_000_000 },
        default: Value::Whole(20),
        source: "read: Linux penalty_burst",
    },
    Field {
        name: "rehash_interval",
        meaning: "How long hash functions last; 0: for ever.",
        kind: TIME,
        default: Value::Real(600.0),
        source: "read: Linux rehash_interval",
    },
    Field {
        name: "warmup_time",
        meaning: "The last part of that time, in which flows in the penalty box are entered into \
                  the next functions' bins too.",
        kind: TIME,
        default: Value::Real(60.0),
        source: "read: Linux warmup_time",
    },
    HASH_SEED,
    Field {
        name: "limit",
        meaning: "Packets that may wait, not counting the one being transmitted.",
        kind: LIMIT,
        default: Value::Whole(1000),
        source: "read: Linux takes the device's queue length, commonly 1000",
    },
    Field {
        default: Value::Switch(true),
        source: "read: Linux marks whatever is ECN-capable",
        ..ECN
    },
];
