//! A home behind a constellation of satellites in low orbit.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "leo",
    summary: "A home behind a constellation of satellites in low orbit.",
    year: 2021,
    source: "Terminals are given another satellite every 15 s (recalled of measurements of Starlink); numbers constructed where not said",
    deviations: "The delay is the same over every satellite, and no packet is lost when they change.",
    settings: &[
        setting(
            "rate_steps",
            r#"[["0 s", "100 Mbit/s"], ["15 s", "0 bit/s"], ["15.05 s", "140 Mbit/s"], ["30 s", "60 Mbit/s"], ["45 s", "0 bit/s"], ["45.05 s", "110 Mbit/s"], ["60 s", "80 Mbit/s"]]"#,
            "Another rate every 15 s, two changes with an outage of 50 ms.",
            "constructed",
        ),
        setting("rate_repeat", "75 s", "After five slots.", "constructed"),
        setting(
            "reverse_rate_steps",
            r#"[["0 s", "15 Mbit/s"], ["15 s", "0 bit/s"], ["15.05 s", "20 Mbit/s"], ["30 s", "8 Mbit/s"], ["45 s", "0 bit/s"], ["45.05 s", "15 Mbit/s"], ["60 s", "12 Mbit/s"]]"#,
            "Likewise.",
            "constructed",
        ),
        setting("reverse_rate_repeat", "75 s", "After five slots.", "constructed"),
        setting(
            "rate",
            "98 Mbit/s",
            "The nominal rate that disciplines are told: about the mean.",
            "constructed",
        ),
        setting("reverse_rate", "14 Mbit/s", "About the mean.", "constructed"),
        setting("delay", "15 ms", "Each way, a round trip of 30 ms.", "constructed"),
        setting("framing", "none", "Nothing is known of it.", "constructed"),
        setting("forward", r#"{"limit_bytes": 1250000}"#, "0.1 s.", "constructed"),
        setting("reverse", r#"{"limit_bytes": 175000}"#, "0.1 s.", "constructed"),
    ],
};
